"""Exact search for the nearest points, by the method that suits their number and shape.

Legend: n points X (n, d), m queries Q (m, d), k neighbours.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.runtime import threads

Table = NDArray[np.float64]
Found = tuple[Table, NDArray[np.intp]]

QUERIES = 256  # that pass over a block of points together
FEW_COLUMNS, MANY_POINTS = 5, 3_000  # where a k-d tree is faster
FAR = 1e6  # times the reach of the points
TINY = 1e-30  # what single precision may lose of numbers close to zero


class Points:
    """Points that queries are compared with; what a search prepares is kept for the next one."""

    def __init__(
        self, X: NDArray[Any], metric: str, p: float = 2.0, categorical: Any = None
    ) -> None:
        # One type of numbers: each other one would compile the loops anew.
        self.X = np.ascontiguousarray(X, np.float64)
        self.metric, self.p = metric, 2.0 if metric == "euclidean" else p
        self.categorical = categorical  # (d,): columns that are equal or not, of "gower"
        n, d = X.shape
        self._tree: Any = None  # made when first needed
        self._tiles: Any = None
        self._blocks: Any = None
        self._in_tree = (
            d <= FEW_COLUMNS and n >= MANY_POINTS and metric in ("euclidean", "manhattan")
        )

    def nearest(self, Q: NDArray[Any], k: int) -> Found:
        """Distances and numbers (m, k) of the k nearest points of each query, nearest first."""
        if self._in_tree:
            return self._by_tree(Q, k)
        if self.metric == "cosine":
            found, points = self._by_products(_of_length_one(Q), k)
            return found / 2, points
        if self.metric == "euclidean":
            found, points = self._by_products(np.ascontiguousarray(Q, np.float64), k)
            return np.sqrt(found), points
        if self.metric == "gower":
            return self._by_gower(Q, k)
        return self._by_columns(Q, k)

    def _by_tree(self, Q: NDArray[Any], k: int) -> Found:
        from scipy.spatial import KDTree

        if self._tree is None:
            self._tree = KDTree(self.X)
        norm = {"euclidean": 2, "manhattan": 1}[self.metric]
        distances, points = self._tree.query(
            Q, k=np.arange(1, k + 1), p=norm, workers=threads.count()
        )
        return distances, points.astype(np.intp)

    def _by_products(self, Q: NDArray[Any], k: int) -> Found:
        """Squared Euclidean distances of the nearest, and their numbers."""
        m, d = Q.shape
        if self._tiles is None:
            self._tiles = _tiles_of(_of_length_one(self.X) if self.metric == "cosine" else self.X)
        X, centre, scale, panels, halves = self._tiles
        if m and max(np.abs(Q.max(axis=0) - centre).max(), np.abs(Q.min(axis=0) - centre).max()) > (
            FAR / scale
        ):  # squares in single precision would overflow
            return self._by_columns(Q, k)
        quads = np.zeros((-(-m // 4), d, 4), np.float32)
        sizes = np.zeros(m)
        loops.nearest.put_about(Q, centre, scale, 4, _rounding(d), quads, sizes)
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)
        limits = np.empty(4 * len(quads), np.float32)

        def work(first: int, last: int) -> None:  # quads: no two threads share one
            scores = np.empty(loops.nearest.POINTS, np.float32)
            loops.nearest.nearest_by_products(
                X, panels, halves, Q, quads, sizes, scale, 4 * first, min(4 * last, m),
                found, points, limits, scores,
            )  # fmt: skip

        threads.over_chunks(work, len(quads), -(-m // QUERIES) * threads.CELLS_PER_CHUNK)
        return found, points

    def _by_columns(self, Q: NDArray[Any], k: int) -> Found:
        """Nearest by sums over columns."""
        kinds = {"manhattan": 0, "minkowski": 1, "euclidean": 1, "chebyshev": 2}
        Q = np.ascontiguousarray(Q, np.float64)
        n, (m, d) = len(self.X), Q.shape
        if self._blocks is None:
            self._blocks = _blocks_of(self.X)
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)

        def work(start: int, stop: int) -> None:
            distances = np.empty(loops.nearest.BLOCK)
            loops.nearest.nearest_by_columns(
                self._blocks, n, Q, kinds.get(self.metric, 3), float(self.p),
                start, stop, found, points, distances,
            )  # fmt: skip

        threads.over_chunks(work, m, -(-m // 64) * threads.CELLS_PER_CHUNK)
        if self.metric == "minkowski":
            found **= 1 / self.p
        return (found / d if self.metric == "hamming" else found), points

    def _by_gower(self, Q: NDArray[Any], k: int) -> Found:
        """Nearest by means over columns of numbers and categories."""
        if self._blocks is None:
            self._blocks = _blocks_of(self.X)
        n, m = len(self.X), len(Q)
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)

        def work(start: int, stop: int) -> None:
            distances, known = np.empty((2, loops.nearest.BLOCK))
            loops.nearest.nearest_by_gower(
                self._blocks, n, Q, self.categorical, start, stop, found, points, distances, known
            )

        threads.over_chunks(work, m, -(-m // 64) * threads.CELLS_PER_CHUNK)
        return found, points


def _rounding(d: int) -> float:
    """How much of ``|x|^2 + |q|^2`` rounding may add to a score in single precision."""
    return (d + 16) * 2.0**-23


def _tiles_of(X: NDArray[Any]) -> tuple[NDArray[Any], Table, float, Any, Any]:
    """Points about their centre, 24 at a time, in single precision; halves of their squares."""
    n, d = X.shape
    width = loops.nearest.POINTS
    centre = X.mean(axis=0, dtype=np.float64)
    reach = float(np.abs(X.max(axis=0) - centre).max() + np.abs(X.min(axis=0) - centre).max())
    scale = 1.0 / (reach * np.sqrt(d)) if reach > 0 else 1.0
    panels = np.zeros((-(-n // width), d, width), np.float32)
    halves = np.full(len(panels) * width, np.inf, np.float32)
    loops.nearest.put_about(X, centre, scale, width, _rounding(d), panels, halves)
    halves -= np.float32(TINY)
    return X, centre, scale, panels, halves


def _blocks_of(X: NDArray[Any]) -> Table:
    """Points column by column, 64 at a time; the last block repeats the last point."""
    n, d = X.shape
    width = loops.nearest.BLOCK
    blocks = np.empty((-(-n // width), d, width))
    whole = n // width
    blocks[:whole] = X[: whole * width].reshape(whole, width, d).transpose(0, 2, 1)
    if n % width:
        blocks[-1] = X[-1][:, np.newaxis]
        blocks[-1][:, : n % width] = X[whole * width :].T
    return blocks


def _of_length_one(rows: NDArray[Any]) -> Table:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not lengths.all():
        raise ValueError(
            f"Row {np.flatnonzero(lengths == 0)[0]} is all zeros: it has no direction, and no "
            "cosine distance. Leave such rows out, or choose another metric."
        )
    return np.asarray(rows / lengths[:, np.newaxis], np.float64)
