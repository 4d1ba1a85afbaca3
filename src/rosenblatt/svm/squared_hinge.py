"""The squared loss of a margin as a smooth problem, for Newton's method and coordinate descent.

The objective is quadratic wherever no row crosses its margin, so that Newton's method ends after
finitely many steps, with the exact minimum. With an L2 penalty, and the multipliers
``beta_i = -d loss / d f_i``, the duality gap is half the squared length of the gradient.
"""

import numpy as np
from numpy.typing import NDArray

from rosenblatt.solvers.logistic_coordinate import coordinate
from rosenblatt.solvers.logistic_problem import BLOCK, Array, Iterate, PenalizedProblem, total
from rosenblatt.solvers.newton import newton, newton_cg

from . import squared_hinge_loops
from .interior_point import gram
from .margin_problem import MarginProblem, MarginSolver

MOST_COLUMNS = 1500  # whose second derivative is formed
EXACT = 1e-9  # of the first gradient: the next step reaches the minimum up to rounding


class SquaredHingeProblem(PenalizedProblem):
    """The primal of a margin problem as a smooth problem."""

    def __init__(self, margin: MarginProblem) -> None:
        super().__init__(
            margin.X, np.maximum(margin.above, margin.below),
            float(margin.l1), float(not margin.l1), margin.bias > 0,
        )  # fmt: skip
        self.margin = margin
        self.P = np.empty(self.n)
        self.bias_curvature = 1 / margin.bias**2 if margin.bias > 0 else 0.0

    def _loss(self, point: Array) -> tuple[float, Array]:
        margin = self.margin

        def work(start: int, stop: int) -> tuple[float, Array]:
            gradient = np.zeros(self.d + 1)
            loss = squared_hinge_loops.loss_pass(
                margin.rows, margin.t, margin.above, margin.below, margin.epsilon, start, stop,
                point, self.P, np.empty(BLOCK), gradient,
            )  # fmt: skip
            return loss, gradient

        parts = self.over_rows(work)
        gradient = total([g for _, g in parts])
        gradient[-1] += self.bias_curvature * point[-1]
        penalty = 0.5 * self.bias_curvature * float(point[-1]) ** 2
        return sum(loss for loss, _ in parts) + penalty, gradient

    def _curvature(self, P: Array, v: Array) -> Array:
        def work(start: int, stop: int) -> Array:
            product = np.zeros(self.d + 1)
            squared_hinge_loops.curvature_pass(self.margin.rows, P, start, stop, v, product)
            return product

        product = total(self.over_rows(work))
        product[-1] += self.bias_curvature * v[-1]
        return product

    def hessian(self, iterate: Iterate, chosen: NDArray[np.intp] | None = None) -> Array:
        bend = self.probabilities(iterate)
        chosen = np.arange(self.d + 1) if chosen is None else chosen
        columns = chosen[chosen < self.d]
        every = len(columns) == self.d
        H = gram(self.X if every else self.X[:, columns], bend)
        H[-1, -1] += self.bias_curvature
        if len(columns) == len(chosen):
            H = H[:-1, :-1]
        return self._penalized(H, chosen == self.d)

    def diagonal(self, iterate: Iterate) -> Array:
        bend = self.probabilities(iterate)
        diagonal = self._diagonal_of(bend)
        diagonal[-1] += self.bias_curvature
        return diagonal


class SquaredHinge(MarginSolver):
    """Steps of Newton's method in the primal, or of coordinate descent with an L1 penalty."""

    def __init__(
        self, problem: MarginProblem, tol: float, start: tuple[Array, float] | None = None
    ) -> None:
        super().__init__(problem, tol)
        self.smooth = SquaredHingeProblem(problem)
        point = np.zeros(problem.d + 1) if start is None else np.append(*start)
        self.iterate = self.smooth.at(point)
        self.violation = self.iterate.gradient_norm
        at_zero = self.iterate if start is None else self.smooth.at(np.zeros(problem.d + 1))
        self.first = at_zero.gradient_norm
        self.wanted = tol * self.first
        method = newton_cg if problem.d > MOST_COLUMNS else newton
        self.steps = (coordinate if problem.l1 else method)(self.smooth, self.iterate)

    @property
    def planes(self) -> tuple[Array, float]:
        return self.iterate.point[:-1], float(self.iterate.point[-1])

    start = planes

    @property
    def multipliers(self) -> Array:
        w, b = self.planes
        return np.asarray(self.problem.natural(self.problem.scores(w) + b))

    def advance(self) -> bool:
        """Make a step; return whether gradient and gap are small and the step was the last.

        When both are small, few rows still cross their margin, so one more step is nearly exact.
        """
        was_near = self.violation <= self.wanted and self.gap() <= self.small_gap
        new = next(self.steps, None)
        if new is not None:
            self.iterate, self.violation = new, new.gradient_norm
        exact = new is None or self.violation <= EXACT * self.first
        return was_near or (exact and self.gap() <= self.small_gap)

    def objective(self) -> float:
        return self.iterate.objective

    def gap(self) -> float:
        if self.problem.l1 or self.problem.free:
            return super().gap()
        return 0.5 * self.violation**2 + 1e-14 * abs(self.objective())
