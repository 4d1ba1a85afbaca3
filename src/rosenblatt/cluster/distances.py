"""Distances of all pairs of points, some rows at a time.

Legend: n points X (n, d).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from rosenblatt.runtime import threads

from . import linkage_loops

Table = NDArray[np.float64]
Places = NDArray[np.intp]

ENDLESS = (
    "Some distances are not finite numbers: scale the columns down (or up, if below 1e-150); by "
    "some metrics rows of zeros, or all alike, have no distance."
)
CELLS = 400_000  # of a block of rows, which stays near the processor
PIECES, ROWS = 32, 64  # into which heights are cut, for threads; rows that read points at once


class Distances:
    """The distances of n points from each other."""

    n: int

    def rows(self, start: int, stop: int, first: int = 0) -> Table:
        """The distances of points start to stop from those numbered first and higher."""
        raise NotImplementedError

    def take(self, places: NDArray[np.intp]) -> "Distances":
        """The same of points in another order."""
        raise NotImplementedError

    def matrix(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """All of them, with infinity on the diagonal."""
        D = np.empty((self.n, self.n), dtype)

        def work(start: int, stop: int) -> None:
            with np.errstate(over="ignore"):
                D[start:stop] = self.rows(start, stop)
            if not D[start:stop].max() < np.inf:  # nor a number that is none
                raise ValueError(ENDLESS)

        threads.over_chunks(work, self.n, self.n * self.n)
        np.fill_diagonal(D, np.inf)
        return D

    def cross(self, parent: Places, last: Places, leaves: Places, average: bool) -> Table:
        """Sums of distances, or the greatest, across the joins of a tree: (2 n - 1,).

        The points are in the order of its leaves; see `linkage_loops.add_distances`.
        """
        totals = np.zeros(2 * self.n - 1)
        for start, stop, found in self.upper_rows():
            linkage_loops.add_distances(
                found[: stop - start], start, parent, last, average, leaves, totals
            )
        return totals

    def upper_rows(self) -> Iterator[tuple[int, int, Table]]:
        """Blocks of rows start to stop, with the columns from start on."""
        step = max(1, CELLS // self.n)
        for start in range(0, self.n, step):
            stop = min(start + step, self.n)
            yield start, stop, self.rows(start, stop, start)


class Euclidean(Distances):
    """Distances of points by our own loop, in doubles; or their squares."""

    def __init__(self, X: Table, squared: bool = False) -> None:
        self.X, self.n, self.squared = X, len(X), squared
        with np.errstate(over="ignore", invalid="ignore"):
            # Twice what no square exceeds: rounding cannot lift one above it.
            self.largest_square = 2 * float(((X.max(axis=0) - X.min(axis=0)) ** 2).sum())
        width = linkage_loops.BLOCK
        n_blocks = -(-self.n // width)
        padded = np.zeros((n_blocks * width, X.shape[1]))
        padded[: self.n] = X
        self.blocks = np.ascontiguousarray(padded.reshape(n_blocks, width, -1).transpose(0, 2, 1))

    def rows(self, start: int, stop: int, first: int = 0) -> Table:
        """The distances of points start to stop from those numbered first and higher."""
        return self.of(self.X[start:stop], first)

    def matrix(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """All of them, with infinity on the diagonal."""
        D = np.empty((self.n, self.n), dtype)
        block, strip = linkage_loops.BLOCK, linkage_loops.STRIP

        def work(first: int, last: int) -> None:
            squares, tile = np.empty((1, strip * block)), np.empty((strip * block, block), dtype)
            for start in range(first * block, min(last * block, self.n), block):
                linkage_loops.write_distances(
                    self.blocks, self.X, start, min(start + block, self.n), self.squared, D,
                    squares, tile,
                )  # fmt: skip

        threads.over_chunks(work, len(self.blocks), self.n * self.n)
        if not self.largest_square < np.finfo(dtype).max:
            self._refuse_endless(D)
        return D

    def _refuse_endless(self, D: NDArray[Any]) -> None:
        """Raise if a distance, and not the diagonal alone, has left the range of its precision."""
        if any(np.count_nonzero(row < np.inf) < self.n - 1 for row in D):
            raise ValueError(ENDLESS)

    def cross(self, parent: Places, last: Places, leaves: Places, average: bool) -> Table:
        """Sums of distances, or the greatest, across the joins of a tree: (2 n - 1,)."""
        size = -(-self.n // PIECES)

        def work(piece: int, _: int) -> Table:
            totals, nodes = np.zeros(2 * self.n - 1), leaves.copy()
            squares = np.empty((1, linkage_loops.STRIP * linkage_loops.BLOCK))
            for start in range(piece * size, min((piece + 1) * size, self.n), ROWS):
                stop = min(start + ROWS, (piece + 1) * size, self.n)
                linkage_loops.add_all_distances(
                    self.blocks, self.X, start, stop, self.squared, parent, last, average, nodes,
                    totals, squares,
                )  # fmt: skip
            return totals

        found = threads.over_chunks(work, PIECES, PIECES * threads.CELLS_PER_CHUNK)
        return np.asarray(np.sum(found, axis=0) if average else np.max(found, axis=0))

    def of(self, Q: Table, first: int = 0) -> Table:
        """The distances of other points Q (m, d) from those numbered first and higher."""
        block, skip = divmod(first, linkage_loops.BLOCK)
        out = np.empty((len(Q), (len(self.blocks) - block) * linkage_loops.BLOCK))
        linkage_loops.squared_rows(self.blocks, Q, 0, len(Q), block, out)
        found = out[:, skip : skip + self.n - first]
        return found if self.squared else np.sqrt(found, out=found)

    def take(self, places: NDArray[np.intp]) -> "Euclidean":
        """The same of points in another order."""
        return Euclidean(self.X[places], self.squared)


SCIPYS = {"l1": "cityblock", "manhattan": "cityblock"}  # what SciPy calls them


class Measured(Distances):
    """Distances by a metric of SciPy's, else of scikit-learn's."""

    def __init__(self, X: Table, metric: str) -> None:
        self.X, self.n, self.metric = X, len(X), SCIPYS.get(metric, metric)

    def rows(self, start: int, stop: int, first: int = 0) -> Table:
        """The distances of points start to stop from those numbered first and higher."""
        measure = pairwise_distances if self.metric in ("haversine", "nan_euclidean") else cdist
        return np.asarray(measure(self.X[start:stop], self.X[first:], metric=self.metric))

    def take(self, places: NDArray[np.intp]) -> "Measured":
        """The same of points in another order."""
        return Measured(self.X[places], self.metric)


class Given(Distances):
    """Distances that someone computed before."""

    def __init__(self, D: NDArray[Any], places: NDArray[np.intp] | None = None) -> None:
        self.D, self.n, self.places = D, len(D), places

    def rows(self, start: int, stop: int, first: int = 0) -> Table:
        """The distances of points start to stop from those numbered first and higher."""
        if self.places is None:
            return np.asarray(self.D[start:stop, first:], np.float64)
        return np.asarray(self.D[self.places[start:stop]][:, self.places[first:]], np.float64)

    def take(self, places: NDArray[np.intp]) -> "Given":
        """The same of points in another order."""
        return Given(self.D, places)
