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
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime.blas import one_blas_thread

from .margin_problem import Array, MarginProblem

Solve = Callable[[Array], Array]

CELLS_PER_BLOCK = 100_000
TO_THE_EDGE = 0.995  # of the longest step that stays inside
FINE = 1e-10  # the gap that a fit goes on to, of the objective without weights


class InteriorPoint:
    """A plane, and for each row and each of its sides a multiplier a, a slack xi and a lead u.

    ``u = s f + xi - r >= 0`` with s = +1 for a score that must not be low, -1 for one that must not
    be high, and r = s t - epsilon; the price c of the side gives ``0 <= a <= c``.
    """

    def __init__(self, problem: MarginProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        up, down = np.flatnonzero(problem.above > 0), np.flatnonzero(problem.below > 0)
        self.row = np.concatenate([up, down])
        self.s = np.repeat([1.0, -1.0], [len(up), len(down)])
        self.c = np.concatenate([problem.above[up], problem.below[down]])
        self.r = self.s * problem.t[self.row] - problem.epsilon
        self.w, self.b = np.zeros(problem.d), 0.0
        self.f = np.zeros(len(problem.t))
        self.a = self.c / 2
        size = max(1.0, float(np.abs(self.r).max(initial=0.0)))
        self.xi = np.maximum(self.r, 0.0) + size
        self.u = self.xi - self.r
        self.small_gap = tol * problem.zero
        self.last = np.inf
        self.violation = np.inf

    start = None  # a fit with another penalty begins anew

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (1, d) and intercept (1,)."""
        return self.w[np.newaxis], np.array([self.b])

    def _by_row(self, values: Array) -> Array:
        """The sums (n,) of what the sides of each row have."""
        return np.asarray(np.bincount(self.row, values, len(self.f)), np.float64)

    @property
    def beta(self) -> Array:
        """The multipliers of the rows (n,)."""
        return self._by_row(self.s * self.a)

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the plane is made of: those whose multiplier is more than its lead."""
        return np.unique(self.row[self.a * self.scale > self.u])

    @property
    def scale(self) -> float:
        """What makes multipliers and leads comparable."""
        return float(np.abs(self.r).mean() / self.c.mean()) if len(self.c) else 1.0

    def advance(self) -> bool:
        """Make a step; return whether the gap is small and falls no more."""
        with one_blas_thread(), np.errstate(all="ignore"):
            self._step()
        gap = self.gap()
        done = gap <= FINE * self.problem.zero or (gap >= 0.5 * self.last and gap <= self.small_gap)
        self.last = min(gap, self.last)
        return bool(done)

    def _step(self) -> None:
        a, u, xi = self.a, self.u, self.xi
        g = self.c - a
        theta = 1 / (u / a + xi / g)
        solve = self._factor(theta)
        mean = float(a @ u + g @ xi) / (2 * len(a))
        nothing = np.zeros_like(a)
        da, du, dxi, *_ = self._direction(solve, theta, g, nothing, nothing)
        length = min(reach(a, da), reach(u, du), reach(g, -da), reach(xi, dxi))
        left = (a + length * da) @ (u + length * du) + (g - length * da) @ (xi + length * dxi)
        centred = mean * (float(left) / (2 * len(a) * mean)) ** 3
        first, second = centred - da * du, centred + da * dxi
        da, du, dxi, dw, db = self._direction(solve, theta, g, first, second)
        length = min(reach(a, da), reach(u, du), reach(g, -da), reach(xi, dxi))
        length = min(1.0, TO_THE_EDGE * length)
        if not np.isfinite(length) or not np.isfinite(dw).all():
            return
        self.a, self.xi = a + length * da, xi + length * dxi
        self.w, self.b = self.w + length * dw, self.b + length * db
        self.f = self.problem.scores(self.w) + self.b
        self.u = u + length * du

    def _direction(
        self, solve: Solve, theta: Array, g: Array, first: Array, second: Array
    ) -> tuple[Array, Array, Array, Array, float]:
        """The changes of a, u, xi, w and b that bring a u to `first` and (c - a) xi to `second`."""
        problem, a, u, xi = self.problem, self.a, self.u, self.xi
        short = first / a - second / g + self.r - self.s * self.f[self.row]
        push = self._by_row(self.s * (a + theta * short))
        right = np.append(problem.combination(push) - self.w, push.sum() - self._pull())
        move = solve(right)
        dw, db = move[:-1], float(move[-1])
        df = problem.scores(dw) + db
        da = theta * (short - self.s * df[self.row])
        du = first / a - u - u / a * da
        dxi = second / g - xi + xi / g * da
        return da, du, dxi, dw, db

    def _pull(self) -> float:
        """The slope of the intercept's penalty."""
        return self.b / self.problem.bias**2 if self.problem.bias else 0.0

    def _factor(self, theta: Array) -> Solve:
        """A function that solves the Newton system, of d weights and the intercept."""
        problem = self.problem
        H = gram(problem.X, self._by_row(theta))
        H.flat[: -1 : problem.d + 2] += 1.0
        if problem.bias:
            H[-1, -1] += 0.0 if problem.free else 1 / problem.bias**2
        else:
            H[-1], H[:, -1], H[-1, -1] = 0.0, 0.0, 1.0
        factor = scipy.linalg.cho_factor(H, lower=True, check_finite=False)
        return lambda right: np.asarray(
            scipy.linalg.cho_solve(
                factor, right if problem.bias else np.append(right[:-1], 0.0), check_finite=False
            )
        )

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
        kept = np.flatnonzero(h[start : start + size]) + start
        if len(kept) == 0:
            continue
        block = X[start : start + size] if len(kept) == size else X[kept]
        root = np.sqrt(h[kept])[:, np.newaxis]
        if sp.issparse(block):
            block = block.multiply(root).tocsr()
            H[:d, :d] += (block.T @ block).toarray()
            H[d, :d] += np.ravel(block.T @ root)
        else:
            block = block * root
            H[:d, :d] += block.T @ block
            H[d, :d] += (root.T @ block)[0]
        H[d, d] += h[kept].sum()
    H[:d, d] = H[d, :d]
    return H
