"""A boosted tree that grows by passes: which nodes to measure next, and how each is split.

Leaves are split in the order of their gains, as in memory: `wanted` plays that order through, and
asks for a pass where it comes to a node that was not measured yet.
"""

import heapq
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.ensemble import boosted_split_loops
from rosenblatt.ensemble.boosted_trees import LEAF, BoostedTrees

from .coded_parts import MISSING

Array = NDArray[np.float64]
MOST_NODES = 256  # measured in one pass
NOTHING_GAINED = 1e-12  # of a node's own term


class Shape(NamedTuple):
    """The tests of a tree, by node; leaves have no left child."""

    left: NDArray[np.int64]  # the right child follows
    column: NDArray[np.int64]
    level: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    depth: int

    def nodes_of(self, levels: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The leaf (n,) that each row ends in."""
        at, every = np.zeros(len(levels), np.int64), np.arange(len(levels))
        for _ in range(self.depth):
            level = levels[every, self.column[at]].astype(np.int64)
            left = np.where(level == MISSING, self.missing_left[at], level <= self.level[at])
            at = np.where(self.left[at] >= 0, self.left[at] + ~left, at)
        return at


@dataclass
class Node:
    """A node: its sums (rows, g, h), its best split if it was measured, its children if any."""

    sums: Array
    depth: int
    measured: bool = False
    gain: float = 0.0
    column: int = 0
    level: int = 0
    missing_left: bool = False
    left_sums: Array = field(default_factory=lambda: np.zeros(3))
    left: int = LEAF


class GrowingTree:
    """A tree of boosting; `wanted` names the nodes to measure, `measure` takes their histograms."""

    def __init__(self, model: Any) -> None:
        self.nodes = [Node(np.zeros(3), 0)]
        self.l2, self.least = float(model.l2_regularization), int(model.min_samples_leaf)
        self.most_leaves = model.max_leaf_nodes or MOST_NODES * 256
        self.most_depth = model.max_depth or 2**62
        self.split: list[int] = []  # in order

    def wanted(self) -> list[int]:
        """Play the order of splits through; return the nodes that must be measured to go on."""
        if not self.nodes[0].measured:
            return [0]
        self.split, heap = [], [(-self.nodes[0].gain, 0)]
        while heap and len(self.split) + 1 < self.most_leaves:
            gain, v = heapq.heappop(heap)
            if gain >= 0:
                break
            if not self._has_children(v):
                last = len(self.split) + 2 == self.most_leaves
                if not last:
                    return self._expand([v, *(u for g, u in heap if g < 0)])
                self._add_children(v)
            self.split.append(v)
            for child in (self.nodes[v].left, self.nodes[v].left + 1):
                heapq.heappush(heap, (-self.nodes[child].gain, child))
        return []

    def _has_children(self, v: int) -> bool:
        left = self.nodes[v].left
        return left >= 0 and self.nodes[left].measured

    def _expand(self, places: list[int]) -> list[int]:
        """Children of all nodes that may be split next."""
        wanted: list[int] = []
        for v in places:
            if not self._has_children(v) and len(wanted) < MOST_NODES:
                self._add_children(v)
                wanted += [self.nodes[v].left, self.nodes[v].left + 1]
        return wanted

    def _add_children(self, v: int) -> None:
        node = self.nodes[v]
        if node.left < 0:
            node.left = len(self.nodes)
            sides = node.left_sums, node.sums - node.left_sums
            self.nodes += [Node(side, node.depth + 1) for side in sides]

    def shape(self) -> Shape:
        """All tests there are, of nodes that may not be split in the end, too."""
        nodes = self.nodes
        return Shape(
            np.array([node.left for node in nodes]),
            np.array([node.column for node in nodes]),
            np.array([node.level for node in nodes]),
            np.array([node.missing_left for node in nodes]),
            max(node.depth for node in nodes),
        )

    def measure(self, wanted: list[int], hist: Array) -> None:
        """Find the best splits of nodes by their histograms."""
        for v, own in zip(wanted, hist, strict=True):
            node = self.nodes[v]
            node.measured = True
            if v == 0:
                node.sums = own[0].sum(axis=0)
            if node.depth < self.most_depth:
                self._find_split(node, own)

    def _find_split(self, node: Node, hist: Array) -> None:
        """The split with the highest gain, the first of several."""
        rows, g, h = node.sums
        own = g * g / (h + self.l2 + boosted_split_loops.TINY)
        below, missing = hist[:, : MISSING - 1].cumsum(axis=1), hist[:, MISSING]
        # Two ways for what is missing: right, then left.
        left = np.stack([below, below + missing[:, None]], axis=2)
        right = node.sums - left
        enough = (left[..., 0] >= self.least) & (right[..., 0] >= self.least)
        enough &= np.minimum(left[..., 2], right[..., 2]) >= boosted_split_loops.LEAST_HESSIAN
        enough[missing[:, 0] == 0, :, 1] = False
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = sum(s[..., 1] ** 2 / (s[..., 2] + self.l2) for s in (left, right)) - own
        gain = np.where(enough, gain, -np.inf)
        j, level, side = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[j, level, side] > NOTHING_GAINED * own:
            node.gain, node.column, node.level = float(gain[j, level, side]), int(j), int(level)
            node.left_sums = left[j, level, side]
            none = missing[j, 0] == 0  # then what comes goes with most rows
            node.missing_left = bool(2 * node.left_sums[0] > rows if none else side)

    def finished(self, cuts: Array, learning_rate: float) -> BoostedTrees:
        """The tree of the splits that were made, children beside each other."""
        order, split = [0], set(self.split)
        left = {}
        for v in order:
            if v in split:
                left[v] = len(order)
                order += [self.nodes[v].left, self.nodes[v].left + 1]
        nodes = [self.nodes[v] for v in order]
        inner = np.array([v in split for v in order])
        values = np.array([-n.sums[1] / (n.sums[2] + self.l2 + 1e-300) for n in nodes])
        column = np.array([n.column for n in nodes])
        level = np.array([n.level for n in nodes])
        return BoostedTrees(
            starts=np.array([0, len(order)], np.int64),
            column=np.where(inner, column, LEAF).astype(np.int32),
            left=np.array([left.get(v, LEAF) for v in order], np.int32),
            level=np.where(inner, level, LEAF).astype(np.int16),
            threshold=np.where(inner, cuts[column, level], np.nan),
            missing_left=np.array([n.missing_left for n in nodes]) & inner,
            value=np.where(inner, values, learning_rate * values),
            gain=np.where(inner, [n.gain for n in nodes], 0.0),
            count=np.array([n.sums[0] for n in nodes]).astype(np.int64),
            depth=np.array([n.depth for n in nodes], np.int32),
            sets=np.zeros((0, 4), np.uint64),
        )
