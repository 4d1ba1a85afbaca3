"""Exact search for the nearest points, by the method that suits their number and shape.

Legend: n points X (n, d), m queries Q (m, d), k neighbours.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.runtime import threads

from . import nearest_loops
from .in_bytes import PointsInBytes
from .in_singles import QUERIES, PointsInSingles

Table = NDArray[np.float64]
Found = tuple[Table, NDArray[np.intp]]

FEW_COLUMNS, MANY_POINTS = 5, 3_000  # where a k-d tree is faster; of more columns, bytes
FEW_BITS = 32  # columns of zeros and ones, in which bytes are faster
LONGEST_IN_BITS = 2**15  # columns, whose number 16 bits do not hold any more
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
        self._bytes: PointsInBytes | None = None
        self._singles: PointsInSingles | None = None
        self._blocks: Any = None
        self._codes: Codes | None = None
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
        centre = self.X.mean(axis=0)
        X, near = self.X - centre, Q - centre
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
            found, points = self._in_bytes_or_singles(_of_length_one(Q), k)
            return found / 2, points
        if self.metric == "euclidean":
            found, points = self._in_bytes_or_singles(np.ascontiguousarray(Q, np.float64), k)
            return np.sqrt(found), points
        if self.metric == "manhattan":
            return self._in_bytes_or_singles(np.ascontiguousarray(Q, np.float64), k)
        if self.metric == "gower":
            return self._by_gower(Q, k)
        if self.metric == "hamming":
            return self._by_codes(Q, k)
        if self.metric == "minkowski":
            search = self._in_singles if self.p == 3 else self._by_columns
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

    def _in_bytes_or_singles(self, Q: NDArray[Any], k: int) -> Found:
        """Squared Euclidean, or Manhattan, distances of the nearest, and their numbers."""
        if self._rows is None:
            self._rows = _of_length_one(self.X) if self.metric == "cosine" else self.X
        if self._bytes is None and len(self.X) >= MANY_POINTS:
            self._bytes = PointsInBytes(self._rows, self.metric == "manhattan")
        if self._bytes is None or not self._bytes.fits:
            return self._in_singles(Q, k)
        found, points, left = self._bytes.nearest(Q, k)
        if len(left):
            self._bytes.fits = 2 * len(left) < max(len(Q), QUERIES)  # else not tried again
            found[left], points[left] = self._in_singles(Q[left], k)
        return found, points

    def _in_singles(self, Q: NDArray[Any], k: int) -> Found:
        """The same by sums in single precision, which tell any points apart."""
        if self._singles is None:
            self._singles = PointsInSingles(
                self.X if self._rows is None else self._rows, self.metric
            )
        if not self._singles.hold(Q):
            return self._by_columns(Q, k)
        return self._singles.nearest(Q, k)

    def _by_codes(self, Q: NDArray[Any], k: int) -> Found:
        """Shares of columns that differ, counted in bytes or bits if values are small enough."""
        if self._codes is None:
            self._codes = Codes.of(self.X)
        codes = self._codes.encode(Q)
        if codes is None:
            return self._by_columns(Q, k)
        n, (m, d) = len(self.X), Q.shape
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)
        table, bits = self._codes.table, self._codes.bits
        if bits and d <= FEW_BITS and n >= MANY_POINTS:  # as far as by Manhattan distance
            if self._bytes is None:
                self._bytes = PointsInBytes(self.X, True)
            if self._bytes.fits:
                found, points, left = self._bytes.nearest(np.ascontiguousarray(Q, np.float64), k)
                if not len(left):
                    return found / d, points

        def work(start: int, stop: int) -> None:
            if bits:
                counts: Any = np.empty(nearest_loops.BLOCK, np.int16)
                nearest_loops.nearest_by_bits(table, n, codes, start, stop, found, points, counts)
                return
            distances, counts = np.empty(nearest_loops.BLOCK), np.empty(64, np.uint8)
            nearest_loops.nearest_by_codes(
                table, n, codes, start, stop, found, points, distances, counts
            )

        threads.over_chunks(work, m, -(-m // 64) * threads.CELLS_PER_CHUNK)
        return found / d, points

    def _by_columns(self, Q: NDArray[Any], k: int) -> Found:
        """Nearest by sums over columns."""
        # By cosine distance, squares between rows of length one.
        kind = getattr(
            nearest_loops, "EUCLIDEAN" if self.metric == "cosine" else self.metric.upper()
        )
        Q = np.ascontiguousarray(Q, np.float64)
        n, (m, d) = len(self.X), Q.shape
        if self._blocks is None:
            self._blocks = _blocks_of(self.X if self._rows is None else self._rows)
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)

        def work(start: int, stop: int) -> None:
            distances, sums = np.empty((2, nearest_loops.BLOCK))
            nearest_loops.nearest_by_columns(
                self._blocks, n, Q, kind, float(self.p), start, stop, found, points, distances, sums
            )

        threads.over_chunks(work, m, -(-m // 64) * threads.CELLS_PER_CHUNK)
        return (found / d if self.metric == "hamming" else found), points

    def _by_gower(self, Q: NDArray[Any], k: int) -> Found:
        """Nearest by means over columns of numbers and categories."""
        if self._blocks is None:
            self._blocks = _blocks_of(self.X)
        n, m = len(self.X), len(Q)
        found, points = np.empty((m, k)), np.empty((m, k), np.intp)

        def work(start: int, stop: int) -> None:
            distances, known = np.empty((2, nearest_loops.BLOCK))
            nearest_loops.nearest_by_gower(
                self._blocks, n, Q, self.categorical, self.ranges, start, stop,
                found, points, distances, known,
            )  # fmt: skip

        threads.over_chunks(work, m, -(-m // 64) * threads.CELLS_PER_CHUNK)
        return found, points


def run_all_loops(model: Any, X: NDArray[Any], y: Any) -> None:
    """Search for a fitted model's rows, and for the same points by every other method."""
    model.predict(X)
    bits = (X > 0).astype(np.float64)
    for points, metric, p in (
        (X, "euclidean", 2), (X, "manhattan", 1), (X, "minkowski", 3), (X, "chebyshev", 2),
        (bits, "hamming", 2), (5 * bits, "hamming", 2),
    ):  # fmt: skip
        Points(points, metric, p).nearest(points, 1)
    rows = np.ascontiguousarray(X, np.float64)
    for manhattan in (False, True):
        PointsInBytes(rows, manhattan).nearest(rows, 1)


