"""Exact search for the nearest points, by the method that suits their number and shape.

Legend: n points X (n, d), m queries Q (m, d), k neighbors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.loops.tiles import POINTS, put_about
from rosenblatt.runtime import threads

from . import nearest_loops, quantized_loops

Table = NDArray[np.float64]
Found = tuple[Table, NDArray[np.intp]]

FEW_COLUMNS, MANY_POINTS = 5, 3_000  # where a k-d tree is faster; with more columns, bytes
LENGTHS = ("euclidean", "manhattan", "chebyshev", "minkowski")  # proportional to the scale of rows
LARGEST_POWER = 512  # largest exponent (of two) of a difference to the power p
EQUAL = 1e-12  # relative difference of distances that a tree may consider equal
FLOAT32_QUERIES = 256  # that are compared with a block of points together
FLOAT32_FAR = 1e6  # largest distance of queries, relative to the points, in single precision
FLOAT32_TINY = 1e-30  # largest rounding error of single precision near zero
QUANTIZED_QUERIES = 512  # that are compared with the points together
SAMPLE = 1_000  # rows that determine the step of bytes
MARGIN = 1.25  # ratio of the largest number in a byte and the 99% quantile
SMALLEST_STEP = 1e-100  # whose square is not zero
MOST_COLUMNS = 10_000  # whose sums fit into 32 bits
MIDDLE_OF_DIFFERENCES, MIDDLE_OF_PRODUCTS = 128, 64  # offset of bytes that must not be negative


class Points:
    """Points to search, with the data structures of earlier searches."""

    def __init__(
        self, X: Any, metric: str, p: float = 2.0, categorical: Any = None, ranges: Any = None
    ) -> None:
        # One type, because loops are compiled for each type.
        self.X = np.ascontiguousarray(X, np.float64)
        self.metric, self.p = metric, 2.0 if metric == "euclidean" else p
        # (d,) for "gower": the mask of categories, and the ranges of numbers.
        self.categorical, self.ranges = categorical, ranges
        self.power = 0  # of two: the scale of the points, if p-th powers overflow or underflow
        if metric in LENGTHS:
            power = int(np.frexp(max(self.X.max(), -self.X.min()))[1])
            if abs(power) * min(max(self.p, 2.0), LARGEST_POWER) > LARGEST_POWER:
                self.power, self.X = power, np.ldexp(self.X, -power)
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
        """Return distances and indices (m, k) of the k nearest points, nearest first."""
        if self.metric not in LENGTHS:
            return self._nearest(Q, k)
        search = self._by_tree if self._in_tree else self._nearest
        distances, points = search(self.scaled(Q), k)
        return self.rescaled(distances), points

    def within(self, Q: NDArray[Any], radius: Any) -> tuple[list[Table], list[NDArray[np.intp]]]:
        """Return Euclidean distances and indices of all points within a radius of each query."""
        # scikit-learn finds candidates, with a margin for rounding; exact distances decide.
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
            distances.append(self.rescaled(apart[apart <= reach]))
            found.append(some[apart <= reach])
        return distances, found

    def scaled(self, Q: NDArray[Any]) -> Table:
        """Return queries in the scale of the points."""
        Q = np.asarray(Q, np.float64)
        return np.ldexp(Q, -self.power) if self.power else Q

    def rescaled(self, distances: Table) -> Table:
        """Return distances in the original scale; raise if one overflows."""
        if self.power:
            with np.errstate(over="ignore"):
                distances = np.ldexp(distances, self.power)
        return checks.in_range(distances, "Some distances are")  # type: ignore[no-any-return]

    def _nearest(self, Q: NDArray[Any], k: int) -> Found:
        if self.metric == "cosine":
            found, points = self._quantized_or_float32(_normalized(Q), k)
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
            # For zeros and ones, it is the Manhattan distance.
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
        # A tree returns points at equal distances in any order.
        tied = (distances[:, 1:] <= (1 + EQUAL) * distances[:, :-1]).any(axis=1)
        if tied.any():
            found[tied], numbers[tied] = self._nearest(Q[tied], k)
        return found, numbers

    def _quantized_or_float32(self, Q: NDArray[Any], k: int) -> Found:
        """Return squared Euclidean, or Manhattan, distances of the nearest, and their indices."""
        if self._rows is None:
            self._rows = _normalized(self.X) if self.metric == "cosine" else self.X
        if self._quantized is None and len(self.X) >= MANY_POINTS:
            self._quantized = QuantizedPoints(self._rows, self.metric in ("manhattan", "hamming"))
        if self._quantized is None or not self._quantized.fits:
            return self._by_float32(Q, k)
        found, points, left = self._quantized.nearest(Q, k)
        if len(left):
            self._quantized.fits = 2 * len(left) < max(len(Q), FLOAT32_QUERIES)
            found[left], points[left] = self._by_float32(Q[left], k)
        return found, points

    def _by_float32(self, Q: NDArray[Any], k: int) -> Found:
        """Return the same with bounds in single precision."""
        if self._float32 is None:
            self._float32 = Float32Points(self.X if self._rows is None else self._rows, self.metric)
        if not self._float32.hold(Q):
            return self._by_columns(Q, k)
        return self._float32.nearest(Q, k)

    def _by_columns(self, Q: NDArray[Any], k: int) -> Found:
        """Return the nearest by sums over columns; for cosine, squares of rows of length one."""
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
        """Return the nearest by means over columns of numbers and categories."""
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
    """Return the arrays that ``work(start, stop, found, points)`` fills for m queries."""
    found, points = np.empty((m, k)), np.empty((m, k), np.intp)
    threads.over_chunks(
        lambda start, stop: work(start, stop, found, points),
        m,
        -(-m // 64) * threads.CELLS_PER_CHUNK,
    )
    return found, points


def run_all_loops(model: Any, X: NDArray[Any], y: Any) -> None:
    """Search for the rows of a fitted model by every method."""
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


def _blocks_of(X: NDArray[Any]) -> NDArray[Any]:
    """Return points column by column, 64 at a time; the last block repeats the last point."""
    n, d = X.shape
    width = nearest_loops.BLOCK
    blocks = np.empty((-(-n // width), d, width), X.dtype)
    whole = n // width
    blocks[:whole] = X[: whole * width].reshape(whole, width, d).transpose(0, 2, 1)
    if n % width:
        blocks[-1] = X[-1][:, np.newaxis]
        blocks[-1][:, : n % width] = X[whole * width :].T
    return blocks


def _normalized(rows: NDArray[Any]) -> Table:
    check_no_zero_rows(rows)
    rows = np.asarray(rows, np.float64)
    powers = np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1]  # of two: squares are in range
    rows = np.ldexp(rows, -powers)
    return np.asarray(rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, np.newaxis])


def check_no_zero_rows(rows: Any) -> None:
    """Raise if a row, dense or sparse, is all zeros."""
    has_direction = np.asarray((rows != 0).sum(axis=1)).ravel() > 0
    if not has_direction.all():
        raise ValueError(
            f"Row {has_direction.argmin()} is all zeros: its cosine distance is undefined. Leave "
            "such rows out, or choose another metric."
        )


class Float32Points:
    """Points in single precision, 24 at a time, by squares, sizes or cubes of differences."""

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
        self.most = 0.0  # largest effect of rounding on a point, for cubes
        if self.kind == nearest_loops.MANHATTAN:
            self.starts[:n] = -self._rounding_of_sums(X)
        elif self.kind == nearest_loops.CUBES:
            # The cube root of a sum of cubes is at most the sum of sizes.
            self.most, self.starts[:n] = float(self._rounding_of_sums(X).max()), 0.0
        self.starts -= np.float32(FLOAT32_TINY)

    def hold(self, Q: Table) -> bool:
        """Return whether queries are near enough for squares in single precision."""
        if not len(Q):
            return True
        above, below = Q.max(axis=0) - self.center, Q.min(axis=0) - self.center
        return bool(max(np.abs(above).max(), np.abs(below).max()) <= FLOAT32_FAR / self.scale)

    def nearest(self, Q: Table, k: int) -> tuple[Table, NDArray[np.intp]]:
        """Return sums of squares, sizes or cubes, and indices (m, k), of the nearest points."""
        m, d = Q.shape
        quads, sizes = np.zeros((-(-m // 4), d, 4), np.float32), np.zeros(m)
        self._put(Q, 4, quads, sizes)
        if self.kind != nearest_loops.EUCLIDEAN:
            sizes = self._rounding_of_sums(Q) + self.most
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)
        limits = np.empty(4 * len(quads), np.float32)

        def work(first: int, last: int) -> None:  # of groups of four queries
            scores = np.empty(POINTS, np.float32)
            nearest_loops.nearest_by_float32(
                self.X, self.panels, self.starts, Q, quads, sizes, self.scale, self.kind,
                4 * first, min(4 * last, m), found, points, limits, scores,
            )  # fmt: skip

        threads.over_chunks(work, len(quads), -(-m // FLOAT32_QUERIES) * threads.CELLS_PER_CHUNK)
        return found, points

    def _put(self, rows: Table, width: int, tiles: Any, halves: Any) -> None:
        """Write rows in tiles, and half of their squares less the rounding error of a score."""
        rounding = (rows.shape[1] + 16) * 2.0**-23
        put_about(rows, self.center, self.scale, width, rounding, tiles, halves)

    def _rounding_of_sums(self, rows: Table) -> Table:
        """Return a bound (n,) on the rounding error of the sum over columns of each row."""
        sums = np.abs(rows - self.center).sum(axis=1)
        return np.asarray(sums * (self.scale * 2.0**-23) + FLOAT32_TINY)


class QuantizedPoints:
    """Points rounded to bytes, 16 at a time."""

    def __init__(self, X: Table, manhattan: bool) -> None:
        self.X, self.manhattan = X, manhattan
        self.metric = nearest_loops.MANHATTAN if manhattan else nearest_loops.EUCLIDEAN
        self.most = (
            quantized_loops.MOST_OF_DIFFERENCES if manhattan else quantized_loops.MOST_OF_PRODUCTS
        )
        some = X[:: max(1, len(X) // SAMPLE)]
        self.center = np.median(some, axis=0)
        spread = np.quantile(np.abs(some - self.center), 0.99, axis=0).max()
        self.step = MARGIN * float(spread) / self.most
        self.fits = bool(SMALLEST_STEP < self.step < np.inf) and X.shape[1] <= MOST_COLUMNS
        if not self.fits:
            return
        n = len(self.X)
        bytes_, apart, squares = self._quantized(
            self.X, n, MIDDLE_OF_DIFFERENCES if self.manhattan else 0
        )
        panels, width = -(-n // 16), bytes_.shape[1]
        rows = np.zeros((16 * panels, width), np.uint8)
        rows[:n] = bytes_
        if self.manhattan:  # the orders of entries in `quantized_loops`
            split = rows.reshape(panels, 2, 4, 2, width // 8, 8).transpose(0, 4, 1, 3, 2, 5)
        else:
            split = rows.reshape(panels, 2, 8, width // 8, 2, 4).transpose(0, 3, 1, 4, 2, 5)
        self.panels = np.ascontiguousarray(split).reshape(panels, width // 8, 2, 64)
        self.starts = np.full(16 * panels, quantized_loops.NEVER, np.int32)
        self.apart = 0.0
        if self.manhattan:
            self.starts[:n] = np.ceil(apart)
        else:
            # Queries are stored as q' + 64, and x'.(q' + 64) is x'.q' + 64 sum(x'): subtract that.
            sums = bytes_.view(np.int8).sum(axis=1, dtype=np.int64)
            self.starts[:n] = -MIDDLE_OF_PRODUCTS * sums - squares // 2
            self.apart = float(apart.max())

    def _quantized(self, rows: Table, n: int, middle: int) -> tuple[NDArray[np.uint8], Table, Any]:
        """Return bytes (n, d') of rows, the length of the rounding error, and their squares."""
        m, d = rows.shape
        bytes_ = np.full((n, -(-d // 8) * 8), middle, np.uint8)
        apart, squares = np.empty(m), np.empty(m, np.int64)
        quantized_loops.quantize(
            rows, self.center, self.step, self.metric, self.most, middle, bytes_, apart, squares
        )
        return bytes_, apart, squares

    def nearest(self, Q: Table, k: int) -> tuple[Table, NDArray[np.intp], NDArray[np.intp]]:
        """Return distances (squared if Euclidean), indices (m, k), and queries without result.

        These are queries with too many points at the same rounded distance.
        """
        m, groups = len(Q), -(-len(Q) // 4)
        middle = MIDDLE_OF_DIFFERENCES if self.manhattan else MIDDLE_OF_PRODUCTS
        codes, apart, sizes = self._quantized(Q, 4 * groups, middle)
        if self.manhattan:
            sizes[:] = 0
        apart += self.apart
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)
        limits = np.full(4 * groups, -quantized_loops.NEVER, np.int32)

        def work(first: int, last: int) -> NDArray[np.intp]:  # of groups of four queries
            start, stop = 4 * first, min(4 * last, m)
            done = quantized_loops.nearest_quantized(
                self.X, self.panels, self.starts, Q, codes, sizes, apart, self.step, self.metric,
                start, stop, found, points, limits,
            )  # fmt: skip
            return np.arange(start, start if done else stop)

        chunks = -(-m // QUANTIZED_QUERIES) * threads.CELLS_PER_CHUNK
        left = threads.over_chunks(work, groups, chunks)
        return found, points, np.concatenate([*left, np.empty(0, np.intp)])
