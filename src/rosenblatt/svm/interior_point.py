"""An interior point method for linear support vector machines with few columns.

Every multiplier and its slack stay inside their limits, and the product of each with its partner
is brought to zero by Newton steps (Mehrotra's predictor and corrector). A step costs one weighted
Gram matrix (d, d), and some twenty steps are enough whatever the penalty: coordinate descent needs
thousands of passes when few columns have to satisfy many rows.

References
----------
S. Mehrotra (1992), On the implementation of a primal-dual interior point method. M. C. Ferris,
T. S. Munson (2002), Interior-point methods for massive support vector machines.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.checks import in_range
from rosenblatt.loops.rows import arrays
from rosenblatt.solvers.newton import factored

from . import interior_point_loops
from .margin_problem import Array, MarginProblem, MarginSolver

CELLS_PER_BLOCK = 100_000
FINE, FINE_OF_SMALL = 1e-8, 1e-10  # gap to reach, relative to the objective of zero weights
SMALL = 10_000  # cells of small tables
SPARSE = 0.03  # share of nonzero cells below which products skip zeros
FALLING = 0.9  # a gap that falls by less than a tenth has stopped falling

SCREENED_ROWS = 2000  # from which rows are screened
NEAR = 0.3  # of the margin or the tube: the distance up to which a free row may be needed
LEAST, MOST = 100, 0.5  # number, and share, of rows: with fewer or more, all are kept


class InteriorPoint(MarginSolver):
    """A plane, and for each row and each of its sides a multiplier a, a slack xi and a lead u.

    ``u = s f + xi - r >= 0``, with s = +1 for a lower limit of the score, -1 for an upper one, and
    r = s t - epsilon; the cost c of the side gives ``0 <= a <= c``.
    """

    def __init__(self, problem: MarginProblem, tol: float) -> None:
        super().__init__(problem, tol)
        n, size = len(problem.t), problem.d + 1
        up, down = np.flatnonzero(problem.above > 0), np.flatnonzero(problem.below > 0)
        row, s = np.concatenate([up, down]), np.repeat([1.0, -1.0], [len(up), len(down)])
        c = np.concatenate([problem.above[up], problem.below[down]])
        r = s * problem.t[row] - problem.epsilon
        bias_curvature = 1 / problem.bias**2 if problem.bias else -1.0
        self.sides = interior_point_loops.Sides(row, s, c, r, problem.rows, bias_curvature)
        a, xi = c / 2, np.maximum(r, 0.0) + max(1.0, np.abs(r).max(initial=0.0))
        inverses_and_theta, f, w = np.empty((5, len(c))), np.zeros(n), np.zeros(size)
        self.state = interior_point_loops.State._make([a, xi - r, xi, *inverses_and_theta, f, w])
        changes, f_and_beta = np.empty((3, len(c))), np.empty((2, n))
        self.step = interior_point_loops.Step._make([*changes, np.empty(size), *f_and_beta])
        self.curvature = np.empty(n)  # of each row's loss in the Newton system
        small = len(problem.t) * problem.d < SMALL
        self.fine = min(FINE_OF_SMALL if small else FINE, tol / 100) * problem.zero
        self.least_gap = np.inf

    @property
    def planes(self) -> tuple[Array, float]:
        return self.state.w[:-1], float(self.state.w[-1])

    @property
    def multipliers(self) -> Array:
        signed = self.sides.s * self.state.a
        n = len(self.problem.t)
        return np.asarray(np.bincount(self.sides.row, signed, n), np.float64)

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows with a multiplier larger than its lead."""
        r, c = self.sides.r, self.sides.c
        scale = float(np.abs(r).mean() / c.mean()) if len(c) else 1.0
        return np.unique(self.sides.row[self.state.a * scale > self.state.u])

    def advance(self) -> bool:
        """Make a step; return whether the gap is small and has stopped falling."""
        interior_point_loops.weigh(self.sides, self.state, self.curvature)
        H = gram(self.problem.X, self.curvature)  # for d weights and the intercept
        H.flat[: -1 : self.problem.d + 2] += 1.0
        if self.problem.bias:
            H[-1, -1] += self.sides.bias_curvature
        else:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        left = interior_point_loops.advance(self.sides, self.state, self.step, *factored(H))
        if left > self.small_gap:  # nearly a lower bound of the gap
            return False
        gap = self.gap()
        done = gap <= self.fine or (gap >= FALLING * self.least_gap <= self.small_gap)
        self.least_gap = min(gap, self.least_gap)
        return bool(done)

    def objective(self) -> float:
        return float(self.problem.penalty(*self.planes) + self.problem.loss(self.state.f))


