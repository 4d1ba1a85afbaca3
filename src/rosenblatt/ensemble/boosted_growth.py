"""Growing the trees of gradient boosting, one after the other, on the same coded rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.runtime import threads

from .boosted_trees import LEAF, BoostedTrees

MOST_NEAREST = 2**14  # rows: with more, gradients are rounded at random
MOST_COUNTED = 2**19  # rows: with more, of a changing hessian, counts are estimated from it
HISTOGRAM_BYTES = 2**28
SHARED_CELLS = 200_000  # of a histogram that threads share
LONGEST_CELLS = 50_000_000  # of one that is built in one call
PARTS = 4  # of its rows

Nodes = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.uint64]]  # of one tree


@dataclass(frozen=True)
class BoostedSettings:
    """What a tree may do."""

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    l2_regularization: float
    max_features: float
    learning_rate: float


class BoostedGrowth:
    """The coded rows and the memory in which trees grow."""

    def __init__(
        self,
        codes: NDArray[np.uint64],
        cuts: NDArray[np.float64],
        columns: NDArray[np.int64],
        groups: NDArray[np.uint8],
        settings: BoostedSettings,
    ) -> None:
        self.codes, self.cuts, self.columns, self.groups = codes, cuts, columns, groups
        self.settings = settings
        self.n, self.d = codes.shape[1], columns.shape[1]
        blocks, leaves = len(codes), self._most_leaves()
        nodes = 2 * leaves
        slots = max(2, min(leaves, HISTOGRAM_BYTES // (blocks * 2048 * 8))) + 1
        self.rows = np.zeros((2, self.n + loops.gradient_boosting.AHEAD), np.int32)
        self.values = np.empty(self.n, np.int64)
        self.hist = np.empty((slots, blocks, 2048), np.int64)
        self.node = np.zeros((nodes, 11), np.int64)
        self.number = np.zeros((nodes, 6))
        has_categories = bool(columns[loops.gradient_boosting.CATEGORICAL].any())
        self.sets = np.zeros((nodes if has_categories else 0, 4), np.uint64)
        self.active = np.zeros((nodes if len(groups) else 0, len(groups)), np.uint8)
        self.heap, self.free = np.zeros(nodes, np.int64), np.arange(slots, 0, -1)[:-1] - 1
        self.state, self.allowed = np.zeros(7, np.int64), np.zeros(self.d, np.uint8)
        self.ints = np.zeros((3, max(256, self.d)), np.int64)
        self.floats = np.zeros((2, 256))

    def _most_leaves(self) -> int:
        settings = self.settings
        most = max(self.n // settings.min_samples_leaf, 1)
        if settings.max_leaf_nodes is not None:
            most = min(most, settings.max_leaf_nodes)
        if settings.max_depth is not None and settings.max_depth < 31:
            most = min(most, 2**settings.max_depth)
        return int(most)

    def grow(
        self, gradient: Any, hessian: Any, sum_g: float, sum_h: float, number: int, seed: int
    ) -> int:
        """Grow a tree on the derivatives of n rows; return its number of nodes."""
        whole, real = self._packing(len(hessian) == 1, sum_g, sum_h, seed)
        loop, state = loops.gradient_boosting, self.state
        dither = number * self.n + 1 if self.n > MOST_NEAREST else 0
        threads.over_chunks(
            lambda first, last: loop.pack(
                gradient, hessian, whole, real, dither, first, last, self.rows, self.values
            ),
            self.n,
            8 * self.n,
        )
        self._plant(whole, real)
        while True:
            found = loop.grow(
                self.codes, self.rows, self.values, self.columns, self.groups, self.hist, whole,
                real, self.node, self.number, self.sets, self.active, self.heap, self.free, state,
                self.allowed, self.ints, self.floats,
            )  # fmt: skip
            if found == loop.DONE:
                return int(state[loop.N_NODES])
            if found >= 0:
                self._build(found)

    def _packing(
        self, constant: bool, sum_g: float, sum_h: float, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """How many bits of a cell count rows, sum h and g, and in which steps."""
        counted = constant or self.n <= MOST_COUNTED
        count_bits = self.n.bit_length() if counted else 0
        hessian_bits = 0 if constant else (63 - count_bits) // 2
        # Rounding adds at most one step a row; a double holds 2**50 exactly, with sums of them.
        gradient_bits = min(64 - count_bits - hessian_bits, 50)
        steps_g = max(2.0 ** (gradient_bits - 1) - 2 - self.n, 1.0)
        steps_h = max(2.0**hessian_bits - 2 - self.n, 1.0)
        settings = self.settings
        whole = np.array([
            self._most_leaves(), settings.max_depth or 2**62, settings.min_samples_leaf,
            count_bits, hessian_bits, SHARED_CELLS if threads.count() > 1 else LONGEST_CELLS, seed,
        ], np.int64)  # fmt: skip
        real = np.array([
            settings.l2_regularization, max(sum_g, 1e-300) / steps_g, max(sum_h, 1e-300) / steps_h,
            float(constant), 0.0 if counted else self.n * (1 / steps_h), settings.max_features,
        ])  # fmt: skip
        return whole, real

    def _plant(self, whole: Any, real: Any) -> None:
        """The root, with all rows."""
        loop, root, state = loops.gradient_boosting, self.node[0], self.state
        root[:] = 0
        root[loop.STOP], root[loop.SUM] = self.n, self.values.sum()
        self.number[0] = 0.0, 0.0, -np.inf, np.inf, 0.0, 0.0
        _, G, H = loop.sums_of(root[loop.SUM], whole, real)
        self.number[0, loop.VALUE] = -G / (H + self.settings.l2_regularization + loop.TINY)
        self.active[:1] = 1
        self.free[:] = np.arange(len(self.free), 0, -1)
        state[:] = 0
        state[loop.N_NODES] = state[loop.N_LEAVES] = 1
        can = self.n >= 2 * self.settings.min_samples_leaf
        state[loop.WANTED] = 0 if can and H >= loop.LEAST_HESSIAN else -1
        state[loop.N_FREE] = len(self.free) - 1
        root[loop.SLOT] = self.free[-1]

    def _build(self, v: int) -> None:
        """The histograms of a large node, by threads: blocks of columns and parts of the rows."""
        loop, blocks = loops.gradient_boosting, len(self.codes)
        start, stop = int(self.node[v, loop.START]), int(self.node[v, loop.STOP])
        parts = PARTS if blocks < 8 else 1
        slot = int(self.node[v, loop.SLOT])
        found = [self.hist, *(np.empty((1, blocks, 2048), np.int64) for _ in range(parts - 1))]
        places = np.linspace(start, stop, parts + 1).astype(np.int64)

        def build(first: int, last: int) -> None:
            for i in range(first, last):
                part, block = divmod(i, blocks)
                loop.histograms(
                    self.codes, self.rows, self.values, places[part], places[part + 1],
                    block, block + 1, found[part], 0 if part else slot,
                )  # fmt: skip

        threads.over_chunks(build, parts * blocks, (stop - start) * 8 * blocks)
        for other in found[1:]:
            self.hist[slot] += other[0]
        self.state[loop.BUILT] = 1

    def finish(self, n_nodes: int, gradient: Any, hessian: Any, raw: NDArray[np.float64]) -> None:
        """Give the leaves their values and add them to raw (n,)."""
        settings = self.settings
        loops.gradient_boosting.finish(
            self.rows, gradient, hessian, settings.l2_regularization, settings.learning_rate,
            self.node, self.number, n_nodes, raw,
        )  # fmt: skip

    def leaves(self, n_nodes: int) -> NDArray[np.intp]:
        """The nodes that are leaves."""
        return np.flatnonzero(self.node[:n_nodes, loops.gradient_boosting.LEFT] == 0)

    def rows_of(self, v: int) -> NDArray[np.int32]:
        """The rows of a node."""
        loop = loops.gradient_boosting
        return self.rows[0, self.node[v, loop.START] : self.node[v, loop.STOP]]

    def send_missing(self, n_nodes: int, weight: NDArray[np.float64]) -> None:
        """Send missing values to the heavier side where training had none, by weights (n,)."""
        loop, node = loops.gradient_boosting, self.node[:n_nodes]
        if not len(weight):  # counted as the tree grew
            return
        below = np.append(0.0, np.cumsum(weight[self.rows[0, : self.n]]))
        mass = below[node[:, loop.STOP]] - below[node[:, loop.START]]
        free = np.flatnonzero(node[:, loop.LEFT])
        free = free[self.columns[loop.HAS_MISSING][node[free, loop.COLUMN]] == 0]
        left = node[free, loop.LEFT]
        node[free, loop.MISSING_LEFT] = mass[left] > mass[left + 1]

    def nodes(self, n_nodes: int) -> Nodes:
        """The nodes of the tree that has just grown, for `trees`."""
        return self.node[:n_nodes].copy(), self.number[:n_nodes].copy(), self.sets[:n_nodes].copy()

    def trees(self, grown: Sequence[Nodes]) -> BoostedTrees:
        """The trees that have grown, by their nodes."""
        loop = loops.gradient_boosting
        node, number, sets = (np.concatenate(arrays) for arrays in zip(*grown, strict=True))
        sizes = [len(nodes) for nodes, _, _ in grown]
        starts = np.cumsum([0, *sizes])
        left = node[:, loop.LEFT] + np.repeat(starts[:-1], sizes)
        inner = node[:, loop.LEFT] > 0
        column = np.where(inner, node[:, loop.COLUMN], LEAF)
        by_set = inner & (self.columns[loop.CATEGORICAL][column] > 0)
        level = np.where(inner & ~by_set, node[:, loop.LEVEL], LEAF)
        # A cut at the last level divides known values from missing ones.
        threshold = np.where(level >= 0, self.cuts[column, np.minimum(level, 254)], np.nan)
        return BoostedTrees(
            starts=starts,
            column=column.astype(np.int32),
            left=np.where(inner, left, LEAF).astype(np.int32),
            level=level.astype(np.int16),
            threshold=threshold,
            missing_left=inner & (node[:, loop.MISSING_LEFT] > 0),
            value=number[:, loop.VALUE].copy(),
            gain=np.where(inner, number[:, loop.GAIN], 0.0),
            count=node[:, loop.STOP] - node[:, loop.START],
            depth=node[:, loop.DEPTH].astype(np.int32),
            sets=np.where(by_set[:, np.newaxis], sets, np.uint64(0)) if len(sets) else sets,
        )

    def bounds(self, n_nodes: int, value_of: Callable[[int], float]) -> NDArray[np.float64]:
        """The least and the largest value (nodes, 2) that keep the order along monotonic columns.

        They are those of the parent; below a split of such a column, the middle of both children's
        values is one of them.
        """
        loop, node = loops.gradient_boosting, self.node
        found = np.tile([-np.inf, np.inf], (n_nodes, 1))
        signs = self.columns[loop.MONOTONIC]
        for v in np.flatnonzero(node[:n_nodes, loop.LEFT]) if signs.any() else ():
            first, sign = node[v, loop.LEFT], signs[node[v, loop.COLUMN]]
            found[first : first + 2] = found[v]
            if sign:
                middle = np.mean([np.clip(value_of(v), *found[v]) for v in (first, first + 1)])
                low, high = (first, first + 1) if sign > 0 else (first + 1, first)
                found[low, 1] = found[high, 0] = middle
        return found
