"""Working sets of coefficients, each improved by sequential minimal optimisation.

A working set holds the rows whose slopes are furthest off, and some of the last set. Pairs within
it are improved by `smo_loops`, and the scores of all rows follow from the kernel rows of those that
changed. At the end the scores of supports and of rows that may become one are computed anew in
float64: errors of kernel rows in float32 are found and corrected by another round.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from . import smo_loops

Floats = NDArray[np.float64]

WORKING_SET = 384
WHOLE = 1024  # rows that are one working set
MOST_ROUNDS = 8  # of correction
FINER, FINEST = 1e-4, 1e-9  # the tolerance for few rows: a share of that asked for, and the least
FIRM = 10.0  # tolerances from its limit, where a row is firmly at rest
MOST_EXTRA_STEPS = 5_000  # towards that
FEW_ACTIVE = 0.7  # share of the rows, above which to leave out the others gains nothing
STEPS_OF_ACTIVE = 4  # for each row that is left, before it is seen which are at rest
INNER = 0.2  # share of the violation to which a working set is solved
STALLED = 1_000_000  # steps, or so many a row, in which the violation should have halved
STALLED_PER_ROW = 100


class KernelRowsOf(Protocol):
    """What gives rows of a kernel matrix; see `kernels.blocks.KernelBlocks`."""

    kept: NDArray[Any]
    blur: float

    def among(self, rows: NDArray[np.intp]) -> Floats: ...
    def add(self, rows: NDArray[np.intp], steps: Floats, f: Floats) -> None: ...
    def exactly(self, b: Floats, rows: NDArray[np.intp] | slice = ...) -> Floats: ...


class Stall:
    """Steps since a violation last halved, of a problem of n rows.

    >>> stall = Stall(2)
    >>> stall.is_reached(1.0, 10), stall.is_reached(0.9, STALLED), stall.is_reached(0.4, 10)
    (False, True, False)
    """

    def __init__(self, n: int) -> None:
        self.most, self.since, self.least = max(STALLED, STALLED_PER_ROW * n), 0, np.inf

    def is_reached(self, violation: float, made: int) -> bool:
        """Whether so many more steps make it enough."""
        self.since += made
        if violation <= self.least / 2:
            self.least, self.since = violation, 0
        return self.since >= self.most


class BoxProblem(NamedTuple):
    """``min 1/2 b'Kb + c.b + kink |b|_1``, ``sum b = 0``, ``low <= b <= high``."""

    c: Floats
    low: Floats
    high: Floats
    kink: float

    @property
    def shape(self) -> tuple[int]:
        """Of its coefficients."""
        return self.c.shape

    def mostly_bounded(self, b: Floats) -> bool:
        """Whether most of the coefficients that are not zero are at a limit."""
        used = b != 0
        return bool(2 * np.count_nonzero(used & ((b <= self.low) | (b >= self.high))) > used.sum())

    def run(
        self, rows: KernelRowsOf, tol: float, most: int, start: Floats | None, shrinking: bool
    ) -> "Smo":
        """The solver, at coefficients `start` or at zero."""
        return Smo(self, rows, tol, most, start, shrinking)


