"""The plane of the rows that matter: few of many rows hold the plane in place.

A rough plane says which rows lie near their margins; the plane of those, which were missed. The
others have no multipliers, so that a bound from the multipliers of some rows holds for all.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .interior_point import InteriorPoint
from .margin_problem import Array, MarginProblem, MarginSolver

ENOUGH = 2000  # rows
NEAR = 0.3  # of the margin or the tube: so far inside what is free, a row may yet be needed
LEAST, MOST = 100, 0.5  # rows, and of all rows: where there are fewer or more, all are taken


class Sifting(MarginSolver):
    """A fit of some rows, and which they are."""

    def __init__(self, problem: MarginProblem, tol: float, w: Array, b: float) -> None:
        super().__init__(problem, tol)
        self.near = NEAR * (problem.epsilon or float(np.abs(problem.t).mean()))
        self._fit(self._near(w, b, self.near))

    def _near(self, w: Array, b: float, beyond: float) -> NDArray[np.bool_]:
        """Which rows cost something, or would if all margins were so much wider (n,)."""
        problem = self.problem
        over = problem.t - problem.scores(w) - b
        low = (problem.above > 0) & (over > problem.epsilon - beyond)
        high = (problem.below > 0) & (-over > problem.epsilon - beyond)
        return np.asarray(low | high)

    def _fit(self, chosen: NDArray[np.bool_]) -> None:
        if len(chosen) <= ENOUGH or not LEAST <= chosen.sum() <= MOST * len(chosen):
            chosen = np.ones(len(chosen), np.bool_)
        self.rows, problem = np.flatnonzero(chosen), self.problem
        if not chosen.all():
            t, above, below = (part[chosen] for part in (problem.t, problem.above, problem.below))
            problem = replace(problem, X=problem.X[self.rows], t=t, above=above, below=below)
        self.of_some = InteriorPoint(problem, self.tol)

    @property
    def planes(self) -> tuple[Array, float]:
        """Weights (d,) and intercept."""
        return self.of_some.planes

    @property
    def multipliers(self) -> Array:
        """The multipliers of all rows (n,)."""
        beta = np.zeros(len(self.problem.t))
        beta[self.rows] = self.of_some.multipliers
        return beta

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the plane is made of."""
        return np.asarray(self.rows[self.of_some.support])

    def advance(self) -> bool:
        """Make a step; return whether the gap of some rows is small, and no other is needed."""
        if not self.of_some.advance():
            return False
        if len(self.rows) == len(self.problem.t) or self.gap() <= self.small_gap / 100:
            return True
        chosen = self._near(*self.planes, self.near / 10)
        chosen[self.rows] = True
        found_more = bool(chosen.sum() > len(self.rows))
        if found_more:
            self._fit(chosen)
        return not found_more
