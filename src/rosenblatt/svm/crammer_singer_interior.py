"""An interior point method for all classes in one problem, if there are few columns and classes.

As `interior_point`, with a multiplier for each row and other class and one slack a row. A step
costs a weighted Gram matrix for each two classes, and some twenty steps are enough.

Few of many rows determine the planes. The planes of a sample show which rows lie near their
margins; the planes of these show which rows are missing. The multipliers of all other rows are
zero, so a bound from the multipliers of some rows holds for all.
"""

from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from rosenblatt.loops.rows import arrays

from . import crammer_singer_loops as loops
from .crammer_singer import CrammerSingerProblem
from .interior_point import FALLING, FINE, ScreenedInteriorPoint
from .interior_point_loops import weighted_rows
from .margin_problem import Array, MarginSolver

CELLS_PER_BLOCK = 120_000
MOST_PAIRS = 3000  # of columns, of which all products are formed and serve all classes
MOST_KNOWN = 2_000_000  # such products that are kept
MOST_OF_STEP = 0.995  # of the longest step that stays inside
MOST_CORRECTIONS = 2  # of a direction, each a tenth of the work of the system
LONGER = 0.01  # a correction that does not lengthen the step so much is the last
STEPS_PER_GAP = 8  # between two evaluations of the gap, as long as it cannot be small
MOST_WITHOUT_PROGRESS = 50  # evaluations since the gap was least

SAMPLE = 500  # rows of the first fit
SCREENED_ROWS = 2000  # from which rows are screened
FIRST_GAP = 0.005  # of the objective without weights: the gap at which rows are screened
NEAR = 0.3  # distance beyond the margin up to which a row may be needed
OF_A_CLASS = 20  # rows with the least lead, which are always kept
MOST = 0.5  # share of the rows above which all are kept