class Smo:
    """A run: coefficients b (n,), scores f = K b, and by how much slopes are off at most."""

    def __init__(
        self, problem: BoxProblem, rows: KernelRowsOf, tol: float, most: int,
        start: Floats | None, shrinking: bool = True,
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
        self.matrix: Floats | None = None  # of all rows, if they are one working set
        self.diagonal = np.empty(0)
        self.stall = Stall(n)
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
        made = self._improve_all() if self.size == len(self.b) else self._improve_some()
        self.n_steps += made
        self.violation = self._slopes()
        if self.stall.is_reached(self.violation, made):
            return self._finish() or "no_progress"
        return None if made else self._finish()

    def _enough(self) -> bool:
        """Whether there were enough steps beyond those that reached the tolerance."""
        if self.patience is None:
            self.patience = self.n_steps + min(1000 + 4 * self.n_steps, MOST_EXTRA_STEPS)
        return self.n_steps >= min(self.patience, self.most)

    def _improve_all(self) -> int:
        """Some steps among all rows, if they are few, or among those that are not at rest."""
        if self.matrix is None:
            self.matrix = self.rows.among(np.arange(len(self.b)))
            self.diagonal = self.matrix.diagonal().copy()
        active = self._active() if self.shrinking and self.n_steps > len(self.b) else None
        if active is not None and len(active) <= FEW_ACTIVE * len(self.b):
            return self._improve_active(active)
        c, low, high, kink = self.problem
        g, most = self.f + c, max(10, len(self.b) // 10, self.n_steps // 100)
        most = min(most, self.most - self.n_steps)
        made = smo_loops.smo_steps(
            self.matrix, self.diagonal, g, self.b, low, high, kink, self.goal, most
        )
        self.f, self.exact = g - c, False
        return int(made)

    def _active(self) -> NDArray[np.intp]:
        """Rows that a pair of opposite slopes may be made of: all others are at rest."""
        top, bottom = self.down.max(initial=-np.inf), self.up.min(initial=np.inf)
        return np.flatnonzero((self.up < top) | (self.down > bottom))

    def _improve_active(self, active: NDArray[np.intp]) -> int:
        """Steps among the rows that are not at rest, and what they change in the scores of all."""
        assert self.matrix is not None
        c, low, high, kink = self.problem
        before, b = self.b[active], self.b[active]
        inner = max(self.goal, INNER * self.violation)
        made = smo_loops.smo_steps(
            self.matrix[np.ix_(active, active)], self.diagonal[active], (self.f + c)[active], b,
            low[active], high[active], kink, inner,
            min(self.most - self.n_steps, max(STEPS_OF_ACTIVE * len(active), self.n_steps // 100)),
        )  # fmt: skip
        moved = np.flatnonzero(b != before)
        self.b[active] = b
        self.f += (b - before)[moved] @ self.matrix[active[moved]]
        self.exact = False
        return int(made)

    def _improve_some(self) -> int:
        """Steps in a working set, and what they change in the scores of all rows."""
        c, low, high, kink = self.problem
        work = self._working_set()
        before, b = self.b[work], self.b[work]
        inner = min(max(self.tol, INNER * self.violation), 0.9 * self.violation)
        K = self.rows.among(work)
        made = smo_loops.smo_steps(
            K, K.diagonal().copy(), self.f[work] + c[work], b, low[work], high[work], kink,
            inner, min(self.most - self.n_steps, 10 * len(work)),
        )  # fmt: skip
        moved = np.flatnonzero(b != before)
        if len(moved):
            self.b[work] = b
            steps = (b - before)[moved]
            self.rows.add(work[moved], steps, self.f)
            self.exact, self.travelled = False, self.travelled + float(np.abs(steps).sum())
        return int(made)

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

    def _working_set(self) -> NDArray[np.intp]:
        """The rows that are furthest off, half to rise and half to fall, and some of the last."""
        n, size = len(self.b), self.size
        if size == n:
            return np.arange(n)
        half = max(1, size // 2 if len(self.last) == 0 else size // 4)
        rise = np.argpartition(self.up, half)[:half]
        fall = np.argpartition(-self.down, half)[:half]
        new = np.union1d(rise[np.isfinite(self.up[rise])], fall[np.isfinite(self.down[fall])])
        stay = np.setdiff1d(self.last, new, assume_unique=True)
        low, high = self.problem.low, self.problem.high
        free = (self.b[stay] > low[stay]) & (self.b[stay] < high[stay])
        stay = stay[np.argsort(~free, kind="stable")][: size - len(new)]
        self.last = np.concatenate([new, stay])
        return self.last

    @property
    def intercept(self) -> float:
        """b of the scores f + b: the middle of what the slopes allow, the mean of free rows."""
        c, low, high, kink = self.problem
        free = (self.b > low) & (self.b < high) & ((self.b != 0) | (kink == 0))
        if free.any():
            sides = np.where(self.b > 0, kink, -kink)
            return float(-np.mean((self.f + c + sides)[free]))
        ends = [self.up.min(initial=np.inf), self.down.max(initial=-np.inf)]
        finite = [end for end in ends if np.isfinite(end)]
        return float(-np.mean(finite)) if finite else 0.0

    def dual(self) -> float:
        """The objective, with its sign changed: a value that no machine goes below."""
        c, _, _, kink = self.problem
        return -float(0.5 * self.b @ self.f + c @ self.b + kink * np.abs(self.b).sum())


def between(b: Floats, low: Floats, high: Floats) -> Floats:
    """Coefficients within their limits; at them, where rounding alone keeps them away."""
    near = 1e-12 * np.abs(b)
    return np.where(b >= high - near, high, np.where(b <= low + near, low, b))
