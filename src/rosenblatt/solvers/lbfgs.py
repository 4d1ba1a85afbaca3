"""L-BFGS: Newton's method with a curvature learnt from the last few steps."""

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from .line_search import bisect
from .logistic_objective import Array, Place, Problem

MEMORY = 10

Pair = tuple[Array, Array]  # how the point moved, and how the gradient changed with it


def lbfgs(
    problem: Problem, place: Place, inverse: Callable[[Array], Array] | None = None
) -> Iterator[Place]:
    """Steps along minus the gradient times an inverse curvature that the last steps correct.

    `inverse` is the first guess of it; by default the inverse diagonal of the second derivative,
    so that the scale of the features does not matter.
    """
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
