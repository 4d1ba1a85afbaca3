"""Least squares in closed form: the shortest coefficients of the smallest error.

Columns are scaled to length one before anything is decided, so that neither the answer nor what
counts as dependent hangs on their units. With a penalty the problem is one of longer columns: a
row ``sqrt(penalty)`` for each.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, qr
from scipy.optimize import nnls

from rosenblatt.runtime.interrupts import MANY_UNKNOWNS, interruptible

from . import Iterate, gap_above_zero

Array = NDArray[np.float64]

# Below this reciprocal condition, columns scaled to one, normal equations lose too many digits
# to be used at all; and below the second, more than rows themselves would lose.
WELL_CONDITIONED = 1e-10
AS_GOOD_AS_ROWS = 1e-6
ROUNDING = 1e-14  # a direction with less than this times d of the variance is none
NO_WORSE = 1e-12  # what shorter coefficients may cost, as a share of the squares that they explain


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients, and how they were found."""

    coef: Array  # (d, t)
    condition: float  # reciprocal, of the normal equations, columns scaled to one
    rank: int  # independent directions among the columns
    method: str  # "cholesky" or "eigen" of the normal equations, "svd" of rows, "nnls", "cg"
    # Directions (d, d - rank) that change no prediction, columns scaled to one; None if rows are
    # fewer than columns, and there are too many.
    dependent: Array | None = None
    # What directions that were taken for none would still explain, as a share of the squares that
    # the others do; 0 where there is no telling.
    left_out: float = 0.0


@dataclass(frozen=True, eq=False)
class Free:
    """Directions (d, q) in which columns of length one vary too little to count, and how little.

    To go along one changes predictions by `sizes` (q,) for each unit, which is next to nothing; but
    in the columns' own units, of lengths `scale` (d,), a unit may be a small part of the way.
    """

    directions: Array
    sizes: Array
    scale: Array

    def shortest(self, coef: Array, explained: Array, condition: float, method: str) -> Solution:
        """Scaled coef (d, t) in the columns' own units, less what changes nothing."""
        # If shorter coefficients would fit worse by NO_WORSE of `explained` (t,), only directions
        # without any variation are taken off, or none.
        with np.errstate(over="ignore"):  # what is infinite is refused as it is published
            scaled, coef = coef, coef / self.scale[:, None]
        nothing = self.sizes <= ROUNDING * len(coef)
        for some in (np.ones(len(nothing), bool), nothing):
            if some.any():
                units = _set_apart(self.directions[:, some]) / self.scale[:, None]
                units /= np.linalg.norm(units, axis=0)
                shorter = coef - units @ np.linalg.lstsq(units, coef, rcond=None)[0]
                moved = self.directions.T @ (scaled - self.scale[:, None] * shorter)
                cost = ((self.sizes[:, None] * moved) ** 2).sum(axis=0)
                if (cost <= NO_WORSE * explained).all():
                    coef = shorter
                    break
        rank = len(coef) - len(nothing)
        return Solution(np.asarray(coef), condition, rank, method, self.directions)


def _set_apart(directions: Array) -> Array:
    """A basis (d, q) of the span of orthonormal directions (d, q), each of few columns."""
    # A column that has no part in them has only rounding there, which in the units of a tiny column
    # would be the largest part of all.
    d, q = directions.shape
    pivots = qr(directions.T, mode="r", pivoting=True)[1][:q]
    basis = np.linalg.solve(directions[pivots].T, directions.T).T
    basis[np.abs(basis) <= ROUNDING * d] = 0.0
    return np.asarray(basis)


def solve(gram: Array, products: Array, penalty: float = 0.0, tol: float = 0.0) -> Solution:
    """The shortest coef (d, t) with ``(gram + penalty) @ coef = products``."""
    # Directions that vary less than `tol` times the one that varies most are taken for none.
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
    free = Free(axes[:, ~kept], np.sqrt(np.maximum(values[~kept], 0.0)), scale)
    return free.shortest(coef, np.einsum("dt,dt->t", coef, right), condition, "eigen")


def solve_rows(A: Array, B: Array, penalty: float = 0.0, tol: float = 0.0) -> Solution:
    """The shortest coef (d, t) of least ``|A coef - B|^2 + penalty |coef|^2``."""
    # Rows rather than their products: half the digits of the condition are lost, not all.
    m, d = A.shape
    if m < d:
        return _solve_wide(A, B, penalty, tol)
    if penalty:
        A, B = penalised(A, B, penalty)
    largest = np.abs(A).max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    scale = largest * _lengths(((A / largest) ** 2).sum(axis=0))  # squares may be too small
    U, s, axes = np.linalg.svd(A / scale, full_matrices=False)
    kept = s > max(ROUNDING * d, tol) * s.max(initial=0.0)
    along = U.T @ B
    coef = axes[kept].T @ (along[kept] / s[kept, None])
    explained = (along[kept] ** 2).sum(axis=0)
    found = Free(axes[~kept].T, s[~kept], scale).shortest(coef, explained, _condition(s), "svd")
    small = ~kept & (s > ROUNDING * d * s.max(initial=0.0))
    missed = (along[small] ** 2).sum(axis=0)
    left_out = missed / np.where(explained > 0, explained, np.inf)
    return replace(found, left_out=float(left_out.max(initial=0.0)))


