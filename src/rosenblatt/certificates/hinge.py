"""One plane of a machine with a margin: how far its objective is from the best possible.

``P = l1 |w|_1 + l2/2 |w|^2 + sum c [|t - f| - e]_+^p``, ``f = w.x + b``, p = 1 or 2. Classes have
targets -1 and +1, e = 0, and scores beyond the target cost nothing. Any multipliers beta of the
sign of the side that costs, ``|beta| <= c`` if p = 1, give
``D = sum (t beta - e |beta|) - sum_j [|v_j| - l1]_+^2 / (2 l2)``, ``v = sum beta x``, and if p = 2
less ``sum beta^2 / (4 c)``, which no coefficients go below. A free intercept asks for
``sum beta = 0``, which is brought about exactly; without a square ``|v_j| <= l1`` must hold, for
which multipliers are scaled down.

For p = 2 the scores imply multipliers, and Newton steps give better ones. For p = 1 they do not: an
interior point method, the verifier's own, finds multipliers and a better plane together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray

from .binary_logistic import Bracket, quadratic_step
from .exact_arithmetic import balanced
from .lasso import MOST_COLUMNS, Penalty
from .rounded_matrix import UNIT, Floats, RoundedMatrix, total

Solve = Callable[[Floats, float], tuple[Floats, float]]

MOST_STEPS = 60
MOST_CELLS = 125_000_000  # read in a polish
HALVINGS = 12
ENOUGH = 2.0  # ratio of the two ends at which a bracket is good
MOST_ROWS = 1500  # whose products are all formed, if there are more columns
TO_THE_EDGE = 0.99
MOST_PRODUCTS = 200  # in a system too large to be formed


@dataclass(frozen=True, eq=False)
class Hinge:
    """Rows, targets, and what scores below and above the target cost."""

    table: RoundedMatrix
    t: Floats
    c: Floats
    up: NDArray[np.bool_]  # whether a score below the target costs
    down: NDArray[np.bool_]  # and one above
    epsilon: float
    squared: bool
    penalty: Penalty

    def scores(self, w: Floats) -> tuple[Floats, Floats]:
        """Scores without an intercept, of columns as the table centres them, and their rounding."""
        return self.table.times(w)

    def excess(self, z: Floats) -> Floats:
        """How far scores z are on the side that costs (n,): positive if too low."""
        over = self.t - z
        size = np.maximum(np.abs(over) - self.epsilon, 0.0)
        return np.asarray(np.where(np.where(over > 0, self.up, self.down), np.sign(over) * size, 0))

    def value(self, w: Floats, z: Floats, rounding: Floats | float) -> float:
        """P at coefficients w with scores z (n,), not below the true value."""
        size = np.abs(self.excess(z)) + rounding + 4 * UNIT * (np.abs(z) + np.abs(self.t))
        loss, more = total(self.c * (size**2 if self.squared else size))
        norm, further = self.penalty.of(w)
        return loss + norm + 4 * more + further

    def best_bias(self, z: Floats) -> float:
        """The intercept that serves scores z best; zero where there is none."""
        if not self.table.centred:
            return 0.0
        left, right = self.t - z - self.epsilon, self.t - z + self.epsilon
        places = np.concatenate([left, right])
        order = np.argsort(places)
        if not self.squared:  # a weighted median
            rise = np.cumsum(np.concatenate([self.c * self.up, self.c * self.down])[order])
            first = int(np.searchsorted(rise, float(self.c[self.up].sum())))
            return float(places[order[min(first, len(order) - 1)]])
        low, high = float(places[order[0]]), float(places[order[-1]])
        for _ in range(200):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            falling = float(self.natural(z + middle).sum()) > 0
            low, high = (middle, high) if falling else (low, middle)
        return (low + high) / 2

    def natural(self, z: Floats) -> Floats:
        """The multipliers (n,) that scores imply if the loss is squared."""
        return np.asarray(2 * self.c * self.excess(z))

    def dual(self, beta: Floats) -> float:
        """D at multipliers made feasible, not above its true value; -inf if they cannot be."""
        if not self.squared:
            beta = np.clip(beta, -self.c * self.down, self.c * self.up)
        if self.table.centred:
            exact = balanced(np.abs(beta), np.where(beta > 0, 1.0, -1.0))
            if exact is None:
                return 0.0
            beta = np.sign(beta) * exact
        v, rounding = self.table.transposed(beta)
        outer = np.abs(v) + rounding
        gain, more = total(self.t * beta - self.epsilon * np.abs(beta))
        gain -= 4 * more + 4 * UNIT * float(np.sum(np.abs(self.t * beta)))
        bend, further = 0.0, 0.0
        if self.squared:
            bend, further = total(beta**2 / (2 * self.c))
        if self.penalty.l2 > 0:
            square, still = total(outer**2 / self.penalty.l2)
            bend, further = bend + square, further + still
        bend += 4 * further
        # Any multiple of at most 1 is feasible, too; for squares one above 1 as well.
        most = np.inf if self.squared and self.penalty.l2 > 0 else self.penalty.kept(outer)
        share = gain / bend if bend > 0 else np.inf
        share = min(max(share, 0.0), most if self.squared else min(most, 1.0))
        if not np.isfinite(share):
            return 0.0
        return max(0.0, (share * gain - share**2 * bend / 2) * (1 - 8 * UNIT))

    @property
    def scale(self) -> float:
        """The size of the objective: what it is without coefficients."""
        nothing = np.zeros(self.table.n)
        best = self.value(np.zeros(0), nothing + self.best_bias(nothing), 0.0)
        # Targets that are all equal leave nothing of it: then a little of that without intercept.
        return max(best, 1e-6 * self.value(np.zeros(0), nothing, 0.0), 1e-300)


@dataclass(frozen=True, eq=False)
class Found:
    """Both ends of the excess over the best possible, and multipliers near the best ones."""

    bracket: Bracket
    beta: Floats


def bracket(
    problem: Hinge, w: Floats, b: float, tol: float, effort: int, off: float = 0.0
) -> Found:
    """How far coefficients w and intercept b, of columns as centred, are from the best."""
    z, rounding = problem.scores(w)
    primal = problem.value(w, z + b, rounding + off + 4 * UNIT * abs(b))
    at_best = z + problem.best_bias(z)
    beta = problem.natural(at_best) if problem.squared else _guess(problem, at_best)
    lowest, highest = primal, problem.dual(beta)
    wanted = tol * problem.scale
    if effort and not primal - highest <= wanted:
        polish = _newton if problem.squared else _interior_point
        lowest, highest, beta = polish(problem, w, primal, highest, wanted)
    return Found(Bracket(max(primal - lowest, 0.0), max(primal - highest, 0.0)), beta)


def _guess(problem: Hinge, z: Floats) -> Floats:
    """The full price for every row that costs something."""
    return np.asarray(np.sign(problem.excess(z)) * problem.c)


def most_steps(problem: Hinge) -> int:
    """How many steps of a polish are made: fewer on large tables, each reads all of it."""
    cells = max(1, problem.table.n * problem.table.d)
    return int(max(10, min(MOST_STEPS, MOST_CELLS // cells)))


# Squared losses: Newton steps.


def _newton(
    problem: Hinge, w: Floats, primal: float, highest: float, wanted: float
) -> tuple[float, float, Floats]:
    """Newton steps from w: the lowest P, the highest D on the way, and its multipliers."""
    z, rounding = problem.scores(w)
    b = problem.best_bias(z)
    value, lowest, beta = problem.value(w, z + b, rounding), primal, problem.natural(z + b)
    for _ in range(most_steps(problem)):
        step = _newton_step(problem, w, z + b)
        along = problem.table.roughly_times(step)
        for halving in range(HALVINGS):
            trial, z_trial = w + 0.5**halving * step, z + 0.5**halving * along
            b_trial = problem.best_bias(z_trial)
            reached = problem.value(trial, z_trial + b_trial, rounding)
            if reached < value:
                break
        else:
            break
        w, b = trial, b_trial
        z, rounding = problem.scores(w)
        value = problem.value(w, z + b, rounding)
        beta = problem.natural(z + b)
        lowest, highest = min(lowest, value), max(highest, problem.dual(beta))
        if primal - highest <= max(ENOUGH * (primal - lowest), 0.1 * wanted):
            break
    return lowest, highest, beta


def _newton_step(problem: Hinge, w: Floats, z: Floats) -> Floats:
    """The change of w that the second-order model asks for, the intercept following."""
    table, excess = problem.table, problem.excess(z)
    h = 2 * np.where(excess != 0, problem.c, 1e-12 * problem.c)
    gradient = -table.roughly_transposed(h * excess)
    return quadratic_step(table, h, gradient, w, problem.penalty, MOST_PRODUCTS)


# The hinge: an interior point method on both sides of each row.


def _interior_point(
    problem: Hinge, w: Floats, primal: float, highest: float, wanted: float
) -> tuple[float, float, Floats]:
    """Steps between the limits: the lowest P, the highest D on the way, and its multipliers."""
    state = Interior(problem)
    lowest, beta = primal, _guess(problem, problem.scores(w)[0])
    for _ in range(most_steps(problem)):
        with np.errstate(all="ignore"):
            moved = state.step()
        if not moved:
            break
        z, rounding = problem.scores(state.w)
        lowest = min(lowest, problem.value(state.w, z + problem.best_bias(z), rounding))
        reached = problem.dual(state.beta)
        if reached > highest:
            highest, beta = reached, state.beta
        if primal - highest <= max(ENOUGH * (primal - lowest), 0.01 * wanted):
            break
        if lowest - highest <= 1e-13 * abs(lowest):
            break
    return lowest, highest, beta


class Interior:
    """A plane and, for each row and side with a price c, a multiplier 0 < a < c and its partners.

    Lead ``u = s f + xi - r > 0`` beside a, slack ``xi > 0`` beside c - a; both products go to 0.
    """

    def __init__(self, problem: Hinge) -> None:
        self.problem = problem
        up, down = np.flatnonzero(problem.up), np.flatnonzero(problem.down)
        self.row = np.concatenate([up, down])
        self.s = np.repeat([1.0, -1.0], [len(up), len(down)])
        self.c = problem.c[self.row]
        self.r = self.s * problem.t[self.row] - problem.epsilon
        self.w, self.b, self.f = np.zeros(problem.table.d), 0.0, np.zeros(problem.table.n)
        self.a = self.c / 2
        self.xi = np.maximum(self.r, 0.0) + max(1.0, float(np.abs(self.r).max(initial=0.0)))
        self.u = self.xi - self.r

    @property
    def beta(self) -> Floats:
        """The multipliers of the rows (n,)."""
        return self.by_row(self.s * self.a)

    def by_row(self, values: Floats) -> Floats:
        """Sums (n,) over the sides of each row."""
        return np.asarray(np.bincount(self.row, values, self.problem.table.n), np.float64)

    def step(self) -> bool:
        """A step towards the centre of what is left of the gap; False if rounding stops it."""
        a, u, xi, g = self.a, self.u, self.xi, self.c - self.a
        theta = 1 / (u / a + xi / g)
        weights = self.by_row(theta)
        try:
            solve = system(self.problem, weights)
        except (np.linalg.LinAlgError, ValueError):
            return False
        mean = float(a @ u + g @ xi) / (2 * len(a))
        da, du, dxi, *_ = self._direction(solve, theta, 0 * a, 0 * a)
        reach = self._reach(da, du, dxi)
        left = (a + reach * da) @ (u + reach * du) + (g - reach * da) @ (xi + reach * dxi)
        aim = mean * (float(left) / (2 * len(a) * mean)) ** 3
        da, du, dxi, dw, db = self._direction(solve, theta, aim - da * du, aim + da * dxi)
        reach = min(1.0, TO_THE_EDGE * self._reach(da, du, dxi))
        if not (np.isfinite(reach) and np.isfinite(dw).all()) or reach < 1e-10:
            return False
        self.a, self.u, self.xi = a + reach * da, u + reach * du, xi + reach * dxi
        self.w, self.b = self.w + reach * dw, self.b + reach * db
        self.f = self.problem.table.roughly_times(self.w) + self.b
        return True

    def _direction(
        self, solve: Solve, theta: Floats, first: Floats, second: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, float]:
        """Changes after which a u is `first` and (c - a) xi is `second`, but for their products."""
        a, u, xi, g, table = self.a, self.u, self.xi, self.c - self.a, self.problem.table
        short = first / a - second / g + self.r - self.s * self.f[self.row]
        push = self.by_row(self.s * (a + theta * short))
        dw, db = solve(table.roughly_transposed(push) - self.w, float(push.sum()))
        df = table.roughly_times(dw) + db
        da = theta * (short - self.s * df[self.row])
        return da, first / a - u - u / a * da, second / g - xi + xi / g * da, dw, db

    def _reach(self, da: Floats, du: Floats, dxi: Floats) -> float:
        """The longest step, up to 1, that keeps everything positive."""
        pairs = ((self.a, da), (self.u, du), (self.c - self.a, -da), (self.xi, dxi))
        ratios = [np.min(-v[d < 0] / d[d < 0], initial=np.inf) for v, d in pairs]
        return float(min(1.0, *ratios))


def system(problem: Hinge, weights: Floats) -> Solve:
    """Solve ``(I + X'hX) dw + X'h db = right`` and, if b is free, ``h'X dw + sum h db = level``."""
    table = problem.table
    inverse = _inverse(table, weights)
    if not table.centred:
        return lambda right, level: (inverse(right), 0.0)
    pull = table.roughly_transposed(weights)
    back = inverse(pull)
    rest = float(weights.sum()) - float(pull @ back)

    def solve(right: Floats, level: float) -> tuple[Floats, float]:
        first = inverse(right)
        db = (level - float(pull @ first)) / rest
        return first - db * back, db

    return solve


def _inverse(table: RoundedMatrix, h: Floats) -> Callable[[Floats], Floats]:
    """A function ``v -> (I + X'hX)^-1 v``, by the smaller of two matrices, or by products."""
    # Of a v that is not finite nothing is: a step to there is not made.
    if table.d <= MOST_COLUMNS or table.d <= table.n <= MOST_ROWS:
        A = table.scatter(np.arange(table.d), h)
        A.flat[:: table.d + 1] += 1.0
        factor = scipy.linalg.cho_factor(A, check_finite=True)
        return lambda v: np.asarray(scipy.linalg.cho_solve(factor, v, check_finite=False))
    if table.n <= MOST_ROWS:  # (I + X'hX)^-1 = I - X' (1/h + XX')^-1 X
        rows = np.vstack([table.dense(block) for _, block in table.blocks()])
        K = rows @ rows.T
        K.flat[:: table.n + 1] += 1 / np.maximum(h, 1e-300)
        factor = scipy.linalg.cho_factor(K, check_finite=True)
        return lambda v: np.asarray(
            v - rows.T @ scipy.linalg.cho_solve(factor, rows @ v, check_finite=False)
        )

    def times(v: Floats) -> Floats:
        v = np.ravel(v)
        return v + table.roughly_transposed(h * table.roughly_times(v))

    A = scipy.sparse.linalg.LinearOperator((table.d, table.d), matvec=times, dtype=np.float64)
    return lambda v: np.asarray(scipy.sparse.linalg.cg(A, v, rtol=1e-8, maxiter=MOST_PRODUCTS)[0])
