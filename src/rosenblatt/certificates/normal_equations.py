"""The normal equations of a least-squares fit: how nearly they hold, and how nearly they must.

A closed form in floating point answers a problem whose numbers are off by rounding: each column by
``e_j = u |x~_j|``, or in a singular value decomposition by u times the length of all of them. Then
``x~_j.r`` is off by ``|x~_j| sum_k e_k |w_k| + e_j |r|``, and by the rounding of the targets and of
the penalty's part. The largest share of a slope in that, u taken for one, is the backward error:
an honest fit has a modest multiple of u, of the precision it was worked out in.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .claims import Claim
from .fitted_attributes import agreement
from .rounded_matrix import UNIT, Floats, RegressionFit

ROUNDINGS = 20.0  # on the way of a closed form, times the root of the number of terms
MOST = 1e-3  # what the condition of few rows may make of that


class ClosedForm(NamedTuple):
    """How a model's coefficients were worked out."""

    unit: float  # of rounding
    columnwise: bool = True  # or only to within rounding of the largest column


def equations(
    fit: RegressionFit,
    penalty: float,
    r: Floats,
    noise: float,
    bias: float,
    *,
    positive: bool = False,
    closed: ClosedForm | None = None,
    left_out: float = 0.0,
    condition: float = 1.0,
) -> Claim:
    """The claim, from residuals r (n,) less their mean `bias`; a test if there is a closed form."""
    # Directions of less than `left_out` of the largest variation were none to the fit, and where it
    # took products of rows it has lost the digits of their `condition`.
    table = fit.table
    length = math.sqrt(float(np.sum(table.share * r**2)))
    product, allowance = table.transposed(table.share * r)
    slope = penalty * fit.w - product
    sizes = _sizes(fit, penalty, length, closed is None or closed.columnwise)
    slopes = np.append(slope, bias if table.centred else 0.0)
    if positive:  # a bound stands against what would make a coefficient negative
        slopes[:-1] = np.where(fit.w > 0, slope, np.minimum(slope, 0.0))
    vanished = not penalty and length <= noise
    if closed is None:
        return _measured(_largest(np.abs(slopes), sizes), vanished)
    norms = table.norms()
    # What is not the fit's to answer for: our own rounding, a constant's variation, and what it
    # took for dependence.
    level = 8 * closed.unit * math.sqrt(table.n) * np.abs(table.mean)
    excused = allowance + noise * norms + level * (length + math.sqrt(fit.size))
    excused += left_out * float(norms.max(initial=0.0)) * math.sqrt(table.d) * length
    share = _largest(np.abs(slopes) - np.append(excused, noise), sizes)
    bound = min(ROUNDINGS * closed.unit * math.sqrt(table.n + table.d) * condition, MOST)
    holds = bool(share <= bound)
    said = _measured(share, vanished and holds).statement
    if not holds:
        said += f"; a closed form comes within {bound:.2g}: these are not the numbers it gives"
    return Claim("normal equations", said, share, bound, holds, "checked")


def _largest(slopes: Floats, sizes: Floats) -> float:
    """The largest share that a slope is of its size; what has no size has no share."""
    return float(np.max(slopes / np.where(sizes > 0, sizes, 1.0), initial=0.0))


def _measured(share: float, vanished: bool) -> Claim:
    """The share in words; of residuals that are rounding, any share is rounding beside rounding."""
    said = "the normal equations hold: the residuals are no more than rounding"
    if not vanished:
        error = f"{share:.2g} of the size of their terms" if share > 0 else "our own rounding"
        said = f"the normal equations hold up to {error} (backward error)"
    return Claim("normal equations", said, 0.0 if vanished else share, None, True, "checked")


