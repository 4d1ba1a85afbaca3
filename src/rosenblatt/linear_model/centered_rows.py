"""Centered rows times the roots of their weights, for least squares; column offsets."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.runtime.threads import one_blas_thread

Array = NDArray[np.float64]

BLOCK_CELLS = 500_000  # rows are made dense, or doubles, this many numbers at a time


class CenteredRows:
    """Rows X (n, d), dense or CSR, targets Y (n,) or (n, t) and weights (n,), about their means.

    With ``center=False`` rows are not centered: for fits without an intercept. X is never copied,
    nor made dense if it is sparse. `means` are those of X and Y, if they are known already.
    """

    def __init__(
        self, X: Any, Y: Array, weights: Any, center: bool, means: tuple[Array, Array] | None = None
    ) -> None:
        Y = np.asarray(Y, np.float64)
        Y = Y[:, None] if Y.ndim == 1 else Y
        if weights is not None and not np.all(weights):
            kept = np.flatnonzero(weights)  # others do not count
            X, Y, weights = X[kept], Y[kept], weights[kept]
        self.X, self.Y = X, Y
        self.roots = None if weights is None else np.sqrt(weights)
        n, d = X.shape
        self.shape, self.sparse = (n, d), sp.issparse(X)
        self.weight = float(n) if weights is None else float(weights.sum())
        if not center:
            self.mean_x, self.mean_y = np.zeros(d), np.zeros(Y.shape[1])
        elif means is not None:
            self.mean_x, self.mean_y = means
        else:
            shares = np.full(n, 1 / n) if weights is None else weights / self.weight
            self.mean_x, self.mean_y = _doubles(X.T @ shares), shares @ Y

    @property
    def targets(self) -> Array:
        """Centered, weighted targets, (n, t)."""
        return self._weighted(self.Y - self.mean_y)

    def product(self, W: Array) -> Array:
        """Return the rows times W (d,) or (d, t)."""
        return self._weighted(np.asarray(_doubles(self.X @ W) - self.mean_x @ W))

    def adjoint(self, R: Array) -> Array:
        """Return the transpose of the rows times R (n,) or (n, t)."""
        R = self._weighted(R)
        return _doubles(self._transposed @ R - np.multiply.outer(self.mean_x, R.sum(axis=0)))

    @cached_property
    def _transposed(self) -> Any:
        """Columns of X as rows, which sparse products read faster."""
        return self.X.T.tocsr() if self.sparse else self.X.T

    def _weighted(self, rows: Array) -> Array:
        if self.roots is None:
            return rows
        return np.asarray(rows * (self.roots if rows.ndim == 1 else self.roots[:, None]))

    def blocks(self, width: int = 0) -> Iterator[tuple[slice, Array]]:
        """Yield the rows in blocks, dense and in doubles; `width` numbers are made of each."""
        n, d = self.shape
        size = max(1, BLOCK_CELLS // max(d, width), min(n, 2 * d) if n > d else 1)
        for start in range(0, n, size):
            here = slice(start, start + size)
            rows = self.X[here]
            rows = rows.toarray() if sp.issparse(rows) else rows
            rows = rows.astype(np.float64) - self.mean_x
            if self.roots is not None:
                rows *= self.roots[here, None]
            yield here, rows

    def condensed(self) -> tuple[Array, Array]:
        """Return at most d + t rows A (m, d) and targets B (m, t) of the same problem."""
        # The triangle of a QR decomposition, updated with one block of rows after the other.
        d, targets = self.shape[1], self.targets
        triangle = np.zeros((0, d + targets.shape[1]))
        with one_blas_thread():
            for here, rows in self.blocks():
                triangle = np.vstack([triangle, np.hstack([rows, targets[here]])])
                if len(triangle) > triangle.shape[1]:
                    triangle = _doubles(np.linalg.qr(triangle, mode="r"))
        A, B = triangle[:, :d], triangle[:, d:]
        # All that is left of constant columns is the rounding of their means.
        rounding = 2.0**-50 * np.sqrt(self.weight) * np.abs(self.mean_x)
        A[:, np.abs(A).max(axis=0) <= rounding] = 0.0
        return A, B

    def dual(self) -> Array:
        """Return the products (n, n) of all pairs of rows."""
        n = self.shape[0]
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            if self.sparse:
                X = self.X.astype(np.float64)
                products = _doubles((X @ X.T).toarray())
                along = _doubles(X @ self.mean_x)
                products += self.mean_x @ self.mean_x - along[:, None] - along
                if self.roots is not None:
                    products *= np.outer(self.roots, self.roots)
            else:
                products, size = np.zeros((n, n)), max(1, BLOCK_CELLS // n)
                for start in range(0, self.shape[1], size):
                    here = slice(start, start + size)
                    columns = self.X[:, here].astype(np.float64) - self.mean_x[here]
                    columns = self._weighted(columns)
                    products += columns @ columns.T
        return _doubles(checks.in_range(products, "Products of rows are"))

    def squares(self) -> Array:
        """Return the sum of squares of each centered column, (d,)."""
        if self.sparse:
            squared = self.X.astype(np.float64).power(2)
            weights = np.ones(self.shape[0]) if self.roots is None else self.roots**2
            total = _doubles(squared.T @ weights) - self.weight * self.mean_x**2
            return np.maximum(total, 0.0)
        total = np.zeros(self.shape[1])
        for _, rows in self.blocks():
            total += (rows**2).sum(axis=0)
        return total


def _doubles(values: Any) -> Array:
    return np.asarray(values, np.float64)


# Columns far from zero are shifted internally for numerical stability.
#
# Where a mean is many deviations from zero, as in years or time stamps, the joint curvature of
# weight and bias loses all digits. A bias that is not penalized makes up for any shift of columns.


FAR = 1e3  # deviations from zero
ENOUGH_ROWS = 1000  # to see where a column is
ENOUGH_CELLS = 500_000


def offsets(X: Any, fit_intercept: bool) -> Array | None:
    """Return offsets (d,) of columns that are far from zero; None if no column is."""
    # An offset is one of the column's values, so that differences near it are exact. Of a sparse
    # table only columns without an empty place are shifted, which leaves it as sparse as it was.
    if not fit_intercept:
        return None
    n_rows = min(ENOUGH_ROWS, max(ENOUGH_CELLS // X.shape[1], 10))
    some = X[:: max(1, X.shape[0] // n_rows)]
    columns = _full(some) if sp.issparse(X) else np.arange(X.shape[1])
    if sp.issparse(X):
        some = some[:, columns].toarray()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = some.mean(axis=0, dtype=np.float64)
        far = np.flatnonzero(np.abs(mean) > FAR * some.std(axis=0, dtype=np.float64))
        far = far[np.ptp(some[:, far], axis=0) > 0]  # not constants
    if len(far) and sp.issparse(X):
        far = far[np.isin(columns[far], _full(X))]
    if not len(far):
        return None
    nearest = np.abs(some[:, far] - mean[far]).argmin(axis=0)
    shift = np.zeros(X.shape[1])
    shift[columns[far]] = some[nearest, far]
    return shift


def subtract_offsets(X: Any, shift: Array | None) -> Any:
    """Return the table with its columns less their offsets, in the same dtype and storage."""
    if shift is None:
        return X
    shift = shift.astype(X.dtype)
    if not sp.issparse(X):
        return X - shift
    X = X.copy()
    X.data -= shift[X.indices]
    return X


def shift_intercept(table: Array, shift: Array | None, side: int) -> Array:
    """Return weights and biases (d + 1, ...) for shifted (side 1) or original columns (-1)."""
    # The scores stay the same: ``w.x + b = w.(x - shift) + (b + w.shift)``.
    if shift is None:
        return table
    table = table.copy()
    table[-1] += side * (shift @ table[:-1])
    return table


def original_gradient(gradient: Array, shift: Array | None) -> Array:
    """Return the gradient (d + 1, ...) for columns as given, from that for shifted columns."""
    # A weight of ``x - shift`` moves the scores by that of x, less shift times what the bias does.
    if shift is None:
        return gradient
    gradient = gradient.copy()
    gradient[:-1] += np.multiply.outer(shift, gradient[-1])
    return gradient


def _full(X: Any) -> NDArray[np.intp]:
    """Return the columns of a CSR table that have a number in each row, once."""
    full = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])
    return full if not len(full) or X.has_canonical_format else full[:0]
