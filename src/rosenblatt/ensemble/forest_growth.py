"""Growing the trees of a forest on coded columns, on as many threads as there are.

The columns are coded once: each value by its level, all of them or 255 quantiles. The trees are
the same on any number of threads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import compute_sample_weight

from rosenblatt.runtime import threads
from rosenblatt.tree import pruning, tree_loops
from rosenblatt.tree.growth import COLUMNS_AT_ONCE, Growth
from rosenblatt.tree.inputs import Settings, Targets, columns_of, x_log_x_table
from rosenblatt.tree.structure import Tree

from . import forest_growth_loops as loop
from . import forest_scan_loops as scan

MOST_LEVELS = 255
CELLS_A_CALL = 20_000_000  # rows times columns tried, of a compiled call
MOST_CLASSES = MOST_TIMES = 2**16 - 1  # a key has 16 bits for each
TREES_A_CHUNK = 4  # share a thread's memory


class ForestGrowth:
    """Grows trees of one forest; codes the columns once for all of them."""

    def __init__(self, forest: Any, rows: Any, targets: Targets, weights: Any, y: Any) -> None:
        self.forest, self.targets, self.weights, self.y = forest, targets, weights, y
        self.rows = sp.csc_matrix(rows) if sp.issparse(rows) else rows
        self.n_categories, self.signs = forest._n_categories(), forest._signs()
        self.by_sample = getattr(forest, "class_weight", None) == "balanced_subsample"
        self.stopped, self.columns = False, None
        if self._can_be_coded():
            self.columns = CodedColumns.of(self.rows, self.n_categories)

    def _can_be_coded(self) -> bool:
        """Return whether trees can be grown on codes."""
        forest, targets = self.forest, self.targets
        return (
            targets.n_outputs == 1
            and forest.criterion != "absolute_error"
            and forest.max_leaf_nodes is None
            and self.signs is None
            and forest.missing != "branch"
            and targets.n_classes[0] <= MOST_CLASSES
        )

    def grow(self, seeds: list[int]) -> list[Tree]:
        """Return one tree a seed, in order."""
        chunks = -(-len(seeds) // TREES_A_CHUNK)

        def work(first: int, last: int) -> list[Tree]:
            mine, growth = seeds[first * TREES_A_CHUNK : last * TREES_A_CHUNK], None
            if self.columns is not None and not self.by_sample:
                weights = None if self.forest.bootstrap else self.weights
                growth = CodedGrowth(self.columns, self.targets, weights)
            return [self._grow_one(seed, growth) for seed in mine if not self.stopped]

        parts = threads.over_chunks(work, chunks, chunks * threads.CELLS_PER_CHUNK)
        return [tree for part in parts for tree in part]

    def _grow_one(self, seed: int, growth: "CodedGrowth | None") -> Tree:
        forest, n = self.forest, self.rows.shape[0]
        sample = forest._sample(seed)
        drawn = np.bincount(sample, minlength=n)
        weights = None if forest.bootstrap else self.weights  # a sample is drawn by the weights
        if weights is not None:
            drawn = np.where(weights > 0, drawn, 0)
        if self.by_sample:
            balanced = compute_sample_weight("balanced", np.asarray(self.y), indices=sample)
            weights = np.asarray(balanced) * (1.0 if weights is None else weights)
        total = drawn.astype(np.float64) if weights is None else drawn * weights
        settings = forest._settings(n, total, seed, forest._random_thresholds)
        if self.columns is not None:
            growth = growth or CodedGrowth(self.columns, self.targets, weights)
            tree = growth.grow(drawn, settings, lambda: self.stopped)
        else:  # on sorted columns of the rows that have weight
            kept = np.flatnonzero(total > 0)
            given = self.rows[kept], self.n_categories, self.targets.taken(kept), total[kept]
            tree = Growth(*given, settings, self.signs).run()
        return pruning.cut_by_price(tree, forest.ccp_alpha) if forest.ccp_alpha > 0 else tree


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """The columns of a table as levels of their values: all of them, or 255 quantiles."""

    codes: NDArray[Any]  # (d, n)
    missing_code: int
    n_levels: NDArray[np.int64]
    n_categories: NDArray[np.int64]
    bounds: NDArray[np.float64]  # (d, 2, levels)
    has_missing: NDArray[np.bool_]
    # Of a sparse table: rows of the stored numbers, where each column begins, codes of zero.
    stored: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]

    @staticmethod
    def of(X: Any, n_categories: NDArray[np.int64]) -> "CodedColumns":
        """Sort each column once and number its levels."""
        n, d = X.shape
        wide = int(n_categories.max(initial=0)) > MOST_LEVELS
        most = 2**16 - 1 if wide else MOST_LEVELS
        codes = np.empty((d, n), np.uint16 if wide else np.uint8)
        bounds, n_levels = np.zeros((d, 2, MOST_LEVELS)), n_categories.copy()
        has_missing, zero_codes = np.zeros(d, bool), np.zeros(d, np.int64)

        def code(first: int, last: int) -> None:
            keys, buffer = np.empty(n + 1, np.uint64), np.empty(n + 1, np.uint64)
            counts, level_of = np.empty((3, 2048), np.int64), np.empty(n + 1, np.int64)
            first, last = first * COLUMNS_AT_ONCE, min(last * COLUMNS_AT_ONCE, d)
            for a in range(first, last, COLUMNS_AT_ONCE):
                b = min(a + COLUMNS_AT_ONCE, last)
                for j, (values, rows, zeros) in zip(range(a, b), _columns(X, a, b), strict=True):
                    if n_categories[j]:
                        absent = np.isnan(values)
                        codes[j] = np.where(absent, most, values)
                        has_missing[j] = absent.any()
                        continue
                    m, none = len(values), np.zeros(1, np.int32)
                    known = tree_loops.sort_column(values, none, 0, keys[:m], buffer[:m], counts)
                    n_levels[j] = tree_loops.quantize(
                        keys[:m], known, values, MOST_LEVELS, max(zeros, 1), level_of, bounds[j]
                    )
                    has_missing[j] = known < m
                    levels = level_of[:m]
                    if wide:
                        levels = np.where(levels == MOST_LEVELS, most, levels)
                    if zeros:
                        codes[j] = zero_codes[j] = levels[-1]
                        levels = levels[:-1]
                    codes[j][rows] = levels

        threads.over_chunks(code, -(-d // COLUMNS_AT_ONCE), n * d)
        stored = np.zeros(0, np.int32), np.zeros(1, np.int64), zero_codes
        if sp.issparse(X):
            stored = X.indices.astype(np.int32), X.indptr.astype(np.int64), zero_codes
        return CodedColumns(codes, most, n_levels, n_categories, bounds, has_missing, stored)


def _columns(X: Any, first: int, last: int) -> Iterator[tuple[NDArray[np.float64], Any, int]]:
    """Yield the values of some columns, their rows, and for how many rows the last value stands.

    Of a sparse column these are the values that it stores, and one zero for all others.
    """
    if not sp.issparse(X):
        yield from ((values, slice(None), 0) for values in columns_of(X, first, last))
        return
    for j in range(first, last):
        held = slice(X.indptr[j], X.indptr[j + 1])
        values, zeros = X.data[held].astype(np.float64), X.shape[0] - held.stop + held.start
        yield np.append(values, 0.0) if zeros else values, X.indices[held], int(zeros)


class CodedGrowth:
    """Grows trees on the same codes, one after the other, in the same memory."""

    def __init__(self, columns: CodedColumns, targets: Targets, weights: Any) -> None:
        self.columns, self.targets, self.weights = columns, targets, weights
        d, n = columns.codes.shape
        K = targets.n_classes[0] if targets.classes is not None else 2
        M = max(int(columns.n_levels.max(initial=0)), 256) + 2
        self.nodes = loop.Nodes(np.empty((2 * n, 7), np.int32), np.empty((2 * n, 3 + K)))
        self.scratch = scan.Scratch(
            keys=np.empty(n, np.uint64), buffer=np.empty(n, np.uint64),
            added=np.empty(n, np.uint64), place=np.empty(n, np.int32),
            stack=np.empty((n + 1, 5), np.int64), sums=np.zeros((M, K)),
            rows=np.zeros(M, np.int64), held=np.zeros(M // 64 + 1, np.uint64),
            group_code=np.empty(M, np.int64), totals=np.empty((3, K)),
            columns=np.empty(d, np.int64), constant=np.empty((d, 2), np.int64),
            found=np.zeros(8), side_of=np.empty(M, np.int64), sizes=np.empty(M + 1, np.int64),
            counts=np.zeros(256, np.uint64), below=np.empty(scan.BLOCKS, np.uint64),
            few=np.empty(scan.FEW, np.uint64),
        )  # fmt: skip

    def grow(self, drawn: NDArray[np.int64], settings: Settings, stopped: Any) -> Tree:
        """One tree of the rows that were drawn at least once, `drawn` (n,) times."""
        scratch = self.scratch
        rows = np.flatnonzero(drawn)
        times, weights = drawn[rows], self.weights
        if times.max(initial=0) > MOST_TIMES:  # more than a key has room for
            weights = drawn * (1.0 if weights is None else weights)
            times = np.ones_like(times)
        keys = rows.view(np.uint64) | (times.view(np.uint64) << np.uint64(48))
        if self.targets.classes is not None:
            keys |= self.targets.classes[rows, 0].astype(np.uint64) << np.uint64(32)
        scratch.keys[: len(rows)] = keys
        scratch.columns[:] = np.arange(len(scratch.columns))
        scratch.constant[:] = 0  # in no node
        scratch.place[:] = -1
        scratch.place[rows] = np.arange(len(rows))
        scratch.stack[0] = 0, len(rows), 0, -1, 0
        settings = settings._replace(weighted=weights is not None)
        total = int(times.sum()) if weights is None else 0
        levels = self._levels(settings, total, weights)
        waiting, n_nodes, state = 1, 0, settings.seed
        while waiting and not stopped():
            waiting, n_nodes, state = loop.grow_coded(
                levels, settings, self.nodes, scratch, waiting, n_nodes, np.uint64(state),
                CELLS_A_CALL,
            )  # fmt: skip
        ints, floats = self.nodes.ints[:n_nodes].T.copy(), self.nodes.floats[:n_nodes].T.copy()
        return Tree.build(
            parent=ints[loop.PARENT], feature=ints[loop.FEATURE], threshold=floats[loop.THRESHOLD],
            missing_left=ints[loop.MISSING_LEFT], impurity=floats[loop.IMPURITY],
            n_samples=ints[loop.ROWS], weight=floats[loop.WEIGHT],
            value=floats[loop.VALUE : loop.VALUE + max(self.targets.n_classes)].T[:, np.newaxis],
            depth=ints[loop.DEPTH], n_categories=self.columns.n_categories,
            code=ints[loop.BRANCH_CODE],
        )  # fmt: skip

    def _levels(self, settings: Settings, total: int, weights: Any) -> Any:
        columns, none = self.columns, np.zeros(1)
        targets = none if self.targets.numbers is None else self.targets.numbers[:, 0].copy()
        centered = targets if settings.kind == tree_loops.POISSON else targets - targets.mean()
        by_table = settings.kind == tree_loops.ENTROPY and weights is None
        return scan.Levels(
            columns.codes, columns.missing_code, columns.n_levels, columns.n_categories > 0,
            columns.has_missing, columns.bounds, centered, targets,
            none if weights is None else weights, x_log_x_table(total if by_table else 0),
            *columns.stored,
        )  # fmt: skip
