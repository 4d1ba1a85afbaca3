"""L-BFGS: Newton's method with a curvature learnt from the last few steps."""

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from .logistic_problem import Array, LogisticProblem, Place
from .newton import FALL, MOST_TRIALS

MEMORY = 10
FLATTER = 0.9  # after a step the slope must be less than this share of what it was

Pair = tuple[Array, Array]  # how the point moved, and how the gradient changed with it


def lbfgs(
    problem: LogisticProblem, place: Place, inverse: Callable[[Array], Array] | None = None
) -> Iterator[Place]:
    """Steps along minus the gradient times an inverse curvature that the last steps correct."""
    # `inverse` is the first guess of it; by default the inverse diagonal of the second derivative,
    # so that the scale of the features does not matter.
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    if inverse is None:
        inverse = problem.inverse_diagonal(place)
    while True:
        new = bisect(problem, place, -corrected(place.gradient, pairs, inverse))
        if new is None and pairs:
            pairs.clear()  # what was learnt far away may mislead here
            continue
        if new is None:
            return
        moved, change = new.point - place.point, new.gradient - place.gradient
        if np.vdot(moved, change) > 1e-12 * np.linalg.norm(moved) * np.linalg.norm(change):
            pairs.append((moved, change))
        place = new
        yield place


def bisect(problem: LogisticProblem, place: Place, direction: Array) -> Place | None:
    """A step after which the objective is lower and the slope flatter, by halving and doubling."""
    # Both together (Wolfe's conditions) make a pair of points that tells of the curvature.
    slope = float(np.vdot(place.gradient, direction))
    if not slope < 0:
        return None
    allowance = problem.rounding * abs(place.objective)
    step, low, high = 1.0, 0.0, np.inf
    for _ in range(MOST_TRIALS):
        new = problem.at(place.point + step * direction)
        if not new.objective <= place.objective + FALL * step * slope + allowance:
            high = step
        elif np.vdot(new.gradient, direction) < FLATTER * slope:
            low = step
        else:  # the slope goes on telling where objectives differ by rounding only
            return new if np.any(new.point != place.point) else None
        step = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return None


def corrected(gradient: Array, pairs: deque[Pair], inverse: Callable[[Array], Array]) -> Array:
    """The inverse curvature times the gradient, by the two loops of Nocedal (1980)."""
    v = gradient.copy()
    weights = []
    for moved, change in reversed(pairs):
        weight = np.vdot(moved, v) / np.vdot(moved, change)
        v -= weight * change
        weights.append(weight)
    v = inverse(v)
    if pairs:  # the guess, in the scale of the last step
        moved, change = pairs[-1]
        v *= np.vdot(moved, change) / np.vdot(change, inverse(change))
    for (moved, change), weight in zip(pairs, reversed(weights), strict=True):
        v += (weight - np.vdot(change, v) / np.vdot(moved, change)) * moved
    return v
