"""Gaussian naive Bayes: means and variances again, and how far the likelihood is from its maximum.

With the means m and variances s^2 of the data, the log-likelihood of other Gaussians falls short
of the maximum by ``sum_k sum_j w_kj KL(N(m, s^2) || N(theta, var))``, w the weight of the values
that are known.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim
from .comparing import (
    ClassData,
    Floats,
    agrees,
    filled,
    gaps,
    log_prior_claim,
    prior_claim,
    shortfall,
    size_claim,
    sums_by_class,
    sums_to_one,
    training_error,
)


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Re-derive means, variances and shares, and compare."""
    data = ClassData(model, _dense(X), y, weight)
    part = gaussians(model, data, data.X)
    with np.errstate(divide="ignore"):
        log_prior = np.log(np.asarray(model.class_prior_, np.float64))
    claims = [
        training_error(data, part.scores + log_prior),
        *part.claims,
        agrees("class counts", "the weights of the classes", model.class_count_, data.counts),
        prior_claim(model, model.class_prior_, data.counts),
        sums_to_one("the shares of the classes", log_prior),
        *size_claim(model, part.free),
    ]
    if hasattr(model, "class_log_prior_"):
        claims.append(log_prior_claim(model))
    if part.gap is not None:
        claims.append(shortfall("log-likelihood", part.gap, part.scale, tol))
    if _sharing(model) in ("feature", "single"):
        claims += logistic_form(model, data, part.scores + log_prior)
    problem = f"Gaussians that make the rows most probable, variances by {_sharing(model)}"
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


@dataclass(frozen=True)
class Part:
    """What is claimed of some columns, how they score the rows, and how likely they make them."""

    claims: list[Claim]
    scores: Floats  # (n, K): log P(x | y), nothing where it is missing
    gap: float | None  # by how much the log-likelihood falls short of its maximum; None if unknown
    scale: float  # the weight in that sum
    free: int  # how many free numbers were learned


def gaussians(model: Any, data: ClassData, X: Floats) -> Part:
    """Columns X (n, d) that are Gaussian in each class; NaN is missing."""
    w = sums_by_class(data, 1 - gaps(X))  # (K, d): the weight of what is known
    mean, scatter = moments(data, X, w)
    centre, spread = of_all(w, mean, scatter)
    mean = np.where(w > 0, mean, centre)  # nothing is known of a class: as in all the data
    theta, epsilon = np.asarray(model.theta_, np.float64), float(model.epsilon_)
    var = np.broadcast_to(np.asarray(model.var_, np.float64), theta.shape)
    ddof, sharing = float(getattr(model, "ddof", 0)), _sharing(model)
    derived = pooled(scatter, w, spread, sharing, ddof)
    within = np.sqrt(scatter.sum(axis=0) / np.maximum(w.sum(axis=0), 1e-300))
    least = 2.0**-100 if _is_ours(model) else 0.0  # of a variance that would be zero
    claims = [
        # what a mean may be off by, for its size, depends on the spread about it
        agrees("means", "the means", model.theta_, mean, scale=np.maximum(np.abs(mean), within)),
        agrees("variances", "the variances", model.var_, np.maximum(derived + epsilon, least)),
        smoothing_claim(model, float(spread.max(initial=0.0))),
    ]
    gap = divergence(w, mean, derived, theta, var - epsilon) if ddof == 0 else None
    n_variances = {"feature": theta.shape[1], "class": len(theta), "single": 1}
    free = theta.size + n_variances.get(sharing, theta.size)
    scores = log_joint(X, theta, var, np.zeros(len(theta)))
    return Part(claims, scores, gap, float(w.sum()), free)


def _sharing(model: Any) -> str:
    return str(getattr(model, "variance", "class-feature"))


def _is_ours(model: Any) -> bool:
    return type(model).__module__.partition(".")[0] == "rosenblatt"


