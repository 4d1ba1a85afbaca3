"""By how much each row's own class leads under linear scores, with every sign certain.

``u = 2^-53``. A floating-point score ``w.x + b`` is within ``(d + 3) u (|w|.|x| + |b|)`` of the
true one, whatever the order of the sum. Rows whose lead is smaller than that are added up in
fractions.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .claims import Grade

UNIT = 2.0**-53
ROWS_PER_BLOCK = 4096
MOST_EXACT_PRODUCTS = 2_000_000


@dataclass(frozen=True)
class Leads:
    """How each row's own class stands against the best of the others."""

    lower: NDArray[np.float64]  # (n,) the lead, less its rounding allowance
    wrong: NDArray[np.bool_]  # (n,) another class is predicted
    grade: Grade  # "proved" when no sign rests on rounding


def leads_of(
    X: Any,
    codes: NDArray[np.intp],
    W: NDArray[np.float64],
    b: NDArray[np.float64],
    ties_go_up: bool,
) -> Leads:
    """The leads of rows X (n, d) of classes codes (n,) under scores W x + b, W (K, d), b (K,)."""
    n = X.shape[0]
    lead, allowance = np.empty(n), np.empty(n)
    for start in range(0, n, ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        lead[rows], allowance[rows] = rounded_leads(X[rows], codes[rows], W, b)
    doubtful = np.flatnonzero(~(np.abs(lead) > allowance))
    products = len(doubtful) * X.shape[1] * len(W)
    grade: Grade = "proved" if products <= MOST_EXACT_PRODUCTS else "checked"
    with np.errstate(invalid="ignore"):
        lower, wrong = lead - allowance, lead < 0
    if grade == "checked":
        wrong[doubtful] = True  # to err on the safe side
        return Leads(lower, wrong, grade)
    for i in doubtful.tolist():
        exact, tied_right = _exact_lead(_dense_row(X, i), int(codes[i]), W, b, ties_go_up)
        lower[i] = _rounded(exact) * (1 - 2 * UNIT if exact > 0 else 1 + 2 * UNIT)
        wrong[i] = exact < 0 or (exact == 0 and not tied_right)
    return Leads(lower, wrong, grade)


def rounded_leads(
    X: Any, codes: NDArray[np.intp], W: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leads (m,) of a block of rows in floating point, and what rounding may have done to each."""
    everyone = np.arange(len(codes))
    with np.errstate(over="ignore", invalid="ignore"):  # then the row is in doubt, and done exactly
        scores = np.asarray(X @ W.T) + b
        terms = np.asarray(abs(X) @ abs(W).T) + abs(b)
    errors = 1.01 * (X.shape[1] + 3) * UNIT * terms + 1e-300
    own = scores[everyone, codes]
    others = scores.copy()
    others[everyone, codes] = -np.inf
    rival = others.max(axis=1)
    with np.errstate(invalid="ignore"):
        lead = own - rival
    return lead, errors[everyone, codes] + errors.max(axis=1) + 2 * UNIT * (abs(own) + abs(rival))


def _rounded(exact: Fraction) -> float:
    """The nearest floating-point number; infinity beyond their range."""
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def _dense_row(X: Any, i: int) -> NDArray[np.float64]:
    """Row i of X as an array (d,)."""
    row = X[[i]]
    return np.ravel(row.toarray() if sp.issparse(row) else row)


def _exact_lead(
    x: NDArray[np.float64],
    own: int,
    W: NDArray[np.float64],
    b: NDArray[np.float64],
    ties_go_up: bool,
) -> tuple[Fraction, bool]:
    """The lead of one row without rounding, and whether a tie would be decided its way."""
    used = np.flatnonzero(x)
    features = [Fraction(value) for value in x[used].tolist()]
    scores = [
        sum(
            (f * Fraction(w) for f, w in zip(features, row[used].tolist(), strict=True)),
            Fraction(bias),
        )
        for row, bias in zip(W, b.tolist(), strict=True)
    ]
    best = max(score for k, score in enumerate(scores) if k != own)
    rivals = [k for k, score in enumerate(scores) if k != own and score == best]
    return scores[own] - best, (own > max(rivals) if ties_go_up else own < min(rivals))
