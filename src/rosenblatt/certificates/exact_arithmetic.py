"""Exact arithmetic of the verifiers: by how much each row's own class leads, every sign certain.

``u = 2^-53``. A floating-point score ``w.x + b`` is within ``(d + 3) u (|w|.|x| + |b|)`` of the
true one, whatever the order of the sum. Rows whose lead is smaller than that are added up in
fractions: every float is a whole number times a power of two. The fits and `separability` have code
of their own for this: a verifier that shared it would repeat its mistakes.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import deadline
from rosenblatt.separation import Separability

from .claims import Grade

Floats = NDArray[np.float64]

UNIT = 2.0**-53
ROWS_PER_BLOCK = 4096
MOST_EXACT_PRODUCTS = 2_000_000  # of fractions
MOST_PRODUCTS = 200_000  # of whole numbers
MOST_CELLS = 20_000_000  # in which equal rows are looked for
LARGEST_DENOMINATOR = 1000  # of the fractions tried in place of coefficients
NEAR = 1e-9  # relative, of sums that rounding has touched


@dataclass(frozen=True)
class RowLeads:
    """How each row's own class stands against the best of the others."""

    lower: Floats  # (n,) the lead, less its rounding allowance
    wrong: NDArray[np.bool_]  # (n,) another class is predicted
    grade: Grade  # "proved" when no sign rests on rounding


def leads_of(
    X: Any,
    codes: NDArray[np.intp],
    W: Floats,
    b: Floats,
    ties_go_up: bool,
) -> RowLeads:
    """The leads of rows X (n, d) of classes codes (n,) under scores W x + b, W (K, d), b (K,)."""
    n = X.shape[0]
    lead, allowance = np.empty(n), np.empty(n)
    for start in range(0, n, ROWS_PER_BLOCK):
        deadline.check()
        rows = slice(start, start + ROWS_PER_BLOCK)
        lead[rows], allowance[rows] = rounded_leads(X[rows], codes[rows], W, b)
    doubtful = np.flatnonzero(~(np.abs(lead) > allowance))
    products = len(doubtful) * X.shape[1] * len(W)
    grade: Grade = "proved" if products <= MOST_EXACT_PRODUCTS else "checked"
    with np.errstate(invalid="ignore"):
        lower, wrong = lead - allowance, lead < 0
    if grade == "checked":
        wrong[doubtful] = True  # to err on the safe side
        return RowLeads(lower, wrong, grade)
    for i in doubtful.tolist():
        exact, tied_right = _exact_lead(_dense_row(X, i), int(codes[i]), W, b, ties_go_up)
        lower[i] = not_above(exact)
        wrong[i] = exact < 0 or (exact == 0 and not tied_right)
    return RowLeads(lower, wrong, grade)


def rounded_leads(X: Any, codes: NDArray[np.intp], W: Floats, b: Floats) -> tuple[Floats, Floats]:
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


def not_above(exact: Fraction) -> float:
    """The largest floating-point number that is not above a fraction.

    >>> not_above(Fraction(3, 4) * Fraction(5e-324)), not_above(Fraction(10) ** 400)
    (0.0, 1.7976931348623157e+308)
    """
    try:
        near = float(exact)
    except OverflowError:
        return float(np.finfo(float).max) if exact > 0 else -np.inf
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def _dense_row(X: Any, i: int) -> Floats:
    """Row i of X as an array (d,)."""
    row = X[[i]]
    return np.ravel(row.toarray() if sp.issparse(row) else row)


