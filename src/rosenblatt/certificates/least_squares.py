"""Least squares and ridge: what another choice of coefficients could still gain.

``P = sum s r^2 + alpha |w|^2`` is a parabola, so its excess over the best is known exactly: with
rows ``[sqrt(s) x~; sqrt(alpha) e_j]`` and residuals ``[sqrt(s) r~; -sqrt(alpha) w]`` it is the
squared length of the residuals' part that the columns span, and what the intercept costs,
``sum s rbar^2``. Tables too large to factor get a bracket from conjugate gradients instead.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.optimize
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from . import normal_equations
from .claims import Claim, distance_claim, gap_claim, measured, within
from .fitted_attributes import NEAR
from .normal_equations import ROUNDINGS, ClosedForm, iteration_claims
from .orthogonal_factors import (
    MOST_CELLS,
    MOST_ROWS,
    Excess,
    OrthogonalFactors,
    RowProducts,
    at_most,
    can_be_factored,
    factors,
)
from .rounded_matrix import (
    ROUNDINGS_OF_A_SUM,
    UNIT,
    Floats,
    RegressionFit,
    RoundedMatrix,
    mean_square,
    no_gap,
)

STEPS = 200  # of conjugate gradients
LARGE = 1e8  # condition beyond which half of the digits are gone


def claims(
    fit: RegressionFit,
    alpha: float,
    weight: float,
    positive: bool,
    tol: float,
    effort: int = 1,
    least_share: float = 0.0,
    closed: ClosedForm | None = None,
    said: dict[str, float] | None = None,
    near: float = NEAR,
) -> list[Claim]:
    """What can be said of published coefficients under ``sum s r^2 + alpha |w|^2``."""
    # Directions of less than `least_share` of the largest variation were none to the fit, whose
    # numbers may have a closed form; an iterated one `said` something of itself.
    residuals = fit.residuals()
    penalty = alpha / weight
    found = _of_coefficients(
        fit, penalty, weight, positive, tol, effort, least_share, closed, residuals
    )
    return found + iteration_claims(fit, penalty, weight, positive, residuals[0], said or {}, near)


def _of_coefficients(
    fit: RegressionFit,
    penalty: float,
    weight: float,
    positive: bool,
    tol: float,
    effort: int,
    least_share: float,
    closed: ClosedForm | None,
    residuals: tuple[Floats, Floats],
) -> list[Claim]:
    """The gap, the distance, the equations and the condition, from residuals and their rounding."""
    table, (r, allowance) = fit.table, residuals
    if not (fit.can_be_squared and np.isfinite(r).all()):
        return [no_gap(fit)]
    weight *= 1 + 16 * UNIT  # for the few roundings after this
    square, _ = mean_square(table, r, allowance)
    bias = float(table.share @ r) if table.centred else 0.0
    centred = r - bias
    noise = math.sqrt(float(np.sum(table.share * allowance**2)))
    intercept_cost = (abs(bias) + noise) ** 2 if table.centred else 0.0
    bound = (tol * fit.size + fit.blur) * weight
    equations = partial(
        normal_equations.equations, fit, penalty, centred, noise, bias,
        positive=positive, closed=closed, left_out=least_share,
    )  # fmt: skip
    easy = at_most(fit, penalty, centred, noise, square, intercept_cost)
    enough = effort == 0 or weight * easy.most <= bound
    if table.n < table.d and not positive and enough:
        found = [gap_claim(weight * easy.most, weight * fit.size, bound, easy.among)]
        if math.isfinite(easy.distance):
            found.append(distance_claim(easy.distance, fit.w))
        return [*found, *_of_rows(fit, penalty, effort, equations)]
    if not can_be_factored(table):
        return _of_large(
            fit, penalty, weight, positive, centred, noise, easy, intercept_cost, bound, equations()
        )
    parts = factors(table, centred, penalty, fit.w)
    weights = penalty * float(fit.w @ fit.w) if penalty else 0.0  # which may be too long to square
    length = math.sqrt(square + weights)
    off = parts.rounding * length * (1 + parts.condition) + noise
    unresolved = parts.unresolved(table)
    if positive and (fit.w < 0).any():
        excess = easy = Excess(math.inf, math.inf)
    elif unresolved:
        excess = Excess(math.inf, math.inf, _hidden(unresolved))
    elif positive:
        excess = _non_negative(fit, parts, off)
    else:
        excess = _free(parts, off)
    # No sum of squares is below zero, whatever nearly dependent columns could do.
    gap = weight * min(excess.most + intercept_cost, easy.most)
    if not gap <= bound and unresolved:
        gap = min(gap, weight * (square + weights - within_equal_rows(table, fit.t)))
    why = "" if positive or gap <= bound else _left_out(parts, least_share, weight, gap)
    found = [gap_claim(gap, weight * fit.size, bound, excess.among + why)]
    if math.isfinite(excess.distance):
        left = " in directions in which columns vary" if parts.rank < table.d else ""
        found.append(distance_claim(excess.distance, fit.w, left))
    if not positive or closed:
        wide = table.n < table.d  # few rows are solved by their products, which square this
        found.append(equations(condition=parts.condition**2 if wide else 1.0))
    if parts.rank < table.d and not positive and not penalty:
        found.append(_shortest(fit, parts.rank, *parts.idle(fit.w)))
    left_out = 0 if penalty else table.d - parts.rank
    return [*found, _condition(parts.condition, left_out)]


def _hidden(unresolved: int) -> str:
    """The sentence for a gap that includes everything that rounding may hide."""
    directions = "a direction" if unresolved == 1 else f"{unresolved} directions"
    return f"; nearly collinear columns: rounding hides {directions}, in which all may be gained"


def within_equal_rows(table: RoundedMatrix, t: Floats) -> float:
    """``sum p (t - mean of t in equal rows)^2``, less rounding: what no coefficients go below."""
    X = table.given.toarray() if sp.issparse(table.given) else table.given
    if X.size > MOST_CELLS:
        return 0.0
    _, group = np.unique(X + 0.0, axis=0, return_inverse=True)
    group, p = group.ravel(), table.share
    mean = np.bincount(group, p * t) / np.bincount(group, p)
    off = UNIT * ROUNDINGS_OF_A_SUM * table.n * float(np.sum(p * t**2))
    within_groups = float(np.sum(p * (t - mean[group]) ** 2))
    return max(0.0, within_groups - float(off))


def _of_rows(
    fit: RegressionFit, penalty: float, effort: int, equations: Callable[..., Claim]
) -> list[Claim]:
    """What the products of few rows tell beyond a gap that is proved already."""
    # Coefficients that follow from these products lose as many digits as their condition has.
    if effort == 0 or fit.table.n > MOST_ROWS:
        return [equations(closed=None)]
    products = RowProducts.of(fit.table)
    condition = products.condition(penalty)
    equal = equations(condition=condition**2)
    if penalty:
        return [equal, _condition(condition, 0, "rows and penalty")]
    shortest = _shortest(fit, products.rank, products.idle(fit.w), float(np.linalg.norm(fit.w)))
    return [equal, shortest, _condition(condition, fit.table.d - products.rank, "rows")]


def _left_out(parts: OrthogonalFactors, share: float, weight: float, gap: float) -> str:
    """The reason of a gap that lies in directions which the fit took for dependence, if it does."""
    small = parts.kept & (parts.sizes <= share * parts.sizes.max(initial=0.0))
    missed = weight * float(np.sum(parts.reach[small] ** 2))
    if not missed >= 0.5 * gap:
        return ""
    n = int(small.sum())
    directions = "a direction" if n == 1 else f"{n} directions"
    return (
        f"; {missed:.3g} of that lies in {directions} of less than tol={share:g} of the largest "
        "variation, which the fit takes for dependent columns: a smaller tol keeps them"
    )


def _free(parts: OrthogonalFactors, off: float) -> Excess:
    """The residual's part that the columns reach; its length may be off by rounding."""
    kept = parts.kept
    sure = 1 + parts.relative
    most = (sure * float(np.linalg.norm(parts.reach[kept])) + off) ** 2
    smallest = float((parts.sizes[kept]).min()) if kept.any() else 1.0
    further = off / (smallest * float(parts.scale.min()))
    return Excess(most, sure**2 * float(np.linalg.norm(parts.step())) + further)


