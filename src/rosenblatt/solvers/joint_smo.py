"""All classes in one kernel machine, a working set of rows at a time.

    minimise  sum_k |w_k|^2 / 2 + sum_i c_i xi_i,
    xi_i = max_k (f_k - f_y + [k != y])  at the scores f of row i, with free intercepts

The dual has multipliers alpha (n, K) as in `joint_margin`, and kernel rows as in `smo`. Free
intercepts ask each class's multipliers to sum to zero, which the method of multipliers brings
about: the intercepts move by `column` times what the sums are off. Few rows of a kernel matrix of
low rank begin where an interior point method ends.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf
from scipy.optimize import linprog

from . import joint_smo_loops
from .dual_coordinate import PROXIMAL_COLUMN
from .joint_interior import JointInterior
from .joint_margin import JointProblem
from .smo import (
    FINER,
    FINEST,
    MOST_EXTRA_STEPS,
    MOST_ROUNDS,
    WHOLE,
    WORKING_SET,
    Floats,
    KernelRowsOf,
    Stall,
)

STEPS_A_ROW = 3  # of a working set, before scores of all rows follow
FALLING = 0.5  # what the sums should be left with after the intercepts have moved
STIFFER = 4.0  # the next column if they are not
STIFFEST = 64.0
MOST_INTERIOR_STEPS = 50
SOME = 64  # rows whose kernel with themselves gives the first column
FEW_UNKNOWNS = 1000  # of which an interior point method forms a system


class JointBox(NamedTuple):
    """Rows by class, the number of classes, and the price c of each row's slack."""

    codes: NDArray[np.intp]
    n_classes: int
    c: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Of its coefficients."""
        return self.n_classes, len(self.codes)

    def mostly_bounded(self, b: Floats) -> bool:
        """Whether most of the rows that have multipliers are at their limit."""
        own = b[self.codes, np.arange(len(self.codes))]
        return bool(2 * np.count_nonzero((own > 0) & (own >= self.c)) > np.count_nonzero(own))

    def run(
        self, rows: KernelRowsOf, tol: float, most: int, start: Floats | None, shrinking: bool
    ) -> "JointSmo":
        """The solver, at multipliers `start` (K, n) or at zero."""
        return JointSmo(self, rows, tol, most, start)


class JointSmo:
    """A run: multipliers alpha (n, K), scores f (K, n) without intercepts, and the intercepts."""

    def __init__(
        self, problem: JointBox, rows: KernelRowsOf, tol: float, most: int, start: Floats | None
    ) -> None:
        self.codes, n_classes, self.c = problem
        self.rows, self.tol, self.most = rows, tol, most
        n = len(self.codes)
        self.size = min(n if n <= WHOLE else WORKING_SET, len(rows.kept))
        few = self.size == n
        # Few rows are solved more exactly than was asked for, as in `smo`.
        self.goal = max(FINER * tol, FINEST) if few and tol >= FINEST else tol
        self.patience: int | None = None
        everything = np.arange(n)
        self.matrix = rows.among(everything) if few else None
        self.alpha, self.centre = np.zeros((n, n_classes)), np.zeros(n_classes)
        if self.matrix is not None and np.isfinite(self.c).all() and most > n:
            self.alpha, self.centre = interior_start(problem, self.matrix)
        if start is not None and not self.alpha.any():
            self.alpha = within_limits(np.ascontiguousarray(start.T), self.codes, self.c)
        self.f = self._scores_of(self.alpha)
        some = everything[:: max(1, n // SOME)][: self.size]
        diagonal = rows.among(some).diagonal()
        self.column = PROXIMAL_COLUMN**2 * max(float(diagonal.mean()), 1e-30)
        self.stiffest = STIFFEST * self.column
        self.found, self.unequal = np.empty(n), np.inf
        self.n_steps = self.rounds = 0
        self.exact, self.stall = True, Stall(n)
        self.violation = self._measure()

    @property
    def b(self) -> Floats:
        """The coefficients (K, n)."""
        return self.alpha.T

    @property
    def sums(self) -> Floats:
        """What each class's multipliers sum to; zero at the end."""
        return np.asarray(self.alpha.sum(axis=0))

    @property
    def intercept(self) -> Floats:
        """Of each class (K,); what all have in common changes no prediction."""
        b = self.centre + self.column * self.sums
        return np.asarray(b - b.mean())

    def _slopes(self, rows: slice | NDArray[np.intp] = slice(None)) -> Floats:
        """Scores plus one for other classes, of some rows (q, K)."""
        slopes = self.f[:, rows].T + (self.centre + self.column * self.sums + 1)
        slopes[np.arange(len(slopes)), self.codes[rows]] -= 1
        return np.ascontiguousarray(slopes)

    def _scores_of(self, alpha: Floats) -> Floats:
        if self.matrix is not None:
            return np.asarray(alpha.T @ self.matrix)
        return np.stack([self.rows.exactly(np.ascontiguousarray(a)) for a in alpha.T])

    def _measure(self) -> float:
        """The largest violation of a row."""
        joint_smo_loops.violations(self._slopes(), self.alpha, self.codes, self.c, self.found)
        return float(self.found.max(initial=0.0))

    @property
    def moved(self) -> float:
        """By how much the intercepts are to move."""
        return float(self.column * np.abs(self.sums).max())

    def advance(self) -> str | None:
        """Improve one working set or the intercepts; return why to stop, or None."""
        off = max(self.violation, self.moved)
        if off <= self.goal or (off <= self.tol and self._enough()):
            return self._finish()
        if self.n_steps >= self.most:
            return "max_iter"
        if self.stall.is_reached(off, 0):
            return self._finish() or "no_progress"
        if self.violation <= max(self.goal, self.moved):
            self._move_intercepts()
            self.stall.since += len(self.c)
            return None
        made = self._improve(
            np.arange(len(self.c)) if self.matrix is not None else self._working_set()
        )
        self.n_steps += made
        self.stall.since += made
        self.violation = self._measure()
        return None if made or self.moved > self.goal else self._finish()

    def _enough(self) -> bool:
        """Whether there were enough steps beyond those that reached the tolerance."""
        if self.patience is None:
            self.patience = self.n_steps + min(1000 + 4 * self.n_steps, MOST_EXTRA_STEPS)
        return self.n_steps >= min(self.patience, self.most)

    def _move_intercepts(self) -> None:
        self.centre += self.column * self.sums
        self.centre -= self.centre.mean()
        left = float(np.abs(self.sums).max())
        if left > FALLING * self.unequal:
            self.column = min(STIFFER * self.column, self.stiffest)
        self.unequal = left
        self.violation = self._measure()

    def _working_set(self) -> NDArray[np.intp]:
        """The rows that are furthest from rest."""
        if self.size == len(self.c):
            return np.arange(self.size)
        return np.sort(np.argpartition(-self.found, self.size)[: self.size])

    def _improve(self, work: NDArray[np.intp]) -> int:
        """Set multipliers in a working set, and what they change in the scores of all rows."""
        K = self.rows.among(work) if self.matrix is None else self.matrix
        before, alpha = self.alpha[work], self.alpha[work]
        inner = max(0.5 * self.goal, 0.1 * self.violation)
        most = min(self.most - self.n_steps, STEPS_A_ROW * len(work))
        made = joint_smo_loops.joint_steps(
            K, self.codes[work], self.c[work], self.column, self._slopes(work), alpha, inner, most,
            np.empty(alpha.shape[1]),
        )  # fmt: skip
        self.alpha[work], change = alpha, alpha - before
        if self.matrix is not None:
            self.f += change.T @ self.matrix
        else:
            for k in range(alpha.shape[1]):
                rows = np.flatnonzero(change[:, k])
                if len(rows):
                    self.rows.add(work[rows], change[rows, k], self.f[k])
        self.exact = False
        return int(made)

    def _finish(self) -> str | None:
        """Whether scores computed anew in float64 agree that it is over."""
        if not self.exact:
            self.f, self.exact = self._scores_of(self.alpha), True
            self.violation = self._measure()
            self.rounds += 1
        if max(self.violation, self.moved) <= self.tol:
            return "converged"
        return "no_progress" if self.rounds >= MOST_ROUNDS else None

    def slack(self) -> Floats:
        """What each row lacks of a lead of one (n,)."""
        lead = self.f + self.intercept[:, np.newaxis]
        own = self.codes, np.arange(len(self.codes))
        lead = lead[own] - lead
        lead[own] = 1.0
        return np.asarray(1 - lead.min(axis=0))

    def dual(self) -> float:
        """A value that no planes go below, by multipliers lowered until each class's balance."""
        lowered = circulating(self.alpha, self.codes)
        change = lowered - self.alpha
        f = self.f + (self._scores_of(change) if np.any(change) else 0.0)
        own = np.arange(len(self.codes)), self.codes
        uneven = float(np.abs(lowered.sum(axis=0)) @ np.abs(self.intercept))  # by rounding
        return float(lowered[own].sum()) - float(np.vdot(lowered.T, f)) / 2 - uneven


