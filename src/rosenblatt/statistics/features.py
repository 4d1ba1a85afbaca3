"""Sums of each feature, or counts of its presence, in the rows of each class."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks

from . import counts_loops
from .batch import Batch, Sums, check_missing, filled, gaps, total_of
from .counts import ByClass, checked, refuse_negative
from .statistic import NUMBERS as KINDS
from .statistic import ArrayForm

EXACT = 2**53 - 1  # doubles hold whole numbers up to here exactly
# Sums below these limits are added in fewer bits: a smaller table takes half the time with twenty
# classes.
FEW_BITS = ((np.uint16, 2**16 - 1), (np.int32, 2**31 - 1), (np.int64, EXACT))
FEW = 100  # numbers that are checked first
NUMBERS = (np.float64, np.float32, np.int64)  # what the loops read without a copy


@dataclass(frozen=True, eq=False, repr=False)
class FeatureCounts(ByClass):
    """Sum of each feature in each class, or weight of the rows that have it.

    Features are counts: numbers that are not negative, dense or CSR. With `binarize`, a feature is
    present in a row where it is above that threshold, and presence is counted. Whole
    numbers with whole weights give exact integers, up to 2**53 in a batch; other sums are doubles.
    With ``missing="ignore"`` NaN, stored or dense, is left out.

    Attributes
    ----------
    classes, rows, weight : as in `ClassCounts`.
    sums : weighted sums, or weights of the rows where the feature is present, shape (K, d);
        integers when all that was added is whole.
    feature_weight : the weight of the rows where the feature is not missing, shape (K, d), or
        (K, 1) when none can be.
    binarize : the threshold of presence; None for sums.
    missing : "refuse" or "ignore": whether NaN is an error or left out.
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

    sums: Sums  # (K, d)
    binarize: float | None
    gaps: Sums | None = None  # (K, d): the weight of missing values; None if they are refused

    forms: ClassVar[dict[str, ArrayForm]] = {
        "sums": ArrayForm("K d", KINDS, 0),
        "gaps": ArrayForm("K d", KINDS, 0, if_missing=True),
    }
    options: ClassVar[tuple[str, ...]] = ("n_features", "binarize", "missing")

    @classmethod
    def _of_batch(
        cls, batch: Batch, *, binarize: Any = None, missing: str = "refuse"
    ) -> list[Self]:
        """Return the counts of each group, from one read of the rows or two to ignore NaN."""
        check_missing(missing)
        binarize = _threshold(binarize)
        missed = None
        if missing == "ignore" or binarize is not None:
            # A number and NaN in one place are missing together; a sum may be above a threshold.
            batch.sum_duplicates()
        if missing == "ignore":
            missed, batch = _presence(batch.changed(gaps), 0.5), batch.changed(filled)
        table = _sum(batch) if binarize is None else _presence(batch, binarize)
        return cls._of_tables(batch, {"sums": table, "gaps": missed}, binarize=binarize)

    @property
    def feature_weight(self) -> NDArray[np.float64]:
        """Weight of the values that are not missing, (K, d); (K, 1) if none can be."""
        weight = self.weight[:, None]
        return weight if self.gaps is None else weight - self.gaps

    @property
    def missing(self) -> str:
        """``"refuse"`` if NaN is an error, ``"ignore"`` if it is left out."""
        return "refuse" if self.gaps is None else "ignore"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.sums.shape[1])

    def _combined(self, other: Self, sign: int) -> Self:
        joint = self.counts.join(other.counts, sign)
        table, missed = joint.combine(self.sums, other.sums, sign), None
        if self.gaps is not None and other.gaps is not None:
            missed = joint.combine(self.gaps, other.gaps, sign)
        if sign < 0:
            refuse_negative(table, joint.counts.classes, self._name_of)
        if sign < 0 and missed is not None:
            what = " rows where it is missing"
            refuse_negative(missed, joint.counts.classes, self._name_of, what)
        return self._joined(other, joint.counts, sums=table, gaps=missed)

    def _check_values(self) -> None:
        _threshold(self.binarize)


def _threshold(binarize: Any) -> float | None:
    """Return the threshold of presence as a double, or None."""
    if binarize is None:
        return None
    if not isinstance(binarize, Real) or not 0 <= float(binarize) < np.inf:
        raise ValueError(f"binarize must be a number >= 0 or None; got {binarize!r}.")
    return float(binarize)


def _sum(batch: Batch) -> Sums:
    """Return the sums (B, d) of a batch."""
    shape = (batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Sums:
        # If the first numbers are whole, a table of integers may be enough.
        first = X[0][X[2][0] : X[2][0] + FEW] if isinstance(X, tuple) else X[:1, :FEW]
        may_be_whole = batch.whole and (first == np.floor(first)).all()
        for dtype, most in FEW_BITS[1:] if may_be_whole else ():
            whole = np.zeros(shape, dtype)
            n_rows = batch.n_rows if most == EXACT else len(buckets)
            if counts_loops.sum_whole(X, buckets, weights, most / n_rows, whole) < 0:
                return whole
        real = np.zeros(shape)
        _refuse_row(X, counts_loops.sum_real(X, buckets, weights, real))
        return real

    parts = batch.over_chunks(work, batch.n_buckets * batch.n_features, NUMBERS)
    return checked(total_of(parts, shape))


def _refuse_row(X: Any, i: int) -> None:
    """Raise because row i does not hold counts, unless i is negative."""
    if i >= 0:
        raise checks.not_counts(X[0][X[2][i] : X[2][i + 1]] if isinstance(X, tuple) else X[i])


def _presence(batch: Batch, threshold: float) -> Sums:
    """Return the weights (B, d) of the rows that have each feature."""
    shape = (batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Sums:
        dtype: Any = np.float64
        if batch.whole:
            heaviest = 1.0 if batch.weights is None else batch.weights.max(initial=0.0)
            largest = heaviest * len(buckets)
            dtype = next(dtype for dtype, most in FEW_BITS if largest <= most or most == EXACT)
        counts = np.zeros(shape, dtype)
        _refuse_row(X, counts_loops.count_present(X, buckets, weights, threshold, counts))
        return counts

    return total_of(batch.over_chunks(work, batch.n_buckets * batch.n_features, NUMBERS), shape)
