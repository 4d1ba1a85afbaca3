"""Gaussian kernel values of rows: by BLAS where that is accurate, else from differences.

``|u|^2 + |v|^2 - 2 u.v`` takes one product of matrices, but is off by a few roundings of |u|^2: all
of a distance between neighbors, if they are far from the origin. Rows are then moved to their
mean; where that does not help, because there are several groups far apart, differences are taken
one by one. Sparse rows are not moved: distances of which too few digits are left, and which are
near enough to count, are computed again from differences.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from rosenblatt.runtime.threads import over_chunks

from . import gaussian_loops

Floats = NDArray[np.float64]

ACCURATE = 1e-10  # error of an exponent that is accepted
ROUNDING = 8 * float(np.finfo(np.float64).eps)
FAR = 750.0  # exp(-distance) is zero from here on
PAIRS_PER_BLOCK = 1 << 14  # of sparse rows whose differences are taken at a time
COLUMNS = 2048  # of a block that stay in the cache


class GaussianRows:
    """Rows V (m, d), dense or sparse, prepared for ``exp(-gamma |u - v|^2)`` with other rows u.

    With float32 as `dtype`, `write` and `among` compute in single precision.
    """

    def __init__(self, V: Any, gamma: float, dtype: Any = np.float64) -> None:
        self.rate, self.center = np.asarray(gamma, dtype)[()], None
        self.rows = V.astype(np.float64, copy=False)
        self.squares = squared_lengths(self.rows)
        if not sp.issparse(V) and (dtype == np.float32 or not self.accurate):
            self.center = self.rows.mean(axis=0)
            self.rows = self.rows - self.center
            self.squares = squared_lengths(self.rows)
        self.rows = self.rows.astype(dtype, copy=False)
        self.squares = self.squares.astype(dtype, copy=False)

    @property
    def largest(self) -> float:
        """The largest part of an exponent."""
        return float(self.rate) * float(self.squares.max(initial=0.0))

    @property
    def accurate(self) -> bool:
        """Whether the squares leave enough digits of the distances, in float64."""
        return ROUNDING * self.largest <= ACCURATE

    def kernel(self, U: Any) -> Floats:
        """Return the kernel (n, m) of rows U (n, d) with all rows, accurate for any rows."""
        U, of_rows = self._prepared(U)
        if self.accurate or sp.issparse(self.rows):
            K = products(U, self.rows)
            K *= -2
            K += self.squares
            K += of_rows[:, np.newaxis]
            np.maximum(K, 0, out=K)
            K *= -self.rate
            if not self.accurate:
                self._correct(K, sp.csr_matrix(U), of_rows)
        else:
            K = cdist(U, self.rows, "sqeuclidean")
            K *= -self.rate
        return np.asarray(np.exp(K, out=K))

    def _prepared(self, U: Any) -> tuple[Any, Floats]:
        """Return rows about the center, in float64, and their squares."""
        U = U.astype(np.float64, copy=False)
        if self.center is not None:
            U = (U.toarray() if sp.issparse(U) else U) - self.center
        return U, squared_lengths(U)

    def _correct(self, exponents: Floats, U: Any, of_rows: Floats) -> None:
        """Compute again what is off by rounding, of pairs of sparse rows that are not far apart."""
        off = ROUNDING * self.rate * (of_rows[:, np.newaxis] + self.squares)
        i, j = np.nonzero((off > ACCURATE) & (-exponents - off < FAR))
        for start in range(0, len(i), PAIRS_PER_BLOCK):
            pairs = slice(start, start + PAIRS_PER_BLOCK)
            difference = U[i[pairs]] - self.rows[j[pairs]]
            exponents[i[pairs], j[pairs]] = -self.rate * squared_lengths(difference)

    def write(self, some: NDArray[np.intp], places: NDArray[np.intp], kept: NDArray[Any]) -> None:
        """Write the kernel of some rows (q,) with all into the rows `places` of kept."""
        U, of_rows, m = self.rows[some], self.squares[some], len(self.squares)

        def work(start: int, stop: int) -> None:
            for j in range(start, stop, COLUMNS):
                columns = slice(j, min(j + COLUMNS, stop))
                gaussian_loops.gaussian_rows(
                    products(U, self.rows[columns]), of_rows, self.squares[columns], self.rate,
                    places, j, kept,
                )  # fmt: skip

        over_chunks(work, m, m * len(some))

    def among(self, some: NDArray[np.intp]) -> Floats:
        """Return the kernel (q, q) of some rows with each other."""
        U, squares = self.rows[some], self.squares[some]
        K = np.empty((len(some), len(some)))
        gaussian_loops.gaussian_rows(
            products(U, U), squares, squares, self.rate, np.arange(len(some)), 0, K
        )
        return K

    def sums(self, U: Any, a: Floats, some: slice = slice(None)) -> Floats:
        """``a K`` (n, c) for rows U (n, d) and weights a (c, s) of some of V's rows."""
        V, of_columns = self.rows[some], self.squares[some]
        U, of_rows = self._prepared(U)
        n, m = U.shape[0], V.shape[0]
        sums = np.zeros((n, len(a)))

        def work(start: int, stop: int) -> None:
            for j in range(0, m, COLUMNS):
                columns = slice(j, j + COLUMNS)
                gaussian_loops.gaussian_sums(
                    products(U[start:stop], V[columns]), of_rows[start:stop],
                    of_columns[columns], self.rate, a[:, columns], sums[start:stop],
                )  # fmt: skip

        over_chunks(work, n, n * max(m, 1) // 2)
        return sums


def squared_lengths(V: Any) -> NDArray[Any]:
    """Return the squared length (m,) of each row, dense or sparse."""
    if sp.issparse(V):
        return np.asarray(row_norms(V, squared=True))
    return np.asarray(np.einsum("ij,ij->i", V, V))  # what it does after checks that take longer


def products(U: Any, V: Any) -> NDArray[Any]:
    """Return all scalar products (n, m) of rows, dense or sparse."""
    if not sp.issparse(U) and not sp.issparse(V):
        return np.asarray(U @ V.T)
    if sp.issparse(U) and sp.issparse(V) and U.shape[0] == 1:  # many times faster than both sparse
        return np.asarray(V @ U.toarray()[0])[np.newaxis]
    return np.asarray(safe_sparse_dot(U, V.T, dense_output=True))
