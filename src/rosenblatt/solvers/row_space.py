"""Newton's method for few rows of very many columns: a problem as small as the rows are few.

With a penalty ``l2/2 |w|^2`` the best weights are combinations of the rows, ``w = X'a``. Let
``X X' = U diag(s) U'``. On the features ``U sqrt(s)``, no more than there are rows, weights u score
as ``w = X' U u / sqrt(s)`` do on X, and are as long.
"""

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from rosenblatt.blas import one_blas_thread

from .newton import newton, newton_cg
from .problem import Array, Place, Problem

MOST_ROWS = 300  # beyond, the products of all pairs of rows cost more than steps on all columns
COLUMNS_PER_ROW = 4
MOST_PARAMETERS = 1500  # whose second derivative is formed
CELLS_PER_BLOCK = 1_000_000
NO_LENGTH = 1e-13  # of the longest direction: what is below is rounding
MOST_STEPS = 50
SETTLED = 1e-9  # of the first gradient


def is_wide(problem: Problem) -> bool:
    """Whether a problem has a penalty and a shape that this suits."""
    dense = not sp.issparse(problem.X) and problem.l2 > 0 and not problem.l1
    return dense and problem.n <= MOST_ROWS and problem.d >= COLUMNS_PER_ROW * problem.n


def row_space_newton(problem: Problem, place: Place) -> Iterator[Place]:
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
    problem: Problem,
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


def settled(small: Problem, start: Array) -> Array:
    """The optimum of a small problem, but for rounding."""
    place = small.at(start)
    enough = SETTLED * place.gradient_norm
    solver = newton if int(np.prod(small.shape)) <= MOST_PARAMETERS else newton_cg
    for step, place in enumerate(solver(small, place)):  # noqa: B020
        if place.gradient_norm <= enough or step == MOST_STEPS:
            break
    return place.point
