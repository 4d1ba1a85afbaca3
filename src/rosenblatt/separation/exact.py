"""Proofs without rounding: the margins of a plane, and weights that cancel the rows.

``u = 2^-53``. A floating-point score ``w.x + b`` is within ``(d + 3) u (|w|.|x| + |b|)`` of the
true one, whatever the order of the sum; rows that this leaves in doubt are summed in integers.
Weights that cancel rows are proved by intervals around the solution of their equations, else by
elimination in integers. The nearest point of a small hull, in integers, decides all other cases.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import linalg

from .homogeneous_rows import dense
from .inputs import UNIT, Floats, Table

TINY = 1e-300  # more than underflow can add up to
MOST_EXACT = 256  # rows whose scores are computed exactly
LONGEST_SUM = 2_000_000  # terms of sums in integers to prove a plane
MOST_WORK = 1e9  # of an elimination in integers: about a second
NEARLY_DEPENDENT = 1e-10  # share of a column that others do not explain
LARGEST_DENOMINATOR = 1000  # of the coefficients of dependent columns
ROUNDED = 1e-12  # published weights are rounded: averages agree to this share of their terms


# Planes


def integers(values: Floats) -> tuple[NDArray[Any], int]:
    """Write an array as Python integers times a power of two, exactly: (integers, exponent)."""
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    if not whole.any():
        return whole.astype(object), 0
    least = int(exponent[whole != 0].min())
    shift = np.where(whole != 0, exponent - least, 0)
    return np.asarray(whole.astype(object) * 2 ** shift.astype(object)), least - 53


def exact_scores(X: Table, w: Floats) -> list[Fraction]:
    """Return ``w.x`` of a few rows without rounding."""
    w_int, w_power = integers(w)
    scores = []
    for i in range(X.shape[0]):
        part: Any = slice(None)
        values = X[i]
        if sp.issparse(X):
            stored = slice(X.indptr[i], X.indptr[i + 1])
            part, values = X.indices[stored], X.data[stored]
        x_int, x_power = integers(values)
        scores.append(int(x_int @ w_int[part]) * Fraction(2) ** (w_power + x_power))
    return scores


def least_margin(A: Table, w: Floats, b: Fraction | None = None) -> Fraction | None:
    """Return the least ``a.w`` over the rows of A without rounding; None unless all are positive.

    With b, the last column of A holds signs, and b is its coefficient: ``a.(w, b)``.
    """
    # When the floating-point bound proves all signs, only the MOST_EXACT lowest are exact.
    v = w if b is None else np.append(w, float(b))
    scores = np.asarray(A @ v)
    errors = 1.01 * (len(v) + 4) * UNIT * np.asarray(abs(A) @ abs(v)) + TINY
    if (scores < -errors).any() or np.isnan(scores).any() or not np.isfinite(errors).all():
        return None
    doubt = np.flatnonzero(scores <= errors)
    if len(doubt) * len(w) > LONGEST_SUM:
        return None
    rows = A[np.union1d(doubt, np.argsort(scores, kind="stable")[:MOST_EXACT])]
    exact = exact_scores(rows[:, : len(w)], w)
    if b is not None:
        signs = dense(rows[:, [-1]]).ravel()
        exact = [score + int(sign) * b for score, sign in zip(exact, signs, strict=True)]
    least = min(exact)
    return least if least > 0 else None


def middle(X: Table, w: Floats, sign: Floats) -> Fraction:
    """Return the intercept halfway between the classes' nearest rows."""
    scores = X @ w
    errors = 1.01 * (X.shape[1] + 3) * UNIT * (abs(X) @ abs(w)) + TINY
    ends: list[Fraction] = []
    for side in (1, -1):
        index = np.flatnonzero(sign == side)
        values, slack = side * scores[index], errors[index]
        near = index[np.flatnonzero(values - slack <= (values + slack).min())[:MOST_EXACT]]
        ends.append(side * min(side * score for score in exact_scores(X[near], w)))
    return -(ends[0] + ends[1]) / 2


# Weights that cancel rows


