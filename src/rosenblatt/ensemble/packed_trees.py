"""The trees of a forest in one array, for prediction: one number a node, siblings together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import threads
from rosenblatt.tree import routing_loops, values_loops
from rosenblatt.tree.structure import Tree

ROWS_AT_ONCE = 8_192  # that go down a tree while it is in the cache
CELLS_AT_ONCE = 2_000_000  # fewer rows of many columns, which may be sparse
WORK_IN_NUMPY = 20_000  # rows times trees, below which NumPy answers
MOST_THRESHOLDS = 2**16 - 3  # of a column: a rank has 16 bits
MOST_COLUMNS = 2**15  # each has two ranks


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """All trees, and if they have two branches a node, their nodes level by level."""

    trees: list[Tree]
    compiled: bool = False  # whether there are rows enough
    thresholds: Any = None  # those of each column, sorted, without repetition
    starts: Any = None  # (d + 1,) where the thresholds of each column begin
    nodes: Any = None  # (N,) left child, column, rank of the threshold
    roots: Any = None
    leaf: Any = None  # (N,) place of a leaf in value
    value: Any = None  # (leaves, o K)

    @staticmethod
    def of(trees: list[Tree], n_rows: int) -> "PackedTrees":
        """Pack trees, unless there are few rows to predict, branches for categories, or too many
        thresholds.
        """
        few = n_rows * len(trees) < WORK_IN_NUMPY
        n_nodes = np.cumsum([0, *(tree.node_count for tree in trees)])
        wide = trees[0].n_features > MOST_COLUMNS or n_nodes[-1] >= 2**31
        if few or wide or any(tree.is_multiway for tree in trees):
            return PackedTrees(trees, not few)
        feature = np.concatenate([tree.feature for tree in trees])
        threshold = np.concatenate([tree.threshold for tree in trees])
        thresholds, starts, ranks = rank_thresholds(feature, threshold, trees[0].n_features)
        if np.diff(starts).max(initial=0) > MOST_THRESHOLDS:
            return PackedTrees(trees, True)
        nodes, leaf = np.empty(n_nodes[-1], np.int64), np.empty(n_nodes[-1], np.int32)
        values, n_leaves = [], 0
        for tree, first, last in zip(trees, n_nodes[:-1], n_nodes[1:], strict=True):
            queue = np.empty(tree.node_count, np.int64)
            found = values_loops.pack_tree(
                tree.children_left, tree.children_right, tree.feature, ranks[first:last],
                tree.missing_go_to_left, tree.n_features, int(first), n_leaves, queue,
                nodes[first:last], leaf[first:last],
            )  # fmt: skip
            ends = queue[tree.children_left[queue] < 0]
            values.append(tree.value[ends].reshape(found, -1))
            n_leaves += found
        return PackedTrees(
            trees, True, thresholds, starts, nodes.view(np.uint64), n_nodes[:-1], leaf,
            np.concatenate(values),
        )  # fmt: skip

    def mean(self, X: Any) -> NDArray[np.float64]:
        """The mean values (n, o, K) of the leaves of the rows of X."""
        n, shape = X.shape[0], self.trees[0].value.shape[1:]
        out = np.zeros((n, int(np.prod(shape))))
        each = -(-n // threads.count())
        size = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // X.shape[1], each))

        def work(first: int, last: int) -> None:
            for i in range(first * size, min(last * size, n), size):
                rows = X[i : i + size]
                rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
                self._add(rows, out[i : i + size])

        blocks = -(-n // size)
        threads.over_chunks(work, blocks, n * max(len(self.trees) * 10, X.shape[1]))
        return (out / len(self.trees)).reshape(n, *shape)

    def _add(self, X: NDArray[Any], out: NDArray[np.float64]) -> None:
        if self.nodes is None:
            leaves = np.empty(len(X), np.int64)
            for tree in self.trees:
                if self.compiled:
                    tree.route(X, leaves)
                else:
                    leaves = tree.apply(X)
                out += tree.value[leaves].reshape(out.shape)
            return
        n, d = X.shape
        ranks, columns = np.empty((n, 2 * d), np.uint16), np.ascontiguousarray(X.T, np.float64)
        routing_loops.rank_columns(
            columns, self.thresholds, self.starts, np.empty(n, np.int64), ranks
        )
        routing_loops.add_leaf_values(
            ranks.ravel(), self.nodes, self.roots, self.leaf, self.value, out
        )


def rank_thresholds(
    feature: NDArray[Any], threshold: NDArray[np.float64], d: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct thresholds of each column, where they begin, and the rank of each node's."""
    inner = np.flatnonzero(feature >= 0)
    order = inner[np.argsort(feature[inner].astype(np.uint16), kind="stable")]  # a radix sort
    ends = np.cumsum(np.bincount(feature[inner], minlength=d))
    values, ranks = [], np.zeros(len(feature), np.int64)
    for nodes in np.split(order, ends[:-1]):
        distinct, ranks[nodes] = np.unique(threshold[nodes], return_inverse=True)
        values.append(distinct)
    return np.concatenate(values), np.cumsum([0, *map(len, values)]), ranks
