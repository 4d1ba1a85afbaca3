"""The point of a hull nearest the origin, in integers: Wolfe's method without rounding.

The hull is that of all sums of one row from each group: one group gives rows ``a_i`` that a v
should keep positive, two classes as groups give the differences ``x_i - x_j``. If the nearest
point z is not zero, ``z.s >= z.z > 0`` for every s of the hull, and z is the widest direction.
If it is zero, its weights are a combination that proves no direction exists. Each step keeps
independent points, a corral, and brings z closer, so there is an end.

References
----------
P. Wolfe (1976), Finding the nearest point in a polytope.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

WOLFE_WORK = 5e8  # of `work_of`, about half a second


@dataclass(frozen=True)
class Nearest:
    """A multiple of the nearest point, (m,) integers, and the rows' weights, one in each group."""

    point: NDArray[Any]
    weights: list[Fraction]


def work_of(n: int, m: int, bits: int) -> float:
    """Predict the work on n rows of m integers with so many bits."""
    # Some k steps, each an elimination of k x k integers that grow to k times the bits, and the
    # scores of all rows.
    k = min(n, m) + 1
    return float(k) * bits * (float(k) ** 4 + n * m)


def bits_of(A: NDArray[Any]) -> int:
    """Return the bits of the largest integer."""
    return max(int(abs(value)).bit_length() for value in (A.max(), A.min()))


def nearest_point(A: NDArray[Any], group: NDArray[np.intp]) -> Nearest:
    """Find the nearest point of rows A (n, m), Python integers; rows of group -1 do not count."""
    members = [np.flatnonzero(group == g) for g in range(int(group.max()) + 1)]
    corral = [[int(index[0]) for index in members]]
    weights = [Fraction(1)]
    while True:
        corral, parts, whole = _settle(A, corral, weights)
        z = _points(A, corral).T.dot(parts)  # the corral's nearest point, times `whole`
        scores = A.dot(z)
        fresh = [int(index[np.argmin(scores[index])]) for index in members]
        if z.dot(A[fresh].sum(axis=0)) * whole >= z.dot(z):
            return Nearest(z, _shares(len(A), corral, parts, whole))
        corral = [*corral, fresh]
        weights = [*(Fraction(part, whole) for part in parts), Fraction(0)]


def _settle(
    A: NDArray[Any], corral: list[list[int]], weights: list[Fraction]
) -> tuple[list[list[int]], NDArray[Any], int]:
    """Drop points until the nearest one of the corral's plane lies inside the corral."""
    # Returns the corral, the positive integer parts that make up its nearest point, and their sum.
    while True:
        parts, whole = _of_plane(_points(A, corral))
        if min(parts) > 0:
            return corral, parts, whole
        aims = [Fraction(part, whole) for part in parts]
        pairs = list(zip(weights, aims, strict=True))
        step = min(weight / (weight - aim) for weight, aim in pairs if aim <= 0)
        moved = [weight + step * (aim - weight) for weight, aim in pairs]
        corral = [points for points, weight in zip(corral, moved, strict=True) if weight > 0]
        weights = [weight for weight in moved if weight > 0]


def _points(A: NDArray[Any], corral: list[list[int]]) -> NDArray[Any]:
    """Return the corral's points, each a sum of rows, (k, m)."""
    return np.array([A[rows].sum(axis=0) for rows in corral], dtype=object)