def independent_columns(A: Floats) -> Floats:
    """Return the columns of A (k, m) without columns that depend on others.

    A nearly dependent column (in inches and in centimeters, standardized dummy variables) is
    replaced by its exact difference from the combination of the others, rounded once.
    """
    R, order = linalg.qr(A, mode="r", pivoting=True)
    if not np.isfinite(R).all():
        return A
    sizes = np.abs(np.diag(R))
    rank = int((sizes > NEARLY_DEPENDENT * sizes[0]).sum())
    ratios = linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:])
    columns = [A[:, np.sort(order[:rank])]]
    constant = np.ptp(np.abs(A[:, order[:rank]]), axis=0) == 0
    for column, ratio in zip(order[rank:], ratios.T, strict=True):
        used = np.flatnonzero((np.abs(ratio) > NEARLY_DEPENDENT) | constant)
        whole = integers(A[:, [column, *order[used]]])[0]
        rests = (whole.dot(shares) for shares in _shares(whole, ratio[used]))
        rest = min(rests, key=lambda rest: bool(rest.any()))
        if rest.any():
            unit = 1 << max(abs(int(value)) for value in rest).bit_length()
            columns.append(np.array([[float(Fraction(int(value), unit))] for value in rest]))
    return np.hstack(columns)


def _shares(whole: NDArray[Any], ratio: Floats) -> Iterator[list[int]]:
    """Yield integers x such that ``whole x`` is zero or small: rounded, simple, or exact ratios."""
    simple = [Fraction(r).limit_denominator(LARGEST_DENOMINATOR) for r in ratio]
    for tried in (ratio.tolist(), simple):
        shares = [Fraction(share) for share in tried]
        common = lcm(*(share.denominator for share in shares))
        yield [common, *(-int(share * common) for share in shares)]
    exact = first_dependence(np.roll(whole, -1, axis=1))
    if exact is not None and len(exact) == whole.shape[1]:
        yield [exact[-1], *exact[:-1]]


def weights_by_intervals(A: Floats) -> Floats | None:
    """Return p, rounded, for rows A (m + 1, m) that exact weights p > 0 cancel; None if unproved.

    The rows have size about one, and may have been rounded once. None also if p is so inaccurate
    that the sums of its terms are not nearly zero in each column.
    """
    # The exact weights solve ``B p = e``: ``sum p_i a_i = 0, sum p_i = 1``. With R near the inverse
    # of B and ``q = |I - R B| < 1`` in the row sum norm, B is regular and the solution differs from
    # p by at most ``|R r| + q / (1 - q) max |R r|``, where r = e - B p (Krawczyk). Every product is
    # widened by its rounding error.
    A = A[:, A.any(axis=0)]
    if A.shape[1] + 1 != len(A):
        return None
    B = np.vstack([A.T, np.ones(len(A))])
    e = np.append(np.zeros(len(A) - 1), 1.0)
    try:
        R = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return None
    p = R[:, -1]
    for _ in range(2):
        p = p + R @ (e - B @ p)
    rounding = 1.01 * (len(B) + 4) * UNIT
    defect = abs(np.eye(len(B)) - R @ B) + rounding * (abs(R) @ abs(B)) + TINY
    q = 1.01 * float(defect.sum(axis=1).max())
    residual = abs(e - B @ p) + rounding * (abs(B) @ abs(p) + e) + TINY
    move = 1.01 * (abs(R) @ residual) + TINY
    if not q < 0.5:  # NaN fails
        return None
    positive = bool((p > 1.01 * (move + 2.0 * q * move.max())).all())
    return p if positive and bool((abs(A.T @ p) <= ROUNDED / 2 * (abs(A).T @ p)).all()) else None


def weights_by_elimination(A: Floats, near: Floats) -> Floats | None:
    """Return weights of the first rows of A, the heaviest in `near` first, that cancel; or None."""
    order = np.argsort(-near, kind="stable")
    M = np.array([integers(column)[0] for column in A[order].T], dtype=object)
    x = first_dependence(M.reshape(A.shape[1], len(A)))
    if x is None or (min(x) < 0 < max(x)):
        return None
    shares = shares_of_one(x)
    if shares is None:
        return None
    p = np.zeros(len(A))
    p[order[: len(x)]] = shares
    return p


