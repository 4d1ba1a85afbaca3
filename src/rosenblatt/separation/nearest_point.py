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
    """Predict the work on n rows of m integers with so many bits.

    Some k steps, each an elimination of k x k integers that grow to k times the bits, and the
    scores of all rows.
    """
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
    """Drop points until the nearest one of the corral's plane lies inside the corral.

    Returns the corral, the positive integer parts that make up its nearest point, and their sum.
    """
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
    """Return integers, and their sum, in proportion to the nearest point's weights in S (k, m).

    ``(S S' + 1 1') x = 1``, by elimination without fractions (Bareiss): the matrix is positive
    definite because the points are independent, so pivots are positive.
    """
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