class ScreenedInteriorPoint(MarginSolver):
    """An interior point method on the few of many rows that determine the plane.

    A first plane shows which rows lie near their margins; the plane of these shows which rows are
    missing. The multipliers of all other rows are zero, so a bound from the multipliers of some
    rows holds for all.
    """

    rows: NDArray[np.intp]
    solver: Any  # of these rows

    def __init__(self, problem: MarginProblem, tol: float, w: Array, b: float) -> None:
        super().__init__(problem, tol)
        self.near = NEAR * (problem.epsilon or float(np.abs(problem.t).mean()))
        self._fit(self._near(w, b, self.near))

    def _near(self, w: Array, b: float, beyond: float) -> NDArray[np.bool_]:
        """Return the mask (n,) of rows inside the margin, or within a distance of it."""
        problem = self.problem
        over = problem.t - problem.scores(w) - b
        low = (problem.above > 0) & (over > problem.epsilon - beyond)
        high = (problem.below > 0) & (-over > problem.epsilon - beyond)
        return np.asarray(low | high)

    def _fit(self, chosen: NDArray[np.bool_]) -> None:
        if len(chosen) <= SCREENED_ROWS or not LEAST <= chosen.sum() <= MOST * len(chosen):
            chosen = np.ones(len(chosen), np.bool_)
        self.rows, problem = np.flatnonzero(chosen), self.problem
        if not chosen.all():
            t, above, below = (part[chosen] for part in (problem.t, problem.above, problem.below))
            problem = replace(problem, X=problem.X[self.rows], t=t, above=above, below=below)
        self.solver = InteriorPoint(problem, self.tol)

    @property
    def planes(self) -> Any:
        return self.solver.planes

    @property
    def multipliers(self) -> Array:
        some = self.solver.multipliers
        multipliers = np.zeros((self.problem.X.shape[0], *some.shape[1:]))
        multipliers[self.rows] = some
        return multipliers

    @property
    def support(self) -> NDArray[np.intp]:
        return np.asarray(self.rows[self.solver.support])

    def advance(self) -> bool:
        """Make a step; return whether the gap of the kept rows is small, and no other is needed."""
        if not self.solver.advance():
            return False
        if len(self.rows) == len(self.problem.t) or self.gap() <= self.small_gap / 100:
            return True
        w, b = self.planes
        chosen = self._near(w, b, self.near / 10)
        chosen[self.rows] = True
        found_more = bool(chosen.sum() > len(self.rows))
        if found_more:
            self._fit(chosen)
        return not found_more


def gram(X: Any, h: Array) -> Array:
    """Return the sum of h (x, 1)(x, 1)' over rows, (d + 1, d + 1); skip rows of weight 0."""
    n, d = X.shape
    if sp.issparse(X) and X.nnz < SPARSE * X.shape[0] * d:
        kept = np.flatnonzero(h)
        root = np.sqrt(h[kept])[:, np.newaxis]
        weighted = sp.hstack([X[kept].multiply(root), root], "csr")
        return np.asarray((weighted.T @ weighted).toarray(), np.float64)
    rows, H = arrays(X), np.zeros((d + 1, d + 1))
    size = max(16, CELLS_PER_BLOCK // max(d, 1))
    weighted = np.empty((min(size, n), d + 1))
    for start in range(0, n, size):
        m = interior_point_loops.weighted_rows(rows, h, start, min(start + size, n), weighted)
        with np.errstate(over="ignore", invalid="ignore"):
            H += weighted[:m].T @ weighted[:m]
    return np.asarray(in_range(H, "Squares of X are"), np.float64)
