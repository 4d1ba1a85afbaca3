"""Rows in single precision, in which most points are seen to be too far away.

Legend: n points X (n, d), m queries Q (m, d), k neighbors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.tiles import POINTS, put_about
from rosenblatt.runtime import threads

from . import nearest_loops

Table = NDArray[np.float64]

QUERIES = 256  # that pass over a block of points together
FAR = 1e6  # times the reach of the points
TINY = 1e-30  # what single precision may lose of numbers close to zero


class Float32Points:
    """Points about their center, 24 at a time, by squares, sizes or cubes of differences."""

    def __init__(self, X: Table, metric: str) -> None:
        self.X = X
        kinds = {"manhattan": nearest_loops.MANHATTAN, "minkowski": nearest_loops.CUBES}
        self.kind = kinds.get(metric, nearest_loops.EUCLIDEAN)
        (n, d), width = X.shape, POINTS
        self.center = X.mean(axis=0, dtype=np.float64)
        above, below = X.max(axis=0) - self.center, X.min(axis=0) - self.center
        reach = float(np.abs(above).max() + np.abs(below).max())
        self.scale = 1.0 / (reach * np.sqrt(d)) if reach > 0 else 1.0
        self.panels = np.zeros((-(-n // width), d, width), np.float32)
        self.starts = np.full(len(self.panels) * width, np.inf, np.float32)
        self._put(X, width, self.panels, self.starts)
        self.most = 0.0  # that rounding may move a point by, of cubes
        if self.kind == nearest_loops.MANHATTAN:
            self.starts[:n] = -self._rounding_of_sums(X)
        elif self.kind == nearest_loops.CUBES:
            # The cube root of a sum of cubes is at most the sum of sizes.
            self.most, self.starts[:n] = float(self._rounding_of_sums(X).max()), 0.0
        self.starts -= np.float32(TINY)

    def hold(self, Q: Table) -> bool:
        """Return if queries are near enough for squares of differences in single precision."""
        if not len(Q):
            return True
        above, below = Q.max(axis=0) - self.center, Q.min(axis=0) - self.center
        return bool(max(np.abs(above).max(), np.abs(below).max()) <= FAR / self.scale)

    def nearest(self, Q: Table, k: int) -> tuple[Table, NDArray[np.intp]]:
        """Sums of squares, sizes or cubes, and numbers (m, k), of the nearest of each query."""
        m, d = Q.shape
        quads, sizes = np.zeros((-(-m // 4), d, 4), np.float32), np.zeros(m)
        self._put(Q, 4, quads, sizes)
        if self.kind != nearest_loops.EUCLIDEAN:
            sizes = self._rounding_of_sums(Q) + self.most
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)
        limits = np.empty(4 * len(quads), np.float32)

        def work(first: int, last: int) -> None:  # quads: no two threads share one
            scores = np.empty(POINTS, np.float32)
            nearest_loops.nearest_by_float32(
                self.X, self.panels, self.starts, Q, quads, sizes, self.scale, self.kind,
                4 * first, min(4 * last, m), found, points, limits, scores,
            )  # fmt: skip

        threads.over_chunks(work, len(quads), -(-m // QUERIES) * threads.CELLS_PER_CHUNK)
        return found, points

    def _put(self, rows: Table, width: int, tiles: Any, halves: Any) -> None:
        """Write rows in tiles, and half of their squares less what rounding may add to a score."""
        rounding = (rows.shape[1] + 16) * 2.0**-23
        put_about(rows, self.center, self.scale, width, rounding, tiles, halves)

    def _rounding_of_sums(self, rows: Table) -> Table:
        """Return a bound (n,) on the rounding error of the sum over columns of each row."""
        sums = np.abs(rows - self.center).sum(axis=1)
        return np.asarray(sums * (self.scale * 2.0**-23) + TINY)
