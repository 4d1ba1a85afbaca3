"""Fitting a logistic regression: which solver to run, one iteration, when to stop."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rosenblatt import checks
from rosenblatt.runtime.blas import one_blas_thread

from .gradient_descent import Diverged, gradient, safe_step, sgd
from .lbfgs import lbfgs
from .logistic_coordinate import coordinate
from .logistic_gap import duality_gap
from .logistic_problem import Array, BinaryProblem, LogisticProblem, Place
from .newton import is_wide, newton, newton_cg, row_space_newton
from .sampled_newton import begun, has_many_rows, sampled_newton
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
WITHOUT_SETTINGS = {
    "newton-cholesky": newton,
    "newton-cg": newton_cg,
    "newton-rows": row_space_newton,
    "newton-sampled": sampled_newton,
    "lbfgs": lbfgs,
    "coordinate": coordinate,
}
# scikit-learn's warning of each solver that needs more iterations.
TOO_FEW_ITERATIONS = {
    "lbfgs": "lbfgs failed to converge. ",
    "liblinear": "Liblinear failed to converge, increase the number of iterations. ",
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations. ",
    "newton-cholesky": "Newton solver did not converge after {max_iter} iterations. ",
    "sag": "The max_iter was reached which means the coef_ did not converge. ",
    "saga": "The max_iter was reached which means the coef_ did not converge. ",
}

FEW_PARAMETERS = 60  # whose second derivative takes no time
LARGEST_MATRIX = 1500  # parameters whose second derivative is formed
WORK_OF_MATRIX = 3e8  # multiplications that forming it may take
MOST_WEIGHT = 1e150  # of a row: more has no square

StopReason = Literal["converged", "no_progress", "diverged"]


@dataclass(frozen=True)
class LogisticSettings:
    """How to solve a problem; `name` and `name_columns` are for messages."""

    solver: str
    tol: float | None
    max_iter: int
    C: float  # what the losses were multiplied with; 1 without a penalty
    random_state: Any
    eta0: float | None  # the first step of "gradient" and "sgd"
    name: str
    name_columns: Callable[[NDArray[np.intp]], str]


def logistic_problem(
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    c: Array,
    penalty: tuple[float, float],
    fit_intercept: bool,
    reference: bool,
) -> LogisticProblem:
    """The problem of rows X (n, d) of classes `codes` (n,) and weights c (n,).

    `penalty` is (l1, l2). With a reference the last of three or more classes has no weights.
    """
    if n_classes == 2:
        return BinaryProblem(X, np.where(codes == 1, 1.0, -1.0), c, *penalty, fit_intercept)
    code = codes.astype(np.int32)
    return SoftmaxProblem(X, code, n_classes, c, *penalty, fit_intercept, reference)


class LogisticDescent:
    """Where a fit is, how far from the best it may be, and whether that is near enough."""

    def __init__(
        self, problem: LogisticProblem, start: Array, settings: LogisticSettings, watched: bool
    ) -> None:
        self.problem, self.settings = problem, settings
        self.solver = solver_for(settings.solver, problem)
        self.place = begun(problem, start) if self.solver == "newton-sampled" else problem.at(start)
        if not np.isfinite(self.place.objective) or not np.isfinite(self.place.gradient_norm):
            self._refuse()
        self.gap, self.best, self.start = float("inf"), self.place, self.place
        tol, total = settings.tol or 0.0, float(problem.c.sum())
        self.short_gradient = tol * total
        self.small_gap = tol * max(problem.zero(), 1e-6 * total)
        self.iterations = self._solve()
        self.trouble = ""
        self.watched = watched  # then the gap is worked out after each iteration
        if watched:
            with one_blas_thread():
                self.settle()

    def _solve(self) -> Iterator[Place]:
        """The iterations of the solver, from the start on."""
        problem, place, eta0 = self.problem, self.place, self.settings.eta0
        if self.solver in WITHOUT_SETTINGS:
            return WITHOUT_SETTINGS[self.solver](problem, place)
        if self.solver == "gradient":
            # The step of the notes is one up the log-posterior, which C multiplies here.
            return gradient(problem, place, None if eta0 is None else eta0 / self.settings.C)
        seed = check_random_state(self.settings.random_state).randint(np.iinfo(np.int32).max)
        return sgd(problem, place, int(seed), eta0)

    def advance(self) -> StopReason | None:
        """Make one iteration; the reason to stop after it, if there is one."""
        try:
            place = next(self.iterations, None)
        except Diverged as error:
            self.trouble = str(error)
            self.place, self.gap = self.best, float("inf")
            return "diverged"
        if place is None:  # no step lowers the objective any more
            self.settle()
            return self._verdict() or "no_progress"
        self.place, self.gap = place, float("inf")
        if place.objective <= self.best.objective:
            self.best = place
        if not np.isfinite(place.objective):
            self._refuse()
        reason = self._verdict()
        if self.watched:
            self.settle()
        return reason

    def _verdict(self) -> StopReason | None:
        """Whether the place is near enough to the best."""
        if self.settings.tol is None or self.place.gradient_norm > self.short_gradient:
            return None
        if not self.problem.penalised:
            return "converged"
        # The bound costs about a pass: it is worked out when its estimate is small enough.
        hopeful = self.problem.l1 or self._estimated_gap() <= 2 * self.small_gap
        if np.isinf(self.gap) and hopeful:
            self.settle()
        near = self.place.gradient_norm <= self.short_gradient and self.gap <= self.small_gap
        return "converged" if near else None

    def _estimated_gap(self) -> float:
        """The gap of an L2 penalty, but for the bias."""
        g = self.place.gradient[:-1]
        return float(np.vdot(g, g)) / (2 * self.problem.l2)

    def settle(self) -> None:
        """Work out the last place and its gap to the last digit, if not needed until now."""
        if np.isinf(self.gap):
            self.place = self.problem.exactly(self.place)
            self.gap = duality_gap(self.problem, self.place)

    def finish(self, reason: str) -> str:
        """Settle where the fit ended; "diverged" if it ran out of iterations above its start."""
        self.settle()
        # The start may be known in single precision only.
        worse = self.place.objective > (1 + 1e-6) * max(self.start.objective, self.problem.zero())
        if reason != "max_iter" or not worse:
            return reason
        self.trouble = (
            f"the objective rose from {self.start.objective:.6g} to {self.place.objective:.6g}"
        )
        self.place, self.gap = self.best, float("inf")
        self.settle()
        return "diverged"

    def __str__(self) -> str:
        gap = f", gap {self.gap:.3g}" if np.isfinite(self.gap) else ""  # no penalty, no bound
        norm = self.place.gradient_norm
        return f"objective {self.place.objective:.6g}, gradient {norm:.3g}{gap}"

    def shortfall(self, reason: str) -> str | None:
        """What a fit that ended for this reason fell short of, in words; None if of nothing."""
        if reason == "diverged":
            return (
                f"The fit diverged and was stopped: {self.trouble}. The step "
                f"eta0={self.settings.eta0} is too large for these data; use "
                f"{self._shorter_step()}eta0=None, or another solver. The coefficients are the "
                "best that were met."
            )
        if reason in ("max_iter", "no_progress") and self.settings.tol is not None:
            return self._missed_tolerance(reason)
        return None

    def _shorter_step(self) -> str:
        """A step that will do: one over the curvature for "gradient", which is largest at zero, and
        one over that of the longest row for "sgd", which steps after each row.
        """
        problem = self.problem
        with np.errstate(over="ignore"):
            if self.solver == "gradient":
                place = problem.at(np.zeros(problem.shape))
                curvature = float(problem.diagonal(place).astype(np.float64).sum())
                step = self.settings.C / max(curvature, 1e-300)
            else:
                step = safe_step(problem)
        return f"eta0={step:.2g}, " if step > 0 else ""  # none is short enough

    def _missed_tolerance(self, reason: str) -> str:
        """What was reached, what was wanted, and what to change."""
        settings, wanted = self.settings, []
        if self.place.gradient_norm > self.short_gradient:
            wanted.append(
                f"the gradient is {self.place.gradient_norm:.3g} long, wanted "
                f"{self.short_gradient:.3g}"
            )
        if self.problem.penalised and self.gap > self.small_gap:
            wanted.append(f"the duality gap is {self.gap:.3g}, wanted {self.small_gap:.3g}")
        short = " and ".join(wanted) or "the tolerance was met only after the last test"
        first = ""
        if reason == "max_iter":
            first = TOO_FEW_ITERATIONS.get(settings.solver, "").format(max_iter=settings.max_iter)
            advice = f"max_iter={settings.max_iter} is reached. Raise it, standardise X"
        else:
            advice = "No step lowers the objective any more in floating point. Standardise X"
        other = "" if settings.solver == "auto" else ', or use solver="auto"'
        return (
            f"{first}{settings.name} stopped short of tol={settings.tol}: {short}. "
            f"{advice}{other}, or raise tol."
        )

    def _refuse(self) -> None:
        """Raise the error that names the numbers whose objective is not finite."""
        problem, point = self.problem, self.place.point
        checks.finite(problem.X, estimator_name=self.settings.name)
        if not np.all(np.isfinite(point)) or (np.any(point) and self._is_finite_at_zero()):
            raise ValueError(
                "warm_start=True begins from coef_ and intercept_, which hold numbers up to "
                f"{np.abs(point).max():.3g}: the objective there is not finite. Fit a clone."
            )
        if problem.c.max() > MOST_WEIGHT:
            raise ValueError(
                f"C times sample_weight is up to {problem.c.max():.3g}, too large for 64 bits; use "
                "smaller weights, or C=np.inf for no penalty."
            )
        sizes = abs(problem.X).max(axis=0)
        sizes = sizes.toarray()[0] if sp.issparse(sizes) else sizes
        where = self.settings.name_columns(np.flatnonzero(sizes >= sizes.max() / 1e3))
        raise checks.too_large(f"Numbers up to {sizes.max():.3g} (column {where}) are")

    def _is_finite_at_zero(self) -> bool:
        place = self.problem.at(np.zeros(self.problem.shape))
        return bool(np.isfinite(place.objective) and np.isfinite(place.gradient_norm))


def solver_for(solver: str, problem: LogisticProblem) -> str:
    """The solver that is run for a name; refuses one that cannot leave weights at zero."""
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
    return newton_for(problem) if name == "newton" else name


def newton_for(problem: LogisticProblem) -> str:
    """Which kind of Newton's method suits the shape of a problem."""
    p = int(np.prod(problem.shape))
    # Of many classes the curvature of each is made sooner, and needs to be made less often.
    by_class = p > FEW_PARAMETERS and problem.penalised and problem.has_curvature_by_class
    small = p <= LARGEST_MATRIX and problem.n * float(p) ** 2 <= WORK_OF_MATRIX
    if small and not by_class:
        return "newton-cholesky"
    if is_wide(problem):
        return "newton-rows"
    if not sp.issparse(problem.X) and problem.penalised and has_many_rows(problem):
        return "newton-sampled"
    return "newton-cg"


def class_without_weight(
    problem: LogisticProblem, codes: NDArray[np.intp], classes: NDArray[Any]
) -> str | None:
    """A sentence on a class whose rows count nothing: a free bias has no best value then."""
    empty = np.flatnonzero(np.bincount(codes, problem.c, len(classes)) == 0)
    if not len(empty) or not problem.fit_intercept:
        return None
    label = repr(classes.tolist()[empty[0]])
    none = f"All rows of class {label} have weight zero"
    if not (codes == empty[0]).any():
        none = f"The training rows of a fold have none of class {label}"
    return (
        f"{none}: its probability is best at zero, so that no finite bias is best, and it was "
        "stopped on its way. Leave the class out, or give it a weight."
    )
