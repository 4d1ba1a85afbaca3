"""Newton's method on samples first: most of the way is as well seen from some of the rows."""

from collections.abc import Callable, Iterator

import numpy as np

from .lbfgs import lbfgs
from .problem import Array, Place, Problem

ROWS_PER_PARAMETER = 10  # in the first sample
GROWTH = 16
LARGEST_SHARE = 16  # the last sample is at most one row in so many


def sampled_newton(problem: Problem, place: Place) -> Iterator[Place]:
    """L-BFGS on all rows, begun at the optimum of a sample and with the curvature seen there.

    The optimum of m rows is off by about p / (2 m) in mean loss, p parameters; the next sample is
    several times larger and needs a step or two from there. With the last curvature, wrong by
    about sqrt(p / m), each pass over all rows divides the gap by m / p.
    """
    point, inverse = place.point, None
    for m in sizes(problem):
        point, inverse = settled(problem.sample(m), point, m)
    start = problem.at(point)
    place = start if start.objective < place.objective else place  # rows may be in an odd order
    yield place
    yield from lbfgs(problem, place, inverse)


def sizes(problem: Problem) -> list[int]:
    """Rows of the samples, the smallest first."""
    p = problem.d + 1
    m, sizes = problem.n // LARGEST_SHARE, []
    while m >= ROWS_PER_PARAMETER * p:
        sizes.append(m)
        m //= GROWTH
    return sizes[::-1]


def settled(part: Problem, point: Array, m: int) -> tuple[Array, Callable[[Array], Array]]:
    """The optimum of a sample, as well as a sample can tell, and the inverse curvature there."""
    place = part.at(point)
    inverse = part.inverse_curvature(place)
    enough = 0.1 * point.size / m * float(part.c.sum())
    for step, place in enumerate(lbfgs(part, place, inverse)):  # noqa: B020
        fall = float(np.vdot(place.gradient, inverse(place.gradient)))
        if fall <= enough or step == 50:
            break
    return place.point, part.inverse_curvature(place)
