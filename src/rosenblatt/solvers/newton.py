"""Newton's method: go to the minimum of the quadratic that fits here, and look again."""

from collections.abc import Iterator

import numpy as np

from .factors import factored
from .problem import Array, Inverse, Place, Problem
from .search import backtrack

LEAST_REST = 0.1  # of the gradient: less would be known better after a new look
MOST_ROUNDS = 250  # of conjugate gradients, for one step
WORTH_A_LOOK = 0.1  # products in a step for each column: then curvatures of classes take less
STEPS_PER_LOOK = 4  # at these


def newton(problem: Problem, place: Place) -> Iterator[Place]:
    """Steps ``-H^-1 g`` with the whole second derivative H, halved until the objective falls."""
    while True:
        g = place.gradient.ravel()
        direction = -factored(problem.hessian(place))(g)
        with np.errstate(over="ignore", invalid="ignore"):
            slope = float(g @ direction)
        new = backtrack(problem, place, direction.reshape(place.point.shape), slope)
        if new is None:
            return
        place = new
        yield place


def newton_cg(problem: Problem, place: Place) -> Iterator[Place]:
    """As `newton`, for points too long for a matrix: H d = -g is solved by conjugate gradients.

    Only products H v are needed. They stop early far from the optimum, where the quadratic says
    little about the objective, and late near it: when the rest is below ``min(1/2, sqrt(|g|))`` of
    the gradient, |g| measured against the first gradient. Where a step takes many products, the
    next are measured by the curvature of each class instead of its diagonal, and take few.
    """
    first = place.gradient_norm
    by_class, inverse, n_steps = False, problem.inverse_diagonal(place), 0
    while True:
        rest = min(0.5, np.sqrt(place.gradient_norm / first)) if first > 0 else 0.5
        direction, n_products = conjugate_gradients(problem, place, max(rest, LEAST_REST), inverse)
        slope = float(np.vdot(place.gradient, direction))
        new = backtrack(problem, place, direction, slope)
        if new is None:
            return
        place = new
        yield place
        n_steps += 1
        if not by_class and problem.has_curvature_by_class:
            by_class, n_steps = n_products > WORTH_A_LOOK * problem.d, 0
        if not by_class:
            inverse = problem.inverse_diagonal(place)
        elif n_steps % STEPS_PER_LOOK == 0:
            inverse = problem.inverse_curvature(place)


def conjugate_gradients(
    problem: Problem, place: Place, rest: float, inverse: Inverse
) -> tuple[Array, int]:
    """About ``-H^-1 g``, until `rest` of the gradient is left, and how many products it took.

    Both are measured by `inverse`, which is about H^-1.
    """
    solution = np.zeros_like(place.point)
    residual = -place.gradient
    scaled = inverse(residual)
    direction = scaled.copy()
    size = start = float(np.vdot(residual, scaled))
    n_products = 0
    while n_products < MOST_ROUNDS:
        if size <= rest**2 * start or size <= 0:
            break
        product = problem.product(place, direction)
        n_products += 1
        bend = float(np.vdot(direction, product))
        if bend <= 0:  # flat, but for rounding
            break
        step = size / bend
        solution += step * direction
        residual = residual - step * product
        scaled = inverse(residual)
        size, before = float(np.vdot(residual, scaled)), size
        direction = scaled + (size / before) * direction
    return solution if np.any(solution) else inverse(-place.gradient), n_products
