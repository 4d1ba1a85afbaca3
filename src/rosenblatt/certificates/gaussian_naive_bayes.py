"""Gaussian naive Bayes: means and variances again, and how far the likelihood is from its maximum.

A smoothing epsilon takes every square to be that much larger. With the means m and variances s^2 of
the data, the log-likelihood of other Gaussians then falls short of the maximum by
``sum_k sum_j w_kj KL(N(m, s^2 + epsilon) || N(theta, var))``, w the weight of what is known.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim
from .closed_form import (
    EPS,
    ClassData,
    Floats,
    agrees,
    class_counts_claim,
    dense,
    filled,
    is_ours,
    logs_of,
    prior_claims,
    rounding,
    row_blocks,
    shortfall,
    size_claim,
    sums_to_one,
    unit,
)
from .discriminant_planes import (
    Spread,
    moments,
    moments_of,
    plane_claims,
    published_planes,
    rounding_of_means,
    statistics_claims,
)
from .fitted_attributes import Scores, decision_claims


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Re-derive means, variances and shares, and compare."""
    data = ClassData(model, dense(X), y, weight)
    part = gaussians(model, data, data.X)
    log_prior = logs_of(model.class_prior_)
    if hasattr(model, "class_log_prior_"):
        log_prior = np.asarray(model.class_log_prior_, np.float64)
    sizes = part.sizes + np.abs(np.where(np.isfinite(log_prior), log_prior, 0.0))
    scores = Scores.of(model, part.scores + log_prior, sizes, data.X.shape[1], model.theta_)
    claims = [
        *decision_claims(model, data, scores.where_possible(log_prior)),
        *part.claims,
        class_counts_claim(model, data),
        *prior_claims(model, data.counts),
        sums_to_one("the shares of the classes", log_prior),
        *size_claim(model, part.free),
        *statistics_claims(
            model, data, moments(data, data.X), rounding_of_means(model, model.theta_, data.X)
        ),
    ]
    if part.gap is not None:
        claims.append(shortfall("smoothed log-likelihood", part.gap, part.scale, tol, part.blur))
    if _sharing(model) in ("feature", "single"):
        claims += logistic_form(model, data, log_prior)
    problem = f"Gaussians that make the rows most probable, variances by {_sharing(model)}"
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


@dataclass(frozen=True)
class GaussianPart:
    """What is claimed of some columns, how they score the rows, and how likely they make them."""

    claims: list[Claim]
    scores: Floats  # (n, K): log P(x | y), nothing where it is missing
    sizes: Floats  # (n, K): the absolute values of its terms, added up
    gap: float | None  # by how much the log-likelihood falls short of its maximum; None if unknown
    scale: float  # the weight in that sum
    free: int  # how many free numbers were learned
    blur: float = 0.0  # what the rounding of published numbers may add to the gap


def gaussians(model: Any, data: ClassData, X: Floats) -> GaussianPart:
    """Columns X (n, d) that are Gaussian in each class; NaN is missing."""
    w, mean, scatter = moments(data, X)
    centre, spread = of_all(data, X)
    deviation = np.sqrt(scatter / np.where(w > 0, w, 1.0))
    deviation, mean = (np.where(w > 0, t, u) for t, u in ((deviation, spread**0.5), (mean, centre)))
    theta, epsilon = np.asarray(model.theta_, np.float64), float(model.epsilon_)
    var = np.broadcast_to(np.asarray(model.var_, np.float64), theta.shape)
    ddof, sharing = float(getattr(model, "ddof", 0)), _sharing(model)
    s2 = pooled(scatter, w, spread, sharing, ddof) + epsilon
    off = rounding_of_means(model, model.theta_, X)
    claims = [
        agrees("means", "the means", model.theta_, mean, scale=deviation, slack=off),
        variances_claim(model, s2, theta - mean, EPS * np.abs(mean)),
        smoothing_claim(model, data, X, float(spread.max(initial=0.0)), EPS * np.abs(mean).max()),
    ]
    gap = divergence(data, X, w, s2, theta, var) if ddof == 0 else None
    # The mean that is published is a number of its precision, and no nearer than that.
    ulp = unit(model.theta_) * np.abs(mean)
    blur = float((w * np.where(s2 > 0, ulp**2 / np.where(s2 > 0, s2, 1.0), 0.0)).sum() / 2)
    n_variances = {"feature": theta.shape[1], "class": len(theta), "single": 1}
    free = theta.size + n_variances.get(sharing, theta.size)
    scores, sizes = log_densities(X, theta, var)
    return GaussianPart(claims, scores, sizes, gap, float(w.sum()), free, blur)


def _sharing(model: Any) -> str:
    return str(getattr(model, "variance", "class-feature"))


def of_all(data: ClassData, X: Floats) -> tuple[Floats, Floats]:
    """Mean and variance (d,) of all classes together; 0 and 1 for a feature nobody knows."""
    total, centre, scatter = moments_of(X, data.weight)
    return centre, np.where(total > 0, scatter / np.where(total > 0, total, 1.0), 1.0)


