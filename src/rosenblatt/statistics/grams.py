"""Gram matrices of centered features and targets, for least squares."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .batch import Batch
from .moments import Moments
from .statistic import Names, Statistic

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Gram(Statistic):
    """Means, and centered products of features and targets: the statistic of least squares.

    Features and targets side by side are the columns of one table, and this is the full moment
    statistic of it. The coefficients of a least-squares fit with intercept solve
    ``xx @ coef = xy``; the intercept is ``mean_y - mean_x @ coef``.

    Attributes
    ----------
    rows, weight : how many rows there are, and how much they weigh.
    mean_x, mean_y : the means of features and targets, shapes (d,) and (t,).
    xx, xy, yy : sums of products of distances from the means, shapes (d, d), (d, t) and (t, t).
    flat_y : True if targets came as y (n,); predictions then have this shape.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import Gram
    >>> gram = Gram.of([[1.0], [2.0], [4.0]], [3.0, 5.0, 9.0])
    >>> slope = gram.xy[:, 0] / gram.xx[0]
    >>> slope, gram.mean_y - gram.mean_x * slope
    (array([2.]), array([1.]))
    """

    moments: Moments  # of (features, targets), all rows in one class
    n_targets: int
    feature_names: Names
    flat_y: bool = False

    @classmethod
    def zero(cls, n_features: int, n_targets: int = 1) -> Self:
        """Return the statistic of no rows."""
        moments = Moments.zero(n_features + n_targets, full=True)
        return cls(moments, n_targets, None, flat_y=n_targets == 1)

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any = None) -> Self:
        """Return the statistic of rows X (n, d), dense or CSR, and targets y (n,) or (n, t)."""
        return cls.by_group(X, y, None, None, weights)[0]

    @classmethod
    def by_group(
        cls, X: Any, y: Any, groups: Any, n_groups: int | None, weights: Any = None
    ) -> list[Self]:
        """Return the statistic of each group of rows, in one read; groups (n,) count from 0."""
        y = np.asarray(y)
        targets = y[:, None] if y.ndim == 1 else y
        if targets.ndim != 2 or targets.dtype.kind not in "fiub":
            raise ValueError(f"y must be numbers, (n,) or (n, t); got shape {y.shape}, {y.dtype}.")
        batch = Batch(X, None, weights, groups, n_groups, targets)
        parts = Moments._of_batch(batch, full=True)
        about = (targets.shape[1], batch.feature_names, y.ndim == 1)
        return [cls(replace(part, feature_names=None), *about) for part in parts]

    @property
    def classes(self) -> NDArray[Any]:
        """One class, 0, if there are rows."""
        return self.moments.classes

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.moments.rows.sum())

    @property
    def weight(self) -> float:
        """Weight of the rows."""
        return float(self.moments.weight.sum())

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.moments.n_features - self.n_targets

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the data."""
        return self.moments.dtype

    @property
    def mean_x(self) -> NDArray[np.float64]:
        """Mean of each feature, (d,)."""
        return self._mean()[: self.n_features]

    @property
    def mean_y(self) -> NDArray[np.float64]:
        """Mean of each target, (t,)."""
        return self._mean()[self.n_features :]

    @property
    def xx(self) -> NDArray[np.float64]:
        """Scatter of the features, (d, d)."""
        return self._scatter()[: self.n_features, : self.n_features]

    @property
    def xy(self) -> NDArray[np.float64]:
        """Scatter between features and targets, (d, t)."""
        return self._scatter()[: self.n_features, self.n_features :]

    @property
    def yy(self) -> NDArray[np.float64]:
        """Scatter of the targets, (t, t)."""
        return self._scatter()[self.n_features :, self.n_features :]

    def about(self, centred: bool) -> tuple[Table, Table, Table]:
        """Return products of features (d, d), of features and targets (d, t), and squares (t,).

        They are centered for least squares with an intercept, and not with ``centred=False``.

        >>> products, _, _ = Gram.of([[1.0], [3.0]], [0.0, 1.0]).about(centred=False)
        >>> products
        array([[10.]])
        """
        d, products = self.n_features, self._scatter()
        if not centred:
            mean = self._mean()
            products = products + self.weight * np.outer(mean, mean)
        return products[:d, :d], products[:d, d:], np.diag(products)[d:]

    def features(self) -> Moments:
        """Return the moments of the features alone.

        >>> Gram.of([[1.0], [3.0]], [0.0, 1.0]).features().scatter
        array([[[2.]]])
        """
        d, both = self.n_features, self.moments
        return replace(
            both,
            mean=both.mean[:, :d].copy(),
            mean_low=both.mean_low[:, :d].copy(),
            scatter=both.scatter[:, :d, :d].copy(),
            noise=both.noise[:, :d].copy(),
            feature_names=self.feature_names,
        )

    def rescaled(self, shift: Any, scale: Any) -> Self:
        """Return the statistic of ``(X - shift) / scale`` and the same targets; see `Moments`."""
        d, kept = self.n_features, np.ones(self.n_targets)
        shift, scale = (np.broadcast_to(v, d).astype(float) for v in (shift, scale))
        moved = self.moments.rescaled(np.append(shift, 0 * kept), np.append(scale, kept))
        return replace(self, moments=moved)

    def subtraction_bound(self, other: Self) -> float:
        """Return how far the products of ``self - other`` may be off; see `Moments`."""
        return self.moments.subtraction_bound(other.moments)

    def relative_noise(self, floor: Any = 0.0, pooled: bool = False) -> float:
        """Return a bound on the relative error of the squares; see `Moments`."""
        return self.moments.relative_noise(floor, pooled)

    def _mean(self) -> NDArray[np.float64]:
        return self.moments.mean[0] if self.rows else np.zeros(self.moments.n_features)

    def _scatter(self) -> NDArray[np.float64]:
        d = self.moments.n_features
        return self.moments.scatter[0] if self.rows else np.zeros((d, d))

    def _combined(self, other: Self, sign: int) -> Self:
        moments = self.moments._combined(other.moments, sign, self._name_of)
        names, flat_y = self.feature_names or other.feature_names, self.flat_y and other.flat_y
        return type(self)(moments, self.n_targets, names, flat_y)

    def _name_of(self, j: int) -> str:
        """Return the name of column j of features and targets in error messages."""
        if j >= self.n_features:
            return f"target {j - self.n_features}"
        return f"feature {j if self.feature_names is None else self.feature_names[j]}"

    def _tables(self) -> dict[str, NDArray[Any]]:
        return self.moments._tables()

    def _options(self) -> dict[str, Any]:
        return {"n_features": self.n_features, "n_targets": self.n_targets}

    def _about(self) -> dict[str, Any]:
        return {**super()._about(), "flat_y": self.flat_y}

    @classmethod
    def _checked(cls, tables: dict[str, NDArray[Any]], about: dict[str, Any]) -> Self:
        names, n_targets = about["feature_names"], about["n_targets"]
        if type(n_targets) is not int or n_targets < 0:
            raise ValueError(f"n_targets is {n_targets!r}, not an integer >= 0")
        inside = about | {"full": True, "missing": "refuse", "feature_names": None}
        inside["n_features"] += n_targets
        moments = Moments._checked(tables, inside)
        names = None if names is None else tuple(map(str, names))
        return cls(moments, n_targets, names, bool(about["flat_y"]))
