"""Lasso and elastic net: how far the objective is from the best possible.

``P = 1/2 sum p r^2 + a |w|_1 + c/2 |w|^2``. Any th with ``sum p th = 0`` gives a value that no
coefficients can go below,
``D = sum p t~ th - 1/2 sum p th^2 - sum_j [|x~_j'(p th)| - a]_+^2 / 2c``;
without the square (c = 0) it must keep ``|x~_j'(p th)| <= a``, for which it is scaled down. The
residuals themselves are the natural th. Where that bound is loose, a few rounds of coordinate
descent give better ones, and a lower end as well.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .claims import Claim, distance_claim, gap_claim, measured
from .fitted_attributes import NEAR, agreement
from .rounded_matrix import UNIT, Floats, RegressionFit, mean_square, no_gap, total

MOST_COLUMNS = 1000  # of those that matter, in a polish
ROUNDS = 6
MOST_PASSES = 200
HIDDEN = 1e-3  # rounding of a slope beside the penalty from which on it spoils a proof
ENOUGH = 2.0  # ratio of the two ends at which a bracket is good


@dataclass(frozen=True)
class Penalty:
    """``l1 |w|_1 + l2/2 |w|^2``, and whether w >= 0."""

    l1: float
    l2: float
    positive: bool

    def of(self, w: Floats) -> tuple[float, float]:
        """Its value at w, and what rounding may have done to it."""
        if self.positive and (w < 0).any():
            return np.inf, 0.0
        value, rounding = total(self.l1 * np.abs(w) + self.l2 / 2 * w**2)
        return value, 2 * rounding

    def excess(self, slopes: Floats) -> Floats:
        """How far slopes go beyond what the absolute values carry (d,)."""
        reach = slopes if self.positive else np.abs(slopes)
        return np.asarray(np.maximum(reach - self.l1, 0.0))

    def kept(self, outermost: Floats) -> float:
        """What a dual point with slopes up to these is multiplied with, without a square."""
        # The multiple is meant as a real number: what balances exactly does so at any, and no
        # rounding of masses comes between the slopes and l1.
        steepest = float(np.max(outermost, initial=0.0))
        if self.l2 > 0 or steepest <= self.l1:
            return 1.0
        return self.l1 / steepest * (1 - 4 * UNIT)


@dataclass(frozen=True, eq=False)
class LassoDual:
    """A point th: its value, not above the true one, and its slopes with their allowance.

    The gradient is that of the residuals it was scaled from.
    """

    value: float
    slopes: Floats
    allowance: Floats
    gradient: Floats


def claims(
    fit: RegressionFit,
    l1: float,
    l2: float,
    positive: bool,
    tol: float,
    effort: int,
    said: dict[str, float] | None = None,
    near: float = NEAR,
) -> list[Claim]:
    """What can be said of published coefficients, and of what the fit `said` of itself."""
    if not fit.can_be_squared:
        return [no_gap(fit)]
    penalty = Penalty(l1, l2, positive)
    primal, residual = primal_value(fit, penalty, fit.w, fit.b)
    best = dual_value(fit, penalty, residual)
    lowest = primal
    bound = (tol * fit.size + fit.blur) / 2
    first, promised = best, (said or {}).get("dual_gap_", np.inf)
    wanted = min(bound, promised + near * fit.size)
    if effort and not primal - best.value <= wanted:
        lowest, best = polish(fit, penalty, primal, best, wanted)
    gap = max(primal - best.value, 0.0)
    at_least = max(primal - lowest, 0.0)
    nearer = f", and not nearer than {at_least:.3g}" if at_least > 0 else ""
    if lowest == primal and gap > near * fit.size:
        nearer = "; a bound, the excess itself may be far smaller"
    nearer += "" if gap <= bound else _rounding(fit, penalty, residual)
    found = [gap_claim(gap, fit.size / 2, bound, f" (duality gap){nearer}")]
    if penalty.l2 > 0:
        found.append(distance_claim(float(np.sqrt(2 * gap / penalty.l2)), fit.w))
    else:
        found.append(_zeros(fit, penalty, best, lowest - best.value))
    length = gradient_length(fit.w, penalty.l2 * fit.w - first.gradient, penalty)
    steepest = float(np.sqrt(fit.size) * fit.table.norms().max(initial=0.0))
    derived = {"objective_": primal, "gradient_norm_": length, "dual_gap_": at_least}
    sizes = {"objective_": fit.size, "gradient_norm_": steepest, "dual_gap_": fit.size}
    shaken = float(np.sqrt(fit.blur)) * float(np.linalg.norm(fit.table.norms()))
    blurs = {"objective_": fit.blur, "gradient_norm_": shaken, "dual_gap_": fit.blur}
    return found + agreement(said or {}, derived, sizes, near, blurs)


def gradient_length(w: Floats, slope: Floats, penalty: Penalty) -> float:
    """The length of the shortest subgradient, given the slope of all but the absolute values."""
    beyond = np.maximum(np.abs(slope) - penalty.l1, 0.0)
    if penalty.positive:  # at zero only what would raise a coefficient counts
        beyond = np.maximum(-slope - penalty.l1, 0.0)
    return float(np.linalg.norm(np.where(w != 0, slope + penalty.l1 * np.sign(w), beyond)))


def _rounding(fit: RegressionFit, penalty: Penalty, r: Floats) -> str:
    """Why no proof is to be had, if it is that rounding hides a slope: the column, in words."""
    _, allowance = fit.table.transposed(fit.table.share * r)
    worst = int(np.argmax(allowance))
    if allowance[worst] < HIDDEN * max(penalty.l1, penalty.l2):
        return ""
    size = float(fit.table.norms()[worst])
    return (
        f"; column {worst} varies by {size:.2g}, so that rounding leaves its slope unknown by "
        f"{allowance[worst]:.2g} where the penalty is {penalty.l1 or penalty.l2:.2g}, and nearer "
        "cannot be told: standardise the columns"
    )


def primal_value(fit: RegressionFit, penalty: Penalty, w: Floats, b: float) -> tuple[float, Floats]:
    """P(w, b), not below the true value, and the residuals."""
    r, allowance = fit.residuals(w, b)
    square, _ = mean_square(fit.table, r, allowance)
    value, rounding = penalty.of(w)
    return square / 2 + value + rounding, r


def dual_value(fit: RegressionFit, penalty: Penalty, r: Floats) -> LassoDual:
    """The dual point that residuals point to, made feasible."""
    table, p = fit.table, fit.table.share
    th = r - float(p @ r) if table.centred else r
    slopes, allowance = table.transposed(p * th)
    along, square = float(np.sum(p * fit.centred_target * th)), float(np.sum(p * th**2))
    scale = max(along / square, 0.0) if square > 0 else 0.0
    outermost = (slopes if penalty.positive else np.abs(slopes)) + allowance
    steepest = max(float(np.max(outermost, initial=0.0)), 1e-300)
    scales = [min(scale, penalty.l1 / steepest * (1 - 8 * UNIT))]
    if penalty.l2 > 0:  # with a square any will do; at zero it is zero, if no more
        scales += [scale, 1.0, 0.0]
    duals = [_at_scale(fit, penalty, scale, th, slopes, allowance) for scale in scales]
    return max(duals, key=lambda dual: dual.value)


def _at_scale(
    fit: RegressionFit,
    penalty: Penalty,
    scale: float,
    th: Floats,
    slopes: Floats,
    allowance: Floats,
) -> LassoDual:
    """The value of ``scale * th``, not above the true one."""
    p = fit.table.share
    terms = scale * (p * fit.centred_target * th) - scale**2 / 2 * (p * th**2)
    value, rounding = total(terms)
    rounding += 4 * UNIT * float(np.sum(scale * np.abs(p * fit.centred_target * th)))
    # A th whose mean is rounding away from zero: an intercept could use it, on its own scale.
    level = float(np.sqrt(fit.size)) + abs(fit.b)
    rounding += 4 * UNIT * scale * float(np.sum(p * np.abs(th))) * UNIT * level
    scaled, allowance = scale * slopes, scale * allowance * (1 + 4 * UNIT)
    if penalty.l2 > 0:
        outermost = scaled + (allowance if penalty.positive else np.sign(scaled) * allowance)
        cost, more = total(penalty.excess(outermost) ** 2 / (2 * penalty.l2))
        value, rounding = value - cost, rounding + 4 * more
    return LassoDual(value - rounding, scaled, allowance, slopes)


def _zeros(fit: RegressionFit, penalty: Penalty, dual: LassoDual, gap: float) -> Claim:
    """How many columns are zero in every solution, by the gap-safe rule."""
    radius = float(np.sqrt(2 * max(gap, 0.0)))
    reach = dual.slopes if penalty.positive else np.abs(dual.slopes)
    zero = reach + dual.allowance + fit.table.norms() * radius < penalty.l1
    n, wrong = int(np.count_nonzero(zero)), int(np.count_nonzero(zero & (fit.w != 0)))
    statement = f"{n:,} of {fit.table.d:,} coefficients are zero in every solution"
    if wrong:
        statement += f"; {wrong:,} of them are not zero here"
    return measured("zeros", statement, n)


def polish(
    fit: RegressionFit, penalty: Penalty, primal: float, dual: LassoDual, bound: float
) -> tuple[float, LassoDual]:
    """Better coefficients and dual points: the lowest P and the highest D found."""
    lowest, best, point = primal, dual, dual
    w = np.maximum(fit.w, 0.0) if penalty.positive else fit.w
    target, _ = fit.table.transposed(fit.table.share * fit.centred_target)
    for _ in range(ROUNDS):
        columns = columns_that_matter(w, point.gradient, penalty)
        start, w = w[columns], np.zeros(fit.table.d)
        w[columns] = descend(fit.table.scatter(columns), target[columns], start, penalty)
        value, residual = primal_value(fit, penalty, w, fit.best_bias(w))
        point = dual_value(fit, penalty, residual)
        lowest, best = min(lowest, value), max(best, point, key=lambda dual: dual.value)
        if primal - best.value <= max(ENOUGH * (primal - lowest), 0.1 * bound):
            break
    return lowest, best


def columns_that_matter(w: Floats, slopes: Floats, penalty: Penalty) -> NDArray[np.intp]:
    """Those in use and those that the absolute values hold back least."""
    urgency = np.where(w != 0, np.inf, slopes if penalty.positive else np.abs(slopes))
    return np.argsort(-urgency, kind="stable")[:MOST_COLUMNS]


def descend(gram: Floats, target: Floats, w: Floats, penalty: Penalty) -> Floats:
    """Coordinate descent on ``1/2 w'Gw - c'w`` and the penalty; then the support solved at once."""
    w, rest = np.array(w), target - gram @ w
    curvature = np.diag(gram) + penalty.l2
    for _ in range(MOST_PASSES):
        largest = 0.0
        for j in np.flatnonzero((w != 0) | (penalty.excess(rest) > 0)):
            if curvature[j] <= 0:
                continue
            z = rest[j] + gram[j, j] * w[j]
            new = max(z - penalty.l1, 0.0)
            if not penalty.positive:
                new += min(z + penalty.l1, 0.0)
            step = new / curvature[j] - w[j]
            if step:
                rest -= gram[:, j] * step
                w[j] += step
                largest = max(largest, abs(step) * np.sqrt(curvature[j]))
        if largest <= 1e-12 * np.sqrt(max(float(np.abs(w) @ curvature), 1e-300)):
            break
    return _on_support(gram, target, w, penalty)


def _on_support(gram: Floats, target: Floats, w: Floats, penalty: Penalty) -> Floats:
    """The stationary point with the signs of w, if it has them."""
    used = np.flatnonzero(w)
    if not len(used):
        return w
    sign = np.sign(w[used])
    matrix = gram[np.ix_(used, used)] + penalty.l2 * np.eye(len(used))
    try:
        exact = np.linalg.solve(matrix, target[used] - penalty.l1 * sign)
    except np.linalg.LinAlgError:
        return w
    if not (np.sign(exact) == sign).all():
        return w
    better = np.zeros_like(w)
    better[used] = exact
    return better
