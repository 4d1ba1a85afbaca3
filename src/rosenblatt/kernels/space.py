"""The subspace of a kernel's feature space that some rows span."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpstrf

from rosenblatt.runtime.threads import interruptible, one_blas_thread

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

ROWS_AT_ONCE = 600  # whose decomposition need not be interruptible
SMALLEST = 1e-12  # squared lengths below this share of the largest are rounding
ROUNDING = 8 * np.finfo(float).eps  # of a remainder, for each eliminated row
BLOCK = 128  # rows eliminated at a time
NEAR_MOST = 1e-3  # a block takes rows with at least this share of the largest remainder


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """Coordinates F (n, r) of n rows with ``K = F F'``.

    Weights w (r,) in these coordinates are ``w = F'a`` with coefficients a (n,) of the rows.

    >>> space = KernelSpace.of(np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> space.F.shape, np.round(space.F @ space.F.T, 12).tolist()
    ((3, 2), [[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> np.round(space.of_rows(np.array([[1.0, 3.0, 5.0]]) @ space.F), 12)
    array([[2., 2., 5.]])
    """

    F: Array
    order: Rows  # of elimination; if all rows were eliminated, F[order] is lower triangular

    @staticmethod
    def of(K: Array) -> "KernelSpace":
        """Return the space of a symmetric kernel matrix (n, n), without its negative part."""
        most = float(np.diag(K).max(initial=0.0))
        least = max(SMALLEST, len(K) * ROUNDING) * most
        F, order = _eliminate(K, least)
        others = np.setdiff1d(np.arange(len(K)), order)
        # If K is not positive semidefinite, products of rows without a remainder can remain.
        left = K[np.ix_(others, others)] - F[others] @ F[others].T
        if most <= 0 or np.abs(left).max(initial=0.0) > 4 * least:
            values, vectors = _interruptible(np.linalg.eigh, K)
            kept = values > SMALLEST * max(values[-1], 0.0)
            F = np.zeros((len(K), 1))  # all rows are zero in the feature space
            if kept.any():
                F = np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
            return KernelSpace(F, np.empty(0, np.int64))
        return KernelSpace(np.ascontiguousarray(F), order)

    def of_rows(self, planes: Array) -> Array:
        """Return the shortest a (k, n) with planes (k, r) = a F."""
        if len(self.order) == len(self.F):
            a = np.empty((len(planes), len(self.F)))
            lower = self.F[self.order]
            a[:, self.order] = solve_triangular(lower, planes.T, trans="T", lower=True).T
            return a
        if not self.F.any():  # all rows are zero
            return np.zeros((len(planes), len(self.F)))
        Q, R = self._qr
        return np.asarray(solve_triangular(R, planes.T, trans="T").T @ Q.T)

    @cached_property
    def _qr(self) -> Any:
        return _interruptible(lambda F: qr(F, mode="economic"), self.F)


def _eliminate(K: Array, least: float) -> tuple[Array, Rows]:
    """Return F (n, r), and the r rows in the order of their elimination."""
    # Cholesky's decomposition with pivots: the rows with the largest remainders are next, until no
    # remainder exceeds `least`; a block at a time, so that most work is matrix products.
    n = len(K)
    F, left = np.empty((n, n), order="F"), np.diag(K).copy()  # unused columns take no memory
    order = np.empty(0, np.int64)
    while (most := left.max(initial=0.0)) > least:
        r = len(order)
        block = np.argpartition(-left, min(BLOCK, n) - 1)[:BLOCK]
        block = block[left[block] > least]
        between = K[np.ix_(block, block)] - F[block, :r] @ F[block, :r].T
        triangle, places, rank, _ = dpstrf(between, tol=max(least, NEAR_MOST * most), lower=1)
        if rank == 0:
            break  # all remainders are rounding
        chosen, triangle = block[places[:rank] - 1], np.tril(triangle[:rank, :rank])
        new = K[:, chosen] - F[:, :r] @ F[chosen, :r].T
        new = solve_triangular(triangle, new.T, lower=True).T
        new[order], new[chosen] = 0.0, triangle
        F[:, r : r + rank] = new
        order = np.append(order, chosen)
        left -= np.einsum("ij,ij->i", new, new)
        left[order] = 0.0
    return F[:, : len(order)], order


def _interruptible(decompose: Any, matrix: Array) -> Any:
    """Return a decomposition by LAPACK, which Ctrl-C can interrupt."""
    if len(matrix) < ROWS_AT_ONCE:
        return decompose(matrix)

    def work() -> Any:
        with one_blas_thread():  # also after the caller was interrupted
            return decompose(matrix)

    return interruptible(work)
