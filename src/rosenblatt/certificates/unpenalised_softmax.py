"""Logistic regression of several classes without a penalty.

Then masses must cancel in every column and class: ``sum c (e_y - p) z' = 0``, ``z = (x~, 1)``. One
Newton step changes the probabilities, to first order, by just what is missing: they are taken as
the dual point if none is negative. The equations hold to rounding only, so the bound is stated for
coefficients up to a hundred times as long, as with two classes.
"""

import numpy as np
from scipy.special import xlogy

from .binary_logistic import Bracket
from .rounded_matrix import UNIT, Floats, total
from .softmax import MOST_UNKNOWNS, SoftmaxLogistic, curvature, probabilities, pull
from .unpenalised_logistic import FURTHEST

MOST_STEPS = 25


def bracket(problem: SoftmaxLogistic, W: Floats, b: Floats, tol: float) -> Bracket:
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
        highest = max(highest, _dual(problem, z, inverse, FURTHEST * length))
        if primal - highest <= max(2 * (primal - lowest), 0.1 * tol * scale):
            break
        along = _moved(problem, -_slopes(problem, pull(problem, z))[0], inverse)
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


def _dual(problem: SoftmaxLogistic, z: Floats, inverse: Floats, radius: float) -> float:
    """D at the corrected probabilities; -inf if one is negative."""
    p = probabilities(z)
    own = np.arange(len(p)), problem.codes
    q = np.array(p)
    for _ in range(3):  # again, for the rounding of the first
        force = q * problem.c[:, np.newaxis]
        force[own] -= problem.c
        moved = _moved(problem, -_slopes(problem, force)[0], inverse)
        q += p * (moved - (p * moved).sum(axis=1, keepdims=True))
    if (q < 0).any():
        return -np.inf
    q /= q.sum(axis=1, keepdims=True)
    force = q * problem.c[:, np.newaxis]
    force[own] -= problem.c
    residual, rounding = _slopes(problem, force)
    value, more = total((-problem.c[:, np.newaxis] * xlogy(q, q)).ravel())
    off = float(np.linalg.norm(np.abs(residual) + rounding)) * radius
    return value - 4 * more - 64 * UNIT * problem.K * float(np.sum(problem.c)) - off


def _slopes(problem: SoftmaxLogistic, masses: Floats) -> tuple[Floats, Floats]:
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
