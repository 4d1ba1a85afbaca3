"""Exact search for the nearest points, by the method that suits their number and shape.

Legend: n points X (n, d), m queries Q (m, d), k neighbors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.runtime import threads

from . import nearest_loops
from .float32_search import QUERIES, Float32Points
from .quantized_search import QuantizedPoints

Table = NDArray[np.float64]
Found = tuple[Table, NDArray[np.intp]]

FEW_COLUMNS, MANY_POINTS = 5, 3_000  # where a k-d tree is faster; of more columns, bytes
LENGTHS = ("euclidean", "manhattan", "chebyshev", "minkowski")  # twice as long of rows times two
LARGEST_POWER = 512  # of two, that a difference to the power p may have
EQUAL = 1e-12  # of a distance, within which two may be the same to us and not to a tree


class Points:
    """Points that queries are compared with; what a search prepares is kept for the next one."""

    def __init__(
        self,
        X: NDArray[Any],
        metric: str,
        p: float = 2.0,
        categorical: Any = None,
        ranges: Any = None,
    ) -> None:
        # One type of numbers: each other one would compile the loops anew.
        self.X = np.ascontiguousarray(X, np.float64)
        self.metric, self.p = metric, 2.0 if metric == "euclidean" else p
        # (d,) of "gower": columns that are equal or not, and what differences are divided by.
        self.categorical, self.ranges = categorical, ranges
        self.power = _power_out_of_range(self.X, self.p) if metric in LENGTHS else 0
        if self.power:
            self.X = np.ldexp(self.X, -self.power)
        n, d = X.shape
        self._tree: Any = None  # made when first needed
        self._rows: Any = None  # of length one, by cosine distance
        self._quantized: QuantizedPoints | None = None
        self._float32: Float32Points | None = None
        self._blocks: Any = None
        self._is_binary: bool | None = None
        self._in_tree = (
            d <= FEW_COLUMNS and n >= MANY_POINTS and metric in ("euclidean", "manhattan")
        )

    def nearest(self, Q: NDArray[Any], k: int) -> Found:
        """Distances and numbers (m, k) of the k nearest points of each query, nearest first."""
        if self.metric not in LENGTHS:
            return self._nearest(Q, k)
        search = self._by_tree if self._in_tree else self._nearest
        distances, points = search(self.scaled(Q), k)
        return self.as_given(distances), points

    def within(self, Q: NDArray[Any], radius: Any) -> tuple[list[Table], list[NDArray[np.intp]]]:
        """Euclidean distances and numbers of all points within a radius, or one for each query."""
        # Products find the candidates, with what they round on top; differences decide.
        from sklearn.neighbors import NearestNeighbors

        Q = self.scaled(Q)
        reaches = np.broadcast_to(np.ldexp(np.asarray(radius, np.float64), -self.power), len(Q))
        center = self.X.mean(axis=0)
        X, near = self.X - center, Q - center
        sizes = np.einsum("ij,ij->i", X, X).max() + np.einsum("ij,ij->i", near, near).max(initial=0)
        wide = np.sqrt(
            reaches.max(initial=0.0) ** 2 + 8 * (X.shape[1] + 8) * np.finfo(np.float64).eps * sizes
        )
        search = NearestNeighbors(algorithm="brute").fit(X)
        distances, found = [], []
        candidates = search.radius_neighbors(near, float(wide), False) if len(Q) else []
        for q, reach, some in zip(Q, reaches, candidates, strict=True):
            apart = np.sqrt(((self.X[some] - q) ** 2).sum(axis=1))
            distances.append(self.as_given(apart[apart <= reach]))
            found.append(some[apart <= reach])
        return distances, found

    def scaled(self, Q: NDArray[Any]) -> Table:
        """Queries in the scale of the points."""
        Q = np.asarray(Q, np.float64)
        return np.ldexp(Q, -self.power) if self.power else Q

    def as_given(self, distances: Table) -> Table:
        """Distances in the scale of what was given; raises if one is out of range."""
        if self.power:
            with np.errstate(over="ignore"):
                distances = np.ldexp(distances, self.power)
        return checks.in_range(distances, "Some distances are")  # type: ignore[no-any-return]

    def _nearest(self, Q: NDArray[Any], k: int) -> Found:
        if self.metric == "cosine":
            found, points = self._quantized_or_float32(_of_length_one(Q), k)
            return found / 2, points
        if self.metric == "euclidean":
            found, points = self._quantized_or_float32(np.ascontiguousarray(Q, np.float64), k)
            return np.sqrt(found), points
        if self.metric == "manhattan":
            return self._quantized_or_float32(np.ascontiguousarray(Q, np.float64), k)
        if self.metric == "gower":
            return self._by_gower(Q, k)
        if self.metric == "hamming":
            Q = np.ascontiguousarray(Q, np.float64)
            if self._is_binary is None:
                self._is_binary = is_binary(self.X)
            # Of zeros and ones, the number of columns that differ is the Manhattan distance.
            both = self._is_binary and is_binary(Q)
            found, points = (self._quantized_or_float32 if both else self._by_columns)(Q, k)
            return found / Q.shape[1], points
        if self.metric == "minkowski":
            search = self._by_float32 if self.p == 3 else self._by_columns
            found, points = search(np.ascontiguousarray(Q, np.float64), k)
            return (found if self.p > nearest_loops.LARGE_P else found ** (1 / self.p)), points
        return self._by_columns(Q, k)

    def _by_tree(self, Q: NDArray[Any], k: int) -> Found:
        from scipy.spatial import KDTree

        if self._tree is None:
            self._tree = KDTree(self.X)
        norm = {"euclidean": 2, "manhattan": 1}[self.metric]
        one_more = np.arange(1, min(k + 1, len(self.X)) + 1)
        distances, points = self._tree.query(Q, k=one_more, p=norm, workers=threads.count())
        found, numbers = distances[:, :k], points[:, :k].astype(np.intp)
        # A tree takes any of the points at one distance.
        tied = (distances[:, 1:] <= (1 + EQUAL) * distances[:, :-1]).any(axis=1)
        if tied.any():
            found[tied], numbers[tied] = self._nearest(Q[tied], k)
        return found, numbers

    def _quantized_or_float32(self, Q: NDArray[Any], k: int) -> Found:
        """Squared Euclidean, or Manhattan, distances of the nearest, and their numbers."""
        if self._rows is None:
            self._rows = _of_length_one(self.X) if self.metric == "cosine" else self.X
        if self._quantized is None and len(self.X) >= MANY_POINTS:
            self._quantized = QuantizedPoints(self._rows, self.metric in ("manhattan", "hamming"))
        if self._quantized is None or not self._quantized.fits:
            return self._by_float32(Q, k)
        found, points, left = self._quantized.nearest(Q, k)
        if len(left):
            self._quantized.fits = 2 * len(left) < max(len(Q), QUERIES)  # else not tried again
            found[left], points[left] = self._by_float32(Q[left], k)
        return found, points

    def _by_float32(self, Q: NDArray[Any], k: int) -> Found:
        """The same by sums in single precision, which tell any points apart."""
        if self._float32 is None:
            self._float32 = Float32Points(self.X if self._rows is None else self._rows, self.metric)
        if not self._float32.hold(Q):
            return self._by_columns(Q, k)
        return self._float32.nearest(Q, k)

    def _by_columns(self, Q: NDArray[Any], k: int) -> Found:
        """Nearest by sums over columns."""
        # By cosine distance, squares between rows of length one.
        kind = getattr(
            nearest_loops, "EUCLIDEAN" if self.metric == "cosine" else self.metric.upper()
        )
        Q = np.ascontiguousarray(Q, np.float64)
        n, m = len(self.X), len(Q)
        if self._blocks is None:
            self._blocks = _blocks_of(self.X if self._rows is None else self._rows)

        def work(start: int, stop: int, found: Table, points: NDArray[np.intp]) -> None:
            distances, sums = np.empty((2, nearest_loops.BLOCK))
            nearest_loops.nearest_by_columns(
                self._blocks, n, Q, kind, float(self.p), start, stop, found, points, distances, sums
            )

        return _over_queries(work, m, k)

    def _by_gower(self, Q: NDArray[Any], k: int) -> Found:
        """Nearest by means over columns of numbers and categories."""
        if self._blocks is None:
            self._blocks = _blocks_of(self.X)

        def work(start: int, stop: int, found: Table, points: NDArray[np.intp]) -> None:
            distances, known = np.empty((2, nearest_loops.BLOCK))
            nearest_loops.nearest_by_gower(
                self._blocks, len(self.X), Q, self.categorical, self.ranges, start, stop,
                found, points, distances, known,
            )  # fmt: skip

        return _over_queries(work, len(Q), k)


def _over_queries(work: Callable[..., None], m: int, k: int) -> Found:
    """Return what ``work(start, stop, found, points)`` fills for m queries, in chunks of 64."""
    found, points = np.empty((m, k)), np.empty((m, k), np.intp)
    threads.over_chunks(
        lambda start, stop: work(start, stop, found, points),
        m,
        -(-m // 64) * threads.CELLS_PER_CHUNK,
    )
    return found, points


def run_all_loops(model: Any, X: NDArray[Any], y: Any) -> None:
    """Search for a fitted model's rows, and for the same points by every other method."""
    model.predict(X)
    bits = (X > 0).astype(np.float64)
    for points, metric, p in (
        (X, "euclidean", 2), (X, "manhattan", 1), (X, "minkowski", 3), (X, "chebyshev", 2),
        (5 * bits, "hamming", 2),
    ):  # fmt: skip
        Points(points, metric, p).nearest(points, 1)
    rows = np.ascontiguousarray(X, np.float64)
    for manhattan in (False, True):
        QuantizedPoints(rows, manhattan).nearest(rows, 1)


