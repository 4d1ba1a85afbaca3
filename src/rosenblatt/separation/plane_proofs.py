"""The proof of a plane, row by row, in floating point with error bounds and integers in doubt.

``u = 2^-53``. A floating-point score ``w.x + b`` is within ``(d + 3) u (|w|.|x| + |b|)`` of the
true one, whatever the order of the sum; rows that this leaves in doubt are summed in integers.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import sparse

from .inputs import UNIT, Floats, Table

TINY = 1e-300  # more than underflow can add up to
LOOKED_AT = 256  # rows whose smallest score is computed exactly
LONGEST_SUM = 2_000_000  # terms summed in integers before a plane is given up


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
    out = []
    for i in range(X.shape[0]):
        values, part = _entries(X, i)
        x_int, x_power = integers(values)
        out.append(int(x_int @ w_int[part]) * Fraction(2) ** (w_power + x_power))
    return out


def _entries(X: Table, i: int) -> tuple[Floats, Any]:
    """Return the values of row i that are stored, and their columns."""
    if not sparse.issparse(X):
        return X[i], slice(None)
    part = slice(X.indptr[i], X.indptr[i + 1])
    return X.data[part], X.indices[part]


def score_error(X: Table, w: Floats, b: Floats | float) -> Floats:
    """Bound the rounding error of ``X @ w + b``; w is (d,) or (d, K)."""
    total: Floats = (X.shape[1] + 3) * UNIT * (abs(X) @ abs(w) + abs(b))
    return 1.01 * total + TINY


def smallest(
    scores: Floats, errors: Floats, exact: Callable[[NDArray[np.intp]], list[Fraction]], cost: int
) -> Fraction | None:
    """Return the least true score, or None unless all of them are positive."""
    # `exact` computes scores by row number, `cost` terms each. When the floating-point bound
    # settles all signs, the least score is exact over the LOOKED_AT lowest rows.
    if (scores < -errors).any() or np.isnan(scores).any() or not np.isfinite(errors).all():
        return None
    doubt = np.flatnonzero(scores <= errors)
    if len(doubt) * cost > LONGEST_SUM:
        return None
    low = np.argsort(scores, kind="stable")[:LOOKED_AT]
    least = min(exact(np.union1d(doubt, low)))
    return least if least > 0 else None


def middle(X: Table, w: Floats, sign: Floats) -> Fraction:
    """Return the intercept halfway between the classes' nearest rows."""
    # With rows on one side only the plane keeps at distance one.
    scores = X @ w
    errors = score_error(X, w, 0.0)
    ends: list[Fraction] = []
    for side in (1, -1):
        index = np.flatnonzero(sign == side)
        if not index.size:
            return -middle(X, -w, -sign) if side == 1 else 1 - ends[0]
        values, slack = side * scores[index], errors[index]
        near = index[np.flatnonzero(values - slack <= (values + slack).min())[:LOOKED_AT]]
        ends.append(side * min(side * score for score in exact_scores(X[near], w)))
    return -(ends[0] + ends[1]) / 2


# Directions that lower no row, without rounding.
#
# What floating point cannot tell from a tie may be a contradiction. Here the scores along a
# direction are summed in integers, and its biases are fractions.

MOST_EXACT = 200_000  # products in integers
MOST_EXACT_CELLS = 20_000_000  # in which equal rows are looked for


def ahead_exactly(
    X: Any, codes: NDArray[Any], W: Floats, fit_intercept: bool
) -> NDArray[np.bool_] | None:
    """Who gets ahead of whom (n, K) along weights W (K, d), with biases that suit them best."""
    # None unless no row's own class falls behind another and some get ahead; or if a class has no
    # row, or it would take too long.
    used, K = np.flatnonzero(W.any(axis=0)), len(W)
    if not len(used) or X.shape[0] * len(used) > MOST_EXACT_CELLS or len(np.unique(codes)) < K:
        return None
    part = X[:, used]
    part = np.asarray(part.toarray() if sp.issparse(part) else part, np.float64) + 0.0  # no -0
    rows, of_row = np.unique(part, axis=0, return_inverse=True)  # equal rows have equal scores
    if rows.size * K > MOST_EXACT:
        return None
    scores = np.array([exact_scores(rows, w) for w in W[:, used]], dtype=object).T
    kinds, of_row = np.unique(of_row.ravel() * K + codes, return_inverse=True)
    at, own = np.divmod(kinds, K)
    leads = scores[at, own][:, None] - scores[at]  # of each distinct row and class (m, K)
    b = np.array([Fraction(0)] * K, dtype=object)
    if fit_intercept:
        b = np.array(_biases([leads[own == y].min(axis=0).tolist() for y in range(K)]), object)
    leads = leads + b[own][:, None] - b
    ahead = np.asarray(leads > 0, np.bool_)
    return ahead[of_row.ravel()] if (leads >= 0).all() and ahead.any() else None


def _biases(least: list[list[Fraction]]) -> list[Fraction]:
    """Biases b with ``b_k - b_y <= least[y][k]``, in the middle of all, if there are any."""
    # The lengths of the shortest paths from any class are such biases, and so is their mean.
    K = len(least)
    lengths = [list(row) for row in least]  # from class y to class k
    for middle in range(K):
        for y in range(K):
            for k in range(K):
                lengths[y][k] = min(lengths[y][k], lengths[y][middle] + lengths[middle][k])
    return [sum((lengths[y][k] for y in range(K)), Fraction(0)) / K for k in range(K)]


# Directions near one that a linear program found.
#
# A program is right up to a share of its largest number; a row of small numbers may contradict by
# less than that. Directions near the one found close the ties that the program left a little open.

LARGEST_DENOMINATOR = 1000  # of coefficients that are tried in place of those found
NEARLY_TIED = 1e-6  # a lead, as a share of its own products
MOST_CELLS = 2_000_000  # of ties closed by least squares


def nearby(leads: Any, v: Floats) -> Iterator[Floats]:
    """The direction v, its simplest proportions, and v with the rows that are nearly tied tied."""
    if not v.any():
        return
    yield v
    yield whole(v)
    for _ in range(2):  # the second time for what rounding left of the first
        v = _tied(leads, v)
        yield v


def whole(v: Floats) -> Floats:
    """Whole numbers in about the proportions of v."""
    smallest = np.abs(v[v != 0]).min()
    near = [Fraction(x / smallest).limit_denominator(LARGEST_DENOMINATOR) for x in v.ravel()]
    factor = lcm(*(f.denominator for f in near))
    return np.array([float(f * factor) for f in near]).reshape(v.shape)


def _tied(leads: Any, v: Floats) -> Floats:
    """The nearest to v, of the same columns, with no lead on rows that have next to none."""
    used = np.flatnonzero(v)
    sizes = abs(leads) @ np.abs(v)
    gained = leads @ v
    tied = np.flatnonzero((np.abs(gained) <= NEARLY_TIED * sizes) & (sizes > 0))
    if not len(tied) or len(tied) * len(used) > MOST_CELLS:
        return v
    # In proportion to v, so that small coefficients are moved by a share of themselves too.
    A = leads[tied][:, used].toarray() * v[used] / sizes[tied, None]
    moved = v.copy()
    moved[used] *= 1 - np.linalg.lstsq(A, A.sum(axis=1), rcond=1e-9)[0]
    return moved
