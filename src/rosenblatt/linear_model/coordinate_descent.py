"""Coordinate descent for least squares with an elastic-net penalty.

``P(w) = 1/2 |t - X w|^2 + l1 |w|_1 + l2/2 |w|^2`` is a function of X'X, X't and t't alone. A sweep
minimizes over each weight in turn; it soon finds which weights are zero and the signs of the rest.
While these hold, P is a quadratic, whose minimum is one system of equations away: no number of
sweeps is as exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack

from rosenblatt.loops.rows import arrays
from rosenblatt.runtime import threads

from . import coordinate_descent_loops

Array = NDArray[np.float64]

# Equations with more unknowns than this are left to the sweeps.
MOST_UNKNOWNS = 4096
# Equations are solved after as many sweeps as they cost, and five more: so many unknowns cost one.
SWEEP_WORTH = 32
FIRST_SWEEPS = 5
# A fit that met its tolerance goes on to the exact minimum if it has at most so many unknowns.
MOST_TO_FINISH, EXACT, FLAT = 1024, 1e-12, 1e-9
NEARLY = 1e-6  # the gradient without a penalty, relative to the first, that is worth equations
MOST_FINISHING = 10  # times that signs may change on the last of the way
MOST_LOST = 10  # times that equations are solved again for fewer weights, at one go
EXTRA = (0.0, 1e-14, 1e-12, 1e-10)  # what may be added to their diagonal, as a share of it
HUGE = 1e150


class Penalty(NamedTuple):
    """``l1 |w|_1 + l2/2 |w|^2``, and no weight below zero if `positive`."""

    l1: float
    l2: float = 0.0
    positive: bool = False


def penalty_of(alpha: float, l1_ratio: float, positive: bool) -> Penalty:
    """Return the penalty of scikit-learn's parameters."""
    return Penalty(float(alpha * l1_ratio), float(alpha * (1 - l1_ratio)), bool(positive))


@dataclass(frozen=True, eq=False)
class Iterate:
    """A point after an iteration, and its distance from the optimum."""

    point: Array  # iterations continue to write into it: keep copies
    objective: float
    gradient_norm: float = float("nan")  # length of the shortest subgradient
    gap: float = float("inf")  # upper bound of the distance to the best objective


def exact(step: Iterate, yy: float, xy: Array) -> bool:
    """Return whether gap and gradient are zero but for rounding."""
    # Under a strong penalty the gap rounds to zero while small weights have few digits.
    return step.gap <= EXACT * yy and step.gradient_norm <= FLAT * float(np.linalg.norm(xy))


