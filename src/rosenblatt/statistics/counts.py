"""Counts of rows by class, part of every other statistic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks

from .batch import Batch, Labels, Sums, freeze
from .statistic import COUNTS, LABELS, LEAST_WEIGHT, NUMBERS, ArrayForm, Names, Statistic

Places = NDArray[np.int64] | None  # None: each class stays where it is

# A difference of doubles counts as zero below this share of the minuend.
ROUNDING = 2.0**-44


class Joint(NamedTuple):
    """Union of the classes of two statistics."""

    counts: "ClassCounts"
    places: Places  # of the first's classes among both's
    others: NDArray[np.int64]  # of the second's
    kept: NDArray[np.int64]  # after a subtraction, the places that have rows left
    n_classes: int  # places in all

    def combine(self, a: Sums, b: Sums, sign: int) -> Sums:
        """Return the sums (K, ...) of both, or of the first without the second."""
        if sign > 0:
            return add(a, self.places, b, self.others, self.n_classes)
        return self.keep(subtract(a, b, self.others))

    def spread(self, a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return copies of two tables (K, ...) with a row for each class of both."""
        return spread(a, self.places, self.n_classes), spread(b, self.others, self.n_classes)

    def keep(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return a table (K, ...) without the classes that have no rows left."""
        return table if len(self.kept) == len(table) else np.asarray(table[self.kept])


def unite(
    a: NDArray[Any], b: NDArray[Any], what: str = "Classes"
) -> tuple[NDArray[Any], Places, NDArray[np.int64]]:
    """Return the sorted union of a and b, and the places of each in it; None if it is a."""
    if a is b or len(b) == 0:
        return a, None, np.arange(len(b))
    if len(a) == 0:
        return b, np.arange(0), np.arange(len(b))
    kinds = a.dtype.kind, b.dtype.kind
    if kinds[0] != kinds[1] and "O" not in kinds and ("U" in kinds or "S" in kinds):
        both = " and ".join(repr(values[:1].tolist()[0]) for values in (a, b))
        raise TypeError(f"{what} must be of one type; got both {both}.")
    places = a.searchsorted(b)
    if places[-1] < len(a) and (a[places[0]] == b[0] if len(b) == 1 else (a[places] == b).all()):
        return a, None, places
    classes = np.union1d(a, b)
    return classes, classes.searchsorted(a), classes.searchsorted(b)


def spread(table: NDArray[Any], places: Places, n_classes: int) -> NDArray[Any]:
    """Return a copy of a table (K, ...) for more classes, with zeros for the new ones."""
    if places is None:
        return table.copy()
    wide = np.zeros((n_classes, *table.shape[1:]), table.dtype)
    wide[places] = table
    return wide


def add(a: Sums, places: Places, b: Sums, others: NDArray[np.int64], n_classes: int) -> Sums:
    """Return the sum of a and b, their classes put into their places among `n_classes`."""
    total = spread(a, places, n_classes)
    if total.dtype.kind == "i" and b.dtype.kind == "f":
        total = total.astype(np.float64)
    with np.errstate(over="ignore"):
        total[others] += b
    if total.dtype.kind == "f":
        return checked(total)
    if not total.size or total.min() >= 0:  # else it left the range of 64 bits
        return total
    return add(a.astype(np.float64), places, b.astype(np.float64), others, n_classes)


def subtract(a: Sums, b: Sums, others: NDArray[np.int64]) -> Sums:
    """Return a without b, whose classes are in places `others` of a's; it may be negative."""
    if a.dtype.kind == b.dtype.kind == "i":
        left = a.copy()
        left[others] -= b
        return left
    left = a.astype(np.float64)
    left[others] -= b
    left[np.abs(left) <= ROUNDING * np.abs(a)] = 0
    return left


def checked(sums: Sums) -> Sums:
    """Return sums that are in the range of doubles; raise for others."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(sums.sum())
    return checks.in_range(sums, "The sums are", "rescale the weights") if suspect else sums


def of_class(classes: NDArray[Any], k: int) -> str:
    """Return the name of a class in error messages; empty if rows have no labels."""
    unlabeled = len(classes) == 1 and classes.dtype.kind == "i" and classes[0] == 0
    return "" if unlabeled else f"class {classes[k]!s}"


def refuse_negative(
    left: Sums, classes: NDArray[Any], name_of: Callable[[int], str], what: str = ""
) -> None:
    """Raise if a sum (K, c) that would be left is negative; `name_of` names column c."""
    if (left < 0).any():
        k, c = np.argwhere(left < 0)[0]
        raise ValueError(
            f"Cannot remove these rows: in class {classes[k]!s} {name_of(c)} would be left with "
            f"{left[k, c]}{what}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class ClassCounts(Statistic):
    """Number of rows and weight of each class.

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
    sums: Sums  # (K,): the weights

    def __post_init__(self) -> None:
        freeze(self)

    forms: ClassVar[dict[str, ArrayForm]] = {
        "rows": ArrayForm("K", COUNTS, 1),
        "classes": ArrayForm("K", LABELS),
        "weight": ArrayForm("K", NUMBERS, LEAST_WEIGHT),
    }

    @classmethod
    def zero(cls) -> Self:
        """Return the counts of no rows."""
        return cls(*np.zeros((3, 0), np.int64))

    @classmethod
    def of(cls, y: Any, weights: Any = None) -> Self:
        """Return the counts of labels y (n,) with weights (n,), 1 each if None."""
        return cls.by_group(y, None, None, weights)[0]

    @classmethod
    def by_group(cls, y: Any, groups: Any, n_groups: int | None, weights: Any = None) -> list[Self]:
        """Return the counts of each group of rows; groups (n,) are numbers from 0."""
        labels = Labels.of(y)
        batch = Batch(np.empty((len(labels.codes), 0)), labels, weights, groups, n_groups)
        return [counts for counts, _ in cls.of_groups(batch)]

    @classmethod
    def of_groups(cls, batch: Batch) -> list[tuple[Self, NDArray[np.int64]]]:
        """Return the counts of each group, and the places of the classes that have rows in it."""
        rows, sums = batch.counted
        found = []
        for g in range(batch.n_groups):
            kept = batch.group(rows, g, np.arange(len(batch.classes))).nonzero()[0]
            tables = (batch.group(table, g, kept) for table in (rows, sums))
            classes = batch.classes if len(kept) == len(batch.classes) else batch.classes[kept]
            found.append((cls(classes, *tables), kept))
        return found

    @property
    def weight(self) -> NDArray[np.float64]:
        """Weight of each class, (K,)."""
        return self.sums.astype(np.float64)

    def total(self) -> Self:
        """Return the counts of all classes together, as one class, 0."""
        if not len(self):
            return self
        sums = self.sums.sum(keepdims=True)
        if sums.dtype.kind == "i" and self.weight.sum() > 2.0**62:  # it may have left 64 bits
            sums = self.weight.sum(keepdims=True)
        return type(self)(np.zeros(1, np.int64), self.rows.sum(keepdims=True), checked(sums))

    def join(self, other: "ClassCounts", sign: int) -> Joint:
        """Add or subtract the other's rows; return the places that other statistics need."""
        classes, places, others = unite(self.classes, other.classes)
        if sign > 0:
            rows = spread(self.rows, places, len(classes))
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
        self._refuse_negative(rows, sums)
        kept = rows.nonzero()[0]
        counts = ClassCounts(classes[kept], rows[kept], sums[kept])
        return Joint(counts, places, others, kept, len(classes))

    def _refuse_negative(self, rows: NDArray[np.int64], sums: Sums) -> None:
        """Raise if more rows, or more weight, would be removed than there are."""
        for what, left, before in (("rows", rows, self.rows), ("weight", sums, self.sums)):
            # Rows must weigh something, so that weight ends exactly where they do.
            bad = (left < 0) | ((left <= 0) != (rows <= 0))
            if bad.any():
                k = int(bad.nonzero()[0][0])
                name = of_class(self.classes, k)
                raise ValueError(
                    f"Cannot remove {before[k] - left[k]} {what}{name and f' of {name}'}: "
                    f"it has {before[k]}"
                    + (f", and {rows[k]} rows would be left." if rows[k] >= 0 else ".")
                )

    def _combined(self, other: Self, sign: int) -> Self:
        return self.join(other, sign).counts  # type: ignore[return-value]

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {"classes": self.classes, "rows": self.rows, "weight": self.sums}

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        return cls(tables["classes"], tables["rows"], tables["weight"])


@dataclass(frozen=True, eq=False, repr=False)
class ByClass(Statistic):
    """A statistic of the features in each class."""

    counts: ClassCounts
    feature_names: Names
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def classes(self) -> NDArray[Any]:
        """Classes that have rows, sorted, (K,)."""
        return self.counts.classes

    @property
    def rows(self) -> NDArray[np.int64]:
        """Number of rows of each class, (K,)."""
        return self.counts.rows

    @property
    def weight(self) -> NDArray[np.float64]:
        """Weight of the rows of each class, (K,)."""
        return self.counts.weight

    @classmethod
    def zero(cls, n_features: int, **options: Any) -> Self:
        """Return the statistic of no rows; options as in `of`."""
        return cls.of(np.zeros((0, n_features), np.float32), **options)

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None, **options: Any) -> Self:
        """Return the statistic of rows X (n, d) with labels y (n,) and weights (n,).

        Without labels all rows are of one class, 0. The options are those of the class, such as
        `missing`.
        """
        return cls.by_group(X, y, None, None, weights, **options)[0]

    @classmethod
    def by_group(
        cls, X: Any, y: Any, groups: Any, n_groups: int | None, weights: Any = None, **options: Any
    ) -> list[Self]:
        """Return the statistic of each group of rows, in one read; groups (n,) count from 0."""
        kind: Any = cls
        found: list[Self] = kind._of_batch(Batch(X, y, weights, groups, n_groups), **options)
        return found

    @classmethod
    def _of_tables(cls, batch: Batch, tables: Mapping[str, Any], **options: Any) -> list[Self]:
        """Return the statistic of each group of a batch, from the tables (B, ...) of all."""
        statistics = []
        for g, (counts, kept) in enumerate(ClassCounts.of_groups(batch)):
            own = {
                name: None if table is None else batch.group(table, g, kept)
                for name, table in tables.items()
            }
            statistics.append(cls(counts, batch.feature_names, batch.dtype, **own, **options))
        return statistics

    def _joined(self, other: Self, counts: ClassCounts, **tables: Any) -> Self:
        """Return the statistic of both together with other counts and tables."""
        names = self.feature_names or other.feature_names
        dtype = np.promote_types(self.dtype, other.dtype)
        return replace(self, counts=counts, feature_names=names, dtype=dtype, **tables)

    def _name_of(self, j: int) -> str:
        """Return the name of feature j in error messages."""
        return f"feature {j if self.feature_names is None else self.feature_names[j]}"

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {**super()._tables(), **self.counts._tables()}

    @classmethod
    def _forms(cls, about: Mapping[str, Any]) -> dict[str, ArrayForm]:
        return ClassCounts.forms | super()._forms(about)

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        counts = ClassCounts._rebuilt(tables, about)
        own = {name: table for name, table in tables.items() if name not in ClassCounts.forms}
        own |= {name: about[name] for name in cls.options if name in cls.__dataclass_fields__}
        statistic = cls(counts, about["feature_names"], about["dtype"], **own)
        statistic._check_values()
        return statistic

    def _check_values(self) -> None:
        """Raise if no rows can have given these arrays, whose forms were checked."""


@dataclass(frozen=True, eq=False, repr=False)
class RowCounts(ByClass):
    """Number of rows of each class, and the features; the values of the rows are not read.

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

    options: ClassVar[tuple[str, ...]] = ("n_features",)

    @classmethod
    def _of_batch(cls, batch: Batch) -> list[Self]:
        return cls._of_tables(batch, {}, n_features=batch.n_features)

    def total(self) -> Self:
        """Return the counts of all classes together, as one class, 0."""
        return replace(self, counts=self.counts.total())

    def _combined(self, other: Self, sign: int) -> Self:
        return self._joined(other, self.counts.join(other.counts, sign).counts)
