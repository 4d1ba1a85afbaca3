"""The squared loss of a margin as a smooth problem, for Newton's method and coordinate descent.

The objective is quadratic wherever no row crosses its margin, so that Newton's method ends after
finitely many steps, with the exact minimum. With an L2 penalty, and the multipliers
``beta_i = -d loss / d f_i``, the duality gap is half the squared length of the gradient.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from . import logistic_loops, squared_hinge_loops
from .interior_point import gram
from .logistic_coordinate import coordinate
from .logistic_problem import BLOCK, Array, LogisticProblem, Place, added
from .margin_problem import MarginProblem
from .newton import newton, newton_cg

MOST_COLUMNS = 1500  # whose second derivative is formed
EXACT = 1e-9  # of the first gradient: a step further reaches the minimum but for rounding


class SquaredHingeProblem(LogisticProblem):
    """The primal of a margin problem, as the solvers of smooth problems read it."""

    def __init__(self, margin: MarginProblem) -> None:
        super().__init__(
            margin.X, np.maximum(margin.above, margin.below),
            float(margin.l1), float(not margin.l1), margin.bias > 0,
        )  # fmt: skip
        self.margin = margin
        self.bend = np.empty(self.n)
        self.hold = 1 / margin.bias**2 if margin.bias > 0 else 0.0  # of the intercept's penalty

    def _loss(self, point: Array) -> tuple[float, Array]:
        margin = self.margin

        def work(start: int, stop: int) -> tuple[float, Array]:
            gradient = np.zeros(self.d + 1)
            loss = squared_hinge_loops.loss_pass(
                margin.rows, margin.t, margin.above, margin.below, margin.epsilon, start, stop,
                point, self.bend, np.empty(BLOCK), gradient,
            )  # fmt: skip
            return loss, gradient

        parts = self.over_rows(work)
        gradient = added([g for _, g in parts])
        gradient[-1] += self.hold * point[-1]
        return sum(loss for loss, _ in parts) + 0.5 * self.hold * float(point[-1]) ** 2, gradient

    def _curvature(self, P: Array, v: Array) -> Array:
        def work(start: int, stop: int) -> Array:
            product = np.zeros(self.d + 1)
            squared_hinge_loops.curvature_pass(self.margin.rows, P, start, stop, v, product)
            return product

        product = added(self.over_rows(work))
        product[-1] += self.hold * v[-1]
        return product

    def _probabilities(self) -> Array:
        return self.bend

    def hessian(self, place: Place, chosen: NDArray[np.intp] | None = None) -> Array:
        bend = self.probabilities(place)
        chosen = np.arange(self.d + 1) if chosen is None else chosen
        columns = chosen[chosen < self.d]
        every = len(columns) == self.d
        H = gram(self.X if every else self.X[:, columns], bend)
        H[-1, -1] += self.hold
        if len(columns) == len(chosen):
            H = H[:-1, :-1]
        return self._penalised_hessian(H, chosen == self.d)

    def diagonal(self, place: Place) -> Array:
        bend = self.probabilities(place)
        diagonal = np.zeros((self.d, 1))
        logistic_loops.squares_pass(self.margin.rows, bend[:, np.newaxis], 0, self.n, diagonal)
        level = bend.sum() + self.hold if self.fit_intercept else 1.0
        return np.append(diagonal[:, 0] + self.l2, level)


class SquaredHinge:
    """Where a fit in the primal is."""

    def __init__(
        self, problem: MarginProblem, tol: float, start: tuple[Array, float] | None = None
    ) -> None:
        self.problem, self.smooth = problem, SquaredHingeProblem(problem)
        point = np.zeros(problem.d + 1) if start is None else np.append(*start)
        self.place = self.smooth.at(point)
        self.small_gap = tol * problem.zero
        at_zero = self.place if start is None else self.smooth.at(np.zeros(problem.d + 1))
        self.first = at_zero.gradient_norm
        self.wanted = tol * self.first
        self.steps = self._solve()

    def _solve(self) -> Iterator[Place]:
        if self.problem.l1:
            return coordinate(self.smooth, self.place)
        many = self.problem.d > MOST_COLUMNS
        return (newton_cg if many else newton)(self.smooth, self.place)

    @property
    def w(self) -> Array:
        """The weights (d,)."""
        return self.place.point[:-1]

    @property
    def b(self) -> float:
        """The intercept."""
        return float(self.place.point[-1])

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (1, d) and intercept (1,)."""
        return self.w[np.newaxis], np.array([self.b])

    @property
    def start(self) -> tuple[Array, float]:
        """Where a fit with another penalty may begin."""
        return self.w, self.b

    @property
    def beta(self) -> Array:
        """The multipliers that the scores imply (n,)."""
        return self.problem.natural(self.problem.scores(self.w) + self.b)

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the plane is made of."""
        return np.flatnonzero(self.beta)

    @property
    def violation(self) -> float:
        """The length of the gradient."""
        return self.place.gradient_norm

    def advance(self) -> bool:
        """Make a step; return whether the gradient is short, the gap small and the step the last.

        Where both are small few rows cross their margin any more, so that one more step is exact,
        or nearly so.
        """
        was_near = self.violation <= self.wanted and self.gap() <= self.small_gap
        new = next(self.steps, None)
        if new is not None:
            self.place = new
        exact = new is None or self.violation <= EXACT * self.first
        return was_near or (exact and self.gap() <= self.small_gap)

    def objective(self) -> float:
        """The objective of the plane."""
        return self.place.objective

    def gap(self) -> float:
        """How far that is from the best possible, at most."""
        if self.problem.l1 or self.problem.free:
            return self.problem.gap(self.objective(), self.beta)
        return 0.5 * self.violation**2 + 1e-14 * abs(self.objective())
