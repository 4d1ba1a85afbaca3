"""Distances of all pairs of n points X (n, d), some rows at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from rosenblatt.runtime import threads

from . import linkage_loops

Table = NDArray[np.float64]

NOT_FINITE = (
    "Some distances are not finite: scale the columns down (or up, if below 1e-150). Some metrics "
    "are not defined for rows of zeros, or of equal numbers."
)
SCIPY_NAMES = {"l1": "cityblock", "manhattan": "cityblock"}


class Distances:
    """The distances of n points by a metric of SciPy or scikit-learn."""

    def __init__(self, X: Table, metric: str) -> None:
        self.X, self.n, self.metric = X, len(X), SCIPY_NAMES.get(metric, metric)

    def rows(self, start: int, stop: int, first: int = 0) -> Table:
        """Return the distances of points start to stop from points `first` and higher."""
        measure = pairwise_distances if self.metric in ("haversine", "nan_euclidean") else cdist
        return np.asarray(measure(self.X[start:stop], self.X[first:], metric=self.metric))

    def matrix(self) -> Table:
        """Return all distances (n, n), with infinity on the diagonal."""
        D = np.empty((self.n, self.n))

        def work(start: int, stop: int) -> None:
            with np.errstate(over="ignore"):
                D[start:stop, start:] = self.rows(start, stop, start)
            if not D[start:stop, start:].max() < np.inf:  # infinite or NaN
                raise ValueError(NOT_FINITE)

        threads.over_chunks(work, self.n, self.n * self.n)
        mirror(D)
        np.fill_diagonal(D, np.inf)
        return D


class Euclidean(Distances):
    """Euclidean distances by a compiled loop; or their squares."""

    def __init__(self, X: Table, squared: bool = False) -> None:
        self.X, self.n, self.squared = X, len(X), squared
        width = linkage_loops.BLOCK
        n_blocks = -(-self.n // width)
        padded = np.zeros((n_blocks * width, X.shape[1]))
        padded[: self.n] = X
        self.blocks = np.ascontiguousarray(padded.reshape(n_blocks, width, -1).transpose(0, 2, 1))

    def rows(self, start: int, stop: int, first: int = 0) -> Table:
        return self.of(self.X[start:stop], first)

    def of(self, Q: Table, first: int = 0) -> Table:
        """Return the distances of other points Q (m, d) from points `first` and higher."""
        block, skip = divmod(first, linkage_loops.BLOCK)
        out = np.empty((len(Q), (len(self.blocks) - block) * linkage_loops.BLOCK))
        linkage_loops.squared_rows(self.blocks, Q, 0, len(Q), block, out)
        found = out[:, skip : skip + self.n - first]
        return found if self.squared else np.sqrt(found, out=found)


class Precomputed(Distances):
    """Precomputed distances (n, n)."""

    def __init__(self, D: NDArray[Any]) -> None:
        self.D, self.n = D, len(D)

    def rows(self, start: int, stop: int, first: int = 0) -> Table:
        return np.asarray(self.D[start:stop, first:], np.float64)


def mirror(D: Table) -> None:
    """Copy the upper triangle of a square matrix to the lower one."""
    n_parts = -(-len(D) // linkage_loops.SIDE)
    threads.over_chunks(lambda a, b: linkage_loops.mirror(D, a, b), n_parts, D.size)
