"""Moments: weight, mean and scatter of each class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .. import loops
from .batch import Batch
from .counts import ByClass, ClassCounts, Joint, groups_of, names_and_dtype
from .scatter import diagonal_moments, full_moments
from .statistic import expect, freeze
from .sums import as_pairs, spread

Pairs = NDArray[np.float64]  # (2, ...): high numbers, then low; see `loops.pairs`


@dataclass(frozen=True, eq=False)
class Moments(ByClass):
    """The weight, mean and scatter of each class.

    The scatter is the weighted sum of squared distances from the class's own mean, or with `full`
    of the products of all pairs of features; divided by the weight it is the variance. Everything
    is kept to 32 digits, so that rows may lie anywhere and be taken out again: see
    `subtraction_bound`.

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
    weight_pairs: Pairs | None  # (2, K, d) when values may be missing; else the class's weight holds

    def __post_init__(self) -> None:
        freeze(self.mean_pairs, self.scatter_pairs, self.noise, self.weight_pairs)

    @classmethod
    def zero(cls, n_features: int, *, full: bool = False, missing: str = "refuse") -> Self:
        """Return the moments of no rows."""
        ignore = _checked_missing(missing, full)
        mean, noise = np.zeros((2, 0, n_features)), np.zeros((0, n_features))
        scatter = np.zeros((2, 0, n_features, n_features)) if full else mean.copy()
        counts, dtype = ClassCounts.zero(), np.dtype(np.float32)
        return cls(counts, None, dtype, mean, scatter, noise, mean.copy() if ignore else None)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        weights: Any = None,
        *,
        full: bool = False,
        missing: str = "refuse",
    ) -> Self:
        """Return the moments of rows X (n, d) with labels y (n,) and weights (n,).

        Without labels all rows are of one class, 0. With ``missing="ignore"`` NaN is left out, and
        each feature has a weight of its own; not for `full`.
        """
        return cls.by_group(X, y, None, None, weights, full=full, missing=missing)[0]

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
        missing: str = "refuse",
    ) -> list[Self]:
        """Return the moments of each group of rows, in one read; groups (n,) are numbers from 0."""
        ignore = _checked_missing(missing, full)
        batch = Batch(X, y, weights, groups, n_groups)
        rows, sums = batch.count()
        weight = as_pairs(sums)[:, :, None]
        tables = full_moments(batch, weight) if full else diagonal_moments(batch, weight, ignore)
        statistics = []
        for g in range(batch.n_groups):
            counts, kept = ClassCounts._of_group(batch, g, rows, sums)
            parts = [None if t is None else batch.group(t, g, kept) for t in tables]
            mean, scatter, noise, known = parts
            statistics.append(
                cls(counts, batch.feature_names, batch.dtype, mean, scatter, noise[0], known)
            )
        return statistics

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each class, (K, d)."""
        return self.mean_pairs[0]

    @property
    def scatter(self) -> NDArray[np.float64]:
        """The scatter of each class about its mean, (K, d) or (K, d, d)."""
        return self.scatter_pairs[0]

    @property
    def feature_weight(self) -> NDArray[np.float64]:
        """The weight of what is not missing, (K, d); (K, 1) when nothing can be."""
        return self.weight[:, None] if self.weight_pairs is None else self.weight_pairs[0]

    @property
    def full(self) -> bool:
        """Whether the scatter has all pairs of features."""
        return self.scatter_pairs.ndim == 4

    @property
    def missing(self) -> str:
        """What happens to NaN: "refuse" or "ignore"."""
        return "refuse" if self.weight_pairs is None else "ignore"

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.mean_pairs.shape[2]

    def total(self) -> Self:
        """Return the moments of all classes together, as one class, 0.

        >>> Moments.of([[1.0], [3.0], [8.0]], ["ham", "ham", "spam"]).total().mean
        array([[4.]])
        """
        whole = type(self).zero(self.n_features, full=self.full, missing=self.missing)
        zero = np.zeros(1, np.int64)
        for k in range(len(self.classes)):
            tables = [None if t is None else t[:, k : k + 1].copy() for t in self._pairs()]
            mean, scatter, noise, known = tables
            counts = ClassCounts(zero.copy(), self.rows[k : k + 1], self.counts.sums[:, k : k + 1])
            part = (mean, scatter, noise[0], known)
            whole += type(self)(counts, self.feature_names, self.dtype, *part)
        return whole

    def diagonal(self) -> Self:
        """Return the moments without the products of different features.

        >>> Moments.of([[1.0, 2.0], [3.0, 6.0]], full=True).diagonal().scatter
        array([[2., 8.]])
        """
        if not self.full:
            return self
        scatter = np.ascontiguousarray(np.diagonal(self.scatter_pairs, axis1=2, axis2=3))
        about = (self.counts, self.feature_names, self.dtype)
        return type(self)(*about, self.mean_pairs, scatter, self.noise, self.weight_pairs)

    def subtraction_bound(self, other: Self) -> float:
        """Return how far the scatter of ``self - other`` may be off, relative to itself.

        It is rounding times scatter before over scatter after, at its largest over classes and
        features; infinite if a scatter that is left is no larger than its rounding.

        >>> a = Moments.of([[0.0], [1.0], [1e8]])
        >>> a.subtraction_bound(Moments.of([[1e8]])) < 1e-12
        True
        """
        left = (self - other).diagonal()
        varies = left.noise > 0
        if not varies.any():
            return 0.0
        with np.errstate(divide="ignore"):
            return float((left.noise[varies] / left.scatter[varies]).max())

    def _pairs(self) -> tuple[Pairs, Pairs, Pairs, Pairs | None]:
        return self.mean_pairs, self.scatter_pairs, self.noise[None], self.weight_pairs

    def _weights(self) -> Pairs:
        """The weights as merging wants them, (2, K, 1) or (2, K, d)."""
        if self.weight_pairs is not None:
            return self.weight_pairs
        return as_pairs(self.counts.sums)[:, :, None]

    def _combined(self, other: Self, sign: int) -> Self:
        joint = self.counts.join(other.counts, sign)
        weight, mean, scatter, noise = (
            spread(table, joint.places, joint.n_classes)
            for table in (self._weights(), *self._pairs()[:3])
        )
        theirs = (other._weights(), other.mean_pairs, other.scatter_pairs, other.noise)
        arguments = (float(sign), joint.others, weight, mean, scatter, noise[0], theirs)
        if self.full:
            bad = loops.moments.merge_full(*arguments, np.empty((2, self.n_features)))
        else:
            bad = loops.moments.merge(*arguments)
        if bad >= 0 and joint.others[bad // self.n_features] in joint.kept:
            self._refuse(joint, int(bad) // self.n_features, int(bad) % self.n_features)
        tables = [joint.keep(table) for table in (mean, scatter, noise)]
        known = None if self.weight_pairs is None else joint.keep(weight)
        about = self._shared(other)
        return type(self)(joint.counts, *about, tables[0], tables[1], tables[2][0], known)

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
        tables = {
            **self.counts._tables(),
            "mean": self.mean_pairs,
            "scatter": self.scatter_pairs,
            "noise": self.noise,
        }
        if self.weight_pairs is not None:
            tables["feature_weight"] = self.weight_pairs
        return tables

    def _options(self) -> dict[str, Any]:
        return {"n_features": self.n_features, "full": self.full, "missing": self.missing}

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        counts, d = ClassCounts._rebuilt(tables, {}), about["n_features"]
        cells = (len(counts.rows), d)
        shapes = {"mean": (2, *cells), "scatter": (2, *cells), "noise": cells}
        if about["full"]:
            shapes["scatter"] = (2, *cells, d)
        if about["missing"] == "ignore":
            shapes["feature_weight"] = (2, *cells)
        for name, shape in shapes.items():
            expect(name, tables[name], shape)
            if not np.isfinite(tables[name]).all():
                raise ValueError(f"{name} is not finite")
        mean, scatter, noise = (tables[name].copy() for name in ("mean", "scatter", "noise"))
        known = tables["feature_weight"].copy() if "feature_weight" in shapes else None
        return cls(counts, *names_and_dtype(about), mean, scatter, noise, known)


def _checked_missing(missing: str, full: bool) -> bool:
    """Whether NaN is ignored."""
    if missing not in ("refuse", "ignore"):
        raise ValueError(f"missing must be 'refuse' or 'ignore'; got {missing!r}.")
    if full and missing == "ignore":
        raise ValueError("missing must be 'refuse' for a full scatter; got 'ignore'.")
    return missing == "ignore"
