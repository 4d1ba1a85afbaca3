"""Growing a tree exactly: columns sorted once, large nodes split by threads, subtrees one each."""

import heapq
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import threads

from . import growth_loops as loop
from . import tree_loops
from .inputs import Settings, Targets, column_of, columns_of, x_log_x_table
from .structure import Tree

ENTRIES_OF_A_LARGE_NODE = 2_000_000  # its columns are read one at a time, by any thread
ENTRIES_A_CALL = 20_000_000  # of a compiled call, which takes some 0.1 s
MEDIANS_TAKE = 200  # times as long as sums, for each entry
COLUMNS_AT_ONCE = 4  # half a cache line of each row
SCORE, COLUMN, BRANCHES = 0, 1, 5  # of a split that was found, as `loop.take` stores it


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
                tree_loops.sort_column(column, classes, shift, entry, buffer, counts)

    threads.over_chunks(sort, -(-d // COLUMNS_AT_ONCE), n * d)
    return entries, codes, place, shift


class Growth:
    """One tree as it grows."""

    def __init__(
        self, X: Any, n_categories: NDArray[np.int64], targets: Targets, weights: Any,
        settings: Settings, signs: NDArray[np.int64] | None = None,
    ) -> None:  # fmt: skip
        self.X, self.n_categories, self.targets, self.weights = X, n_categories, targets, weights
        n = X.shape[0]
        self.entries, self.codes, self.place, shift = sorted_columns(X, n_categories, targets)
        self.settings = settings._replace(
            shift=shift, weighted=weights is not None, monotone=signs is not None
        )
        self.rows = self._rows(signs)
        self.nodes = loop.Nodes(
            np.zeros(2 * n, np.uint8), np.empty((2 * n, 11), np.int64), np.empty((2 * n, 6))
        )
        self.scan_rows = 1 if signs is None else 3
        self.shared = (
            np.arange(n, dtype=np.int32),
            np.empty(n, np.uint16),
            np.empty(n, np.uint64),
            np.empty((self.scan_rows, n)),
            np.empty(n, np.int64),
        )
        self.work = self._work()
        self.entry_takes = MEDIANS_TAKE if settings.kind == tree_loops.ABSOLUTE else 1
        self.stopped = False

    def _rows(self, signs: NDArray[np.int64] | None) -> Any:
        targets, settings, (n, d) = self.targets, self.settings, self.X.shape
        none = np.zeros((1, 1))
        classes, levels, numbers, table = targets.classes, none, none, np.zeros(1)
        if targets.numbers is not None:
            numbers, classes = targets.numbers, np.zeros((n, targets.n_outputs), np.int32)
            if settings.kind == tree_loops.ABSOLUTE:
                classes, levels = _ranks(numbers)
            elif settings.kind == tree_loops.SQUARED:
                numbers = numbers - np.average(numbers, axis=0, weights=self.weights)
        elif settings.kind == tree_loops.ENTROPY and self.weights is None:
            table = x_log_x_table(n)
        values = none
        if settings.random:
            values = np.array([column_of(self.X, j) for j in range(d)])
        return loop.Rows(
            self.entries, self.codes,
            np.where(self.n_categories, self.n_categories + 1, 0).astype(np.int64), self.place,
            np.ascontiguousarray(classes), np.ascontiguousarray(numbers), levels,
            np.zeros(1) if self.weights is None else self.weights,
            np.zeros(d, np.int64) if signs is None else signs, values, table,
        )  # fmt: skip

    def _work(self) -> Any:
        """Scratch space of one thread, on what all share."""
        order, side, buffer, deviation, stack = self.shared
        o, K = self.targets.n_outputs, max(self.targets.n_classes)
        C = int(self.n_categories.max(initial=0)) + 3
        m = self.rows.levels.shape[1] + 1
        return loop.Work(
            order, side, buffer, deviation, stack,
            np.empty(len(order) // 64 + 1, np.uint64), np.empty((4, o, K)),
            np.empty(len(self.place), np.int64), np.empty((C, o, K)), np.empty(C),
            np.empty(C, np.int64), np.zeros(m), np.zeros(m),
        )  # fmt: skip

    def run(self) -> Tree:
        """Grow the tree and return it."""
        nodes, n, s = self.nodes, self.X.shape[0], self.settings
        nodes.used[0] = 1
        nodes.ints[0] = 0
        nodes.ints[0, loop.STOP], nodes.ints[0, loop.DRAWS] = n, s.seed
        nodes.floats[0, loop.LOWER], nodes.floats[0, loop.UPPER] = -np.inf, np.inf
        equal = loop.describe(self.rows, s, nodes, self.work, 0)
        enough = n >= s.min_split and s.max_depth > 0
        if not equal and enough and nodes.floats[0, loop.WEIGHT] >= 2 * s.min_weight:
            try:
                self._grow_best_first() if s.max_leaf_nodes else self._grow_depth_first()
            finally:
                self.stopped = True  # threads that still work on a fit that was given up
        return self._tree()

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
            first, waiting = int(self.nodes.ints[root, loop.START]), 1
            work.stack[first] = root
            while waiting and not self.stopped:
                waiting = loop.grow(
                    self.rows, self.settings, self.nodes, work, waiting, found,
                    ENTRIES_A_CALL // self.entry_takes, first,
                )  # fmt: skip

    def _grow_best_first(self) -> None:
        """Split the node that gains most, until there are enough leaves."""
        leaves = 1
        heap: list[tuple[float, int, NDArray[np.float64]]] = []
        root = self.nodes.floats[0]
        whole = max(float(root[loop.WEIGHT] * root[loop.IMPURITY]), 1e-300)
        least = self.settings.min_decrease * root[loop.WEIGHT]

        def consider(node: int) -> None:
            gain, found = self._find(node)
            if found[COLUMN] >= 0 and gain + 1e-15 >= least:
                heapq.heappush(heap, (-round(gain / whole, 9), node, found))

        consider(0)
        most = self.settings.max_leaf_nodes
        while heap and leaves < most:
            _, node, found = heapq.heappop(heap)
            if leaves - 1 + int(found[BRANCHES]) > most:
                continue
            for child in self._split(node, found):
                consider(child)
            leaves += int(found[BRANCHES]) - 1
        children = self.nodes.ints[:, loop.CHILDREN]
        children[(self.nodes.used > 0) & (children < 0)] = 0  # what was not split is a leaf

    def _size(self, node: int) -> int:
        ints = self.nodes.ints[node]
        return int(ints[loop.STOP] - ints[loop.START])

    def _is_large(self, node: int) -> bool:
        entries = self._size(node) * len(self.place)
        return entries * self.entry_takes > ENTRIES_OF_A_LARGE_NODE

    def _find(self, node: int) -> tuple[float, NDArray[np.float64]]:
        """The best split of a node and what it gains; its columns one by one if it is large."""
        n, d = self.X.shape[0], len(self.place)
        one_by_one = self._is_large(node) and self.settings.max_features >= d

        loop.sum_node(self.rows, self.settings, self.nodes, self.work, node)

        def search(first: int, last: int) -> NDArray[np.float64]:
            found = np.empty(8)
            work = self.work
            if one_by_one:  # several threads scan the same rows
                work = self._work()._replace(deviation=np.empty((self.scan_rows, n)))
                work.totals[0] = self.work.totals[0]
            loop.best_split(self.rows, self.settings, self.nodes, work, node, first, last, found)
            return found

        if not one_by_one:
            best = search(0, d)
        else:
            each = threads.over_chunks(search, d, d * threads.CELLS_PER_CHUNK)
            best = each[0]
            for found in each[1:]:
                if found[COLUMN] >= 0 and tree_loops.is_better(found[SCORE], best):
                    best = found
        gain = 0.0
        if best[COLUMN] >= 0:
            work = self.nodes, self.work, node
            gain = max(loop.gain_of(self.rows, self.settings, *work, best[SCORE]), 0.0)
        return gain, best

    def _split(self, node: int, found: NDArray[np.float64]) -> list[int]:
        """Split a node as found; return its children that may be split further."""
        nodes, m, n = self.nodes, len(self.entries), self.X.shape[0]
        best_first = self.settings.max_leaf_nodes > 0 and found[COLUMN] >= 0
        split = loop.make_children if best_first else loop.split_node
        if not split(self.rows, self.settings, nodes, self.work, node, found):
            return []

        def partition(first: int, last: int, work: Any, buffer: Any) -> None:
            loop.partition_columns(self.rows, self.settings, nodes, work, node, first, last, buffer)

        def partition_some(first: int, last: int) -> None:
            work = self._work()._replace(bits=self.work.bits)
            partition(first, last, work, np.empty(n, np.uint64))

        if self._size(node) * m > ENTRIES_OF_A_LARGE_NODE:
            threads.over_chunks(partition_some, m, m * threads.CELLS_PER_CHUNK)
        else:
            partition(0, m, self.work, self.work.buffer)
        children, child = [], node + 1
        for _ in range(int(nodes.ints[node, loop.CHILDREN])):
            if nodes.ints[child, loop.CHILDREN] < 0:
                children.append(child)
            child += 2 * self._size(child) - 1
        return children

    def _tree(self) -> Tree:
        """The nodes that were used, numbered without gaps."""
        ids = np.flatnonzero(self.nodes.used)
        ints, floats = self.nodes.ints[ids], self.nodes.floats[ids]
        parent = np.searchsorted(ids, ints[:, loop.PARENT])
        parent[0] = -1
        return Tree.build(
            parent=parent, feature=ints[:, loop.FEATURE], threshold=self._thresholds(ints, floats),
            missing_left=ints[:, loop.MISSING_LEFT], impurity=floats[:, loop.IMPURITY],
            n_samples=ints[:, loop.STOP] - ints[:, loop.START], weight=floats[:, loop.WEIGHT],
            value=self._values(ints, floats[:, [loop.LOWER, loop.UPPER]], parent),
            depth=ints[:, loop.DEPTH], n_categories=self.n_categories,
            code=ints[:, loop.BRANCH_CODE],
        )  # fmt: skip

    def _thresholds(self, ints: Any, floats: Any) -> NDArray[np.float64]:
        """The middle of the two values that a threshold parts, in scikit-learn's arithmetic."""
        thresholds: NDArray[np.float64] = floats[:, loop.THRESHOLD].copy()
        inner = ints[:, loop.CHILDREN] > 0
        feature = np.where(inner, ints[:, loop.FEATURE], 0)
        numeric = inner & (self.n_categories[feature] == 0)
        searched = np.flatnonzero(numeric & np.isnan(thresholds))  # and not drawn
        for j in np.unique(feature[searched]):
            nodes = searched[feature[searched] == j]
            column = column_of(self.X, j) if sp.issparse(self.X) else self.X[:, j]
            low, high = (
                np.asarray(column[ints[nodes, row]], np.float64)
                for row in (loop.LOW_ROW, loop.HIGH_ROW)
            )
            middle = low / 2.0 + high / 2.0
            middle = np.where((middle >= high) | np.isinf(middle) | (middle < low), low, middle)
            thresholds[nodes] = middle
        return thresholds

    def _values(self, ints: Any, bounds: Any, parent: Any) -> NDArray[np.float64]:
        """The class shares or targets (nodes, o, K) of all nodes."""
        targets, weights, order = self.targets, self.weights, self.shared[0]
        starts, stops, n_children = (
            np.ascontiguousarray(ints[:, column])
            for column in (loop.START, loop.STOP, loop.CHILDREN)
        )
        monotone, numbers = self.settings.monotone, targets.numbers
        value = np.zeros((len(ints), targets.n_outputs, max(targets.n_classes)))
        w = np.ones(len(order)) if weights is None else weights
        if targets.classes is not None:
            loop.sum_leaf_classes(starts, stops, n_children, order, targets.classes, w, value)
            loop.add_up(parent, value)
            value /= value.sum(axis=2, keepdims=True)
            if monotone and value.shape[2] == 2:
                positive = np.clip(value[:, 0, 1], bounds[:, 0], bounds[:, 1])
                value[:, 0, 1], value[:, 0, 0] = positive, 1.0 - positive
            return value
        assert numbers is not None
        if self.settings.kind == tree_loops.ABSOLUTE:
            value = _medians(numbers, weights, order, starts, stops)
        else:
            leaves = np.flatnonzero(n_children <= 0)
            leaf_of = np.empty(len(w), np.int64)
            leaf_of[order] = np.repeat(leaves, stops[leaves] - starts[leaves])
            loop.mean_numbers(leaf_of, parent, numbers, w, *np.empty((3, len(ints))), value)
        if monotone:
            if self.settings.kind == tree_loops.SQUARED:  # those were centred
                bounds = bounds + np.average(numbers[:, 0], weights=weights)
            value = np.clip(value, bounds[:, :1, np.newaxis], bounds[:, 1:, np.newaxis])
        return value


def _medians(
    numbers: Any, weights: Any, order: Any, starts: Any, stops: Any
) -> NDArray[np.float64]:
    """The weighted medians (nodes, o, 1); between two middle values, their mean."""
    value = np.empty((len(starts), numbers.shape[1], 1))
    for i, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        rows = order[start:stop]
        for k in range(numbers.shape[1]):
            y = numbers[rows, k]
            value[i, k, 0] = np.median(y) if weights is None else _weighted_median(y, weights[rows])
    return value


def _weighted_median(y: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    order = np.argsort(y, kind="stable")
    below = np.cumsum(w[order])
    place = int(np.searchsorted(below, 0.5 * below[-1]))
    if below[place] == 0.5 * below[-1] and place + 1 < len(y):
        return float(0.5 * (y[order[place]] + y[order[place + 1]]))
    return float(y[order[place]])


def _ranks(numbers: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The rank of each target among those of its output, and the distinct ones, padded."""
    parts = [np.unique(y, return_inverse=True) for y in numbers.T]
    m = max(len(values) for values, _ in parts)
    levels = np.zeros((len(parts), m))
    for o, (values, _) in enumerate(parts):
        levels[o, : len(values)] = values
        levels[o, len(values) :] = values[-1]
    return np.transpose([ranks for _, ranks in parts]).astype(np.int32), levels
