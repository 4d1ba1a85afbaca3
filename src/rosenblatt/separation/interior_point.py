"""The proof that no plane exists, by weights that may move a little without turning negative.

The equations ``sum p_i a_i = 0`` hold only nearly for weights found in floating point. If the
rows that carry weight have full rank and least singular value s, any residual r is removed by a
change of length at most ``|r| / s``; when every weight is larger than that, exact weights exist.
s is bounded below by a Cholesky factorisation that still succeeds after a shift.

References
----------
S. M. Rump (2006), Verification of positive definiteness.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .homogeneous_rows import HomogeneousRows
from .inputs import UNIT, Floats
from .max_margin import DIRECT, conjugate_gradients
from .plane_proofs import TINY, integers

MOST_EQUATIONS = 6000
MOST_ENTRIES = 20_000_000  # of the rows, when columns are compared exactly
FAINT = 1e-6  # share of the weights that must survive a projection
UNDERFLOW = 1e-150  # more than squares too small to count can hide


def interior_combination(rows: HomogeneousRows, weights: Floats) -> Floats | None:
    """Return weights p near `weights`, which are rounded, with ``sum p_i a_i = 0``; or None."""
    # The heavier rows absorb the change. If the projection turns some of them negative they are
    # dropped, a few times over.
    if rows.m > MOST_EQUATIONS:
        return None
    p = weights / weights.sum()
    share = 0.1
    for _ in range(6):
        carrying = np.flatnonzero(p > share * p.sum() / np.count_nonzero(p))
        if rows.m > DIRECT and not _may_project(rows, p, carrying):
            return None
        system = _equations(rows, p, carrying)
        if system is None:
            share *= 1e-3
            if share < 1e-7:
                return None
            continue
        p = system.project(p)
        if not FAINT < p.sum() < np.inf:
            return None
        p = p / p.sum()
        if p[carrying].min() > system.change(p):
            return np.asarray(p)
        p = np.maximum(p, 0.0)
        p /= p.sum()
    return None


def _may_project(rows: HomogeneousRows, p: Floats, carrying: NDArray[np.intp]) -> bool:
    """Say, without a factorisation, whether a projection leaves most weights positive."""
    curvature = rows.hessian_product(carrying)
    v = conjugate_gradients(curvature, rows.tdot(p), 1e-2, 100)
    return bool(np.mean(p[carrying] > rows.dot(v)[carrying]) > 0.9)


@dataclass(frozen=True)
class Equations:
    """Columns of the rows that imply all others, scaled to length about one.

    `columns` are kept as they are; each of `extra` (n, e) is an exact combination of columns.
    """

    rows: HomogeneousRows
    carrying: NDArray[np.intp]
    columns: NDArray[np.intp]
    extra: Floats
    scale: Floats
    factor: Any  # Cholesky factor of the scaled Gram matrix of the carrying rows
    least: float  # proved lower bound of its least eigenvalue

    def residual(self, p: Floats) -> Floats:
        """Return the scaled ``sum p_i a_i``."""
        return self.scale * np.append(self.rows.tdot(p)[self.columns], self.extra.T @ p)

    def project(self, p: Floats) -> Floats:
        """Solve the equations by the least change of the carrying weights."""
        for _ in range(3):
            change = self.scale * linalg.cho_solve(
                self.factor, self.residual(p), check_finite=False
            )
            v = np.zeros(self.rows.m)
            v[self.columns] = change[: len(self.columns)]
            move = self.rows.dot(v) + self.extra @ change[len(self.columns) :]
            p = p.copy()
            p[self.carrying] -= move[self.carrying]
        return p

    def change(self, p: Floats) -> float:
        """Bound the change that makes p exact."""
        size = abs(p)
        mass = np.append(self.rows.mass(size)[self.columns], abs(self.extra).T @ size)
        rounding = (self.rows.n + 3) * UNIT * self.scale * mass + TINY
        length = np.linalg.norm(abs(self.residual(p)) + rounding)
        return (1.01 * float(length) + UNDERFLOW) / float(np.sqrt(self.least))


def _equations(rows: HomogeneousRows, p: Floats, carrying: NDArray[np.intp]) -> Equations | None:
    """Choose and factorise the equations of weights p; None if no full rank can be shown."""
    used = (p > 0.0).astype(float)
    columns = np.flatnonzero(rows.mass(used) > 0.0)  # the others are zero on all rows that matter
    gram = rows.gram(carrying)[np.ix_(columns, columns)]
    if not len(columns) or np.diag(gram).min() < 1e-200:
        return None
    extra = np.zeros((rows.n, 0))
    scale = np.ldexp(1.0, -(np.frexp(np.diag(gram))[1] // 2))
    gram = scale[:, None] * gram * scale
    noise = 16 * (len(carrying) + len(columns)) * UNIT
    if len(columns) >= len(carrying) or not _looks_regular(gram, noise):
        kept, left = _pivots(gram, rows.bias[columns], noise)
        if len(kept) >= len(carrying) or not _may_project(rows, p, carrying):
            return None
        found = _remainders(rows, p, columns, scale, gram, kept, left)
        if found is None:
            return None
        columns, extra, scale = columns[kept], found, scale[kept]
        if extra.shape[1]:
            gram, scale = _extended(rows, carrying, columns, extra)
        else:
            gram = gram[np.ix_(kept, kept)]
    least = _least_eigenvalue(gram, len(carrying))
    if least <= 0.0:
        return None
    return Equations(rows, carrying, columns, extra, scale, linalg.cho_factor(gram), least)


def _extended(
    rows: HomogeneousRows, carrying: NDArray[np.intp], columns: NDArray[np.intp], extra: Floats
) -> tuple[Floats, Floats]:
    """Return the scaled Gram matrix of columns and extra ones, and the scale."""
    A = np.hstack([rows.take(carrying, columns), extra[carrying]])
    size = np.abs(A).max(axis=0)
    scale = np.ldexp(1.0, -np.frexp(size * np.sqrt(len(A)))[1])
    A = A * scale
    return A.T @ A, scale


def _looks_regular(gram: Floats, noise: float) -> bool:
    try:
        return bool(np.diag(linalg.cholesky(gram)).min() ** 2 > noise)
    except linalg.LinAlgError:
        return False


def _least_eigenvalue(gram: Floats, k: int) -> float:
    """Return a lower bound of the least eigenvalue of the true Gram matrix of k rows, or zero."""
    # Rounding of the sums is at most ``k u trace`` in norm, of the factorisation ``(m + 2) u
    # trace``; four times that is allowed.
    m = len(gram)
    allowance = 4 * (k + m + 4) * UNIT * float(np.trace(gram))
    for shift in (1e-3, 1e-6, 2 * allowance):
        if shift < 2 * allowance:
            continue
        try:
            linalg.cholesky(gram - shift * np.eye(m), overwrite_a=True)
        except linalg.LinAlgError:
            continue
        return shift - allowance
    return 0.0


def _pivots(
    gram: Floats, bias: NDArray[np.bool_], noise: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split columns into independent ones, intercepts first, and the rest."""
    first = np.where(bias, 4.0, 1.0)
    pivots, rank = linalg.lapack.dpstrf(first[:, None] * gram * first, tol=noise, lower=1)[1:3]
    return np.sort(pivots[:rank] - 1), pivots[rank:] - 1


