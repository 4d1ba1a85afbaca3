"""How far to go along a direction."""

import numpy as np

from .logistic_objective import Array, Place, Problem

FALL = 1e-4  # of the fall that the slope promises, at least this share
FLATTER = 0.9  # the slope must have become less than this share of what it was
MOST_TRIALS = 40


def backtrack(problem: Problem, place: Place, direction: Array, slope: float) -> Place | None:
    """The first of the steps 1, 1/2, 1/4, ... that lowers the objective enough; None if none does.

    `slope` is what the objective loses at first for a step of 1, a negative number.
    """
    step, allowance = 1.0, problem.rounding * abs(place.objective)
    for _ in range(MOST_TRIALS):
        new = problem.at(place.point + step * direction)
        if new.objective <= place.objective + FALL * step * slope + allowance:
            return new if _moved(place, new) else None
        step *= 0.5
    return None


def bisect(problem: Problem, place: Place, direction: Array) -> Place | None:
    """A step after which the objective is lower and the slope flatter, by halving and doubling.

    Both together (Wolfe's conditions) make a pair of points that tells of the curvature.
    """
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


def _moved(place: Place, new: Place) -> bool:
    """Whether rounding has left anything of a step."""
    return new.objective < place.objective or new.gradient_norm < place.gradient_norm
