"""All classes in one problem: each row's own score must lead every other by one.

    minimize  |W|^2 / 2 + |b / bias|^2 / 2 + sum_i c_i xi_i,
    xi_i = max_k (f_k - f_y + [k != y])  at the scores f = W x_i + b

Dual coordinate descent visits rows and sets all multipliers of one at once. As in
`dual_coordinate`, rows whose multipliers will hardly change are skipped, and free intercepts are
penalized by their distance from the intercepts of the pass before.

References
----------
K. Crammer, Y. Singer (2001), On the algorithmic implementation of multiclass kernel-based vector
machines. S. S. Keerthi et al. (2008), A sequential dual method for large scale multi-class linear
SVMs.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.rows import arrays, read_only

from . import crammer_singer_loops, dual_coordinate_loops
from .dual_coordinate import FINER, PROXIMAL_COLUMN
from .margin_problem import ROUNDING, Array, MarginSolver

ROUNDING_OF_LEAD = 1e-9  # of a hard margin: a lead this little below one counts as one


@dataclass(frozen=True, eq=False)
class CrammerSingerProblem:
    """The problem of Crammer and Singer: one plane for each class."""

    X: Any  # (n, d), an array or CSR
    codes: NDArray[np.intp]
    n_classes: int
    c: Array
    bias: float  # the column that makes the intercepts; inf for free ones, 0 for none

    @property
    def free(self) -> bool:
        """Whether intercepts cost nothing."""
        return bool(np.isinf(self.bias))

    @property
    def hard(self) -> bool:
        """Whether every row's own score must lead by one."""
        return bool(np.isinf(self.c).any())

    @cached_property
    def zero(self) -> float:
        """The objective of zero weights, to measure gaps against."""
        return np.inf if self.hard else float(self.c.sum())

    def objective(self, W: Array, b: Array) -> float:
        """The value at weights W (K, d) and intercepts b (K,)."""
        level = b / self.bias if self.bias else 0 * b
        slack = self.slack(W, b)
        paid = slack > (ROUNDING_OF_LEAD if self.hard else 0.0)
        return 0.5 * float(np.vdot(W, W) + level @ level) + float(self.c[paid] @ slack[paid])

    def slack(self, W: Array, b: Array, signed: bool = False) -> Array:
        """Return by how much each row misses its margin (n,), at least 0 unless `signed`."""
        f = np.asarray(self.X @ W.T, np.float64) + b
        own = np.arange(len(f)), self.codes
        lead = f[own][:, np.newaxis] - f
        lead[own] = np.inf if self.hard or signed else 1.0
        return np.asarray(1 - lead.min(axis=1))

    def dual(self, alpha: Array) -> float:
        """Return a lower bound on the objective, from multipliers (n, K) within their limits."""
        own = np.arange(len(alpha)), self.codes
        if self.free:
            alpha = self.balanced(alpha)
        V = np.asarray(self.X.T @ alpha, np.float64)
        level = np.zeros(1) if self.free else self.bias * alpha.sum(axis=0)
        gain, bend = float(alpha[own].sum()), float(np.vdot(V, V) + level @ level)
        share = min(gain / bend, 1.0) if bend > 0 else 0.0
        return max(share, 0.0) * gain - share**2 * bend / 2

    def gap(self, objective: float, alpha: Array) -> float:
        """Return an upper bound on the distance of an objective from the minimum."""
        allowance = ROUNDING * (abs(objective) + float(np.abs(alpha).sum()))
        return max(objective - max(self.dual(alpha), 0.0), 0.0) + allowance

    def balanced(self, alpha: Array) -> Array:
        """Return multipliers that sum to zero in each class."""
        # Each row divides its cost c among the classes; without multipliers its own class gets all.
        # A class must get the total cost of its rows: shares of classes that get too much are
        # reduced, and the rest is divided among the classes that get too little.
        own = np.arange(len(alpha)), self.codes
        c = np.where(np.isinf(self.c), 2 * alpha[own].max(initial=0.0) + 1e-300, self.c)
        mass = -alpha
        mass[own] += c
        due = np.bincount(self.codes, c, self.n_classes)
        got = mass.sum(axis=0)
        mass *= np.minimum(1.0, due / np.where(got > 0, got, 1.0))
        short, lack = c - mass.sum(axis=1), np.maximum(due - mass.sum(axis=0), 0.0)
        if lack.sum() > 0:
            mass += np.outer(short, lack / lack.sum())
        alpha = -mass
        alpha[own] += c
        return np.asarray(alpha)


class CrammerSingerDescent(MarginSolver):
    """Dual coordinate descent: multipliers alpha (n, K), and the planes they make."""

    def __init__(
        self, problem: CrammerSingerProblem, tol: float, seed: int, alpha: Array | None
    ) -> None:
        super().__init__(problem, tol)
        n, K, rows = len(problem.codes), problem.n_classes, arrays(problem.X)
        lengths = np.empty(n)
        dual_coordinate_loops.squared_lengths(rows, lengths)
        bias = problem.bias
        if problem.free:
            bias = PROXIMAL_COLUMN * max(float(np.sqrt(lengths.mean())), 1e-30)
        codes, c = read_only(problem.codes.astype(np.int32)), read_only(problem.c)
        self.table = crammer_singer_loops.ClassRows(rows, codes, c, lengths + bias**2, float(bias))
        alpha = np.zeros((n, K)) if alpha is None else alpha.copy()
        self.multipliers = self.start = alpha  # changed in place
        self.weights = np.vstack(
            [np.asarray(problem.X.T @ alpha, np.float64), bias * alpha.sum(axis=0)]
        )
        self.center = np.zeros(K)
        self.order, self.n_active, self.firm = np.arange(n), n, np.inf
        self.seed = np.array([2 * seed + 1], np.uint64)
        self.wanted = self.tolerance = tol

    @property
    def small_gap(self) -> float:
        return self.tol * (self.objective() if self.problem.hard else self.problem.zero)

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (K, d) and intercepts (K,), scaled to a least lead of one for a hard margin."""
        W = np.ascontiguousarray(self.weights[:-1].T)
        b = np.asarray(self.center + self.table.bias * self.weights[-1])
        lead = 1 - float(self.problem.slack(W, b).max()) if self.problem.hard else 1.0
        return (W / lead, b / lead) if lead > 0 else (W, b)

    @property
    def support(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.multipliers.any(axis=1))

    def advance(self) -> bool:
        """Make a pass; return whether the violation and the gap are small."""
        K = self.problem.n_classes
        self.n_active, self.violation = crammer_singer_loops.joint_pass(
            self.table, self.center, self.order, self.n_active, self.firm, self.seed,
            self.multipliers, self.weights, np.empty(K), np.empty(K),
        )  # fmt: skip
        self.firm = self.violation
        moved = 0.0
        if self.problem.free:
            step = self.table.bias * self.weights[-1]
            self.center += step
            moved = float(np.abs(step).max())
        is_small = max(self.violation, moved) <= self.tolerance
        if self.n_active < len(self.order) and (is_small or self.n_active == 0):
            self.n_active, self.firm = len(self.order), np.inf
            return False
        if is_small and self.gap() <= self.small_gap:
            return True
        self.tolerance *= FINER if is_small else 1.0
        return self.tolerance < 1e-14
