"""Counts of rows, for models that need to know no more of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .batch import Batch
from .counts import ByClass, ClassCounts
from .reading import names_and_dtype
from .sums import settled


@dataclass(frozen=True, eq=False, repr=False)
class RowCounts(ByClass):
    """How many rows each class has, and which features: the numbers in them are not read.

    Attributes
    ----------
    classes, rows, weight : as in `ClassCounts`.
    n_features : the number of features.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import RowCounts
    >>> a = RowCounts.of([[1.0, 2.0], [3.0, 4.0]])
    >>> len(a + a), (a + a).n_features, a + a - a == a
    (4, 2, True)
    """

    n_features: int

    @classmethod
    def zero(cls, n_features: int) -> Self:
        """Return the counts of no rows."""
        return cls(ClassCounts.zero(), None, np.dtype(np.float32), n_features)

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None) -> Self:
        """Return the counts of rows X (n, d) with labels y (n,) and weights (n,).

        Without labels all rows are of one class, 0.
        """
        if y is None and weights is None and _plain(X) and X.shape[0]:
            # Nothing to look at: no array as long as the rows is needed.
            n, dtype = X.shape[0], np.float32 if X.dtype == np.float32 else np.float64
            counts = ClassCounts(np.zeros(1, np.int64), np.array([n]), np.array([[n]]))
            return cls(counts, None, np.dtype(dtype), X.shape[1])
        return cls.by_group(X, y, None, None, weights)[0]

    @classmethod
    def by_group(
        cls, X: Any, y: Any, groups: Any, n_groups: int | None, weights: Any = None
    ) -> list[Self]:
        """Return the counts of each group of rows; groups (n,) are numbers from 0."""
        batch = Batch(X, y, weights, groups, n_groups)
        counted = batch.count()
        each = (ClassCounts._of_group(batch, g, *counted)[0] for g in range(batch.n_groups))
        about = (batch.feature_names, batch.dtype, batch.n_features)
        return [cls(counts, *about) for counts in each]

    def total(self) -> Self:
        """Return the counts of all classes together, as one class, 0."""
        return type(self)(together(self.counts), self.feature_names, self.dtype, self.n_features)

    def _combined(self, other: Self, sign: int) -> Self:
        counts = self.counts.join(other.counts, sign).counts
        return type(self)(counts, *self._shared(other), self.n_features)

    def _tables(self) -> dict[str, NDArray[Any]]:
        return self.counts._tables()

    def _options(self) -> dict[str, Any]:
        return {"n_features": self.n_features}

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        counts = ClassCounts._rebuilt(tables, {})
        return cls(counts, *names_and_dtype(about), int(about["n_features"]))


def _plain(X: Any) -> bool:
    """Whether X is a table of numbers already, dense or sparse."""
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub")


def together(counts: ClassCounts) -> ClassCounts:
    """The counts of all classes as one class, 0."""
    if not len(counts):
        return counts
    sums = settled(counts.sums.sum(axis=1, keepdims=True))
    return ClassCounts(np.zeros(1, np.int64), counts.rows.sum(keepdims=True), sums)
