"""The fit of one plane or several: which solver, one pass of all, what is published.

A pass advances every plane that is not done, so that callbacks see all planes grow together.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rosenblatt.base import Passes, warn_not_converged
from rosenblatt.solvers.dual_coordinate import DualCoordinate
from rosenblatt.solvers.hard_margin import HardMargin
from rosenblatt.solvers.interior_point import InteriorPoint
from rosenblatt.solvers.joint_interior import JointInterior
from rosenblatt.solvers.joint_margin import JointCoordinate, JointProblem
from rosenblatt.solvers.joint_sifting import JointSifting, is_worth_while
from rosenblatt.solvers.margin_problem import MarginProblem
from rosenblatt.solvers.sifting import Sifting
from rosenblatt.solvers.squared_hinge import MOST_COLUMNS, SquaredHinge

Array = NDArray[np.float64]

FEW_COLUMNS = 500  # of which all products are formed, in each step
WORK_OF_MATRIX = 3e10  # multiplications that forming them may take
ENOUGH_CELLS = 10_000  # from which on coordinate descent may be quicker than the exact answer
MANY_CELLS = 50_000  # from which on it is worth while to look for the rows that matter
# What is left of the first violation of the optimality conditions where passes promise an end soon:
# after so many passes, of tables with up to many cells and of larger ones.
QUICK_OF_FEW = {3: 0.05, 10: 0.004, 20: 0.0015, 200: 0.0}
QUICK = {5: 0.05, 50: 0.002, 200: 0.0}
LARGEST_SEED = 2**31 - 1


class Descent(Protocol):
    """A fit under way."""

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (k, d) and intercepts (k,)."""

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the planes are made of."""

    @property
    def start(self) -> Any:
        """Where a fit with another penalty may begin: multipliers, weights and intercept, None."""

    @property
    def violation(self) -> float:
        """The largest violation of an optimality condition."""

    @property
    def small_gap(self) -> float:
        """The gap that is small enough."""

    def advance(self) -> bool:
        """Make a pass; return whether the fit is done."""

    def objective(self) -> float:
        """The value to be minimised."""

    def gap(self) -> float:
        """How far it is from the best possible, at most."""


def descent_of(
    problem: MarginProblem, dual: Any, tol: float, seed: Callable[[], int], start: Any
) -> Descent:
    """The fit of one plane, from the multipliers or the weights of an earlier one if given."""
    if problem.hard:
        return HardMargin(problem, tol, seed())
    d = problem.d
    if problem.squared:
        in_dual = dual is True or (dual == "auto" and d > MOST_COLUMNS)
        if problem.l1 or not in_dual:
            return SquaredHinge(problem, tol, start if isinstance(start, tuple) else None)
    elif dual == "auto" and d <= FEW_COLUMNS and cells(problem.X) * d <= WORK_OF_MATRIX:
        return FewColumns(problem, tol, seed)
    return DualCoordinate(problem, tol, seed(), start if isinstance(start, np.ndarray) else None)


class FewColumns:
    """Coordinate descent as long as it is quick, else an interior point method.

    Small tables go to the interior point method at once, which is exact but for rounding.
    """

    start = None

    def __init__(self, problem: MarginProblem, tol: float, seed: Callable[[], int]) -> None:
        self.problem, self.tol = problem, tol
        self.few = cells(problem.X) < MANY_CELLS
        small = cells(problem.X) < ENOUGH_CELLS
        self.now: DualCoordinate | InteriorPoint | Sifting = (
            InteriorPoint(problem, tol) if small else DualCoordinate(problem, tol, seed())
        )
        self.n_passes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)

    def advance(self) -> bool:
        """Make a pass, or a step; return whether the fit is done."""
        if not isinstance(self.now, DualCoordinate):
            return self.now.advance()
        done, self.n_passes = self.now.advance(), self.n_passes + 1
        wanted = (QUICK_OF_FEW if self.few else QUICK).get(self.n_passes, np.inf) * self.now.first
        if not done and self.now.mean_violation > wanted:
            self.now = (
                InteriorPoint(self.problem, self.tol)
                if self.few
                else Sifting(self.problem, self.tol, self.now.w, self.now.b)
            )
        return done


def few_unknowns(problem: JointProblem) -> bool:
    """Whether an interior point method suits a problem of all classes."""
    n, d = problem.X.shape
    unknowns = (d + 1) * problem.n_classes
    return bool(unknowns <= 2 * FEW_COLUMNS and n * unknowns**2 <= WORK_OF_MATRIX)


def cells(X: Any) -> int:
    """How many numbers a table stores."""
    return int(X.nnz if sp.issparse(X) else X.size)


class MarginFits:
    """The planes of a model, each a fit of its own, or all classes in one."""

    def __init__(self, descents: Sequence[Descent]) -> None:
        self.descents = list(descents)
        self.open = list(descents)

    def advance(self) -> bool:
        """Make a pass over all planes that are not done; return whether all are."""
        self.open = [descent for descent in self.open if not descent.advance()]
        return not self.open

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (K, d) and intercepts (K,)."""
        parts = [descent.planes for descent in self.descents]
        return np.vstack([W for W, _ in parts]), np.concatenate([b for _, b in parts])

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that any plane is made of."""
        parts = [descent.support for descent in self.descents]
        return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))

    @property
    def starts(self) -> list[Any]:
        """Where a fit with another penalty may begin: multipliers, or weights and intercept."""
        return [descent.start for descent in self.descents]

    def run(self, passes: Passes, verbose: bool) -> None:
        """Make passes until all planes are done, or the passes end."""
        for n_iter in passes:
            if self.advance():
                passes.stop("no_progress" if self._stuck else "converged")
            if verbose:
                value, gap = (sum(f() for f in fs) for fs in self._measures())
                print(f"pass {n_iter}: objective {value:.6g}, duality gap {gap:.3g}")

    @property
    def _stuck(self) -> list[Descent]:
        """Fits that rounding keeps from the gap that was asked for."""
        joint = [fit for fit in self.descents if isinstance(fit, JointInterior | JointSifting)]
        return [fit for fit in joint if not fit.gap() <= fit.small_gap]

    def _measures(self) -> tuple[list[Any], list[Any]]:
        return [d.objective for d in self.descents], [d.gap for d in self.descents]

    def numbers(self, factor: float = 1.0) -> dict[str, Any]:
        """What is published of the fit: objectives and gaps (K,), multiplied, and the supports."""
        objectives, gaps = self._measures()
        return {
            "objective_": factor * np.array([f() for f in objectives]),
            "dual_gap_": factor * np.array([f() for f in gaps]),
            "support_": self.support,
        }

    def warn(self, reason: str | None, n_iter: int) -> None:
        """Warn of a fit that stopped short, with what was reached and what was wanted."""
        if reason == "no_progress":
            (fit,) = self._stuck
            warn_not_converged(
                f"Rounding keeps the duality gap at {fit.gap():.3g} after {n_iter} steps, and tol "
                f"asks for {fit.small_gap:.3g}. Standardise the columns, raise tol or lower C."
            )
        if reason != "max_iter":
            return
        worst = max(self.open, key=lambda descent: descent.gap() / descent.small_gap)
        reached = f"the duality gap is {worst.gap():.3g}; wanted was {worst.small_gap:.3g}"
        if np.isfinite(worst.violation):  # not before the second pass of some
            wanted = getattr(worst, "wanted", worst.small_gap)
            reached = (
                f"the duality gap is {worst.gap():.3g} and the violation of the optimality "
                f"conditions {worst.violation:.3g}; wanted were {worst.small_gap:.3g} and "
                f"{wanted:.3g}"
            )
        warn_not_converged(  # it begins with scikit-learn's words, which filters look for
            "Liblinear failed to converge, increase the number of iterations. After "
            f"{n_iter} passes {reached}. Increase max_iter or tol, standardise the columns, or "
            "lower C."
        )


def fits_of(
    problems: Sequence[MarginProblem] | JointProblem,
    dual: Any,
    tol: float,
    random_state: Any,
    starts: Sequence[Any] | None,
) -> MarginFits:
    """The fits of several planes, or of all classes in one problem."""
    rng = cache(lambda: check_random_state(random_state))  # seeding takes longer than some fits

    def seed() -> int:
        return int(rng().randint(LARGEST_SEED))

    if isinstance(problems, JointProblem):
        if few_unknowns(problems) and dual == "auto" and not problems.hard:
            kind = JointSifting if is_worth_while(problems) else JointInterior
            return MarginFits([kind(problems, tol)])
        start = None if starts is None else starts[0]
        return MarginFits([JointCoordinate(problems, tol, seed(), start)])
    begin = [None] * len(problems) if starts is None else starts
    return MarginFits(
        [
            descent_of(problem, dual, tol, seed, start)
            for problem, start in zip(problems, begin, strict=True)
        ]
    )
