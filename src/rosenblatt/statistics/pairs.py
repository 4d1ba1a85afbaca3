"""Counts of pairs of categories: how often two features have two values together, in each class."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .batch import feature_names_of
from .categories import CategoryCounts, _columns, _encode, _starts
from .statistic import expect, freeze
from .sums import Labels

ROUNDING = 1e-9  # a share of a count that fractions of weights may leave behind

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PairCounts(CategoryCounts):
    """How often each two values of two features occur together in each class.

    As `CategoryCounts`, with a table of pairs beside it: whole weights give exact whole numbers.

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
    pairs: Table = field(default_factory=lambda: np.zeros((0, 0, 0)))

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze(self.pairs)

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None, *, missing: str = "refuse") -> Self:
        """Return the counts of rows X (n, d) with labels y (n,) and weights (n,)."""
        return cls.by_group(X, y, None, None, weights, missing=missing)[0]

    @classmethod
    def by_group(
        cls,
        X: Any,
        y: Any,
        groups: Any,
        n_groups: int | None,
        weights: Any = None,
        *,
        missing: str = "refuse",
    ) -> list[Self]:
        """Return the counts of each group of rows; groups (n,) are numbers from 0."""
        parts = super().by_group(X, y, groups, n_groups, weights, missing=missing)
        codes, categories = _encode(_columns(X), feature_names_of(X), missing)
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
        """Which of the categories (n, c) rows have, from codes that number others."""
        starts = _starts(self.categories)
        rows, columns = [], []
        for j, (values, mine) in enumerate(zip(categories, self.categories, strict=True)):
            places = np.append(_places(values, mine), -1)[codes[:, j]]
            known = np.flatnonzero(places >= 0)
            rows.append(known)
            columns.append(starts[j] + places[known])
        where = np.concatenate([[], *rows]), np.concatenate([[], *columns])
        ones = np.ones(len(where[0]))
        return sp.csr_array((ones, where), shape=(len(codes), int(starts[-1])))

    def pairs_of(self, i: int, j: int) -> Table:
        """Return the weight of each pair of categories of two features, (K, m_i, m_j)."""
        starts = _starts(self.categories)
        return self.pairs[:, starts[i] : starts[i + 1], starts[j] : starts[j + 1]]

    def _combined(self, other: Self, sign: int) -> Self:
        result = super()._combined(other, sign)
        pairs = self._gathered(result) + sign * other._gathered(result)
        if sign < 0:
            scale = max(1.0, self.pairs.max(initial=0))
            if pairs.min(initial=0) < -ROUNDING * scale:
                raise ValueError("Cannot remove these rows: two of their values never met.")
            pairs[pairs < ROUNDING * scale] = 0.0
        return replace(result, pairs=pairs)

    def _gathered(self, result: CategoryCounts) -> Table:
        """The pairs (K, c, c) of the classes and categories of another statistic."""
        starts = _starts(self.categories)
        found = [
            np.where(places < 0, -1, start + places)
            for start, places in zip(
                starts, map(_places, result.categories, self.categories), strict=False
            )
        ]
        columns = np.concatenate([np.zeros(0, np.int64), *found])
        padded = np.pad(self.pairs, ((0, 1), (0, 1), (0, 1)))  # -1 finds nothing
        classes = _places(result.classes, self.classes)
        return np.asarray(padded[np.ix_(classes, columns, columns)])

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {**super()._tables(), "pairs": self.pairs}

    @classmethod
    def _rebuilt(cls, tables: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Self:
        part, pairs = super()._rebuilt(tables, about), tables["pairs"]
        width = int(_starts(part.categories)[-1])
        expect("pairs", pairs, (len(part.classes), width, width))
        if not np.isfinite(pairs).all() or (pairs < 0).any():
            raise ValueError("pairs are not all finite, or negative")
        diagonals = np.diagonal(pairs, axis1=1, axis2=2)
        if not np.allclose(diagonals, part.table.sum(axis=0), rtol=ROUNDING):
            raise ValueError("pairs do not agree with the counts of categories")
        return replace(part, pairs=pairs.copy())


def _places(values: NDArray[Any], among: NDArray[Any]) -> NDArray[np.int64]:
    """Where values stand among sorted others; -1 for those that do not."""
    if not len(among) or not len(values):
        return np.full(len(values), -1, np.int64)
    found = np.minimum(np.searchsorted(among, values), len(among) - 1)
    return np.where(among[found] == values, found, -1)
