"""The problem of a linear support vector machine: rows, targets, and the cost of each side.

    minimize  |w|^2 / 2 + (b / bias)^2 / 2 + sum_i above_i [t_i - f_i - epsilon]_+^p
                                           + below_i [f_i - t_i - epsilon]_+^p,   f_i = w.x_i + b

A classifier has targets -1 and +1 and epsilon 0: scores may lie beyond the target at no cost, so
only one side has a cost. The dual has one multiplier a row, ``w = sum_i beta_i x_i``,
``-below <= beta <= above`` for p = 1 (hinge); for p = 2 only its sign is limited. With a free
intercept, ``bias`` infinite, the multipliers sum to zero. With `l1` the penalty is ``|w|_1``, and
``|b| / bias``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.loops import rows as rows_loops
from rosenblatt.loops.rows import arrays, read_only

from . import dual_coordinate_loops

Array = NDArray[np.float64]
LEAST = 1e-6  # of the objective without weights and intercept
LEAST_SHARE = 1e-30  # of the largest cost
ROUNDING = 1e-14  # of objective and bound, each a sum of rounded terms


@dataclass(frozen=True, eq=False)
class MarginProblem:
    """The problem of one plane."""

    X: Any  # (n, d), an array or CSR
    t: Array
    above: Array  # costs of scores below the target, which push the score up
    below: Array
    epsilon: float = 0.0
    squared: bool = False
    bias: float = 0.0  # the column that makes the intercept; inf for a free one, 0 for none
    l1: bool = False

    @cached_property
    def rows(self) -> Any:
        """X in the form that loops read."""
        return arrays(self.X)

    @cached_property
    def free(self) -> bool:
        """Whether the intercept costs nothing."""
        return bool(np.isinf(self.bias))

    @property
    def hard(self) -> bool:
        """Whether no row may lie inside its margin."""
        return bool(np.isinf(self.above).any() or np.isinf(self.below).any())

    @property
    def d(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """The least and the greatest value of each multiplier."""
        low, high = -self.below, self.above
        if self.squared:
            low, high = np.where(low < 0, -np.inf, 0.0), np.where(high > 0, np.inf, 0.0)
        return read_only(low + 0.0), read_only(high + 0.0)

    @cached_property
    def ridge(self) -> Array:
        """The curvature that a squared loss gives each multiplier (n,)."""
        c = np.maximum(self.above, self.below)
        return read_only(1 / (2 * np.where(c > 0, c, np.inf)) if self.squared else np.zeros(len(c)))

    @cached_property
    def lengths(self) -> Array:
        """|x|^2 of each row (n,)."""
        lengths = np.empty(len(self.t))
        dual_coordinate_loops.squared_lengths(self.rows, lengths)
        return read_only(lengths)

    def scores(self, w: Array) -> Array:
        """Return X w (n,)."""
        scores = np.empty(len(self.t))
        rows_loops.dot_each(self.rows, 0, w, scores)
        return scores

    def combination(self, beta: Array) -> Array:
        """Return sum_i beta_i x_i (d,)."""
        w = np.zeros(self.d + 1)
        dual_coordinate_loops.multiply(self.rows, beta, w)
        return w[:-1]

    def excess(self, f: Array) -> Array:
        """Return the error of scores f (n,) beyond epsilon where it costs: positive if too low."""
        over = self.t - f
        if self.epsilon:
            over = np.sign(over) * np.maximum(np.abs(over) - self.epsilon, 0.0)
        return np.where(over > 0, over * (self.above > 0), over * (self.below > 0))

    def price(self, excess: Array) -> Array:
        """Return the cost (n,) of a unit of each row's excess."""
        return np.where(excess > 0, self.above, self.below)

    def loss(self, f: Array) -> float:
        """The sum of the losses at scores f."""
        excess = self.excess(f)
        size = excess**2 if self.squared else np.abs(excess)
        paid = size > 0
        return float(np.sum(self.price(excess)[paid] * size[paid]))

    def penalty(self, w: Array, b: float) -> float:
        """Return the penalty of weights and intercept."""
        level = b / self.bias if self.bias else 0.0
        if self.l1:
            return float(np.abs(w).sum() + abs(level))
        return 0.5 * float(w @ w + level**2)

    def objective(self, w: Array, b: float) -> float:
        """The value to be minimized."""
        return self.penalty(w, b) + self.loss(self.scores(w) + b)

    @cached_property
    def zero(self) -> float:
        """The objective of zero weights with the best intercept, the unit of gaps.

        If it vanishes because all targets are equal, a small share of the objective of zeros.
        """
        if self.hard:
            return np.inf
        f = np.zeros(len(self.t))
        loss = self.loss(f)
        if self.free:
            loss = max(self.loss(f + self.best_intercept(f)), LEAST * loss)
        return max(loss, 1e-300)

    def best_intercept(self, f: Array) -> float:
        """Return the best free intercept for scores f; 0 if it is not free."""
        if not self.free or self.hard:
            return 0.0
        # The slope of the loss is a rising function of b; its zero lies between the breakpoints.
        edges = np.sort(np.concatenate([self.t - f - self.epsilon, self.t - f + self.epsilon]))
        low, high = 0, len(edges) - 1
        while low < high:  # the last breakpoint to the left of which the loss falls
            middle = (low + high + 1) // 2
            fallen = self.slope(f + edges[middle], left=True) <= 0
            low, high = (middle, high) if fallen else (low, middle - 1)
        b = float(edges[low])
        if not self.squared:
            return b
        on_right = self.excess(f + np.nextafter(b, np.inf)) != 0
        curvature = 2 * float(self.price(self.excess(f + b))[on_right].sum())
        return b - self.slope(f + b) / curvature if curvature > 0 else b

    def slope(self, f: Array, left: bool = False) -> float:
        """Return the right or left derivative of the loss by a number added to all scores."""
        if self.squared:
            return -float(self.natural(f).sum())
        over = self.t - f
        if left:
            pushed, pulled = over >= self.epsilon, over < -self.epsilon
        else:
            pushed, pulled = over > self.epsilon, over <= -self.epsilon
        return float(self.below[pulled].sum() - self.above[pushed].sum())

    def natural(self, f: Array) -> Array:
        """Return the multipliers (n,) that scores f imply for a squared loss: minus its slopes."""
        excess = self.excess(f)
        return 2 * self.price(excess) * excess

    def dual(self, beta: Array) -> float:
        """Return a lower bound on the objective, from multipliers within their limits."""
        if self.free:
            beta = balanced(beta)
        v, level = self.combination(beta), 0.0 if self.free else self.bias * float(beta.sum())
        gain = float(self.t @ beta) - self.epsilon * float(np.abs(beta).sum())
        bend = float(self.ridge @ beta**2)
        if self.l1:
            longest = max(float(np.abs(v).max(initial=0.0)), abs(level))
            most = 1 / longest if longest > 0 else np.inf
        else:
            bend, most = bend + float(v @ v) + level**2, 1.0
        # Multiplied by a number of at most 1, multipliers stay within their limits.
        share = min(gain / bend if bend > 0 else np.inf, most, 1.0 if not self.squared else np.inf)
        share = max(share, 0.0) if np.isfinite(share) else 0.0
        return share * gain - share**2 * bend / 2

    def gap(self, objective: float, beta: Array) -> float:
        """Return an upper bound on the distance of an objective from the minimum."""
        allowance = ROUNDING * (abs(objective) + float(np.abs(self.t) @ np.abs(beta)))
        return max(objective - max(self.dual(beta), 0.0), 0.0) + allowance


