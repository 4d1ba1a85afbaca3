"""Naive Bayes by counts: the counts again, and how far the likelihood is from its maximum.

Legend: N (K, d) counts of feature j in class k, n (K,) weight of the classes, alpha the smoothing,
p the probabilities that ``N + alpha`` imply. With smoothed counts the penalised log-likelihood of
other probabilities q falls short of the maximum by exactly ``sum_k N~_k KL(p_k || q_k)``.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .claims import Certificate, Claim
from .comparing import (
    ClassData,
    Floats,
    agrees,
    divergence,
    prior_claim,
    shortfall,
    sums_to_one,
    training_error,
)


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


def smoothing(model: Any, d: int) -> Floats:
    """alpha for each feature (d,)."""
    alpha = np.broadcast_to(np.asarray(model.alpha, np.float64), d)
    if not getattr(model, "force_alpha", True):
        alpha = np.maximum(alpha, 1e-10)
    return np.asarray(alpha)


def feature_counts(data: ClassData, X: Any) -> Floats:
    """N (K, d), summed class by class."""
    rows = [data.weight[members] @ X[members] for members in data.members]
    return np.array([np.asarray(row, np.float64).ravel() for row in rows])


def log_shares(table: Floats, totals: Floats) -> Floats:
    """log of counts over totals; where the smoothing is infinite all are alike."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(table) - np.log(totals)
    return np.asarray(logs)


def linear_scores(X: Any, weights: Floats) -> Floats:
    """X W' (n, K), in which a zero count times an impossible feature is nothing."""
    finite = np.where(np.isfinite(weights), weights, 0.0)
    scores = np.asarray(X @ finite.T)
    impossible = ~np.isfinite(weights)
    if impossible.any():
        scores[np.asarray((X != 0) @ impossible.T.astype(float)) > 0] = -np.inf
    return scores


