"""Counts of categories, and of pairs of categories, in each class."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.mixed_tables import codes_of, column, names_of, places_among

from . import counts_loops
from .batch import Batch, Labels, Sums, check_missing, feature_names_of, freeze, total_of
from .counts import ByClass, refuse_negative, unite
from .statistic import DOUBLES, LABELS, NUMBERS, ArrayForm, Names

# Columns of integers from 0 to this limit are counted as they are; others are encoded first.
MOST_PLAIN_CATEGORIES = 2**16

ROUNDING = 1e-9  # share of a count that is rounding of fractional weights


@dataclass(frozen=True, eq=False, repr=False)
class CategoryCounts(ByClass):
    """Weight of each value of each feature in each class.

    The values of a feature may be integers, strings or numbers; its categories are the values seen
    so far. Whole weights give exact integers.

    Attributes
    ----------
    classes, rows, weight : as in `ClassCounts`.
    categories : for each feature its values, sorted.
    counts_of(j) : the weight of each category of feature j in each class, shape (K, categories).
    missing : "refuse" or "ignore": whether NaN and None are an error or left out.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import CategoryCounts
    >>> a = CategoryCounts.of([["sun", 1], ["rain", 2], ["sun", 2]], ["go", "stay", "go"])
    >>> a.categories[0], a.counts_of(0)
    (array(['rain', 'sun'], dtype='<U4'), array([[0, 2],
           [1, 0]]))
    >>> b = CategoryCounts.of([["fog", 1]], ["stay"])
    >>> (a + b).categories[0]
    array(['fog', 'rain', 'sun'], dtype='<U4')
    >>> a + b - b == a
    True
    """

    categories: tuple[NDArray[Any], ...]  # of each feature, sorted
    table: Sums  # (K, c), c categories in all, those of the first feature first
    missing: str

    forms: ClassVar[dict[str, ArrayForm]] = {"table": ArrayForm("K c", NUMBERS, 0)}
    options: ClassVar[tuple[str, ...]] = ("n_features", "missing")

    def __post_init__(self) -> None:
        freeze(self)
        for values in self.categories:
            values.setflags(write=False)

    @classmethod
    def by_group(  # type: ignore[override]
        cls, X: Any, y: Any, groups: Any, n_groups: int | None, weights: Any = None,
        missing: str = "refuse",
    ) -> list[Self]:  # fmt: skip
        """Return the counts of each group of rows; groups (n,) are numbers from 0.

        With ``missing="ignore"`` values that are NaN or None are left out.
        """
        check_missing(missing)
        names = feature_names_of(X)
        codes, categories = _encode(X, names, missing)
        batch = Batch(codes, y, weights, groups, n_groups)
        batch.feature_names, batch.dtype = names, np.dtype(np.float64)
        table = _count(batch, _starts(categories))
        parts = cls._of_tables(batch, {"table": table}, categories=categories, missing=missing)
        return [part._without_empty() for part in parts]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.categories)

    def counts_of(self, j: int) -> NDArray[Any]:
        """Return the weight of each category of feature j in each class, (K, categories)."""
        starts = _starts(self.categories)
        return np.asarray(self.table[:, starts[j] : starts[j + 1]])

    def _without_empty(self) -> Self:
        """Return the statistic without the categories that no row has."""
        seen = self.table.any(axis=0)
        if seen.all():
            return self
        parts = zip(self.categories, np.split(seen, _starts(self.categories)[1:-1]), strict=True)
        categories = tuple(values[part] for values, part in parts)
        return replace(self, categories=categories, table=self.table[:, seen])

    def _combined(self, other: Self, sign: int) -> Self:
        joint = self.counts.join(other.counts, sign)
        pairs = zip(self.categories, other.categories, strict=True)
        names = self.feature_names or range(self.n_features)
        united = [
            unite(*pair, f"The values of feature {name}")
            for name, pair in zip(names, pairs, strict=True)
        ]
        categories = tuple(values for values, _, _ in united)
        starts = _starts(categories)
        mine, theirs = [], []
        for j, (_, places, others) in enumerate(united):
            places = np.arange(len(self.categories[j])) if places is None else places
            mine.append(starts[j] + places)
            theirs.append(starts[j] + others)
        table = _wider(self.table, np.concatenate(mine), starts[-1])
        table = joint.combine(table, _wider(other.table, np.concatenate(theirs), starts[-1]), sign)
        result = self._joined(other, joint.counts, categories=categories, table=table)
        if sign < 0:
            refuse_negative(table, joint.counts.classes, result._category_name)
            return result._without_empty()
        return result

    def _category_name(self, c: int) -> str:
        """Return the name of column c of the table in error messages."""
        starts = _starts(self.categories)
        j = int(np.searchsorted(starts, c, side="right")) - 1
        return f"category {self.categories[j][c - starts[j]]!s} of {self._name_of(j)}"

    def _tables(self) -> dict[str, NDArray[Any]]:
        own = {name: getattr(self, name) for name in self.forms}
        named = {f"categories_{j}": values for j, values in enumerate(self.categories)}
        return {**self.counts._tables(), **own, **named}

    @classmethod
    def _forms(cls, about: Mapping[str, Any]) -> dict[str, ArrayForm]:
        columns = range(about["n_features"])
        named = {f"categories_{j}": ArrayForm(f"c_{j}", LABELS) for j in columns}
        return super()._forms(about) | named

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        names = [f"categories_{j}" for j in range(about["n_features"])]
        own: dict[str, Any] = {name: tables[name] for name in tables if name not in names}
        own["categories"] = tuple(tables[name] for name in names)
        return super()._rebuilt(own, about)

    def _check_values(self) -> None:
        if self.table.shape[1] != _starts(self.categories)[-1]:
            raise ValueError("table has not as many columns as there are categories")


@dataclass(frozen=True, eq=False, repr=False)
class PairCounts(CategoryCounts):
    """Weight of each pair of values of two features in each class.

    `CategoryCounts` with a table of pairs. Whole weights give exact whole numbers.

    Attributes
    ----------
    classes, rows, weight, categories, counts_of, missing, feature_names, dtype : as in
        `CategoryCounts`.
    pairs_of(i, j) : the weight of each pair of categories of features i and j in each class, shape
        (K, categories of i, categories of j).

    Examples
    --------
    >>> from rosenblatt.statistics import PairCounts
    >>> a = PairCounts.of([["sun", "dry"], ["rain", "wet"], ["rain", "dry"]])
    >>> a.pairs_of(0, 1)
    array([[[1., 1.],
            [1., 0.]]])
    >>> a + a - a == a
    True
    """

    # (K, c, c), c categories in all
    pairs: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 0)))

    forms: ClassVar[dict[str, ArrayForm]] = {
        **CategoryCounts.forms,
        "pairs": ArrayForm("K c c", DOUBLES, 0),
    }

    @classmethod
    def by_group(  # type: ignore[override]
        cls, X: Any, y: Any, groups: Any, n_groups: int | None, weights: Any = None,
        missing: str = "refuse",
    ) -> list[Self]:  # fmt: skip
        """Return the counts of each group of rows; groups (n,) are numbers from 0."""
        parts = super().by_group(X, y, groups, n_groups, weights, missing)
        codes, categories = _encode(X, feature_names_of(X), missing)
        labels = Labels.of(np.zeros(len(codes), np.int64) if y is None else y, len(codes))
        weight = np.ones(len(codes)) if weights is None else np.asarray(weights, np.float64)
        group = np.zeros(len(codes), np.int64) if groups is None else np.asarray(groups)
        found = []
        for g, part in enumerate(parts):
            rows = group == g
            hot = part._indicators(codes[rows], categories)
            owner = labels.classes[labels.codes[rows]]
            by_class = (weight[rows] * (owner == label) for label in part.classes)
            tables = [(hot.T @ hot.multiply(w[:, None])).toarray() for w in by_class]
            width = hot.shape[1]
            found.append(replace(part, pairs=np.reshape(tables, (len(tables), width, width))))
        return found

    def _indicators(self, codes: NDArray[Any], categories: tuple[NDArray[Any], ...]) -> Any:
        """Return indicators (n, c) of the categories of rows, from codes of other categories."""
        starts = _starts(self.categories)
        rows, columns = [], []
        for j, (values, mine) in enumerate(zip(categories, self.categories, strict=True)):
            places = np.append(places_among(values, mine), -1)[codes[:, j]]
            known = np.flatnonzero(places >= 0)
            rows.append(known)
            columns.append(starts[j] + places[known])
        where = np.concatenate([[], *rows]), np.concatenate([[], *columns])
        ones = np.ones(len(where[0]))
        return sp.csr_array((ones, where), shape=(len(codes), int(starts[-1])))

    def pairs_of(self, i: int, j: int) -> NDArray[np.float64]:
        """Return the weight of each pair of categories of two features, (K, m_i, m_j)."""
        starts = _starts(self.categories)
        return self.pairs[:, starts[i] : starts[i + 1], starts[j] : starts[j + 1]]

    def _combined(self, other: Self, sign: int) -> Self:
        result = super()._combined(other, sign)
        pairs = self._gathered(result) + sign * other._gathered(result)
        if sign < 0:
            scale = max(1.0, self.pairs.max(initial=0))
            if pairs.min(initial=0) < -ROUNDING * scale:
                raise ValueError(
                    "Cannot remove these rows: two of their values do not occur together."
                )
            pairs[pairs < ROUNDING * scale] = 0.0
        return replace(result, pairs=pairs)

    def _gathered(self, result: CategoryCounts) -> NDArray[np.float64]:
        """Return the pairs (K, c, c) of the classes and categories of another statistic."""
        starts = _starts(self.categories)
        places = map(places_among, result.categories, self.categories)
        found = [
            np.where(some < 0, -1, start + some)
            for start, some in zip(starts[:-1], places, strict=True)
        ]
        columns = np.concatenate([np.zeros(0, np.int64), *found])
        padded = np.pad(self.pairs, ((0, 1), (0, 1), (0, 1)))  # -1 finds nothing
        classes = places_among(result.classes, self.classes)
        return np.asarray(padded[np.ix_(classes, columns, columns)])


def _starts(categories: tuple[NDArray[Any], ...]) -> NDArray[np.int64]:
    """Return where the categories of each feature begin, and where the last end, (d + 1,)."""
    return np.concatenate([[0], np.cumsum([len(values) for values in categories])]).astype(np.int64)


def _wider(table: Sums, places: NDArray[np.int64], width: int) -> Sums:
    """Return sums (K, c) with columns of zeros for more categories."""
    if len(places) == width:
        return table
    wide = np.zeros((len(table), width), table.dtype)
    wide[:, places] = table
    return wide


def _encode(X: Any, names: Names, missing: str) -> tuple[NDArray[Any], tuple[NDArray[Any], ...]]:
    """Return the category of each value, -1 if it is missing; and each feature's categories."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "iub" and X.size:
        widths = X.max(axis=0).astype(np.int64) + 1
        if X.min() >= 0 and widths.max() <= MOST_PLAIN_CATEGORIES:
            return X, tuple(np.arange(width) for width in widths)
    if not isinstance(X, Coded):
        # Rows of strings and numbers: NumPy alone would turn the numbers into strings.
        is_table = hasattr(X, "columns") or (isinstance(X, np.ndarray) and X.dtype.kind in "iubf")
        table = X if is_table else np.asarray(X, object)
        X = coded([codes_of(np.asarray(column(table, name))) for name in names_of(table)])
    if missing == "refuse" and (X.codes < 0).any():
        j, i = np.argwhere(X.codes.T < 0)[0]
        raise ValueError(
            f"Feature {j if names is None else names[j]} is missing in row {i}; missing='ignore' "
            "leaves such values out."
        )
    return X.codes, X.words


