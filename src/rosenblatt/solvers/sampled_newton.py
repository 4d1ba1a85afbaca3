"""Newton's method on samples first: most of the way looks the same on some of the rows."""

from collections.abc import Generator, Iterator
from itertools import islice

import numpy as np

from .lbfgs import lbfgs
from .logistic_problem import Array, Iterate, LogisticProblem
from .newton import Inverse, inverse_hessian, newton_cg

ROWS_PER_PARAMETER = 10  # in the first sample, of one class; in the last, of all
GROWTH = 16  # from one sample to the next
# The last sample is one row in so many; in fewer, if that is less than the parameters need.
USUAL_SHARE, LARGEST_SHARE = 16, 4
ROWS_PER_CURVATURE = 30  # for each parameter
MAX_STEPS = 15  # with one estimate of the Hessian
MAX_ESTIMATES = 5
MORE_ROWS = 4  # times as many, for the next estimate
LEAST_FLOAT32_FALL = 1e-8  # relative: if the objective may fall by less, float32 is too coarse
CHEAP_COLUMNS = 50  # with so many the Hessian of all rows costs about ten steps


def sampled_newton(problem: LogisticProblem, iterate: Iterate) -> Iterator[Iterate]:
    """Run L-BFGS on all rows, from the optimum of a sample and with the Hessian of a sample."""
    # The optimum of m rows is off by about p / (2 m) in mean loss, p parameters; the next sample is
    # several times larger and needs a step or two from there. A warm start that is better than zero
    # replaces the samples. Single precision takes half the time of double, which makes the last
    # steps. What has not converged by then is left to conjugate gradients, which handle the blocks
    # that connect classes.
    point, coarse = iterate.point, problem.as_float32() if iterate.is_float32 else problem
    if not np.any(point) or not iterate.objective < problem.zero():
        for m in sample_sizes(problem):
            point = _sample_optimum(coarse.sample(m), point, m)
        start = coarse.at(point)
        iterate = start if start.objective < iterate.objective else iterate  # rows may be sorted
    yield iterate
    sizes = islice(hessian_sizes(problem), MAX_ESTIMATES)
    iterate, stuck = yield from _quasi_newton(problem, iterate, coarse, sizes)
    if coarse is not problem:
        iterate, stuck = yield from _quasi_newton(
            problem, problem.in_float64(iterate), problem, sizes
        )
    if not stuck:
        yield from newton_cg(problem, iterate)


def _quasi_newton(
    problem: LogisticProblem, iterate: Iterate, coarse: LogisticProblem, sizes: Iterator[int]
) -> Generator[Iterate, None, tuple[Iterate, bool]]:
    """Run L-BFGS on `coarse`; return the last iterate, and whether no step leads down from it."""
    # With a Hessian that is wrong by about sqrt(p / m), each pass over all rows divides the gap by
    # m / p. It is estimated anew after some steps, from more rows: columns of few ones need them.
    for m in sizes:
        before = iterate
        inverse = _inverse_hessian(problem, coarse, iterate, m)
        for iterate in islice(lbfgs(coarse, iterate, inverse), MAX_STEPS):  # noqa: B020
            yield iterate
            least = LEAST_FLOAT32_FALL * iterate.objective
            if iterate.is_float32 and _fall(iterate, inverse) <= least:
                return iterate, False
        if iterate is before:
            return iterate, True
    return iterate, False


def _inverse_hessian(
    problem: LogisticProblem, coarse: LogisticProblem, iterate: Iterate, m: int
) -> Inverse:
    """Return the inverse Hessian at an iterate, estimated from m rows."""
    if m >= problem.n:
        return inverse_hessian(problem, problem.in_float64(iterate))
    part = coarse.sample(m)
    return inverse_hessian(part, part.at(iterate.point))


def float32_start(problem: LogisticProblem, point: Array) -> Iterate:
    """Return the first iterate in single precision, unless numbers are out of its range."""
    iterate = problem.as_float32().at(point)
    in_range = np.isfinite(iterate.objective) and np.isfinite(iterate.gradient_norm)
    return iterate if in_range else problem.at(point)


def has_many_rows(problem: LogisticProblem) -> bool:
    """Whether a sample is large enough to start from."""
    return bool(problem.n // USUAL_SHARE >= ROWS_PER_PARAMETER * (problem.d + 1))


def sample_sizes(problem: LogisticProblem) -> list[int]:
    """Return the numbers of rows of the first samples, in increasing order."""
    m, sizes = _share_of_rows(problem, ROWS_PER_PARAMETER), []
    while m >= ROWS_PER_PARAMETER * (problem.d + 1):
        sizes.append(m)
        m //= GROWTH
    return sizes[::-1]


def hessian_sizes(problem: LogisticProblem) -> Iterator[int]:
    """Yield the numbers of rows from which the Hessian is estimated."""
    m = _share_of_rows(problem, ROWS_PER_CURVATURE)
    most = max(m, problem.n * CHEAP_COLUMNS // max(problem.d, CHEAP_COLUMNS))
    while True:
        yield m
        m = min(m * MORE_ROWS, most)


def _share_of_rows(problem: LogisticProblem, per_parameter: int) -> int:
    """Return so many rows for each parameter, within the two shares of all rows."""
    n, enough = int(problem.n), per_parameter * int(np.prod(problem.shape))
    return max(n // USUAL_SHARE, min(n // LARGEST_SHARE, enough))


def _sample_optimum(part: LogisticProblem, point: Array, m: int) -> Array:
    """Return the optimum of a sample of m rows, within its own sampling error."""
    iterate = part.at(point)
    enough = 0.1 * point.size / m * float(part.c.sum())
    for _ in range(MAX_ESTIMATES):
        inverse, before = inverse_hessian(part, iterate), iterate
        if _fall(iterate, inverse) <= enough:
            break
        for iterate in islice(lbfgs(part, iterate, inverse), MAX_STEPS):  # noqa: B020
            if _fall(iterate, inverse) <= enough:
                break
        if iterate is before:
            break
    return iterate.point


def _fall(iterate: Iterate, inverse: Inverse) -> float:
    """Return twice the fall of the objective to the minimum of the quadratic approximation."""
    return float(np.vdot(iterate.gradient, inverse(iterate.gradient)))