def _remainders(
    rows: HomogeneousRows,
    p: Floats,
    columns: NDArray[np.intp],
    scale: Floats,
    gram: Floats,
    kept: NDArray[np.intp],
    left: NDArray[np.intp],
) -> Floats | None:
    """Return what each column left out adds to those kept, exactly, (n, e); or None."""
    # A column that is a simple fraction of others leaves nothing; one that was computed from others
    # (a sum, inches to centimetres) leaves its rounding errors, which are numbers too.
    index = np.flatnonzero(p)
    if len(index) * max(len(columns), 10 * len(left)) > MOST_ENTRIES:
        return None
    try:
        ratio = linalg.solve(gram[np.ix_(kept, kept)], gram[np.ix_(kept, left)], assume_a="pos")
    except linalg.LinAlgError:
        return None
    # From ratios of scaled columns to ratios in the units of x, where simple ones are looked for.
    unit = rows.units[columns]
    A = rows.take(index, columns)
    bias = rows.bias[columns[kept]]
    extra = []
    for at, column in enumerate(left):
        shares = ratio[:, at] * (scale[kept] / scale[column]) * (unit[column] / unit[kept])
        last = int(np.argmax(np.where(bias, 1.0 + abs(ratio[:, at]), 0.0)))
        used = [n for n in np.flatnonzero(abs(ratio[:, at]) > 1e-6) if n != last]
        simple = [Fraction(float(shares[n])).limit_denominator(5000) for n in used]
        parts = [(-Fraction(unit[column]), A[:, column])]
        parts += [
            (share * Fraction(unit[kept[n]]), A[:, kept[n]])
            for n, share in zip(used, simple, strict=True)
        ]
        rest = _exact_sum(parts, A[:, kept[last]])
        if rest is None:
            return None
        if rest.any():
            whole = np.zeros(rows.n)
            whole[index] = rest
            extra.append(whole)
    return np.array(extra).T if extra else np.zeros((rows.n, 0))


def _exact_sum(parts: list[tuple[Fraction, Floats]], free: Floats) -> Floats | None:
    """Return a multiple of ``sum share column`` less its part along `free`, if floats hold it."""
    # `free` is the intercept, of which any multiple may be taken away; one row's value is.
    whole = [integers(column) for _, column in parts]
    shares = [
        share * Fraction(2) ** power for (share, _), (_, power) in zip(parts, whole, strict=True)
    ]
    common = lcm(*(share.denominator for share in shares))
    total: Any = sum(
        int(share * common) * column for share, (column, _) in zip(shares, whole, strict=True)
    )
    along = integers(free)[0]
    at = int(np.argmax(abs(free)))
    if along[at]:
        total = total * along[at] - total[at] * along
    if not total.any():
        return np.zeros(len(free))
    total = total // np.gcd.reduce(total)
    if max(abs(value) for value in total).bit_length() > 1000:
        return None
    floats = total.astype(np.float64)
    same = all(int(value) == true for value, true in zip(floats, total, strict=True))
    return np.asarray(floats / np.ldexp(1.0, np.frexp(abs(floats).max())[1])) if same else None
