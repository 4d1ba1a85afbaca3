"""The feature space of a kernel, as far as some rows span it."""

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

ROWS_AT_ONCE = 600  # whose decomposition takes no longer than an interrupt may wait
SMALLEST = 1e-12  # squared lengths below this share of the largest are rounding
ROUNDING = 8 * np.finfo(float).eps  # for each row, in what is left of another
BLOCK = 128  # rows eliminated at a time
NEAR_MOST = 1e-3  # a row of a block with less left than this share of the most waits for another


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """Coordinates F (n, r) of n rows with ``K = F F'``: a column for each direction they span.

    Of a plane with weights w (r,) there, ``w = F'a`` says what each row adds to it.

    >>> space = KernelSpace.of(np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> space.F.shape, np.round(space.F @ space.F.T, 12).tolist()
    ((3, 2), [[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> np.round(space.of_rows(np.array([[1.0, 3.0, 5.0]]) @ space.F), 12)
    array([[2., 2., 5.]])
    """

    F: Array
    order: Rows  # in which rows were eliminated; if all of them were, F[order] is a lower triangle

    @staticmethod
    def of(K: Array) -> "KernelSpace":
        """The space of a symmetric kernel matrix (n, n); what is negative in it is left out."""
        most = float(np.diag(K).max(initial=0.0))
        least = max(SMALLEST, len(K) * ROUNDING) * most
        F, order = _eliminated(K, least)
        others = np.setdiff1d(np.arange(len(K)), order)
        # Where K is not positive semidefinite, something is left between rows of which nothing is.
        left = K[np.ix_(others, others)] - F[others] @ F[others].T
        if most <= 0 or np.abs(left).max(initial=0.0) > 4 * least:
            return KernelSpace(_by_eigenvectors(K), np.empty(0, np.int64))
        return KernelSpace(np.ascontiguousarray(F), order)

    def of_rows(self, planes: Array) -> Array:
        """The shortest a (k, n) of planes (k, r), so that planes = a F."""
        if len(self.order) == len(self.F):
            a = np.empty((len(planes), len(self.F)))
            lower = self.F[self.order]
            a[:, self.order] = solve_triangular(lower, planes.T, trans="T", lower=True).T
            return a
        if not self.F.any():  # all rows are at zero, and add nothing to any plane
            return np.zeros((len(planes), len(self.F)))
        Q, R = self._orthogonal
        return np.asarray(solve_triangular(R, planes.T, trans="T").T @ Q.T)

    @cached_property
    def _orthogonal(self) -> tuple[Array, Array]:
        """Q (n, r) with orthonormal columns and R (r, r), an upper triangle, with F = Q R."""
        Q, R = _patiently(lambda F: qr(F, mode="economic"), self.F)
        return Q, R


def _eliminated(K: Array, least: float) -> tuple[Array, Rows]:
    """F (n, r), and the r rows in the order in which their directions were taken."""
    # Rows that have most left are next, as in Cholesky's decomposition with pivots, until none has
    # more than `least`: a block of them at a time, so that products of matrices do the work.
    n = len(K)
    F, left = np.empty((n, n), order="F"), np.diag(K).copy()  # columns never reached take no memory
    order = np.empty(0, np.int64)
    while (most := left.max(initial=0.0)) > least:
        r = len(order)
        block = np.argpartition(-left, min(BLOCK, n) - 1)[:BLOCK]
        block = block[left[block] > least]
        between = K[np.ix_(block, block)] - F[block, :r] @ F[block, :r].T
        triangle, places, rank, _ = dpstrf(between, tol=max(least, NEAR_MOST * most), lower=1)
        if rank == 0:
            break  # no row has more left than rounding, as it turns out
        chosen, triangle = block[places[:rank] - 1], np.tril(triangle[:rank, :rank])
        new = K[:, chosen] - F[:, :r] @ F[chosen, :r].T
        new = solve_triangular(triangle, new.T, lower=True).T
        new[order], new[chosen] = 0.0, triangle
        F[:, r : r + rank] = new
        order = np.append(order, chosen)
        left -= np.einsum("ij,ij->i", new, new)
        left[order] = 0.0
    return F[:, : len(order)], order


def _by_eigenvectors(K: Array) -> Array:
    """F (n, r) of the positive part of K; one column of zeros if there is none."""
    values, vectors = _patiently(np.linalg.eigh, K)
    kept = values > SMALLEST * max(values[-1], 0.0)
    if not kept.any():  # all rows are where the kernel has its zero: only a bias can be learned
        return np.zeros((len(K), 1))
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _patiently(decompose: Any, matrix: Array) -> Any:
    """The result of what may take seconds in LAPACK, for which Ctrl-C does not wait."""
    if len(matrix) < ROWS_AT_ONCE:
        return decompose(matrix)

    def work() -> Any:
        with one_blas_thread():  # though who waits may have gone
            return decompose(matrix)

    return interruptible(work)