def shares_of_one(x: Sequence[int]) -> Floats | None:
    """Return integers of one sign as shares of their sum; None if float64 cannot hold one."""
    total = sum(x)
    p = np.array([float(Fraction(int(value), int(total))) for value in x])
    lost = [value and share < np.finfo(float).tiny for share, value in zip(p, x, strict=True)]
    return None if any(lost) else p


def first_dependence(M: NDArray[Any]) -> list[int] | None:
    """Return integers x with ``M x = 0`` for the first dependent columns of M (m, k).

    The elimination is fraction-free (Bareiss): every division is exact. Return None if the columns
    are independent, or if it takes more than MOST_WORK.
    """
    if work_of(M.shape[0], M.shape[1], bits_of(M)) > MOST_WORK:
        return None
    before = 1
    for j in range(M.shape[1]):
        rows = j + np.flatnonzero(M[j:, j])
        if not len(rows):
            return [*(-M[:j, j]).tolist(), before]
        M[[j, rows[0]]] = M[[rows[0], j]]
        M, before = _eliminate(M, j, before)
    return None


def _eliminate(M: NDArray[Any], j: int, before: int) -> tuple[NDArray[Any], int]:
    """Clear column j of all rows but row j; `before` is the previous pivot."""
    pivot, row = M[j, j], M[j].copy()
    M = (pivot * M - M[:, j : j + 1] * row) // before
    M[j] = row
    return M, pivot


def work_of(m: int, k: int, bits: int) -> float:
    """Estimate the work of an elimination of m x k integers that grow to k times the bits."""
    rank = min(m, k)
    return float(rank) ** 2 * k * m * (bits + 40)


def bits_of(A: NDArray[Any]) -> int:
    """Return the bits of the largest integer."""
    return max((int(abs(value)).bit_length() for value in (A.max(), A.min())), default=0)


# The point of a hull nearest the origin, in integers: Wolfe's method without rounding.
#
# If the nearest point z is not zero, ``z.a >= z.z > 0`` for every row a, so z is a direction that
# separates. If it is zero, its weights prove that none exists. Each step keeps independent rows, a
# corral, and brings z closer, so the search ends.
#
# P. Wolfe (1976), Finding the nearest point in a polytope.


def nearest_point(A: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return a multiple of the nearest point (m,) and of the rows' weights (n,), in integers.

    A (n, m) holds Python integers. None if the search takes more than MOST_WORK.
    """
    corral, weights = [0], [Fraction(1)]
    bits, spent = bits_of(A), 0.0
    while True:
        k = len(corral)
        spent += work_of(k, k, 2 * bits) + A.size * k * bits
        if spent > MOST_WORK:
            return None
        corral, parts, whole = _settle(A, corral, weights)
        z = A[corral].T.dot(parts)
        scores = A.dot(z)
        fresh = int(np.argmin(scores))
        if scores[fresh] * whole >= z.dot(z):
            shares = np.zeros(len(A), dtype=object)
            shares[corral] = parts
            return z, shares
        corral = [*corral, fresh]
        weights = [*(Fraction(part, whole) for part in parts), Fraction(0)]


def _settle(
    A: NDArray[Any], corral: list[int], weights: list[Fraction]
) -> tuple[list[int], NDArray[Any], int]:
    """Drop rows until the nearest point of the corral's plane lies inside the corral."""
    # Returns the corral, the positive integer parts that make up its nearest point, and their sum.
    while True:
        # The weights of the nearest point of the plane through the rows S solve
        # ``(S S' + 1 1') x = 1``. The matrix is positive definite, because the rows are affinely
        # independent, so pivots are positive.
        S, before = A[corral], 1
        M = np.column_stack([S.dot(S.T) + 1, np.full(len(S), 1, dtype=object)])
        for j in range(len(S)):
            M, before = _eliminate(M, j, before)
        parts, whole = M[:, -1], int(M[:, -1].sum())
        if min(parts) > 0:
            return corral, parts, whole
        aims = [Fraction(part, whole) for part in parts]
        pairs = list(zip(weights, aims, strict=True))
        step = min(weight / (weight - aim) for weight, aim in pairs if aim <= 0)
        moved = [weight + step * (aim - weight) for weight, aim in pairs]
        corral = [row for row, weight in zip(corral, moved, strict=True) if weight > 0]
        weights = [weight for weight in moved if weight > 0]