def _solve_wide(A: Array, B: Array, penalty: float, tol: float) -> Solution:
    """As `solve_rows`, for fewer rows than columns: many answers, of which the shortest."""
    U, s, axes = np.linalg.svd(A, full_matrices=False)
    kept = s > max(ROUNDING * A.shape[1], tol) * s.max(initial=0.0)
    filtered = (s / np.where(kept, s**2 + penalty, np.inf))[:, None]
    coef = axes.T @ (filtered * (U.T @ B))
    rank = A.shape[1] if penalty else int(np.count_nonzero(kept))
    return Solution(coef, _condition(s), rank, "svd")


def solve_nonnegative(gram: Array, products: Array, penalty: float = 0.0) -> Solution:
    """As `solve`, with no coefficient below zero."""
    # ``gram = S'S`` for the root S of its eigenvectors, which stands for the rows.
    d = len(gram)
    gram = gram + penalty * np.eye(d)
    scale = _lengths(np.diag(gram))
    values, axes = np.linalg.eigh(gram / scale[:, None] / scale)
    kept = values > ROUNDING * d
    roots = np.sqrt(values[kept])[:, None]
    rows, right = roots * axes[:, kept].T, axes[:, kept].T @ (products / scale[:, None]) / roots
    coef = nonnegative(rows, right) / scale[:, None]
    condition = float(max(values.min(initial=np.inf), 0.0) / max(values.max(initial=0.0), 1e-300))
    return Solution(coef, condition, int(np.count_nonzero(kept)), "nnls", axes[:, ~kept])


def nonnegative(A: Array, B: Array) -> Array:
    """The coef (d, t) >= 0 of least ``|A coef - B|^2``."""
    d = A.shape[1]
    if not len(A):
        return np.zeros((d, B.shape[1]))
    return np.stack([nnls(A, b, maxiter=30 * d)[0] for b in B.T], axis=1)


def penalised(A: Array, B: Array, penalty: float) -> tuple[Array, Array]:
    """Rows with the penalty among them."""
    d = A.shape[1]
    below = np.sqrt(penalty) * np.eye(d)
    return np.vstack([A, below]), np.vstack([B, np.zeros((d, B.shape[1]))])


def _lengths(squares: Any) -> Array:
    """The lengths of columns, one for those that have none."""
    lengths = np.sqrt(np.maximum(squares, 0.0))
    return np.where(lengths > 0, lengths, 1.0)


def _condition(s: Array) -> float:
    """The reciprocal condition of normal equations, from the singular values of the rows."""
    largest = s.max(initial=0.0)
    return float((s.min() / largest) ** 2) if largest > 0 else 0.0


def by_penalty(penalties: Array, one: Callable[[NDArray[np.intp], float], Solution]) -> Solution:
    """The solution for all targets, from ``one(targets, penalty)`` for those of equal penalty."""
    if len(penalties) == 1:
        return one(np.zeros(1, np.intp), float(penalties[0]))
    different = np.unique(penalties)
    places = [np.flatnonzero(penalties == penalty) for penalty in different]
    parts = [one(here, float(p)) for here, p in zip(places, different, strict=True)]
    if len(parts) == 1:
        return parts[0]
    coef = np.empty((len(parts[0].coef), len(penalties)))
    for here, part in zip(places, parts, strict=True):
        coef[:, here] = part.coef
    worst = min(parts, key=lambda part: (part.rank, part.condition))
    return replace(worst, coef=coef)


# Conjugate gradients on least squares: nothing but products with the rows and their transpose.


def conjugate_gradients(
    product: Callable[[Array], Array],
    adjoint: Callable[[Array], Array],
    target: Array,
    penalty: float = 0.0,
    sizes: Array | None = None,
) -> Iterator[Iterate]:
    """Minimise ``|target - X w|^2 + penalty |w|^2`` from w = 0; yield a step after each iteration.

    `product` is X, `adjoint` its transpose, `sizes` (d,) about the diagonal of ``X'X + penalty``,
    by which directions are scaled. Without sizes the limit is the shortest of all solutions.

    The objective bends upward at least as much as ``penalty |w|^2``, so it is at most
    ``|gradient|^2 / (4 penalty)`` above its least value.
    """
    whole = float(target @ target)
    residual, half = target.copy(), adjoint(target)  # half: minus half the gradient
    w = np.zeros_like(half)
    scaled = half if sizes is None else half / sizes
    direction, size = scaled.copy(), float(half @ scaled)
    while True:
        if size > 0:
            moved = product(direction)
            step = size / (float(moved @ moved) + penalty * float(direction @ direction))
            w += step * direction
            residual -= step * moved
            half = adjoint(residual) - penalty * w
            scaled = half if sizes is None else half / sizes
            before, size = size, float(half @ scaled)
            direction = scaled + (size / before) * direction
        square = float(half @ half)
        objective = float(residual @ residual) + penalty * float(w @ w)
        gap = square / penalty if penalty else gap_above_zero(objective, whole)
        gap = gap if square > 0 else 0.0
        yield Iterate(w, objective, 2 * square**0.5, gap)
