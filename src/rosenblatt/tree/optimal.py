"""The tree of depth one, two or three that makes the fewest mistakes, and the proof that it does.

Depth two is searched whole. Depth three is branch and bound over its root: on a column, the best
loss of the rows on the left never falls as the threshold rises, and that of the rows on the right
never rises. So no root between two thresholds ``a < b`` loses less than the left of ``a`` and the
right of ``b`` together. The span with the least such bound is halved next, until no bound is below
the best tree, or the time is up.

Legend: a plan is None for a leaf, else (column, level, plan on the left, plan on the right).
"""

import heapq
import time
from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import optimal_loops
from .growth import Growth
from .inputs import CRITERIA, Settings, Targets, column_of
from .structure import Tree

MOST_LEVELS = 256  # of a column: a byte
MOST_CUTS = 248  # of a column; seven more levels are left for thresholds of greedy growth
CELLS_A_CALL = 30_000_000  # that a compiled call moves or scans, in about 0.1 s
LARGEST = 2.0**52  # whole numbers below this are exact in doubles
Plan = Any


class Found(NamedTuple):
    """Result of a search."""

    tree: Tree
    mistakes: float  # their weight
    lower_bound: float  # of the mistakes of any tree of this depth; if equal, the tree is the best


def best_tree(
    X: Any, targets: Targets, weights: Any, depth: int, criterion: str, time_limit: float
) -> Found:
    """The tree of at most this depth with the fewest mistakes on X (n, d), no value missing."""
    w = np.ones(X.shape[0]) if weights is None else weights
    columns = [column_of(X, j) for j in range(X.shape[1])]
    cuts = [thresholds(column) for column in columns]
    if max(len(cut) for cut in cuts) >= MOST_CUTS:
        # So that the tree is never worse than the greedy one, whose thresholds may be others.
        greedy = grow_greedily(X, targets, weights, depth, criterion)
        own = [greedy.threshold[greedy.feature == j] for j in range(len(cuts))]
        cuts = [np.union1d(*pair) for pair in zip(cuts, own, strict=True)]
    levels = [np.searchsorted(cut, column) for cut, column in zip(cuts, columns, strict=True)]
    codes = np.ascontiguousarray(np.transpose(levels), np.uint8)
    assert targets.classes is not None
    search = OptimalSearch(codes, targets.classes[:, 0], w, targets.n_classes[0])
    stop_at = time.monotonic() + time_limit
    loss, bound, plan = search.run(depth, lambda: time.monotonic() > stop_at)
    tree = _assemble(plan, cuts, columns, targets, w, criterion)
    return Found(tree, loss, bound)


LIMITS = (
    "splitter", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
    "max_features", "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "monotonic_cst",
    "max_p_chance", "pruning",
)  # fmt: skip


def check_search(model: Any) -> int:
    """The depth to search; what the search does not take is refused."""
    if model.max_depth not in (1, 2, 3):
        raise ValueError(
            f"search='optimal' takes a max_depth of 1, 2 or 3; got {model.max_depth!r}. Deeper "
            "trees are too many to search: use search='greedy'."
        )
    if model.n_outputs_ > 1:
        raise ValueError("search='optimal' takes one output; fit a tree for each.")
    for j, known in enumerate(model.categories_):
        if known is not None:
            name = getattr(model, "feature_names_in_", range(j + 1))[j]
            raise ValueError(
                f"search='optimal' takes columns of numbers; column {name!r} holds categories. "
                "Encode it, or use search='greedy'."
            )
    for name in LIMITS:
        given, default = getattr(model, name), signature(type(model)).parameters[name].default
        if given is not default and not np.array_equal(given, default):
            raise ValueError(
                f"search='optimal' counts mistakes alone and takes no {name}; got {given!r}. Leave "
                f"it at {default!r}, or use search='greedy'."
            )
    return int(model.max_depth)


