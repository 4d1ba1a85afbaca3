"""Least squares, with or without a penalty on squared coefficients.

Four closed forms: the normal equations (`solve`), the singular values of the rows (`solve_rows`),
the products of few wide rows (`solve_dual`), and `solve_nonnegative`. SciPy's `lsmr` and L-BFGS-B
iterate on rows too wide for these. Among equally good coefficients the shortest are returned.

Closed forms scale the columns to length one first, so that neither the coefficients nor the rank
depend on units.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lapack, qr
from scipy.optimize import minimize, nnls
from scipy.sparse.linalg import LinearOperator, lsmr

from rosenblatt.runtime.threads import MANY_UNKNOWNS, interruptible

from .centered_rows import CenteredRows

Array = NDArray[np.float64]

# Below this reciprocal condition, columns scaled to one, normal equations lose too many digits
# to be used at all; and below the second, more than the rows themselves would lose.
WELL_CONDITIONED = 1e-10
AS_GOOD_AS_ROWS = 1e-6
ROUNDING = 1e-14  # a direction with less than this times d of the variance counts as constant
NEARLY_ZERO = 1e-6  # of a sum of squares, where the sum itself is a useful bound of the gap
NO_WORSE = 1e-12  # what shorter coefficients may cost, as a share of the squares that they explain

# A table of products is kept for this many features, or for more if it is smaller than the rows.
FEATURES_WITH_GRAM = 2048
ROWS_WITH_DUAL = 5000  # the most sparse rows for which a table of their products is computed


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients, and how they were found."""

    coef: Array  # (d, t)
    condition: float  # reciprocal, of the normal equations, columns scaled to one
    rank: int  # independent directions among the columns
    method: str  # "cholesky", "eigen", "svd", "nnls", "lsmr" or "lbfgs"
    # Directions (d, d - rank) that change no prediction, columns scaled to one; None if rows are
    # fewer than columns, and there are too many.
    dependent: Array | None = None
    # What the directions left out would explain, as a share of the squares that the others explain.
    left_out: float = 0.0
    n_iter: NDArray[np.int64] | None = None  # (t,), of iterative methods
    unmet: float = 0.0  # the gradient relative to the first, if iterations ended before the limit


def solve(gram: Array, products: Array, penalty: float = 0.0, tol: float = 0.0) -> Solution:
    """Return the shortest coef (d, t) with ``(gram + penalty) @ coef = products``.

    Directions that vary less than `tol` times the one that varies most are left out.
    """
    many = len(gram) >= MANY_UNKNOWNS
    return interruptible(lambda: _solve(gram, products, penalty, tol), many)


def _solve(gram: Array, products: Array, penalty: float, tol: float) -> Solution:
    d = len(gram)
    if penalty:
        gram = gram + penalty * np.eye(d)
    scale = _lengths(np.diag(gram))
    scaled, right = gram / scale[:, None] / scale, products / scale[:, None]
    factor, failed = lapack.dpotrf(scaled, lower=True)
    norm = np.abs(scaled).sum(axis=0).max(initial=0.0)
    # An estimate, whose last bits depend on where arrays lie in memory.
    estimate = 0.0 if failed or not d else float(lapack.dpocon(factor, norm, uplo="L")[0])
    condition = float(f"{estimate:.12g}")
    if condition > max(WELL_CONDITIONED, d * tol**2):
        coef = lapack.dpotrs(factor, right, lower=True)[0] / scale[:, None]
        return Solution(np.asarray(coef), condition, d, "cholesky", np.zeros((d, 0)))
    values, axes = np.linalg.eigh(scaled)
    kept = values > max(ROUNDING * d, tol**2 * values.max(initial=0.0))
    coef = axes[:, kept] @ ((axes[:, kept].T @ right) / values[kept, None])
    explained = np.einsum("dt,dt->t", coef, right)
    sizes = np.sqrt(np.maximum(values[~kept], 0.0))
    coef = shortest(coef, scale, axes[:, ~kept], sizes, explained)
    return Solution(coef, condition, int(kept.sum()), "eigen", axes[:, ~kept])


