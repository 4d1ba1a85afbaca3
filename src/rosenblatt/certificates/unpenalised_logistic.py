"""Logistic regression of two classes without a penalty.

Then masses must cancel in every column: ``Z'(a y) = 0``, ``Z = [X~, 1]``. The natural masses are
projected onto that, in the metric of the second derivatives, and divided until ``a <= c`` again.
The equations hold to rounding only, so the bound is stated for coefficients up to a hundred times
as long: rounding times their length is allowed for.
"""

import numpy as np
from scipy.special import entr, expit, xlogy

from .binary_logistic import BinaryLogistic, Bracket
from .rounded_matrix import UNIT, Floats, total
from .softmax import MOST_UNKNOWNS, SoftmaxLogistic, curvature, probabilities, pull

FURTHEST = 100.0
MOST_COLUMNS = 1500
MOST_STEPS = 25


def bracket(problem: BinaryLogistic, w: Floats, b: float, tol: float) -> Bracket:
    """How far coefficients w and intercept b, of columns as centred, are from the best."""
    z, rounding = problem.scores(w)
    primal = problem.value(w, z + b, rounding + 4 * UNIT * abs(b))
    if problem.table.d > MOST_COLUMNS:
        return Bracket(0.0, np.inf)
    length = float(np.linalg.norm(np.append(w, b)))
    lowest, highest = primal, 0.0  # losses are not negative
    scale = float(np.sum(problem.c)) * np.log(2)
    z = z + problem.best_bias(z)
    value = np.inf
    for _ in range(MOST_STEPS):
        reach = max(length, float(np.linalg.norm(w)))
        highest = max(highest, _dual(problem, z, FURTHEST * reach))
        if primal - highest <= max(2 * (primal - lowest), 0.1 * tol * scale):
            break
        step, shift = _newton_step(problem, z)
        along = problem.scores(step)[0] + shift
        for halving in range(10):
            t = 0.5**halving
            reached = problem.value(w, z + t * along, 0 * z)
            if reached < value:
                break
        else:
            break
        w, z, value = w + t * step, z + t * along, reached
        lowest = min(lowest, value)
    return Bracket(max(primal - lowest, 0.0), max(primal - highest, 0.0))


def least_value(problem: BinaryLogistic, w: Floats, b: float, tol: float) -> float:
    """What the objective of no coefficients up to a hundred times as long is below."""
    # Any intercept will do: it is where the bracket is looked for, and what it is taken from.
    centre = float(problem.table.centre(w, b)[0])
    z, _ = problem.scores(w)
    # The bracket's upper end is a distance from a value that is not below the true one.
    value = problem.value(w, z + centre, 0 * z)
    return max(0.0, value - bracket(problem, w, centre, tol).most)


def _dual(problem: BinaryLogistic, z: Floats, radius: float) -> float:
    """D at the projected masses, over coefficients within a radius; -inf if they are not masses."""
    a = problem.c * expit(-problem.y * z)
    h = np.maximum(a * (1 - a / problem.c), 1e-300)
    for _ in range(2):  # the second time for the rounding of the first
        residual, _ = _slopes(problem, a)
        a = a - problem.y * h * _design_times(problem, _solve(problem, h, residual))
    if (a < -UNIT * problem.c).any():
        return -np.inf
    a = np.maximum(a, 0.0)  # rounding of what was nothing; the equations are looked at below
    a = a / max(1.0, float(np.max(a / problem.c)) * (1 + 4 * UNIT))
    residual, rounding = _slopes(problem, a)
    share = a / problem.c
    value, more = total(problem.c * (entr(share) + entr(1 - share)))
    off = float(np.linalg.norm(np.abs(residual) + rounding)) * radius
    return value - 4 * more - 64 * UNIT * float(np.sum(problem.c)) - off


def _slopes(problem: BinaryLogistic, a: Floats) -> tuple[Floats, Floats]:
    """``Z'(a y)`` and its rounding."""
    masses = a * problem.y
    slopes, rounding = problem.table.transposed(masses)
    if not problem.table.centred:
        return slopes, rounding
    level, more = total(masses)
    return np.append(slopes, level), np.append(rounding, more)


def _design_times(problem: BinaryLogistic, v: Floats) -> Floats:
    """``Z v``."""
    if not problem.table.centred:
        return problem.scores(v)[0]
    return np.asarray(problem.scores(v[:-1])[0] + v[-1])


def _solve(problem: BinaryLogistic, h: Floats, right: Floats) -> Floats:
    """The shortest v with ``Z'HZ v = right``, columns scaled to one."""
    table = problem.table
    d = table.d
    gram = table.scatter(np.arange(d), h)
    if table.centred:
        pull = table.transposed(h)[0]
        gram = np.block([[gram, pull[:, np.newaxis]], [pull[np.newaxis, :], h.sum()]])
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    inverse = np.linalg.pinv(gram / np.outer(scale, scale), rcond=1e-13, hermitian=True)
    return np.asarray(inverse @ (right / scale) / scale)


