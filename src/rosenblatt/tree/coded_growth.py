"""Trees grown on coded columns: what forests do, many times on the same codes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.runtime import threads

from . import coded_growth_loops, columns_loops, growth_loops
from .growth import COLUMNS_AT_ONCE, columns_of
from .settings import CRITERIA, MISSING, NO_DEPTH, Settings, Targets, x_log_x_table
from .structure import UNDEFINED, Tree

MOST_LEVELS = 255
CELLS_A_CALL = 20_000_000  # rows times columns tried, of a compiled call
MOST_CLASSES = MOST_TIMES = 2**16 - 1  # a key has 16 bits for each


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """The columns of a table as levels of their values: all of them, or 255 quantiles."""

    codes: NDArray[Any]  # (d, n)
    missing_code: int
    n_levels: NDArray[np.int64]
    n_categories: NDArray[np.int64]
    bounds: NDArray[np.float64]  # (d, 2, levels)
    has_missing: NDArray[np.bool_]

    @staticmethod
    def of(X: Any, n_categories: NDArray[np.int64]) -> "CodedColumns":
        """Sort each column once and number its levels."""
        n, d = X.shape
        wide = int(n_categories.max(initial=0)) > MOST_LEVELS
        most = 2**16 - 1 if wide else MOST_LEVELS
        codes = np.empty((d, n), np.uint16 if wide else np.uint8)
        bounds, n_levels = np.zeros((d, 2, MOST_LEVELS)), n_categories.copy()
        has_missing = np.zeros(d, bool)

        def code(first: int, last: int) -> None:
            columns = columns_loops
            keys, buffer = np.empty(n, np.uint64), np.empty(n, np.uint64)
            counts, level_of = np.empty((3, 2048), np.int64), np.empty(n, np.int64)
            first, last = first * COLUMNS_AT_ONCE, min(last * COLUMNS_AT_ONCE, d)
            for a in range(first, last, COLUMNS_AT_ONCE):
                b = min(a + COLUMNS_AT_ONCE, last)
                for j, values in zip(range(a, b), columns_of(X, a, b), strict=True):
                    if n_categories[j]:
                        absent = np.isnan(values)
                        codes[j] = np.where(absent, most, values)
                        has_missing[j] = absent.any()
                        continue
                    none = np.zeros(1, np.int32)
                    known = columns.sort_column(values, none, 0, keys, buffer, counts)
                    n_levels[j] = columns.quantise(
                        keys, known, values, MOST_LEVELS, level_of, bounds[j]
                    )
                    has_missing[j] = known < n
                    codes[j] = level_of if not wide else np.where(
                        level_of == MOST_LEVELS, most, level_of
                    )  # fmt: skip

        threads.over_chunks(code, -(-d // COLUMNS_AT_ONCE), n * d)
        return CodedColumns(codes, most, n_levels, n_categories, bounds, has_missing)


def can_be_coded(targets: Targets, settings: Settings) -> bool:
    """Whether a tree with these settings can be grown on codes."""
    return (
        targets.n_outputs == 1
        and settings.criterion != "absolute_error"
        and settings.max_leaf_nodes is None
        and settings.monotonic_cst is None
        and settings.missing != "branch"
        and targets.n_classes[0] <= MOST_CLASSES
    )


class CodedGrowth:
    """Grows trees on the same codes, one after the other, in the same memory."""

    def __init__(self, columns: CodedColumns, targets: Targets, weights: Any) -> None:
        self.columns, self.targets, self.weights = columns, targets, weights
        d, n = columns.codes.shape
        K = targets.n_classes[0] if targets.classes is not None else 2
        M = max(int(columns.n_levels.max(initial=0)), 256) + 2
        forest = coded_growth_loops
        self.nodes = forest.Nodes(np.empty((2 * n, 9), np.int32), np.empty((2 * n, 3 + K)))
        self.scratch = forest.Scratch(
            keys=np.empty(n, np.uint64), buffer=np.empty(n, np.uint64),
            added=np.empty(n, np.uint64),
            stack=np.empty((n + 1, 5), np.int64), sums=np.zeros((M, K)),
            rows=np.zeros(M, np.int64), held=np.zeros(M // 64 + 1, np.uint64),
            group_code=np.empty(M, np.int64), totals=np.empty((3, K)),
            columns=np.empty(d, np.int64), found=np.zeros(8), side_of=np.empty(M, np.int64),
            sizes=np.empty(M + 1, np.int64), counts=np.zeros(256, np.uint64),
            below=np.empty(forest.BLOCKS, np.uint64), scores=np.empty(forest.BLOCKS),
            few=np.empty(forest.FEW, np.uint64),
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
        scratch.stack[0] = 0, len(rows), 0, -1, 0
        total = float(times.sum() if weights is None else times @ weights[rows])
        limits = self._limits(settings, total, weights is not None)
        levels = self._levels(settings, int(total) + 1, weights)
        waiting, n_nodes, state = 1, 0, settings.seed
        while waiting and not stopped():
            waiting, n_nodes, state = coded_growth_loops.grow_coded(
                levels, limits, self.nodes, scratch, waiting, n_nodes, np.uint64(state),
                CELLS_A_CALL,
            )  # fmt: skip
        return self._tree(n_nodes)

    def _tree(self, n_nodes: int) -> Tree:
        """The first nodes as a `Tree`."""
        f, columns = coded_growth_loops, self.columns
        ints, floats = self.nodes.ints[:n_nodes].T.copy(), self.nodes.floats[:n_nodes].T.copy()
        feature, left, right = ints[f.FEATURE], ints[f.LEFT], ints[f.RIGHT]
        leaf = left < 0
        asked = np.where(leaf, 0, feature)
        feature[leaf] = UNDEFINED
        by_category = ~leaf & (columns.n_categories[asked] > 0)
        threshold = np.where(by_category, np.nan, floats[f.THRESHOLD])
        threshold[leaf] = UNDEFINED
        weight = floats[f.WEIGHT]
        heavier = (weight[left] > weight[right]).astype(np.int64)
        missing_left = np.where(ints[f.MISSING_LEFT] < 0, heavier, ints[f.MISSING_LEFT]) * ~leaf
        n_branches = np.where(by_category, ints[f.CHILDREN], 0)
        children = np.flatnonzero(by_category[ints[f.PARENT]] & (ints[f.PARENT] >= 0))
        children = children[np.argsort(ints[f.PARENT][children], kind="stable")]
        first = np.where(by_category, np.cumsum(n_branches) - n_branches, -1)
        K = max(self.targets.n_classes)
        arrays = {
            "children_left": left, "children_right": right, "feature": feature,
            "threshold": threshold, "missing_go_to_left": missing_left.astype(np.uint8),
            "impurity": floats[f.IMPURITY], "n_node_samples": ints[f.ROWS],
            "weighted_n_node_samples": weight, "depth": ints[f.DEPTH],
            "first_branch": first, "n_branches": n_branches, "branch_child": children,
            "branch_code": ints[f.BRANCH_CODE][children],
            "value": floats[f.VALUE : f.VALUE + K].T[:, np.newaxis],
        }  # fmt: skip
        return Tree(arrays, columns.n_categories)

    def _levels(self, settings: Settings, most: int, weights: Any) -> Any:
        columns, none = self.columns, np.zeros(1)
        targets = none if self.targets.numbers is None else self.targets.numbers[:, 0].copy()
        centred = targets if settings.criterion == "poisson" else targets - targets.mean()
        table = none
        if CRITERIA[settings.criterion] == 1 and weights is None:
            table = x_log_x_table(most - 1)
        return coded_growth_loops.Levels(
            columns.codes, columns.missing_code, columns.n_levels, columns.n_categories > 0,
            columns.has_missing, columns.bounds, centred, targets,
            none if weights is None else weights, table,
        )  # fmt: skip

    def _limits(self, settings: Settings, total: float, weighted: bool) -> Any:
        s, d = settings, len(self.columns.codes)
        return growth_loops.Limits(
            kind=CRITERIA[s.criterion], n_classes=max(self.targets.n_classes), shift=0,
            weighted=weighted, random=s.random_thresholds, monotone=False,
            missing=MISSING[s.missing], max_depth=min(s.max_depth, NO_DEPTH),
            min_split=max(s.min_samples_split, 2), min_leaf=s.min_samples_leaf,
            max_features=s.max_features or d, min_weight=float(s.min_weight_leaf),
            min_decrease=s.min_impurity_decrease * total,
        )  # fmt: skip