def _non_negative(fit: RegressionFit, parts: OrthogonalFactors, off: float) -> Excess:
    """With ``w >= 0``: go to the best such point, and bound what is left from there."""
    # From w another point v >= 0 differs by ``2 g.(v - w) + (v - w)'A(v - w)``, and A is not below
    # its least eigenvalue m: the least of ``2 g_j (v_j - w_j) + m (v_j - w_j)^2`` is known.
    triangle = (parts.axes * parts.sizes).T  # of columns in their scaled lengths
    start = parts.scale * fit.w
    best, _ = scipy.optimize.nnls(triangle, triangle @ start + parts.reach)
    step = best / parts.scale - fit.w
    moved = parts.reach - triangle @ (best - start)
    fallen = float(parts.reach @ parts.reach) - float(moved @ moved)
    slope = -(triangle.T @ moved)
    m = float(parts.sizes.min()) ** 2 * (1 - 1e-6) if parts.rank == len(best) else 0.0
    rounding = off * (2 * float(np.linalg.norm(parts.reach)) + off)
    rounding += 3 * parts.relative * float(parts.reach @ parts.reach)
    if m <= 0:  # flat directions: what a slope gains depends on how far one goes
        left = _flat(triangle, parts.relations(), best == 0, moved, slope)
        return Excess(max(fallen, 0.0) + left + rounding, math.inf)
    v = np.maximum(best - slope / m, 0.0)
    left = -float(np.sum(2 * slope * (v - best) + m * (v - best) ** 2))
    most = max(fallen, 0.0) + max(left, 0.0) + rounding
    further = (math.sqrt(max(left, 0.0)) + off) / math.sqrt(m) / float(parts.scale.min())
    distance = float(np.linalg.norm(step)) + further
    return Excess(most, distance)


