"""Rows rounded to bytes, in which most points are seen to be too far away.

Legend: n points X (n, d), m queries Q (m, d), k neighbors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.runtime import threads

from . import nearest_loops, quantized_loops

Table = NDArray[np.float64]

QUERIES = 512  # that pass over the points together
SAMPLE = 1_000  # rows that choose the step
MARGIN = 1.25  # times the size that one number in a hundred exceeds, that a byte holds
SMALLEST_STEP = 1e-100  # whose square is not zero
MOST_COLUMNS = 10_000  # of which sums are far from 32 bits
MIDDLE_OF_DIFFERENCES, MIDDLE_OF_PRODUCTS = 128, 64  # added to numbers that must not be negative


class QuantizedPoints:
    """Points about their center, in steps that a byte holds, 16 at a time."""

    def __init__(self, X: Table, manhattan: bool) -> None:
        self.X, self.manhattan = X, manhattan
        loop = quantized_loops
        self.metric = nearest_loops.MANHATTAN if manhattan else nearest_loops.EUCLIDEAN
        self.most = loop.MOST_OF_DIFFERENCES if manhattan else loop.MOST_OF_PRODUCTS
        some = X[:: max(1, len(X) // SAMPLE)]
        self.center = np.median(some, axis=0)
        spread = np.quantile(np.abs(some - self.center), 0.99, axis=0).max()
        self.step = MARGIN * float(spread) / self.most
        self.fits = bool(SMALLEST_STEP < self.step < np.inf) and X.shape[1] <= MOST_COLUMNS
        if self.fits:
            self._store()

    def _store(self) -> None:
        n = len(self.X)
        bytes_, apart, squares = self._quantized(
            self.X, n, MIDDLE_OF_DIFFERENCES if self.manhattan else 0
        )
        panels, width = -(-n // 16), bytes_.shape[1]
        rows = np.zeros((16 * panels, width), np.uint8)
        rows[:n] = bytes_
        if self.manhattan:  # the orders in which `quantized_loops` reads them
            split = rows.reshape(panels, 2, 4, 2, width // 8, 8).transpose(0, 4, 1, 3, 2, 5)
        else:
            split = rows.reshape(panels, 2, 8, width // 8, 2, 4).transpose(0, 3, 1, 4, 2, 5)
        self.panels = np.ascontiguousarray(split).reshape(panels, width // 8, 2, 64)
        self.starts = np.full(16 * panels, quantized_loops.NEVER, np.int32)
        self.apart = 0.0
        if self.manhattan:
            self.starts[:n] = np.ceil(apart)
        else:
            # Queries hold q' + 64, and x'.(q' + 64) is x'.q' + 64 sum(x'), which is taken off here.
            sums = bytes_.view(np.int8).sum(axis=1, dtype=np.int64)
            self.starts[:n] = -MIDDLE_OF_PRODUCTS * sums - squares // 2
            self.apart = float(apart.max())

    def _quantized(self, rows: Table, n: int, middle: int) -> tuple[NDArray[np.uint8], Table, Any]:
        """Bytes (n, d') of rows, what rounding moves them by, and their squares."""
        m, d = rows.shape
        bytes_ = np.full((n, -(-d // 8) * 8), middle, np.uint8)
        apart, squares = np.empty(m), np.empty(m, np.int64)
        quantized_loops.quantize(
            rows, self.center, self.step, self.metric, self.most, middle, bytes_, apart, squares
        )
        return bytes_, apart, squares

    def nearest(self, Q: Table, k: int) -> tuple[Table, NDArray[np.intp], NDArray[np.intp]]:
        """Distances, squared if Euclidean, and numbers (m, k) of the nearest, and queries left.

        Left over are queries that have too many points as near as a step can tell.
        """
        m, groups = len(Q), -(-len(Q) // 4)
        middle = MIDDLE_OF_DIFFERENCES if self.manhattan else MIDDLE_OF_PRODUCTS
        codes, apart, sizes = self._quantized(Q, 4 * groups, middle)
        if self.manhattan:
            sizes[:] = 0
        apart += self.apart
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)
        limits = np.full(4 * groups, -quantized_loops.NEVER, np.int32)

        def work(first: int, last: int) -> NDArray[np.intp]:  # fours: no two threads share one
            start, stop = 4 * first, min(4 * last, m)
            done = quantized_loops.nearest_quantized(
                self.X, self.panels, self.starts, Q, codes, sizes, apart, self.step, self.metric,
                start, stop, found, points, limits,
            )  # fmt: skip
            return np.arange(start, start if done else stop)

        chunks = -(-m // QUERIES) * threads.CELLS_PER_CHUNK
        left = threads.over_chunks(work, groups, chunks)
        return found, points, np.concatenate([*left, np.empty(0, np.intp)])