@dataclass(frozen=True)
class Codes:
    """Points whose values are whole numbers of a small range, as bytes or bits."""

    table: Any  # blocks of words of 64 bits, or of bytes; None of other values
    bits: bool
    least: float = 0.0  # that is taken off

    @classmethod
    def of(cls, X: Table) -> "Codes":
        """The smallest codes that tell the values of points (n, d) apart."""
        least = float(X.min())
        span = float(X.max()) - least
        if span > 255 or not np.array_equal(X, np.floor(X)):
            return cls(None, False)
        if span <= 1 and X.shape[1] < LONGEST_IN_BITS:
            return cls(_blocks_of(_words_of(X - least)), True, least)
        return cls(_blocks_of((X - least).astype(np.uint8)), False, least)

    def encode(self, Q: NDArray[Any]) -> Any:
        """Queries in the same code; None if there is none for them."""
        if self.table is None or not np.array_equal(Q, np.floor(Q)):
            return None
        Q = Q - self.least
        if not np.array_equal(Q, np.clip(Q, 0, 1 if self.bits else 255)):
            return None
        return _words_of(Q) if self.bits else np.ascontiguousarray(Q, np.uint8)


def _power_out_of_range(X: Table, p: float) -> int:
    """The power of two of the largest number, if the p-th power of it is hardly a number; or 0."""
    power = int(np.frexp(max(X.max(), -X.min()))[1])
    return power if abs(power) * min(max(p, 2.0), LARGEST_POWER) > LARGEST_POWER else 0


def _words_of(X: NDArray[Any]) -> NDArray[np.uint64]:
    """Rows (n, d) of zeros and ones as words of 64 bits."""
    n, d = X.shape
    packed = np.zeros((n, 8 * -(-d // 64)), np.uint8)
    packed[:, : -(-d // 8)] = np.packbits(X != 0, axis=1)
    return packed.view(np.uint64)


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
    lengths = lengths_of(rows)
    if len(lengths) and not 1e-140 < lengths.min() <= lengths.max() < 1e140:
        rows = rows / np.abs(rows).max(axis=1)[:, np.newaxis]
        lengths = np.linalg.norm(rows, axis=1)
    return np.asarray(rows / lengths[:, np.newaxis], np.float64)


def lengths_of(rows: Any) -> Table:
    """The Euclidean lengths (n,) of rows, dense or sparse; raises if one is zero."""
    if sp.issparse(rows):
        lengths = scipy.sparse.linalg.norm(rows, axis=1)
    else:
        with np.errstate(over="ignore", under="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        if len(lengths) and not 1e-140 < lengths.min() <= lengths.max() < 1e140:
            largest = np.abs(rows).max(axis=1).astype(np.float64)
            parts = rows / np.where(largest > 0, largest, 1.0)[:, np.newaxis]
            with np.errstate(over="ignore"):
                lengths = largest * np.linalg.norm(parts, axis=1)
    if not lengths.all():
        raise ValueError(
            f"Row {np.flatnonzero(lengths == 0)[0]} is all zeros: it has no direction, and no "
            "cosine distance. Leave such rows out, or choose another metric."
        )
    return np.asarray(lengths)
