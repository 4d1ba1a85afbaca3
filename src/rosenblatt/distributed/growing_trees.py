"""Trees that grow node by node on histograms: what a split gains, and which nodes come next."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.tree.settings import Settings
from rosenblatt.tree.structure import LEAF, UNDEFINED

from .coded_parts import MISSING

Array = NDArray[np.float64]
PURE = 1e-12  # of an impurity, times the weight


class Criterion:
    """Impurities by sums (..., 1 + K): rows, then weights of classes; or numbers, sums, squares."""

    def __init__(self, kind: str, price: Array, centre: float) -> None:
        self.kind, self.price, self.centre = kind, price, centre
        self.width = 4 if kind == "numbers" else 1 + len(price)

    def weighed(self, sums: Array) -> Array:
        """Sums whose classes have their prices."""
        if self.kind == "numbers":
            return sums
        return np.asarray(sums * np.append(1.0, self.price))

    def weight(self, sums: Array) -> Array:
        """The weight of some rows."""
        return np.asarray(sums[..., 1] if self.kind == "numbers" else sums[..., 1:].sum(axis=-1))

    def merit(self, sums: Array) -> Array:
        """Less the impurity times the weight, but for what all splits of a node share."""
        weight = self.weight(sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "numbers":
                found = sums[..., 2] ** 2 / weight
            elif self.kind == "gini":
                found = (sums[..., 1:] ** 2).sum(axis=-1) / weight
            else:
                found = _plogp(sums[..., 1:]).sum(axis=-1) - _plogp(weight)
        return np.where(weight > 0, found, 0.0)

    def impurity(self, sums: Array) -> float:
        """The impurity of one node."""
        weight, merit = float(self.weight(sums)), float(self.merit(sums))
        if self.kind == "numbers":
            return max(0.0, float(sums[3] - merit) / weight)
        return max(0.0, 1 - merit / weight if self.kind == "gini" else -merit / weight)

    def value(self, sums: Array) -> Array:
        """Class shares, or the mean (1,)."""
        if self.kind == "numbers":
            return np.array([self.centre + sums[2] / sums[1]])
        return np.asarray(sums[1:] / sums[1:].sum())


def _plogp(weights: Array) -> Array:
    return np.asarray(weights * np.log2(np.where(weights > 0, weights, 1.0)))


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
        self.n_tried = min(settings.max_features or self.d, self.d)
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
        hist = self.criterion.weighed(hist[: len(columns)])
        if v == 0 and not node.n_tried:
            node.sums = hist[0].sum(axis=0)
            self.total = float(self.criterion.weight(node.sums))
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
            and node.sums[0] >= max(s.min_samples_split, 2 * s.min_samples_leaf)
            and self.criterion.impurity(node.sums) > PURE
        )

    def _best_split(self, node: Node, columns: NDArray[np.int64], hist: Array) -> Array | None:
        """Set the best split of a node, the first of several; return the sums of its left side."""
        below, missing = hist[:, : MISSING - 1].cumsum(axis=1), hist[:, MISSING]
        left = below[:, :, None]
        if missing[:, 0].any():  # which go right, or left
            left = np.stack([below, below + missing[:, None]], axis=2)
        right = node.sums - left
        s, weight = self.settings, self.criterion.weight
        allowed = np.minimum(left[..., 0], right[..., 0]) >= max(s.min_samples_leaf, 1)
        allowed &= np.minimum(weight(left), weight(right)) >= s.min_weight_leaf
        allowed[missing[:, 0] == 0, :, 1:] = False
        if s.random_thresholds:
            allowed &= self._drawn(columns, hist)[:, :, None]
        if not allowed.any():
            return None
        gain = np.where(allowed, self.criterion.merit(left) + self.criterion.merit(right), -np.inf)
        q, level, side = (int(place) for place in np.unravel_index(gain.argmax(), gain.shape))
        gained = float(gain[q, level, side] - self.criterion.merit(node.sums))
        if gained / self.total + PURE < s.min_impurity_decrease:
            node.n_tried = self.d  # others would be tried for nothing
            return None
        chosen = left[q, level, side]
        apart = (left if side else right)[q, level, side, 0] == missing[q, 0] > 0
        if apart:  # known values go left, those that the sample lacks, too
            level, side, chosen = MISSING - 1, 0, node.sums - missing[q]
        node.column, node.level = int(columns[q]), level
        none = missing[q, 0] == 0  # then what comes goes with most rows
        node.missing_left = bool(2 * chosen[0] > node.sums[0] if none else side)
        return np.asarray(chosen)

    def _drawn(self, columns: NDArray[np.int64], hist: Array) -> NDArray[np.bool_]:
        """One threshold of each column, drawn between the values that a node has."""
        chosen = np.zeros((len(hist), MISSING - 1), bool)
        for q, j in enumerate(columns):
            held = np.flatnonzero(hist[q, :MISSING, 0])
            if len(held) > 1:
                between = self.cuts[j, held[0] : held[-1]]
                value = self.rng.uniform(between[0], between[-1])
                chosen[q, held[0] + np.searchsorted(between, value)] = True
        return chosen

    def finished(self) -> dict[str, Any]:
        """The arrays of the tree, nodes in preorder."""
        order, waiting = list[int](), [0]
        while waiting:
            v = waiting.pop()
            order.append(v)
            if self.nodes[v].left >= 0:
                waiting += [self.nodes[v].left + 1, self.nodes[v].left]
        place = {v: k for k, v in enumerate(order)}
        nodes = [self.nodes[v] for v in order]
        inner = np.array([node.left >= 0 for node in nodes])
        column = np.array([node.column for node in nodes])
        level = np.array([node.level for node in nodes])
        none = np.full(len(nodes), -1, np.int64)
        return {
            "children_left": np.array([place.get(node.left, LEAF) for node in nodes]),
            "children_right": np.array([place.get(node.left + 1, LEAF) if node.left >= 0 else LEAF
                                        for node in nodes]),
            "feature": np.where(inner, column, UNDEFINED),
            "threshold": np.where(inner, self.cuts[column, level], float(UNDEFINED)),
            "missing_go_to_left": np.array([n.missing_left for n in nodes], np.uint8) * inner,
            "impurity": np.array([self.criterion.impurity(node.sums) for node in nodes]),
            "n_node_samples": np.array([node.sums[0] for node in nodes]).astype(np.int64),
            "weighted_n_node_samples": self.criterion.weight(np.array([n.sums for n in nodes])),
            "value": np.array([self.criterion.value(node.sums) for node in nodes])[:, np.newaxis],
            "depth": np.array([node.depth for node in nodes], np.int32),
            "first_branch": none,
            "n_branches": np.zeros_like(none),
            "branch_code": none[:0],
            "branch_child": none[:0],
        }  # fmt: skip
