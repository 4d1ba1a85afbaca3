"""Newton's method on samples first: most of the way is as well seen from some of the rows."""

from collections.abc import Generator, Iterator
from itertools import islice

import numpy as np

from .lbfgs import lbfgs
from .logistic_problem import Array, Inverse, LogisticProblem, Place
from .newton import newton_cg

ROWS_PER_PARAMETER = 10  # in the first sample, of one class; in the last, of all
GROWTH = 16
# A sample is one row in so many; in fewer, if that is less than the parameters ask for.
USUAL_SHARE, LARGEST_SHARE = 16, 4
ROWS_PER_CURVATURE = 30  # for each parameter
STEPS = 15  # with one curvature; more are a sign that it has changed, or was seen on too few rows
MOST_LOOKS = 5  # at the curvature of samples
MORE_ROWS = 4  # times as many, for the next
LEAST_SEEN = 1e-8  # of an objective: if it may fall by no more, single precision tells little
CHEAP_COLUMNS = 50  # with so many the curvature of all rows takes as long as about ten steps


def sampled_newton(problem: LogisticProblem, place: Place) -> Iterator[Place]:
    """L-BFGS on all rows, begun at the optimum of a sample and with the curvature of a sample."""
    # The optimum of m rows is off by about p / (2 m) in mean loss, p parameters; the next sample is
    # several times larger and needs a step or two from there. Weights to begin at that say
    # something already take the place of samples. What single precision tells of the way down takes
    # half the time; the last of it is gone in double precision. What does not end by then goes on
    # by conjugate gradients, for which ties between classes are no hindrance.
    point, rough = place.point, problem.rough() if place.is_rough else problem
    if not np.any(point) or not place.objective < problem.zero():
        for m in sizes(problem):
            point = settled(rough.sample(m), point, m)
        start = rough.at(point)
        place = start if start.objective < place.objective else place  # rows may be in odd order
    yield place
    looks = islice(sizes_of_curvature(problem), MOST_LOOKS)
    place, stuck = yield from quasi_newton(problem, place, rough, looks)
    if rough is not problem:
        place, stuck = yield from quasi_newton(problem, problem.exactly(place), problem, looks)
    if not stuck:
        yield from newton_cg(problem, place)


def quasi_newton(
    problem: LogisticProblem, place: Place, passes: LogisticProblem, looks: Iterator[int]
) -> Generator[Place, None, tuple[Place, bool]]:
    """L-BFGS by passes over the problem or its rough twin, until these tell no more."""
    # With a curvature that is wrong by about sqrt(p / m), each pass over all rows divides the gap
    # by m / p. It is looked at again after some steps: columns of few ones have a curvature that
    # only more rows show, and nearer by: `looks` are of so many. Returns the last place, and
    # whether no step leads down from it.
    for m in looks:
        before = place
        inverse = curvature_seen(problem, passes, place, m)
        for place in islice(lbfgs(passes, place, inverse), STEPS):  # noqa: B020
            yield place
            if place.is_rough and _fall(place, inverse) <= LEAST_SEEN * place.objective:
                return place, False
        if place is before:
            return place, True
    return place, False


def curvature_seen(
    problem: LogisticProblem, passes: LogisticProblem, place: Place, m: int
) -> Inverse:
    """The inverse curvature at a place, as m rows show it."""
    if m >= problem.n:
        return problem.inverse_curvature(problem.exactly(place))
    part = passes.sample(m)
    return part.inverse_curvature(part.at(place.point))


def begun(problem: LogisticProblem, point: Array) -> Place:
    """Where to begin: as single precision sees it, unless numbers are out of its range."""
    place = problem.rough().at(point)
    seen = np.isfinite(place.objective) and np.isfinite(place.gradient_norm)
    return place if seen else problem.at(point)


def has_many_rows(problem: LogisticProblem) -> bool:
    """Whether a sample is large enough to begin at."""
    return bool(problem.n // USUAL_SHARE >= ROWS_PER_PARAMETER * (problem.d + 1))


def sizes(problem: LogisticProblem) -> list[int]:
    """Rows of the samples to begin at, the smallest first."""
    m, sizes = _between(problem, ROWS_PER_PARAMETER), []
    while m >= ROWS_PER_PARAMETER * (problem.d + 1):
        sizes.append(m)
        m //= GROWTH
    return sizes[::-1]


def sizes_of_curvature(problem: LogisticProblem) -> Iterator[int]:
    """Rows of the samples that show the curvature, one after the other."""
    m = _between(problem, ROWS_PER_CURVATURE)
    most = max(m, problem.n * CHEAP_COLUMNS // max(problem.d, CHEAP_COLUMNS))
    while True:
        yield m
        m = min(m * MORE_ROWS, most)


def _between(problem: LogisticProblem, per_parameter: int) -> int:
    """So many rows for each parameter, but neither too few of all nor too many."""
    n, enough = int(problem.n), per_parameter * int(np.prod(problem.shape))
    return max(n // USUAL_SHARE, min(n // LARGEST_SHARE, enough))


def settled(part: LogisticProblem, point: Array, m: int) -> Array:
    """The optimum of a sample, as well as a sample can tell."""
    place = part.at(point)
    enough = 0.1 * point.size / m * float(part.c.sum())
    for _ in range(MOST_LOOKS):
        inverse, before = part.inverse_curvature(place), place
        if _fall(place, inverse) <= enough:  # by a curvature seen elsewhere it may seem so
            break
        for place in islice(lbfgs(part, place, inverse), STEPS):  # noqa: B020
            if _fall(place, inverse) <= enough:
                break
        if place is before:
            break
    return place.point


def _fall(place: Place, inverse: Inverse) -> float:
    """Twice how far the objective falls to the bottom of the quadratic that fits here."""
    return float(np.vdot(place.gradient, inverse(place.gradient)))
