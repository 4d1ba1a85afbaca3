"""The proof of a plane, row by row, in floating point with error bounds and integers in doubt.

``u = 2^-53``. A floating-point score ``w.x + b`` is within ``(d + 3) u (|w|.|x| + |b|)`` of the
true one, whatever the order of the sum; rows that this leaves in doubt are summed in integers.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
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
    """Return the least true score, or None unless all of them are positive.

    `exact` computes scores by row number, `cost` terms each. When the floating-point bound
    settles all signs, the least score is exact over the LOOKED_AT lowest rows.
    """
    if (scores < -errors).any() or np.isnan(scores).any() or not np.isfinite(errors).all():
        return None
    doubt = np.flatnonzero(scores <= errors)
    if len(doubt) * cost > LONGEST_SUM:
        return None
    low = np.argsort(scores, kind="stable")[:LOOKED_AT]
    least = min(exact(np.union1d(doubt, low)))
    return least if least > 0 else None


def middle(X: Table, w: Floats, sign: Floats) -> Fraction:
    """Return the intercept halfway between the classes' nearest rows.

    With rows on one side only the plane keeps at distance one.
    """
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
