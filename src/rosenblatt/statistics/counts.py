"""Counts of rows by class, which every other statistic stands on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .batch import Batch
from .statistic import Names, Statistic, expect, expect_labels, expect_sums, freeze, names_and_dtype
from .sums import Labels, Places, Sums, add, settled, spread, subtract, unite, value


class Joint(NamedTuple):
    """How the classes of two statistics come together."""

    counts: "ClassCounts"
    places: Places  # of the first's classes among both's
    others: NDArray[np.int64]  # of the second's
    kept: NDArray[np.int64]  # after a subtraction, the places that have rows left
    n_classes: int  # places in all

    def combine(self, a: Sums, b: Sums, sign: int) -> Sums:
        """The sums (p, K, ...) of both, or of the first without the second."""
        if sign > 0:
            return add(a, self.places, b, self.others, self.n_classes)
        return self.keep(subtract(a, b, self.others))

    def keep(self, table: NDArray[Any]) -> NDArray[Any]:
        """A table (p, K, ...) without the classes that have no rows left."""
        if len(self.kept) == table.shape[1]:
            return table
        return np.ascontiguousarray(table[:, self.kept])


@dataclass(frozen=True, eq=False, repr=False)
class ClassCounts(Statistic):
    """How many rows each class has, and how much they weigh.

    Attributes
    ----------
    classes : the classes that have rows, sorted, shape (K,).
    rows : their numbers of rows, integers, shape (K,).
    weight : their weights, shape (K,).

    Examples
    --------
    >>> from rosenblatt.statistics import ClassCounts
    >>> a = ClassCounts.of(["ham", "spam", "ham"])
    >>> b = ClassCounts.of(["spam"], weights=[2.5])
    >>> (a + b).rows, (a + b).weight
    (array([2, 2]), array([2. , 3.5]))
    >>> a + b - b == a
    True
    """

    classes: NDArray[Any]
    rows: NDArray[np.int64]
    sums: Sums  # (p, K): the weights; see `sums`

    def __post_init__(self) -> None:
        freeze(self.classes, self.rows, self.sums)

    @classmethod
    def zero(cls) -> Self:
        """Return the counts of no rows."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((1, 0), np.int64))

    @classmethod
    def of(cls, y: Any, weights: Any = None) -> Self:
        """Return the counts of labels y (n,), each of weight 1 unless `weights` (n,) says other."""
        return cls.by_group(y, None, None, weights)[0]

    @classmethod
    def by_group(cls, y: Any, groups: Any, n_groups: int | None, weights: Any = None) -> list[Self]:
        """Return the counts of each group of rows; groups (n,) are numbers from 0."""
        labels = Labels.of(y)
        batch = Batch(np.empty((len(labels.codes), 0)), labels, weights, groups, n_groups)
        counted = batch.count()
        return [cls._of_group(batch, g, *counted)[0] for g in range(batch.n_groups)]

    @classmethod
    def _of_group(
        cls, batch: Batch, g: int, rows: NDArray[np.int64], sums: Sums
    ) -> tuple[Self, NDArray[np.int64]]:
        """The counts of group g, and the places of the classes that have rows in it."""
        n_classes = len(batch.classes)
        rows = rows[g * n_classes : (g + 1) * n_classes]
        kept = rows.nonzero()[0]
        if len(kept) == n_classes:
            return cls(batch.classes, rows, batch.group(sums, g, kept)), kept
        return cls(batch.classes[kept], rows[kept], batch.group(sums, g, kept)), kept

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each class, (K,)."""
        return value(self.sums).astype(np.float64)

    def join(self, other: "ClassCounts", sign: int) -> Joint:
        """Add or subtract the other's rows; what other statistics need to do the same."""
        classes, places, others = unite(self.classes, other.classes)
        if sign > 0:
            rows = spread(self.rows[None], places, len(classes))[0]
            rows[others] += other.rows
            sums = add(self.sums, places, other.sums, others, len(classes))
            counts = ClassCounts(classes, rows, sums)
            return Joint(counts, places, others, others, len(classes))
        if len(classes) > len(self.classes):
            new = np.setdiff1d(other.classes, self.classes)[0]
            raise ValueError(f"Cannot remove rows of class {new!s}: none were added.")
        rows = self.rows.copy()
        rows[others] -= other.rows
        sums = subtract(self.sums, other.sums, others)
        self._refuse_negative(rows, sums, other)
        kept = rows.nonzero()[0]
        counts = ClassCounts(classes[kept], rows[kept], np.ascontiguousarray(sums[:, kept]))
        return Joint(counts, places, others, kept, len(classes))

    def _refuse_negative(self, rows: NDArray[np.int64], sums: Sums, other: "ClassCounts") -> None:
        """Raise if more rows, or more weight, would be removed than there are."""
        for what, left, before in (("rows", rows, self.rows), ("weight", sums[0], self.sums[0])):
            # Rows must weigh something, so that weight ends exactly where they do.
            bad = (left < 0) | ((left <= 0) != (rows <= 0))
            if bad.any():
                k = int(bad.nonzero()[0][0])
                raise ValueError(
                    f"Cannot remove {before[k] - left[k]} {what} of class {self.classes[k]!s}: "
                    f"it has {before[k]}"
                    + (f", and {rows[k]} rows would be left." if rows[k] >= 0 else ".")
                )

    def _combined(self, other: Self, sign: int) -> Self:
        return self.join(other, sign).counts  # type: ignore[return-value]

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {"classes": self.classes, "rows": self.rows, "weight": self.sums}

    def _options(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        classes, rows, sums = tables["classes"], tables["rows"], tables["weight"]
        expect("rows", rows, (rows.size,), "i")
        expect_labels("classes", classes, len(rows))
        expect_sums("weight", sums, (len(rows),))
        if (rows <= 0).any() or (sums[0] <= 0).any():
            raise ValueError("a class has no rows or no weight")
        return cls(classes.copy(), rows.copy(), sums.copy())


@dataclass(frozen=True, eq=False, repr=False)
class ByClass(Statistic):
    """A statistic that keeps something about the features of each class."""

    counts: ClassCounts
    feature_names: Names
    dtype: np.dtype[Any]

    @property
    def classes(self) -> NDArray[Any]:
        """The classes that have rows, sorted, (K,)."""
        return self.counts.classes

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each class has, (K,)."""
        return self.counts.rows

    @property
    def weight(self) -> NDArray[np.float64]:
        """How much they weigh, (K,)."""
        return self.counts.weight

    def _shared(self, other: "ByClass") -> tuple[Names, np.dtype[Any]]:
        """Names and precision of a combination: known if either knows, and the finer."""
        return self.feature_names or other.feature_names, np.promote_types(self.dtype, other.dtype)


# Counts of rows, for models that need to know no more of them.


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