def circulating(alpha: Floats, codes: NDArray[np.intp]) -> Floats:
    """Multipliers nearer to zero of which each class gives as much weight as it gets.

    What all rows of a class give to another is scaled alike, by the largest flow that circulates.

    >>> circulating(np.array([[2.0, -2.0], [-1.0, 1.0]]), np.array([0, 1]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    n, K = alpha.shape
    own = np.arange(n), codes
    given = np.maximum(-alpha, 0.0)
    given[own] = 0.0
    flow = np.stack([given[codes == k].sum(axis=0) for k in range(K)])  # from class to class
    source, target = np.nonzero(flow)
    if not len(source):
        return np.zeros_like(alpha)
    net = np.zeros((K, len(source)))
    net[source, np.arange(len(source))] += 1
    net[target, np.arange(len(source))] -= 1
    most = flow[source, target]
    scale = float(most.max())
    found = linprog(-np.ones(len(most)), A_eq=net, b_eq=np.zeros(K),
                    bounds=np.column_stack([0 * most, most / scale]))  # fmt: skip
    share = np.zeros((K, K))
    if found.status == 0:
        share[source, target] = np.clip(found.x * scale / most, 0.0, 1.0)
    given *= share[codes]
    lowered = -given
    lowered[own] = given.sum(axis=1)
    return np.asarray(lowered)


def interior_start(problem: JointBox, K: Floats) -> tuple[Floats, Floats]:
    """Multipliers (n, K) near the best and intercepts (K,); zero if the system is too large."""
    codes, n_classes, c = problem
    n = len(codes)
    alpha, own = np.zeros((n, n_classes)), (np.arange(n), codes)
    triangle, order, rank, _ = dpstrf(K, lower=1)
    if (rank + 1) * n_classes > FEW_UNKNOWNS or rank == 0:
        return alpha, np.zeros(n_classes)
    rows = np.empty((n, rank))  # of which K holds the scalar products
    rows[order - 1] = np.tril(triangle)[:, :rank]
    interior = JointInterior(JointProblem(rows, codes, n_classes, c, np.inf), 1e-6)
    for _ in range(MOST_INTERIOR_STEPS):
        if interior.advance():
            break
    kept = interior.kept
    # Multipliers are zero where they are far below their lead, and at the limit near it.
    a, least = interior.now.a, 1e-3 * c[kept, np.newaxis] * interior.now.u
    masses = np.where(a > least, a, 0.0)
    whole, limit = masses.sum(axis=1), c[kept]
    scale = np.where(whole >= limit * (1 - 1e-6), limit / np.where(whole > 0, whole, 1.0), 1.0)
    alpha[kept] = -masses * scale[:, np.newaxis]
    alpha[own] = 0.0
    alpha[own] = np.minimum(-alpha.sum(axis=1), c)
    b = interior.planes[1]
    return alpha, b - b.mean()


def within_limits(alpha: Floats, codes: NDArray[np.intp], c: Floats) -> Floats:
    """Multipliers whose own class is at its limit, where rounding alone keeps it away."""
    own = np.arange(len(codes)), codes
    near = alpha[own] >= c * (1 - 1e-12)
    alpha[own] = np.where(near, c, alpha[own])
    return alpha
