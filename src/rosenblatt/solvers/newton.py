"""Newton's method: go to the minimum of the quadratic approximation, and repeat."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, lapack

from rosenblatt.runtime.threads import one_blas_thread

from .logistic_problem import Array, Iterate, LogisticProblem, PenalizedProblem
from .softmax import SoftmaxProblem

Inverse = Callable[[Array], Array]  # v -> H^-1 v

RIDGES = (1e-12, 1e-9, 1e-6, 1e-3)  # added to a diagonal of ones: the first that works
MAX_TOGETHER = 300  # parameters of several classes whose Hessian is inverted as one matrix
MAX_OF_A_CLASS = 300  # parameters of one class: their Hessian costs some dozen products

ARMIJO = 1e-4  # a step makes at least this share of the fall that the slope promises
MAX_TRIALS = 40  # step lengths tried along one direction

LEAST_REST = 0.1  # of the gradient: fewer products, and a new quadratic sooner
MAX_PRODUCTS = 250  # of conjugate gradients, for one step
PRODUCTS_PER_COLUMN = 0.1  # in a step; with more, inverses of class Hessians pay off
STEPS_PER_INVERSE = 4  # with these


class Factor(NamedTuple):
    """A function v -> H^-1 v, v (m,) or (m, t), with ``H = S L L' S``."""

    lower: Array  # L (m, m), stored by columns
    scale: Array  # the diagonal of S (m,)

    def __call__(self, v: Array) -> Array:
        scale = self.scale if v.ndim == 1 else self.scale[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = v / scale
            solved = lapack.dpotrs(self.lower, scaled, lower=True)[0] if v.size else scaled
            return np.asarray(solved / scale)


@np.errstate(over="ignore", invalid="ignore")
def factored(H: Array) -> Factor:
    """Return the factor of H (m, m), which is at least positive semidefinite."""
    # Scores do not change along some directions (all intercepts of a softmax together, columns that
    # repeat another): with a little more on the diagonal there is no step along them.
    scale = np.sqrt(np.maximum(H.diagonal(), 1e-300))
    scaled = H / (scale[:, np.newaxis] * scale)
    for ridge in RIDGES:
        scaled.flat[:: len(H) + 1] = 1.0 + ridge
        lower, failed = lapack.dpotrf(scaled, lower=True)
        if not failed and np.isfinite(lower.trace()):
            return Factor(lower, scale)
    return Factor(np.eye(len(H), order="F"), scale)


@np.errstate(over="ignore", invalid="ignore")
def inverted(H: Array) -> Array:
    """Return the inverses of matrices (K, m, m), at once if all are positive definite."""
    # The ridge is larger than that of `factored`: the inverse of a nearly singular matrix has large
    # entries everywhere, and loses more digits.
    scale = np.sqrt(np.maximum(np.diagonal(H, axis1=1, axis2=2), 1e-300))
    outer = scale[:, :, None] * scale[:, None, :]
    scaled = H / outer
    scaled.reshape(len(H), -1)[:, :: H.shape[1] + 1] = 1.0 + RIDGES[1]
    try:
        np.linalg.cholesky(scaled)  # fails if one is not positive definite
        return np.asarray(np.linalg.inv(scaled) / outer)
    except LinAlgError:
        return np.stack([factored(one)(np.eye(len(one))) for one in H])


def inverse_hessian(problem: PenalizedProblem, iterate: Iterate) -> Inverse:
    """Return v -> H^-1 v; with many classes, without the blocks that connect them."""
    if not isinstance(problem, SoftmaxProblem) or np.prod(problem.shape) <= MAX_TOGETHER:
        solve = factored(problem.hessian(iterate))
        return lambda v: problem.centered(solve(problem.centered(v).ravel()).reshape(problem.shape))
    # One product with all inverses: a call for each class takes longer than its arithmetic.
    inverses = inverted(problem.class_hessians(iterate))

    def solution(v: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            own = np.matmul(inverses, problem.centered(v).T[:, :, None])
        return problem.centered(own[:, :, 0].T)

    return solution


def inverse_diagonal(problem: PenalizedProblem, iterate: Iterate) -> Inverse:
    """Return v -> v over the diagonal of H."""
    diagonal = np.maximum(problem.diagonal(iterate), 1e-300)
    return lambda v: problem.centered(problem.centered(v) / diagonal)


def has_small_classes(problem: PenalizedProblem) -> bool:
    """Whether the Hessian of each of several classes is small enough to be inverted."""
    return len(problem.shape) > 1 and problem.d <= MAX_OF_A_CLASS


def newton(problem: PenalizedProblem, iterate: Iterate) -> Iterator[Iterate]:
    """Take steps ``-H^-1 g`` with the whole Hessian H, halved until the objective falls."""
    while True:
        g = iterate.gradient.ravel()
        direction = -factored(problem.hessian(iterate))(g).reshape(problem.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            direction = problem.centered(direction)  # rounding moves all classes' scores alike
            slope = float(g @ direction.ravel())
        new = backtrack(problem, iterate, direction, slope)
        if new is None:
            return
        iterate = new
        yield iterate


def backtrack(
    problem: PenalizedProblem, iterate: Iterate, direction: Array, slope: float
) -> Iterate | None:
    """Take the first of the steps 1, 1/2, 1/4, ... that lowers the objective enough; or None."""
    # `slope` is the derivative of the objective along the direction, a negative number.
    step, allowance = 1.0, problem.rounding * abs(iterate.objective)
    for _ in range(MAX_TRIALS):
        new = problem.at(iterate.point + step * direction)
        if new.objective <= iterate.objective + ARMIJO * step * slope + allowance:
            # A step that lowers neither is rounding.
            is_better = (
                new.objective < iterate.objective or new.gradient_norm < iterate.gradient_norm
            )
            return new if is_better else None
        step *= 0.5
    return None


def newton_cg(problem: PenalizedProblem, iterate: Iterate) -> Iterator[Iterate]:
    """Take steps like `newton`, but solve ``H d = -g`` by conjugate gradients."""
    # They stop early far from the optimum, where the quadratic is a poor approximation, and late
    # near it: when the residual is below ``min(1/2, sqrt(|g|))`` of the gradient, |g| relative to
    # the first. Where a step takes many products, the next are preconditioned by the inverse
    # Hessian of each class instead of the diagonal, and take few. With few columns all are.
    first = iterate.gradient_norm
    few = problem.d * PRODUCTS_PER_COLUMN < 1
    by_class, n_steps = few, 0
    inverse = (inverse_hessian if by_class else inverse_diagonal)(problem, iterate)
    while True:
        rest = min(0.5, np.sqrt(iterate.gradient_norm / first)) if first > 0 else 0.5
        rest = max(rest, LEAST_REST)
        direction, n_products = conjugate_gradients(problem, iterate, rest, inverse)
        slope = float(np.vdot(iterate.gradient, direction))
        new = backtrack(problem, iterate, direction, slope)
        if new is None:
            return
        iterate = new
        yield iterate
        n_steps += 1
        if not by_class and has_small_classes(problem):
            by_class, n_steps = n_products > PRODUCTS_PER_COLUMN * problem.d, 0
        if not by_class:
            inverse = inverse_diagonal(problem, iterate)
        elif few or n_steps % STEPS_PER_INVERSE == 0:
            inverse = inverse_hessian(problem, iterate)


def conjugate_gradients(
    problem: PenalizedProblem, iterate: Iterate, rest: float, inverse: Inverse
) -> tuple[Array, int]:
    """Return about ``-H^-1 g``, to `rest` of g by the norm of `inverse`, and how many products."""
    solution = np.zeros_like(iterate.point)
    residual = -iterate.gradient
    scaled = inverse(residual)
    direction = scaled.copy()
    size = start = float(np.vdot(residual, scaled))
    n_products = 0
    while n_products < MAX_PRODUCTS:
        if size <= rest**2 * start or size <= 0:
            break
        product = problem.product(iterate, direction)
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
    return solution if np.any(solution) else inverse(-iterate.gradient), n_products


# Few rows and very many columns: solve a problem with one parameter per row.
#
# With a penalty ``l2/2 |w|^2`` the best weights are combinations of the rows, ``w = X'a``. Let
# ``X X' = U diag(s) U'``. On the features ``U sqrt(s)``, at most n of them, weights u give the same
# scores as ``w = X' U u / sqrt(s)`` on X, and have the same length.

MAX_ROWS = 300  # beyond, the products of all pairs of rows cost more than steps on all columns
COLUMNS_PER_ROW = 4
MAX_PARAMETERS = 1500  # whose Hessian is formed
CELLS_PER_BLOCK = 1_000_000
NEGLIGIBLE = 1e-13  # of the largest eigenvalue: rounding
MAX_STEPS = 50
SMALL_GRADIENT = 1e-9  # of the first


def is_wide(problem: PenalizedProblem) -> bool:
    """Whether a problem has a penalty and a shape that suit `row_space_newton`."""
    dense = not sp.issparse(problem.X) and problem.l2 > 0 and not problem.l1
    return dense and problem.n <= MAX_ROWS and problem.d >= COLUMNS_PER_ROW * problem.n


def row_space_newton(problem: LogisticProblem, iterate: Iterate) -> Iterator[Iterate]:
    """Go to the optimum among combinations of rows, then take steps that correct its rounding."""
    features, outward, inward = coordinates(problem)
    small = problem.of_rows(features, problem.labels, problem.c)
    best = _optimum(small, np.concatenate([inward(iterate.point[:-1]), iterate.point[-1:]]))
    with one_blas_thread():
        point = np.concatenate([outward(best[:-1]), best[-1:]])
    new = problem.at(point)
    iterate = new if new.objective < iterate.objective else iterate
    yield iterate
    yield from newton_cg(problem, iterate)


def coordinates(
    problem: LogisticProblem,
) -> tuple[Array, Callable[[Array], Array], Callable[[Array], Array]]:
    """Return features (n, r), and functions from their weights to those of X, and back."""
    X, n, d = problem.X, problem.n, problem.d
    size = max(1, CELLS_PER_BLOCK // n)
    blocks = [slice(start, min(start + size, d)) for start in range(0, d, size)]
    with one_blas_thread():
        gram = np.zeros((n, n))
        for block in blocks:
            part = np.asarray(X[:, block], np.float64)
            gram += part @ part.T
        squares, axes = np.linalg.eigh(gram)
    kept = squares > NEGLIGIBLE * max(float(squares[-1]), 1e-300)
    lengths, axes = np.sqrt(squares[kept]), axes[:, kept]

    def outward(u: Array) -> Array:
        rows = axes @ (u.T / lengths).T
        return np.concatenate([np.asarray(X[:, block], np.float64).T @ rows for block in blocks])

    def inward(w: Array) -> Array:
        return np.asarray(((axes.T @ (X @ w)).T / lengths).T)

    return np.ascontiguousarray(axes * lengths), outward, inward


def _optimum(small: LogisticProblem, start: Array) -> Array:
    """Return the optimum of a small problem, but for rounding."""
    iterate = small.at(start)
    enough = SMALL_GRADIENT * iterate.gradient_norm
    solver = newton if int(np.prod(small.shape)) <= MAX_PARAMETERS else newton_cg
    for step, iterate in enumerate(solver(small, iterate)):  # noqa: B020
        if iterate.gradient_norm <= enough or step == MAX_STEPS:
            break
    return iterate.point