def multinomial(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """Counts of words: one distribution over the features for each class."""
    N, log_q = feature_counts(data, data.X), np.asarray(model.feature_log_prob_, np.float64)
    smoothed = N + smoothing(model, N.shape[1])
    if np.isinf(smoothed).any():
        smoothed = np.where(np.isinf(smoothed), 1.0, 0.0)
    totals = smoothed.sum(axis=1, keepdims=True)
    log_p = log_shares(smoothed, totals)
    gap = float((totals[:, 0] * divergence(smoothed / totals, log_p, log_q)).sum())
    log_prior = np.asarray(model.class_log_prior_, np.float64)
    return [
        training_error(data, linear_scores(data.X, log_q) + log_prior),
        agrees("counts", "the counts of the features", model.feature_count_, N),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        prior_claim(model, log_prior, data.counts),
        agrees("parameters", "the probabilities", np.exp(log_q), np.exp(log_p)),
        sums_to_one("the probabilities of each class", log_q),
        shortfall("smoothed log-likelihood", gap, float(totals.sum()), tol),
    ]


def bernoulli(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """Presence of each feature: one coin for each feature and class."""
    X = data.X
    if model.binarize is not None:
        X = model.binarize < X
        X = sp.csr_matrix(X, dtype=float) if sp.issparse(X) else X.astype(float)
    N, log_q = feature_counts(data, X), np.asarray(model.feature_log_prob_, np.float64)
    n, (on, off) = data.counts[:, np.newaxis], added(model, N.shape[1])
    with np.errstate(invalid="ignore"):
        p = np.where(np.isinf(on), 0.5, (N + on) / (n + on + off))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_off_q, logs = np.log1p(-np.exp(log_q)), (np.log(p), np.log1p(-p))
    coins = np.stack([p, 1 - p], axis=-1)
    each = divergence(coins, np.stack(logs, axis=-1), np.stack([log_q, log_off_q], axis=-1))
    tosses = n + np.where(np.isinf(on), 0.0, on + off)
    gap = float((tosses * each).sum())
    log_prior = np.asarray(model.class_log_prior_, np.float64)
    scores = linear_scores(X, log_q) + linear_scores(1 - _dense(X), log_off_q) + log_prior
    return [
        training_error(data, scores),
        agrees("counts", "the counts of the features", model.feature_count_, N),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        prior_claim(model, log_prior, data.counts),
        agrees("parameters", "the probabilities", np.exp(log_q), p),
        sums_to_one("the shares of the classes", log_prior),
        shortfall("smoothed log-likelihood", gap, float(tosses.sum()), tol),
    ]


def added(model: Any, d: int) -> tuple[Floats, Floats]:
    """How many rows with and without each feature (d,) are added to those counted."""
    prior = getattr(model, "beta_prior", None)
    if prior is None:
        return smoothing(model, d), smoothing(model, d)
    on, off = (np.broadcast_to(part, d) for part in np.asarray(prior, np.float64) - 1)
    return np.asarray(on), np.asarray(off)


def complement(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """Counts of everything outside a class. It maximises nothing: recomputed only."""
    N = feature_counts(data, data.X)
    others = N.sum(axis=0) + smoothing(model, N.shape[1]) - N
    logs = log_shares(others, others.sum(axis=1, keepdims=True))
    weights = logs / logs.sum(axis=1, keepdims=True) if model.norm else -logs
    published = np.asarray(model.feature_log_prob_, np.float64)
    scores = linear_scores(data.X, published)
    if len(data.classes) == 1:
        scores = scores + model.class_log_prior_
    return [
        training_error(data, scores),
        agrees("counts", "the counts of the features", model.feature_count_, N),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        agrees("parameters", "the weights of the features", published, weights),
    ]


def categorical(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """One table of categories for each feature."""
    d = data.X.shape[1]
    alpha, log_prior = smoothing(model, d), np.asarray(model.class_log_prior_, np.float64)
    scores, gap, scale = np.tile(log_prior, (len(data.codes), 1)), 0.0, 0.0
    counts, logs = [], []
    for j in range(d):
        log_q = np.asarray(model.feature_log_prob_[j], np.float64)
        values, width = categories_of(model, data, j), log_q.shape[1]
        N = np.zeros((len(data.classes), width))
        np.add.at(N, (data.codes, values), data.weight)
        smoothed = N + alpha[j] if np.isfinite(alpha[j]) else np.ones_like(N)
        totals = smoothed.sum(axis=1, keepdims=True)
        log_p = log_shares(smoothed, totals)
        gap += float((totals[:, 0] * divergence(smoothed / totals, log_p, log_q)).sum())
        scale += float(totals.sum())
        scores += log_q[:, values].T
        counts.append((np.asarray(model.category_count_[j], np.float64), N))
        logs.append((np.exp(log_q), np.exp(log_p)))
    return [
        training_error(data, scores),
        agrees("counts", "the counts of the categories", *_side_by_side(counts)),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        prior_claim(model, log_prior, data.counts),
        agrees("parameters", "the probabilities", *_side_by_side(logs)),
        shortfall("smoothed log-likelihood", gap, scale, tol),
    ]


def categories_of(model: Any, data: ClassData, j: int) -> NDArray[np.intp]:
    """The place of each row's value among the categories of feature j."""
    column = np.asarray(data.X[:, j])
    known = getattr(model, "categories_", None)
    if known is None:  # scikit-learn's: the values are the places
        return column.astype(np.intp)
    return np.searchsorted(np.asarray(known[j]), column)


def _side_by_side(pairs: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Published and derived tables, each in one row."""
    published, derived = zip(*pairs, strict=True)
    return np.concatenate([t.ravel() for t in published]), np.concatenate(
        [t.ravel() for t in derived]
    )


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


_KINDS = {
    "MultinomialNB": multinomial,
    "BernoulliNB": bernoulli,
    "ComplementNB": complement,
    "CategoricalNB": categorical,
}
