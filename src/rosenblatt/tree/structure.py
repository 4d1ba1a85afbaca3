"""A grown tree as arrays: scikit-learn's names, and branches for categories."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.loops.rows import read_only
from rosenblatt.runtime import threads

from . import routing, routing_loops
from .tree_loops import TO_THE_HEAVIER

LEAF, UNDEFINED = -1, -2
KNOWN_LEFT, KNOWN_RIGHT, MISSING_BRANCH = 0, 1, 2  # branches of a threshold with NaN apart

_ARRAYS = (
    "children_left", "children_right", "feature", "threshold", "missing_go_to_left", "impurity",
    "n_node_samples", "weighted_n_node_samples", "value", "depth", "first_branch", "n_branches",
    "branch_code", "branch_child",
)  # fmt: skip


class Tree:
    """The nodes of a decision tree in preorder: node 0 is the root, its first child node 1.

    The arrays are read-only: a prediction keeps what it computed from them for the next one.

    Attributes
    ----------
    feature : the column that each node tests, -2 for a leaf, shape (nodes,).
    threshold : values up to it go left; NaN where categories branch, -2 for a leaf.
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

    @staticmethod
    def build(
        *, parent: NDArray[Any], feature: Any, threshold: Any, missing_left: Any, impurity: Any,
        n_samples: Any, weight: Any, value: Any, depth: Any, n_categories: NDArray[np.int64],
        code: NDArray[Any] | None = None,
    ) -> "Tree":  # fmt: skip
        """Return the tree of nodes in preorder, each with the number of its parent.

        Entries of leaves in feature, threshold and missing_left (nodes,) are not read; NaN goes to
        the heavier child of a node where missing_left is -1. code (nodes,) is the branch that leads
        to a node; None if there are no branches but left and right.
        """
        above, nodes = parent[1:], np.arange(len(parent))
        right = np.full(len(parent), LEAF)
        right[above] = nodes[1:]  # the last child
        leaf = right < 0
        left = np.where(leaf, LEAF, nodes + 1)
        first, n_branches = np.full(len(parent), -1), np.zeros(len(parent), np.int64)
        feature = np.where(leaf, 0, feature)
        by_category = ~leaf & (n_categories[feature] > 0)
        wide = by_category.copy()
        if code is not None:
            wide[above[code[1:] == MISSING_BRANCH]] = True
        children = nodes[:0]
        if wide.any():
            children = 1 + np.flatnonzero(wide[above])
            children = children[np.argsort(parent[children], kind="stable")]
            n_branches = np.where(wide, np.bincount(above, minlength=len(parent)), 0)
            first = np.where(wide, np.cumsum(n_branches) - n_branches, -1)
            by_threshold = np.flatnonzero(wide & ~by_category)  # NaN may be a third child
            right[by_threshold] = children[first[by_threshold] + 1]
        heavier = weight[left] > weight[right]
        arrays = {
            "children_left": left, "children_right": right,
            "feature": np.where(leaf, UNDEFINED, feature),
            "threshold": np.where(leaf, UNDEFINED, np.where(by_category, np.nan, threshold)),
            "missing_go_to_left": np.where(missing_left == TO_THE_HEAVIER, heavier, missing_left)
            .astype(np.uint8) * ~leaf,
            "impurity": impurity, "n_node_samples": n_samples, "weighted_n_node_samples": weight,
            "value": value, "depth": depth, "first_branch": first, "n_branches": n_branches,
            "branch_code": children if code is None else code[children], "branch_child": children,
        }  # fmt: skip
        return Tree(arrays, n_categories)

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
        return len(self.branch_code) > 0

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
        """Return the leaf of each row of X (n, d); a category without a branch ends at its node."""
        X = routing.canonical_rows(X)
        n = X.shape[0]
        leaves = np.empty(n, np.int64)

        def route(start: int, stop: int) -> None:
            leaves[start:stop] = self.leaves_of(X, start, stop)

        threads.over_chunks(route, n, n * 30)
        return leaves

    def leaves_of(self, X: Any, start: int, stop: int) -> NDArray[np.int64]:
        """Return the leaf of each row of X, dense or CSR, from `start` to `stop`."""
        leaves = np.empty(stop - start, np.int64)
        if not self.is_multiway and not routing.is_without_numba(X):
            scratch = np.empty((2, routing_loops.ROWS_AT_ONCE), np.uint64)
            routing_loops.route(
                *routing.routed_rows(X, start, stop), *self._packed, scratch, leaves
            )
            return leaves
        if sp.issparse(X):  # in blocks, as dense rows take much memory
            size = max(1, routing.CELLS_AT_ONCE // X.shape[1])
            for first in range(start, stop, size):
                block = X[first : min(first + size, stop)].toarray()
                leaves[first - start :][: len(block)] = self.leaves_of(block, 0, len(block))
        elif routing.is_without_numba(X):
            leaves[:] = [self._leaf_of(x.tolist()) for x in X[start:stop]]
        else:
            routing_loops.route_by_branches(
                read_only(X[start:stop]), self.feature, self.threshold, self.children_left,
                self.children_right, self.missing_go_to_left, self.first_branch, self.n_branches,
                self.branch_code, self.branch_child, self.n_categories, leaves,
            )  # fmt: skip
        return leaves

    @cached_property
    def _packed(self) -> tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.int32]]:
        """The nodes as `routing_loops.route` reads them."""
        nodes = np.empty(2 * self.node_count, np.uint64)
        order = self.pack(nodes)
        return nodes, nodes.view(np.float64), order

    def pack(self, nodes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Write the nodes to nodes (2 N,) as `routing_loops` reads them; return their numbers."""
        order, waiting = np.empty((2, self.node_count), np.int32)
        routing_loops.pack_nodes(
            self.children_left, self.children_right, self.feature, self.threshold,
            self.missing_go_to_left, self.n_node_samples, order, waiting, nodes,
            nodes.view(np.float64),
        )  # fmt: skip
        return order

    def _leaf_of(self, x: list[float]) -> int:
        """Return the leaf of one row."""
        node = 0
        while self.children_left[node] != LEAF:
            j = int(self.feature[node])
            known, n_categories = x[j] == x[j], int(self.n_categories[j])
            code = KNOWN_LEFT if x[j] <= self.threshold[node] else KNOWN_RIGHT
            if n_categories and self.first_branch[node] >= 0:
                code = int(x[j]) if known else n_categories
            elif not known and self.first_branch[node] >= 0:
                code = MISSING_BRANCH
            elif not known and self.missing_go_to_left[node]:
                code = KNOWN_LEFT
            child = dict(self.branches(node)).get(code)
            if child is None:
                break
            node = child
        return node

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
        return np.take(self.value, self.apply(X), axis=0)

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

    @cached_property
    def votes(self) -> NDArray[np.float64]:
        """Ones for the largest class of each node, and else zeros, as `value`."""
        largest = self.value.argmax(axis=2)[..., np.newaxis]
        return np.where(np.arange(self.max_n_classes) == largest, 1.0, 0.0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(self.arrays.values(), other.arrays.values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))  # a copy: another thread may be setting what is cached
        for name in ("_packed", "_packed_trees", "votes"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for name in _ARRAYS:  # copies of arrays are writable
            getattr(self, name).flags.writeable = False

    def __repr__(self) -> str:
        return f"<Tree: {self.node_count} nodes, {self.n_leaves} leaves, depth {self.max_depth}>"


def _by_node(name: str) -> bool:
    return name not in ("branch_code", "branch_child")


def _levels(depths: NDArray[Any]) -> list[NDArray[np.int64]]:
    """The nodes of each depth."""
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depths))[:-1])
