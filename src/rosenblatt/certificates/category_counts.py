"""Features with several values: a table of counts for each, and the probabilities they imply.

A value that is missing is left out of the counts and of the scores.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Claim
from .closed_form import (
    ClassData,
    Floats,
    agree_in_logs,
    agrees,
    class_counts_claim,
    divergence,
    log_shares,
    prior_claims,
    shortfall,
    size_claim,
    smoothed,
    smoothing,
    sums_to_one,
)
from .fitted_attributes import Scores, decision_claims

MISSING = -1


@dataclass(frozen=True)
class CategoryTable:
    """One feature: published log-probabilities q (K, m) beside those p of the counts N."""

    counts: Floats
    log_p: Floats
    log_q: Any  # in the precision they were published in
    scores: Floats  # (n, K): log q of each row's value, nothing where it is missing
    gap: float  # by how much the smoothed log-likelihood falls short of its maximum
    scale: float  # the weight in that sum


def table_of(
    data: ClassData, places: NDArray[np.intp], published: Any, alpha: float
) -> CategoryTable:
    """Count the places (n,) of a feature's values, and compare."""
    known, log_q = places != MISSING, np.asarray(published, np.float64)
    shape = (len(data.classes), log_q.shape[1])
    cell = data.codes[known] * shape[1] + places[known]
    N = np.asarray(np.bincount(cell, data.weight[known], shape[0] * shape[1]), np.float64)
    N = N.reshape(shape)
    table = smoothed(N, alpha)
    totals, log_p = table.sum(axis=1, keepdims=True), log_shares(table)
    gap = float((totals[:, 0] * divergence(table / totals, log_p, log_q, len(data.weight))).sum())
    scores = log_q.T.take(np.where(known, places, 0), axis=0)
    scores[~known] = 0.0
    return CategoryTable(N, log_p, published, scores, gap, float(totals.sum()))


def parameter_claims(tables: list[CategoryTable], what: str = "") -> list[Claim]:
    """That the probabilities of all tables are those of the counts, and sum to one."""
    q = np.concatenate([np.asarray(table.log_q).ravel() for table in tables])
    p = np.concatenate([table.log_p.ravel() for table in tables])
    with np.errstate(divide="ignore", over="ignore"):
        sums = np.concatenate([np.exp(table.log_q).sum(axis=1) for table in tables])
        one = sums_to_one(f"the probabilities of each feature{what}", np.log(sums)[:, np.newaxis])
    return [agree_in_logs(f"parameters{what}", f"the log-probabilities{what}", q, p), one]


