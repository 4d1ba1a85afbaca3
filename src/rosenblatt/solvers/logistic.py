"""Solve a logistic regression: choose the solver, iterate, bound the duality gap, stop."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rosenblatt.runtime.threads import one_blas_thread

from . import logistic_messages
from .gradient_descent import Diverged, gradient, sgd
from .lbfgs import lbfgs
from .logistic_coordinate import coordinate
from .logistic_problem import (
    ROUNDING,
    Array,
    BinaryProblem,
    Iterate,
    LogisticProblem,
    soft_threshold,
)
from .newton import factored, has_small_classes, is_wide, newton, newton_cg, row_space_newton
from .sampled_newton import float32_start, has_many_rows, sampled_newton
from .softmax import SoftmaxProblem

OURS = frozenset({"auto", "newton", "lbfgs", "gradient", "sgd", "coordinate"})
# The names of scikit-learn's solvers, without and with an L1 penalty.
THEIRS = {
    "lbfgs": ("lbfgs", None),
    "liblinear": ("newton", "coordinate"),
    "newton-cg": ("newton-cg", None),
    "newton-cholesky": ("newton-cholesky", None),
    "sag": ("lbfgs", None),
    "saga": ("lbfgs", "coordinate"),
}
SOLVERS = OURS | set(THEIRS)
WITH_L1 = ("coordinate", "gradient")
WITHOUT_SETTINGS: dict[str, Callable[[LogisticProblem, Iterate], Iterator[Iterate]]] = {
    "newton-cholesky": newton,
    "newton-cg": newton_cg,
    "newton-rows": row_space_newton,
    "newton-sampled": sampled_newton,
    "lbfgs": lbfgs,
    "coordinate": coordinate,
}

FEW_PARAMETERS = 60  # whose Hessian takes no time
LARGEST_MATRIX = 1500  # parameters whose Hessian is formed
WORK_OF_MATRIX = 3e8  # multiplications that forming it may take
MAX_FREE = 1500  # parameters without a penalty, up to which the gap is computed

StopReason = Literal["converged", "no_progress", "diverged"]


@dataclass(frozen=True)
class LogisticSettings:
    """How to solve a problem; `estimator` and `column_names` are for messages."""

    solver: str
    tol: float | None
    max_iter: int
    C: float  # factor of the losses; 1 without a penalty
    random_state: Any
    eta0: float | None  # the first step of "gradient" and "sgd"
    estimator: str
    column_names: Callable[[], Sequence[str]]


def logistic_problem(
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    c: Array,
    penalty: tuple[float, float],
    fit_intercept: bool,
    reference: bool,
) -> LogisticProblem:
    """Return the problem of rows X (n, d) of classes `codes` (n,) and weights c (n,).

    `penalty` is (l1, l2). With a reference the last of three or more classes has no weights.
    """
    if n_classes == 2:
        return BinaryProblem(X, np.where(codes == 1, 1.0, -1.0), c, *penalty, fit_intercept)
    code = codes.astype(np.int32)
    return SoftmaxProblem(X, code, n_classes, c, *penalty, fit_intercept, reference)


def choose_solver(solver: str, problem: LogisticProblem) -> str:
    """Return the solver that runs for a name; refuse one that cannot leave weights at zero."""
    name = solver
    if solver == "auto":
        name = "coordinate" if problem.l1 else "newton"
    elif solver in THEIRS:
        name = THEIRS[solver][bool(problem.l1)] or solver
    if problem.l1 and name not in WITH_L1:
        raise ValueError(
            f"solver={solver!r} supports only L2 or no penalty, for it never leaves a weight at "
            'exactly 0. Use solver="auto", "coordinate", "saga" or "gradient", or l1_ratio=0.'
        )
    return choose_newton(problem) if name == "newton" else name


def choose_newton(problem: LogisticProblem) -> str:
    """Return the variant of Newton's method that suits the shape of a problem."""
    p = int(np.prod(problem.shape))
    # Hessians of single classes cost less than the whole, and need to be formed less often.
    by_class = p > FEW_PARAMETERS and problem.is_penalized and has_small_classes(problem)
    small = p <= LARGEST_MATRIX and problem.n * float(p) ** 2 <= WORK_OF_MATRIX
    if small and not by_class:
        return "newton-cholesky"
    if is_wide(problem):
        return "newton-rows"
    if not sp.issparse(problem.X) and problem.is_penalized and has_many_rows(problem):
        return "newton-sampled"
    return "newton-cg"