def solve_rows(A: Array, B: Array, penalty: float = 0.0, tol: float = 0.0) -> Solution:
    """Return the shortest coef (d, t) of least ``|A coef - B|^2 + penalty |coef|^2``."""
    # Rows rather than their products: half the digits of the condition are lost, not all.
    m, d = A.shape
    if m < d:
        return _solve_wide(A, B, penalty, tol)
    if penalty:
        A = np.vstack([A, np.sqrt(penalty) * np.eye(d)])
        B = np.vstack([B, np.zeros((d, B.shape[1]))])
    largest = np.abs(A).max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    scale = largest * _lengths(((A / largest) ** 2).sum(axis=0))  # squares may be too small
    U, s, axes = np.linalg.svd(A / scale, full_matrices=False)
    kept = s > max(ROUNDING * d, tol) * s.max(initial=0.0)
    along = U.T @ B
    coef = axes[kept].T @ (along[kept] / s[kept, None])
    explained = (along[kept] ** 2).sum(axis=0)
    coef = shortest(coef, scale, axes[~kept].T, s[~kept], explained)
    small = ~kept & (s > ROUNDING * d * s.max(initial=0.0))
    missed = (along[small] ** 2).sum(axis=0)
    left_out = float((missed / np.where(explained > 0, explained, np.inf)).max(initial=0.0))
    return Solution(coef, _condition(s), int(kept.sum()), "svd", axes[~kept].T, left_out)


def _solve_wide(A: Array, B: Array, penalty: float, tol: float) -> Solution:
    """Return the same for fewer rows than columns."""
    U, s, axes = np.linalg.svd(A, full_matrices=False)
    kept = s > max(ROUNDING * A.shape[1], tol) * s.max(initial=0.0)
    filtered = (s / np.where(kept, s**2 + penalty, np.inf))[:, None]
    coef = axes.T @ (filtered * (U.T @ B))
    rank = A.shape[1] if penalty else int(np.count_nonzero(kept))
    return Solution(coef, _condition(s), rank, "svd")


def shortest(coef: Array, scale: Array, directions: Array, sizes: Array, explained: Array) -> Array:
    """Return coef (d, t) of scaled columns, in their own units, less what changes no prediction.

    Along `directions` (d, q) columns of length one vary by `sizes` (q,) only, which counts as
    nothing; but in units of their lengths `scale` (d,) that may be a small part of the way.
    """
    # If shorter coefficients would fit worse by NO_WORSE of `explained` (t,), only directions
    # without any variation are removed, or none.
    with np.errstate(over="ignore"):  # infinite coefficients are refused by the model
        scaled, coef = coef, coef / scale[:, None]
    constant = sizes <= ROUNDING * len(coef)
    for some in (np.ones(len(sizes), bool), constant):
        if some.any():
            units = _set_apart(directions[:, some]) / scale[:, None]
            units /= np.linalg.norm(units, axis=0)
            shorter = coef - units @ np.linalg.lstsq(units, coef, rcond=None)[0]
            change = directions.T @ (scaled - scale[:, None] * shorter)
            cost = ((sizes[:, None] * change) ** 2).sum(axis=0)
            if (cost <= NO_WORSE * explained).all():
                return np.asarray(shorter)
    return np.asarray(coef)


def _set_apart(directions: Array) -> Array:
    """Return a basis (d, q) of the span of orthonormal directions (d, q), each of few columns."""
    # A column that has no part in them has only rounding there, which in the units of a tiny column
    # would be the largest part of all.
    d, q = directions.shape
    pivots = qr(directions.T, mode="r", pivoting=True)[1][:q]
    basis = np.linalg.solve(directions[pivots].T, directions.T).T
    basis[np.abs(basis) <= ROUNDING * d] = 0.0
    return np.asarray(basis)


