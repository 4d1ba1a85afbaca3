"""Shared by `LinearSVC` and `LinearSVR`: parameters, choice of solvers, passes, the path over C.

A pass advances every plane that is not done, so that callbacks see all planes grow together.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import Passes, fitting, warn_not_converged
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.runtime.threads import one_blas_thread

from .crammer_singer import CrammerSingerDescent, CrammerSingerProblem
from .crammer_singer_interior import SCREENED_ROWS, CrammerSingerInterior, ScreenedCrammerSinger
from .dual_coordinate import DualCoordinate
from .hard_margin import HardMargin
from .interior_point import InteriorPoint, ScreenedInteriorPoint
from .margin_problem import Array, MarginProblem, MarginSolver
from .squared_hinge import MOST_COLUMNS, SquaredHinge

Problem = MarginProblem | CrammerSingerProblem

POSITIVE = Interval(Real, 0, None, closed="neither")
FEW_COLUMNS = 500  # of which all products are formed, in each step
WORK_OF_MATRIX = 3e10  # multiplications that forming them may take
ENOUGH_CELLS = 10_000  # from which coordinate descent may be faster than the interior point method
MANY_CELLS = 50_000  # from which rows are screened
# Coordinate descent continues while the violation of the optimality conditions, after so many
# passes, is at most this share of the first; for tables with up to MANY_CELLS and for larger ones.
QUICK_OF_FEW = {3: 0.05, 10: 0.004, 20: 0.0015, 200: 0.0}
QUICK = {5: 0.05, 50: 0.002, 200: 0.0}
LARGEST_SEED = 2**31 - 1


def passes_of(solver: MarginSolver) -> Iterator[MarginSolver]:
    """Yield the solver before its first pass and after each but the last."""
    yield solver
    while not solver.advance():
        yield solver


def few_columns(
    problem: MarginProblem, tol: float, seed: Callable[[], int]
) -> Iterator[MarginSolver]:
    """Yield coordinate descent as long as it converges fast, then an interior point method.

    Small tables start with the interior point method, which is exact up to rounding.
    """
    n_cells = cells(problem.X)
    few = n_cells < MANY_CELLS
    if n_cells >= ENOUGH_CELLS:
        descent = DualCoordinate(problem, tol, seed())
        quick = QUICK_OF_FEW if few else QUICK
        yield descent
        for n_passes in count(1):
            if descent.advance():
                return
            if descent.mean_violation > quick.get(n_passes, np.inf) * descent.first:
                break
            yield descent
    if few:
        exact: MarginSolver = InteriorPoint(problem, tol)
    else:
        exact = ScreenedInteriorPoint(problem, tol, *descent.planes)
    yield from passes_of(exact)


def fit_of(
    problem: Problem, dual: Any, tol: float, seed: Callable[[], int], start: Any
) -> Iterator[MarginSolver]:
    """Choose the solver of a problem; `start` is where the fit with another C ended, or None."""
    if isinstance(problem, CrammerSingerProblem):
        unknowns = (problem.X.shape[1] + 1) * problem.n_classes
        few = unknowns <= 2 * FEW_COLUMNS and problem.X.shape[0] * unknowns**2 <= WORK_OF_MATRIX
        if dual == "auto" and not problem.hard and few:
            many = np.count_nonzero(problem.c > 0) > SCREENED_ROWS
            method = ScreenedCrammerSinger if many else CrammerSingerInterior
            return passes_of(method(problem, tol))
        return passes_of(CrammerSingerDescent(problem, tol, seed(), start))
    if problem.hard:
        return passes_of(HardMargin(problem, tol, seed()))
    d = problem.d
    if problem.squared:
        in_dual = dual is True or (dual == "auto" and d > MOST_COLUMNS)
        if problem.l1 or not in_dual:
            plane = start if isinstance(start, tuple) else None
            return passes_of(SquaredHinge(problem, tol, plane))
    elif dual == "auto" and d <= FEW_COLUMNS and cells(problem.X) * d <= WORK_OF_MATRIX:
        return few_columns(problem, tol, seed)
    beta = start if isinstance(start, np.ndarray) else None
    return passes_of(DualCoordinate(problem, tol, seed(), beta))


def cells(X: Any) -> int:
    """Return how many numbers a table stores."""
    return int(X.nnz if sp.issparse(X) else X.size)


class MarginFits:
    """The planes of a model: one problem for each, or all classes in one problem."""

    def __init__(
        self, problems: Sequence[Problem], dual: Any, tol: float, random_state: Any, starts: Any
    ) -> None:
        rng = cache(lambda: check_random_state(random_state))  # seeding is slower than some fits

        def seed() -> int:
            return int(rng().randint(LARGEST_SEED))

        begin = starts or [None] * len(problems)
        self.fits = [
            fit_of(problem, dual, tol, seed, start)
            for problem, start in zip(problems, begin, strict=True)
        ]
        self.solvers = [next(fit) for fit in self.fits]
        self.open = list(range(len(problems)))  # the fits that are not done

    def run(self, passes: Passes, verbose: bool) -> None:
        """Make passes until all planes are done, or the passes end."""
        for n_iter in passes:
            for k in self.open.copy():
                solver = next(self.fits[k], None)
                if solver is None:
                    self.open.remove(k)
                else:
                    self.solvers[k] = solver
            if not self.open:
                passes.stop("no_progress" if self._stopped_by_rounding else "converged")
            if verbose:
                value = sum(solver.objective() for solver in self.solvers)
                gap = sum(solver.gap() for solver in self.solvers)
                print(f"pass {n_iter}: objective {value:.6g}, duality gap {gap:.3g}")

    @property
    def planes(self) -> tuple[Array, Array]:
        """Copies of the weights (K, d) and the intercepts (K,)."""
        parts = [solver.planes for solver in self.solvers]
        return np.vstack([W for W, _ in parts]), np.hstack([b for _, b in parts])

    def attributes(self, factor: float = 1.0) -> dict[str, Any]:
        """Return objectives and gaps (K,), times a factor, and the support."""
        supports: list[NDArray[np.intp]] = [solver.support for solver in self.solvers]
        return {
            "objective_": factor * np.array([solver.objective() for solver in self.solvers]),
            "dual_gap_": factor * np.array([solver.gap() for solver in self.solvers]),
            "support_": supports[0] if len(supports) == 1 else np.unique(np.concatenate(supports)),
        }

    @property
    def _stopped_by_rounding(self) -> list[MarginSolver]:
        """Solvers that stopped above the tolerated gap because of rounding."""
        exact = (CrammerSingerInterior, ScreenedCrammerSinger)
        joint = [solver for solver in self.solvers if isinstance(solver, exact)]
        return [solver for solver in joint if not solver.gap() <= solver.small_gap]

    def warn(self, reason: str | None, n_iter: int) -> None:
        """Warn if the fit stopped early, with the gap reached and the gap wanted."""
        if reason == "no_progress":
            (solver,) = self._stopped_by_rounding
            warn_not_converged(
                f"Rounding keeps the duality gap at {solver.gap():.3g} after {n_iter} steps; "
                f"wanted was {solver.small_gap:.3g}. Standardize the columns, raise tol or lower C."
            )
        if reason != "max_iter":
            return
        some = [self.solvers[k] for k in self.open]
        worst = max(some, key=lambda solver: solver.gap() / solver.small_gap)
        reached = f"the duality gap is {worst.gap():.3g}; wanted was {worst.small_gap:.3g}"
        if np.isfinite(worst.violation):  # some solvers measure it from the second pass on
            reached = (
                f"the duality gap is {worst.gap():.3g} and the violation of the optimality "
                f"conditions {worst.violation:.3g}; wanted were {worst.small_gap:.3g} and "
                f"{worst.wanted:.3g}"
            )
        warn_not_converged(  # begins like scikit-learn's, for filters
            "Liblinear failed to converge, increase the number of iterations. After "
            f"{n_iter} passes {reached}. Increase max_iter or tol, standardize the columns, or "
            "lower C."
        )


class LinearSVM(CallbackSupportMixin):  # type: ignore[misc]
    """Linear support vector machine: parameters, passes, the path over C."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [POSITIVE],
        "tol": [POSITIVE],
        "dual": ["boolean", StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [POSITIVE],
        "penalize_intercept": ["boolean"],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
    }

    _fit: Callable[..., MarginFits]  # (X, y, sample_weight): check, solve, set the attributes
    _starts: Sequence[Any] | None = None  # in a path: where the fit with the last C ended

    @property
    def _bias(self) -> float:
        """The column that makes the intercept: infinite for a free one, 0 for none."""
        if not self.fit_intercept:
            return 0.0
        return float(self.intercept_scaling) if self.penalize_intercept else np.inf

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        fits = self._fit(X, y, sample_weight)
        fits.warn(self.stop_reason_, self.n_iter_)
        return self

    def _solve(
        self, problems: Sequence[Any], passes: Passes, attributes: Callable[[MarginFits], Any]
    ) -> MarginFits:
        """Make the passes of all planes, and set the fitted attributes."""
        fits = MarginFits(problems, self.dual, float(self.tol), self.random_state, self._starts)
        passes.attributes = lambda: {
            **attributes(fits), "n_iter_": passes.n_iter, "stop_reason_": "callback"
        }  # fmt: skip
        with one_blas_thread():  # the bits of a factor depend on the number of threads
            fits.run(passes, bool(self.verbose))
            self.__dict__.update(attributes(fits))
        self.n_iter_, self.stop_reason_ = passes.n_iter, passes.stop_reason or "max_iter"
        return fits

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: weights, intercept, supports (m,)."""
        above: dict[str, Any] = super().trace_view()
        return above | ({"supports": self.support_} if hasattr(self, "support_") else {})

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("C",)``."""
        return ("C",)

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit at many values of C, each from where the next smaller one ended.

        Takes and returns the same as `capabilities.PathModel.fit_path`.
        """
        values = checks.path_values(self, parameter, values)
        models = [clone(self).set_params(C=C) for C in values]
        starts, before = None, 0.0
        for model in sorted(models, key=lambda model: model.C):
            if starts is not None:  # multipliers grow with C; planes stay
                ratio = min(model.C / before, 1e6)
                starts = [s * ratio if isinstance(s, np.ndarray) else s for s in starts]
            model._starts = starts
            fits = model._fit(*rows_of(data))
            del model._starts
            starts, before = [solver.start for solver in fits.solvers], model.C
        return ModelPath(models)


def check_settings(multi_class: str, penalty: str, loss: str, dual: Any, C: float) -> None:
    """Raise for unsupported combinations of settings, as scikit-learn does."""
    if np.isinf(C) and penalty == "l1":
        raise ValueError(
            f"C=inf is the hard margin, which goes with penalty='l2'; got penalty={penalty!r}."
        )
    if multi_class != "ovr":
        return
    if penalty == "l1" and loss == "hinge":
        reason = f"The combination of penalty={penalty!r} and loss={loss!r} is not supported"
    elif (penalty == "l1" and dual is True) or (
        loss in ("hinge", "epsilon_insensitive") and dual is False
    ):
        reason = (
            f"The combination of penalty={penalty!r} and loss={loss!r} are not supported when "
            f"dual={dual}"
        )
    else:
        return
    raise ValueError(
        f"Unsupported set of arguments: {reason}, Parameters: penalty={penalty!r}, "
        f"loss={loss!r}, dual={dual!r}"
    )
