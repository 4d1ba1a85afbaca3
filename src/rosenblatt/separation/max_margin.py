"""The widest plane, as the shortest vector between convex hulls.

``min |sum u_i a_i|`` over weights u >= 0 that sum to one within each group of rows: one group
gives the hull nearest the origin (no intercept, or one that counts as a coordinate), the two
classes as groups give the widest geometric margin with a free intercept. Lawson and Hanson's
non-negative least squares solves it on a working set, which grows by the rows it gets wrong.

References
----------
C. L. Lawson, R. J. Hanson (1974), Solving Least Squares Problems, chapter 23.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import nnls

from .homogeneous_rows import HomogeneousRows
from .inputs import Floats

WORKING_SETS = 60
CLOSE = 1e-11  # relative distance between a margin and its upper bound that ends the search


def widest_direction(
    take: Callable[[NDArray[np.intp]], Floats],
    margins: Callable[[Floats], Floats],
    group: NDArray[np.intp],
    start: Floats,
) -> tuple[Floats, float]:
    """Return the unit vector w with the largest mean over groups of ``min a_i.w``, and a bound."""
    # `take` gives rows (k, m) by number, `margins` gives every ``a_i.w``, `start` (m,) is a vector
    # whose smallest margins make the first working set. The best vector met is returned, and what
    # no vector exceeds but for rounding: infinity where rounding hides it.
    G = int(group.max()) + 1
    best = start / np.linalg.norm(start)
    scores = margins(best)
    value, size = _value(scores, group, G), len(start) + 10
    work = np.unique(np.concatenate([_lowest(scores, group == k, size) for k in range(G)]))
    least = np.inf
    for _ in range(WORKING_SETS):
        A = take(work)
        u = _nearest(A, group[work], G)
        z = A.T @ u
        bound = float(np.linalg.norm(z)) / G  # no unit vector does better on these rows
        if not u.any() or bound <= 1e-15 * np.abs(A).max():
            break
        least = min(least, bound)
        scores = margins(z / np.linalg.norm(z))
        reached = _value(scores, group, G)
        if reached < bound * (1.0 - CLOSE):  # z is a small difference: its equations are sharper
            sharp = _equal_margins(A[u > 0], group[work][u > 0], G)
            sharp_scores = margins(sharp)
            if _value(sharp_scores, group, G) > reached:
                z, scores, reached = sharp, sharp_scores, _value(sharp_scores, group, G)
        if reached > value:
            best, value = z / np.linalg.norm(z), reached
        if value >= bound * (1.0 - CLOSE):
            break
        fresh = [_wrong(scores, group == k, work, size) for k in range(G)]
        kept = work[(u > 0) | (scores[work] < np.median(scores[work]))]
        grown = np.unique(np.concatenate([kept, *fresh]))
        if np.isin(grown, work).all():
            break
        work = grown
    return best, least


def _equal_margins(A: Floats, group: NDArray[np.intp], G: int) -> Floats:
    """Return the unit vector w with one value of ``a_i.w`` within each group of rows A."""
    side = np.where(group == 0, -1.0, 1.0) if G == 2 else np.zeros(len(A))
    w = linalg.lstsq(np.column_stack([A, side]), np.ones(len(A)), lapack_driver="gelsy")[0][:-1]
    return np.asarray(w / (np.linalg.norm(w) or 1.0))


def _value(scores: Floats, group: NDArray[np.intp], G: int) -> float:
    return float(np.mean([scores[group == k].min() for k in range(G)]))


def _lowest(scores: Floats, among: NDArray[np.bool_], size: int) -> NDArray[np.intp]:
    """Return the numbers of the `size` smallest scores among some rows."""
    index = np.flatnonzero(among)
    order = np.argsort(scores[index], kind="stable")[:size]
    return index[order]


def _wrong(
    scores: Floats, among: NDArray[np.bool_], work: NDArray[np.intp], size: int
) -> NDArray[np.intp]:
    """Return the worst rows below what the working set reached, `size` at most."""
    inside = np.zeros(len(scores), dtype=bool)
    inside[work] = True
    reached = scores[among & inside].min()
    return _lowest(scores, among & ~inside & (scores < reached), size)


def _nearest(A: Floats, group: NDArray[np.intp], G: int) -> Floats:
    """Return weights u >= 0, one in each group, of the shortest ``sum u_i a_i``; zeros if stuck."""
    # The sums are asked for by least squares too, so they come out a little below one. With one
    # group that only scales u. With two, unequal sums would tilt the answer; they are equal when
    # the origin lies midway between the hulls, and a few shifts put it there.
    member = (group == np.arange(G)[:, None]).astype(float)  # (G, k)
    side = np.where(group == 0, -1.0, 1.0)[:, None] if G == 2 else np.zeros((len(A), 1))
    target = np.append(np.zeros(A.shape[1]), np.full(G, 16.0))
    u = np.zeros(len(A))
    for _ in range(4):
        scale = np.sqrt(np.einsum("ij,ij->i", A, A).max()) or 1.0
        E = np.vstack([A.T / scale, 16.0 * member])
        try:
            u = np.asarray(nnls(E, target, maxiter=10 * E.shape[1])[0])
        except RuntimeError:
            return np.zeros(len(A))
        total = member @ u
        if not (total > 0).all():
            return np.zeros(len(A))
        u = u / total[group]
        if np.ptp(total) <= 1e-14:
            break
        A = A - side * ((side * A).T @ u / 2.0)
    return u


# The numeric search for a plane: finite Newton steps on the squared hinge.
#
# Minimise ``1/2 sum [1 - a_i.v]_+^2 + lam/2 sum weight (v - v0)^2``. If a plane exists some v
# brings the sum to zero; if none exists the slacks ``[1 - a_i.v]_+`` at the minimum of the sum
# are themselves the weights p >= 0 with ``sum p_i a_i = 0``. Nothing here is trusted:
# `plane_proofs`, `interior_point` and `solve` prove what is found or refuse it.
#
# S. S. Keerthi, D. DeCoste (2005), A modified finite Newton method for fast solution of large
# scale linear SVMs.

DIRECT = 1200  # unknowns up to which a Newton system is factorised
STEPS = 60
CG_STEPS = 400
HESSIAN_WORK = 2e10  # multiplications in a Hessian that is formed


def newton(
    rows: HomogeneousRows,
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
    rows: HomogeneousRows, active: np.ndarray, lam: float, weight: Floats, gradient: Floats
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


def slacks(rows: HomogeneousRows, v: Floats) -> Floats:
    """Return ``[1 - a.v]_+``, the weights a minimum of the squared hinge offers as proof."""
    return np.maximum(1.0 - rows.margins(v), 0.0)
