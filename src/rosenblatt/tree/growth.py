"""Growing a tree: columns sorted once, large nodes split by threads, small subtrees one each."""

import heapq
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import threads

from . import columns_loops, growth_loops
from .assembly import assemble
from .settings import CRITERIA, MISSING, NO_DEPTH, Settings, Targets, x_log_x_table
from .structure import Tree

ENTRIES_OF_A_LARGE_NODE = 2_000_000  # its columns are read one at a time, by any thread
ENTRIES_A_CALL = 20_000_000  # of a compiled call, which takes some 0.1 s
MEDIANS_TAKE = 200  # times as long as sums, for each entry
COLUMNS_AT_ONCE = 4  # half a cache line of each row
SCORE, COLUMN, BRANCHES = 0, 1, 5  # of a split that was found, as `growth_loops.take` stores it


def sorted_columns(
    X: Any, n_categories: NDArray[np.int64], targets: Targets
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64], int]:
    """The entries of numeric columns, the codes of others, where each stands, and the shift."""
    n, d = X.shape
    numeric = n_categories == 0
    place = np.where(numeric, np.cumsum(numeric) - 1, np.cumsum(~numeric) - 1)
    shift = 0
    if targets.classes is not None and targets.n_classes == (2,) and 2 * n < 2**32:
        shift = 1
    entries = np.empty((int(numeric.sum()), n), np.uint64)
    codes = np.empty((d - len(entries), n), np.int32)

    classes = np.zeros(1, np.int32) if targets.classes is None else targets.classes[:, 0]
    classes = np.ascontiguousarray(classes)

    def sort(first: int, last: int) -> None:
        buffer, counts = np.empty(n, np.uint64), np.empty((3, 2048), np.int64)
        first, last = first * COLUMNS_AT_ONCE, min(last * COLUMNS_AT_ONCE, d)
        for a in range(first, last, COLUMNS_AT_ONCE):
            b = min(a + COLUMNS_AT_ONCE, last)
            for j, column in zip(range(a, b), columns_of(X, a, b), strict=True):
                if n_categories[j]:
                    codes[place[j]] = np.where(np.isnan(column), n_categories[j], column)
                    continue
                entry = entries[place[j]]
                columns_loops.sort_column(column, classes, shift, entry, buffer, counts)

    threads.over_chunks(sort, -(-d // COLUMNS_AT_ONCE), n * d)
    return entries, codes, place, shift


def columns_of(X: Any, first: int, last: int) -> NDArray[np.float64]:
    """Some columns of a matrix, dense or CSC, as rows of doubles."""
    if not sp.issparse(X):
        return np.ascontiguousarray(X[:, first:last].T, np.float64)
    return np.array([column_of(X, j) for j in range(first, last)])


def cells_of(X: Any, rows: NDArray[np.int64], j: int) -> NDArray[np.float64]:
    """The values of some rows in column j of a matrix, dense or CSC, as doubles."""
    if sp.issparse(X):
        return column_of(X, j)[rows]
    return np.asarray(X[rows, j], np.float64)


def column_of(X: Any, j: int) -> NDArray[np.float64]:
    """Column j of a matrix, dense or CSC, as doubles."""
    if not sp.issparse(X):
        return np.ascontiguousarray(X[:, j], np.float64)
    column = np.zeros(X.shape[0])
    held = slice(X.indptr[j], X.indptr[j + 1])
    column[X.indices[held]] = X.data[held]
    return column


class Growth:
    """One tree as it grows."""

    def __init__(
        self, X: Any, n_categories: NDArray[np.int64], targets: Targets, weights: Any,
        settings: Settings,
    ) -> None:  # fmt: skip
        self.X, self.n_categories, self.targets = X, n_categories, targets
        self.weights, self.settings = weights, settings
        n, d = X.shape
        sorted_rows = sorted_columns(X, n_categories, targets)
        self.entries, self.codes, self.place, shift = sorted_rows
        self.rows = self._rows(n, d)
        self.limits = self._limits(shift, n, d)
        self.nodes = growth_loops.Nodes(
            np.zeros(2 * n, np.uint8), np.empty((2 * n, 10), np.int64), np.empty((2 * n, 6))
        )
        self.scan_rows = 3 if self.limits.monotone else 1
        shared = (
            np.empty(n, np.uint16),
            np.empty(n, np.uint64),
            np.empty((self.scan_rows, n)),
            np.empty(n, np.int64),
        )
        self.shared = (np.arange(n, dtype=np.int32), *shared)
        self.work = self._work()
        self.entry_takes = MEDIANS_TAKE if settings.criterion == "absolute_error" else 1
        self.stopped = False

    def _rows(self, n: int, d: int) -> Any:
        targets, settings = self.targets, self.settings
        none = np.zeros((1, 1))
        classes, levels, numbers = targets.classes, none, none
        table = np.zeros(1)
        if targets.numbers is not None:
            numbers, classes = targets.numbers, np.zeros((n, targets.n_outputs), np.int32)
            if settings.criterion == "absolute_error":
                classes, levels = _ranks(numbers)
            elif settings.criterion != "poisson":
                numbers = numbers - np.average(numbers, axis=0, weights=self.weights)
        elif CRITERIA[settings.criterion] == 1 and self.weights is None:
            table = x_log_x_table(n)
        signs = settings.monotonic_cst
        values = none
        if settings.random_thresholds:
            values = np.array([column_of(self.X, j) for j in range(d)])
        return growth_loops.Rows(
            self.entries, self.codes,
            np.where(self.n_categories, self.n_categories + 1, 0).astype(np.int64), self.place,
            np.ascontiguousarray(classes), np.ascontiguousarray(numbers), levels,
            np.zeros(1) if self.weights is None else self.weights,
            np.zeros(d, np.int64) if signs is None else signs.astype(np.int64), values, table,
        )  # fmt: skip

    def _limits(self, shift: int, n: int, d: int) -> Any:
        s = self.settings
        total = float(n if self.weights is None else self.weights.sum())
        return growth_loops.Limits(
            kind=CRITERIA[s.criterion], n_classes=max(self.targets.n_classes), shift=shift,
            weighted=self.weights is not None, random=s.random_thresholds,
            monotone=s.monotonic_cst is not None, missing=MISSING[s.missing],
            max_depth=min(s.max_depth, NO_DEPTH), min_split=max(s.min_samples_split, 2),
            min_leaf=s.min_samples_leaf, max_features=s.max_features or d,
            min_weight=float(s.min_weight_leaf), min_decrease=s.min_impurity_decrease * total,
        )  # fmt: skip

    def _work(self) -> Any:
        """Scratch space of one thread, on what all share."""
        order, side, buffer, deviation, stack = self.shared
        o, K = self.targets.n_outputs, max(self.targets.n_classes)
        C = int(self.n_categories.max(initial=0)) + 3
        m = self.rows.levels.shape[1] + 1
        return growth_loops.Work(
            order, side, buffer, deviation, stack,
            np.empty(len(order) // 64 + 1, np.uint64), np.empty((4, o, K)),
            np.empty(len(self.place), np.int64), np.empty((C, o, K)), np.empty(C),
            np.empty(C, np.int64), np.zeros(m), np.zeros(m),
        )  # fmt: skip

    def run(self) -> Tree:
        """Grow the tree and return it."""
        tree, nodes, n = growth_loops, self.nodes, self.X.shape[0]
        nodes.used[0] = 1
        nodes.ints[0] = 0
        nodes.ints[0, tree.STOP], nodes.ints[0, tree.DRAWS] = n, self.settings.seed
        nodes.floats[0, tree.LOWER], nodes.floats[0, tree.UPPER] = -np.inf, np.inf
        equal = tree.describe(self.rows, self.limits, nodes, self.work, 0)
        s = self.settings
        enough = n >= max(s.min_samples_split, 2) and s.max_depth > 0
        if not equal and enough and nodes.floats[0, tree.WEIGHT] >= 2 * s.min_weight_leaf:
            try:
                self._grow_best_first() if s.max_leaf_nodes else self._grow_depth_first()
            finally:
                self.stopped = True  # threads that still work on a fit that was given up
        return assemble(
            nodes, self.shared[0], self.targets, s, self.weights, self.n_categories,
            lambda rows, j: cells_of(self.X, rows, j),
        )  # fmt: skip

    def _grow_depth_first(self) -> None:
        large, small = [0], []
        while large:
            node = large.pop()
            if not self._is_large(node):
                small.append(node)
                continue
            large += self._split(node, self._find(node)[1])
        small.sort()
        cells = len(small) * threads.CELLS_PER_CHUNK
        threads.over_chunks(lambda a, b: self._grow_small(small[a:b]), len(small), cells)

    def _grow_small(self, roots: list[int]) -> None:
        """Grow whole subtrees."""
        work, found = self._work(), np.empty(8)
        for root in roots:
            first, waiting = int(self.nodes.ints[root, growth_loops.START]), 1
            work.stack[first] = root
            while waiting and not self.stopped:
                waiting = growth_loops.grow(
                    self.rows, self.limits, self.nodes, work, waiting, found,
                    ENTRIES_A_CALL // self.entry_takes, first,
                )  # fmt: skip

    def _grow_best_first(self) -> None:
        """Split the node that gains most, until there are enough leaves."""
        leaves = 1
        heap: list[tuple[float, int, NDArray[np.float64]]] = []
        root = self.nodes.floats[0]
        whole = max(float(root[growth_loops.WEIGHT] * root[growth_loops.IMPURITY]), 1e-300)

        def consider(node: int) -> None:
            gain, found = self._find(node)
            if found[COLUMN] >= 0 and gain + 1e-15 >= self.limits.min_decrease:
                heapq.heappush(heap, (-round(gain / whole, 9), node, found))

        consider(0)
        most = self.settings.max_leaf_nodes or 0
        while heap and leaves < most:
            _, node, found = heapq.heappop(heap)
            if leaves - 1 + int(found[BRANCHES]) > most:
                continue
            for child in self._split(node, found):
                consider(child)
            leaves += int(found[BRANCHES]) - 1
        children = self.nodes.ints[:, growth_loops.CHILDREN]
        children[(self.nodes.used > 0) & (children < 0)] = 0  # what was not split is a leaf

    def _size(self, node: int) -> int:
        ints = self.nodes.ints[node]
        return int(ints[growth_loops.STOP] - ints[growth_loops.START])

    def _is_large(self, node: int) -> bool:
        entries = self._size(node) * len(self.place)
        return entries * self.entry_takes > ENTRIES_OF_A_LARGE_NODE

    def _find(self, node: int) -> tuple[float, NDArray[np.float64]]:
        """The best split of a node and what it gains; its columns one by one if it is large."""
        tree, n, d = growth_loops, self.X.shape[0], len(self.place)
        one_by_one = self._is_large(node) and self.limits.max_features >= d

        tree.sum_node(self.rows, self.limits, self.nodes, self.work, node)

        def search(first: int, last: int) -> NDArray[np.float64]:
            found = np.empty(8)
            work = self.work
            if one_by_one:  # several threads scan the same rows
                work = self._work()._replace(deviation=np.empty((self.scan_rows, n)))
                work.totals[0] = self.work.totals[0]
            tree.best_split(self.rows, self.limits, self.nodes, work, node, first, last, found)
            return found

        if not one_by_one:
            best = search(0, d)
        else:
            each = threads.over_chunks(search, d, d * threads.CELLS_PER_CHUNK)
            best = each[0]
            for found in each[1:]:
                if found[COLUMN] >= 0 and tree.is_better(found[SCORE], best):
                    best = found
        gain = 0.0
        if best[COLUMN] >= 0:
            gain = max(
                tree.gain_of(self.rows, self.limits, self.nodes, self.work, node, best[SCORE]), 0.0
            )
        return gain, best

    def _split(self, node: int, found: NDArray[np.float64]) -> list[int]:
        """Split a node as found; return its children that may be split further."""
        tree, nodes = growth_loops, self.nodes
        if self.settings.max_leaf_nodes is None or found[COLUMN] < 0:
            still_open = tree.split_node(self.rows, self.limits, nodes, self.work, node, found)
        else:
            still_open = tree.make_children(self.rows, self.limits, nodes, self.work, node, found)
        if not still_open:
            return []
        m = len(self.entries)
        if self._size(node) * m > ENTRIES_OF_A_LARGE_NODE:
            n = self.X.shape[0]

            def partition(first: int, last: int) -> None:
                tree.partition_columns(
                    self.rows, self.limits, nodes, self._work()._replace(bits=self.work.bits),
                    node, first, last, np.empty(n, np.uint64),
                )  # fmt: skip

            threads.over_chunks(partition, m, m * threads.CELLS_PER_CHUNK)
        else:
            tree.partition_columns(
                self.rows, self.limits, nodes, self.work, node, 0, m, self.work.buffer
            )
        children, child = [], node + 1
        for _ in range(int(nodes.ints[node, tree.CHILDREN])):
            if nodes.ints[child, tree.CHILDREN] < 0:
                children.append(child)
            child += 2 * self._size(child) - 1
        return children


def _ranks(numbers: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The rank of each target among those of its output, and the distinct ones, padded."""
    parts = [np.unique(y, return_inverse=True) for y in numbers.T]
    m = max(len(values) for values, _ in parts)
    levels = np.zeros((len(parts), m))
    for o, (values, _) in enumerate(parts):
        levels[o, : len(values)] = values
        levels[o, len(values) :] = values[-1]
    return np.transpose([ranks for _, ranks in parts]).astype(np.int32), levels