def pooled(scatter: Floats, w: Floats, spread: Floats, sharing: str, ddof: float) -> Floats:
    """The variances (K, d), shared as the model says; ddof takes off the means fitted."""
    axes = {"feature": (0,), "class": (1,), "single": (0, 1)}.get(sharing, ())
    total, weight, n_means = (t.sum(axis=axes, keepdims=True) for t in (scatter, w, w > 0))
    divisor = weight - ddof * n_means
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = np.where(divisor > 0, total / divisor, 0.0)
    return np.array(np.broadcast_to(np.where(weight > 0, variances, spread), scatter.shape))


def variances_claim(model: Any, s2: Floats, off: Floats, ulp: Floats) -> Claim:
    """That the variances are s2 (K, d); ours have a smallest one in the place of zero."""
    # Squares are taken around a mean in 64 bits, which is off by up to an `ulp` (K, d); others'
    # around the mean they publish, which is `off` (K, d) by its rounding.
    derived = s2.astype(np.asarray(model.var_).dtype)
    slack = ulp**2 + (0.0 if is_ours(model) else 2 * off**2)
    if is_ours(model):
        derived[derived == 0] = 2.0**-100
    return agrees("variances", "the variances", model.var_, derived, slack=slack)


def smoothing_claim(
    model: Any, data: ClassData, X: Floats, largest: float, ulp: float = 0.0
) -> Claim:
    """That epsilon_ is var_smoothing times the largest variance of a feature."""
    # scikit-learn takes the variance of the last batch, and unweighted. Of whatever rows: no
    # variance is larger than the square of half the range.
    share, epsilon = float(model.var_smoothing), float(model.epsilon_)
    if is_ours(model):
        expected = share * largest
        apart = max(0.0, abs(epsilon - expected) - share * ulp**2)
        value, bound = apart / expected if expected > 0 else apart and np.inf, rounding(model.var_)
        words = f"var_smoothing times the largest is {expected:.3g}"
    else:
        ranges = np.ptp(data.given, axis=0)
        value, bound = epsilon, share * float(ranges.max(initial=0.0)) ** 2 / 4 * (1 + 1e-6)
        words = f"var_smoothing times the largest of any batch of these rows is {bound:.3g} at most"
    statement = f"{epsilon:.3g} was added to every variance; {words}"
    return Claim("smoothing", statement, float(value), bound, 0 <= value <= bound, "checked")


def log_densities(X: Floats, theta: Floats, var: Floats) -> tuple[Floats, Floats]:
    """log P(x | y) (n, K), and the sizes of its terms; values that are missing are left out."""
    scores, sizes = np.empty((2, len(X), len(theta)))
    for some in row_blocks(*X.shape):
        rows, missing = X[some], np.isnan(X[some])
        for k in range(len(theta)):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                logs, far = 0.5 * np.log(2 * np.pi * var[k]), 0.5 * (rows - theta[k]) ** 2 / var[k]
                scores[some, k] = np.where(missing, 0.0, -logs - far).sum(axis=1)
                # logs of all columns are added up first, and taken back where a value is missing
                sizes[some, k] = np.where(missing, 0.0, far).sum(axis=1) + 2 * np.abs(logs).sum()
    return scores, sizes


def divergence(
    data: ClassData, X: Floats, w: Floats, s2: Floats, theta: Floats, var: Floats
) -> float:
    """``sum_k sum_j w_kj KL(N(mean, s2) || N(theta, var))``, over features that vary, at most."""
    # Means are taken from theta, so that far from the origin they keep their digits; variances are
    # off by the rounding of a sum.
    means = [
        data.weight[rows] @ filled(X[rows] - at)
        for rows, at in zip(data.members, theta, strict=True)
    ]
    off = np.array(means) / np.where(w > 0, w, 1.0)
    rounding = 4 * (len(X) + 8) * EPS
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = s2 / var
        each = 0.5 * (ratio - 1 - np.log(ratio) + off**2 / var * (1 + rounding))
        more = rounding * np.abs(ratio - 1) + 4 * EPS * (ratio + 1 + np.abs(np.log(ratio)))
    each = np.where(np.isnan(each) | ~(var > 0), np.inf, np.maximum(each, 0.0) + more)
    return float(np.where((w > 0) & (s2 > 0), w * each, 0.0).sum())


def logistic_form(model: Any, data: ClassData, log_prior: Floats) -> list[Claim]:
    """With variances that the classes share, the log-odds are linear: w.x + b."""
    if not hasattr(model, "coef_"):
        return []
    theta, var = np.asarray(model.theta_, np.float64), np.asarray(model.var_, np.float64)
    spread = Spread.of(np.diag(var[0]))
    blur = 4 * unit(model.theta_) * np.abs(theta).max(axis=0)
    W, b = published_planes(model)
    return plane_claims(model, W, b, theta / var[0], theta, log_prior, spread, blur)