def _newton_step(problem: BinaryLogistic, z: Floats) -> tuple[Floats, float]:
    """The changes of w and b."""
    a = problem.c * expit(-problem.y * z)
    h = np.maximum(a * (1 - a / problem.c), 1e-14 * problem.c)
    v = _solve(problem, h, _slopes(problem, a)[0])
    return (v[:-1], float(v[-1])) if problem.table.centred else (v, 0.0)


# Logistic regression of several classes without a penalty.
#
# Then masses must cancel in every column and class: ``sum c (e_y - p) z' = 0``, ``z = (x~, 1)``.
# One Newton step changes the probabilities, to first order, by just what is missing: they are
# taken as the dual point if none is negative. The equations hold to rounding only, so the bound
# is stated for coefficients up to a hundred times as long, as with two classes.


def softmax_bracket(problem: SoftmaxLogistic, W: Floats, b: Floats, tol: float) -> Bracket:
    """How far coefficients W (K, d) and intercepts b, of columns as centred, are from the best."""
    z, rounding = problem.scores(W)
    z = z + b
    primal = problem.value(W, z, rounding + 4 * UNIT * np.abs(b))
    if (problem.table.d + 1) * problem.K > MOST_UNKNOWNS:
        return Bracket(0.0, np.inf)
    length = float(np.linalg.norm(np.column_stack([W, b])))
    lowest, highest, value = primal, 0.0, np.inf  # losses are not negative
    scale = float(np.sum(problem.c)) * np.log(problem.K)
    for _ in range(MOST_STEPS):
        inverse = _inverse_curvature(problem, z)
        highest = max(highest, _softmax_dual(problem, z, inverse, FURTHEST * length))
        if primal - highest <= max(2 * (primal - lowest), 0.1 * tol * scale):
            break
        along = _moved(problem, -_softmax_slopes(problem, pull(problem, z))[0], inverse)
        for halving in range(10):
            t = 0.5**halving
            reached = problem.value(0 * W, z + t * along, 0.0)
            if reached < value:
                break
        else:
            break
        z, value = z + t * along, reached
        lowest = min(lowest, value)
    return Bracket(max(primal - lowest, 0.0), max(primal - highest, 0.0))


def _softmax_dual(problem: SoftmaxLogistic, z: Floats, inverse: Floats, radius: float) -> float:
    """D at the corrected probabilities; -inf if one is negative."""
    p = probabilities(z)
    own = np.arange(len(p)), problem.codes
    q = np.array(p)
    for _ in range(3):  # again, for the rounding of the first
        force = q * problem.c[:, np.newaxis]
        force[own] -= problem.c
        moved = _moved(problem, -_softmax_slopes(problem, force)[0], inverse)
        q += p * (moved - (p * moved).sum(axis=1, keepdims=True))
    if (q < 0).any():
        return -np.inf
    q /= q.sum(axis=1, keepdims=True)
    force = q * problem.c[:, np.newaxis]
    force[own] -= problem.c
    residual, rounding = _softmax_slopes(problem, force)
    value, more = total((-problem.c[:, np.newaxis] * xlogy(q, q)).ravel())
    off = float(np.linalg.norm(np.abs(residual) + rounding)) * radius
    return value - 4 * more - 64 * UNIT * problem.K * float(np.sum(problem.c)) - off


def _softmax_slopes(problem: SoftmaxLogistic, masses: Floats) -> tuple[Floats, Floats]:
    """``sum masses z'`` (K, d + 1) and its rounding."""
    V, rounding = problem.table.transposed(masses)
    if not problem.table.centred:
        return V.T, rounding.T
    level = masses.sum(axis=0)
    more = 64 * UNIT * np.abs(masses).sum(axis=0)
    return np.column_stack([V.T, level]), np.column_stack([rounding.T, more])


def _moved(problem: SoftmaxLogistic, right: Floats, inverse: Floats) -> Floats:
    """The change of scores (n, K) that the Newton step for a right-hand side (K, d + 1) makes."""
    V = (inverse @ right.ravel()).reshape(right.shape)
    d = problem.table.d
    moved = problem.table.roughly_times(np.ascontiguousarray(V[:, :d].T))
    return moved + V[:, d] if problem.table.centred else moved


def _inverse_curvature(problem: SoftmaxLogistic, z: Floats) -> Floats:
    """The inverse of the second derivatives, where there is one: not for shifts of all classes."""
    H = curvature(problem, z)
    H = H.reshape(H.shape[0] * H.shape[1], -1)
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    inverse = np.linalg.pinv(H / np.outer(scale, scale), rcond=1e-12, hermitian=True)
    return np.asarray(inverse / np.outer(scale, scale))