def solve_nonnegative(gram: Array, products: Array, penalty: float = 0.0) -> Solution:
    """Return the same as `solve`, with no coefficient below zero."""
    # ``gram = S'S`` for the root S of its eigenvectors, which stands for the rows.
    d = len(gram)
    gram = gram + penalty * np.eye(d)
    scale = _lengths(np.diag(gram))
    values, axes = np.linalg.eigh(gram / scale[:, None] / scale)
    kept = values > ROUNDING * d
    roots = np.sqrt(values[kept])[:, None]
    rows, right = roots * axes[:, kept].T, axes[:, kept].T @ (products / scale[:, None]) / roots
    coef = np.zeros(products.shape)
    if len(rows):
        coef = np.stack([nnls(rows, b, maxiter=30 * d)[0] for b in right.T], axis=1)
    condition = float(max(values.min(initial=np.inf), 0.0) / max(values.max(initial=0.0), 1e-300))
    rank = int(np.count_nonzero(kept))
    return Solution(coef / scale[:, None], condition, rank, "nnls", axes[:, ~kept])


def _lengths(squares: Any) -> Array:
    """Return the lengths of columns, 1 for columns of zeros."""
    lengths = np.sqrt(np.maximum(squares, 0.0))
    return np.where(lengths > 0, lengths, 1.0)


def _condition(s: Array) -> float:
    """Return the reciprocal condition of normal equations from the singular values of the rows."""
    largest = s.max(initial=0.0)
    return float((s.min() / largest) ** 2) if largest > 0 else 0.0


def by_penalty(penalties: Array, one: Callable[[NDArray[np.intp], float], Solution]) -> Solution:
    """Return the solution for all targets, from ``one(targets, penalty)`` for equal penalties."""
    if (penalties == penalties[0]).all():
        return one(np.arange(len(penalties)), float(penalties[0]))
    parts = [one(np.array([k]), float(penalty)) for k, penalty in enumerate(penalties)]
    worst = min(parts, key=lambda part: (part.rank, part.condition))
    n_iter = None
    if any(part.n_iter is not None for part in parts):
        n_iter = np.array([1 if part.n_iter is None else part.n_iter[0] for part in parts])
    return replace(
        worst, coef=np.concatenate([part.coef for part in parts], axis=1), n_iter=n_iter,
        unmet=max(part.unmet for part in parts),
    )  # fmt: skip


# Rows too wide for a table of the products of their columns.


def has_gram(X: Any) -> bool:
    """Return whether to compute the products of all pairs of columns."""
    d = X.shape[1]
    return bool(d <= FEATURES_WITH_GRAM or d * d <= (X.nnz if sp.issparse(X) else X.size))


def has_dual(rows: CenteredRows) -> bool:
    """Return whether the rows are few enough to compute the products of all pairs of rows."""
    n, d = rows.shape
    return n <= d and (n <= ROWS_WITH_DUAL or not rows.sparse)


def solve_dual(rows: CenteredRows, targets: Array, penalty: float, tol: float) -> Solution:
    """Return the shortest coefficients ``X' (X X' + penalty)^-1 y`` (d, t)."""
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
    # Centered rows have one dependence; whether there are more only the rows themselves can show.
    clear = np.count_nonzero(~kept) <= rows.mean_x.any()
    well = clear and values[kept].min(initial=np.inf) > AS_GOOD_AS_ROWS * largest
    if not rows.sparse and (penalty or not well):
        A, _ = rows.condensed()  # the rows themselves, being few
        return solve_rows(A, targets, penalty, tol)
    shrunk = np.where(kept, values + penalty, np.inf)[:, None]

    def solved(right: Array) -> Array:
        return turned @ ((turned.T @ right) / shrunk)

    parts = solved(targets)
    if well:  # one step of iterative refinement removes the rounding
        parts += solved(targets - rows.product(rows.adjoint(parts)) - penalty * parts)
    rank = d if penalty else int(np.count_nonzero(kept))
    return Solution(rows.adjoint(parts), 0.0, rank, "eigen")


