"""Naive Bayes by counts: the counts again, and how far the likelihood is from its maximum.

Legend: N (K, d) counts of feature j in class k, n (K,) weight of the classes, alpha the smoothing,
p the probabilities that ``N + alpha`` imply. With smoothed counts the penalised log-likelihood of
other probabilities q falls short of the maximum by exactly ``sum_k N~_k KL(p_k || q_k)``.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .categories import categorical
from .claims import Certificate, Claim
from .comparing import (
    ClassData,
    Floats,
    agrees,
    divergence,
    filled,
    gaps,
    log_shares,
    prior_claim,
    shortfall,
    size_claim,
    smoothing,
    sums_by_class,
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
    X = filled(data.X)
    N, log_q = sums_by_class(data, X), np.asarray(model.feature_log_prob_, np.float64)
    smoothed = N + smoothing(model, N.shape[1])
    if np.isinf(smoothed).any():
        smoothed = np.where(np.isinf(smoothed), 1.0, 0.0)
    totals = smoothed.sum(axis=1, keepdims=True)
    log_p = log_shares(smoothed, totals)
    gap = float((totals[:, 0] * divergence(smoothed / totals, log_p, log_q)).sum())
    log_prior = np.asarray(model.class_log_prior_, np.float64)
    return [
        training_error(data, linear_scores(X, log_q) + log_prior),
        agrees("counts", "the counts of the features", model.feature_count_, N),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        prior_claim(model, np.exp(model.class_log_prior_), data.counts),
        agrees("parameters", "the probabilities", np.exp(model.feature_log_prob_), np.exp(log_p)),
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
    N, log_q = sums_by_class(data, X), np.asarray(model.feature_log_prob_, np.float64)
    n = data.counts[:, np.newaxis] - sums_by_class(data, missing)  # rows that are known
    on, off = added(model, N.shape[1])
    with np.errstate(invalid="ignore"):
        p = np.where(np.isinf(on), 0.5, (N + on) / (n + on + off))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_off_q, logs = np.log1p(-np.exp(log_q)), (np.log(p), np.log1p(-p))
    coins = np.stack([p, 1 - p], axis=-1)
    each = divergence(coins, np.stack(logs, axis=-1), np.stack([log_q, log_off_q], axis=-1))
    tosses = n + np.where(np.isinf(on), 0.0, on + off)
    gap = float((tosses * each).sum())
    log_prior = np.asarray(model.class_log_prior_, np.float64)
    scores = linear_scores(X, log_q) + linear_scores(1 - _dense(X + missing), log_off_q) + log_prior
    absent = getattr(model, "feature_log_absent_", None)
    claims = (
        [] if absent is None else [agrees("absence", "those of absence", np.exp(absent), 1 - p)]
    )
    return [
        training_error(data, scores),
        agrees("counts", "the counts of the features", model.feature_count_, N),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        prior_claim(model, np.exp(model.class_log_prior_), data.counts),
        agrees("parameters", "the probabilities", np.exp(model.feature_log_prob_), p),
        *claims,
        sums_to_one("the shares of the classes", log_prior),
        shortfall("smoothed log-likelihood", gap, float(tosses.sum()), tol),
        *size_claim(model, N.size),
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
    X = filled(data.X)
    N = sums_by_class(data, X)
    others = N.sum(axis=0) + smoothing(model, N.shape[1]) - N
    logs = log_shares(others, others.sum(axis=1, keepdims=True))
    weights = logs / logs.sum(axis=1, keepdims=True) if model.norm else -logs
    published = np.asarray(model.feature_log_prob_, np.float64)
    scores = linear_scores(X, published)
    if len(data.classes) == 1:
        scores = scores + model.class_log_prior_
    return [
        training_error(data, scores),
        agrees("counts", "the counts of the features", model.feature_count_, N),
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        prior_claim(model, np.exp(model.class_log_prior_), data.counts),
        agrees("parameters", "the weights of the features", model.feature_log_prob_, weights),
        *complement_size(model, N),
    ]


def complement_size(model: Any, N: Floats) -> list[Claim]:
    """The weights are all there is to learn: the shares of the classes are not used."""
    if not hasattr(model, "n_parameters_"):
        return []
    return [agrees("size", "the numbers said to be free", model.n_parameters_, N.size - len(N))]


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


_KINDS = {
    "MultinomialNB": multinomial,
    "BernoulliNB": bernoulli,
    "ComplementNB": complement,
    "CategoricalNB": categorical,
}
