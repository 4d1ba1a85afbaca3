"""Newton's method: go to the minimum of the quadratic that fits here, and look again."""

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from rosenblatt.runtime.blas import one_blas_thread

from .curvature_factors import factored
from .logistic_problem import Array, Inverse, LogisticProblem, Place

LEAST_REST = 0.1  # of the gradient: less would be known better after a new look
MOST_ROUNDS = 250  # of conjugate gradients, for one step
WORTH_A_LOOK = 0.1  # products in a step for each column: then curvatures of classes take less
STEPS_PER_LOOK = 4  # at these
FALL = 1e-4  # of the fall that the slope promises, a step makes at least this share
MOST_TRIALS = 40  # steps tried along one direction


def newton(problem: LogisticProblem, place: Place) -> Iterator[Place]:
    """Steps ``-H^-1 g`` with the whole second derivative H, halved until the objective falls."""
    while True:
        g = place.gradient.ravel()
        direction = -factored(problem.hessian(place))(g).reshape(problem.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            direction = problem.centred(direction)  # rounding moves all classes' scores alike
            slope = float(g @ direction.ravel())
        new = backtrack(problem, place, direction, slope)
        if new is None:
            return
        place = new
        yield place


def backtrack(
    problem: LogisticProblem, place: Place, direction: Array, slope: float
) -> Place | None:
    """The first of the steps 1, 1/2, 1/4, ... that lowers the objective enough; or None."""
    # `slope` is what the objective loses at first for a step of 1, a negative number.
    step, allowance = 1.0, problem.rounding * abs(place.objective)
    for _ in range(MOST_TRIALS):
        new = problem.at(place.point + step * direction)
        if new.objective <= place.objective + FALL * step * slope + allowance:
            return new if _moved(place, new) else None
        step *= 0.5
    return None


def _moved(place: Place, new: Place) -> bool:
    """Whether rounding has left anything of a step."""
    return new.objective < place.objective or new.gradient_norm < place.gradient_norm


def newton_cg(problem: LogisticProblem, place: Place) -> Iterator[Place]:
    """As `newton`, for points too long for a matrix: H d = -g is solved by conjugate gradients."""
    # Only products H v are needed. They stop early far from the optimum, where the quadratic says
    # little about the objective, and late near it: when the rest is below ``min(1/2, sqrt(|g|))``
    # of the gradient, |g| measured against the first gradient. Where a step takes many products,
    # the next are measured by the curvature of each class instead of its diagonal, and take few.
    # With few columns all are: a step then needs one product, and a warm start just goes on.
    first = place.gradient_norm
    few = problem.d * WORTH_A_LOOK < 1
    by_class, n_steps = few, 0
    inverse = (problem.inverse_curvature if by_class else problem.inverse_diagonal)(place)
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
        elif few or n_steps % STEPS_PER_LOOK == 0:
            inverse = problem.inverse_curvature(place)


def conjugate_gradients(
    problem: LogisticProblem, place: Place, rest: float, inverse: Inverse
) -> tuple[Array, int]:
    """About ``-H^-1 g``, to `rest` of g by the norm of `inverse`, and how many products it took."""
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


# Few rows and very many columns: solve a problem with one parameter per row.
#
# With a penalty ``l2/2 |w|^2`` the best weights are combinations of the rows, ``w = X'a``. Let
# ``X X' = U diag(s) U'``. On the features ``U sqrt(s)``, at most n of them, weights u give the same
# scores as ``w = X' U u / sqrt(s)`` on X, and have the same length.

MOST_ROWS = 300  # beyond, the products of all pairs of rows cost more than steps on all columns
COLUMNS_PER_ROW = 4
MOST_PARAMETERS = 1500  # whose second derivative is formed
CELLS_PER_BLOCK = 1_000_000
NO_LENGTH = 1e-13  # of the longest direction: what is below is rounding
MOST_STEPS = 50
SETTLED = 1e-9  # of the first gradient


def is_wide(problem: LogisticProblem) -> bool:
    """Whether a problem has a penalty and a shape that this suits."""
    dense = not sp.issparse(problem.X) and problem.l2 > 0 and not problem.l1
    return dense and problem.n <= MOST_ROWS and problem.d >= COLUMNS_PER_ROW * problem.n


def row_space_newton(problem: LogisticProblem, place: Place) -> Iterator[Place]:
    """The optimum among combinations of rows, then steps on all columns for what rounding left."""
    features, outward, inward = coordinates(problem)
    small = problem.on(features)
    start = np.concatenate([inward(place.point[:-1]), place.point[-1:]])
    best = settled(small, start)
    with one_blas_thread():
        point = np.concatenate([outward(best[:-1]), best[-1:]])
    found = problem.at(point)
    place = found if found.objective < place.objective else place
    yield place
    yield from newton_cg(problem, place)


def coordinates(
    problem: LogisticProblem,
) -> tuple[Array, Callable[[Array], Array], Callable[[Array], Array]]:
    """Features (n, r), and functions from their weights to those of X, and back."""
    X, n, d = problem.X, problem.n, problem.d
    size = max(1, CELLS_PER_BLOCK // n)
    blocks = [slice(start, min(start + size, d)) for start in range(0, d, size)]
    with one_blas_thread():
        gram = np.zeros((n, n))
        for block in blocks:
            part = np.asarray(X[:, block], np.float64)
            gram += part @ part.T
        squares, axes = np.linalg.eigh(gram)
    kept = squares > NO_LENGTH * max(float(squares[-1]), 1e-300)
    lengths, axes = np.sqrt(squares[kept]), axes[:, kept]

    def outward(u: Array) -> Array:
        rows = axes @ (u.T / lengths).T
        return np.concatenate([np.asarray(X[:, block], np.float64).T @ rows for block in blocks])

    def inward(w: Array) -> Array:
        return np.asarray(((axes.T @ (X @ w)).T / lengths).T)

    return np.ascontiguousarray(axes * lengths), outward, inward


def settled(small: LogisticProblem, start: Array) -> Array:
    """The optimum of a small problem, but for rounding."""
    place = small.at(start)
    enough = SETTLED * place.gradient_norm
    solver = newton if int(np.prod(small.shape)) <= MOST_PARAMETERS else newton_cg
    for step, place in enumerate(solver(small, place)):  # noqa: B020
        if place.gradient_norm <= enough or step == MOST_STEPS:
            break
    return place.point
