"""Naive Bayes by counts: the counts again, and how far the likelihood is from its maximum.

Legend: N (K, d) counts of feature j in class k, n (K,) weight of the classes, alpha the smoothing,
p the probabilities that ``N + alpha`` imply. With smoothed counts the penalised log-likelihood of
other probabilities q falls short of the maximum by exactly ``sum_k N~_k KL(p_k || q_k)``.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .category_counts import categorical
from .claims import Certificate, Claim
from .closed_form import (
    EPS,
    ClassData,
    Floats,
    agree_in_logs,
    agrees,
    are_whole,
    class_counts_claim,
    dense,
    divergence,
    filled,
    gaps,
    log_shares,
    prior_claims,
    shortfall,
    size_claim,
    smoothed,
    smoothing,
    sums_by_class,
    sums_to_one,
)
from .fitted_attributes import Scores, decision_claims


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Recount, and compare what the counts imply with what was published."""
    data = ClassData(model, X, y, weight)
    kind = next(
        name for name in _KINDS if any(base.__name__ == name for base in type(model).__mro__)
    )
    claims = _KINDS[kind](model, data, tol)
    problem = f"the probabilities of {kind} that make the rows most probable, smoothed counts added"
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


def multinomial(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """Counts of words: one distribution over the features for each class."""
    X = filled(data.X)
    N, log_q = sums_by_class(data, X), np.asarray(model.feature_log_prob_, np.float64)
    table = smoothed(N, smoothing(model, N.shape[1]))
    totals, log_p = table.sum(axis=1, keepdims=True), log_shares(table)
    gap = float((totals[:, 0] * divergence(table / totals, log_p, log_q, len(data.weight))).sum())
    scores = linear_scores(X, log_q), sizes_of(X, log_q)
    return [
        *_decisions(model, data, *scores),
        *_counts(model, data, N),
        *prior_claims(model, data.counts),
        agree_in_logs("parameters", "the log-probabilities", model.feature_log_prob_, log_p),
        sums_to_one("the probabilities of each class", log_q),
        shortfall("smoothed log-likelihood", gap, float(totals.sum()), tol),
        *size_claim(model, N.size - len(N)),
    ]


def bernoulli(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """Presence of each feature: one coin for each feature and class."""
    X, missing = filled(data.X), gaps(data.X)
    if model.binarize is not None:
        X = model.binarize < X
        X = sp.csr_matrix(X, dtype=float) if sp.issparse(X) else X.astype(float)
    absent = 1 - dense(X + missing)
    N, without = sums_by_class(data, X), sums_by_class(data, absent)
    coins = smoothed(np.stack([N, without], axis=-1), added(model, N.shape[1]))  # (K, d, 2)
    log_p = log_shares(coins)
    log_q = np.asarray(model.feature_log_prob_, np.float64)
    claims = [
        *_counts(model, data, N),
        *prior_claims(model, data.counts),
        agree_in_logs(
            "parameters", "the log-probabilities", model.feature_log_prob_, log_p[..., 0]
        ),
    ]
    if hasattr(model, "feature_log_absent_"):  # else what is left to one
        log_off = np.asarray(model.feature_log_absent_, np.float64)
        published = _nothing(data, model.feature_log_absent_, log_p[..., 1])
        claims.append(agree_in_logs("absence", "those of absence", published, log_p[..., 1]))
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            log_off = np.log1p(-np.exp(log_q))
    totals = coins.sum(axis=-1)
    each = divergence(
        coins / totals[..., np.newaxis],
        log_p,
        np.stack([log_q, log_off], axis=-1),
        len(data.weight),
    )
    scores = linear_scores(X, log_q) + linear_scores(absent, log_off)
    # Models add up what all features absent would score, and then what those present change.
    sizes = sizes_of(X, log_q) + 2 * sizes_of(np.ones_like(absent), log_off)
    return [
        *_decisions(model, data, scores, sizes),
        *claims,
        shortfall(
            "smoothed log-likelihood", float((totals * each).sum()), float(totals.sum()), tol
        ),
        *size_claim(model, N.size),
    ]


def added(model: Any, d: int) -> Floats:
    """How many rows with and without each feature are added to those counted, (d, 2)."""
    prior = getattr(model, "beta_prior", None)
    if prior is None:
        return np.repeat(smoothing(model, d)[:, np.newaxis], 2, axis=1)
    both = [np.broadcast_to(part, d) for part in np.asarray(prior, np.float64) - 1]
    return np.stack(both, axis=-1)


def _nothing(data: ClassData, published: Any, derived: Floats) -> Any:
    """Published logarithms, minus infinity where they are that up to the rounding of weights."""
    # The weight without a feature is a difference of sums, and of fractions not exactly zero.
    if np.array_equal(data.weight, np.rint(data.weight)):
        return published
    published = np.array(published)
    tiny = published <= np.log(4 * EPS * len(data.weight))
    published[np.isneginf(derived) & tiny] = -np.inf
    return published


def complement(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """Counts of everything outside a class. It maximises nothing: recomputed only."""
    X = filled(data.X)
    N = sums_by_class(data, X)
    others = sum((N[k] * (np.arange(len(N)) != k)[:, np.newaxis] for k in range(len(N))), 0 * N)
    logs = log_shares(smoothed(others, smoothing(model, N.shape[1])))
    weights = _normed(logs) if model.norm else -logs
    published = np.asarray(model.feature_log_prob_, np.float64)
    return [
        *_decisions(model, data, in_the_limit(X, published), sizes_of(X, published)),
        *_counts(model, data, N),
        *prior_claims(model, data.counts),
        agree_in_logs("parameters", "the weights", model.feature_log_prob_, weights),
        *size_claim(model, N.size - len(N), shares=False),
    ]


def _normed(logs: Floats) -> Floats:
    """Each row (K, d) over its sum; infinite ones alone count, and equal ones are equal parts."""
    infinite = np.isneginf(logs)
    logs = np.where(infinite.any(axis=1, keepdims=True), -infinite.astype(np.float64), logs)
    sums = logs.sum(axis=1, keepdims=True)
    return np.where(sums == 0, 1 / logs.shape[1], logs / np.where(sums == 0, 1.0, sums))


def in_the_limit(X: Any, weights: Floats) -> Floats:
    """X W' (n, K); where weights are infinite the most of them win, and then the rest decides."""
    infinite = np.isposinf(weights)
    hits = np.asarray(X @ infinite.T.astype(np.float64))
    scores = np.asarray(X @ np.where(infinite, 0.0, weights).T)
    return np.where(hits < hits.max(axis=1, keepdims=True), -np.inf, scores)


def linear_scores(X: Any, weights: Floats) -> Floats:
    """X W' (n, K), in which a zero count times an impossible feature is nothing."""
    finite = np.where(np.isfinite(weights), weights, 0.0)
    scores = np.asarray(X @ finite.T)
    impossible = ~np.isfinite(weights)
    if impossible.any():
        scores[np.asarray((X != 0) @ impossible.T.astype(float)) > 0] = -np.inf
    return scores


def sizes_of(X: Any, weights: Floats) -> Floats:
    """The absolute values (n, K) of the terms of ``X W'``, added up."""
    return np.asarray(abs(X) @ np.where(np.isfinite(weights), np.abs(weights), 0.0).T)


def _decisions(model: Any, data: ClassData, scores: Floats, sizes: Floats) -> list[Claim]:
    """That the model decides by log P(x | y) (n, K) and the classes' shares, as published."""
    log_prior = np.asarray(model.class_log_prior_, np.float64)
    if any(base.__name__ == "ComplementNB" for base in type(model).__mro__) and len(log_prior) > 1:
        log_prior = np.zeros_like(log_prior)  # which knows no shares
    finite = np.where(np.isfinite(log_prior), np.abs(log_prior), 0.0)
    found = Scores.of(
        model, scores + log_prior, sizes + finite, data.X.shape[1], model.feature_log_prob_
    )
    return decision_claims(model, data, found.where_possible(log_prior))


def _counts(model: Any, data: ClassData, N: Floats) -> list[Claim]:
    """That what was counted is what is there."""
    values = np.ravel(data.X.data if sp.issparse(data.X) else data.X)
    exact = data.whole and are_whole(N) and (hasattr(model, "binarize") or are_whole(values))
    claims = [
        agrees("counts", "the counts of the features", model.feature_count_, N, exact=exact),
        class_counts_claim(model, data),
    ]
    if hasattr(model, "feature_all_"):
        total = N.sum(axis=0)
        claims.append(agrees("all counts", "those of all classes", model.feature_all_, total,
                             exact=exact))  # fmt: skip
    return claims


_KINDS = {
    "MultinomialNB": multinomial,
    "BernoulliNB": bernoulli,
    "ComplementNB": complement,
    "CategoricalNB": categorical,
}
