"""Sequential minimal optimization of the dual of a support vector machine, by working sets.

A working set holds the rows whose slopes are furthest off, and some of the last set. Pairs within
it are improved by `smo_loops`, and the scores of all rows follow from the kernel rows of those that
changed. At the end the scores of supports and of rows that may become one are computed anew in
float64: errors of kernel rows in float32 are found and corrected by another round.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import smo_loops

Array = NDArray[np.float64]

WORKING_SET = 384
WHOLE = 1024  # rows that are one working set
MOST_ROUNDS = 8  # of correction
FINER, FINEST = 1e-4, 1e-9  # the tolerance for few rows: a share of that asked for, and the least
FIRM = 10.0  # tolerances from its limit, where a row is firmly at rest
MOST_EXTRA_STEPS = 5_000  # towards that
STEPS_OF_ALL = 4  # for each row, before rows at rest are left out
FEW_ACTIVE = 0.7  # share of the rows, above which to leave out the others gains nothing
STEPS_OF_ACTIVE = 4  # for each row that is left, before it is seen which are at rest
INNER = 0.2  # share of the violation to which a working set is solved
STALLED = 1_000_000  # steps, or so many a row, in which the violation should have halved
STALLED_PER_ROW = 100


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
        """That of a problem that was not begun."""
        nothing = np.zeros(len(problem.c))
        return cls(nothing, nothing, 0.0, 0, np.inf, "callback", 0.0)


class Smo:
    """A run: coefficients b (n,), scores f = K b, and by how much slopes are off at most."""

    def __init__(
        self, problem: BoxProblem, rows: Any, tol: float, most: int, start: Array | None,
        shrinking: bool = True,
    ) -> None:  # fmt: skip
        self.problem, self.rows, self.tol, self.shrinking = problem, rows, tol, shrinking
        n = len(problem.c)
        self.b = np.zeros(n) if start is None else between(start, problem.low, problem.high)
        self.f = rows.exactly(self.b) if self.b.any() else np.zeros(n)
        self.exact, self.travelled = True, 0.0
        self.up, self.down = np.empty(n), np.empty(n)
        self.n_steps, self.most, self.rounds = 0, most, 0
        size = n if n <= WHOLE else WORKING_SET
        self.size = min(size, len(rows.kept))
        # Few rows are solved more exactly than was asked for, which costs little: their order and
        # storage then hardly show in the answer.
        few = self.size == n and tol >= FINEST
        self.goal = max(FINER * tol, FINEST) if few else tol
        self.patience: int | None = None  # steps after which the tolerance asked for is enough
        self.last = np.empty(0, np.intp)
        self.matrix: Array | None = None  # of all rows, if they are one working set
        self.diagonal, self.room = np.empty(0), np.empty((3, self.size))
        self.least, self.since = np.inf, 0  # the violation when it last halved, and steps since
        self.violation = self._slopes()

    def _slopes(self) -> float:
        """The slopes of all rows; return by how much the furthest pair is off."""
        c, low, high, kink = self.problem
        smo_loops.slopes(self.f + c, self.b, low, high, kink, self.up, self.down)
        return float(self.down.max(initial=-np.inf) - self.up.min(initial=np.inf))

    def advance(self) -> str | None:
        """Improve one working set; return why to stop, or None."""
        if self.violation <= self.goal or (self.violation <= self.tol and self._enough()):
            return self._finish()
        if self.n_steps >= self.most:
            return "max_iter"
        made = self._improve()
        self.n_steps += made
        self.violation = self._slopes()
        if self._is_stalled(made):
            return self._finish() or "no_progress"
        return None if made else self._finish()

    def _enough(self) -> bool:
        """Whether there were enough steps beyond those that reached the tolerance."""
        if self.patience is None:
            self.patience = self.n_steps + min(1000 + 4 * self.n_steps, MOST_EXTRA_STEPS)
        return self.n_steps >= min(self.patience, self.most)

    def _is_stalled(self, made: int) -> bool:
        """Whether the violation has not halved in many steps."""
        self.since += made
        if self.violation <= self.least / 2:
            self.least, self.since = self.violation, 0
        return self.since >= max(STALLED, STALLED_PER_ROW * len(self.b))

    def _improve(self) -> int:
        """Steps among all rows, if they are few, else in a working set; return their number."""
        n, left = len(self.b), self.most - self.n_steps
        if self.size < n:
            inner = min(max(self.tol, INNER * self.violation), 0.9 * self.violation)
            work = self._working_set()
            return self._improve_some(work, inner, min(left, 10 * len(work)))
        if self.matrix is None:
            self.matrix = self.rows.among(np.arange(n))
            self.diagonal = self.matrix.diagonal().copy()
        if self.shrinking and self.n_steps > STEPS_OF_ALL * n:
            active = self._active()
            if len(active) <= FEW_ACTIVE * n:
                inner = max(self.goal, INNER * self.violation)
                most = max(STEPS_OF_ACTIVE * len(active), self.n_steps // 100)
                return self._improve_some(active, inner, min(left, most))
        c, low, high, kink = self.problem
        g, most = self.f + c, max(10, n // 2, self.n_steps // 100)
        made = smo_loops.smo_steps(
            self.matrix, self.diagonal, g, self.b, low, high, kink, self.goal, min(left, most),
            self.room,
        )  # fmt: skip
        self.f, self.exact = g - c, False
        return int(made)

    def _improve_some(self, work: NDArray[np.intp], tol: float, most: int) -> int:
        """Steps among some rows, and what they change in the scores of all."""
        c, low, high, kink = self.problem
        if self.matrix is None:
            K = self.rows.among(work)
        else:
            K = self.matrix.take(work, axis=0).take(work, axis=1)
        before, b = self.b[work], self.b[work]
        made = smo_loops.smo_steps(
            K, K.diagonal().copy(), self.f[work] + c[work], b, low[work], high[work], kink, tol,
            most, np.empty((3, len(work))),
        )  # fmt: skip
        moved = np.flatnonzero(b != before)
        if len(moved):
            self.b[work] = b
            steps, changed = (b - before)[moved], work[moved]
            if self.matrix is None:
                self.rows.add(changed, steps, self.f)
            else:
                self.f += steps @ self.matrix[changed]
            self.exact, self.travelled = False, self.travelled + float(np.abs(steps).sum())
        return int(made)

    def _active(self) -> NDArray[np.intp]:
        """Rows that a pair of opposite slopes may be made of: all others are at rest."""
        top, bottom = self.down.max(initial=-np.inf), self.up.min(initial=np.inf)
        return np.flatnonzero((self.up < top) | (self.down > bottom))

    def _working_set(self) -> NDArray[np.intp]:
        """The rows that are furthest off, half to rise and half to fall, and some of the last."""
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
        """Whether scores computed anew in float64 agree that it is over."""
        if not self.exact:
            if self.matrix is not None and self.rows.kept.dtype == np.float64:
                self.f = np.asarray(self.matrix @ self.b)
            else:
                near = self._near()
                self.f[near] = self.rows.exactly(self.b, near)
            self.exact = True
            self.violation = self._slopes()
            self.rounds += 1
        if self.violation <= self.tol:
            return "converged"
        return "no_progress" if self.rounds >= MOST_ROUNDS else None

    def _near(self) -> NDArray[np.intp]:
        """Supports, and rows that might be one if scores are off: all others are firmly at rest."""
        firm = max(FIRM * self.tol, self.rows.blur * self.travelled)
        top, bottom = self.down.max(initial=-np.inf), self.up.min(initial=np.inf)
        at_rest = (self.up > top + firm) & (self.down < bottom - firm)
        return np.flatnonzero((self.b != 0) | ~at_rest)

    def solution(self, reason: str) -> Solution:
        """Return the coefficients as they are now, and why the run ended."""
        c, low, high, kink = self.problem
        g = self.f + c
        free = (self.b > low) & (self.b < high) & ((self.b != 0) | (kink == 0))
        if free.any():  # the mean of free rows, else the middle of what the slopes allow
            intercept = -float(np.mean((g + np.where(self.b > 0, kink, -kink))[free]))
        else:
            ends = [self.up.min(initial=np.inf), self.down.max(initial=-np.inf)]
            finite = [end for end in ends if np.isfinite(end)]
            intercept = -float(np.mean(finite)) if finite else 0.0
        dual = -float(0.5 * self.b @ self.f + c @ self.b + kink * np.abs(self.b).sum())
        return Solution(
            self.b.copy(), self.f.copy(), intercept, self.n_steps, self.violation, reason, dual
        )


def between(b: Array, low: Array, high: Array) -> Array:
    """Coefficients within their limits; at them, where rounding alone keeps them away."""
    near = 1e-12 * np.abs(b)
    return np.where(b >= high - near, high, np.where(b <= low + near, low, b))
