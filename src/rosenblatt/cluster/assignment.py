"""The exact assignment of rows to their nearest centers.

Legend: n rows X (n, d), K centers (K, d), labels (n,) of the rows, -1 for none yet.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from rosenblatt import checks
from rosenblatt.loops.rows import arrays, read_only, summed_duplicates
from rosenblatt.loops.tiles import put_about
from rosenblatt.runtime import threads

from . import kmeans_loops

Table = NDArray[np.float64]
Labels = NDArray[np.int32]

FEW_PRODUCTS = 20_000  # of rows, centers and columns, up to which cdist is faster
MOVED_AT_ONCE = 2_000_000  # numbers added in one call, so that interrupts work
LARGEST = np.finfo(np.float64).max
LEAST_REACH = 1e-140  # the least distance whose square is a normal number
LARGEST_DRIFT = 1e30  # up to which bounds in float32 are useful
MANY_CENTERS = 64  # from which single rows of a panel are skipped
SETTLED = 20  # ratio of all to changed rows from which most are nearest to their old center
CHUNK_CELLS = 4  # times the work per cell of reading the rows once


def assignment_of(X: Any, weights: Any) -> "RowAssignment":
    """Return the assignment of checked rows, dense or CSR, with weights (n,) or None."""
    return SparseAssignment(X, weights) if sp.issparse(X) else DenseAssignment(X, weights)


def checked_assignment(X: Any, weights: Any = None) -> "RowAssignment":
    """Return the assignment of rows; raise if their squares overflow or underflow."""
    rows = assignment_of(X, weights)
    rows.check_small_squares()
    rows.squares()
    return rows


class RowAssignment:
    """Rows with their weights, and the labels and bounds of the current start."""

    limits: NDArray[Any]  # drift up to which rows cannot change clusters
    reach: float  # largest distance of a row from the mean, or from zero if sparse

    def __init__(self, X: Any, weights: Any) -> None:
        self.X, self.weights = X, None if weights is None else read_only(weights)
        self.n, self.d = map(int, X.shape)
        self.stored = arrays(X)
        labels = np.zeros(self.n + kmeans_loops.ROWS, np.int32)  # padded to a full panel
        self.labels = labels[: self.n]
        changed, left = np.empty(self.n, np.int64), np.empty(self.n, np.int32)
        self.listed = kmeans_loops.Labels(labels, changed, left)

    def forget_labels(self) -> None:
        """Remove all rows from their clusters."""
        self.labels[:] = -1
        self.forget_bounds()

    def forget_bounds(self) -> None:
        """Discard bounds, so that every row is measured again."""
        self.drift, self.n_changed = 0.0, self.n
        self.limits[:] = -np.inf

    def squares(self) -> Table:
        """Return the sums of weighted squares by column, pairs (2, d)."""
        total = np.zeros((2, self.d))
        for start in range(0, self.n, self._step()):
            stop = min(start + self._step(), self.n)
            kmeans_loops.add_squares(self.stored, self.weights, start, stop, total)
        return checks.in_range(  # type: ignore[no-any-return]
            total, "The weighted squares of X are", "rescale the columns, or the weights"
        )

    def check_small_squares(self) -> None:
        """Raise if squared differences of rows underflow."""
        if 0 < self.reach < LEAST_REACH:
            raise ValueError(
                f"Rows differ by at most {self.reach:.1e}, too small for 64 bits when squared; "
                "rescale the columns."
            )

    def _step(self) -> int:
        cells = self.X.nnz if sp.issparse(self.X) else self.X.size
        return max(1, int(MOVED_AT_ONCE * self.n // max(cells, 1)))

    def variance(self) -> float:
        """Return the mean variance of the columns, for rows without weights."""
        raise NotImplementedError

    def assign(self, centers: Table) -> list[tuple[int, int]]:
        """Assign each row to its nearest center; return (start, size) of lists of changed rows."""
        raise NotImplementedError

    def moved(self, places: list[tuple[int, int]], mass: Table, sums: Table) -> int:
        """Update mass and sums for rows that changed clusters; return their number."""
        step = self._step()
        for first, count in places:
            for start in range(first, first + count, step):
                some = slice(start, min(start + step, first + count))
                kmeans_loops.move_rows(
                    self.stored, self.weights, self.listed.changed[some], self.listed.left[some],
                    self.labels, mass, sums,
                )  # fmt: skip
        self.n_changed = sum(count for _, count in places)
        return self.n_changed

    def move(self, rows: NDArray[np.intp], cluster: int, mass: Table, sums: Table) -> None:
        """Move some rows to a cluster."""
        left = self.labels[rows]
        self.labels[rows] = cluster
        kmeans_loops.move_rows(self.stored, self.weights, rows, left, self.labels, mass, sums)
        self.forget_bounds()

    def equal_rows(self, row: int, some: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return which of some rows are equal to one row."""
        differ = self.X[some] != self.X[np.full(len(some), row)]  # sparse if the rows are
        equal: NDArray[np.bool_] = np.asarray(differ.sum(axis=1)).ravel() == 0
        return np.asarray(some[equal])

    def add_drift(self, centers: Table, new: Table) -> None:
        """Add the largest move of a center to the drift."""
        farthest = float(np.sqrt(((new - centers) ** 2).sum(axis=1).max()))
        self.drift += 2.0 * farthest * self._scale() * (1 + 1e-9)
        if not self.drift < LARGEST_DRIFT:
            self.forget_bounds()

    def _scale(self) -> float:
        return 1.0

    def distances(self, centers: Table) -> Table:
        """Return the squared distance (n,) of each row from the center of its cluster."""
        found = np.empty(self.n)
        for start in range(0, self.n, self._step()):
            some = slice(start, start + self._step())
            rows = self.X[some].toarray() if sp.issparse(self.X) else self.X[some]
            difference = rows.astype(np.float64) - centers[self.labels[some]]
            found[some] = np.einsum("ij,ij->i", difference, difference)
        return found