def categorical(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """One table of categories for each feature."""
    d = data.X.shape[1]
    alpha, log_prior = smoothing(model, d), np.asarray(model.class_log_prior_, np.float64)
    logs = [np.asarray(table) for table in model.feature_log_prob_]
    check_one_each(d, feature_log_prob_=logs, category_count_=model.category_count_)
    known = getattr(model, "categories_", [None] * d)  # scikit-learn's: the values are the places
    check_one_each(d, categories_=known)
    widths = [table.shape[1] for table in logs]
    columns = [without_fractions(data.X[:, j]) for j in range(d)]
    tables = [
        table_of(data, places_of(columns[j], known[j], widths[j]), logs[j], alpha[j])
        for j in range(d)
        if logs[j].size  # else no row has shown a value
    ]
    total = sum((t.scores for t in tables), np.zeros((len(data.codes), len(log_prior)))) + log_prior
    with np.errstate(invalid="ignore"):
        sizes = sum((np.abs(np.nan_to_num(t.scores, neginf=0.0)) for t in tables), 0 * total)
    scores = Scores.of(model, total, np.nan_to_num(sizes), d, logs[0]).where_possible(log_prior)
    published = [np.asarray(counts, np.float64).ravel() for counts in model.category_count_]
    derived = np.concatenate([np.zeros(0), *(table.counts.ravel() for table in tables)])
    gap, scale = sum(t.gap for t in tables), sum(t.scale for t in tables)
    return [
        *decision_claims(model, data, scores),
        agrees(
            "counts",
            "the counts of the categories",
            np.concatenate(published),
            derived,
            exact=data.whole,
        ),
        class_counts_claim(model, data),
        agrees("widths", "the numbers of categories", model.n_categories_, widths, exact=True),
        *categories_claims(model, data, known, widths),
        *prior_claims(model, data.counts),
        *(parameter_claims(tables) if tables else []),
        shortfall("smoothed log-likelihood", gap, max(scale, 1e-300), tol),
        *size_claim(model, len(data.classes) * sum(max(m - 1, 0) for m in widths)),
    ]


def check_one_each(d: int, **tables: Any) -> None:
    """Raise if lists of tables do not have one for each of d features."""
    for name, table in tables.items():
        if len(table) != d:
            raise ValueError(
                f"{name} must have a table for each of {d} features; got {len(table)}."
            )


def categories_claims(model: Any, data: ClassData, known: Any, widths: list[int]) -> list[Claim]:
    """That the categories are those of the rows, and as many as they show or as were asked for."""
    least = np.broadcast_to(np.asarray(getattr(model, "min_categories", None) or 0), len(widths))
    wrong = 0
    for j, width in enumerate(widths):
        shown = [_shown(without_fractions(X[:, j])) for X in (data.X, data.given)]
        named = shown[0] if known[j] is None else np.asarray(known[j]).tolist()
        fewest, most = (max(int(least[j]), len(values)) for values in shown)
        # Rows of no weight may have been seen or not.
        right = set(shown[0]) <= set(named) <= set(shown[1]) and len(set(named)) == len(named)
        if not any(isinstance(value, str | bytes) for value in named):  # numbers are places
            right = named == list(range(width)) or known[j] is None
        wrong += not (right and fewest <= width <= most)
    statement = f"{len(widths) - wrong} of {len(widths)} features have the categories of the rows"
    return [Claim("categories", statement, wrong, 0.0, wrong == 0, "proved")]


def _shown(column: NDArray[Any]) -> list[Any]:
    """The categories that a column calls for: up to its largest number, or each word."""
    values = {value for value in distinct(column) if not is_missing(value)}
    if any(isinstance(value, str | bytes) for value in values):
        return sorted(values)
    return list(range(int(max(values, default=-1)) + 1))


def distinct(column: NDArray[Any]) -> list[Any]:
    """The values of a column, numbers once each."""
    return list((np.unique(column) if column.dtype.kind in "fiub" else column).tolist())


def places_of(column: NDArray[Any], categories: Any, width: int) -> NDArray[np.intp]:
    """The place (n,) of each value among the categories, which may be words; or MISSING."""
    # A value that is not among them is not counted either, which then shows in the counts.
    numbered = categories is None or np.array_equal(categories, np.arange(len(categories)))
    if numbered and column.dtype.kind in "fiub":
        known = (column >= 0) & (column < width)  # NaN is neither
        return np.where(known, np.nan_to_num(column), MISSING).astype(np.intp)
    where = {value: place for place, value in enumerate(np.asarray(categories).tolist()[:width])}
    found = [MISSING if is_missing(v) else where.get(v, MISSING) for v in column.tolist()]
    return np.array(found, np.intp)


def without_fractions(column: NDArray[Any]) -> NDArray[Any]:
    """The values (n,), numbers cut to whole ones, as by the models."""
    if column.dtype.kind != "O":
        return np.asarray(np.trunc(column))
    cut = [int(v) if isinstance(v, float) and np.isfinite(v) else v for v in column.tolist()]
    return np.array([*cut, None], object)[:-1]  # in case they are alike enough for a table


def is_missing(value: Any) -> bool:
    """Whether a value of a table says that there is none."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # one that does not even say whether it equals itself
        return True
