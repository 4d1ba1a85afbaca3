"""Least squares of rows too wide for a table of the products of their columns.

A few rows have a small table of their own products: the coefficients are a combination of the
rows, ``X' (X X' + penalty)^-1 y``. Many rows, which are sparse then, are taken step by step.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, lapack
from scipy.optimize import minimize

from rosenblatt.solvers.conjugate_gradients import conjugate_gradients
from rosenblatt.solvers.least_squares import ROUNDING, WELL_CONDITIONED, Solution, solve_rows

from .centred import Centred

Array = NDArray[np.float64]

ROWS_WITH_DUAL = 5000  # a table of products of sparse rows is made for at most so many


def has_dual(rows: Centred) -> bool:
    """Whether the rows are few enough for a table of the products of all pairs of them."""
    n, d = rows.shape
    return n <= d and (n <= ROWS_WITH_DUAL or not rows.sparse)


def solve_dual(rows: Centred, targets: Array, penalty: float, tol: float) -> Solution:
    """The shortest coefficients (d, t), from the products of rows."""
    n, d = rows.shape
    products = rows.dual()
    if penalty:
        factor, failed = lapack.dpotrf(products + penalty * np.eye(n), lower=True)
        norm = np.abs(products).sum(axis=0).max() + penalty
        condition = 0.0 if failed else float(lapack.dpocon(factor, norm, uplo="L")[0])
        if condition > WELL_CONDITIONED:
            coef = rows.adjoint(cho_solve((factor, True), targets))
            return Solution(coef, condition, d, "cholesky")
    if not rows.sparse:
        A, _ = rows.condensed()  # the rows themselves, being few
        return solve_rows(A, targets, penalty, tol)
    values, turned = np.linalg.eigh(products)
    kept = values > max(ROUNDING * n, tol**2) * values.max(initial=0.0)
    shrunk = np.where(kept, values + penalty, np.inf)[:, None]
    coef = rows.adjoint(turned @ ((turned.T @ targets) / shrunk))
    return Solution(coef, 0.0, d if penalty else int(np.count_nonzero(kept)), "eigen")


def solve_iteratively(
    rows: Centred, targets: Array, penalty: float, tol: float, max_iter: int
) -> tuple[Solution, list[int], float]:
    """The coefficients (d, t) step by step; iterations of each target, worst relative gradient.

    It ends when the gradient is `tol` times what it was at first.
    """
    n, d = rows.shape
    sizes = rows.squares() + penalty if penalty else None
    coef, n_iter, worst = np.zeros((d, targets.shape[1])), [], 0.0
    for j, target in enumerate(targets.T):
        first = 2 * float(np.linalg.norm(rows.adjoint(target)))
        steps = conjugate_gradients(rows.product, rows.adjoint, target, penalty, sizes)
        for n_steps, step in enumerate(steps, 1):
            if step.gradient_norm <= tol * first or n_steps == max_iter:
                break
        coef[:, j] = step.point
        n_iter.append(n_steps)
        worst = max(worst, step.gradient_norm / first if first else 0.0)
    rank = d if penalty else min(n, d)
    return Solution(coef, float("nan"), rank, "sparse_cg"), n_iter, worst


def solve_positive(rows: Centred, targets: Array, penalty: float, tol: float) -> Solution:
    """The coefficients (d, t), none below zero, by L-BFGS with bounds."""
    n, d = rows.shape
    coef = np.zeros((d, targets.shape[1]))
    for j, target in enumerate(targets.T):

        def objective(w: Array, target: Array = target) -> tuple[float, Array]:
            residual = target - rows.product(w)
            value = residual @ residual + penalty * (w @ w)
            return float(value), 2 * (penalty * w - rows.adjoint(residual))

        largest = float(np.abs(rows.adjoint(target)).max(initial=0.0))
        options = {"maxiter": 15_000, "maxfun": 30_000, "gtol": tol * largest, "ftol": 0.0}
        found = minimize(
            objective, coef[:, j], jac=True, method="L-BFGS-B", bounds=[(0, None)] * d,
            options=options,
        )  # fmt: skip
        coef[:, j] = found.x
    return Solution(coef, float("nan"), d if penalty else min(n, d), "lbfgs")
