"""Moments: weight, mean and scatter of each class."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks

from . import moments_loops
from .batch import Batch, check_missing
from .counts import ByClass, ClassCounts, Joint
from .scatter import diagonal_moments, full_moments, known_moments
from .statistic import Names, expect, expect_scatter, expect_sums, freeze, names_and_dtype
from .sums import Labels, as_pairs, over_classes, relative_noise, spread, value

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
FEW_PRODUCTS = 200_000
ONE_ROW = (np.ones(1, np.int64), np.ones((1, 1), np.int64))
ONE_WEIGHT = np.array([[[1.0]], [[0.0]]])

Pairs = NDArray[np.float64]  # (2, ...): high numbers, then low; see `loops.pairs`


@dataclass(frozen=True, eq=False, repr=False)
class Moments(ByClass):
    """The weight, mean and scatter of each class.

    The scatter is the weighted sum of squared distances from the class's own mean, or with `full`
    of the products of all pairs of features; divided by the weight it is the variance. Sums are
    kept to 32 digits, and so is every row that lies far from the others, so that rows may lie
    anywhere and be taken out again: see `subtraction_bound`.

    Attributes
    ----------
    classes, rows, weight : as in `ClassCounts`.
    mean : shape (K, d).
    scatter : shape (K, d), or (K, d, d) when full.
    feature_weight : the weight of the values that are not missing, shape (K, d), or (K, 1) when
        none can be.
    noise : how far off the (diagonal of the) scatter may be, shape (K, d).
    missing : "refuse" or "ignore": whether NaN is an error or left out.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import Moments
    >>> a = Moments.of([[1.0], [3.0], [7.0]], ["ham", "ham", "spam"])
    >>> a.mean.ravel(), a.scatter.ravel()
    (array([2., 7.]), array([2., 0.]))
    >>> b = Moments.of([[5.0]], ["ham"])
    >>> (a + b).mean.ravel(), (a + b).scatter.ravel()
    (array([3., 7.]), array([8., 0.]))
    >>> a + b - b == a
    True
    """

    mean_pairs: Pairs  # (2, K, d)
    scatter_pairs: Pairs  # (2, K, d) or (2, K, d, d)
    noise: NDArray[np.float64]  # (K, d)
    weight_pairs: Pairs  # (2, K, d) when values may be missing, else (2, K, 1)
    missing: str

    def __post_init__(self) -> None:
        freeze(self.mean_pairs, self.scatter_pairs, self.noise, self.weight_pairs)

    @classmethod
    def zero(cls, n_features: int, *, full: bool = False, missing: str = "refuse") -> Self:
        """Return the moments of no rows."""
        _check_missing(missing, full)
        mean, noise = np.zeros((2, 0, n_features)), np.zeros((0, n_features))
        scatter = np.zeros((2, 0, n_features, n_features)) if full else mean.copy()
        weight = np.zeros((2, 0, n_features if missing == "ignore" else 1))
        counts, dtype = ClassCounts.zero(), np.dtype(np.float32)
        return cls(counts, None, dtype, mean, scatter, noise, weight, missing)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        weights: Any = None,
        *,
        full: bool = False,
        careful: bool = False,
        missing: str = "refuse",
    ) -> Self:
        """Return the moments of rows X (n, d) with labels y (n,) and weights (n,).

        Without labels all rows are of one class, 0. With ``missing="ignore"`` NaN is left out, and
        each feature has a weight of its own; not for `full`.

        Many rows are summed in plain doubles, some hundred at a time, rows far from the rest
        excepted. `careful` sums all in 32 digits, several times as slowly: for rows to be taken out
        of others, and for the others, when what goes may be far larger than what stays.
        """
        if isinstance(X, np.ndarray) and len(X) == 1 and weights is None and missing == "refuse":
            return cls._of_row(X, Labels.of(y, 1), full)
        batch = Batch(X, y, weights)
        return cls.of_batch(batch, batch.feature_names, full, careful, missing)[0]

    @classmethod
    def _of_row(cls, X: NDArray[Any], labels: Labels, full: bool) -> Self:
        """As `of`, for streams that come row by row: the row is its own mean."""
        if X.ndim != 2 or X.dtype.kind not in "fiub" or len(labels.codes) != 1:
            return cls.by_group(X, labels, None, None, full=full)[0]  # which says what is wrong
        d = X.shape[1]
        mean, scatter = np.zeros((2, 1, d)), np.zeros((2, 1, d, d) if full else (2, 1, d))
        row = mean[0, 0]
        row[:] = X[0]
        if not math.isfinite(np.vdot(row, row)):
            return cls.by_group(X, labels, None, None, full=full)[0]  # as well
        counts = ClassCounts(labels.classes[labels.codes], *ONE_ROW)
        dtype = SINGLE if X.dtype == SINGLE else DOUBLE
        return cls(counts, None, dtype, mean, scatter, np.zeros((1, d)), ONE_WEIGHT, "refuse")

    @classmethod
    def by_group(
        cls,
        X: Any,
        y: Any,
        groups: Any,
        n_groups: int | None,
        weights: Any = None,
        *,
        full: bool = False,
        careful: bool = False,
        missing: str = "refuse",
    ) -> list[Self]:
        """Return the moments of each group of rows, in one read; groups (n,) are numbers from 0."""
        batch = Batch(X, y, weights, groups, n_groups)
        return cls.of_batch(batch, batch.feature_names, full, careful, missing)

    @classmethod
    def of_batch(
        cls, batch: Batch, names: Names, full: bool, careful: bool, missing: str
    ) -> list[Self]:
        """The moments of each group of a batch."""
        _check_missing(missing, full)
        batch.sum_duplicates()  # the square of a number is not that of its parts
        rows, sums = batch.count()
        weight = as_pairs(sums)[:, :, None]
        if full:
            # 32 digits of few products cost no more than setting up plain sums.
            few = batch.n_rows * batch.n_features**2 <= FEW_PRODUCTS
            tables = full_moments(batch, careful or bool(few))
        elif missing == "ignore":
            tables, weight = known_moments(batch, weight)
        else:
            tables = diagonal_moments(batch, weight, careful)
        statistics = []
        for g in range(batch.n_groups):
            counts, kept = ClassCounts._of_group(batch, g, rows, sums)
            about = (counts, names, batch.dtype)
            mean, scatter, noise, known = (batch.group(t, g, kept) for t in (*tables, weight))
            statistics.append(cls(*about, mean, scatter, noise[0], known, missing))
        return statistics

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each class, (K, d)."""
        return value(self.mean_pairs)

    @property
    def scatter(self) -> NDArray[np.float64]:
        """The scatter of each class about its mean, (K, d) or (K, d, d)."""
        return value(self.scatter_pairs)

    @property
    def feature_weight(self) -> NDArray[np.float64]:
        """The weight of what is not missing, (K, d); (K, 1) when nothing can be."""
        return value(self.weight_pairs)

    @property
    def full(self) -> bool:
        """Whether the scatter has all pairs of features."""
        return self.scatter_pairs.ndim == 4

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.mean_pairs.shape[2])

    def total(self) -> Self:
        """Return the moments of all classes together, as one class, 0.

        >>> Moments.of([[1.0], [3.0], [8.0]], ["ham", "ham", "spam"]).total().mean
        array([[4.]])
        """
        n_classes, shape = len(self.classes), (2, 1, self.n_features)
        if not n_classes:
            return type(self).zero(self.n_features, full=self.full, missing=self.missing)
        sums = over_classes(self.counts.sums)
        counts = ClassCounts(np.zeros(1, np.int64), self.rows.sum(keepdims=True), sums)
        mean, noise = np.zeros(shape), np.zeros(shape[1:])
        scatter = np.zeros((*shape, self.n_features) if self.full else shape)
        weight = np.zeros((2, 1, self.weight_pairs.shape[2]))
        self._added_to(weight, mean, scatter, noise, np.zeros(n_classes, np.int64), 1)
        about = (counts, self.feature_names, self.dtype)
        return type(self)(*about, mean, scatter, noise, weight, self.missing)

    def diagonal(self) -> Self:
        """Return the moments without the products of different features.

        >>> Moments.of([[1.0, 2.0], [3.0, 6.0]], full=True).diagonal().scatter
        array([[2., 8.]])
        """
        if not self.full:
            return self
        scatter = np.ascontiguousarray(np.diagonal(self.scatter_pairs, axis1=2, axis2=3))
        return replace(self, scatter_pairs=scatter)

    def rescaled(self, shift: Any, scale: Any) -> Self:
        """Return the moments of ``(X - shift) / scale``, in plain doubles, without reading X again.

        Parameters
        ----------
        shift, scale : numbers, or arrays (d,); no scale may be zero.

        >>> moments = Moments.of([[1.0], [3.0]]).rescaled(shift=2.0, scale=0.5)
        >>> moments.mean, moments.scatter
        (array([[0.]]), array([[8.]]))
        """
        shift, scale = (np.broadcast_to(v, self.n_features).astype(float) for v in (shift, scale))
        if not (np.isfinite(shift).all() and np.isfinite(scale).all() and scale.all()):
            raise ValueError("shift and scale must be finite, and scale not zero.")
        mean, scatter = np.zeros_like(self.mean_pairs), np.zeros_like(self.scatter_pairs)
        mean[0] = ((self.mean - shift) + self.mean_pairs[1]) / scale
        scatter[0] = self.scatter / (np.outer(scale, scale) if self.full else scale**2)
        sizes = np.diagonal(scatter[0], axis1=1, axis2=2) if self.full else scatter[0]
        noise = self.noise / scale**2 + 2.0**-50 * sizes
        return replace(self, mean_pairs=mean, scatter_pairs=scatter, noise=noise)

    def subtraction_bound(self, other: Self) -> float:
        """Return how far the scatter of ``self - other`` may be off, relative to itself.

        It is rounding times scatter before over scatter after, at its largest over classes and
        features: infinite where rounding is all that is left. A feature that is left with numbers
        all the same, as far as 32 digits tell, has no part in this.

        >>> a = Moments.of([[0.0], [1.0], [1e8]])
        >>> a.subtraction_bound(Moments.of([[1e8]])) < 1e-12
        True
        """
        return relative_noise(self, self - other)

    def _combined(self, other: Self, sign: int) -> Self:
        joint = self.counts.join(other.counts, sign)
        weight, mean, scatter, noise = (
            spread(table, joint.places, joint.n_classes)
            for table in (self.weight_pairs, self.mean_pairs, self.scatter_pairs, self.noise[None])
        )
        bad = other._added_to(weight, mean, scatter, noise[0], joint.others, sign)
        if bad >= 0:
            self._refuse(joint, *divmod(bad, self.n_features))
        if sign < 0:
            weight, mean, scatter, noise = map(joint.keep, (weight, mean, scatter, noise))
        about = (joint.counts, *self._shared(other))
        return type(self)(*about, mean, scatter, noise[0], weight, self.missing)

    def _added_to(
        self, weight: Pairs, mean: Pairs, scatter: Pairs, noise: Any, places: Any, sign: int
    ) -> int:
        """Add these moments to others, class k to the one at places[k], or take them out."""
        # Returns the cell that too much would be taken from; -1 if there is none.
        ours = (self.weight_pairs, self.mean_pairs, self.scatter_pairs, self.noise)
        arguments = (float(sign), places, weight, mean, scatter, noise, ours)
        if self.full:
            bad = moments_loops.merge_full(*arguments, np.empty((2, self.n_features)))
        else:
            bad = moments_loops.merge(*arguments)
        if bad == moments_loops.TOO_LARGE:
            raise checks.too_large(
                "The weighted squares are", "rescale the features, or the weights"
            )
        return int(bad)

    def _refuse(self, joint: Joint, k: int, j: int) -> None:
        """Raise because the scatter of feature j in the other's class k would be negative."""
        place = joint.others[k]
        before = self.diagonal().scatter[place, j]
        name = j if self.feature_names is None else self.feature_names[j]
        raise ValueError(
            f"Cannot remove these rows: in class {self.classes[place]!s} feature {name} has a "
            f"scatter of {before:.6g}, less than they account for; they were never added."
        )

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {
            **self.counts._tables(),
            "mean": self.mean_pairs,
            "scatter": self.scatter_pairs,
            "noise": self.noise,
            "feature_weight": self.weight_pairs,
        }

    def _options(self) -> dict[str, Any]:
        return {"n_features": self.n_features, "full": self.full, "missing": self.missing}

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        counts, about_data, d = (
            ClassCounts._rebuilt(tables, {}),
            names_and_dtype(about),
            about["n_features"],
        )
        cells = (len(counts.rows), d)
        _check_missing(about["missing"], about["full"])
        shapes = {
            "mean": (2, *cells),
            "scatter": (2, *cells, d) if about["full"] else (2, *cells),
            "noise": cells,
            "feature_weight": (2, *cells) if about["missing"] == "ignore" else (2, cells[0], 1),
        }
        for name, shape in shapes.items():
            expect(name, tables[name], shape)
            if not np.isfinite(tables[name]).all():
                raise ValueError(f"{name} is not finite")
        mean, scatter, noise, weight = (tables[name].copy() for name in shapes)
        expect_sums("feature_weight", weight, weight.shape[1:], counts.weight[:, None])
        if about["missing"] == "refuse" and not np.allclose(weight[0, :, 0], counts.weight):
            raise ValueError("feature_weight is not the weight of the rows")
        expect_scatter(scatter[0], noise)
        return cls(counts, *about_data, mean, scatter, noise, weight, about["missing"])


def _check_missing(missing: str, full: bool) -> None:
    check_missing(missing)
    if full and missing == "ignore":
        raise ValueError("missing must be 'refuse' for a full scatter; got 'ignore'.")
