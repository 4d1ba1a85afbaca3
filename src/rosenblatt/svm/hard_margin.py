"""The hard margin, C=inf: the widest plane with every row on its side, or a proof of none.

`separation` finds the plane and proves that it separates; up to some hundred columns it is the
widest. Multipliers of the rows nearest to it, by non-negative least squares, then bound the duality
gap. If the gap is too large, dual coordinate descent without limits continues.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from rosenblatt.kernels.functions import Gaussian, Laplacian, Linear, row_keys
from rosenblatt.kernels.space import KernelSpace
from rosenblatt.separation import separability, widest

from .dual_coordinate import DualCoordinate
from .margin_problem import Array, MarginProblem, MarginSolver
from .training_rows import TrainingRows

NEAR = 1e-6  # of a margin: rows no further away carry the plane
MOST_NEAR = 1000
UNDECIDED = 1e-6  # of the range of targets: the tolerance of the linear program


class HardMargin(MarginSolver):
    """The widest plane of a problem whose targets are -1 and +1."""

    def __init__(self, problem: MarginProblem, tol: float, seed: int) -> None:
        super().__init__(problem, tol)
        self.kept = np.flatnonzero((problem.above > 0) | (problem.below > 0))
        self.planes = self._plane()
        self.multipliers = self._multipliers_of_near()
        self.descent: DualCoordinate | None = None
        self.violation = 0.0  # how far the worst row is inside the margin
        self.seed = seed

    def _plane(self) -> tuple[Array, float]:
        """Return the plane that `separation` finds, with least functional margin one."""
        problem = self.problem
        X, sign = problem.X[self.kept], problem.t[self.kept]
        if problem.free:
            answer = separability(X, sign)
            if answer.coef is None:
                raise ValueError(refusal(answer))
            return self._scaled(answer.coef, float(answer.intercept))
        found = widest(X, sign, bias=problem.bias or None)
        if found.direction is None:
            raise ValueError(refusal(separability(X, sign, fit_intercept=bool(problem.bias))))
        direction = found.direction
        if problem.bias:
            return self._scaled(direction[:-1], float(direction[-1] * problem.bias))
        return self._scaled(direction, 0.0)

    def _scaled(self, w: Array, b: float) -> tuple[Array, float]:
        """Return a plane scaled to least functional margin one."""
        least = float((self.problem.t * (self.problem.scores(w) + b))[self.kept].min())
        return w / least, b / least

    def _multipliers_of_near(self) -> Array:
        """Return the multipliers whose combination of rows on the margin is nearest the plane."""
        problem, (w, b) = self.problem, self.planes
        margins = problem.t * (problem.scores(w) + b)
        order = self.kept[np.argsort(margins[self.kept], kind="stable")[:MOST_NEAR]]
        near = order[margins[order] <= 1 + NEAR]
        rows = problem.X[near]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        signed = problem.t[near][:, np.newaxis] * np.asarray(rows, np.float64)
        level = problem.t[near] * (1.0 if problem.free else problem.bias)
        share = 0.0 if problem.free or not problem.bias else b / problem.bias
        equations = np.column_stack([signed, level]).T
        beta = np.zeros(len(problem.t))
        beta[near] = problem.t[near] * nnls(equations, np.append(w, share))[0]
        return beta

    @property
    def small_gap(self) -> float:
        return self.tol * self.objective()

    def advance(self) -> bool:
        """Return whether the gap is small; if it is not, make a pass of coordinate descent."""
        if self.gap() <= self.small_gap:
            return True
        if self.descent is None:
            self.descent = DualCoordinate(self.problem, self.tol, self.seed, self.multipliers)
        self.descent.advance()
        self.violation = self.descent.violation
        with np.errstate(divide="ignore", invalid="ignore"):
            w, b = self._scaled(*self.descent.planes)
        if np.isfinite(w).all() and 0 < w @ w < self.planes[0] @ self.planes[0]:
            self.planes = w, b
        if self.problem.dual(self.descent.multipliers) > self.problem.dual(self.multipliers):
            self.multipliers = self.descent.multipliers.copy()
        return self.gap() <= self.small_gap

    def objective(self) -> float:
        """Return the penalty: up to rounding, no row is inside the margin."""
        return float(self.problem.penalty(*self.planes))


def refusal(answer: object) -> str:
    """Return the message for data without a hard margin, with the proof."""
    proof = str(answer).replace("-1.0 and 1.0", "the two sides")  # users do not know the signs
    return (
        "C=inf allows no row inside the margin, and no such plane exists. "
        f"{proof} See rosenblatt.separability for the weights. Use a finite C."
    )


def check_joint_margin(X: Any, codes: NDArray[np.intp]) -> None:
    """Raise if no planes, one for each class, give every row's own class the highest score."""
    found = separability(X, codes, joint=True)
    if not found.separable:
        counted = np.flatnonzero(np.asarray(found.combination).any(axis=1))
        raise ValueError(
            "C=inf allows no slack, and no scores put each row's own class first: with the weights "
            f"of separability(X, y, joint=True).combination on {len(counted)} rows "
            f"({row_list(counted)}), the demands of these rows cancel. Choose a finite C."
        )