class GramDescent:
    """The problem given by xx = X'X (d, d), xy = X't (d,) and yy = t't."""

    def __init__(self, xx: Array, xy: Array, yy: float) -> None:
        self.xx, self.xy, self.yy = xx, xy, yy
        self.n_weights = len(xy)

    @property
    def variances(self) -> Array:
        """Squared length of each column, (d,)."""
        return np.diag(self.xx)

    def at(self, penalty: Penalty, w: Array) -> Iterate:
        """Return the objective and the gap at w, without a step."""
        return self._measure(penalty, w, self._left(w))

    def _left(self, w: Array) -> Array:
        """Return ``X'(t - X w)``, (d,)."""
        left = np.empty_like(self.xy)
        coordinate_descent_loops.gram_left(self.xx, self.xy, w, left)
        return left

    def steps(
        self, penalty: Penalty, w: Array, wanted: float = 0.0, rng: Any = None
    ) -> Iterator[Iterate]:
        """Continue from w, which is changed: a step is one sweep, in random order with `rng`."""
        left = self._left(w)
        order = np.arange(self.n_weights)
        settled, sweeps = True, 0  # since the last time that equations were solved
        while True:
            used = int(np.count_nonzero(w))
            if settled and used and sweeps >= FIRST_SWEEPS + used / SWEEP_WORTH:
                sweeps = 0 if self._solve_for_signs(penalty, w, left) else -used
            if rng is not None:
                rng.shuffle(order)
            settled = not coordinate_descent_loops.gram_sweep(self.xx, *penalty, order, w, left)
            sweeps += 1
            yield self._measure(penalty, w, left)

    def finish(self, penalty: Penalty, w: Array, step: Iterate) -> Iterate:
        """Go from w, which is changed, and is good enough at `step`, to the minimum near by."""
        if exact(step, self.yy, self.xy) or not 0 < np.count_nonzero(w) <= MOST_TO_FINISH:
            return step
        best, left, order = w.copy(), self._left(w), np.arange(self.n_weights)
        for _ in range(MOST_FINISHING):
            self._solve_for_signs(penalty, best, left)
            if not coordinate_descent_loops.gram_sweep(self.xx, *penalty, order, best, left):
                break
        last = self._measure(penalty, best, left)
        if not last.objective <= step.objective:
            return step
        w[:] = best
        lower = max(last.objective - last.gap, step.objective - step.gap)
        return replace(last, gap=max(0.0, last.objective - lower))

    def _measure(self, penalty: Penalty, w: Array, left: Array) -> Iterate:
        tr = self.yy - float(self.xy @ w)
        rr = max(0.0, tr - float(left @ w))
        objective, gap, norm = coordinate_descent_loops.measure(rr, tr, left, w, *penalty)
        if penalty == Penalty(0.0) and norm <= NEARLY * np.linalg.norm(self.xy):
            gap = min(gap, self._excess(left))
        return Iterate(w, objective, norm, gap)

    def _excess(self, left: Array) -> float:
        """Return how far plain least squares is from its minimum; a dual point is a weak bound."""
        if self.n_weights > MOST_TO_FINISH:
            return np.inf
        _, step, failed = lapack.dposv(self.xx, left, lower=1)
        return np.inf if failed else max(0.0, float(left @ step) / 2)

    def _solve_for_signs(self, penalty: Penalty, w: Array, left: Array) -> bool:
        """Go to the minimum for the signs of w; return whether that worked."""
        # Where a sign does not hold all the way, its weight stays at zero, and the rest go on.
        for _ in range(MOST_LOST):
            kept = np.flatnonzero(w)
            if not 0 < len(kept) <= MOST_UNKNOWNS:
                return False
            start = w[kept]
            step = self._newton_step(penalty, kept, start, left[kept])
            if step is None:
                return False
            lost = np.flatnonzero((start + step) * start < 0)
            shares = start[lost] / -step[lost]
            share = float(shares.min(initial=1.0))
            w[kept] = start + share * step
            w[kept[lost[shares == share]]] = 0.0
            coordinate_descent_loops.gram_left(self.xx, self.xy, w, left)
            if not len(lost):
                break
        return True

    def _newton_step(
        self, penalty: Penalty, kept: NDArray[np.intp], w: Array, left: Array
    ) -> Array | None:
        """Return the step from w (k,) to the minimum for its signs; None without a minimum.

        It solves ``(X'X + l2 I) step = - gradient``.
        """
        # Columns so alike that rounding decides get a little on the diagonal: the step is then
        # shorter, and still downhill.
        downhill = left - penalty.l2 * w - penalty.l1 * np.sign(w)
        for extra in EXTRA:
            system = self.xx[np.ix_(kept, kept)]
            diagonal = system.ravel()[:: len(kept) + 1]
            diagonal += penalty.l2
            diagonal *= 1 + extra
            _, step, failed = lapack.dposv(system, downhill, lower=1, overwrite_a=1)
            if not failed and np.isfinite(step).all() and np.abs(step).max() < HUGE:
                return np.asarray(step)
        return None


# Few columns of many.
#
# A penalized fit uses few columns. A working set holds those in use and the likeliest others; the
# problem on them is solved by its Gram matrix, which grows with the set and is never computed
# twice. Then each column outside is compared with the residual r: if ``|x_j' r|`` is above l1, it
# enters the set. If there is no such column, the duality gap shows that the fit is optimal.
#
# Most columns need no comparison: with another residual s, ``|x_j' s|`` is at most
# ``|x_j' r| + |x_j| |r - s|``, and if that is below l1, the column stays out.


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