class DenseAssignment(RowAssignment):
    """Dense rows, 24 at a time in single precision about their mean."""

    def __init__(self, X: NDArray[Any], weights: Any) -> None:
        super().__init__(X, weights)
        width = kmeans_loops.ROWS
        self.n_panels = -(-self.n // width)

        def ranges(start: int, stop: int) -> tuple[Table, Table, Table]:
            total, low, high = np.zeros(self.d), np.full(self.d, np.inf), np.full(self.d, -np.inf)
            kmeans_loops.sum_and_range(self.stored, start, stop, total, low, high)
            return total, low, high

        totals, lows, highs = zip(*threads.over_chunks(ranges, self.n, X.size), strict=True)
        self.center = np.sum(totals, axis=0) / self.n
        low, high = np.min(lows, axis=0), np.max(highs, axis=0)
        farthest = np.maximum(high - self.center, self.center - low).max()
        self.reach = float(farthest * np.sqrt(self.d))
        self.scale = 1.0 / self.reach if self.reach > 1 / LARGEST else 1.0
        self.panels = np.zeros((self.n_panels, self.d, width), np.float32)
        self.sizes, self._sizes = np.empty(self.n), np.zeros(self.n_panels * width, np.float32)
        self._limits = np.full(self.n_panels * width, np.inf, np.float32)  # padded to full panels
        self.limits, self.reaches = self._limits[: self.n], np.zeros_like(self._limits)

        def work(first: int, last: int) -> None:
            some = slice(first * width, min(last * width, self.n))
            put_about(
                self.stored[some], self.center, self.scale, width, 0.0, self.panels[first:last],
                self.sizes[some],
            )  # fmt: skip

        threads.over_chunks(work, self.n_panels, self.n * self.d)
        self._sizes[: self.n] = self.sizes

    def variance(self) -> float:
        mean = 2.0 * float(self.sizes.mean()) / self.d
        return mean / self.scale / self.scale

    def _scale(self) -> float:
        return self.scale

    def assign(self, centers: Table) -> list[tuple[int, int]]:
        K, width = len(centers), kmeans_loops.CENTERS
        quads = np.zeros((-(-K // width), self.d, width), np.float32)
        squares, halves = np.empty(K), np.full(len(quads) * width + 1, np.inf, np.float32)
        rounding = (self.d + 16) * 2.0**-22
        with np.errstate(over="ignore"):
            put_about(centers, self.center, self.scale, width, 0.0, quads, squares)
            halves[:K] = squares
            errors = np.array([rounding, rounding * squares.max(), -(2.0**-20)], np.float32)
        numbers = np.arange(len(halves), dtype=np.float32)
        drifts = np.array([self.drift, self.drift, 0.5 * self.drift, 1 - 2.0**-20], np.float32)
        drifts[:3] = np.nextafter(drifts[:3], np.array([np.inf, -np.inf, -np.inf], np.float32))

        many = K >= MANY_CENTERS
        is_settled = many and self.n_changed * SETTLED < self.n
        least = kmeans_loops.MOST_OF_A_PANEL if many else 1
        reaches = self.reaches if many else self.reaches[:0]
        shared = (
            (self.stored, self.panels, self._sizes, self.center, self.scale),
            (centers, quads, halves, numbers, errors),
            (self._limits, reaches, drifts),
            tuple(self.listed),
        )

        def work(first: int, last: int) -> tuple[int, int]:
            width = kmeans_loops.ROWS
            packed = (
                np.zeros((1, self.d, width), np.float32), np.zeros(width, np.float32),
                np.zeros(width, np.int32), np.empty(width, np.int64),
                np.empty(width, np.float32), np.empty(width, np.float32),
            )  # fmt: skip
            found = np.empty((2, width), np.float32)
            count = kmeans_loops.assign_panels(
                (*shared, packed), is_settled, least, first, last, found
            )
            return first * width, count

        return threads.over_chunks(work, self.n_panels, self.n * self.d // CHUNK_CELLS)


class SparseAssignment(RowAssignment):
    """CSR rows, compared with all centers at each stored value."""

    def __init__(self, X: Any, weights: Any) -> None:
        super().__init__(summed_duplicates(X), weights)
        self.limits = np.empty(self.n)
        self.reach = float(np.abs(X.data).max(initial=0.0))

    def variance(self) -> float:
        squares = self.squares().sum()
        mean = np.asarray(self.X.mean(axis=0, dtype=np.float64))
        return float(max(squares / self.n - (mean**2).sum(), 0.0) / self.d)

    def assign(self, centers: Table) -> list[tuple[int, int]]:
        K = len(centers)
        columns, halves = np.ascontiguousarray(centers.T), 0.5 * (centers**2).sum(axis=1)
        rounding = (self.d + 16) * 2.0**-51

        def work(start: int, stop: int) -> tuple[int, int]:
            count = kmeans_loops.assign_sparse(
                self.stored, columns, halves, centers, rounding, start, stop, self.drift,
                self.limits, tuple(self.listed), np.empty(K), np.zeros(self.d),
            )  # fmt: skip
            return start, count

        return threads.over_chunks(work, self.n, self.X.nnz // CHUNK_CELLS)


def nearest_centers(X: Any, centers: NDArray[Any]) -> Labels:
    """Return the number (n,) of the nearest center of each row, the first of several."""
    centers = np.ascontiguousarray(centers, np.float64)
    if not sp.issparse(X) and X.size * len(centers) <= FEW_PRODUCTS:
        return np.asarray(cdist(X, centers, "sqeuclidean").argmin(axis=1), np.int32)
    rows = assignment_of(X, None)
    rows.forget_labels()
    rows.assign(centers)
    return rows.labels
