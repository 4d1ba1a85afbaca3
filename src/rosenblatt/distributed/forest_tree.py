"""Trees that grow node by node on histograms: what a split gains, and which nodes come next."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.tree.inputs import Settings
from rosenblatt.tree.structure import LEAF

from . import histograms_loops
from .coded_parts import MISSING

Array = NDArray[np.float64]
PURE = 1e-12  # of an impurity, times the weight


class Criterion:
    """Impurities by sums (1 + K,): rows, then weights of classes; or numbers, sums, squares."""

    def __init__(self, kind: str, price: Array, centre: float) -> None:
        found = histograms_loops
        self.numbers, self.price, self.centre = kind == "numbers", price, centre
        self.kind = {"numbers": found.NUMBERS, "gini": found.GINI}.get(kind, found.ENTROPY)
        self.width = 4 if self.numbers else 1 + len(price)

    def weighed(self, sums: Array) -> Array:
        """Sums (..., 1 + K) whose classes have their prices."""
        return sums if self.numbers else np.asarray(sums * np.append(1.0, self.price))

    def weight(self, sums: Array) -> float:
        """The weight of some rows."""
        return float(histograms_loops.weight(sums, self.kind))

    def merit(self, sums: Array) -> float:
        """Less the impurity times the weight, but for what all splits of a node share."""
        return float(histograms_loops.merit(sums, self.kind))

    def impurity(self, sums: Array) -> float:
        """The impurity of one node."""
        weight, merit = self.weight(sums), self.merit(sums)
        if self.numbers:
            return max(0.0, float(sums[3] - merit) / weight)
        gini = self.kind == histograms_loops.GINI
        return max(0.0, 1 - merit / weight if gini else -merit / weight)

    def value(self, sums: Array) -> Array:
        """Class shares, or the mean (1,)."""
        if self.numbers:
            return np.array([self.centre + sums[2] / sums[1]])
        return np.asarray(sums[1:] / sums[1:].sum())


@dataclass
class Node:
    """A node: its sums, its columns in the order of trial, its split if it has one."""

    sums: Array
    depth: int
    order: NDArray[np.int64]
    n_tried: int = 0
    left: int = LEAF
    column: int = 0
    level: int = 0
    missing_left: bool = False


class GrowingTree:
    """A tree of a forest; `measure` takes the histograms of a node and returns the next nodes."""

    def __init__(self, criterion: Criterion, settings: Settings, cuts: Array) -> None:
        self.criterion, self.settings, self.cuts = criterion, settings, cuts
        self.d, self.total = len(cuts), 0.0
        self.n_tried = min(settings.max_features, self.d)
        self.rng = np.random.default_rng(settings.seed)
        self.nodes = [Node(np.zeros(criterion.width), 0, self.rng.permutation(self.d))]

    def columns_to_try(self, v: int) -> NDArray[np.int64]:
        """The columns that a node tries next."""
        node = self.nodes[v]
        return node.order[node.n_tried : node.n_tried + self.n_tried]

    def shape(self) -> tuple[NDArray[Any], ...]:
        """The tests so far: left child, column, level and whether missing values go left."""
        nodes = self.nodes
        return (
            np.array([node.left for node in nodes], np.int64),
            np.array([node.column for node in nodes], np.int64),
            np.array([node.level for node in nodes], np.int64),
            np.array([node.missing_left for node in nodes]),
        )

    def measure(self, v: int, hist: Array) -> list[int]:
        """Split a node by the histograms (m, 256, width) of its columns; return open nodes."""
        node, columns = self.nodes[v], self.columns_to_try(v)
        hist = hist[: len(columns)]
        if v == 0 and not node.n_tried:
            node.sums = hist[0].sum(axis=0)
            self.total = self.criterion.weight(node.sums)
            if not self._is_open(node):
                return []
        node.n_tried += len(columns)
        left = self._best_split(node, columns, hist)
        if left is None:
            return [v] if node.n_tried < self.d else []
        node.left = len(self.nodes)
        for sums in (left, node.sums - left):
            self.nodes.append(Node(sums, node.depth + 1, self.rng.permutation(self.d)))
        return [u for u in (node.left, node.left + 1) if self._is_open(self.nodes[u])]

    def _is_open(self, node: Node) -> bool:
        s = self.settings
        return bool(
            node.depth < s.max_depth
            and node.sums[0] >= max(s.min_split, 2 * s.min_leaf)
            and self.criterion.impurity(node.sums) > PURE
        )

    def _best_split(self, node: Node, columns: NDArray[np.int64], hist: Array) -> Array | None:
        """Set the best split of a node, the first of several; return the sums of its left side."""
        s, found = self.settings, histograms_loops
        only = np.full(len(columns), found.ANY_LEVEL)
        if s.random:
            only = self._drawn(columns, hist)
        left, right, best = np.empty_like(node.sums), np.empty_like(node.sums), np.zeros(3, int)
        least = float(max(s.min_leaf, 1)), s.min_weight
        merit = found.best_split(
            hist, node.sums, self.criterion.kind, only, *least, left, right, best
        )
        if merit == -np.inf:
            return None
        if (merit - self.criterion.merit(node.sums)) / self.total + PURE < s.min_decrease:
            node.n_tried = self.d  # others would be tried for nothing
            return None
        q, level, side = best.tolist()
        missing = hist[q, MISSING]
        chosen = hist[q, : level + 1].sum(axis=0) + (missing if side else 0.0)
        if (chosen if side else node.sums - chosen)[0] == missing[0] > 0:
            # known values go left, those that the sample lacks, too
            level, side, chosen = MISSING - 1, 0, node.sums - missing
        node.column, node.level = int(columns[q]), level
        none = missing[0] == 0  # then what comes goes with most rows
        node.missing_left = bool(2 * chosen[0] > node.sums[0] if none else side)
        return np.asarray(chosen)

    def _drawn(self, columns: NDArray[np.int64], hist: Array) -> NDArray[np.int64]:
        """One level of each column, drawn between the values that a node has; MISSING if none."""
        chosen = np.full(len(hist), MISSING)
        for q, j in enumerate(columns):
            held = np.flatnonzero(hist[q, :MISSING, 0])
            if len(held) > 1:
                between = self.cuts[j, held[0] : held[-1]]
                value = self.rng.uniform(between[0], between[-1])
                chosen[q] = held[0] + np.searchsorted(between, value)
        return chosen

    def finished(self) -> dict[str, Any]:
        """The arrays of `Tree.build`, nodes in preorder."""
        order, parent, waiting = list[int](), list[int](), [(0, -1)]
        while waiting:
            v, above = waiting.pop()
            order.append(v)
            parent.append(above)
            if self.nodes[v].left >= 0:
                place = len(order) - 1
                waiting += [(self.nodes[v].left + 1, place), (self.nodes[v].left, place)]
        nodes = [self.nodes[v] for v in order]
        column = np.array([node.column for node in nodes])
        return {
            "parent": np.array(parent),
            "feature": column,
            "threshold": self.cuts[column, [node.level for node in nodes]],
            "missing_left": np.array([node.missing_left for node in nodes], np.int64),
            "impurity": np.array([self.criterion.impurity(node.sums) for node in nodes]),
            "n_samples": np.array([node.sums[0] for node in nodes]).astype(np.int64),
            "weight": np.array([self.criterion.weight(node.sums) for node in nodes]),
            "value": np.array([self.criterion.value(node.sums) for node in nodes])[:, np.newaxis],
            "depth": np.array([node.depth for node in nodes], np.int32),
        }
