"""The problem of a linear support vector machine: rows, targets, and the price of each side.

    minimize  |w|^2 / 2 + (b / bias)^2 / 2 + sum_i above_i [t_i - f_i - epsilon]_+^p
                                           + below_i [f_i - t_i - epsilon]_+^p,   f_i = w.x_i + b

A classifier has targets -1 and +1 and epsilon 0: scores may lie beyond the target at no cost, so
that only one side has a price. The dual has one multiplier a row, ``w = sum_i beta_i x_i``,
``-below <= beta <= above`` for p = 1 (hinge); for p = 2 its sign is limited alone. With a free
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
    """One plane to be found."""

    X: Any  # (n, d), an array or CSR
    t: Array
    above: Array  # what scores below the target cost: they push the score up
    below: Array
    epsilon: float = 0.0
    squared: bool = False
    bias: float = 0.0  # the column that makes the intercept; inf for a free one, 0 for none
    l1: bool = False

    @cached_property
    def rows(self) -> Any:
        """X as loops read it."""
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
        """How many columns."""
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
        """X w (n,)."""
        scores = np.empty(len(self.t))
        rows_loops.dot_each(self.rows, 0, w, scores)
        return scores

    def combination(self, beta: Array) -> Array:
        """sum_i beta_i x_i (d,)."""
        w = np.zeros(self.d + 1)
        dual_coordinate_loops.multiply(self.rows, beta, w)
        return w[:-1]

    def excess(self, f: Array) -> Array:
        """How far scores f (n,) are on the side that costs: above zero if too low."""
        over = self.t - f
        if self.epsilon:
            over = np.sign(over) * np.maximum(np.abs(over) - self.epsilon, 0.0)
        return np.where(over > 0, over * (self.above > 0), over * (self.below > 0))

    def price(self, excess: Array) -> Array:
        """What each row pays for a unit of its excess (n,)."""
        return np.where(excess > 0, self.above, self.below)

    def loss(self, f: Array) -> float:
        """The sum of the losses at scores f."""
        excess = self.excess(f)
        size = excess**2 if self.squared else np.abs(excess)
        paid = size > 0
        return float(np.sum(self.price(excess)[paid] * size[paid]))

    def penalty(self, w: Array, b: float) -> float:
        """What weights and intercept cost."""
        level = b / self.bias if self.bias else 0.0
        if self.l1:
            return float(np.abs(w).sum() + abs(level))
        return 0.5 * float(w @ w + level**2)

    def objective(self, w: Array, b: float) -> float:
        """The value to be minimized."""
        return self.penalty(w, b) + self.loss(self.scores(w) + b)

    @cached_property
    def zero(self) -> float:
        """The objective of zero weights with the best intercept, to measure gaps against.

        Targets that are all equal would leave nothing of it: then a little of that without one.
        """
        if self.hard:
            return np.inf
        f = np.zeros(len(self.t))
        loss = self.loss(f)
        if self.free:
            loss = max(self.loss(f + self.best_intercept(f)), LEAST * loss)
        return max(loss, 1e-300)

    def best_intercept(self, f: Array) -> float:
        """The free intercept that serves scores f best; 0 if it is not free."""
        if not self.free or self.hard:
            return 0.0
        # The slope of the loss is a rising function of b; its zero lies between the breakpoints.
        edges = np.sort(np.concatenate([self.t - f - self.epsilon, self.t - f + self.epsilon]))
        low, high = 0, len(edges) - 1
        while low < high:  # the last breakpoint at whose left the loss still falls
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
        """The derivative of the loss by a number added to all scores, to the right or the left."""
        if self.squared:
            return -float(self.natural(f).sum())
        over = self.t - f
        if left:
            pushed, pulled = over >= self.epsilon, over < -self.epsilon
        else:
            pushed, pulled = over > self.epsilon, over <= -self.epsilon
        return float(self.below[pulled].sum() - self.above[pushed].sum())

    def natural(self, f: Array) -> Array:
        """The multipliers that scores f imply where the loss is squared: minus its slopes (n,)."""
        excess = self.excess(f)
        return 2 * self.price(excess) * excess

    def dual(self, beta: Array) -> float:
        """A value that no weights go below, from multipliers within their limits."""
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
        """How far an objective is above the best possible, at most."""
        allowance = ROUNDING * (abs(objective) + float(np.abs(self.t) @ np.abs(beta)))
        return max(objective - max(self.dual(beta), 0.0), 0.0) + allowance


class MarginSolver:
    """A fit under way: `advance` makes a pass, and the planes are those after the last pass.

    Solvers of one plane have weights (d,), an intercept and multipliers (n,); solvers of all
    classes in one problem have weights (K, d), intercepts (K,) and multipliers (n, K).
    """

    advance: Callable[[], bool]  # make a pass or a step; return whether the fit is done
    start: Any = None  # where a fit with another penalty may begin; None: at zero
    violation = np.inf  # the largest of an optimality condition; infinite if not measured
    wanted = 0.0  # the violation that is small enough

    planes: Any  # weights and intercept
    multipliers: Any  # of all rows

    def __init__(self, problem: Any, tol: float) -> None:
        self.problem, self.tol = problem, tol

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the planes are made of."""
        return np.flatnonzero(self.multipliers)

    @property
    def small_gap(self) -> float:
        """The gap that is small enough."""
        return float(self.tol * self.problem.zero)

    def objective(self) -> float:
        """The value to be minimized."""
        return float(self.problem.objective(*self.planes))

    def gap(self) -> float:
        """An upper bound of the distance of the objective from the best possible."""
        return float(self.problem.gap(self.objective(), self.multipliers))


def balanced(beta: Array) -> Array:
    """Multipliers that sum to zero: those of the heavier sign are made smaller."""
    up, down = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    least = min(up, down)
    factor = np.where(beta > 0, least / up if up > 0 else 0.0, least / down if down > 0 else 0.0)
    return np.asarray(beta * factor)


def refuse_tiny_shares(cost: Array) -> None:
    """Raise if the cost of a row is so small a share of the largest that no digit of it counts."""
    finite = np.flatnonzero((cost > 0) & (cost < np.inf))
    if not len(finite):
        return
    i, most = finite[cost[finite].argmin()], float(cost[finite].max())
    if cost[i] < LEAST_SHARE * most:
        raise ValueError(
            f"The weight of row {i} times C is {cost[i]:.3g}, less than {LEAST_SHARE:g} of the "
            f"largest, {most:.3g}. Give the row a larger weight, or 0 to leave it out."
        )


def refuse_vast_rows(X: Any) -> None:
    """Raise if squares of X leave the range of numbers."""
    values = np.ravel(X.data if sp.issparse(X) else X)
    with np.errstate(over="ignore"):
        # Not by BLAS, which would wake its threads for it.
        square = 0.0 if values.dtype == np.float32 else np.einsum("i,i", values, values)
    if not np.isfinite(square):
        largest = values[np.abs(values).argmax()]
        advice = "rescale the columns, for example with StandardScaler"
        raise checks.too_large(f"X holds {largest:.3g}, and the squares of X are", advice)
