"""Coordinate descent on few columns of many, for least squares with an elastic-net penalty.

A penalized fit uses few columns. A working set holds those in use and the likeliest others; the
problem on them is solved by its Gram matrix, which grows with the set and is never computed twice.
Then each column outside is compared with the residual r: if ``|x_j' r|`` is above l1, it enters the
set. If there is no such column, the duality gap shows that the fit is optimal.

Most columns need no comparison: with another residual s, ``|x_j' s|`` is at most
``|x_j' r| + |x_j| |r - s|``, and if that is below l1, the column stays out.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.loops.rows import arrays
from rosenblatt.runtime import threads
from rosenblatt.solvers import Iterate

from . import coordinate_descent_loops
from .gram_descent import MOST_FINISHING, Array, GramDescent, Penalty, exact

# The columns of a table, centered and weighted, dense or compressed.


class Columns:
    """Columns ``u_i (x_ij - m_j)``, with u the roots of the rows' shares of the weight.

    Dense columns are stored in this form, and so are columns of a sparse table without zeros: far
    from zero, differences of large products would keep no digit. Other columns keep their zeros:
    ``u_i x_ij`` is stored, and ``m_j u`` is subtracted in every product. The length of u is one, so
    that the product of two columns is their weighted covariance.
    """

    def __init__(self, X: Any, roots: Array, means: Array) -> None:
        if sp.issparse(X):
            self.table = sp.csc_array(X, dtype=np.float64, copy=True)
            self.table.sum_duplicates()
            sizes = np.diff(self.table.indptr)
            full = sizes == X.shape[0]
            self.table.data -= np.repeat(np.where(full, means, 0.0), sizes)
            self.table.data *= roots[self.table.indices]
            self.means: Array = np.where(full, 0.0, means)
            raw = np.asarray(self.table.power(2).sum(axis=0)).ravel()
            self.squares: Array = np.maximum(raw - self.means**2, 0.0)
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
        """Fill left[which] with the products of these columns and r."""
        balance = float(self.roots @ r) if self.means.any() else 0.0

        def work(start: int, stop: int) -> None:
            coordinate_descent_loops.correlate(
                self.read, self.means, balance, which[start:stop], r, left
            )

        cells = self.table.nnz if sp.issparse(self.table) else self.table.size
        threads.over_chunks(work, len(which), cells * len(which) // max(1, len(self)))

    def residual(self, target: Array, w: Array) -> Array:
        """Return ``target - X w``."""
        r = target.copy()
        shift = coordinate_descent_loops.take_out(self.read, self.means, w, r)
        return r + shift * self.roots if shift else r

    def products(self, some: NDArray[np.intp], others: NDArray[np.intp]) -> Array:
        """Return the products of some columns with others, (s, o)."""
        if sp.issparse(self.table):
            raw = (self.table[:, some].T @ self.table[:, others]).toarray()
            return np.asarray(raw - np.outer(self.means[some], self.means[others]))
        return np.asarray(self.table[some] @ self.table[others].T)

    def sweep(self, penalty: Any, order: NDArray[np.int64], w: Array, target: Array) -> None:
        """Minimise over each weight of `order` in turn; changes w."""
        r, shift = target.copy(), np.zeros(1)
        shift[0] = coordinate_descent_loops.take_out(self.read, self.means, w, r)
        coordinate_descent_loops.column_sweep(
            self.read, self.means, self.squares, *penalty, order, w, r, shift
        )


FEWEST = 16  # columns that come into the set at a time, at least
LARGEST = 4096  # beyond this a set is solved on its columns: the Gram matrix would take 128 MB
SWEEPS = 10  # over the columns of a large set, before the others are looked at again
TIGHTER = 0.3  # the problem on the set is solved to this share of the gap that is wanted
MOST_INNER_STEPS = 200


class ColumnDescent:
    """The problem given by columns (d of n numbers) and a target (n,).

    The working set, its Gram matrix, and the product of each column with the last residual it was
    compared with are kept from one penalty to the next.
    """

    def __init__(self, columns: Columns, target: Array) -> None:
        self.columns, self.target = columns, target
        self.n_weights = len(columns)
        self.yy = float(target @ target)
        self.residual = target.copy()
        self.variances = columns.squares
        self.norms = np.sqrt(columns.squares)
        self.left = np.zeros(self.n_weights)  # of each column with a residual: not always the last
        self.travelled = 0.0  # by the residual, from one comparison to the next
        self.stamps = np.zeros(self.n_weights)  # how far that was when a column was compared
        self._compare(np.arange(self.n_weights))
        self.xy = self.left.copy()
        self.chosen = np.zeros(0, np.int64)
        self.xx = np.zeros((0, 0))

    def steps(
        self, penalty: Penalty, w: Array, wanted: float = 0.0, rng: Any = None
    ) -> Iterator[Iterate]:
        """Continue from w, which is changed, to the gap `wanted`: a step solves one working set."""
        self.at(penalty, w)
        lower = -np.inf  # the best lower bound so far
        while True:
            self._choose(penalty, w)
            if len(self.chosen) <= LARGEST:
                self._solve_set(penalty, w, TIGHTER * wanted, rng)
            else:
                self._sweep_set(penalty, w, rng)
            step = self.at(penalty, w)
            lower = max(lower, step.objective - step.gap)
            yield replace(step, gap=max(0.0, step.objective - lower))

    def finish(self, penalty: Penalty, w: Array, step: Iterate) -> Iterate:
        """Go from w, which is changed, and is good enough at `step`, to the minimum near by."""
        best, lower = w.copy(), step.objective - step.gap
        for _ in range(MOST_FINISHING):
            self._choose(penalty, w)
            if exact(step, self.yy, self.xy) or len(self.chosen) > LARGEST:
                break
            weights = w[self.chosen]
            self._problem_of_set().finish(penalty, weights, step)
            w[self.chosen] = weights
            new = self.at(penalty, w)
            if not new.objective < step.objective:
                break
            best[:], lower = w, max(lower, new.objective - new.gap)
            step = replace(new, gap=max(0.0, new.objective - lower))
        w[:] = best
        return step

    def at(self, penalty: Penalty, w: Array) -> Iterate:
        """Return the objective and the gap at w, without a step.

        This updates the residual, and its product with each column that may matter at the penalty.
        """
        before, self.residual = self.residual, self.columns.residual(self.target, w)
        self.travelled += float(np.linalg.norm(self.residual - before))
        bounds = self._bounds()
        self._compare(np.flatnonzero((bounds >= penalty.l1) | (w != 0)))
        # Of a column that was not compared, the bound is all that is known, and enough.
        known = np.where(self.stamps == self.travelled, self.left, self._bounds())
        rr, tr = float(self.residual @ self.residual), float(self.residual @ self.target)
        objective, gap, norm = coordinate_descent_loops.measure(rr, tr, known, w, *penalty)
        return Iterate(w, objective, norm, gap)

    def _bounds(self) -> Array:
        """Return a bound on the product of each column with the residual, (d,)."""
        return np.abs(self.left) + self.norms * (self.travelled - self.stamps)

    def _compare(self, which: NDArray[np.intp]) -> None:
        """Update `left` for some columns."""
        self.columns.correlate(which, self.residual, self.left)
        self.stamps[which] = self.travelled

    def _choose(self, penalty: Penalty, w: Array) -> None:
        """Add the columns nearest to their limit to the working set."""
        used = int(np.count_nonzero(w))
        excess = (self.left if penalty.positive else np.abs(self.left)) - penalty.l1
        with np.errstate(divide="ignore", invalid="ignore"):
            nearness = np.where(self.norms > 0, excess / self.norms, -np.inf)
        nearness[w != 0] = np.inf  # whatever is in use
        if len(self.chosen) > 4 * used + LARGEST // 4:
            self.chosen, self.xx = np.zeros(0, np.int64), np.zeros((0, 0))  # mostly past use
        nearness[self.chosen] = -np.inf
        # As many again as are in use, and all that are over their limit; not too many at a time.
        n_over = min(int(np.count_nonzero(nearness > 0)), used + FEWEST)
        n_new = max(n_over, 2 * used + FEWEST - len(self.chosen))
        n_new = min(n_new, int(np.count_nonzero(nearness > -np.inf)))
        if n_new > 0:
            new = np.argpartition(-nearness, n_new - 1)[:n_new]
            self._extend(np.sort(new))

    def _extend(self, new: NDArray[np.intp]) -> None:
        """Add columns to the set, and their products to its Gram matrix."""
        k = len(self.chosen)
        self.chosen = np.concatenate([self.chosen, new])
        if len(self.chosen) > LARGEST:
            self.xx = np.zeros((0, 0))
            return
        grown = np.empty((len(self.chosen), len(self.chosen)))
        grown[:k, :k] = self.xx
        grown[k:] = self.columns.products(new, self.chosen)
        grown[:k, k:] = grown[k:, :k].T
        self.xx = grown

    def _solve_set(self, penalty: Penalty, w: Array, wanted: float, rng: Any) -> None:
        """Solve the problem on the working set."""
        weights = w[self.chosen]
        steps = self._problem_of_set().steps(penalty, weights, rng=rng)
        for step, _ in zip(steps, range(MOST_INNER_STEPS), strict=False):
            if step.gap <= wanted:
                break
        w[self.chosen] = weights

    def _problem_of_set(self) -> GramDescent:
        return GramDescent(self.xx, self.xy[self.chosen], self.yy)

    def _sweep_set(self, penalty: Penalty, w: Array, rng: Any) -> None:
        """Sweep over the columns of a set whose Gram matrix would be too large."""
        order = self.chosen.copy()
        for _ in range(SWEEPS):
            if rng is not None:
                rng.shuffle(order)
            self.columns.sweep(penalty, order, w, self.target)