class MarginSolver:
    """A fit in progress: `advance` makes a pass and updates the planes.

    Solvers of one plane have weights (d,), an intercept and multipliers (n,); solvers of all
    classes in one problem have weights (K, d), intercepts (K,) and multipliers (n, K).
    """

    advance: Callable[[], bool]  # make a pass or a step; return whether the fit is done
    start: Any = None  # where a fit with another penalty may begin; None: at zero
    violation = np.inf  # the largest violation of an optimality condition; infinite if unknown
    wanted = 0.0  # the violation that is small enough

    planes: Any  # weights and intercept
    multipliers: Any  # of all rows

    def __init__(self, problem: Any, tol: float) -> None:
        self.problem, self.tol = problem, tol

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows with multipliers."""
        return np.flatnonzero(self.multipliers)

    @property
    def small_gap(self) -> float:
        """The gap that is small enough."""
        return float(self.tol * self.problem.zero)

    def objective(self) -> float:
        """The value to be minimized."""
        return float(self.problem.objective(*self.planes))

    def gap(self) -> float:
        """Return an upper bound on the distance of the objective from the minimum."""
        return float(self.problem.gap(self.objective(), self.multipliers))


def balanced(beta: Array) -> Array:
    """Return multipliers that sum to zero, with the larger side scaled down."""
    up, down = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    least = min(up, down)
    factor = np.where(beta > 0, least / up if up > 0 else 0.0, least / down if down > 0 else 0.0)
    return np.asarray(beta * factor)


def check_costs(cost: Array) -> None:
    """Raise if the cost of a row is lost in rounding beside the largest."""
    finite = np.flatnonzero((cost > 0) & (cost < np.inf))
    if not len(finite):
        return
    i, most = finite[cost[finite].argmin()], float(cost[finite].max())
    if cost[i] < LEAST_SHARE * most:
        raise ValueError(
            f"The weight of row {i} times C is {cost[i]:.3g}, less than {LEAST_SHARE:g} of the "
            f"largest, {most:.3g}. Give the row a larger weight, or 0 to leave it out."
        )


def check_squares(X: Any) -> None:
    """Raise if squares of X overflow."""
    values = np.ravel(X.data if sp.issparse(X) else X)
    with np.errstate(over="ignore"):
        # Not by BLAS, which would wake its threads for it.
        square = 0.0 if values.dtype == np.float32 else np.einsum("i,i", values, values)
    if not np.isfinite(square):
        largest = values[np.abs(values).argmax()]
        advice = "rescale the columns, for example with StandardScaler"
        raise checks.too_large(f"X holds {largest:.3g}, and the squares of X are", advice)
