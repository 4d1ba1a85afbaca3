"""An interior point method for machines with a margin and few columns.

Every multiplier and its slack stay inside their limits, and the product of each with its partner
is brought to zero by Newton steps (Mehrotra's predictor and corrector). A step costs one weighted
Gram matrix (d, d), and some twenty steps are enough whatever the penalty: coordinate descent needs
thousands of passes when few columns have to satisfy many rows.

References
----------
S. Mehrotra (1992), On the implementation of a primal-dual interior point method. M. C. Ferris,
T. S. Munson (2002), Interior-point methods for massive support vector machines.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops

from .curvature_factors import factored
from .margin_problem import Array, MarginProblem

Solve = Callable[[Array], Array]

CELLS_PER_BLOCK = 100_000
MOST_USED = 0.7  # of a block of rows, from which on picking them costs more than it saves
TO_THE_EDGE = 0.995  # of the longest step that stays inside
FINE = 1e-8  # the gap that a fit goes on to, of the objective without weights
EXACT, SMALL = 1e-10, 10_000  # that of small tables, which have so many cells at most
FALLING = 0.9  # a gap that falls by less than a tenth falls no more


class InteriorPoint:
    """A plane, and for each row and each of its sides a multiplier a, a slack xi and a lead u.

    ``u = s f + xi - r >= 0`` with s = +1 for a score that must not be low, -1 for one that must not
    be high, and r = s t - epsilon; the price c of the side gives ``0 <= a <= c``.
    """

    start = None  # a fit with another penalty begins anew

    def __init__(self, problem: MarginProblem, tol: float) -> None:
        self.problem = problem
        up, down = np.flatnonzero(problem.above > 0), np.flatnonzero(problem.below > 0)
        row, s = np.concatenate([up, down]), np.repeat([1.0, -1.0], [len(up), len(down)])
        c = np.concatenate([problem.above[up], problem.below[down]])
        r = s * problem.t[row] - problem.epsilon
        self.sides = loops.interior_point.Sides(row, s, c, r)
        self.w, self.b, self.f = np.zeros(problem.d), 0.0, np.zeros(len(problem.t))
        self.a, self.xi = c / 2, np.maximum(r, 0.0) + max(1.0, np.abs(r).max(initial=0.0))
        self.u = self.xi - r
        self.theta, self.h, self.push = np.empty(len(c)), np.empty(len(self.f)), self.f.copy()
        self.changes = tuple(np.zeros(len(c)) for _ in range(3))
        self.small_gap = self.wanted = tol * problem.zero
        small = len(problem.t) * problem.d < SMALL
        self.fine = min(EXACT if small else FINE, tol / 100) * problem.zero
        self.last = self.violation = np.inf

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (1, d) and intercept (1,)."""
        return self.w[np.newaxis], np.array([self.b])

    @property
    def beta(self) -> Array:
        """The multipliers of the rows (n,)."""
        signed = self.sides.s * self.a
        return np.asarray(np.bincount(self.sides.row, signed, len(self.f)), np.float64)

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the plane is made of: those whose multiplier is more than its lead."""
        r, c = self.sides.r, self.sides.c
        scale = float(np.abs(r).mean() / c.mean()) if len(c) else 1.0
        return np.unique(self.sides.row[self.a * scale > self.u])

    def advance(self) -> bool:
        """Make a step; return whether the gap is small and falls no more."""
        with np.errstate(all="ignore"):
            left = self._step()
        if left > self.small_gap:  # the gap is no less, but for what is not yet feasible
            return False
        gap = self.gap()
        done = gap <= self.fine or (gap >= FALLING * self.last <= self.small_gap)
        self.last = min(gap, self.last)
        return bool(done)

    def _step(self) -> float:
        """Mehrotra's predictor and corrector; return the sum of the products that go to zero."""
        loop, state = loops.interior_point, (self.sides, self.a, self.u, self.xi)
        loop.weigh(*state, self.theta, self.h)
        solve = self._factor()
        whole = loop.products(*state, 0.0, *self.changes)
        length, *_ = self._direction(solve, 0.0)
        left = loop.products(*state, length, *self.changes)
        length, dw, db = self._direction(solve, whole * (left / whole) ** 3 / (2 * len(self.a)))
        length = min(1.0, TO_THE_EDGE * length)
        if not (np.isfinite(length) and np.isfinite(dw).all()):
            return 0.0
        loop.move(*state[1:], length, *self.changes)
        self.w, self.b = self.w + length * dw, self.b + length * db
        self.f = self.problem.scores(self.w) + self.b
        return float(loop.products(*state, 0.0, *self.changes))

    def _direction(self, solve: Solve, aim: float) -> tuple[float, Array, float]:
        """The longest step, and the changes of w and b, that bring the products to `aim`."""
        problem, loop = self.problem, loops.interior_point
        state = (self.sides, self.a, self.u, self.xi, self.theta, self.f, aim)
        loop.push(*state, *self.changes, self.push)
        pull = self.b / problem.bias**2 if problem.bias else 0.0
        level = float(self.push.sum()) - pull if problem.bias else 0.0
        move = solve(np.append(problem.combination(self.push) - self.w, level))
        dw, db = move[:-1], float(move[-1])
        df = problem.scores(dw) + db
        return loop.change(*state, df, *self.changes), dw, db

    def _factor(self) -> Solve:
        """A function that solves the Newton system, of d weights and the intercept."""
        problem = self.problem
        H = gram(problem.X, self.h)
        H.flat[: -1 : problem.d + 2] += 1.0
        if problem.bias:
            H[-1, -1] += 0.0 if problem.free else 1 / problem.bias**2
        else:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        return factored(H)

    def objective(self) -> float:
        """The objective of the plane."""
        return self.problem.penalty(self.w, self.b) + self.problem.loss(self.f)

    def gap(self) -> float:
        """How far that is from the best possible, at most."""
        return self.problem.gap(self.objective(), self.beta)


def reach(values: Array, change: Array) -> float:
    """The longest step up to 1 along which values stay >= 0."""
    falling = change < 0
    return min(1.0, float((-values[falling] / change[falling]).min(initial=np.inf)))


def gram(X: Any, h: Array) -> Array:
    """The sum of h (x, 1)(x, 1)' over rows (d + 1, d + 1); rows of weight 0 are passed over."""
    n, d = X.shape
    H = np.zeros((d + 1, d + 1))
    size = max(16, CELLS_PER_BLOCK // max(d, 1))
    for start in range(0, n, size):
        weight, block = h[start : start + size], X[start : start + size]
        used = np.count_nonzero(weight)
        if used < MOST_USED * len(weight):
            kept = np.flatnonzero(weight)
            weight, block = weight[kept], block[kept]
        if used == 0:
            continue
        root = np.sqrt(weight)[:, np.newaxis]
        if sp.issparse(block):
            block = block.multiply(root).tocsr()
            H[:d, :d] += (block.T @ block).toarray()
            H[d, :d] += np.ravel(block.T @ root)
        else:
            block = block * root
            H[:d, :d] += block.T @ block
            H[d, :d] += (root.T @ block)[0]
        H[d, d] += weight.sum()
    H[:d, d] = H[d, :d]
    return H
