"""Coordinate descent on Newton's quadratic.

Each coordinate has an exact step even under an L1 penalty, which leaves many weights at 0; only the
coordinates that can move are visited.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from . import logistic_loops
from .logistic_problem import Array, Iterate, PenalizedProblem
from .newton import backtrack, factored

MAX_CHOSEN = 500  # coordinates moved in one iteration
MAX_SWEEPS = 200
MIN_SWEEPS = 5  # between leaps, which cost as much as a sweep for every few coordinates
COORDINATES_PER_SWEEP = 10
MAX_LEAPS = 50
SMALL_FALL = 1e-6  # of a sweep, as a share of the first


def coordinate(problem: PenalizedProblem, iterate: Iterate) -> Iterator[Iterate]:
    """Minimize the quadratic over the coordinates that can move, step there, and repeat."""
    while True:
        chosen = movable(problem, iterate)
        direction, slope = descend(problem, iterate, chosen)
        new = backtrack(problem, iterate, direction, slope)
        if new is None:
            return
        iterate = new
        yield iterate


def movable(problem: PenalizedProblem, iterate: Iterate) -> NDArray[np.intp]:
    """Return the coordinates that can move; of very many, those with the largest subgradients."""
    point = iterate.point
    pull = np.abs(problem.subgradient(point, iterate.gradient))
    can_move = (pull > 0) | (point != 0)
    can_move[-1] = problem.fit_intercept
    chosen = np.flatnonzero(can_move)
    if len(chosen) > MAX_CHOSEN:
        order = np.argsort(-pull.ravel()[chosen], kind="stable")
        chosen = np.sort(chosen[order[:MAX_CHOSEN]])
    return chosen


def descend(
    problem: PenalizedProblem, iterate: Iterate, chosen: NDArray[np.intp]
) -> tuple[Array, float]:
    """Return the step to the minimum of the quadratic over some coordinates, and its slope."""
    H = problem.hessian(iterate, chosen)
    old, slope = iterate.point.ravel()[chosen], iterate.gradient.ravel()[chosen]
    n_weights = iterate.point[:-1].size
    l1 = np.where(chosen < n_weights, problem.l1, 0.0)
    w, rest = old.copy(), slope.copy()
    first = logistic_loops.quadratic_sweep(H, l1, w, rest)
    between = max(MIN_SWEEPS, len(chosen) // COORDINATES_PER_SWEEP)
    for sweep in range(MAX_SWEEPS):
        if logistic_loops.quadratic_sweep(H, l1, w, rest) <= SMALL_FALL * first:
            break
        if (sweep + 1) % between == 0:
            leap(H, l1, w, rest)
    direction = np.zeros(iterate.point.size)
    direction[chosen] = w - old
    fall = float(slope @ (w - old) + l1 @ (np.abs(w) - np.abs(old)))
    return direction.reshape(iterate.point.shape), fall


def leap(H: Array, l1: Array, w: Array, rest: Array) -> None:
    """Go to the minimum over the nonzero weights, dropping those that change sign.

    Reads H (m, m) and l1 (m,); changes w (m,) and `rest` (m,), the slope of the quadratic at w.
    """
    # As long as no sign changes the L1 penalty is linear, and the minimum solves a linear system.
    # Sweeps alone converge slowly where columns are nearly equal.
    for _ in range(MAX_LEAPS):
        kept = np.flatnonzero((w != 0) | (l1 == 0))
        inner, old = H[np.ix_(kept, kept)], w[kept]
        pull = rest[kept] + l1[kept] * np.sign(old)
        move = -factored(inner)(pull)
        if not pull @ move < 0 or not np.all(np.isfinite(move)):
            return
        new = before_signs_change(inner, pull, old, move, l1[kept] > 0)
        rest += H[:, kept] @ (new - old)
        w[kept] = new
        if np.all(np.sign(new) == np.sign(old)):
            return


def before_signs_change(
    H: Array, pull: Array, old: Array, move: Array, signed: NDArray[np.bool_]
) -> Array:
    """Return the lower of two points: after the move, clipped at 0, or at the first 0."""
    turning = signed & (old * move < 0)
    crossing = np.full(len(old), np.inf)
    crossing[turning] = -old[turning] / move[turning]

    def value(new: Array) -> float:
        v = new - old
        return float(pull @ v + 0.5 * v @ H @ v)

    first = min(1.0, float(crossing.min(initial=np.inf)))
    points = [np.where(crossing <= step, 0.0, old + step * move) for step in (1.0, first)]
    return min(points, key=value)