def solve_by_lsmr(
    rows: CenteredRows, targets: Array, penalty: float, tol: float, max_iter: int
) -> Solution:
    """Return the coefficients (d, t) by LSMR, to a gradient of `tol` relative to the first."""
    n, d = rows.shape
    X = LinearOperator((n, d), matvec=rows.product, rmatvec=rows.adjoint, dtype=np.float64)
    size = np.sqrt(rows.squares().sum() + d * penalty)
    coef, n_iter, unmet = np.zeros((d, targets.shape[1])), [], 0.0
    for j, target in enumerate(targets.T):
        first = np.linalg.norm(rows.adjoint(target))
        # LSMR stops at a gradient relative to the norms of the rows and of the residual.
        share = tol * first / (size * np.linalg.norm(target)) if first > 0 else tol
        coef[:, j], reason, count, _, left, *_ = lsmr(
            X, target, damp=np.sqrt(penalty), atol=share, btol=share, conlim=0, maxiter=max_iter
        )
        n_iter.append(max(1, count))
        if reason == REACHED_MAX_ITER and left > tol * first:
            unmet = max(unmet, left / first)
    return _iterated("lsmr", rows, coef, penalty, n_iter, unmet)


REACHED_MAX_ITER = 7  # as LSMR numbers its reasons to stop


def solve_by_lbfgs(
    rows: CenteredRows, targets: Array, penalty: float, tol: float, max_iter: int
) -> Solution:
    """Return the coefficients (d, t) >= 0 by L-BFGS-B, to the same gradient."""
    # A step of SciPy's `lsq_linear` has no exact zeros; these have.
    d = rows.shape[1]
    coef, n_iter, unmet = np.zeros((d, targets.shape[1])), [], 0.0
    for j, target in enumerate(targets.T):
        _, slope = squared_error(rows, target, coef[:, j], penalty)
        first, steepest = float(np.linalg.norm(slope)), float(np.abs(slope).max(initial=0.0))
        found = minimize(
            lambda w, target=target: squared_error(rows, target, w, penalty), coef[:, j], jac=True,
            method="L-BFGS-B", bounds=[(0, None)] * d,
            options={"maxiter": max_iter, "maxfun": 2 * max_iter, "gtol": 1e-2 * tol * steepest,
                     "ftol": 0.0},
        )  # fmt: skip
        coef[:, j] = found.x
        n_iter.append(max(1, int(found.nit)))
        objective, gap, norm = optimality(rows, target, found.x, penalty, positive=True)
        # The objective has too few digits for the last of the gradient: the gap may be zero.
        if norm > tol * first and gap > ROUNDING * objective:
            unmet = max(unmet, norm / first)
    return _iterated("lbfgs", rows, coef, penalty, n_iter, unmet)


def _iterated(
    method: str, rows: CenteredRows, coef: Array, penalty: float, n_iter: list[int], unmet: float
) -> Solution:
    n, d = rows.shape
    rank = d if penalty else min(n, d)
    return Solution(coef, float("nan"), rank, method, n_iter=np.array(n_iter), unmet=unmet)


def squared_error(
    rows: CenteredRows, target: Array, w: Array, penalty: float
) -> tuple[float, Array]:
    """Return ``|target - X w|^2 + penalty |w|^2`` and its gradient (d,)."""
    residual = target - rows.product(w)
    objective = residual @ residual + penalty * (w @ w)
    return float(objective), 2 * (penalty * w - rows.adjoint(residual))


def optimality(
    rows: CenteredRows, target: Array, w: Array, penalty: float, positive: bool
) -> tuple[float, float, float]:
    """Return the objective at w (d,), a bound on its distance from the optimum, its gradient norm.

    Other coefficients v differ by at least ``slope.(v - w) + penalty |v - w|^2``. The least value
    of that, over v >= 0 if coefficients must be positive, is the bound. Without a penalty only the
    objective itself is one.
    """
    objective, slope = squared_error(rows, target, w, penalty)
    free = np.where(w > 0, slope, np.minimum(slope, 0.0)) if positive else slope
    norm = float(np.linalg.norm(free))
    if not penalty:
        close = objective <= NEARLY_ZERO * float(target @ target)
        return objective, (objective if close else np.inf) if norm else 0.0, norm
    step = -slope / (2 * penalty)
    if positive:
        step = np.maximum(w + step, 0.0) - w
    gap = -float(slope @ step + penalty * (step @ step))
    return objective, min(gap, objective), norm
