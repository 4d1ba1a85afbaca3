"""Gaussian naive Bayes: means and variances again, and how far the likelihood is from its maximum.

With the means m and variances s^2 of the data, the log-likelihood of other Gaussians falls short
of the maximum by ``sum_k n_k sum_j KL(N(m, s^2) || N(theta, var))``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim
from .comparing import (
    ClassData,
    Floats,
    agrees,
    prior_claim,
    shortfall,
    sums_to_one,
    training_error,
)


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Re-derive means, variances and shares, and compare."""
    data = ClassData(model, _dense(X), y, weight)
    n, sharing = data.counts, getattr(model, "variance", "class-feature")
    mean, scatter = moments(data)
    theta, epsilon = np.asarray(model.theta_, np.float64), float(model.epsilon_)
    var = np.broadcast_to(np.asarray(model.var_, np.float64), theta.shape)
    derived = pooled(scatter, n, sharing, int(getattr(model, "ddof", 0)))
    with np.errstate(divide="ignore"):
        log_prior = np.log(np.asarray(model.class_prior_, np.float64))
    spread = np.sqrt(scatter.sum(axis=0) / n.sum())  # what a mean may be off by, for its size
    claims = [
        training_error(data, log_joint(data.X, theta, var, log_prior)),
        agrees("means", "the means", theta, mean, scale=np.maximum(np.abs(mean), spread)),
        agrees("variances", "the variances", var, derived + epsilon),
        smoothing_claim(model, data),
        agrees("class counts", "the weights of the classes", model.class_count_, n),
        prior_claim(model, log_prior, n),
        sums_to_one("the shares of the classes", log_prior),
    ]
    if int(getattr(model, "ddof", 0)) == 0:
        gap = divergence(n, mean, derived, theta, var - epsilon)
        claims.append(shortfall("log-likelihood", gap, float(n.sum()) * theta.shape[1], tol))
    if sharing in ("feature", "single") and len(n) == 2:
        claims.append(logistic_form(data, theta, var, log_prior))
    problem = f"Gaussians that make the rows most probable, variances by {sharing}"
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


def moments(data: ClassData) -> tuple[Floats, Floats]:
    """Means and scatters (K, d) of each class, in two passes."""
    means, scatters = [], []
    for members in data.members:
        rows, weight = data.X[members], data.weight[members]
        mean = weight @ rows / weight.sum() if len(members) else np.zeros(data.X.shape[1])
        means.append(mean)
        scatters.append(weight @ (rows - mean) ** 2)
    return np.array(means), np.array(scatters)


def pooled(scatter: Floats, n: Floats, sharing: str, ddof: int) -> Floats:
    """The variances (K, d), shared as the model says; ddof takes off the means fitted."""
    K, d = scatter.shape
    weight = np.repeat(n[:, np.newaxis], d, axis=1)
    if sharing == "feature":
        total, divisor = scatter.sum(axis=0), weight.sum(axis=0) - ddof * K
    elif sharing == "class":
        total, divisor = scatter.sum(axis=1, keepdims=True), n[:, np.newaxis] * d - ddof * d
    elif sharing == "single":
        total, divisor = scatter.sum(), weight.sum() - ddof * K * d
    else:
        total, divisor = scatter, weight - ddof
    return np.array(np.broadcast_to(total / np.maximum(divisor, 1e-300), (K, d)))


def smoothing_claim(model: Any, data: ClassData) -> Claim:
    """That epsilon_ is var_smoothing times the largest variance of a feature."""
    mean = data.weight @ data.X / data.weight.sum()
    largest = float((data.weight @ (data.X - mean) ** 2 / data.weight.sum()).max(initial=0.0))
    expected = float(model.var_smoothing) * largest
    off = abs(float(model.epsilon_) - expected) / expected if expected else 0.0
    ours = type(model).__module__.partition(".")[0] == "rosenblatt"
    # scikit-learn takes it from the last batch of partial_fit, or unweighted: reported, not tested.
    return Claim(
        "smoothing",
        f"{float(model.epsilon_):.3g} was added to every variance; var_smoothing times the largest "
        f"is {expected:.3g}",
        off,
        1e-6 if ours else None,
        off <= 1e-6 if ours else True,
        "checked",
    )


def log_joint(X: Floats, theta: Floats, var: Floats, log_prior: Floats) -> Floats:
    """log P(x, y) (n, K), straight from the definition; values that are missing are left out."""
    scores = np.empty((len(X), len(theta)))
    for k in range(len(theta)):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = -0.5 * (np.log(2 * np.pi * var[k]) + (X - theta[k]) ** 2 / var[k])
        scores[:, k] = log_prior[k] + np.where(np.isnan(X), 0.0, terms).sum(axis=1)
    return scores


def divergence(n: Floats, mean: Floats, s2: Floats, theta: Floats, var: Floats) -> float:
    """``sum_k n_k sum_j KL(N(mean, s2) || N(theta, var))``, over features that vary."""
    varies = (s2 > 0) & (var > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = s2 / var
        each = 0.5 * (ratio - 1 - np.log(ratio) + (mean - theta) ** 2 / var)
    return float((n[:, np.newaxis] * np.where(varies, np.maximum(each, 0.0), 0.0)).sum())


def logistic_form(data: ClassData, theta: Floats, var: Floats, log_prior: Floats) -> Claim:
    """With variances that the classes share, the log-odds are linear: w.x + b."""
    w = (theta[1] - theta[0]) / var[0]
    b = log_prior[1] - log_prior[0] + ((theta[0] ** 2 - theta[1] ** 2) / (2 * var[0])).sum()
    joint = log_joint(data.X, theta, var, log_prior)
    size = np.abs(data.X) @ np.abs(w) + np.abs(joint).max(axis=1) + abs(b)
    off = float((np.abs(joint[:, 1] - joint[:, 0] - (data.X @ w + b)) / size).max())
    return Claim(
        "logistic form",
        f"the log-odds are w.x + b, as in logistic regression, up to {off:.2g} of their terms",
        off,
        1e-9,
        off <= 1e-9,
        "checked",
    )


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
