"""The fit of one plane or several: which solver, one pass of all, what is published.

A pass advances every plane that is not done, so that callbacks see all planes grow together.
"""

from collections.abc import Sequence
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
from rosenblatt.solvers.margin_problem import MarginProblem
from rosenblatt.solvers.squared_hinge import SquaredHinge

Array = NDArray[np.float64]

FEW_COLUMNS = 500  # of which all products are formed, in each step
WORK_OF_MATRIX = 3e10  # multiplications that forming them may take
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


def descent_of(problem: MarginProblem, dual: Any, tol: float, seed: int, start: Any) -> Descent:
    """The fit of one plane, from the multipliers or the weights of an earlier one if given."""
    if problem.hard:
        return HardMargin(problem, tol, seed)
    n, d = problem.X.shape
    if problem.squared:
        in_dual = dual is True or (dual == "auto" and d > max(n, FEW_COLUMNS))
        if problem.l1 or not in_dual:
            return SquaredHinge(problem, tol, start if isinstance(start, tuple) else None)
    elif dual == "auto" and d <= FEW_COLUMNS and cells(problem.X) * d <= WORK_OF_MATRIX:
        return InteriorPoint(problem, tol)
    return DualCoordinate(problem, tol, seed, start if isinstance(start, np.ndarray) else None)


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
        return np.unique(np.concatenate([descent.support for descent in self.descents]))

    @property
    def starts(self) -> list[Any]:
        """Where a fit with another penalty may begin: multipliers, or weights and intercept."""
        return [descent.start for descent in self.descents]

    def run(self, passes: Passes, verbose: bool) -> None:
        """Make passes until all planes are done, or the passes end."""
        for n_iter in passes:
            if self.advance():
                passes.stop("converged")
            if verbose:
                value, gap = (sum(f() for f in fs) for fs in self._measures())
                print(f"pass {n_iter}: objective {value:.6g}, duality gap {gap:.3g}")

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
        if reason != "max_iter":
            return
        worst = max(self.open, key=lambda descent: descent.gap() / descent.small_gap)
        warn_not_converged(
            "Liblinear failed to converge, increase the number of iterations. After "
            f"{n_iter} passes the duality gap is {worst.gap():.3g} and the largest violation of "
            f"the optimality conditions {worst.violation:.3g}; wanted were {worst.small_gap:.3g} "
            f"and {getattr(worst, 'wanted', worst.small_gap):.3g}. Increase max_iter or tol, "
            "standardise the columns, or lower C."
        )


def fits_of(
    problems: Sequence[MarginProblem] | JointProblem,
    dual: Any,
    tol: float,
    random_state: Any,
    starts: Sequence[Any] | None,
) -> MarginFits:
    """The fits of several planes, or of all classes in one problem."""
    rng = check_random_state(random_state)
    if isinstance(problems, JointProblem):
        if few_unknowns(problems) and dual == "auto" and not problems.hard:
            return MarginFits([JointInterior(problems, tol)])
        start = None if starts is None else starts[0]
        return MarginFits([JointCoordinate(problems, tol, rng.randint(LARGEST_SEED), start)])
    begin = [None] * len(problems) if starts is None else starts
    return MarginFits(
        [
            descent_of(problem, dual, tol, rng.randint(LARGEST_SEED), start)
            for problem, start in zip(problems, begin, strict=True)
        ]
    )
