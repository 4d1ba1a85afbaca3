"""The fit of a linear support vector machine: which solver, the passes, what is published.

A pass advances every plane that is not done, so that callbacks see all planes grow together.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rosenblatt.base import Passes, warn_not_converged

from .crammer_singer import CrammerSingerDescent, CrammerSingerProblem
from .crammer_singer_interior import (
    CrammerSingerInterior,
    CrammerSingerSifting,
    is_worth_while,
)
from .dual_coordinate import DualCoordinate
from .hard_margin import HardMargin
from .interior_point import InteriorPoint, Sifting
from .margin_problem import Array, MarginProblem, MarginSolver
from .squared_hinge import MOST_COLUMNS, SquaredHinge

FEW_COLUMNS = 500  # of which all products are formed, in each step
WORK_OF_MATRIX = 3e10  # multiplications that forming them may take
ENOUGH_CELLS = 10_000  # from which on coordinate descent may be quicker than the exact answer
MANY_CELLS = 50_000  # from which on it is worth while to look for the rows that matter
# What is left of the first violation of the optimality conditions where passes promise an end soon:
# after so many passes, of tables with up to many cells and of larger ones.
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
    """Yield coordinate descent as long as it is quick, then an interior point method.

    Small tables go to the interior point method at once, which is exact but for rounding.
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
    exact = InteriorPoint(problem, tol) if few else Sifting(problem, tol, *descent.planes)
    yield from passes_of(exact)


def fit_of(
    problem: MarginProblem | CrammerSingerProblem,
    dual: Any,
    tol: float,
    seed: Callable[[], int],
    start: Any,
) -> Iterator[MarginSolver]:
    """Choose the solver of a problem; `start` is where the fit with another C ended, or None."""
    if isinstance(problem, CrammerSingerProblem):
        if dual == "auto" and not problem.hard and has_few_unknowns(problem):
            many = is_worth_while(problem)
            return passes_of(
                (CrammerSingerSifting if many else CrammerSingerInterior)(problem, tol)
            )
        return passes_of(CrammerSingerDescent(problem, tol, seed(), start))
    if problem.hard:
        return passes_of(HardMargin(problem, tol, seed()))
    d = problem.d
    if problem.squared:
        in_dual = dual is True or (dual == "auto" and d > MOST_COLUMNS)
        if problem.l1 or not in_dual:
            return passes_of(
                SquaredHinge(problem, tol, start if isinstance(start, tuple) else None)
            )
    elif dual == "auto" and d <= FEW_COLUMNS and cells(problem.X) * d <= WORK_OF_MATRIX:
        return few_columns(problem, tol, seed)
    beta = start if isinstance(start, np.ndarray) else None
    return passes_of(DualCoordinate(problem, tol, seed(), beta))


def has_few_unknowns(problem: CrammerSingerProblem) -> bool:
    """Whether an interior point method suits a problem of all classes."""
    n, d = problem.X.shape
    unknowns = (d + 1) * problem.n_classes
    return bool(unknowns <= 2 * FEW_COLUMNS and n * unknowns**2 <= WORK_OF_MATRIX)


def cells(X: Any) -> int:
    """How many numbers a table stores."""
    return int(X.nnz if sp.issparse(X) else X.size)


class MarginFits:
    """The planes of a model: one problem for each, or all classes in one problem."""

    def __init__(
        self,
        problems: Sequence[MarginProblem | CrammerSingerProblem],
        dual: Any,
        tol: float,
        random_state: Any,
        starts: Sequence[Any] | None,
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
                passes.stop("no_progress" if self._stuck else "converged")
            if verbose:
                value, gap = (
                    sum(solver.objective() for solver in self.solvers),
                    sum(solver.gap() for solver in self.solvers),
                )
                print(f"pass {n_iter}: objective {value:.6g}, duality gap {gap:.3g}")

    @property
    def planes(self) -> tuple[Array, Array]:
        """Copies of the weights (K, d) and the intercepts (K,)."""
        parts = [solver.planes for solver in self.solvers]
        return np.vstack([W for W, _ in parts]), np.hstack([b for _, b in parts])

    @property
    def starts(self) -> list[Any]:
        """Where a fit with another penalty may begin: multipliers, or weights and intercept."""
        return [solver.start for solver in self.solvers]

    def attributes(self, factor: float = 1.0) -> dict[str, Any]:
        """Objectives and gaps (K,), times a factor, and the rows that planes are made of."""
        supports: list[NDArray[np.intp]] = [solver.support for solver in self.solvers]
        return {
            "objective_": factor * np.array([solver.objective() for solver in self.solvers]),
            "dual_gap_": factor * np.array([solver.gap() for solver in self.solvers]),
            "support_": supports[0] if len(supports) == 1 else np.unique(np.concatenate(supports)),
        }

    @property
    def _stuck(self) -> list[MarginSolver]:
        """Fits that rounding keeps from the gap that was asked for."""
        exact = (CrammerSingerInterior, CrammerSingerSifting)
        joint = [solver for solver in self.solvers if isinstance(solver, exact)]
        return [solver for solver in joint if not solver.gap() <= solver.small_gap]

    def warn(self, reason: str | None, n_iter: int) -> None:
        """Warn of a fit that stopped short, with what was reached and what was wanted."""
        if reason == "no_progress":
            (solver,) = self._stuck
            warn_not_converged(
                f"Rounding keeps the duality gap at {solver.gap():.3g} after {n_iter} steps, and "
                f"tol asks for {solver.small_gap:.3g}. Standardise the columns, raise tol or lower "
                "C."
            )
        if reason != "max_iter":
            return
        some = [self.solvers[k] for k in self.open]
        worst = max(some, key=lambda solver: solver.gap() / solver.small_gap)
        reached = f"the duality gap is {worst.gap():.3g}; wanted was {worst.small_gap:.3g}"
        if np.isfinite(worst.violation):  # not before the second pass of some
            reached = (
                f"the duality gap is {worst.gap():.3g} and the violation of the optimality "
                f"conditions {worst.violation:.3g}; wanted were {worst.small_gap:.3g} and "
                f"{worst.wanted:.3g}"
            )
        warn_not_converged(  # it begins with scikit-learn's words, which filters look for
            "Liblinear failed to converge, increase the number of iterations. After "
            f"{n_iter} passes {reached}. Increase max_iter or tol, standardise the columns, or "
            "lower C."
        )
