"""A grown tree as arrays: scikit-learn's names, and branches for categories."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

LEAF, UNDEFINED = -1, -2
KNOWN_LEFT, KNOWN_RIGHT, MISSING_BRANCH = 0, 1, 2  # branches of a threshold with NaN apart
ROWS_IN_NUMPY = 4_000  # above, compiled routing pays for itself
CELLS_AT_ONCE = 4_000_000  # of sparse rows that are routed

_ARRAYS = (
    "children_left", "children_right", "feature", "threshold", "missing_go_to_left", "impurity",
    "n_node_samples", "weighted_n_node_samples", "value", "depth", "first_branch", "n_branches",
    "branch_code", "branch_child",
)  # fmt: skip


class Tree:
    """The nodes of a decision tree in preorder: node 0 is the root, its first child node 1.

    Attributes
    ----------
    feature : the column that each node asks for, -2 for a leaf, shape (nodes,).
    threshold : what its value is compared with; NaN where categories branch, -2 for a leaf.
    children_left, children_right : where values up to the threshold go, and those above it; of a
        node that branches by category, its first child and its last; -1 for a leaf.
    missing_go_to_left : whether NaN goes left.
    first_branch, n_branches : where the branches of a node begin in the next two, and how many
        there are; -1 and 0 if it has no more than left and right.
    branch_code, branch_child : the category (or 0 and 1 for left and right, 2 for NaN) and child
        of each branch; NaN of a column of C categories is category C.
    impurity, n_node_samples, weighted_n_node_samples : of the rows of a node.
    value : class shares or targets, shape (nodes, outputs, classes or 1).
    depth : the number of tests above a node.
    n_categories : how many categories a column has, 0 for numbers, shape (d,).
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], n_categories: NDArray[np.int64]) -> None:
        for name in _ARRAYS:
            array = np.ascontiguousarray(arrays[name])
            if array.dtype.kind == "i":  # a forest has many nodes
                array = array.astype(np.int32)
            else:
                array = array.view()
            array.flags.writeable = False
            setattr(self, name, array)
        self.n_categories = n_categories

    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_go_to_left: NDArray[np.uint8]
    impurity: NDArray[np.float64]
    n_node_samples: NDArray[np.int64]
    weighted_n_node_samples: NDArray[np.float64]
    value: NDArray[np.float64]
    depth: NDArray[np.int32]
    first_branch: NDArray[np.int64]
    n_branches: NDArray[np.int64]
    branch_code: NDArray[np.int64]
    branch_child: NDArray[np.int64]

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        """How many columns the data have."""
        return len(self.n_categories)

    @property
    def n_outputs(self) -> int:
        """How many targets there are."""
        return int(self.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """The largest number of classes of a target; 1 for numbers."""
        return int(self.value.shape[2])

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves, shape (nodes,)."""
        return np.asarray(self.children_left == LEAF)

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(self.is_leaf.sum())

    @property
    def is_multiway(self) -> bool:
        """Whether a node has other branches than left and right."""
        return bool((self.first_branch >= 0).any())

    def branches(self, node: int) -> list[tuple[int, int]]:
        """The branches of a node: code and child of each."""
        if self.children_left[node] == LEAF:
            return []
        first = int(self.first_branch[node])
        if first < 0:
            return [
                (KNOWN_LEFT, int(self.children_left[node])),
                (KNOWN_RIGHT, int(self.children_right[node])),
            ]
        stop = first + int(self.n_branches[node])
        codes, children = self.branch_code[first:stop], self.branch_child[first:stop]
        return list(zip(codes.tolist(), children.tolist(), strict=True))

    @property
    def parents(self) -> NDArray[np.int64]:
        """The parent of each node, -1 of the root, shape (nodes,)."""
        parents = np.full(self.node_count, -1, np.int64)
        inner = np.flatnonzero(~self.is_leaf)
        binary = inner[self.first_branch[inner] < 0]
        parents[self.children_left[binary]] = binary
        parents[self.children_right[binary]] = binary
        wide = inner[self.first_branch[inner] >= 0]
        if len(wide):
            parents[self.branch_child] = np.repeat(wide, self.n_branches[wide])
        return parents

    @property
    def max_depth(self) -> int:
        """The largest number of tests before a leaf."""
        return int(self.depth.max())

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row of X (n, d); a category without a branch ends at its node.

        Of sparse rows, blocks of limited size are made dense.
        """
        if sp.issparse(X):
            return np.concatenate([self.apply(block) for _, block in dense_blocks(X)])
        if len(X) == 1:
            return np.array([self._route_one(X[0])], np.int64)
        if len(X) >= ROWS_IN_NUMPY:
            from rosenblatt.runtime import threads

            leaves = np.empty(len(X), np.int64)
            threads.over_chunks(
                lambda start, stop: self.route(X[start:stop], leaves[start:stop]),
                len(X), len(X) * 30,
            )  # fmt: skip
            return leaves
        nodes = np.zeros(len(X), np.int64)
        rows = np.arange(len(X))
        if self.node_count == 1:
            return nodes
        while len(rows):
            here = nodes[rows]
            there = self.step(X, rows, here)
            nodes[rows] = there
            moves = (there != here) & (self.children_left[there] != LEAF)
            rows = rows[moves]
        return nodes

    def route(self, X: NDArray[Any], leaves: NDArray[np.int64]) -> None:
        """Write the leaf of each row of X (n, d) to leaves (n,), compiled and on one thread."""
        from . import routing_loops

        routing_loops.route(
            np.ascontiguousarray(X), self.feature, self.threshold, self.children_left,
            self.children_right, self.missing_go_to_left, self.first_branch, self.n_branches,
            self.branch_code, self.branch_child, self.n_categories, leaves,
        )  # fmt: skip

    def _route_one(self, x: NDArray[Any]) -> int:
        """The leaf of one row (d,)."""
        feature, threshold, left = self.feature, self.threshold, self.children_left
        if self.is_multiway:
            X, node = x[np.newaxis], np.zeros(1, np.int64)
            row = np.zeros(1, np.int64)
            while left[node[0]] != LEAF:
                child = self.step(X, row, node)
                if child[0] == node[0]:
                    break
                node = child
            return int(node[0])
        node_, values = 0, x.tolist()
        while (child_ := left.item(node_)) != LEAF:
            value = values[feature.item(node_)]
            goes = value <= threshold.item(node_) if value == value else (
                self.missing_go_to_left.item(node_)
            )  # fmt: skip
            node_ = child_ if goes else self.children_right.item(node_)
        return node_

    def step(
        self, X: NDArray[Any], rows: NDArray[np.int64], nodes: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The child of inner nodes (m,) that rows (m,) of X go to; the node itself if none."""
        values = X[rows, self.feature[nodes]]
        missing = np.isnan(values)
        left = np.where(
            missing, self.missing_go_to_left[nodes] > 0, values <= self.threshold[nodes]
        )
        children = np.where(left, self.children_left[nodes], self.children_right[nodes])
        wide = np.flatnonzero(self.first_branch[nodes] >= 0)
        if len(wide):
            n_categories = self.n_categories[self.feature[nodes[wide]]]
            code = np.where(missing[wide], MISSING_BRANCH, np.where(left[wide], 0, 1))
            is_category = n_categories > 0  # a number may be too large for a code
            known = np.where(missing[wide], n_categories, values[wide])
            code = np.where(is_category, known, code).astype(np.int64)
            children[wide] = self._branch_of(nodes[wide], code)
        return children

    def _branch_of(self, nodes: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The child of each node for a code; the node itself if it has no such branch."""
        keys, room = self._branch_keys
        wanted = nodes * room + np.minimum(codes, room - 1)
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (keys[found] == wanted) & (codes >= 0)
        return np.where(known, self.branch_child[found], nodes)

    @cached_property
    def _branch_keys(self) -> tuple[NDArray[np.int64], int]:
        """A number for each branch, rising: its node times the number beside them, and its code."""
        inner, room = np.flatnonzero(self.n_branches), int(self.branch_code.max()) + 2
        return np.repeat(inner, self.n_branches[inner]) * room + self.branch_code, room

    def decision_path(self, X: Any) -> sp.csr_matrix:
        """Return which nodes (n, nodes) each row passes through."""
        ends, parents = self.apply(X), self.parents
        indptr = np.concatenate([[0], np.cumsum(self.depth[ends] + 1)])
        indices = np.empty(indptr[-1], np.int64)
        node, place, rows = ends.copy(), indptr[1:] - 1, np.arange(len(ends))
        while len(rows):
            indices[place[rows]] = node[rows]
            node[rows] = parents[node[rows]]
            place[rows] -= 1
            rows = rows[node[rows] >= 0]
        ones = np.ones(len(indices), np.int64)
        return sp.csr_matrix((ones, indices, indptr), shape=(len(ends), self.node_count))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the values of the leaves of the rows, shape (n, outputs, classes)."""
        return np.asarray(self.value[self.apply(X)])

    def gains(self) -> NDArray[np.float64]:
        """How much each node's split lowers the impurity, times its weight; 0 for a leaf."""
        mass = self.weighted_n_node_samples * self.impurity
        below, parents = np.zeros(self.node_count), self.parents
        np.add.at(below, parents[1:], mass[1:])
        return np.where(self.is_leaf, 0.0, mass - below)

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """Return the share of each column (d,) in all that splits gained."""
        gains, inner = self.gains(), ~self.is_leaf
        total = np.bincount(self.feature[inner], gains[inner], minlength=self.n_features)
        total = total / self.weighted_n_node_samples[0]
        if normalize and total.sum() > 0:
            total = total / total.sum()
        return np.asarray(total, np.float64)

    def cut(self, leaves: NDArray[np.bool_]) -> "Tree":
        """Return the tree whose marked nodes (nodes,) are leaves, with all below them gone."""
        parents = self.parents
        kept = np.ones(self.node_count, bool)
        inside = leaves & ~self.is_leaf
        for level in _levels(self.depth)[1:]:
            above = parents[level]
            kept[level] = kept[above] & ~inside[above]
        new = np.cumsum(kept) - 1
        arrays = {name: array[kept].copy() for name, array in self.arrays.items() if _by_node(name)}
        becomes_leaf = inside[kept]
        for name in ("children_left", "children_right"):
            child = arrays[name]
            arrays[name] = np.where((child < 0) | becomes_leaf, LEAF, new[child])
        arrays["feature"][becomes_leaf] = UNDEFINED
        arrays["threshold"][becomes_leaf] = UNDEFINED
        arrays["missing_go_to_left"][becomes_leaf] = 0
        alive = kept[self.branch_child] if len(self.branch_child) else np.zeros(0, bool)
        arrays["branch_code"] = self.branch_code[alive]
        arrays["branch_child"] = new[self.branch_child[alive]]
        first = arrays["first_branch"]
        shifted = np.concatenate([[0], np.cumsum(alive)])
        arrays["first_branch"] = np.where((first < 0) | becomes_leaf, -1, shifted[first])
        arrays["n_branches"][becomes_leaf] = 0
        return Tree(arrays, self.n_categories)

    def voting(self, weight: float) -> "Tree":
        """Return the tree whose nodes hold `weight` for their largest class, and else zeros."""
        votes = weight * (np.arange(self.max_n_classes) == self.value.argmax(axis=2)[..., None])
        return Tree(dict(self.arrays, value=votes), self.n_categories)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(self.arrays.values(), other.arrays.values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_branch_keys"}

    def __repr__(self) -> str:
        return f"<Tree: {self.node_count} nodes, {self.n_leaves} leaves, depth {self.max_depth}>"


def dense_blocks(X: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """The rows of X in dense blocks, with where each begins: one, or of CSR rows limited ones."""
    if not sp.issparse(X):
        yield 0, X
        return
    step = max(1, CELLS_AT_ONCE // X.shape[1])
    for first in range(0, X.shape[0], step):
        yield first, X[first : first + step].toarray()


def _by_node(name: str) -> bool:
    return name not in ("branch_code", "branch_child")


def _levels(depths: NDArray[Any]) -> list[NDArray[np.int64]]:
    """The nodes of each depth."""
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depths))[:-1])