def is_binary(X: Table) -> bool:
    """Return whether all numbers are zero or one."""
    return bool(((X == 0) | (X == 1)).all())


def _power_out_of_range(X: Table, p: float) -> int:
    """The power of two of the largest number, if the p-th power of it is hardly a number; or 0."""
    power = int(np.frexp(max(X.max(), -X.min()))[1])
    return power if abs(power) * min(max(p, 2.0), LARGEST_POWER) > LARGEST_POWER else 0


def _blocks_of(X: NDArray[Any]) -> NDArray[Any]:
    """Points column by column, 64 at a time; the last block repeats the last point."""
    n, d = X.shape
    width = nearest_loops.BLOCK
    blocks = np.empty((-(-n // width), d, width), X.dtype)
    whole = n // width
    blocks[:whole] = X[: whole * width].reshape(whole, width, d).transpose(0, 2, 1)
    if n % width:
        blocks[-1] = X[-1][:, np.newaxis]
        blocks[-1][:, : n % width] = X[whole * width :].T
    return blocks


def _of_length_one(rows: NDArray[Any]) -> Table:
    refuse_zero_rows(rows)
    rows = np.asarray(rows, np.float64)
    powers = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]  # of two: squares are in range
    rows = np.ldexp(rows, -powers)
    return np.asarray(rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, np.newaxis])


def refuse_zero_rows(rows: Any) -> None:
    """Raise if a row, dense or sparse, is all zeros."""
    has_direction = np.asarray((rows != 0).sum(axis=1)).ravel() > 0
    if not has_direction.all():
        raise ValueError(
            f"Row {has_direction.argmin()} is all zeros: it has no direction, and no cosine "
            "distance. Leave such rows out, or choose another metric."
        )