def _flat(
    triangle: Floats, relations: Floats, held: NDArray[np.bool_], moved: Floats, slope: Floats
) -> float:
    """What is left at a point v >= 0 with these slopes, though some columns depend on others."""
    # Columns in use, and those held back by little, are A, and c is the length of the residual's
    # part that they span; others, whose slopes are above c times their length, do not pay, and A
    # gains c^2. What A spans is certain if as many directions vanish as relations lie in it.
    lengths = np.linalg.norm(triangle, axis=0)
    for share in (1e-6, 1e-9, 0.0):
        A = ~held | (slope <= share * lengths)
        axes, sizes, _ = np.linalg.svd(triangle[:, A], full_matrices=False)
        rank = int(A.sum()) - int((~(relations[~A] != 0).any(axis=0)).sum())
        if not 0 < rank <= len(sizes) or sizes[rank - 1] <= 1e-7:
            continue
        c = float(np.linalg.norm(axes[:, :rank].T @ moved)) * (1 + 1e-6)
        if (slope[~A] >= c * lengths[~A]).all():
            return float(c * c)
    return math.inf


def _shortest(fit: RegressionFit, rank: int, idle: float, length: float) -> Claim:
    """Where several coefficients predict the same, the shortest are taken."""
    # `length` is that of the coefficients of columns that depend on others; what rounding leaves of
    # them all is allowed for.
    allowed = 1e-6 * length + ROUNDINGS * fit.unit * fit.table.d * float(np.linalg.norm(fit.w))
    statement = (
        f"of {fit.table.d} columns {rank} are independent; the part of w that changes no "
        f"prediction has length {idle:.2g} of {length:.3g}"
    )
    return within("minimum norm", statement, idle, allowed)


def _condition(condition: float, left_out: int, of: str = "columns scaled to one") -> Claim:
    """How much of its digits a solution may lose."""
    digits = max(0, math.floor(math.log10(condition)))
    words = (
        f"about {digits} of 16 digits of the coefficients may be lost"
        if digits
        else "no digits are lost"
    )
    if condition > LARGE:
        words += ": nearly collinear columns, or scales far apart"
    if left_out:
        words += f"; {left_out} directions without variation left out"
    statement = f"the condition number is {condition:.2g} ({of}): {words}"
    return measured("condition", statement, condition)


def _of_large(
    fit: RegressionFit,
    penalty: float,
    weight: float,
    positive: bool,
    r: Floats,
    noise: float,
    easy: Excess,
    intercept_cost: float,
    bound: float,
    equations: Claim,
) -> list[Claim]:
    """Tables too large to factor: conjugate gradients, if there is a penalty to lean on."""
    if positive or penalty == 0:
        value = math.inf if positive and (fit.w < 0).any() else weight * easy.most
        return [gap_claim(value, weight * fit.size, bound, easy.among), equations]
    table = fit.table
    product, allowance = table.transposed(table.share * r)
    g = penalty * fit.w - product

    def times(x: Floats) -> Floats:
        x = np.ravel(x)
        moved = table.share * table.roughly_times(x)
        return table.roughly_transposed(moved) + penalty * x

    A = scipy.sparse.linalg.LinearOperator((table.d, table.d), matvec=times, dtype=np.float64)
    x, _ = scipy.sparse.linalg.cg(A, g, rtol=1e-8, maxiter=STEPS)
    left = g - times(x)
    further = float(np.linalg.norm(left)) + float(np.linalg.norm(allowance))
    most = float(2 * (g @ x) - x @ (g - left)) + (further + noise) ** 2 / penalty
    gap = weight * min(max(most, 0.0) * (1 + 1e-9) + intercept_cost, easy.most)
    distance = (float(np.linalg.norm(g)) + float(np.linalg.norm(allowance))) / penalty
    nearness = gap_claim(gap, weight * fit.size, bound)
    return [nearness, distance_claim(distance, fit.w), equations]
