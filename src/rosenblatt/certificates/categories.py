"""Features with several values: a table of counts for each, and the probabilities they imply.

A value that is missing is left out of the counts and of the scores.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Claim
from .comparing import (
    ClassData,
    Floats,
    agrees,
    divergence,
    log_shares,
    prior_claim,
    shortfall,
    size_claim,
    smoothing,
    sums_to_one,
    training_error,
)

MISSING = -1


@dataclass(frozen=True)
class Table:
    """One feature: published log-probabilities q (K, m) beside those p of the counts N."""

    counts: Floats
    log_p: Floats
    log_q: Floats
    scores: Floats  # (n, K): log q of each row's value, nothing where it is missing
    gap: float  # by how much the smoothed log-likelihood falls short of its maximum
    scale: float  # the weight in that sum


def table_of(data: ClassData, places: NDArray[np.intp], log_q: Floats, alpha: float) -> Table:
    """Count the places (n,) of a feature's values, and compare."""
    known = places != MISSING
    N = np.zeros((len(data.classes), log_q.shape[1]))
    np.add.at(N, (data.codes[known], places[known]), data.weight[known])
    smoothed = N + alpha if np.isfinite(alpha) else np.ones_like(N)
    smoothed[smoothed.sum(axis=1) == 0] = 1.0  # nothing is known of the class: all are alike
    totals = smoothed.sum(axis=1, keepdims=True)
    log_p = log_shares(smoothed, totals)
    gap = float((totals[:, 0] * divergence(smoothed / totals, log_p, log_q)).sum())
    scores = np.where(known[:, np.newaxis], log_q[:, np.where(known, places, 0)].T, 0.0)
    return Table(N, log_p, log_q, scores, gap, float(totals.sum()))


def parameter_claims(tables: list[Table], what: str = "") -> list[Claim]:
    """That the probabilities of all tables are those of the counts, and sum to one."""
    q, p = (np.concatenate([np.exp(t).ravel() for t in logs]) for logs in _logs(tables))
    sums = np.concatenate([np.exp(table.log_q).sum(axis=1) for table in tables])
    with np.errstate(divide="ignore"):
        one = sums_to_one(f"the probabilities of each feature{what}", np.log(sums)[:, np.newaxis])
    return [agrees(f"parameters{what}", f"the probabilities{what}", q, p), one]


def _logs(tables: list[Table]) -> tuple[list[Floats], list[Floats]]:
    return [table.log_q for table in tables], [table.log_p for table in tables]


def categorical(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """One table of categories for each feature."""
    d = data.X.shape[1]
    alpha, log_prior = smoothing(model, d), np.asarray(model.class_log_prior_, np.float64)
    logs = [np.asarray(table, np.float64) for table in model.feature_log_prob_]
    known = getattr(model, "categories_", [None] * d)  # scikit-learn's: the values are the places
    tables = [
        table_of(data, places_of(data.X[:, j], known[j], logs[j].shape[1]), logs[j], alpha[j])
        for j in range(d)
        if logs[j].size  # else no row has shown a value
    ]
    scores = log_prior + sum((table.scores for table in tables), np.zeros((1, len(log_prior))))
    published = [np.asarray(counts, np.float64).ravel() for counts in model.category_count_]
    derived = np.concatenate([table.counts.ravel() for table in tables])
    widths = [table.shape[1] for table in logs]
    gap, scale = sum(t.gap for t in tables), sum(t.scale for t in tables)
    return [
        training_error(data, np.broadcast_to(scores, (len(data.codes), len(log_prior)))),
        agrees("counts", "the counts of the categories", np.concatenate(published), derived),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        agrees("widths", "the numbers of categories", model.n_categories_, widths),
        prior_claim(model, np.exp(model.class_log_prior_), data.counts),
        *parameter_claims(tables),
        shortfall("smoothed log-likelihood", gap, scale, tol),
        *size_claim(model, len(data.classes) * sum(max(m - 1, 0) for m in widths)),
    ]


def places_of(column: NDArray[Any], categories: Any, width: int) -> NDArray[np.intp]:
    """The place (n,) of each value among the categories, which may be words; or MISSING.

    A value that is not among them is not counted either, which then shows in the counts.
    """
    if column.dtype.kind in "fiub" and (categories is None or _are_the_places(categories)):
        known = (column >= 0) & (column < width)  # NaN is neither
        return np.where(known, np.nan_to_num(column), MISSING).astype(np.intp)
    where = {value: place for place, value in enumerate(np.asarray(categories).tolist())}
    found = [MISSING if is_missing(v) else where.get(v, MISSING) for v in column.tolist()]
    return np.array(found, np.intp)


def _are_the_places(categories: Any) -> bool:
    """Whether categories are the numbers 0, 1, ... in their order."""
    return np.array_equal(categories, np.arange(len(categories)))


def is_missing(value: Any) -> bool:
    """Whether a value of a table says that there is none."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # one that does not even say whether it equals itself
        return True
