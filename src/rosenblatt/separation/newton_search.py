"""The numeric search for a plane: finite Newton steps on the squared hinge.

Minimise ``1/2 sum [1 - a_i.v]_+^2 + lam/2 sum weight (v - v0)^2``. If a plane exists some v brings
the sum to zero; if none exists the slacks ``[1 - a_i.v]_+`` at the minimum of the sum are
themselves the weights p >= 0 with ``sum p_i a_i = 0``. Nothing here is trusted: `planes`,
`interior` and `rational` prove what is found or refuse it.

References
----------
S. S. Keerthi, D. DeCoste (2005), A modified finite Newton method for fast solution of large
scale linear SVMs.
"""

from collections.abc import Callable

import numpy as np
from scipy import linalg

from .homogeneous_rows import Rows
from .inputs import Floats

DIRECT = 1200  # unknowns up to which a Newton system is factorised
STEPS = 60
CG_STEPS = 400
HESSIAN_WORK = 2e10  # multiplications in a Hessian that is formed


def newton(
    rows: Rows,
    lam: float,
    start: Floats,
    centre: Floats,
    weight: Floats,
    done: Callable[[Floats], bool],
) -> Floats:
    """Minimise the objective above from `start`; stop early when `done` likes the margins."""
    v, margins = start, rows.margins(start)
    for _ in range(STEPS):
        slack = np.maximum(1.0 - margins, 0.0)
        pull = lam * weight * (v - centre)
        push = rows.tdot(slack)
        gradient = pull - push
        if not np.isfinite(gradient).all():
            break
        if np.abs(gradient).max() <= 1e-13 * rows.mass(slack).max():
            break
        step = _newton_step(rows, margins < 1.0, lam, weight, gradient)
        along = rows.dot(step)
        length = _line_search(
            margins, along, float(step @ pull), lam * float(step @ (weight * step))
        )
        if length == 0.0:
            break
        v = v + length * step
        before, margins = margins < 1.0, rows.margins(v)
        if done(margins) or (length == 1.0 and np.array_equal(before, margins < 1.0)):
            break
    return v


def _newton_step(
    rows: Rows, active: np.ndarray, lam: float, weight: Floats, gradient: Floats
) -> Floats:
    """Solve ``(lam diag(weight) + sum over active rows of a a') step = -gradient``."""
    index = np.flatnonzero(active)
    if rows.m <= DIRECT and rows.gram_work(len(index)) <= HESSIAN_WORK:
        hessian = rows.gram(index) + lam * np.diag(weight)
        ridge = 0.0
        while True:
            try:
                factor = linalg.cho_factor(hessian + ridge * np.eye(rows.m))
                return np.asarray(linalg.cho_solve(factor, -gradient))
            except linalg.LinAlgError:
                ridge = max(100 * ridge, 1e-14 * (1.0 + float(np.trace(hessian))))
    curvature = rows.hessian_product(index)
    return conjugate_gradients(lambda v: lam * weight * v + curvature(v), -gradient, 1e-3, CG_STEPS)


def conjugate_gradients(
    product: Callable[[Floats], Floats], target: Floats, tol: float, steps: int
) -> Floats:
    """Solve ``product(v) = target`` nearly; a direction without curvature ends the search."""
    v, residual, direction = np.zeros(len(target)), target, target
    size = float(residual @ residual)
    enough = tol**2 * size
    for _ in range(steps):
        image = product(direction)
        curve = float(direction @ image)
        if size <= enough or curve <= 1e-14 * float(direction @ direction):
            break
        v = v + (size / curve) * direction
        residual = residual - (size / curve) * image
        before, size = size, float(residual @ residual)
        direction = residual + (size / before) * direction
    return v


def _line_search(margins: Floats, along: Floats, pull: float, curve: float) -> float:
    """Return the t > 0 where the derivative along the step, piecewise linear, is zero."""

    def slope(t: float) -> tuple[float, float]:
        slack = np.maximum(1.0 - margins - t * along, 0.0)
        bend = along[slack > 0.0]
        return pull + t * curve - float(slack @ along), curve + float(bend @ bend)

    steep = abs(slope(0.0)[0])
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(60):
        value, rise = slope(t)
        if abs(value) <= 1e-9 * steep:
            return t
        low, high = (t, high) if value < 0.0 else (low, t)
        guess = t - value / rise if rise > 0.0 else np.inf
        if not low < guess < high:
            guess = 2.0 * t if np.isinf(high) else (low + high) / 2.0
        t = guess
    return low


def slacks(rows: Rows, v: Floats) -> Floats:
    """Return ``[1 - a.v]_+``, the weights a minimum of the squared hinge offers as proof."""
    return np.maximum(1.0 - rows.margins(v), 0.0)
