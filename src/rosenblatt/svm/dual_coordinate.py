"""Dual coordinate descent with shrinking, for linear support vector machines.

A pass visits the rows in random order and gives each the multiplier that is best while all others
stay. Rows whose multiplier is pushed against its limit are skipped until the others have converged.

A free intercept is found by the proximal point method: it is penalized by its distance from the
intercept of the pass before, so that the penalty vanishes as the passes converge.

References
----------
C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan (2008), A dual coordinate
descent method for large-scale linear SVM. R. T. Rockafellar (1976), Monotone operators and the
proximal point algorithm.
"""

import numpy as np

from . import dual_coordinate_loops
from .margin_problem import Array, MarginProblem, MarginSolver

PROXIMAL_COLUMN = 0.3  # of the rows' root mean square length
FINER = 0.1  # factor of the tolerance while the gap is still too large


class DualCoordinate(MarginSolver):
    """Multipliers beta (n,), and the plane they make."""

    def __init__(
        self, problem: MarginProblem, tol: float, seed: int, beta: Array | None = None
    ) -> None:
        super().__init__(problem, tol)
        n, bias = len(problem.t), problem.bias
        if problem.free:
            bias = PROXIMAL_COLUMN * max(float(np.sqrt(problem.lengths.mean())), 1e-30)
        low, high = problem.limits
        beta = np.zeros(n) if beta is None else np.clip(beta, low, high)
        self.multipliers = self.start = beta  # changed in place
        self.table = dual_coordinate_loops.DualRows(
            problem.rows, problem.t, low, high, problem.ridge, problem.lengths + bias**2,
            problem.epsilon, float(bias),
        )  # fmt: skip
        self.weights = np.append(problem.combination(beta), bias * beta.sum())
        self.center = 0.0  # of the penalty on a free intercept
        self.two_sided = bool((problem.above * problem.below).any())  # regression
        if problem.free and self.two_sided:
            self.center = problem.best_intercept(np.zeros(n))
        self.order = np.arange(n)
        self.seed = np.array([2 * seed + 1], np.uint64)
        self.n_active, self.firm = n, np.inf
        first = np.maximum(np.abs(problem.t) - problem.epsilon, 0.0)[(low < 0) | (high > 0)]
        self.first = float(first.mean()) if len(first) else 0.0
        self.n_rows = max(len(first), 1)
        self.wanted = self.tolerance = tol * self.first
        self.violation = self.mean_violation = np.inf

    @property
    def planes(self) -> tuple[Array, float]:
        return self.weights[:-1], float(self.center + self.table.bias * self.weights[-1])

    def advance(self) -> bool:
        """Make a pass; return whether the violation and the gap are small."""
        self.n_active, self.firm, total = dual_coordinate_loops.dual_pass(
            self.table, self.center, self.order, self.n_active, self.firm, self.seed,
            self.multipliers, self.weights,
        )  # fmt: skip
        self.mean_violation = total / self.n_rows
        self.violation = self.mean_violation if self.two_sided else self.firm
        moved = 0.0
        if self.problem.free:
            moved = self.table.bias * float(self.weights[-1])
            self.center += moved
        is_small = max(self.violation, abs(moved)) <= self.tolerance
        if self.n_active < len(self.order) and (is_small or self.n_active == 0):
            self.n_active, self.firm = len(self.order), np.inf
            return False
        if not is_small or self.gap() <= self.small_gap:
            return is_small
        self.tolerance *= FINER
        return self.tolerance < 1e-14
