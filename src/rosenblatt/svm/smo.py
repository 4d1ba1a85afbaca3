"""Sequential minimal optimization of the dual of a support vector machine, by working sets.

A working set holds the rows with the largest violations, and some rows of the last set. `smo_loops`
improves pairs within it, and the scores of all rows are updated with the kernel rows of the changed
coefficients. At the end the scores of supports, and of rows that may become one, are computed anew
in float64; another round corrects errors of kernel rows in float32.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import smo_loops

Array = NDArray[np.float64]

WORKING_SET = 384
WHOLE = 1024  # rows that are one working set
MOST_ROUNDS = 8  # of correction
FINER, FINEST = 1e-4, 1e-9  # tolerance for few rows: a share of `tol`, and the least
FIRM = 10.0  # tolerances beyond which a row at its limit is inactive
MOST_EXTRA_STEPS = 2_000  # from `tol` to the finer tolerance
FEW_ACTIVE = 0.7  # share of the rows above which shrinking gains nothing
LEAST_STEPS = 500  # between two searches for inactive rows
INNER = 0.2  # share of the violation to which a working set is solved
STALLED = 1_000_000  # steps, or steps per row, in which the violation must halve
STALLED_PER_ROW = 100
MOST_COST = 1e100  # of a row, whose squares and sums stay in range


class BoxProblem(NamedTuple):
    """``min 1/2 b'Kb + c.b + kink |b|_1``, ``sum b = 0``, ``low <= b <= high``."""

    c: Array
    low: Array
    high: Array
    kink: float


class Solution(NamedTuple):
    """Coefficients of a problem, the scores that they make, and how the run ended."""

    b: Array  # coefficients (n,)
    f: Array  # scores (n,) without the intercept
    intercept: float
    n_steps: int
    violation: float
    reason: str
    dual: float  # the objective with its sign changed: a value that no primal goes below

    @classmethod
    def zero(cls, problem: BoxProblem) -> "Solution":
        """Return the solution of a problem before its first step."""
        nothing = np.zeros(len(problem.c))
        return cls(nothing, nothing, 0.0, 0, np.inf, "callback", 0.0)


