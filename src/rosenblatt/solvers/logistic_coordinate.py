"""Coordinate descent: Newton's quadratic, lowered along one coordinate at a time.

Each coordinate has an exact step even under an L1 penalty, which leaves many weights at 0; only the
coordinates that can move are looked at.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops

from .problem import Array, Place, Problem
from .search import backtrack

MOST_CHOSEN = 500  # coordinates moved in one iteration
MOST_SWEEPS = 200
LEFT = 1e-3  # of what the first sweep gained, the last gains less than this


def coordinate(problem: Problem, place: Place) -> Iterator[Place]:
    """Rounds of exact steps on the quadratic of the coordinates that matter, until it is low."""
    while True:
        chosen = worst(problem, place)
        direction, slope = lowered(problem, place, chosen)
        new = backtrack(problem, place, direction, slope)
        if new is None:
            return
        place = new
        yield place


def worst(problem: Problem, place: Place) -> NDArray[np.intp]:
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


def lowered(problem: Problem, place: Place, chosen: NDArray[np.intp]) -> tuple[Array, float]:
    """The way to the lowest point of the quadratic over some coordinates, and its first fall."""
    H = problem.hessian(place, chosen)
    old, slope = place.point.ravel()[chosen], place.gradient.ravel()[chosen]
    n_weights = place.point[:-1].size
    l1 = np.where(chosen < n_weights, problem.l1, 0.0)
    w, rest = old.copy(), slope.copy()
    first = loops.logistic_coordinate.quadratic_sweep(H, l1, w, rest)
    for _ in range(MOST_SWEEPS):
        if loops.logistic_coordinate.quadratic_sweep(H, l1, w, rest) <= LEFT**2 * first:
            break
    direction = np.zeros(place.point.size)
    direction[chosen] = w - old
    fall = float(slope @ (w - old) + l1 @ (np.abs(w) - np.abs(old)))
    return direction.reshape(place.point.shape), fall
