"""The trees of gradient boosting, and the levels of columns that they read: at most 255 each."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.runtime import threads

from . import boosting_loops as loop

CELLS_A_ROW = 200  # so that a chunk's codes stay in the nearest cache
LEAF = -1
MOST_LEVELS = 255
ROWS_FOR_QUANTILES = 200_000
ALMOST_INFINITY = 1e300
KINDS = ("i4", "i4", "i2", "f8", "?", "f8", "f8", "i8", "i4", "4u8")  # of arrays after `starts`
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Nodes of trees one after the other; the right child of a node follows its left child.

    A row goes left if its level is at most `level`, and so its value at most `threshold`. In a
    column of categories it goes left if its category is in the node's set of bits.
    """

    starts: NDArray[np.int64]  # (trees + 1,): where the nodes of each begin
    column: NDArray[np.int32]  # -1 of leaves, as the next two
    left: NDArray[np.int32]
    level: NDArray[np.int16]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float64]  # of leaves, learning rate included; of inner nodes without it
    gain: NDArray[np.float64]
    count: NDArray[np.int64]  # training rows
    depth: NDArray[np.int32]
    sets: NDArray[np.uint64]  # (nodes, 4): categories that go left; (0, 4) without categories

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def join(parts: Sequence["BoostedTrees"]) -> "BoostedTrees":
        """The trees of all parts; of no part, no tree."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            empty: Any = [np.empty(0, kind) for kind in KINDS]
            return BoostedTrees(np.zeros(1, np.int64), *empty)
        arrays = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(BoostedTrees)
        }
        n_nodes = [len(part.left) for part in parts]
        firsts = np.cumsum([0, *n_nodes])
        starts = [part.starts[:-1] + first for part, first in zip(parts, firsts, strict=False)]
        left = arrays["left"] + np.repeat(firsts[:-1], n_nodes)
        arrays["starts"] = np.append(np.concatenate(starts), firsts[-1])
        arrays["left"] = np.where(arrays["left"] < 0, LEAF, left).astype(np.int32)
        return BoostedTrees(**arrays)

    def part(self, first: int, last: int) -> "BoostedTrees":
        """Trees first to last alone."""
        start, stop = int(self.starts[first]), int(self.starts[last])
        arrays = {name: array[start:stop] for name, array in self.__getstate__().items()}
        arrays["starts"] = self.starts[first : last + 1] - start
        left = arrays["left"]
        arrays["left"] = np.where(left < 0, LEAF, left - start).astype(np.int32)
        return BoostedTrees(**arrays)

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """Each node in 64 bits, as `boosting_loops` reads them."""
        inner = self.left >= 0
        nodes = np.arange(len(self.left), dtype=np.uint64)
        child = np.where(inner, self.left, 0).astype(np.uint64)
        column = np.where(inner, self.column, 0).astype(np.uint64)
        by_set = self._by_set() & inner
        first = (self.missing_left & inner & ~by_set).astype(np.uint64)
        level = np.where(inner & ~by_set, self.level, 255).astype(np.uint64) + first
        words: NDArray[np.uint64] = np.where(inner, child, nodes) << loop.CHILD | (
            column << loop.COLUMN
            | first << loop.MISSING_LEFT
            | by_set.astype(np.uint64) << loop.CATEGORIES
            | np.minimum(level, np.uint64(255))
        )
        return words

    def _by_set(self) -> NDArray[np.bool_]:
        """Which nodes ask for categories."""
        return self.level < 0

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """How deep each tree is."""
        if not len(self):
            return np.zeros(0, np.int64)
        return np.maximum.reduceat(self.depth, self.starts[:-1]).astype(np.int64)

    def _arguments(self, n_outputs: int) -> tuple[NDArray[Any], ...]:
        sets = self.sets if len(self.sets) else np.zeros((1, 4), np.uint64)
        output = np.arange(len(self)) % n_outputs
        return self.words, sets, self.value, self.starts[:-1], self.depths, output

    def add_coded(self, codes: NDArray[np.uint64], raw: NDArray[np.float64]) -> None:
        """Add the leaves' values of coded rows to raw (K, n); tree t adds to output t mod K."""
        arguments, n = self._arguments(len(raw)), codes.shape[1]

        def add(first: int, last: int) -> None:
            at = np.empty(last - first, np.uint32)
            levels = levels_of(codes[:, first:last])
            loop.add_trees(levels, first, *arguments, at, raw)

        threads.over_chunks(add, n, 64 * n * len(self))

    def add(self, X: Floats, cuts: Floats, raw: Floats) -> None:
        """The same of rows X (n, d) that have to be coded first."""
        arguments, (n, d) = self._arguments(len(raw)), X.shape
        blocks = -(-d // 8)

        def add(first: int, last: int) -> None:
            codes = np.empty((blocks, last - first), np.uint64)
            at = np.empty(last - first, np.uint32)
            loop.code_rows(X, cuts, first, last, 0, codes)
            loop.add_trees(levels_of(codes), first, *arguments, at, raw)

        threads.over_chunks(add, n, n * CELLS_A_ROW)

    def node_means(self) -> NDArray[np.float64]:
        """The mean of the leaves that the training rows of each node end in, shape (nodes,)."""
        mean = self.value.copy()
        for depth in range(int(self.depth.max(initial=0)) - 1, -1, -1):
            v = np.flatnonzero((self.depth == depth) & (self.left >= 0))
            a, b = self.left[v], self.left[v] + 1
            mean[v] = (self.count[a] * mean[a] + self.count[b] * mean[b]) / self.count[v]
        return mean

    def contributions(self, x: Floats, n_outputs: int) -> tuple[Floats, Floats]:
        """Return what the roots (K,) and the tests on each column (K, d) add to one row's scores.

        A test adds the mean of the node that it leads to less that of its own.
        """
        at: NDArray[Any] = self.starts[:-1]
        mean, output = self.node_means(), np.arange(len(self)) % n_outputs
        start, parts = np.zeros(n_outputs), np.zeros((n_outputs, len(x)))
        np.add.at(start, output, mean[at])
        while len(at):
            inner = self.left[at] >= 0
            at, output = at[inner], output[inner]
            below = self.left[at] + ~self._goes_left(at, x[self.column[at]])
            np.add.at(parts, (output, self.column[at]), mean[below] - mean[at])
            at = below
        return start, parts

    def _goes_left(self, nodes: Any, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether values x (m,) of the columns of some inner nodes (m,) go left."""
        left: NDArray[np.bool_] = np.where(
            np.isnan(x), self.missing_left[nodes], x <= self.threshold[nodes]
        )
        by_set = np.flatnonzero(self._by_set()[nodes] & (x >= 0))
        if len(by_set):
            place = x[by_set].astype(np.int64)
            bits = self.sets[nodes[by_set], place >> 6] >> (place & 63).astype(np.uint64)
            left[by_set] = (bits & np.uint64(1)) > 0
        return left


def levels_of(codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The levels (n, columns) of codes (blocks, n), row by row: a word's first byte first."""
    return np.ascontiguousarray(codes.T.astype("<u8")).view(np.uint8)


def find_cuts(
    X: Floats, n_categories: NDArray[np.int64], max_bins: int, weight: Floats, seed: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Where the levels of each column end, shape (d, 255), infinite past the last; their numbers.

    Half-way between values that follow one another if there are few; else quantiles.
    """
    n, d = X.shape
    if n > ROWS_FOR_QUANTILES:
        share = weight / weight.sum() if len(weight) else None
        rng = np.random.RandomState(seed)
        X, weight = X[rng.choice(n, ROWS_FOR_QUANTILES, p=share)], weight[:0]
    cuts, n_levels = np.full((d, MOST_LEVELS), np.inf), np.ones(d, np.int64)

    def find(first: int, last: int) -> None:
        for j in range(first, last):
            if n_categories[j]:
                found = np.arange(n_categories[j] - 1) + 0.5
            else:
                found = cuts_of_column(X[:, j], max_bins, weight)
            cuts[j, : len(found)], n_levels[j] = found, len(found) + 1

    threads.over_chunks(find, d, 20 * X.size)
    return cuts, n_levels


def cuts_of_column(values: Floats, max_bins: int, weight: Floats) -> Floats:
    """The cuts of one column of numbers."""
    if not len(weight):
        values = np.sort(values)  # NaN last
        values = values[: np.searchsorted(values, np.nan)]
    else:
        kept = ~np.isnan(values) & (weight > 0)
        values, weight = values[kept], weight[kept]
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[order]
    if not len(values):
        return values
    new = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if len(new) <= max_bins:
        distinct = values[new]
        with np.errstate(invalid="ignore"):  # between the two infinities
            found = np.nan_to_num(distinct[:-1] / 2 + distinct[1:] / 2, nan=0.0, neginf=-np.inf)
    else:
        shares = np.linspace(0, 1, max_bins + 1)[1:-1]
        found = np.unique(quantiles(values, weight, shares))
    found = np.minimum(found, ALMOST_INFINITY)  # so that the level of infinity is one of its own
    return np.asarray(found[found < values[-1]])


def quantiles(ordered: Floats, weight: Floats, shares: Any) -> Floats:
    """Quantiles of sorted values, each the mean of its two neighbours where the share is exact."""
    if not len(weight):
        places = np.asarray(shares) * len(ordered)
        above = np.floor(places + 1e-9).astype(np.int64)
        exact = np.abs(places - np.rint(places)) < 1e-9
    else:
        sums = np.cumsum(weight)
        wanted = np.asarray(shares) * sums[-1]
        above = np.searchsorted(sums, wanted * (1 - 1e-12))
        exact = np.abs(sums[np.minimum(above, len(sums) - 1)] - wanted) <= 1e-12 * sums[-1]
        above = above + exact
    below = np.minimum(np.where(exact, np.maximum(above - 1, 0), above), len(ordered) - 1)
    above = np.minimum(above, len(ordered) - 1)
    # Half of each, since their sum may exceed what a float holds.
    middle: NDArray[np.float64] = ordered[below] / 2 + ordered[above] / 2
    return np.where(below == above, ordered[above], middle)


def code(X: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The levels of X (n, d), eight columns a word: shape (blocks, n)."""
    n, d = X.shape
    codes = np.zeros((-(-d // 8), n), np.uint64)
    threads.over_chunks(
        lambda first, last: loop.code_rows(X, cuts, first, last, first, codes), n, 4 * X.size
    )
    return codes