def _of_plane(S: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return integers, and their sum, in proportion to the nearest point's weights in S (k, m)."""
    # ``(S S' + 1 1') x = 1``, by elimination without fractions (Bareiss): the matrix is positive
    # definite because the points are independent, so pivots are positive.
    k = len(S)
    M = np.column_stack([S.dot(S.T) + 1, np.full(k, 1, dtype=object)])
    before = 1
    for j in range(k):
        pivot, row = M[j, j], M[j].copy()
        M = (pivot * M - M[:, j : j + 1] * row) // before
        M[j] = row
        before = pivot
    return M[:, -1], int(M[:, -1].sum())


def _shares(n: int, corral: list[list[int]], parts: NDArray[Any], whole: int) -> list[Fraction]:
    """Return the weight of each of n rows."""
    total = [0] * n
    for rows, part in zip(corral, parts, strict=True):
        for i in rows:
            total[i] += int(part)
    return [Fraction(part, whole) for part in total]


# The one vector that integer rows send to zero, by p-adic lifting.
#
# Solve the square system modulo a prime once, then lift the solution digit by digit: each digit
# is one product with the inverse modulo the prime and one exact update of the remainder.
# Fractions are read off the digits and checked against every equation, so a wrong guess costs
# time, never truth.
#
# J. D. Dixon (1982), Exact solution of linear equations using p-adic expansions.

PRIME = 2**31 - 1
MOST_UNKNOWNS = 400
LIFTING_WORK = 40_000_000  # entries times digits


def kernel_vector(M: NDArray[Any]) -> list[int] | None:
    """Return integers x with ``M x = 0`` for M (m, k) of Python integers whose kernel is a line."""
    # None when the kernel is larger, is zero, or takes more work than LIFTING_WORK.
    k = M.shape[1]
    if not 2 <= k <= MOST_UNKNOWNS:
        return None
    equations = _independent_rows(M)
    if equations is None:
        return None
    B, rest = M[equations, :-1], -M[equations, -1]
    inverse = _inverse(B)
    power, x = 1, np.zeros(k - 1, dtype=object)
    attempt = 2
    for digits in range(1, _digits_enough(M[equations]) + 1):
        if digits * (k - 1) ** 2 > LIFTING_WORK:
            break
        digit = _product(inverse, (rest % PRIME).astype(np.int64)).astype(object)
        x = x + power * digit
        rest = (rest - B.dot(digit)) // PRIME
        power *= PRIME
        if digits >= attempt or digits == _digits_enough(M[equations]):
            attempt = 2 * digits
            candidate = _fractions(x, power)
            if candidate is not None and not M.dot(np.array(candidate, dtype=object)).any():
                return candidate
    return None


def _digits_enough(M: NDArray[Any]) -> int:
    """Bound the digits needed: determinants are at most the product of the rows' lengths."""
    bits = sum(int(row.dot(row)).bit_length() for row in M)  # of numerator and denominator together
    return (bits + 8) // 30 + 1


def _independent_rows(M: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return k - 1 rows of M (m, k) that determine the kernel, if modulo PRIME it is a line."""
    # None also when the last coordinate is zero on that line.
    k = M.shape[1]
    work = (M % PRIME).astype(np.int64)
    order = np.arange(len(M))
    for j in range(k - 1):
        nonzero = np.flatnonzero(work[j:, j])
        if not nonzero.size:
            return None
        swap = j + int(nonzero[0])
        work[[j, swap]], order[[j, swap]] = work[[swap, j]], order[[swap, j]]
        factor = work[j + 1 :, j] * pow(int(work[j, j]), -1, PRIME) % PRIME
        work[j + 1 :, j:] = (work[j + 1 :, j:] - factor[:, None] * work[j, j:]) % PRIME
    return None if work[k - 1 :, -1].any() else order[: k - 1]


def _inverse(B: NDArray[Any]) -> NDArray[np.int64]:
    """Invert B (k, k), regular modulo PRIME, modulo PRIME."""
    k = len(B)
    both = np.hstack([(B % PRIME).astype(np.int64), np.eye(k, dtype=np.int64)])
    for j in range(k):
        swap = j + int(np.flatnonzero(both[j:, j])[0])
        both[[j, swap]] = both[[swap, j]]
        both[j] = both[j] * pow(int(both[j, j]), -1, PRIME) % PRIME
        factor = both[:, j].copy()
        factor[j] = 0
        both = (both - factor[:, None] * both[j]) % PRIME
    return both[:, k:]


def _product(A: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ``A x`` modulo PRIME; halves of 16 bits keep the sums below 2^63."""
    high, low = x >> 16, x & 0xFFFF
    return ((A @ high % PRIME) * 65536 + A @ low) % PRIME


def _fractions(x: NDArray[Any], modulus: int) -> list[int] | None:
    """Return numerators, and their common denominator last, that match x modulo `modulus`."""
    bound = isqrt(modulus // 2)
    common = 1
    for value in x:
        scaled = int(value) * common % modulus
        if min(scaled, modulus - scaled) > bound:
            denominator = _denominator(scaled, modulus, bound)
            if denominator is None or common * denominator > bound:
                return None
            common *= denominator
    numerators = [int(value) * common % modulus for value in x]
    centred = [a - modulus if 2 * a > modulus else a for a in numerators]
    return [*centred, common] if all(abs(a) <= bound for a in centred) else None


def _denominator(value: int, modulus: int, bound: int) -> int | None:
    """Return the q <= bound with ``value q`` within `bound` of a multiple of `modulus`."""
    a, b, p, q = modulus, value, 0, 1
    while b > bound:
        step = a // b
        a, b, p, q = b, a - step * b, q, p - step * q
    return abs(q) if 0 < abs(q) <= bound else None