class LogisticDescent:
    """A run of a solver: the last iterate, a bound on its distance to the optimum, when to stop.

    With `track_gap` the duality gap is computed after each iteration, else only to stop.
    """

    def __init__(
        self, problem: LogisticProblem, start: Array, settings: LogisticSettings, track_gap: bool
    ) -> None:
        self.problem, self.settings, self.track_gap = problem, settings, track_gap
        self.solver = choose_solver(settings.solver, problem)
        is_sampled = self.solver == "newton-sampled"
        self.iterate = float32_start(problem, start) if is_sampled else problem.at(start)
        self._check_finite(self.iterate.objective + self.iterate.gradient_norm)
        self.gap, self.best, self.start = np.inf, self.iterate, self.iterate
        tol, weight = settings.tol or 0.0, float(problem.c.sum())
        self.wanted_gradient = tol * weight
        self.wanted_gap = tol * max(problem.zero(), 1e-6 * weight)
        self.divergence = ""  # how the objective diverged
        self._iterations = self._run_solver()
        if track_gap:
            with one_blas_thread():
                self._compute_gap()

    def _run_solver(self) -> Iterator[Iterate]:
        problem, eta0 = self.problem, self.settings.eta0
        if self.solver in WITHOUT_SETTINGS:
            return WITHOUT_SETTINGS[self.solver](problem, self.iterate)
        if self.solver == "gradient":
            # The step is for the log-posterior, which C multiplies here.
            step = None if eta0 is None else eta0 / self.settings.C
            return gradient(problem, self.iterate, step)
        seed = check_random_state(self.settings.random_state).randint(np.iinfo(np.int32).max)
        return sgd(problem, self.iterate, int(seed), eta0)

    def run(self, passes: Any, verbose: int) -> str:
        """Iterate until a reason to stop, report each iteration to callbacks, return the reason."""
        with one_blas_thread():  # the bits of a factor depend on the number of BLAS threads
            for n_iter in passes:
                if reason := self.advance():
                    passes.stop(reason)
                if verbose:
                    gap = f", gap {self.gap:.3g}" if np.isfinite(self.gap) else ""
                    print(
                        f"iteration {n_iter}: objective {self.iterate.objective:.6g}, "
                        f"gradient {self.iterate.gradient_norm:.3g}{gap}"
                    )
            return self.finish(passes.stop_reason or "max_iter")

    def advance(self) -> StopReason | None:
        """Make one iteration; return the reason to stop after it, if there is one."""
        try:
            iterate = next(self._iterations, None)
        except Diverged as error:
            self.divergence = str(error)
            self.iterate, self.gap = self.best, np.inf
            return "diverged"
        if iterate is None:  # no step lowers the objective any more
            self._compute_gap()
            return "converged" if self._has_converged() else "no_progress"
        self.iterate, self.gap = iterate, np.inf
        if iterate.objective <= self.best.objective:
            self.best = iterate
        self._check_finite(iterate.objective)
        has_converged = self._has_converged()
        if self.track_gap:
            self._compute_gap()
        return "converged" if has_converged else None

    def _has_converged(self) -> bool:
        """Whether gradient and gap are within the tolerance."""
        if self.settings.tol is None or self.iterate.gradient_norm > self.wanted_gradient:
            return False
        if not self.problem.is_penalized:
            return True
        # The gap costs about a pass over the rows: it is computed when this estimate is small.
        g, l2 = self.iterate.gradient[:-1], self.problem.l2
        if self.problem.l1 or float(np.vdot(g, g)) / (2 * l2) <= 2 * self.wanted_gap:
            self._compute_gap()
        is_short = self.iterate.gradient_norm <= self.wanted_gradient
        return is_short and self.gap <= self.wanted_gap

    def _compute_gap(self) -> None:
        """Compute the iterate in double precision and its gap, unless they are known."""
        if np.isinf(self.gap):
            self.iterate = self.problem.in_float64(self.iterate)
            self.gap = duality_gap(self.problem, self.iterate)

    def finish(self, reason: str) -> str:
        """Compute the final gap; return "diverged" if iterations ended above the start."""
        self._compute_gap()
        if reason != "max_iter":
            return reason
        # The start may be known in single precision only.
        highest = (1 + 1e-6) * max(self.start.objective, self.problem.zero())
        if self.iterate.objective <= highest:
            return reason
        self.divergence = (
            f"the objective rose from {self.start.objective:.6g} to {self.iterate.objective:.6g}"
        )
        self.iterate, self.gap = self.best, np.inf
        self._compute_gap()
        return "diverged"

    def messages(
        self, reason: str, codes: NDArray[np.intp], classes: NDArray[Any]
    ) -> Iterator[str]:
        """Yield the convergence warnings of a fit that ended for a reason."""
        if reason != "converged" and (message := logistic_messages.shortfall(self, reason)):
            yield message
        weights = np.bincount(codes, self.problem.c, len(classes))
        if self.problem.fit_intercept and not weights.all():
            yield logistic_messages.class_without_weight(weights, codes, classes)

    def _check_finite(self, value: float) -> None:
        if not np.isfinite(value):
            estimator, column_names = self.settings.estimator, self.settings.column_names
            raise logistic_messages.not_finite(
                self.problem, self.iterate.point, estimator, column_names
            )


