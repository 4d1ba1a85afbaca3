"""The columns of a table, centred and weighted, dense or compressed."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops, threads
from rosenblatt.storage import arrays

Array = NDArray[np.float64]


class Columns:
    """Columns ``u_i (x_ij - m_j)``, with u the roots of the rows' shares of the weight.

    Dense columns are held just so, one after the other. Those of a sparse table keep their zeros:
    ``u_i x_ij`` is held, and ``m_j u`` is taken off in every product. The length of u is one, so
    that the products of two columns are their weighted covariance.
    """

    def __init__(self, X: Any, roots: Array, means: Array) -> None:
        if sp.issparse(X):
            self.table = sp.csc_array(X, dtype=np.float64, copy=True)
            self.table.sum_duplicates()
            self.table.data *= roots[self.table.indices]
            self.means = means
            raw = np.asarray(self.table.power(2).sum(axis=0)).ravel()
            self.squares = np.maximum(raw - means**2, 0.0)
            # A column that is constant but for rounding is constant.
            self.squares[self.squares <= 2.0**-48 * raw] = 0.0
        else:
            self.table = np.empty(X.shape[::-1])
            np.subtract(X.T, means[:, None], out=self.table)
            self.table *= roots
            self.means = np.zeros(len(means))
            self.squares = np.einsum("jn,jn->j", self.table, self.table)
        self.roots = roots
        self.read = arrays(self.table.T if sp.issparse(X) else self.table)

    def __len__(self) -> int:
        return len(self.squares)

    def correlate(self, which: NDArray[np.intp], r: Array, left: Array) -> None:
        """Fill left[which] with what these columns have in common with r."""
        balance = float(self.roots @ r) if self.means.any() else 0.0

        def work(start: int, stop: int) -> None:
            loops.coordinate_descent.correlate(
                self.read, self.means, balance, which[start:stop], r, left
            )

        cells = self.table.nnz if sp.issparse(self.table) else self.table.size
        threads.over_chunks(work, len(which), cells * len(which) // max(1, len(self)))

    def residual(self, target: Array, w: Array) -> Array:
        """What is left of a target without ``X w``."""
        r = target.copy()
        shift = loops.coordinate_descent.take_out(self.read, self.means, w, r)
        return r + shift * self.roots if shift else r

    def products(self, some: NDArray[np.intp], others: NDArray[np.intp]) -> Array:
        """The products of some columns with others, (s, o)."""
        if sp.issparse(self.table):
            raw = (self.table[:, some].T @ self.table[:, others]).toarray()
            return np.asarray(raw - np.outer(self.means[some], self.means[others]))
        return np.asarray(self.table[some] @ self.table[others].T)

    def sweep(self, penalty: Any, order: NDArray[np.int64], w: Array, target: Array) -> None:
        """Minimise over each weight of `order` in turn; changes w."""
        r, shift = target.copy(), np.zeros(1)
        shift[0] = loops.coordinate_descent.take_out(self.read, self.means, w, r)
        loops.coordinate_descent.column_sweep(
            self.read, self.means, self.squares, *penalty, order, w, r, shift
        )
