"""Coordinate descent: Newton's quadratic, lowered along one coordinate at a time.

Each coordinate has an exact step even under an L1 penalty, which leaves many weights at 0; only the
coordinates that can move are looked at.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from . import coordinate_descent_loops
from .curvature_factors import factored
from .logistic_problem import Array, LogisticProblem, Place
from .newton import backtrack

MOST_CHOSEN = 500  # coordinates moved in one iteration
MOST_SWEEPS = 200
FEWEST_SWEEPS = 5  # between leaps, which cost as much as a sweep for every few coordinates
COORDINATES_PER_SWEEP = 10
MOST_LEAPS = 50  # one after the other
LEFT = 1e-3  # of what the first sweep gained, the last gains less than this


def coordinate(problem: LogisticProblem, place: Place) -> Iterator[Place]:
    """Rounds of exact steps on the quadratic of the coordinates that matter, until it is low."""
    while True:
        chosen = worst(problem, place)
        direction, slope = lowered(problem, place, chosen)
        new = backtrack(problem, place, direction, slope)
        if new is None:
            return
        place = new
        yield place


def worst(problem: LogisticProblem, place: Place) -> NDArray[np.intp]:
    """The coordinates that are not at rest; of very many, those furthest from it."""
    point = place.point
    pull = np.abs(problem.subgradient(point, place.gradient))
    movable = (pull > 0) | (point != 0)
    movable[-1] = problem.fit_intercept
    chosen = np.flatnonzero(movable)
    if len(chosen) > MOST_CHOSEN:
        order = np.argsort(-pull.ravel()[chosen], kind="stable")
        chosen = np.sort(chosen[order[:MOST_CHOSEN]])
    return chosen


def lowered(
    problem: LogisticProblem, place: Place, chosen: NDArray[np.intp]
) -> tuple[Array, float]:
    """The way to the lowest point of the quadratic over some coordinates, and its first fall."""
    H = problem.hessian(place, chosen)
    old, slope = place.point.ravel()[chosen], place.gradient.ravel()[chosen]
    n_weights = place.point[:-1].size
    l1 = np.where(chosen < n_weights, problem.l1, 0.0)
    w, rest = old.copy(), slope.copy()
    first = coordinate_descent_loops.quadratic_sweep(H, l1, w, rest)
    between = max(FEWEST_SWEEPS, len(chosen) // COORDINATES_PER_SWEEP)
    for sweep in range(MOST_SWEEPS):
        if coordinate_descent_loops.quadratic_sweep(H, l1, w, rest) <= LEFT**2 * first:
            break
        if (sweep + 1) % between == 0:
            leap(H, l1, w, rest)
    direction = np.zeros(place.point.size)
    direction[chosen] = w - old
    fall = float(slope @ (w - old) + l1 @ (np.abs(w) - np.abs(old)))
    return direction.reshape(place.point.shape), fall


def leap(H: Array, l1: Array, w: Array, rest: Array) -> None:
    """Go to the minimum over the weights that are not zero, dropping those that change sign."""
    # As long as no sign changes the L1 penalty is linear, and the minimum solves a system: columns
    # that say nearly the same, which sweeps take turns with for ever, are no hindrance. `rest` is
    # the slope of the quadratic at w; both are changed.
    for _ in range(MOST_LEAPS):
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
    """The lower of two points: the whole move, what is past 0 set to it; or up to the first 0."""
    turning = signed & (old * move < 0)
    crossing = np.full(len(old), np.inf)
    crossing[turning] = -old[turning] / move[turning]

    def value(new: Array) -> float:
        v = new - old
        return float(pull @ v + 0.5 * v @ H @ v)

    first = min(1.0, float(crossing.min(initial=np.inf)))
    points = [np.where(crossing <= step, 0.0, old + step * move) for step in (1.0, first)]
    return min(points, key=value)