def _sizes(fit: RegressionFit, penalty: float, length: float, columnwise: bool) -> Floats:
    """What rounding is a share of, in the slope of each column and of the intercept (d + 1,)."""
    # The level of columns and targets is rounded too, alike for all rows, which residuals of mean
    # zero do not know: the intercept does. Of sparse rows levels are taken off products only.
    table, w = fit.table, np.abs(fit.w)
    norms = table.norms()
    rough = norms + np.abs(table.mean) if sp.issparse(table.X) else norms
    target = math.sqrt(fit.size)
    terms = float(rough @ w) + target
    level = float(np.abs(table.mean) @ w) + abs(fit.b)
    if not columnwise:
        # This norm has squares of numbers that have none in floating point.
        rough = np.full(table.d, float(scipy.linalg.norm(rough)))
        w = np.full(table.d, float(scipy.linalg.norm(w)))
        terms = float(rough[0] * w[0]) + target
    return np.append(norms * terms + rough * length + penalty * w, terms + level)


def closed_form(model: Any) -> ClosedForm | None:
    """What lies behind a model's coefficients; None if they are iterated."""
    # A model in 32 bits may have been worked out in them.
    names = {base.__name__ for base in type(model).__mro__}
    solver = getattr(model, "solver_", None)
    if solver is None and "RidgeCV" in names:
        # scikit-learn's goes by residuals of rows left out, which costs digits.
        return ClosedForm(5e-11 if model.coef_.dtype != np.float32 else 2.0**-24, False)
    if solver is None and "LinearRegression" in names:
        solver = "nnls" if model.positive else "svd" if hasattr(model, "singular_") else None
    if solver not in ("cholesky", "eigen", "svd", "nnls"):
        return None
    unit = 2.0**-24 if model.coef_.dtype == np.float32 else UNIT
    if solver == "nnls":
        return ClosedForm(10 * unit)
    return ClosedForm(unit, solver != "svd")


# What a least-squares or ridge fit without a closed form says of itself, beside what data give.
#
# ``P = sum s r^2 + alpha |w|^2`` and its gradient are worked out again. A gap is true if no
# coefficients are better by more than it: the best along the gradient are looked at, which is
# ``(g.g)^2 / g'Ag`` for g half the gradient and A half the curvature.


def iteration_claims(
    fit: RegressionFit,
    penalty: float,
    weight: float,
    positive: bool,
    residuals: Floats,
    said: dict[str, float],
    near: float,
) -> list[Claim]:
    """The claim, from residuals (n,) at the published numbers; none without such numbers."""
    # `penalty` is for shares of the weight, as are the sizes here.
    if not said:
        return []
    table, w = fit.table, fit.w
    r = residuals - float(table.share @ residuals) if table.centred else residuals
    g = penalty * w - table.roughly_transposed(table.share * r)
    if positive:  # what would make a coefficient negative is no way down
        g = np.where(w > 0, g, np.minimum(g, 0.0))
    square = float(np.sum(table.share * residuals**2)) + penalty * float(w @ w)
    steepest = float(np.sqrt(fit.size) * _lengths(fit).max(initial=0.0))
    derived = {
        "objective_": weight * square,
        "gradient_norm_": 2 * weight * float(np.linalg.norm(g)),
        "dual_gap_": weight * _fall(fit, penalty, g, positive),
    }
    size = weight * fit.size
    sizes = {"objective_": size, "gradient_norm_": 2 * weight * steepest, "dual_gap_": size}
    blur = weight * fit.blur
    shaken = 2 * weight * float(np.sqrt(fit.blur)) * float(np.linalg.norm(table.norms()))
    blurs = {"objective_": blur, "gradient_norm_": shaken, "dual_gap_": blur}
    return agreement(said, derived, sizes, near, blurs)


def _lengths(fit: RegressionFit) -> Floats:
    """What rounding of a slope is a share of; of sparse columns the level is taken off products."""
    norms = fit.table.norms()
    return norms + np.abs(fit.table.mean) if sp.issparse(fit.table.X) else norms


def _fall(fit: RegressionFit, penalty: float, g: Floats, positive: bool) -> float:
    """How much lower the objective is at the best point along -g, for shares of the weight."""
    slope = float(g @ g)
    along = fit.table.roughly_times(g)
    curve = float(np.sum(fit.table.share * along**2)) + penalty * slope
    if not (np.isfinite(curve) and curve > 0):
        return 0.0
    step = slope / curve
    if positive and (g > 0).any():
        step = min(step, float(np.min(fit.w[g > 0] / g[g > 0])))
    return 2 * step * slope - step**2 * curve