# The duality gap: any dual point bounds the optimum from below. The probabilities of a point are a
# dual point once they balance in each direction without a penalty.


def duality_gap(problem: LogisticProblem, iterate: Iterate) -> float:
    """Return an upper bound of the distance of the objective to the optimum."""
    # The probabilities are balanced to first order, by Newton's step on the free parameters. Where
    # that does not give probabilities, or where there are too many free parameters, the bound of
    # the optimum is zero.
    iterate = problem.in_float64(iterate)
    move = balancing_move(problem, iterate)
    dual = None if move is None else problem.dual_at(iterate, move)
    if move is None or dual is None:
        return iterate.objective
    pull, entropy = dual
    if not problem.fit_intercept:
        pull[-1] = 0.0
    allowance = ROUNDING * (abs(iterate.objective) + float(np.abs(problem.c).sum()))
    cost, kept = 0.0, 1.0
    if problem.is_penalized:
        cost, kept = _conjugate(problem, pull[:-1])
    else:
        # The balance holds up to rounding: the bound is valid for points up to 100 times as large.
        allowance += 100.0 * float(np.linalg.norm(pull)) * float(np.linalg.norm(iterate.point))
    if kept != 1.0:
        scaled = problem.dual_at(iterate, move, kept)
        entropy = scaled[1] if scaled else -np.inf
    bound = entropy - cost - allowance
    return iterate.objective - min(max(bound, 0.0), iterate.objective)


def balancing_move(problem: LogisticProblem, iterate: Iterate) -> Array | None:
    """Return Newton's step over the parameters without a penalty; None if there are too many."""
    move = np.zeros(problem.shape)
    if problem.is_penalized:
        if problem.fit_intercept:
            free = np.arange(move.size - move[-1].size, move.size)
            move.flat[free] = factored(problem.hessian(iterate, free))(iterate.gradient.flat[free])
        return move
    if move.size > MAX_FREE:
        return None
    return factored(problem.hessian(iterate))(iterate.gradient.ravel()).reshape(problem.shape)


def _conjugate(problem: LogisticProblem, v: Array) -> tuple[float, float]:
    """Return the conjugate of the penalty, and the factor that makes the dual point feasible."""
    if problem.l2:
        over = soft_threshold(v, problem.l1)
        return float(np.vdot(over, over)) / (2 * problem.l2), 1.0
    most = float(np.abs(v).max(initial=0.0))
    return 0.0, 1.0 if most <= problem.l1 else problem.l1 / most
