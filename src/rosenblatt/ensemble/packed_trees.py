"""The trees of a forest in one array, for prediction: two numbers a node, siblings together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops
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
    def of(trees: list[Tree], n_rows: int) -> "PackedTrees":
        """Pack trees, unless there are few rows to predict or branches for categories."""
        few = n_rows * len(trees) < WORK_IN_NUMPY
        if few or any(tree.is_multiway for tree in trees):
            return PackedTrees(trees, None)
        n_nodes = np.cumsum([0, *(tree.node_count for tree in trees)])
        nodes, leaf = np.empty((n_nodes[-1], 2), np.int64), np.empty(n_nodes[-1], np.int64)
        values, n_leaves = [], 0
        for tree, first, last in zip(trees, n_nodes[:-1], n_nodes[1:], strict=True):
            queue = np.empty(tree.node_count, np.int64)
            n_leaves += loops.tree_values.pack_tree(
                tree.children_left, tree.children_right, tree.feature,
                tree.threshold.view(np.int64), tree.missing_go_to_left, int(first), n_leaves,
                queue, nodes[first:last], leaf[first:last],
            )  # fmt: skip
            ends = queue[leaf[first:last] >= 0]
            values.append(tree.value[ends].reshape(len(ends), -1))
        depths = np.array([tree.max_depth for tree in trees])
        return PackedTrees(trees, nodes, n_nodes[:-1], depths, leaf, np.concatenate(values))

    def mean(self, X: Any) -> NDArray[np.float64]:
        """The mean values (n, o, K) of the leaves of the rows of X."""
        n, shape = X.shape[0], self.trees[0].value.shape[1:]
        out = np.zeros((n, int(np.prod(shape))))

        def work(start: int, stop: int) -> None:
            rows = X[start:stop]
            rows = rows.toarray() if sp.issparse(rows) else np.ascontiguousarray(rows)
            self._add(rows, out[start:stop])

        cells = n * len(self.trees) * 10
        if sp.issparse(X):
            cells = max(cells, n * X.shape[1])
        threads.over_chunks(work, n, cells)
        return (out / len(self.trees)).reshape(n, *shape)

    def _add(self, X: NDArray[Any], out: NDArray[np.float64]) -> None:
        if self.nodes is None:
            for tree in self.trees:
                out += tree.predict(X).reshape(out.shape)
            return
        loops.forest.add_leaf_values(
            X, self.nodes, self.nodes.view(np.float64), self.roots, self.depths, self.leaf,
            self.value, out,
        )  # fmt: skip
