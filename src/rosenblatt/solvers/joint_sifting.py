"""All classes in one problem, by the rows that matter: few of many rows hold the planes in place.

Planes of a sample say which rows lie near their margins; planes of those, which were missed. The
others have no multipliers, so that a bound from the multipliers of some rows holds for all.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .joint_interior import JointInterior
from .joint_margin import JointProblem
from .margin_problem import Array

SAMPLE = 500  # rows, of which at least
TIMES = 4  # as many make a sample worth while
ROUGH = 0.005  # of the objective without weights: the gap at which rows are looked for
NEAR = 0.3  # beyond its margin, a row may yet be needed
OF_A_CLASS = 20  # rows at least, those with the least lead
MOST = 0.5  # of all rows: then all


class JointSifting:
    """A fit of some rows, and which they are."""

    start = None  # a fit with another penalty begins anew
    violation = np.inf

    def __init__(self, problem: JointProblem, tol: float) -> None:
        self.problem, self.tol, self.n_looks = problem, tol, 0
        self.small_gap = self.wanted = tol * problem.zero
        by_class = np.argsort(np.where(problem.c > 0, problem.codes, -1), kind="stable")
        by_class = by_class[np.count_nonzero(problem.c <= 0) :]
        starts = np.flatnonzero(np.diff(problem.codes[by_class], prepend=-1))
        every = np.arange(0, len(by_class), max(1, len(by_class) // SAMPLE))
        self._fit(np.sort(by_class[np.union1d(every, starts)]), as_all=True)

    def _fit(self, rows: NDArray[np.intp], as_all: bool = False) -> None:
        """Begin with some rows, which may count as much as all."""
        problem, c = self.problem, self.problem.c[rows]
        if as_all:
            c = c * (problem.c.sum() / c.sum())
        self.rows = rows
        some = replace(problem, X=problem.X[rows], codes=problem.codes[rows], c=c)
        self.of_some = JointInterior(some, self.tol)

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (K, d) and intercepts (K,)."""
        return self.of_some.planes

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the planes are made of."""
        return self.rows[self.of_some.support]

    @property
    def alpha(self) -> Array:
        """The multipliers of all rows (n, K)."""
        alpha = np.zeros((len(self.problem.c), self.problem.n_classes))
        alpha[self.rows] = self.of_some.alpha
        return alpha

    def advance(self) -> bool:
        """Make a step; return whether the gap of some rows is small, and no other is needed."""
        done = self.of_some.advance()
        if self.n_looks < 2:
            if done or self.of_some.left <= ROUGH * self.of_some.problem.zero:
                self._look()
            return False
        if not done or self.gap() <= self.small_gap / 100:
            return done
        before = len(self.rows)
        self._look()
        return len(self.rows) == before

    def _look(self) -> None:
        """Go on with the rows that are near their margins, or begin with them."""
        self.n_looks += 1
        lead, counted = 1 - self.problem.slack(*self.planes, signed=True), self.problem.c > 0
        near = counted & (lead < 1 + (NEAR if self.n_looks < 3 else 0.0))
        for k in range(self.problem.n_classes):
            own = np.flatnonzero(counted & (self.problem.codes == k))
            near[own[np.argsort(lead[own], kind="stable")[:OF_A_CLASS]]] = True
        if self.n_looks > 1:
            near[self.rows] = True
        if near.sum() > MOST * counted.sum():
            near, self.n_looks = counted, max(self.n_looks, 2)
        rows = np.flatnonzero(near)
        if self.n_looks == 1 or len(rows) > len(self.rows):
            self._fit(rows)

    def objective(self) -> float:
        """The objective of the planes."""
        return self.problem.objective(*self.planes)

    def gap(self) -> float:
        """How far that is from the best possible, at most."""
        return self.problem.gap(*self.planes, self.alpha)


def is_worth_while(problem: JointProblem) -> bool:
    """Whether there are many more rows than a sample has."""
    return bool(np.count_nonzero(problem.c > 0) > TIMES * SAMPLE)
