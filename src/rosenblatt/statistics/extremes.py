"""Minimum and maximum of each feature in each class."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import counts_loops
from .batch import Batch, check_missing
from .counts import ByClass
from .statistic import DOUBLES, ArrayForm

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Extremes(ByClass):
    """Minimum and maximum of each feature in each class.

    They can be added, but not subtracted: the value that would replace a removed minimum is not
    stored.

    Attributes
    ----------
    classes, rows, weight : as in `ClassCounts`.
    low, high : minima and maxima, shape (K, d); infinity and minus infinity where all values are
        missing.
    missing : "refuse" or "ignore": whether NaN is an error or left out.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import Extremes
    >>> a, b = Extremes.of([[1.0, 5.0], [3.0, 4.0]]), Extremes.of([[2.0, 9.0]])
    >>> (a + b).low, (a + b).high
    (array([[1., 4.]]), array([[3., 9.]]))
    >>> a + b - b
    Traceback (most recent call last):
    ...
    ValueError: Minima and maxima merge but cannot be taken back; fit again on the rows that stay.
    """

    low: Table  # (K, d)
    high: Table  # (K, d)
    missing: str = "refuse"

    forms: ClassVar[dict[str, ArrayForm]] = {
        "low": ArrayForm("K d", DOUBLES),
        "high": ArrayForm("K d", DOUBLES),
    }
    options: ClassVar[tuple[str, ...]] = ("n_features", "missing")

    @classmethod
    def _of_batch(cls, batch: Batch, *, missing: str = "refuse") -> list[Self]:
        """Return the extremes of each group; rows of weight 0 are left out."""
        check_missing(missing)
        batch.sum_duplicates()  # a sum may lie farther out than its parts
        low, high = _extremes(batch) if missing == "refuse" else _known_extremes(batch)
        return cls._of_tables(batch, {"low": low, "high": high}, missing=missing)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.low.shape[1])

    def total(self) -> Self:
        """Return the extremes of all classes together, as one class, 0.

        >>> Extremes.of([[1.0], [3.0], [8.0]], ["ham", "ham", "spam"]).total().high
        array([[8.]])
        """
        if not len(self):
            return self
        low, high = self.low.min(axis=0, keepdims=True), self.high.max(axis=0, keepdims=True)
        return replace(self, counts=self.counts.total(), low=low, high=high)

    def _combined(self, other: Self, sign: int) -> Self:
        if sign < 0 and len(other):
            raise ValueError(
                "Minima and maxima merge but cannot be taken back; fit again on the rows that stay."
            )
        joint = self.counts.join(other.counts, 1)
        low = np.full((joint.n_classes, self.n_features), np.inf)
        high = -low
        places = slice(None) if joint.places is None else joint.places
        low[places], high[places] = self.low, self.high
        low[joint.others] = np.minimum(low[joint.others], other.low)
        high[joint.others] = np.maximum(high[joint.others], other.high)
        return self._joined(other, joint.counts, low=low, high=high)

    def _check_values(self) -> None:
        low, high = self.low, self.high
        unknown = (low == np.inf) & (high == -np.inf) & (self.missing == "ignore")
        if not (np.isfinite(low) & np.isfinite(high) & (low <= high) | unknown).all():
            raise ValueError("low is above high, or not finite")


def _known_extremes(batch: Batch) -> tuple[Table, Table]:
    """Return minima and maxima (B, d) of the values that are not NaN, from two reads."""

    def instead(extreme: float, numbers: NDArray[Any]) -> NDArray[Any]:
        if np.isinf(numbers).any():
            raise ValueError("Input X contains infinity.")
        return np.where(np.isnan(numbers), numbers.dtype.type(extreme), numbers)

    low, _ = _extremes(batch.changed(partial(instead, np.inf)), finite=False)
    return low, _extremes(batch.changed(partial(instead, -np.inf)), finite=False)[1]


def _extremes(batch: Batch, finite: bool = True) -> tuple[Table, Table]:
    """Return minima and maxima (B, d) of each bucket."""
    shape = (batch.n_buckets, batch.n_features)

    def tables() -> tuple[Table, ...]:
        return np.full(shape, np.inf), np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> tuple[Table, ...]:
        found = tables()
        counts_loops.widen(X, buckets, *found)
        return found

    low, high, stored, spoiled = tables()
    for part in batch.over_chunks(work, 4 * shape[0] * shape[1]):
        np.minimum(low, part[0], out=low)
        np.maximum(high, part[1], out=high)
        stored += part[2]
        spoiled += part[3]
    if finite and not np.isfinite(spoiled).all():
        j = int(np.flatnonzero(~np.isfinite(spoiled).all(axis=0))[0])
        raise ValueError(f"Feature {batch.name(j)} holds NaN or infinity.")
    if sp.issparse(batch.X):
        has_zero = stored < batch.counted[0][:, None]
        low[has_zero] = np.minimum(low[has_zero], 0)
        high[has_zero] = np.maximum(high[has_zero], 0)
    return low, high
