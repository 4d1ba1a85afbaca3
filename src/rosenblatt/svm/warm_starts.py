"""Problems of a fit, solved one after the other, and where the next fit of a path begins."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.gram import MEGABYTE
from rosenblatt.solvers.joint_smo import JointBox
from rosenblatt.solvers.smo import BoxProblem

from .training_rows import TrainingRows

Floats = NDArray[np.float64]
Problem = BoxProblem | JointBox

ENDLESS = 1 << 62


class Run(NamedTuple):
    """What one problem came to."""

    b: Floats  # coefficients (n,), or (K, n) of all classes at once
    f: Floats  # scores of the same shape, without the intercept
    intercept: Any  # a number, or (K,)
    n_steps: int
    violation: float
    reason: str
    dual: float  # the objective of the dual, to be maximised


class Warmth:
    """What fits along a path over C leave to the next: kernel blocks, and coefficients."""

    def __init__(self) -> None:
        self.blocks: dict[int, Any] = {}
        self.found: list[tuple[Floats, bool]] = []  # coefficients, and whether most are bounded
        self.C = 1.0

    def blocks_of(self, number: int, rows: TrainingRows, places: NDArray[np.intp]) -> Any:
        """The kernel blocks of a machine, kept while all fit into the budget of one."""
        if number in self.blocks:
            return self.blocks[number]
        blocks = rows.blocks(places)
        held = sum(other.kept.nbytes for other in self.blocks.values())
        if held + blocks.kept.nbytes <= rows.megabytes * MEGABYTE:
            self.blocks[number] = blocks
        return blocks

    def start_of(self, number: int, C: float) -> Floats | None:
        """Where a machine begins: bounded coefficients grow with C, and free ones hardly do."""
        ratio = C / self.C
        if number >= len(self.found) or not np.isfinite(ratio):
            return None
        b, mostly_bounded = self.found[number]
        return b * ratio if mostly_bounded else b

    def keep(self, problems: list[Problem], runs: list[Run], C: float) -> None:
        """What the fit with one C came to."""
        both = zip(problems, runs, strict=True)
        self.found = [(run.b, problem.mostly_bounded(run.b)) for problem, run in both]
        self.C = C


class Runs:
    """Problems solved one after the other, a working set at a time."""

    def __init__(self, model: Any, rows: TrainingRows) -> None:
        self.rows, self.tol, self.C = rows, model.tol, model.C
        self.shrinking = bool(model.shrinking)
        self.most = ENDLESS if model.max_iter < 0 else model.max_iter
        self.warmth: Warmth = model._warmth or Warmth()
        self.waiting: list[tuple[NDArray[np.intp], Problem]] = []
        self.done: list[Run] = []
        self.now: Any = None

    def add(self, rows: NDArray[np.intp], problem: Problem) -> None:
        """Take on the problem of some rows."""
        self.waiting.append((rows, problem))

    def advance(self) -> Any:
        """Improve one working set; return why to stop when all problems are solved."""
        if self.now is None:
            number = len(self.done)
            rows, problem = self.waiting[number]
            blocks = self.warmth.blocks_of(number, self.rows, rows)
            start = self.warmth.start_of(number, self.C)
            self.now = problem.run(blocks, self.tol, self.most, start, self.shrinking)
        reason = self.now.advance()
        if reason is None:
            return None
        self.done.append(_concluded(self.now, reason))
        self.now = None
        if len(self.done) < len(self.waiting):
            return None
        self.warmth.keep([problem for _, problem in self.waiting], self.done, self.C)
        reasons = {run.reason for run in self.done}
        return next(word for word in ("max_iter", "no_progress", "converged") if word in reasons)

    def results(self) -> list[Run]:
        """All runs as they stand; those that have not begun are at zero."""
        found = [*self.done]
        if self.now is not None:
            found.append(_concluded(self.now, "callback"))
        for _, problem in self.waiting[len(found) :]:
            nothing = np.zeros(problem.shape)
            found.append(Run(nothing, nothing, 0.0, 0, np.inf, "callback", 0.0))
        return found


def _concluded(solver: Any, reason: str) -> Run:
    b, f = solver.b.copy(), solver.f.copy()
    return Run(b, f, solver.intercept, solver.n_steps, solver.violation, reason, solver.dual())
