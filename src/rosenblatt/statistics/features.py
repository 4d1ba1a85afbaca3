"""Counts of what each feature held in the rows of each class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import loops
from .batch import Batch
from .counts import ByClass, ClassCounts, names_and_dtype
from .statistic import expect, freeze
from .sums import Sums, total_of, value

EXACT = 2**53  # whole numbers up to here are doubles
# Sums that stay below these are added in so few bits: less memory to scatter over takes less time,
# with twenty classes half as long.
FEW_BITS = ((np.uint16, 2**16 - 1), (np.int32, 2**31 - 1), (np.int64, EXACT))
FEW = 100  # numbers that are looked at ahead
NOT_FINITE = "Input X contains NaN, infinity or a value too large to be counted."
NUMBERS = (np.float64, np.float32, np.int64)  # what the loops read without a copy


@dataclass(frozen=True, eq=False)
class FeatureCounts(ByClass):
    """The sum of each feature in each class, or how many rows have it.

    Features are counts: numbers that are not negative, dense or CSR. With `binarize`, a feature is
    present in a row where it is above that threshold, and presence is what is counted. Whole
    numbers with whole weights give exact integers; others are kept to 32 digits.

    Attributes
    ----------
    classes, rows, weight : as in `ClassCounts`.
    sums : weighted sums, or weights of the rows where the feature is present, shape (K, d);
        integers when all that was added is whole.
    binarize : the threshold of presence; None for sums.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import FeatureCounts
    >>> words = [[2, 0, 1], [0, 3, 0], [1, 1, 0]]
    >>> FeatureCounts.of(words, ["ham", "spam", "ham"]).sums
    array([[3, 1, 1],
           [0, 3, 0]])
    >>> FeatureCounts.of(words, ["ham", "spam", "ham"], binarize=0).sums
    array([[2, 1, 1],
           [0, 1, 0]])
    """

    table: Sums  # (p, K, d)
    binarize: float | None

    def __post_init__(self) -> None:
        freeze(self.table)

    @classmethod
    def zero(cls, n_features: int, *, binarize: float | None = None) -> Self:
        """Return the counts of no rows."""
        table = np.zeros((1, 0, n_features), np.int64)
        return cls(ClassCounts.zero(), None, np.dtype(np.float32), table, binarize)

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None, *, binarize: Any = None) -> Self:
        """Return the counts of rows X (n, d) with labels y (n,) and weights (n,).

        Without labels all rows are of one class, 0. `binarize` is a threshold >= 0, or None.
        """
        return cls.by_group(X, y, None, None, weights, binarize=binarize)[0]

    @classmethod
    def by_group(
        cls,
        X: Any,
        y: Any,
        groups: Any,
        n_groups: int | None,
        weights: Any = None,
        *,
        binarize: Any = None,
        rough: bool = False,
    ) -> list[Self]:
        """Return the counts of each group of rows, in one read; groups (n,) are numbers from 0.

        Sums that are not of whole numbers may be `rough`, kept to 15 digits or so, where nothing
        shall be taken out of them again: that takes half the time.
        """
        if binarize is not None and not 0 <= binarize < np.inf:
            raise ValueError(f"binarize must be a number >= 0 or None; got {binarize!r}.")
        binarize = None if binarize is None else float(binarize)
        batch = Batch(X, y, weights, groups, n_groups)
        table = _sum(batch, rough) if binarize is None else _presence(batch, binarize)
        rows, sums = batch.count()
        statistics = []
        for g in range(batch.n_groups):
            counts, kept = ClassCounts._of_group(batch, g, rows, sums)
            part = batch.group(table, g, kept)
            statistics.append(cls(counts, batch.feature_names, batch.dtype, part, binarize))
        return statistics

    @property
    def sums(self) -> NDArray[Any]:
        """The sum of each feature in each class, (K, d)."""
        return value(self.table)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.table.shape[2])

    def _combined(self, other: Self, sign: int) -> Self:
        joint = self.counts.join(other.counts, sign)
        table = joint.combine(self.table, other.table, sign)
        if sign < 0 and (table[0] < 0).any():
            k, j = np.argwhere(table[0] < 0)[0]
            name = j if self.feature_names is None else self.feature_names[j]
            raise ValueError(
                f"Cannot remove these rows: in class {joint.counts.classes[k]!s} feature {name} "
                f"would be left with {table[0, k, j]}."
            )
        return type(self)(joint.counts, *self._shared(other), table, self.binarize)

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {**self.counts._tables(), "sums": self.table}

    def _options(self) -> dict[str, Any]:
        return {"n_features": self.n_features, "binarize": self.binarize}

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        counts, table = ClassCounts._rebuilt(tables, {}), tables["sums"]
        n_pairs = 2 if table.dtype.kind == "f" else 1
        expect("sums", table, (n_pairs, len(counts.rows), about["n_features"]), "fi")
        return cls(counts, *names_and_dtype(about), table.copy(), about["binarize"])


def _sum(batch: Batch, rough: bool) -> Sums:
    """The sums (p, B, d) of a batch; chunk by chunk in plain doubles if they may be rough."""
    shape = (batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Sums:
        for dtype, most in FEW_BITS[1:] if batch.whole and _begins_whole(X) else ():
            whole = np.zeros((1, *shape), dtype)
            n_rows = batch.n_rows if most == EXACT else len(buckets)
            if loops.counts.sum_whole(X, buckets, weights, most / n_rows, whole[0]) < 0:
                return whole
        real = np.zeros((1 if rough else 2, *shape))
        bad = loops.counts.sum_real(X, buckets, weights, real[0], None if rough else real[1])
        if bad >= 0:
            raise ValueError(_why_not(X, bad))
        return real

    return total_of(batch.over_chunks(work, batch.n_buckets * batch.n_features, NUMBERS), shape)


def _begins_whole(X: Any) -> bool:
    """Whether the first numbers are whole, so that it pays to make a table for such."""
    numbers = X[0][X[2][0] : X[2][0] + FEW] if isinstance(X, tuple) else X[:1, :FEW]
    return bool((numbers == np.floor(numbers)).all())


def _why_not(X: Any, i: int) -> str:
    """What is wrong with row i, which cannot be counted."""
    row = X[0][X[2][i] : X[2][i + 1]] if isinstance(X, tuple) else X[i]
    if (row < 0).any():
        return f"Negative values in data cannot be counted; got {row[row < 0][0]}."
    return NOT_FINITE


def _presence(batch: Batch, threshold: float) -> Sums:
    """The weights (p, B, d) of the rows that have each feature."""
    shape = (batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Sums:
        if batch.whole:
            largest = batch.largest_weight * len(buckets)
            dtype = next(dtype for dtype, most in FEW_BITS if largest <= most or most == EXACT)
            counts = np.zeros((1, *shape), dtype)
            bad = loops.counts.count_present(X, buckets, weights, threshold, counts[0])
        else:
            counts = np.zeros((2, *shape))
            bad = loops.counts.weigh_present(X, buckets, weights, threshold, counts)
        if bad >= 0:
            raise ValueError(NOT_FINITE)
        return counts

    return total_of(batch.over_chunks(work, batch.n_buckets * batch.n_features, NUMBERS), shape)