def moments(data: ClassData, X: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Means and scatters (K, d) of what is known in each class, in two passes."""
    means, scatters = [], []
    for members, known in zip(data.members, w, strict=True):
        rows, weight = X[members], data.weight[members]
        mean = weight @ filled(rows) / np.where(known > 0, known, 1.0)
        means.append(mean)
        scatters.append(weight @ filled(rows - mean) ** 2)
    return np.array(means), np.array(scatters)


def of_all(w: Floats, mean: Floats, scatter: Floats) -> tuple[Floats, Floats]:
    """Mean and variance (d,) of all classes together; 0 and 1 for a feature nobody knows."""
    total = w.sum(axis=0)
    divisor = np.where(total > 0, total, 1.0)
    centre = (w * mean).sum(axis=0) / divisor
    spread = (scatter + w * (mean - centre) ** 2).sum(axis=0) / divisor
    return centre, np.where(total > 0, spread, 1.0)


def pooled(scatter: Floats, w: Floats, spread: Floats, sharing: str, ddof: float) -> Floats:
    """The variances (K, d), shared as the model says; ddof takes off the means fitted.

    Where nothing is known in a pool they are those of all the data.
    """
    axes = {"feature": (0,), "class": (1,), "single": (0, 1)}.get(sharing, ())
    total, weight, n_means = (t.sum(axis=axes, keepdims=True) for t in (scatter, w, w > 0))
    divisor = weight - ddof * n_means
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = np.where(divisor > 0, total / divisor, 0.0)
    return np.array(np.broadcast_to(np.where(weight > 0, variances, spread), scatter.shape))


def smoothing_claim(model: Any, largest: float) -> Claim:
    """That epsilon_ is var_smoothing times the largest variance of a feature."""
    expected = float(model.var_smoothing) * largest
    off = abs(float(model.epsilon_) - expected) / (expected or 1.0)
    # scikit-learn takes it from the last batch of partial_fit, or unweighted: reported, not tested.
    return Claim(
        "smoothing",
        f"{float(model.epsilon_):.3g} was added to every variance; var_smoothing times the largest "
        f"is {expected:.3g}",
        off,
        1e-6 if _is_ours(model) else None,
        off <= 1e-6 if _is_ours(model) else True,
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


def divergence(w: Floats, mean: Floats, s2: Floats, theta: Floats, var: Floats) -> float:
    """``sum_k sum_j w_kj KL(N(mean, s2) || N(theta, var))``, over features that vary."""
    varies = (s2 > 0) & (var > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = s2 / var
        each = 0.5 * (ratio - 1 - np.log(ratio) + (mean - theta) ** 2 / var)
    return float((w * np.where(varies, np.maximum(each, 0.0), 0.0)).sum())


def logistic_form(model: Any, data: ClassData, joint: Floats) -> list[Claim]:
    """With variances that the classes share, the log-odds are linear: w.x + b.

    Of rows in which something is missing they are not; and of more than two classes it is the
    joint log-probabilities, up to what all have in common.
    """
    theta, var = np.asarray(model.theta_, np.float64), np.asarray(model.var_, np.float64)
    with np.errstate(divide="ignore"):
        start = np.log(np.asarray(model.class_prior_, np.float64))
    if len(theta) == 2:
        base, theta, start = theta[:1], theta[1:], start[1:] - start[0]
        joint = joint[:, 1:] - joint[:, :1]
    else:
        base = theta.mean(axis=0, keepdims=True)
    w = (theta - base) / var[:1]
    b = start + ((base**2 - theta**2) / (2 * var[:1])).sum(axis=1)
    claims = []
    if hasattr(model, "coef_"):
        terms = np.abs(start) + ((base**2 + theta**2) / (2 * var[:1])).sum(axis=1)
        size = np.abs(w).max(initial=0.0)
        claims = [
            agrees("weights", "the weights of the logistic form", model.coef_, w, scale=size),
            agrees("intercepts", "its intercepts", model.intercept_, b, scale=terms),
        ]
    whole = ~np.isnan(data.X).any(axis=1)
    if not whole.any() or not np.isfinite(start).all():
        return claims
    X, joint = data.X[whole], joint[whole]
    linear = X @ w.T + b
    if len(start) > 1:  # what all classes have in common says nothing
        linear, joint = (t - t.mean(axis=1, keepdims=True) for t in (linear, joint))
    size = np.abs(X) @ np.abs(w).T + np.abs(joint).max(axis=1, keepdims=True) + np.abs(b)
    off = float((np.abs(joint - linear) / size).max())
    said = f"the log-odds are w.x + b, as in logistic regression, up to {off:.2g} of their terms"
    return [*claims, Claim("logistic form", said, off, 1e-9, off <= 1e-9, "checked")]


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