class CrammerSingerInterior(MarginSolver):
    """Planes; a multiplier a and a lead u for each row and other class; a slack xi for each row.

    ``u = f_y - f_k + xi - 1 >= 0``, ``a >= 0``, and ``g = c - sum_k a >= 0``; the products a u and
    g xi are brought to zero.
    """

    def __init__(self, problem: CrammerSingerProblem, tol: float) -> None:
        super().__init__(problem, tol)
        # Rows without cost are left out: their multipliers would have no interior.
        self.kept = np.flatnonzero(problem.c > 0)
        self.X, self.codes = problem.X[self.kept], problem.codes[self.kept]
        self.c, n, K = problem.c[self.kept], len(self.kept), problem.n_classes
        self.planes = np.zeros((K, problem.X.shape[1])), np.zeros(K)
        a, u, q, da, du, first, fixed = np.zeros((7, n, K))
        xi, g, h, dxi, second, rest = np.zeros((6, n))
        a[:], u[:], xi[:], g[:] = self.c[:, np.newaxis] / K, 1.0, 2.0, self.c / K
        a[np.arange(n), self.codes] = 0.0
        self.state = loops.State(self.codes, a, u, xi, g, q, h)
        self.step = loops.Step(da, du, dxi, first, second, fixed, rest)
        self.least_gap = self.left = np.inf  # and the sum of the products
        self.n_steps = self.n_without_progress = 0
        self.ones = np.ones(n)
        self.best = self._point
        self.known: dict[int, Array] = {}  # products of columns, by the first row of a block

    @property
    def _point(self) -> tuple[Array, Array, tuple[Array, Array]]:
        return self.state.a.copy(), self.state.u.copy(), self.planes

    @property
    def multipliers(self) -> Array:
        alpha = np.zeros((len(self.problem.c), self.problem.n_classes))
        alpha[self.kept] = -self.state.a
        alpha[self.kept, self.codes] = self.state.a.sum(axis=1)
        return alpha

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows with a multiplier larger than its lead."""
        positive = self.state.a > self.state.u * self.c[:, np.newaxis]  # the own one is 0
        return np.asarray(self.kept[positive.any(axis=1)])

    def advance(self) -> bool:
        """Make a step; return whether the gap is small or, due to rounding, no longer falls."""
        self.n_steps += 1
        try:
            with np.errstate(all="ignore"):
                self.left = self._step()
        except scipy.linalg.LinAlgError:
            return self._return_to_best()
        if self.left > self.small_gap and self.n_steps % STEPS_PER_GAP:
            return False
        gap = self.gap()
        if gap < self.least_gap:
            self.best, self.n_without_progress = self._point, 0
        elif self.n_without_progress == MOST_WITHOUT_PROGRESS:
            return self._return_to_best()
        self.n_without_progress += 1
        done = gap <= min(FINE, self.tol / 100) * self.problem.zero or (
            gap >= FALLING * self.least_gap <= self.small_gap
        )
        self.least_gap = min(gap, self.least_gap)
        return bool(done)

    def _return_to_best(self) -> bool:
        self.state.a[:], self.state.u[:], self.planes = self.best
        return True

    def _step(self) -> float:
        """Make Mehrotra's predictor and corrector step; return the sum of the products."""
        state, step = self.state, self.step
        factor = self._factor()
        for part in step:
            part[:] = 0.0
        whole = loops.products(state, step, 0.0)
        length, *_ = self._direction(factor)
        target = whole * (loops.products(state, step, length) / whole) ** 3 / state.a.size
        loops.aim(state, step, target)
        length, dW, db = self._corrected(factor, target, self._direction(factor))
        length = min(1.0, MOST_OF_STEP * length)
        if not (np.isfinite(length) and np.isfinite(dW).all()):
            return 0.0
        W, b = self.planes
        self.planes = W + length * dW, b + length * db
        return float(loops.move(state, step, length))

    def _corrected(
        self, factor: Any, target: float, found: tuple[float, Array, Array]
    ) -> tuple[float, Array, Array]:
        """Return a direction corrected towards the central path while that lengthens the step."""
        for _ in range(MOST_CORRECTIONS):
            length = found[0]
            if length >= 1:
                break
            before = [part.copy() for part in self.step[:3]]
            wanted = min(1.0, max(1.5 * length, length + 0.1))
            loops.correct(self.state, self.step, target, wanted)
            other = self._direction(factor)
            if not other[0] >= length + LONGER:
                for part, old in zip(self.step, before, strict=False):
                    part[:] = old
                break
            found = other
        return found

    def _direction(self, factor: Any) -> tuple[float, Array, Array]:
        """Return the longest step, and the changes of W and b, for the products `step` aims at."""
        W, b = self.planes
        K, d = W.shape
        push = np.empty(self.state.a.shape)
        loops.push(self.state, self.step, push)
        right = np.zeros((K, d + 1))
        right[:, :d] = np.asarray(self.X.T @ push).T - W
        if self.problem.bias:
            right[:, d] = self.ones @ push - b / self.problem.bias**2
        move = dpotrs(factor, right.ravel(), lower=1)[0].reshape(K, d + 1)
        dW, db = move[:, :d], move[:, d]
        df = np.ascontiguousarray(self.X @ dW.T + db, np.float64)
        return loops.change(self.state, self.step, df), dW, db

    def _factor(self) -> Array:
        """Return Cholesky's factor, from LAPACK because SciPy's checks take longer than that."""
        factor, status = dpotrf(self._system().T, lower=1, clean=0, overwrite_a=1)
        if status:
            raise scipy.linalg.LinAlgError("The system is not positive definite.")
        return np.asarray(factor)

    def _system(self) -> Array:
        """Return the identity plus the sum of (x, 1)(x, 1)' (x) M, M (K, K) a row's curvature."""
        (n, K), m = self.state.a.shape, self.X.shape[1] + 1
        upper = np.triu_indices(m)
        by_pair = len(upper[0]) <= MOST_PAIRS
        size = min(max(16, CELLS_PER_BLOCK // (len(upper[0]) if by_pair else m)), n)
        M = np.empty((size, K * (K + 1) // 2))
        sums: Any = np.zeros((M.shape[1], len(upper[0])) if by_pair else (M.shape[1], m, m))
        for start in range(0, n, size):
            stop = min(start + size, n)
            weights = M[: stop - start]
            loops.weigh(self.state, start, stop, weights)
            if by_pair:
                sums += weights.T @ self._pairs(start, stop, len(upper[0]))
            else:
                rows = self._rows(start, stop)
                for part, weight in zip(sums, weights.T, strict=True):
                    part += rows.T @ (rows * weight[:, np.newaxis])
        if by_pair:
            squares = np.empty((len(sums), m, m))
            squares[:, *upper] = squares[:, *upper[::-1]] = sums
            sums = squares
        blocks = np.empty((K, m, K, m))
        for (k, j), part in zip(combinations_with_replacement(range(K), 2), sums, strict=True):
            blocks[k, :, j] = blocks[j, :, k] = part
        H, level = blocks.reshape(K * m, -1), self.problem.bias
        is_bias = np.arange(K * m) % m == m - 1
        if not level:
            H[is_bias] = H[:, is_bias] = 0.0
        # Equal changes of all free intercepts change nothing: a small ridge keeps H regular.
        ridge = 1e-10 * float(H.diagonal()[is_bias].max()) + 1e-300
        own = 1.0 if not level else ridge if self.problem.free else 1 / level**2
        H[np.diag_indices(len(H))] += np.where(is_bias, own, 1.0)
        return H

    def _rows(self, start: int, stop: int) -> Array:
        """Return some rows with a column of ones appended."""
        rows = np.empty((stop - start, self.X.shape[1] + 1))
        weighted_rows(arrays(self.X), np.ones(stop), start, stop, rows)
        return rows

    def _pairs(self, start: int, stop: int, size: int) -> Array:
        """Return the products of each two columns of some rows; cache them if they are few."""
        if start in self.known:
            return self.known[start]
        products, rows = np.empty((stop - start, size)), self._rows(start, stop)
        loops.multiply_pairs(rows, products)
        if len(self.c) * size <= MOST_KNOWN:
            self.known[start] = products
        return products


class ScreenedCrammerSinger(ScreenedInteriorPoint):
    """An interior point method on the rows that determine the planes."""

    def __init__(self, problem: CrammerSingerProblem, tol: float) -> None:
        MarginSolver.__init__(self, problem, tol)
        self.n_screenings = 0
        by_class = np.argsort(np.where(problem.c > 0, problem.codes, -1), kind="stable")
        by_class = by_class[np.count_nonzero(problem.c <= 0) :]
        starts = np.flatnonzero(np.diff(problem.codes[by_class], prepend=-1))
        every = np.arange(0, len(by_class), max(1, len(by_class) // SAMPLE))
        rows = np.sort(by_class[np.union1d(every, starts)])
        c = problem.c[rows]
        self._restart(rows, c * (problem.c.sum() / c.sum()))

    def _restart(self, rows: NDArray[np.intp], c: Array) -> None:
        """Start a fit of some rows with costs c."""
        self.rows, problem = rows, self.problem
        some = replace(problem, X=problem.X[rows], codes=problem.codes[rows], c=c)
        self.solver = CrammerSingerInterior(some, self.tol)

    def advance(self) -> bool:
        """Make a step; return whether the gap of the kept rows is small, and no other is needed."""
        done = bool(self.solver.advance())
        if self.n_screenings < 2:
            if done or self.solver.left <= FIRST_GAP * self.solver.problem.zero:
                self._screen()
            return False
        if not done or self.gap() <= self.small_gap / 100:
            return done
        before = len(self.rows)
        self._screen()
        return len(self.rows) == before

    def _screen(self) -> None:
        """Start with the rows near their margins, or continue if they are kept already."""
        self.n_screenings += 1
        lead, counted = 1 - self.problem.slack(*self.planes, signed=True), self.problem.c > 0
        near = counted & (lead < 1 + (NEAR if self.n_screenings < 3 else 0.0))
        for k in range(self.problem.n_classes):
            own = np.flatnonzero(counted & (self.problem.codes == k))
            near[own[np.argsort(lead[own], kind="stable")[:OF_A_CLASS]]] = True
        if self.n_screenings > 1:
            near[self.rows] = True
        if near.sum() > MOST * counted.sum():
            near, self.n_screenings = counted, max(self.n_screenings, 2)
        rows = np.flatnonzero(near)
        if self.n_screenings == 1 or len(rows) > len(self.rows):
            self._restart(rows, self.problem.c[rows])
