"""Least squares of rows too wide for a table of the products of their columns.

A few rows have a small table of their own products: the coefficients are a combination of the
rows, ``X' (X X' + penalty)^-1 y``. Many rows, which are sparse then, are taken step by step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import minimize

from rosenblatt.solvers import Iterate
from rosenblatt.solvers.least_squares import (
    AS_GOOD_AS_ROWS,
    ROUNDING,
    WELL_CONDITIONED,
    Solution,
    conjugate_gradients,
    solve_rows,
)

from .centred_rows import Centred
from .least_squares_callbacks import squared_error, worth

Array = NDArray[np.float64]
Report = Callable[[int, Iterate], None] | None  # called with each step of each target

# A table of products is kept for this many features, or for more if it is smaller than the rows.
FEATURES_WITH_GRAM = 2048
ROWS_WITH_DUAL = 5000  # a table of products of sparse rows is made for at most so many
STEP_COST = 100  # of a conjugate gradient step by number stored, where a factorisation costs n^3
FEWEST_STEPS = 40  # that are worth a try


def has_gram(X: Any) -> bool:
    """Whether the products of all pairs of columns are worth a table."""
    d = X.shape[1]
    return bool(d <= FEATURES_WITH_GRAM or d * d <= (X.nnz if sp.issparse(X) else X.size))


def refuse_without_gram(X: Any) -> None:
    """Raise if a statistic of X would be far larger than X."""
    if not has_gram(X):
        raise ValueError(
            f"X has {X.shape[1]} columns, too many for a table of the products of all pairs; "
            "`fit` does without one, but streaming, merging and forgetting need it."
        )


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
            coef = rows.adjoint(lapack.dpotrs(factor, targets, lower=True)[0])
            return Solution(coef, condition, d, "cholesky")
    values, turned = np.linalg.eigh(products)
    largest = values.max(initial=0.0)
    kept = values > max(ROUNDING * n, tol**2) * largest
    # Centred rows have one dependence; whether there are more only the rows themselves can show.
    clear = np.count_nonzero(~kept) <= rows.mean_x.any()
    well = clear and values[kept].min(initial=np.inf) > AS_GOOD_AS_ROWS * largest
    if not rows.sparse and (penalty or not well):
        A, _ = rows.condensed()  # the rows themselves, being few
        return solve_rows(A, targets, penalty, tol)
    shrunk = np.where(kept, values + penalty, np.inf)[:, None]

    def solved(right: Array) -> Array:
        return turned @ ((turned.T @ right) / shrunk)

    parts = solved(targets)
    if well:  # a second look at what is left takes the rounding off
        parts += solved(targets - rows.product(rows.adjoint(parts)) - penalty * parts)
    rank = d if penalty else int(np.count_nonzero(kept))
    return Solution(rows.adjoint(parts), 0.0, rank, "eigen")


@dataclass(frozen=True, eq=False)
class Descended:
    """Where targets (t,) ended that were taken step by step: the last step of each, and its number.

    `short` is the largest gradient, relative to the first, of those that ended too early; else 0.
    """

    solution: Solution
    n_iter: list[int]
    last: list[Iterate]
    short: float


def solve_iteratively(
    rows: Centred, targets: Array, penalty: float, tol: float, max_iter: int, report: Report = None
) -> Descended:
    """The coefficients (d, t) by conjugate gradients."""
    # Of rows wider than long no scaling: steps then stay among combinations of rows.
    n, d = rows.shape
    sizes = rows.squares() + penalty if penalty and n > d else None
    coef, n_iter, last, short = np.zeros((rows.shape[1], targets.shape[1])), [], [], 0.0
    for j, target in enumerate(targets.T):
        first = 2 * float(np.linalg.norm(rows.adjoint(target)))
        steps = conjugate_gradients(rows.product, rows.adjoint, target, penalty, sizes)
        for n_steps, step in enumerate(steps, 1):
            if report is not None:
                report(j, step)
            if step.gradient_norm <= tol * first or n_steps == max_iter:
                break
        coef[:, j] = step.point
        n_iter.append(n_steps)
        last.append(step)
        if step.gradient_norm > tol * first:
            short = max(short, step.gradient_norm / first)
    return Descended(descended(rows, coef, penalty, False), n_iter, last, short)


def few_steps(
    rows: Centred, targets: Array, penalty: float, tol: float, max_iter: int
) -> Descended | None:
    """Conjugate gradients on sparse rows, if they end sooner than `solve_dual` would; else None."""
    # They go a digit further than asked for. Without a penalty nothing bounds how far they are off.
    n, d = rows.shape
    most = int(n**3 / (STEP_COST * (rows.X.nnz + n + d))) if rows.sparse and penalty else 0
    if most < FEWEST_STEPS:
        return None
    found = solve_iteratively(rows, targets, penalty, tol / 10, min(most, max_iter))
    return None if found.short else found


def solve_positive(
    rows: Centred, targets: Array, penalty: float, tol: float, max_iter: int, report: Report = None
) -> Descended:
    """The coefficients (d, t), none below zero, by L-BFGS with bounds."""
    # It ends as `solve_iteratively` does; a gradient that only a bound stands against is none.
    d = rows.shape[1]
    coef, n_iter, last, short = np.zeros((d, targets.shape[1])), [], [], 0.0
    for j, target in enumerate(targets.T):

        def objective(w: Array, target: Array = target) -> tuple[float, Array]:
            return squared_error(rows, target, w, penalty)

        def reported(w: Array, j: int = j, target: Array = target) -> None:
            assert report is not None
            known = squared_error(rows, target, w, penalty)
            report(j, worth(w, *known, penalty, True, float(target @ target)))

        _, slope = objective(coef[:, j])
        first, steepest = float(np.linalg.norm(slope)), float(np.abs(slope).max(initial=0.0))
        found = minimize(
            objective, coef[:, j], jac=True, method="L-BFGS-B", bounds=[(0, None)] * d,
            callback=None if report is None else reported,
            options={"maxiter": max_iter, "maxfun": 2 * max_iter, "gtol": 1e-2 * tol * steepest,
                     "ftol": 0.0},
        )  # fmt: skip
        step = worth(found.x, *objective(found.x), penalty, True, float(target @ target))
        coef[:, j] = found.x
        n_iter.append(max(1, int(found.nit)))
        last.append(step)
        # The objective has too few digits for the last of the gradient: the gap may be nothing.
        if step.gradient_norm > tol * first and step.gap > ROUNDING * step.objective:
            short = max(short, step.gradient_norm / first)
    return Descended(descended(rows, coef, penalty, True), n_iter, last, short)


def descended(rows: Centred, coef: Array, penalty: float, positive: bool) -> Solution:
    """The coefficients (d, t) that steps have led to."""
    n, d = rows.shape
    rank = d if penalty else min(n, d)
    return Solution(coef, float("nan"), rank, "lbfgs" if positive else "sparse_cg")