def grow_greedily(X: Any, targets: Targets, weights: Any, depth: int, criterion: str) -> Tree:
    """The tree that takes the best split at each node."""
    numeric = np.zeros(X.shape[1], np.int64)
    settings = Settings(CRITERIA[criterion], X.shape[1], depth)
    return Growth(X, numeric, targets, weights, settings).run()


def thresholds(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """The middles between neighbouring values, or 248 of them in equal steps.

    >>> thresholds(np.array([3.0, 1.0, 1.0, 2.0]))
    array([1.5, 2.5])
    """
    values = np.unique(column)
    cut = np.arange(len(values) - 1)
    if len(cut) > MOST_CUTS:
        cut = np.arange(1, MOST_CUTS + 1) * len(cut) // (MOST_CUTS + 1)
    low, high = values[cut], values[cut + 1]
    middle = low / 2.0 + high / 2.0
    return np.where((middle >= high) | (middle < low), low, middle)


class OptimalSearch:
    """The search for the plan that loses least, on codes (n, d)."""

    def __init__(
        self, codes: NDArray[np.uint8], classes: Any, weights: NDArray[np.float64], K: int
    ) -> None:
        self.codes = codes
        self.stopped: Callable[[], bool] = lambda: False
        whole = bool((weights == np.floor(weights)).all()) and weights.sum() < LARGEST
        self.scale = 1.0 if whole else 2.0 ** np.floor(np.log2(LARGEST / weights.sum()))
        self.weight = np.floor(weights * self.scale).astype(np.int64)
        self.unit = 2 if K <= 2 else 1
        self.channels = 1 if K <= 2 else K
        self.channel = (classes if K > 2 else np.zeros_like(classes)).astype(np.int64)
        self.amount = np.where(classes == 1, -self.weight, self.weight) if K <= 2 else self.weight
        n, d = codes.shape
        sums = (d, MOST_LEVELS, self.channels)
        self.whole, self.left = np.zeros(sums, np.int64), np.zeros(sums, np.int64)
        self.levels, self.n_levels = np.empty((d, MOST_LEVELS), np.int64), np.empty(d, np.int64)
        self.starts, self.order = np.empty(MOST_LEVELS + 1, np.int64), np.empty(n, np.int64)
        self.totals = np.empty((4, self.channels), np.int64)

    def run(self, depth: int, stopped: Callable[[], bool]) -> tuple[float, float, Plan]:
        """Return the least weight of mistakes found, a lower bound for any tree, and the plan."""
        rows = np.arange(len(self.codes))
        if depth < 3:
            loss, plan = self.shallow(rows, depth)
            bound = loss
        else:
            self.stopped = stopped
            loss, bound, plan = self._deep(rows)
        weight = self.unit * self.scale
        return loss / weight, bound / weight, plan

    def shallow(
        self, rows: NDArray[np.int64], depth: int = 2, most: int | None = None
    ) -> tuple[int, Plan]:
        """The loss and plan of the best tree of depth one or two; `most` if it is no better."""
        codes = np.empty((len(rows), self.codes.shape[1]), np.uint8)
        loop = optimal_loops
        loop.take_rows(self.codes, rows, self.levels, codes, self.n_levels)
        channel, amount = self.channel[rows], self.amount[rows]
        self.whole[:] = 0
        loop.add_rows(codes, channel, amount, np.arange(len(rows)), self.whole)
        total, stumps = int(self.weight[rows].sum()), np.empty((2, 3), np.int64)
        loop.best_stumps(self.whole, self.whole, self.n_levels, self.totals, stumps)
        sums = self.whole[0].sum(axis=0)
        score = abs(sums[0]) if self.channels == 1 else sums.max()
        loss, plan = total - int(score), None
        if total - stumps[0, 0] < loss:
            loss, plan = total - int(stumps[0, 0]), self._stump(*stumps[0, 1:])
        if most is not None and most <= loss:
            loss, plan = most, None
        if depth == 1 or loss == 0:
            return loss, plan
        best = np.array([loss, -1, -1, -1, -1, -1, -1], np.int64)
        d = codes.shape[1]
        step = max(1, CELLS_A_CALL // (d * (len(rows) + MOST_LEVELS**2 * self.channels)))
        for first in range(0, d, step):
            if self.stopped():
                break
            loop.search_roots(
                codes, channel, amount, self.n_levels, self.whole, self.unit, total, first,
                min(first + step, d), self.left, self.starts, self.order, self.totals, stumps, best,
            )  # fmt: skip
        if best[1] >= 0:
            column, level = int(best[1]), int(self.levels[best[1], best[2]])
            loss = int(best[0])
            plan = (column, level, self._stump(*best[3:5]), self._stump(*best[5:7]))
        return loss, plan

    def _stump(self, column: int, level: int) -> Plan:
        return None if column < 0 else (int(column), int(self.levels[column, level]), None, None)

    def _deep(self, rows: NDArray[np.int64]) -> tuple[int, int, Plan]:
        """Return the least loss at depth three, a lower bound for any tree, and the plan."""
        best, plan = self.shallow(rows)
        ends = self.codes.max(axis=0).tolist()
        spans = [(0, j, -1, end, 0, 0, end // 2) for j, end in enumerate(ends) if end > 0]
        if plan is not None:  # a good root of two levels is tried first
            spans = [(*span[:6], plan[1]) if span[1] == plan[0] else span for span in spans]
        while spans:
            bound, j, low, high, on_left, on_right, middle = heapq.heappop(spans)
            if bound >= best:
                break
            goes_left = self.codes[rows, j] <= middle
            left, left_plan = self.shallow(rows[goes_left], 2, best - on_right)
            right, right_plan = self.shallow(rows[~goes_left], 2, best - on_left)
            if left + right < best:
                best, plan = left + right, (j, middle, left_plan, right_plan)
            if self.stopped():  # and the sides may not be searched whole
                return best, min(bound, best), plan
            if middle - low > 1:
                half = (low + middle) // 2
                heapq.heappush(spans, (on_left + right, j, low, middle, on_left, right, half))
            if high - middle > 1:
                half = (middle + high) // 2
                heapq.heappush(spans, (left + on_right, j, middle, high, left, on_right, half))
        return best, best, plan


def _assemble(
    plan: Plan, cuts: Any, columns: Any, targets: Targets, weights: Any, criterion: str
) -> Tree:
    """The `Tree` of a plan, with the counts of its rows."""
    assert targets.classes is not None
    nodes: list[dict[str, Any]] = []

    def add(plan: Plan, rows: NDArray[np.int64], depth: int, parent: int) -> None:
        """Add a node and all below it."""
        assert targets.classes is not None
        held = np.bincount(targets.classes[rows, 0], weights[rows], minlength=targets.n_classes[0])
        number, share = len(nodes), held / held.sum()
        nodes.append({
            "parent": parent, "feature": 0, "threshold": 0.0, "missing_left": 0, "depth": depth,
            "impurity": _impurity(share, criterion), "n_samples": len(rows), "weight": held.sum(),
            "value": share[np.newaxis],
        })  # fmt: skip
        if plan is not None:
            column, level, left, right = plan
            goes_left = columns[column][rows] <= cuts[column][level]
            nodes[number].update(
                feature=column, threshold=cuts[column][level],
                missing_left=int(2 * goes_left.sum() > len(rows)),
            )  # fmt: skip
            add(left, rows[goes_left], depth + 1, number)
            add(right, rows[~goes_left], depth + 1, number)

    add(plan, np.arange(len(weights)), 0, -1)
    arrays = {name: np.array([node[name] for node in nodes]) for name in nodes[0]}
    return Tree.build(**arrays, n_categories=np.zeros(len(columns), np.int64))


def _impurity(share: NDArray[np.float64], criterion: str) -> float:
    if criterion == "gini":
        return float(1.0 - (share * share).sum())
    held = share[share > 0]
    return float(-(held * np.log2(held)).sum())
