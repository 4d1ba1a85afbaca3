"""Coordinate descent on few columns of many, for least squares with an elastic-net penalty.

A penalised fit uses few columns. A working set holds those in use and the likeliest others; the
problem on them is solved by its Gram matrix, which grows with the set and is never computed twice.
Then the columns outside are looked at: those that have more in common with the residual than the
penalty allows come into the set, and if there are none, the duality gap says so.

Most columns need not be looked at: one that had ``|x_j' r|`` in common with a residual has at most
``|x_j' r| + |x_j| |r - s|`` with another residual s, and if that is below l1, it stays out.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.loops.rows import arrays
from rosenblatt.runtime import threads
from rosenblatt.solvers import Iterate

from . import coordinate_descent_loops
from .gram_descent import MOST_FINISHING, Array, GramDescent, Penalty, exact

# The columns of a table, centred and weighted, dense or compressed.


class Columns:
    """Columns ``u_i (x_ij - m_j)``, with u the roots of the rows' shares of the weight.

    Dense columns are held just so, one after the other, and so are those of a sparse table that
    have no zeros: far from zero, differences of large products would keep no digit. Others keep
    their zeros: ``u_i x_ij`` is held, and ``m_j u`` is taken off in every product. The length of u
    is one, so that the products of two columns are their weighted covariance.
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
        """Fill left[which] with what these columns have in common with r."""
        balance = float(self.roots @ r) if self.means.any() else 0.0

        def work(start: int, stop: int) -> None:
            coordinate_descent_loops.correlate(
                self.read, self.means, balance, which[start:stop], r, left
            )

        cells = self.table.nnz if sp.issparse(self.table) else self.table.size
        threads.over_chunks(work, len(which), cells * len(which) // max(1, len(self)))

    def residual(self, target: Array, w: Array) -> Array:
        """What is left of a target without ``X w``."""
        r = target.copy()
        shift = coordinate_descent_loops.take_out(self.read, self.means, w, r)
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

    What was learned at one penalty serves at the next: the working set, its Gram matrix, and what
    the columns had in common with the last residual they were compared with.
    """

    def __init__(self, columns: Columns, target: Array) -> None:
        self.columns, self.target = columns, target
        self.yy = float(target @ target)
        self.residual = target.copy()
        d = len(columns)
        self.norms = np.sqrt(columns.squares)
        self.left = np.zeros(d)  # of each column with a residual: not always the last
        self.travelled = 0.0  # by the residual, from one comparison to the next
        self.stamps = np.zeros(d)  # how far that was when a column was compared
        self._compare(np.arange(d))
        self.start = self.left.copy()
        self.chosen = np.zeros(0, np.int64)
        self.xx = np.zeros((0, 0))

    @property
    def n_weights(self) -> int:
        """How many weights there are."""
        return len(self.columns)

    def correlations(self) -> Array:
        """What each column has in common with the target, (d,)."""
        return self.start

    def at(self, penalty: Penalty, w: Array) -> Iterate:
        """What weights are worth, without a step."""
        objective, gap, norm = self._look(penalty, w)
        return Iterate(w, objective, norm, gap)

    def steps(
        self, penalty: Penalty, w: Array, wanted: float = 0.0, rng: Any = None
    ) -> Iterator[Iterate]:
        """Go on from w, which is changed, to the gap `wanted`: a step solves one working set."""
        self._look(penalty, w)
        lower = -np.inf  # the best lower bound so far
        while True:
            self._choose(penalty, w)
            if len(self.chosen) <= LARGEST:
                self._solve_set(penalty, w, TIGHTER * wanted, rng)
            else:
                self._sweep_set(penalty, w, rng)
            objective, gap, norm = self._look(penalty, w)
            lower = max(lower, objective - gap)
            yield Iterate(w, objective, norm, max(0.0, objective - lower))

    def finish(self, penalty: Penalty, w: Array, step: Iterate) -> Iterate:
        """Go from w, which is changed, and is good enough at `step`, to the minimum near by."""
        best, lower = w.copy(), step.objective - step.gap
        for _ in range(MOST_FINISHING):
            self._choose(penalty, w)
            if exact(step, self.yy, self.start) or len(self.chosen) > LARGEST:
                break
            inner = GramDescent(self.xx, self.start[self.chosen], self.yy)
            weights = w[self.chosen]
            inner.finish(penalty, weights, step)
            w[self.chosen] = weights
            objective, gap, norm = self._look(penalty, w)
            if not objective < step.objective:
                break
            best[:], lower = w, max(lower, objective - gap)
            step = Iterate(w, objective, norm, max(0.0, objective - lower))
        w[:] = best
        return step

    def _look(self, penalty: Penalty, w: Array) -> tuple[float, float, float]:
        """Bring the residual up to date, and all columns that may matter at this penalty."""
        before, self.residual = self.residual, self.columns.residual(self.target, w)
        self.travelled += float(np.linalg.norm(self.residual - before))
        bounds = self._bounds()
        self._compare(np.flatnonzero((bounds >= penalty.l1) | (w != 0)))
        # Of a column that was not compared, the bound is all that is known, and enough.
        known = np.where(self.stamps == self.travelled, self.left, self._bounds())
        rr, tr = float(self.residual @ self.residual), float(self.residual @ self.target)
        objective, gap, norm = coordinate_descent_loops.measure(rr, tr, known, w, *penalty)
        return objective, gap, norm

    def _bounds(self) -> Array:
        """The most that each column can have in common with the residual."""
        return np.abs(self.left) + self.norms * (self.travelled - self.stamps)

    def _compare(self, which: NDArray[np.intp]) -> None:
        """Bring `left` up to date for some columns."""
        self.columns.correlate(which, self.residual, self.left)
        self.stamps[which] = self.travelled

    def _choose(self, penalty: Penalty, w: Array) -> None:
        """Let the columns nearest to their limit into the set."""
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
        old = self.chosen
        self.chosen = np.concatenate([old, new])
        if len(self.chosen) > LARGEST:
            self.xx = np.zeros((0, 0))
            return
        grown = np.empty((len(self.chosen), len(self.chosen)))
        k = len(old)
        grown[:k, :k] = self.xx
        grown[k:] = self.columns.products(new, self.chosen)
        grown[:k, k:] = grown[k:, :k].T
        self.xx = grown

    def _solve_set(self, penalty: Penalty, w: Array, wanted: float, rng: Any) -> None:
        """Solve the problem on the working set."""
        inner = GramDescent(self.xx, self.start[self.chosen], self.yy)
        weights = w[self.chosen]
        steps = inner.steps(penalty, weights, rng=rng)
        for step, _ in zip(steps, range(MOST_INNER_STEPS), strict=False):
            if step.gap <= wanted:
                break
        w[self.chosen] = weights

    def _sweep_set(self, penalty: Penalty, w: Array, rng: Any) -> None:
        """Sweep over the columns of a set whose Gram matrix would be too large."""
        order = self.chosen.copy()
        for _ in range(SWEEPS):
            if rng is not None:
                rng.shuffle(order)
            self.columns.sweep(penalty, order, w, self.target)
