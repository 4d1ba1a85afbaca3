"""Squared distances between rows: by BLAS where that is accurate, else from differences.

``|u|^2 + |v|^2 - 2 u.v`` takes one product of matrices, but is off by a few roundings of |u|^2: all
of a distance between neighbours, if they are far from the origin. Rows are then moved to their
mean; and where that does not help, because there are several groups far apart, differences are
taken one by one. Sums are in 64 bits also for rows in 32.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms, safe_sparse_dot

ACCURATE = 1e-10  # what a distance times `scale` may be off by
ROWS_PER_BLOCK = 4096
ROUNDING = 8 * float(np.finfo(np.float64).eps)


class Distances:
    """Squared distances (n, m) of rows U from the rows V (m, d) known beforehand, times `scale`.

    The scale decides how accurate they must be; in 32 bits it or they alone might overflow.
    """

    def __init__(self, V: Any, scale: float) -> None:
        self.V, self.scale = V, scale
        self.centre = np.zeros(V.shape[1])
        self.squares = row_norms(V, squared=True).astype(np.float64)
        if sp.issparse(V) or self._good_enough():
            self.by_blas = True
            return
        self.centre = V.mean(axis=0, dtype=np.float64)
        blocks = [row_norms(self._block(rows), squared=True) for rows in self._blocks()]
        self.squares = np.concatenate(blocks)
        self.by_blas = self._good_enough()

    def _good_enough(self) -> bool:
        return ROUNDING * float(self.squares.max(initial=0.0)) * self.scale <= ACCURATE

    def __call__(self, U: Any) -> NDArray[Any]:
        as_they_are = self.by_blas and self.V.dtype == np.float64 and not self.centre.any()
        if sp.issparse(self.V) or as_they_are:
            result = self._expanded(U, self.V, self.squares)
            result *= self.scale
            return result
        measure = self._expanded if self.by_blas else _from_differences
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
    def _expanded(U: Any, V: Any, squares: NDArray[np.float64]) -> NDArray[Any]:
        """``|u|^2 + |v|^2 - 2 u.v``, never negative."""
        result = products(U, V)
        result *= -2
        result += squares
        result += row_norms(U, squared=True)[:, np.newaxis]
        return np.asarray(np.maximum(result, 0, out=result))


def _from_differences(U: Any, V: Any, squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """``|u - v|^2`` as it stands."""
    return np.asarray(cdist(U, V, "sqeuclidean"))


def products(U: Any, V: Any) -> NDArray[Any]:
    """All scalar products (n, m) of rows."""
    if sp.issparse(U) and sp.issparse(V) and U.shape[0] == 1:  # many times faster than both sparse
        return np.asarray(V @ U.toarray()[0])[np.newaxis]
    return np.asarray(safe_sparse_dot(U, V.T, dense_output=True))
