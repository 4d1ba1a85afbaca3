"""Send rows down one tree after another: blocks of rows, packed nodes, means of values."""

import sys
from collections.abc import Sequence
from math import prod
from typing import Any
from weakref import ref

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.loops.rows import read_only, some_rows, summed_duplicates
from rosenblatt.runtime import threads

from . import routing_loops

ROWS_WITHOUT_NUMBA = 50  # walked in Python while Numba is not loaded, which takes a second
ROWS_AT_ONCE = 16_384  # routed by one tree after another
CELLS_AT_ONCE = 500_000  # of those rows, which then stay in the cache
SPARSE_ROWS_AT_ONCE = 128  # made dense together


def routed_rows(X: Any, start: int, stop: int) -> tuple[Any, Any]:
    """Return rows of X, dense or CSR, and the second argument of `routing_loops.route`."""
    rows = some_rows(X, start, stop, (X.dtype,))
    if sp.issparse(X):
        m = max(1, min(SPARSE_ROWS_AT_ONCE, CELLS_AT_ONCE // X.shape[1], stop - start))
        return rows, np.zeros((m, X.shape[1]), X.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isnan(rows.sum()):
            return rows, np.uint64(1)
    pairs = np.stack([np.where(np.isnan(rows), X.dtype.type(-np.inf), rows), rows], axis=2)
    return read_only(pairs.reshape(len(rows), -1)), np.uint64(0)


class PackedTrees:
    """The nodes of several binary trees one after the other, and the values of their leaves.

    The first of the trees keeps them for the next call.
    """

    def __init__(self, trees: Sequence[Any], votes: NDArray[np.float64] | None) -> None:
        self.trees = [ref(tree) for tree in trees]
        self.votes: Any = None if votes is None else votes.copy()  # weights may be changed in place
        self.starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        self.nodes = np.empty(2 * self.starts[-1], np.uint64)
        self.value = np.empty((self.starts[-1], prod(trees[0].value.shape[1:])))
        for t, (tree, start) in enumerate(zip(trees, self.starts, strict=False)):
            stop = start + tree.node_count
            order = tree.pack(self.nodes[2 * start : 2 * stop])
            value = tree.value if votes is None else votes[t] * tree.votes
            value = value.reshape(len(value), -1)
            np.take(value, order, axis=0, out=self.value[start:stop], mode="clip")

    @staticmethod
    def of(trees: Sequence[Any], votes: Any) -> "PackedTrees":
        """Return the nodes of these trees; with `votes` (trees,), their votes times these."""
        kept: PackedTrees | None = vars(trees[0]).get("_packed_trees")
        # By identity, as comparing the arrays of trees would take long.
        same = kept is not None and [id(t()) for t in kept.trees] == [id(t) for t in trees]
        if kept is not None and same and np.array_equal(votes, kept.votes):  # or both None
            return kept
        kept = vars(trees[0])["_packed_trees"] = PackedTrees(trees, votes)
        return kept

    def add(self, X: Any, start: int, stop: int, out: NDArray[np.float64]) -> None:
        """Add the values of the leaves of rows of X to out (stop - start, S)."""
        scratch = np.empty((2, routing_loops.ROWS_AT_ONCE), np.uint64)
        routing_loops.add_leaf_values(
            *routed_rows(X, start, stop), self.nodes, self.nodes.view(np.float64), self.starts,
            self.value, scratch, out,
        )  # fmt: skip


def mean_values(
    trees: Sequence[Any], X: Any, votes: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the mean over the trees of the values (n, outputs, classes) of the rows of X.

    With weights of votes (trees,), the mean of the votes times these.
    """
    X = canonical_rows(X)
    n, shape = X.shape[0], trees[0].value.shape[1:]
    out = np.zeros((n, *shape))
    packed = None
    if not is_without_numba(X) and not any(tree.is_multiway for tree in trees):
        packed = PackedTrees.of(trees, votes)
    each = -(-n // threads.count())
    size = max(1, min(ROWS_AT_ONCE, each if sp.issparse(X) else CELLS_AT_ONCE // X.shape[1], each))

    def add(first: int, last: int) -> None:
        for start in range(first * size, min(last * size, n), size):
            stop = min(start + size, n)
            sums = out[start:stop]
            if packed is not None:
                packed.add(X, start, stop, sums.reshape(stop - start, -1))
                continue
            for t, tree in enumerate(trees):
                value = tree.value if votes is None else votes[t] * tree.votes
                sums += value[tree.leaves_of(X, start, stop)]

    threads.over_chunks(add, -(-n // size), n * max(len(trees) * 10, X.shape[1]))
    return out / len(trees)


def canonical_rows(X: Any) -> Any:
    """Return sparse rows of any format as CSR without duplicates, dense rows as they are."""
    return summed_duplicates(X.tocsr()) if sp.issparse(X) else X


def is_without_numba(X: Any) -> bool:
    """Whether rows are so few that loading Numba would take longer than plain Python."""
    return X.shape[0] <= ROWS_WITHOUT_NUMBA and "numba" not in sys.modules