class Smo:
    """The state of the solver: coefficients b (n,), scores f = K b, and the largest violation."""

    def __init__(
        self, problem: BoxProblem, rows: Any, tol: float, most: int, start: Array | None,
        shrinking: bool = True,
    ) -> None:  # fmt: skip
        self.problem, self.rows, self.tol, self.shrinking = problem, rows, tol, shrinking
        n = len(problem.c)
        self.b = np.zeros(n) if start is None else between(start, problem.low, problem.high)
        self.f = rows.exactly(self.b) if self.b.any() else np.zeros(n)
        self.exact, self.travelled = True, 0.0
        self.up, self.down = np.empty((2, n))
        self.n_steps, self.most, self.rounds = 0, most, 0
        self.size = min(n, WORKING_SET, len(rows.kept))
        self.matrix = rows.matrix if n <= WHOLE else None  # all rows are one working set
        # Few rows are solved more exactly than `tol`, which costs little: the order and storage of
        # the rows then hardly change the answer.
        finer = self.matrix is not None and tol >= FINEST
        self.goal = max(FINER * tol, FINEST) if finer else tol
        self.patience: int | None = None  # number of steps from which `tol` is enough
        self.last = np.empty(0, np.intp)
        self.least, self.since = np.inf, 0  # the violation when it last halved, and steps since
        self.violation = self._slopes()

    def _slopes(self) -> float:
        """Set the slopes of all rows; return the largest violation of a pair."""
        return float(smo_loops.slopes(self.f, self.b, *self.problem, self.up, self.down))

    def advance(self) -> str | None:
        """Improve one working set; return why to stop, or None."""
        if self.violation <= self.tol and self.patience is None:
            self.patience = self.n_steps + min(1000 + 4 * self.n_steps, MOST_EXTRA_STEPS)
        is_enough = self.patience is not None and self.n_steps >= min(self.patience, self.most)
        if self.violation <= self.goal or (self.violation <= self.tol and is_enough):
            return self._finish()
        if self.n_steps >= self.most:
            return "max_iter"
        made = self._improve()
        self.n_steps += made
        self.violation = self._slopes()
        self.since += made
        if self.violation <= self.least / 2:
            self.least, self.since = self.violation, 0
        if self.since >= max(STALLED, STALLED_PER_ROW * len(self.b)):
            return self._finish() or "no_progress"
        return None if made else self._finish()

    def _improve(self) -> int:
        """Make steps among all rows if they are few, else in a working set; return their number."""
        n, left = len(self.b), self.most - self.n_steps
        if self.matrix is None:
            inner = min(max(self.tol, INNER * self.violation), 0.9 * self.violation)
            work = self._working_set()
            return self._improve_some(work, inner, min(left, 10 * len(work)))
        most = max(LEAST_STEPS, self.n_steps // 100)
        most = min(most, n // 2 + self.n_steps)  # few at first, for callbacks to see
        if self.shrinking and self.n_steps >= max(n, LEAST_STEPS):
            # Only these rows can be part of a violating pair.
            top, bottom = self.down.max(initial=-np.inf), self.up.min(initial=np.inf)
            active = np.flatnonzero((self.up < top) | (self.down > bottom))
            if len(active) <= FEW_ACTIVE * n:
                inner = max(self.goal, INNER * self.violation)
                return self._improve_some(active, inner, min(left, most))
        g = self.f + self.problem.c
        made = self._steps(self.matrix, g, self.b, slice(None), self.goal, min(left, most))
        self.f, self.exact = g - self.problem.c, False
        return made

    def _steps(self, K: Array, g: Array, b: Array, rows: Any, tol: float, most: int) -> int:
        """Improve pairs of some rows with kernel K; change their g and b."""
        _, low, high, kink = self.problem
        room = np.empty((4, len(b)))
        return int(smo_loops.smo_steps(K, g, b, low[rows], high[rows], kink, tol, most, room))

    def _improve_some(self, work: NDArray[np.intp], tol: float, most: int) -> int:
        """Make steps among some rows, and update the scores of all; return their number."""
        if self.matrix is None:
            K = self.rows.among(work)
        else:
            K = self.matrix.take(work, axis=0).take(work, axis=1)
        before, b = self.b[work], self.b[work]
        made = self._steps(K, self.f[work] + self.problem.c[work], b, work, tol, most)
        moved = np.flatnonzero(b != before)
        if len(moved):
            self.b[work] = b
            steps, changed = (b - before)[moved], work[moved]
            if self.matrix is None:
                self.rows.add(changed, steps, self.f)
            else:
                self.f += steps @ self.matrix[changed]
            self.exact, self.travelled = False, self.travelled + float(np.abs(steps).sum())
        return made

    def _working_set(self) -> NDArray[np.intp]:
        """Return the rows with the largest violations, half each way, and some of the last."""
        half = max(1, self.size // 2 if len(self.last) == 0 else self.size // 4)
        rise = np.argpartition(self.up, half)[:half]
        fall = np.argpartition(-self.down, half)[:half]
        new = np.union1d(rise[np.isfinite(self.up[rise])], fall[np.isfinite(self.down[fall])])
        stay = np.setdiff1d(self.last, new, assume_unique=True)
        low, high = self.problem.low, self.problem.high
        free = (self.b[stay] > low[stay]) & (self.b[stay] < high[stay])
        stay = stay[np.argsort(~free, kind="stable")][: self.size - len(new)]
        self.last = np.concatenate([new, stay])
        return self.last

    def _finish(self) -> str | None:
        """Return why to stop by scores computed anew in float64; None to continue."""
        if not self.exact:
            if self.matrix is not None:
                self.f = np.asarray(self.matrix @ self.b)
            else:
                # Supports, and rows that might be one in view of the errors of the scores.
                firm = max(FIRM * self.tol, self.rows.blur * self.travelled)
                top, bottom = self.down.max(initial=-np.inf), self.up.min(initial=np.inf)
                inactive = (self.up > top + firm) & (self.down < bottom - firm)
                near = np.flatnonzero((self.b != 0) | ~inactive)
                self.f[near] = self.rows.exactly(self.b, near)
            self.exact = True
            self.violation = self._slopes()
            self.rounds += 1
        if self.violation <= self.tol:
            return "converged"
        return "no_progress" if self.rounds >= MOST_ROUNDS else None

    def solution(self, reason: str) -> Solution:
        """Return the coefficients as they are now, and why the run ended."""
        c, kink = self.problem.c, self.problem.kink
        b, f = self.b.copy(), self.f.copy()
        dual = -float(0.5 * b @ f + c @ b + kink * np.abs(b).sum())
        return Solution(b, f, self._intercept(), self.n_steps, self.violation, reason, dual)

    def _intercept(self) -> float:
        """Return minus the mean slope of free rows, else the middle of the possible interval."""
        free = (self.b > self.problem.low) & (self.b < self.problem.high)
        if self.problem.kink:
            free &= self.b != 0
        slopes = self.up[free]
        if len(slopes):
            return -float(slopes.sum() / len(slopes))
        ends = np.array([self.up.min(initial=np.inf), self.down.max(initial=-np.inf)])
        finite = ends[np.isfinite(ends)]
        return -float(finite.mean()) if len(finite) else 0.0


def between(b: Array, low: Array, high: Array) -> Array:
    """Clip coefficients to their limits, and set those within rounding of a limit to it."""
    near = 1e-12 * np.abs(b)
    return np.where(b >= high - near, high, np.where(b <= low + near, low, b))


def product(weight: Array, price: Any) -> Array:
    """Return weights (n,) times prices: 0 where one is 0, even if the other is infinite."""
    both = (weight > 0) & (np.asarray(price) > 0)
    return np.asarray(np.multiply(weight, price, out=np.zeros(len(weight)), where=both))


def costs(weight: Array, C: float) -> Array:
    """Return C times each weight (n,); raise if one is too large."""
    with np.errstate(over="ignore"):
        cost = product(weight, C)
    if np.isfinite(C) and len(cost) and not cost.max() <= MOST_COST:
        i = int(cost.argmax())
        raise ValueError(
            f"C={C:g} times the weight {weight[i]:g} of row {i} is above {MOST_COST:g}. Choose a "
            "smaller C or smaller weights."
        )
    return cost
