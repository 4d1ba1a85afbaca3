"""What a least-squares or ridge fit without a closed form says of itself, beside what data give.

``P = sum s r^2 + alpha |w|^2`` and its gradient are worked out again. A gap is true if no
coefficients are better by more than it: the best along the gradient are looked at, which is
``(g.g)^2 / g'Ag`` for g half the gradient and A half the curvature.
"""

import numpy as np
import scipy.sparse as sp

from .claims import Claim
from .published import agreement
from .regression import Fit
from .table import Floats


def claims(
    fit: Fit,
    penalty: float,
    weight: float,
    positive: bool,
    residuals: Floats,
    said: dict[str, float],
    near: float,
) -> list[Claim]:
    """The claim, from residuals (n,) at the published numbers; nothing where nothing is said.

    `penalty` is for shares of the weight, as are the sizes here.
    """
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


def _lengths(fit: Fit) -> Floats:
    """What rounding of a slope is a share of; of sparse columns the level is taken off products."""
    norms = fit.table.norms()
    return norms + np.abs(fit.table.mean) if sp.issparse(fit.table.X) else norms


def _fall(fit: Fit, penalty: float, g: Floats, positive: bool) -> float:
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
