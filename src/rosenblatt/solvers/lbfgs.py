"""L-BFGS: Newton's method with the inverse Hessian estimated from the last few steps."""

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from .logistic_problem import Array, Iterate, PenalizedProblem
from .newton import ARMIJO, MAX_TRIALS, inverse_diagonal

MEMORY = 10
WOLFE = 0.9  # a step must reduce the slope to less than this share

Pair = tuple[Array, Array]  # how the point moved, and how the gradient changed with it


def lbfgs(
    problem: PenalizedProblem, iterate: Iterate, inverse: Callable[[Array], Array] | None = None
) -> Iterator[Iterate]:
    """Take steps along minus the gradient times the estimated inverse Hessian."""
    # `inverse` is the first estimate, by default that of the diagonal, so that the scale of the
    # features does not matter.
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    if inverse is None:
        inverse = inverse_diagonal(problem, iterate)
    while True:
        new = bisect(problem, iterate, -two_loops(iterate.gradient, pairs, inverse))
        if new is None and pairs:
            pairs.clear()  # steps made far away may mislead here
            continue
        if new is None:
            return
        moved, change = new.point - iterate.point, new.gradient - iterate.gradient
        if np.vdot(moved, change) > 1e-12 * np.linalg.norm(moved) * np.linalg.norm(change):
            pairs.append((moved, change))
        iterate = new
        yield iterate


def bisect(problem: PenalizedProblem, iterate: Iterate, direction: Array) -> Iterate | None:
    """Find a step to a lower objective and a flatter slope (Wolfe's conditions) by bisection."""
    slope = float(np.vdot(iterate.gradient, direction))
    if not slope < 0:
        return None
    allowance = problem.rounding * abs(iterate.objective)
    step, low, high = 1.0, 0.0, np.inf
    for _ in range(MAX_TRIALS):
        new = problem.at(iterate.point + step * direction)
        if not new.objective <= iterate.objective + ARMIJO * step * slope + allowance:
            high = step
        elif np.vdot(new.gradient, direction) < WOLFE * slope:
            low = step
        else:
            return new if np.any(new.point != iterate.point) else None
        step = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return None


def two_loops(gradient: Array, pairs: deque[Pair], inverse: Callable[[Array], Array]) -> Array:
    """Return the inverse Hessian times the gradient, by the two loops of Nocedal (1980)."""
    v = gradient.copy()
    weights = []
    for moved, change in reversed(pairs):
        weight = np.vdot(moved, v) / np.vdot(moved, change)
        v -= weight * change
        weights.append(weight)
    v = inverse(v)
    if pairs:  # the first estimate, in the scale of the last step
        moved, change = pairs[-1]
        v *= np.vdot(moved, change) / np.vdot(change, inverse(change))
    for (moved, change), weight in zip(pairs, reversed(weights), strict=True):
        v += (weight - np.vdot(change, v) / np.vdot(moved, change)) * moved
    return v
