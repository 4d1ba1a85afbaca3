"""Squared distances between rows: by BLAS where that is accurate, else from differences.

``|u|^2 + |v|^2 - 2 u.v`` takes one product of matrices, but is off by a few roundings of |u|^2: all
of a distance between neighbours, if they are far from the origin. Rows are then moved to their
mean; and where that does not help, because there are several groups far apart, differences are
taken one by one. Sparse rows are not moved: distances of which too few digits are left, and which
are near enough to count, are computed again from differences. Sums are in 64 bits also for rows in
32. Where a search shares the products of its rows, they are picked out of these.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .shared_products import shared_rows

ACCURATE = 1e-10  # what a distance times `scale` may be off by
ROWS_PER_BLOCK = 4096
ROUNDING = 8 * float(np.finfo(np.float64).eps)
FAR = 750.0  # exp(-distance) is zero from here on
PAIRS_PER_BLOCK = 1 << 14  # of sparse rows whose differences are taken at a time


class Distances:
    """Squared distances (n, m) of rows U from the rows V (m, d) known beforehand, times `scale`.

    The scale decides how accurate they must be; in 32 bits it or they alone might overflow.
    """

    def __init__(self, V: Any, scale: float) -> None:
        self.V, self.scale, self.dtype = V, scale, V.dtype
        if sp.issparse(V):
            self.V = V = V.astype(np.float64, copy=False)
        self.centre = np.zeros(V.shape[1])
        self.shared = shared_rows(V, about_mean=True)
        if self.shared is not None:
            self.squares, self.by_blas = self.shared.squares, True
            if self._good_enough():
                return
            self.shared = None
        self.squares = row_norms(V, squared=True).astype(np.float64)
        if self._good_enough() or sp.issparse(V):
            self.by_blas = self._good_enough()
            return
        self.centre = V.mean(axis=0, dtype=np.float64)
        blocks = [row_norms(self._block(rows), squared=True) for rows in self._blocks()]
        self.squares = np.concatenate(blocks)
        self.by_blas = self._good_enough()

    def _good_enough(self) -> bool:
        return ROUNDING * float(self.squares.max(initial=0.0)) * self.scale <= ACCURATE

    def __call__(self, U: Any) -> NDArray[Any]:
        shared = None if self.shared is None else self.shared.of(U)
        if self.shared is not None and shared is not None:
            apart = _expanded(shared.products(self.shared), shared.squares, self.squares)
            apart *= self.scale
            return apart.astype(self.dtype, copy=False)
        as_they_are = self.by_blas and self.V.dtype == np.float64 and not self.centre.any()
        if sp.issparse(self.V):
            U = sp.csr_matrix(U, dtype=np.float64)
            result = self._by_products(U, self.V, self.squares)
            result *= self.scale
            if not self.by_blas:
                self._correct(result, U)
            return result.astype(self.dtype, copy=False)
        if as_they_are:
            result = self._by_products(U, self.V, self.squares)
            result *= self.scale
            return result
        measure = self._by_products if self.by_blas else _from_differences
        U = (U.toarray() if sp.issparse(U) else U) - self.centre
        result = np.empty((U.shape[0], self.V.shape[0]), self.V.dtype)
        for rows in self._blocks():
            result[:, rows] = self.scale * measure(U, self._block(rows), self.squares[rows])
        return result

    def _blocks(self) -> list[slice]:
        n = self.V.shape[0]
        return [slice(i, min(i + ROWS_PER_BLOCK, n)) for i in range(0, n, ROWS_PER_BLOCK)]

    def _block(self, rows: slice) -> NDArray[np.float64]:
        """Some rows of V, about the centre."""
        return np.asarray(self.V[rows] - self.centre)

    @staticmethod
    def _by_products(U: Any, V: Any, squares: NDArray[np.float64]) -> NDArray[Any]:
        return _expanded(products(U, V), row_norms(U, squared=True), squares)

    def _correct(self, result: NDArray[Any], U: Any) -> None:
        """Compute again what is off by rounding, of pairs of sparse rows that are not far apart."""
        of_rows = row_norms(U, squared=True)
        off = ROUNDING * self.scale * (of_rows[:, np.newaxis] + self.squares)
        i, j = np.nonzero((off > ACCURATE) & (result - off < FAR))
        for start in range(0, len(i), PAIRS_PER_BLOCK):
            pairs = slice(start, start + PAIRS_PER_BLOCK)
            difference = U[i[pairs]] - self.V[j[pairs]]
            result[i[pairs], j[pairs]] = self.scale * row_norms(difference, squared=True)


def _expanded(
    products: NDArray[Any], of_rows: NDArray[np.float64], of_columns: NDArray[np.float64]
) -> NDArray[Any]:
    """``|u|^2 + |v|^2 - 2 u.v`` in place of u.v, never negative."""
    products *= -2
    products += of_columns
    products += of_rows[:, np.newaxis]
    return np.asarray(np.maximum(products, 0, out=products))


def _from_differences(U: Any, V: Any, squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """``|u - v|^2`` as it stands."""
    return np.asarray(cdist(U, V, "sqeuclidean"))


class Products:
    """Scalar products (n, m) of rows U with the rows V (m, d) known beforehand."""

    def __init__(self, V: Any) -> None:
        self.V, self.shared = V, shared_rows(V, about_mean=False)

    def __call__(self, U: Any) -> NDArray[Any]:
        shared = None if self.shared is None else self.shared.of(U)
        if self.shared is None or shared is None:
            return products(U, self.V)
        dtype = np.result_type(U.dtype, self.V.dtype)
        return shared.products(self.shared).astype(dtype, copy=False)


def products(U: Any, V: Any) -> NDArray[Any]:
    """All scalar products (n, m) of rows."""
    if sp.issparse(U) and sp.issparse(V) and U.shape[0] == 1:  # many times faster than both sparse
        return np.asarray(V @ U.toarray()[0])[np.newaxis]
    return np.asarray(safe_sparse_dot(U, V.T, dense_output=True))
