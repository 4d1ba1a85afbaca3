"""The hard margin: the widest plane with every row on its own side, or the proof that none is.

`separation` finds the plane and proves that it separates; up to some hundred columns it is the
widest. Multipliers of the rows nearest to it, by non-negative least squares, then show how near to
the best it is. Where that is not near enough, dual coordinate descent without limits goes on.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from rosenblatt.separation import separability, widest

from .dual_coordinate import DualCoordinate
from .margin_problem import Array, MarginProblem

NEAR = 1e-6  # of a margin: rows no further away carry the plane
MOST_NEAR = 1000


class HardMargin:
    """The widest plane of a problem whose targets are -1 and +1."""

    wanted = 0.0

    def __init__(self, problem: MarginProblem, tol: float, seed: int) -> None:
        self.problem, self.tol = problem, tol
        self.kept = np.flatnonzero((problem.above > 0) | (problem.below > 0))
        self.w, self.b = self._plane()
        self.beta = self._multipliers()
        self.descent: DualCoordinate | None = None
        self.seed = seed

    def _plane(self) -> tuple[Array, float]:
        """The plane that `separation` finds, its least functional margin one."""
        problem = self.problem
        X, sign = problem.X[self.kept], problem.t[self.kept]
        if problem.free:
            answer = separability(X, sign)
            if answer.coef is None:
                raise ValueError(refusal(answer))
            return self._scaled(answer.coef, float(answer.intercept))
        found = widest(X, sign, bias=problem.bias or None)
        if found.direction is None:
            raise ValueError(refusal(separability(X, sign, fit_intercept=bool(problem.bias))))
        direction = found.direction
        if problem.bias:
            return self._scaled(direction[:-1], float(direction[-1] * problem.bias))
        return self._scaled(direction, 0.0)

    def _scaled(self, w: Array, b: float) -> tuple[Array, float]:
        """A plane with its least functional margin one."""
        least = float((self.problem.t * (self.problem.scores(w) + b))[self.kept].min())
        return w / least, b / least

    def _multipliers(self) -> Array:
        """Multipliers of the rows on the margin that make the plane, as nearly as can be."""
        problem = self.problem
        margins = problem.t * (problem.scores(self.w) + self.b)
        order = self.kept[np.argsort(margins[self.kept], kind="stable")[:MOST_NEAR]]
        near = order[margins[order] <= 1 + NEAR]
        rows = problem.X[near]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        signed = problem.t[near][:, np.newaxis] * np.asarray(rows, np.float64)
        level = problem.t[near] * (1.0 if problem.free else problem.bias)
        share = 0.0 if problem.free or not problem.bias else self.b / problem.bias
        equations = np.column_stack([signed, level]).T
        beta = np.zeros(len(problem.t))
        beta[near] = problem.t[near] * nnls(equations, np.append(self.w, share))[0]
        return beta

    start = None  # a fit with another penalty begins anew

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (1, d) and intercept (1,)."""
        return self.w[np.newaxis], np.array([self.b])

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the plane is made of."""
        return np.flatnonzero(self.beta)

    @property
    def small_gap(self) -> float:
        """The gap that is small enough."""
        return self.tol * self.objective()

    @property
    def violation(self) -> float:
        """How far the worst row is inside the margin before the plane is scaled."""
        return self.descent.violation if self.descent else 0.0

    def advance(self) -> bool:
        """Return whether the gap is small; if it is not, make a pass of coordinate descent."""
        if self.gap() <= self.small_gap:
            return True
        if self.descent is None:
            self.descent = DualCoordinate(self.problem, self.tol, self.seed, self.beta)
        self.descent.advance()
        with np.errstate(divide="ignore", invalid="ignore"):
            w, b = self._scaled(self.descent.w, self.descent.b)
        if np.isfinite(w).all() and 0 < w @ w < self.w @ self.w:
            self.w, self.b = w, b
        if self.problem.dual(self.descent.beta) > self.problem.dual(self.beta):
            self.beta = self.descent.beta.copy()
        return self.gap() <= self.small_gap

    def objective(self) -> float:
        """The objective of the plane: no row is inside the margin, but for rounding."""
        return self.problem.penalty(self.w, self.b)

    def gap(self) -> float:
        """How far that is from the best possible, at most."""
        return self.problem.gap(self.objective(), self.beta)


def refusal(answer: object) -> str:
    """The message for data without a hard margin, with its proof."""
    proof = str(answer).replace("-1.0 and 1.0", "the two sides")  # signs are no labels of the user
    return (
        "C=inf asks for a plane with no row inside its margin, and there is none. "
        f"{proof} See rosenblatt.separability for the weights. Use a finite C."
    )