def row_list(rows: NDArray[np.intp]) -> str:
    """List the first row numbers for a message."""
    numbers = ", ".join(str(int(i)) for i in rows[:6])
    return numbers + (", ..." if len(rows) > 6 else "")


def check_separable(
    rows: TrainingRows, codes: NDArray[np.intp], sides: Sequence[tuple[NDArray[np.intp], Array]]
) -> None:
    """Raise if the sides, 1 and -1, of some groups cannot be separated in the kernel's space."""
    if rows.kernel is not None and (pair := _conflict(rows, codes, 0.0)):
        i, j = sorted(rows.first[list(pair)])
        raise ValueError(
            f"C=inf allows no slack, and rows {i} and {j} of X are equal but have different "
            "labels. Choose a finite C."
        )
    if isinstance(rows.kernel, Gaussian | Laplacian):
        return  # different rows are independent: any sides are separated
    for some, side in sides:
        places = rows.first[some]
        found = separability(_coordinates(rows, places), side)
        if not found.separable:
            counted = np.flatnonzero(np.asarray(found.combination) > 0)
            raise ValueError(
                f"C=inf allows no slack, and {len(counted)} rows ({row_list(places[counted])}) "
                "cannot be separated; see separability(X, y). Choose a finite C, or another kernel."
            )


def _conflict(rows: TrainingRows, t: NDArray[Any], width: float) -> tuple[Any, Any] | None:
    """Return two groups of equal rows with targets (g,) more than `width` apart, or None."""
    least: dict[bytes, int] = {}
    order = np.argsort(t, kind="stable")
    for k, key in zip(order, row_keys(rows.X[rows.first[order]]), strict=True):
        other = least.setdefault(key, k)
        if t[k] - t[other] > width:
            return other, k
    return None


def check_tube(rows: TrainingRows, t: Array, epsilon: float) -> None:
    """Raise if no function of the kernel's space is within epsilon of all targets."""
    if rows.kernel is not None and (pair := _conflict(rows, t, 2 * epsilon)):
        (i, j), (low, high) = rows.first[list(pair)], t[list(pair)]
        raise ValueError(
            f"C=inf allows no error above epsilon={epsilon:g}, and rows {i} and {j} of X are equal "
            f"but have targets {low:g} and {high:g}. Choose a finite C or a larger epsilon."
        )
    if isinstance(rows.kernel, Gaussian | Laplacian):
        return  # different rows are independent: any targets are reached
    F = _coordinates(rows, rows.first)
    F = F.toarray() if sp.issparse(F) else F
    least = narrowest_tube(F, t)
    if least > epsilon + UNDECIDED * float(np.ptp(t)):
        raise ValueError(
            f"C=inf allows no error above epsilon={epsilon:g}, and the best function is off by "
            f"{least:.6g}. Choose a finite C, a larger epsilon, or another kernel."
        )


def narrowest_tube(F: Array, t: Array) -> float:
    """Return the least h such that some plane over F (n, r) is within h of the targets t (n,).

    >>> narrowest_tube(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.0]))
    0.5
    """
    shift, scale = float(t.mean()), float(np.ptp(t)) or 1.0
    F = F - F.mean(axis=0)
    F = np.column_stack([F / (np.abs(F).max(axis=0, initial=0.0) + 1e-300), np.ones(len(t))])
    wanted, width = (t - shift) / scale, np.ones((len(t), 1))
    found = linprog(
        np.append(np.zeros(F.shape[1]), 1.0),
        A_ub=np.vstack([np.hstack([F, -width]), np.hstack([-F, -width])]),
        b_ub=np.concatenate([wanted, -wanted]),
        bounds=[(None, None)] * F.shape[1] + [(0, None)],
    )
    # Without an answer nothing is refused: the solver stops by its own rules.
    return scale * float(found.fun) if found.status == 0 else 0.0


def _coordinates(rows: TrainingRows, places: NDArray[np.intp]) -> Any:
    """Return the rows in the kernel's space."""
    if isinstance(rows.kernel, Linear):
        return rows.wide[places]
    K = rows.wide[np.ix_(places, places)] if rows.kernel is None else rows.kernel(rows.wide[places])
    return KernelSpace.of(np.asarray(K)).F