def _exact_lead(
    x: Floats,
    own: int,
    W: Floats,
    b: Floats,
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


# Directions and balances in whole numbers.


def whole_numbers(values: Floats) -> NDArray[Any]:
    """Python integers in exactly the proportions of some floats."""
    ratios = [value.as_integer_ratio() for value in values.ravel().tolist()]
    common = max((bottom for _, bottom in ratios), default=1)  # all are powers of two
    exact = np.array([top * (common // bottom) for top, bottom in ratios], dtype=object)
    return exact.reshape(values.shape)


def simple_proportions(v: Floats) -> NDArray[Any]:
    """Python integers in about the proportions of v, which is not all zeros."""
    unit = np.abs(v[v != 0]).min()
    near = [Fraction(x / unit).limit_denominator(LARGEST_DENOMINATOR) for x in v.ravel().tolist()]
    common = lcm(*(ratio.denominator for ratio in near))
    return np.array([int(ratio * common) for ratio in near], dtype=object).reshape(v.shape)


def rows_ahead(
    X: Any, codes: NDArray[Any], W: NDArray[Any], fit_intercept: bool
) -> NDArray[np.bool_] | None:
    """Which rows get ahead of which class (n, K) along whole-number weights W (K, d)."""
    # The biases are the ones that suit W best. None unless no row's own class falls behind another
    # and some get ahead; or if a class has no row, or it would take too long.
    K, used = len(W), np.flatnonzero((W != 0).any(axis=0))
    if not len(used) or X.shape[0] * len(used) > MOST_CELLS or len(np.unique(codes)) < K:
        return None
    part = X[:, used].toarray() if sp.issparse(X) else X[:, used]
    # Equal rows of one class are looked at once; adding 0 makes -0 equal to 0.
    keyed = np.column_stack([np.asarray(part, np.float64) + 0.0, codes])
    kinds, of_row = np.unique(keyed, axis=0, return_inverse=True)
    own = kinds[:, -1].astype(np.intp)
    if kinds[:, :-1].size * K > MOST_PRODUCTS:
        return None
    scores = whole_numbers(kinds[:, :-1]) @ W[:, used].T
    leads = scores[np.arange(len(own)), own][:, None] - scores
    if fit_intercept:
        biases = _middle_biases([leads[own == y].min(axis=0) for y in range(K)])
        leads = K * leads + biases[own][:, None] - biases
    if (leads < 0).any() or not (leads > 0).any():
        return None
    return np.asarray(leads > 0, np.bool_)[of_row.ravel()]


def _middle_biases(least: list[NDArray[Any]]) -> NDArray[Any]:
    """K times biases b with ``b_k - b_y <= least[y][k]``, away from all bounds if they can be."""
    # Such bounds are lengths of ways from y to k. The shortest ways from any one class keep all of
    # them, if any biases do, and so does the mean of these over the classes (Floyd and Warshall).
    shortest = np.array(least, dtype=object)
    for via in range(len(least)):
        shortest = np.minimum(shortest, shortest[:, via, None] + shortest[via])
    return np.asarray(shortest.sum(axis=0))


def positive_balance(rows: NDArray[Any], near: Floats) -> bool:
    """Whether some weights, all above zero, make whole-number rows (m, q) add up to zero."""
    # Weights that elimination leaves free are those given, `near` (m,); the others follow.
    m = len(rows)
    equations = [[Fraction(int(value)) for value in column] for column in rows.T]
    pivots: dict[int, list[Fraction]] = {}
    for equation in equations:
        for j, row in pivots.items():
            if equation[j]:
                equation = [a - equation[j] * b for a, b in zip(equation, row, strict=True)]
        j = max(range(m), key=lambda i: abs(equation[i]))
        if not equation[j]:
            continue
        equation = [a / equation[j] for a in equation]
        for other, row in pivots.items():
            if row[j]:
                pivots[other] = [a - row[j] * b for a, b in zip(row, equation, strict=True)]
        pivots[j] = equation
    weights = [Fraction(value) for value in near.tolist()]
    for j, row in pivots.items():
        free = [i for i in range(m) if i not in pivots and row[i]]
        weights[j] = -sum((row[i] * weights[i] for i in free), Fraction(0))
    return all(weight > 0 for weight in weights)


# What `separability` answers, checked again.


def stands(answer: Separability, X: Any, labels: NDArray[Any]) -> bool:
    """Whether the plane of an answer, or the weights that exclude one, hold for rows X (n, d)."""
    codes = np.searchsorted(answer.classes, labels)
    if answer.separable:
        return _plane_stands(answer, X, codes)
    return _weights_stand(answer, X, codes)


def _plane_stands(answer: Separability, X: Any, codes: NDArray[np.intp]) -> bool:
    """Each row's own class is ahead, and by about the margin stated."""
    W, b = np.atleast_2d(np.asarray(answer.coef, np.float64)), np.ravel(answer.intercept)
    length = np.sqrt(np.sum(W**2) + (np.sum(b.astype(np.float64) ** 2) if answer.joint else 0.0))
    if not answer.joint:  # the plane of the second class; the first scores 0
        W, b = np.vstack([0 * W, W]), np.append(0.0, b)
    lead, allowance = rounded_leads(X, codes, W, b.astype(np.float64))
    most = float((lead + allowance).min()) / length
    doubtful = np.flatnonzero(~(lead > allowance))
    exact = [
        _exact_lead(_dense_row(X, i), int(codes[i]), W, b, False)[0] for i in doubtful.tolist()
    ]
    ahead = all(lead > 0 for lead in exact)
    return ahead and answer.margin is not None and answer.margin <= most * (1 + NEAR)


def _weights_stand(answer: Separability, X: Any, codes: NDArray[np.intp]) -> bool:
    """The weights are none below 0, and the rows they weigh cancel."""
    # The weights of a proof are rounded: exact ones are then found, if that is not too much work.
    p, units = np.asarray(answer.combination), np.eye(len(answer.classes))
    used = np.nonzero(p)
    own, rival = codes[used[0]], used[1] if answer.joint else 1 - codes[used[0]]
    weights, rows, ones = p[used], X[used[0]], np.ones((len(own), 1))
    if answer.gap is None or not len(weights) or not (weights > 0).all():
        return False
    if answer.fit_intercept:
        rows = sp.hstack([rows, ones], "csr") if sp.issparse(rows) else np.hstack([rows, ones])
    # What a weight multiplies: the row for its own class, and against it for the rival.
    sides = units[own] - units[rival] if answer.joint else 2.0 * own[:, None] - 1.0
    flow = sides * weights[:, None]
    rest, sizes = np.abs(rows.T @ flow), abs(rows).T @ np.abs(flow)
    if answer.grade != "proved":
        # Two class averages at distance 2e leave room for a margin of e.
        shrink = 0.5 if answer.fit_intercept and not answer.joint else 1.0
        return bool(shrink * np.linalg.norm(rest) <= answer.gap + NEAR * np.linalg.norm(sizes))
    if not (rest <= NEAR * sizes).all():
        return False
    if len(weights) * rest.size * min(rest.size, len(weights)) > MOST_PRODUCTS:
        return True
    rows = whole_numbers(np.asarray(rows.toarray() if sp.issparse(rows) else rows, np.float64))
    exact = sides.astype(np.int64).astype(object)[:, :, None] * rows[:, None, :]
    return positive_balance(exact.reshape(len(weights), -1), weights)


# Dual points that balance exactly.
#
# An intercept without a penalty asks of a dual point that its masses cancel: ``sum a_i y_i = 0``,
# and between classes, that as much leaves each class as enters it. A residual of rounding would
# not do, since an intercept can be as large as it likes. So masses are rounded down to whole
# multiples of a power of two: such numbers add up without error.


def grid_of(masses: Floats) -> float:
    """A power of two of which all masses, rounded down, and their sums are exact multiples."""
    largest = float(masses.max(initial=0.0))
    if not largest > 0:
        return 1.0
    bits = min(52, 60 - math.ceil(math.log2(max(masses.size, 2))))
    return float(2.0 ** (math.ceil(math.log2(largest)) - bits))


def balanced(a: Floats, y: Floats) -> Floats | None:
    """Masses (n,) not above a with ``sum a y = 0`` exactly, y = -1 or 1; None if there are none."""
    up, down = float(a[y > 0].sum()), float(a[y < 0].sum())
    if not (up > 0 and down > 0):
        return None
    shrunk = np.where(y > 0, a * min(1.0, down / up), a * min(1.0, up / down))
    unit = grid_of(shrunk)
    units = np.floor(shrunk / unit).astype(np.int64)
    surplus = int(units[y > 0].sum()) - int(units[y < 0].sum())
    heavier = np.flatnonzero((y > 0) == (surplus > 0))
    if not take_off(units, heavier, abs(surplus)):
        return None
    return np.asarray(units * unit)


def take_off(units: NDArray[np.int64], places: NDArray[np.intp], surplus: int) -> bool:
    """Lower units at some places by a surplus in all, largest first; False if that is too much."""
    if surplus == 0:
        return True
    for place in places[np.argsort(-units[places], kind="stable")].tolist():
        taken = min(int(units[place]), surplus)
        units[place] -= taken
        surplus -= taken
        if surplus == 0:
            return True
    return False


def transported(p: Floats, codes: NDArray[np.intp], c: Floats) -> Floats:
    """Probabilities (n, K) changed so that each class gets its weight; rows still sum to one."""
    K = p.shape[1]
    wanted = np.bincount(codes, c, K)
    got = c @ p
    p = p * np.minimum(1.0, wanted / np.where(got > 0, got, 1.0))
    short_rows = np.maximum(1.0 - p.sum(axis=1), 0.0)
    short_columns = np.maximum(wanted - c @ p, 0.0)
    if short_columns.sum() > 0:
        p = p + np.outer(short_rows, short_columns / short_columns.sum())
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def flows(p: Floats, codes: NDArray[np.intp], c: Floats) -> Floats:
    """Masses ``c_i p_ik`` (n, K) of the wrong classes, zero at the own, that balance exactly."""
    # As much leaves each class (rows of it given to others) as enters it (rows of others given to
    # it), after some is taken off on ways from classes that give too much to those that get it.
    n, K = p.shape
    masses = p * c[:, np.newaxis]
    masses[np.arange(n), codes] = 0.0
    unit = grid_of(masses)
    units = np.floor(masses / unit).astype(np.int64)
    members = [np.flatnonzero(codes == k) for k in range(K)]
    between = np.array([units[rows].sum(axis=0) for rows in members])
    while (surplus := between.sum(axis=1) - between.sum(axis=0)).any():
        steps = _way(between, surplus)
        ends = surplus[steps[0][0]], -surplus[steps[-1][1]]
        amount = int(min(*ends, *(between[step] for step in steps)))
        for giver, taker in steps:
            column = np.ascontiguousarray(units[:, taker])
            take_off(column, members[giver], amount)
            units[:, taker] = column
            between[giver, taker] -= amount
    return np.asarray(units * unit)


def _way(between: NDArray[np.int64], surplus: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The fewest steps, each with mass, from the largest surplus to a class that lacks some."""
    # There is one: what the classes that can be reached give stays among them, so their surpluses
    # sum to zero or less.
    before = {int(surplus.argmax()): -1}
    for reached in (queue := list(before)):
        if surplus[reached] < 0:
            break
        new = [k for k in np.flatnonzero(between[reached]).tolist() if k not in before]
        before.update(dict.fromkeys(new, reached))
        queue += new
    steps = []
    while before[reached] >= 0:
        steps.append((before[reached], reached))
        reached = before[reached]
    return steps[::-1]