def _count(batch: Batch, starts: NDArray[np.int64]) -> Sums:
    """Return the weight (B, c) of each category in each bucket."""
    shape = (batch.n_buckets, int(starts[-1]))

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Sums:
        counts = np.zeros(shape, np.int64 if batch.whole else np.float64)
        counts_loops.count_categories(X, buckets, weights, starts, counts)
        return counts

    parts = batch.over_chunks(work, shape[0] * shape[1], (np.int64,))
    return total_of(parts, shape)


# Encoded columns: for each row the place of its value among the sorted values of its column.


class CodedColumn(NamedTuple):
    """One encoded column: codes (n,), -1 for a missing value, and the values, sorted."""

    codes: NDArray[Any]
    words: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Coded:
    """Encoded columns: codes (n, c), -1 for a missing value, and the values of each, sorted."""

    codes: NDArray[Any]  # signed integers, as small as possible
    words: tuple[NDArray[Any], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.codes), len(self.words)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(self.codes.size)

    def __getitem__(self, which: Any) -> Any:
        """Return some of the rows, by number or range; or a column, as ``[:, c]``."""
        if isinstance(which, tuple):
            rows, c = which
            return CodedColumn(self.codes[rows, c], self.words[c])
        return Coded(self.codes[which], self.words)


def coded(columns: list[tuple[NDArray[Any], list[Any]]]) -> Coded:
    """Return encoded columns from codes (n,) and values in any order, for each column.

    Some values may not occur. A code that is not the place of a value stands for a missing value.

    >>> found = coded([(np.array([0, 2, 3]), ["Rome", "Bonn", "Oslo"])])
    >>> found.codes.tolist(), found.words[0].tolist()
    ([[2], [1], [-1]], ['Bonn', 'Oslo', 'Rome'])
    """
    most = max((len(words) for _, words in columns), default=0)
    codes = np.empty((len(columns[0][0]), len(columns)), np.min_scalar_type(-max(most, 1)))
    sorted_words = []
    for c, (places, words) in enumerate(columns):
        found, ranks = np.unique(np.array(words), return_inverse=True)
        codes[:, c] = np.append(ranks, -1).astype(codes.dtype).take(places, mode="clip")
        sorted_words.append(found)
    return Coded(codes, tuple(sorted_words))
