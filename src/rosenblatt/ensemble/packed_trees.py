"""The trees of a forest in one array, for prediction: two numbers a node, siblings together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import threads
from rosenblatt.tree.structure import Tree

CELLS_AT_ONCE = 4_000_000
WORK_IN_NUMPY = 20_000  # rows times trees, below which NumPy answers


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """All trees, and if they have two branches a node, their nodes level by level."""

    trees: list[Tree]
    nodes: NDArray[np.int64] | None  # (N, 2): bits of a threshold; left child, column, NaN bit
    roots: Any = None
    depths: Any = None
    leaf: Any = None  # (N,) place of a leaf in value, -1 for others
    value: Any = None  # (leaves, o K)

    @staticmethod
    def of(trees: list[Tree]) -> "PackedTrees":
        """Pack trees; those with branches for categories stay as they are."""
        if any(tree.is_multiway for tree in trees):
            return PackedTrees(trees, None)
        parts, leaves, values, roots = [], [], [], []
        n_nodes = n_leaves = 0
        for tree in trees:
            nodes, leaf = _packed(tree, n_nodes)
            is_leaf = leaf >= 0
            values.append(tree.value[leaf[is_leaf]].reshape(int(is_leaf.sum()), -1))
            place = np.full(len(leaf), -1, np.int64)
            place[is_leaf] = n_leaves + np.arange(is_leaf.sum())
            parts.append(nodes)
            leaves.append(place)
            roots.append(n_nodes)
            n_nodes += len(nodes)
            n_leaves += int(is_leaf.sum())
        return PackedTrees(
            trees, np.concatenate(parts), np.array(roots), np.array([t.max_depth for t in trees]),
            np.concatenate(leaves), np.concatenate(values),
        )  # fmt: skip

    def mean(self, X: Any) -> NDArray[np.float64]:
        """The mean values (n, o, K) of the leaves of the rows of X."""
        n, shape = X.shape[0], self.trees[0].value.shape[1:]
        out = np.zeros((n, int(np.prod(shape))))

        def work(start: int, stop: int) -> None:
            rows = X[start:stop]
            rows = rows.toarray() if sp.issparse(rows) else np.ascontiguousarray(rows)
            self._add(rows, out[start:stop], n)

        cells = n * len(self.trees) * 10
        if sp.issparse(X):
            cells = max(cells, n * X.shape[1])
        threads.over_chunks(work, n, cells)
        return (out / len(self.trees)).reshape(n, *shape)

    def _add(self, X: NDArray[Any], out: NDArray[np.float64], n: int) -> None:
        if self.nodes is None or n * len(self.trees) < WORK_IN_NUMPY:
            for tree in self.trees:
                out += tree.predict(X).reshape(out.shape)
            return
        from rosenblatt import loops

        loops.forest.add_leaf_values(
            X, self.nodes, self.nodes.view(np.float64), self.roots, self.depths, self.leaf,
            self.value, out,
        )  # fmt: skip


def _packed(tree: Tree, first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes (N, 2) of a tree in breadth-first order from `first` on, and which leaf each is."""
    order, level = [], np.zeros(1, np.int64)
    while len(level):
        order.append(level)
        inner = level[tree.children_left[level] >= 0]
        level = np.column_stack([tree.children_left[inner], tree.children_right[inner]]).ravel()
    ids = np.concatenate(order)
    place = np.empty(tree.node_count, np.int64)
    place[ids] = np.arange(len(ids))
    is_leaf = tree.children_left[ids] < 0
    left = np.where(is_leaf, np.arange(len(ids)), place[tree.children_left[ids]]) + first
    threshold = np.where(is_leaf, np.inf, tree.threshold[ids])
    missing_left = np.where(is_leaf, 1, tree.missing_go_to_left[ids]).astype(np.int64)
    column = np.where(is_leaf, 0, tree.feature[ids]).astype(np.int64)
    nodes = np.empty((len(ids), 2), np.int64)
    nodes[:, 0] = threshold.view(np.int64)
    nodes[:, 1] = (left << 32) | (column << 1) | missing_left
    return nodes, np.where(is_leaf, ids, -1)
