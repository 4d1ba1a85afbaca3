"""Growing the trees of gradient boosting, one after the other, on the same coded rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.runtime import threads

from . import boosted_growth_loops, fork_join_loops
from .boosted_trees import LEAF, BoostedTrees

MOST_NEAREST = 2**14  # rows: with more, gradients are rounded at random
MOST_COUNTED = 2**19  # rows: with more, of a changing hessian, counts are estimated from it
HISTOGRAM_BYTES = 2**28
HELPED_CELLS = 400_000  # of a table whose trees threads grow together
MOST_HELPERS = 7
SHARED_CELLS = 32_768  # of a histogram that they share
FEWEST_SUMMED = 2**15  # rows, of which the sums are taken in parts
SUMMED_PARTS = 8

Floats = NDArray[np.float64]
Derivatives = tuple[Floats, Floats, float, float]  # g, h, their sums
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
    newton_leaves: bool
    loss: int


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
        loop = boosted_growth_loops
        few = columns[loop.N_LEVELS].max() < loop.FEW_LEVELS
        cells = loop.COLUMNS_A_BLOCK * (loop.FEW_LEVELS if few else loop.LEVELS)
        slots = max(2, min(leaves, HISTOGRAM_BYTES // (blocks * cells * 8))) + 1
        self.rows = np.zeros((2, self.n + loop.AHEAD), np.int32)
        self.values = np.empty(self.n, np.int64)
        self.hist = np.empty((slots + 1, blocks, cells), np.int64)
        self.node = np.zeros((nodes, 11), np.int64)
        self.number = np.zeros((nodes, 4))
        has_categories = bool(columns[loop.CATEGORICAL].any())
        self.sets = np.zeros((nodes if has_categories else 0, 4), np.uint64)
        self.active = np.zeros((nodes if len(groups) else 0, len(groups)), np.uint8)
        self.state, self.board = np.zeros(9, np.int64), np.zeros(fork_join_loops.BOARD, np.int64)
        self.whole, self.real = np.zeros(10, np.int64), np.zeros(7)
        parts = SUMMED_PARTS if self.n >= FEWEST_SUMMED else 1
        self.totals = np.zeros((parts, 3))
        self._tree = loop.Tree(
            codes, self.rows, self.values, columns, groups, self.hist, self.whole, self.real,
            self.node, self.number, self.sets, self.active, np.zeros(nodes, np.int64),
            np.zeros(slots - 1, np.int64), self.state, np.zeros((2, self.d), np.uint8),
            np.zeros((2, 3, max(256, self.d)), np.int64), np.zeros((2, 2, 256)),
            np.zeros((parts, nodes, 2)), self.totals,
        )  # fmt: skip

    @cached_property
    def scratch(self) -> NDArray[np.float64]:
        """Space (2, n) for derivatives."""
        return np.empty((2, self.n))

    def _most_leaves(self) -> int:
        settings = self.settings
        most = max(self.n // settings.min_samples_leaf, 1)
        if settings.max_leaf_nodes is not None:
            most = min(most, settings.max_leaf_nodes)
        if settings.max_depth is not None and settings.max_depth < 31:
            most = min(most, 2**settings.max_depth)
        return int(most)

    def grow(
        self,
        derivatives: Derivatives,
        number: int,
        seed: int,
        raw: Floats,
        y: Floats,
        weight: Floats,
    ) -> int:
        """Grow a tree on the derivatives of n rows; return its number of nodes.

        If leaves are Newton steps, they get their values, which are added to raw (n,); of a loss
        with one output, the derivatives are then those at raw, and `totals` their sums.
        """
        gradient, hessian, sum_g, sum_h = derivatives
        self._set(len(hessian) == 1, sum_g, sum_h, number, seed)
        loop = boosted_growth_loops
        work = self.board, self._tree, loop.Derived(gradient, hessian, raw, y, weight)
        with self._helpers(work):
            found = loop.grow_tree(False, *work)
            while found == loop.PAUSE:
                found = loop.grow_tree(True, *work)
        return int(self.state[loop.N_NODES])

    @contextmanager
    def _helpers(self, work: Any) -> Iterator[None]:
        """Let other threads help with a tree."""
        board = fork_join_loops
        ticket = int(self.board[board.TICKET])
        most = MOST_HELPERS if self.n * self.d > HELPED_CELLS else 0
        helpers = threads.start(lambda: boosted_growth_loops.help_leader(ticket, *work), most)
        self.board[board.N_HELPERS] = len(helpers)
        try:
            yield
        finally:  # those that come late find another ticket
            self.board[board.TICKET] = (ticket + 1) % 2**30

    def _set(self, constant: bool, sum_g: float, sum_h: float, number: int, seed: int) -> None:
        """Write the settings: how many bits of a cell count rows, sum h and g, in which steps."""
        counted = constant or self.n <= MOST_COUNTED
        count_bits = self.n.bit_length() if counted else 0
        hessian_bits = 0 if constant else (63 - count_bits) // 2
        # Rounding adds at most one step a row; a double holds 2**50 exactly, with sums of them.
        gradient_bits = min(64 - count_bits - hessian_bits, 50)
        steps_g = max(2.0 ** (gradient_bits - 1) - 2 - self.n, 1.0)
        steps_h = max(2.0**hessian_bits - 2 - self.n, 1.0)
        settings = self.settings
        self.whole[:] = (
            self._most_leaves(), settings.max_depth or 2**62, settings.min_samples_leaf,
            count_bits, hessian_bits, SHARED_CELLS, seed,
            number * self.n + 1 if self.n > MOST_NEAREST else 0, settings.loss,
            settings.newton_leaves,
        )  # fmt: skip
        self.real[:] = (
            settings.l2_regularization, max(sum_g, 1e-300) / steps_g, max(sum_h, 1e-300) / steps_h,
            constant, 0.0 if counted else self.n * (1 / steps_h), settings.max_features,
            settings.learning_rate,
        )  # fmt: skip

    def leaves(self, n_nodes: int) -> NDArray[np.intp]:
        """The nodes that are leaves."""
        return np.flatnonzero(self.node[:n_nodes, boosted_growth_loops.LEFT] == 0)

    def rows_of(self, v: int) -> NDArray[np.int32]:
        """The rows of a node."""
        loop = boosted_growth_loops
        return self.rows[0, self.node[v, loop.START] : self.node[v, loop.STOP]]

    def send_missing(self, n_nodes: int, weight: NDArray[np.float64]) -> None:
        """Send missing values to the heavier side where training had none, by weights (n,)."""
        loop, node = boosted_growth_loops, self.node[:n_nodes]
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
        loop = boosted_growth_loops
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
        loop, node = boosted_growth_loops, self.node
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


def run_helper_loop(model: Any, X: Any, y: Any) -> None:
    """Call the loop of threads that help, which only large tables reach, for a leader that left."""
    nothing, one = np.zeros(1), BoostedSettings(2, None, 1, 0.0, 1.0, 0.1, True, -1)
    columns, groups = np.ones((4, 1), np.int64), np.zeros((0, 1), np.uint8)
    growth = BoostedGrowth(np.zeros((1, 1), np.uint64), np.zeros((1, 255)), columns, groups, one)
    derived = boosted_growth_loops.Derived(nothing, nothing, nothing, nothing, nothing)
    boosted_growth_loops.help_leader(-1, growth.board, growth._tree, derived)
