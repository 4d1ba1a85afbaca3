"""Discriminants: means and covariances again, and the published rule held against them.

Legend: m_k, S_k the mean and covariance of class k, p_k its share; S the covariance that the
classes share; w_k, b_k the published planes, of which only differences between classes matter.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .claims import Certificate, Claim
from .comparing import ClassData, Floats, agrees, rounding, training_error


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Re-derive means, shares and covariances, and compare."""
    data = ClassData(model, _dense(X), y, weight)
    bases = [base.__name__ for base in type(model).__mro__]
    kind = next(name for name in _KINDS if name in bases)
    problem, read = _KINDS[kind]
    return Certificate(type(model).__name__, problem, data.words, tuple(read(model, data)))


def moments(data: ClassData) -> tuple[Floats, Floats]:
    """Means (K, d) and scatters (K, d, d) of each class, in two passes."""
    means, scatters = [], []
    for members in data.members:
        rows, weight = data.X[members], data.weight[members]
        mean = weight @ rows / weight.sum() if len(members) else np.zeros(data.X.shape[1])
        means.append(mean)
        scatters.append((rows - mean).T @ ((rows - mean) * weight[:, np.newaxis]))
    return np.array(means), np.array(scatters)


def shares(model: Any, data: ClassData) -> Floats:
    """The classes' shares: given, or counted."""
    given = getattr(model, "priors", None)
    if given is not None:
        given = np.asarray(given, np.float64)
        return np.asarray(given / given.sum())
    return np.asarray(data.counts / data.counts.sum())


def covariances(model: Any, data: ClassData, scatters: Floats) -> Floats | None:
    """S_k as the settings ask for; None where they cannot be re-derived from moments."""
    shrinkage = getattr(model, "shrinkage", None)
    if shrinkage == "auto" or getattr(model, "covariance_estimator", None) is not None:
        return None
    S = scatters / np.maximum(data.counts, 1e-300)[:, np.newaxis, np.newaxis]
    if getattr(model, "covariance", "full") == "diagonal":
        S = S * np.eye(S.shape[1])
    return shrunk(S, shrinkage)


def shrunk(S: Floats, shrinkage: float | None) -> Floats:
    """Covariances with a share of a multiple of the identity."""
    if not shrinkage:
        return S
    d = S.shape[-1]
    sizes = np.trace(S, axis1=-2, axis2=-1) / d
    return np.asarray((1 - shrinkage) * S + shrinkage * np.multiply.outer(sizes, np.eye(d)))


def means_claim(published: Any, means: Floats, scatters: Floats, data: ClassData) -> Claim:
    """That the published means are those of the rows."""
    spread = np.sqrt(np.trace(scatters.sum(axis=0)) / data.weight.sum())
    return agrees("means", "the means", published, means, scale=np.maximum(np.abs(means), spread))


def linear(model: Any, data: ClassData) -> list[Claim]:
    """One covariance for all classes: planes."""
    means, scatters = moments(data)
    p, W, b = shares(model, data), *planes(model)
    claims = [
        training_error(data, data.X @ W.T + b),
        means_claim(model.means_, means, scatters, data),
        agrees("prior", "the shares of the classes", model.priors_, p),
    ]
    S_k = covariances(model, data, scatters)
    if S_k is None and not hasattr(model, "covariance_"):
        return claims
    if S_k is None:
        S = np.asarray(model.covariance_, np.float64)
    else:
        S = np.tensordot(p, S_k, axes=1)
        if getattr(model, "solver", "svd") == "svd":  # pooled by counts, whatever the shares
            S = np.tensordot(data.counts / data.counts.sum(), S_k, axes=1)
    return [*claims, *rule(model, means, p, S, W, b)]


def planes(model: Any) -> tuple[Floats, Floats]:
    """Planes W (K, d) and biases b (K,); of two classes the first is zero."""
    W = np.atleast_2d(np.asarray(model.coef_, np.float64))
    b = np.atleast_1d(np.asarray(model.intercept_, np.float64))
    if len(model.classes_) == 2 and len(W) == 1:
        W, b = np.vstack([0 * W, W]), np.append(0.0, b)
    return W, b


def rule(model: Any, means: Floats, p: Floats, S: Floats, W: Floats, b: Floats) -> list[Claim]:
    """That the differences of planes solve ``S (w_k - w_0) = m_k - m_0``, and biases follow."""
    w, m = W[1:] - W[0], means[1:] - means[0]
    size = np.linalg.norm(S, 2) * np.linalg.norm(w, axis=1) + np.linalg.norm(m, axis=1)
    residual = float(np.max(np.linalg.norm(w @ S - m, axis=1) / np.where(size > 0, size, 1.0)))
    allowed = max(1e-8, rounding(model.coef_))
    condition = np.linalg.cond(S)
    singular = not condition < 1e12
    words = "; S is singular, and directions without variance were dropped" if singular else ""
    claims = [
        Claim(
            "planes",
            f"S (w_k - w_0) = m_k - m_0 up to {residual:.2g} of its size{words}",
            residual,
            None if singular else allowed,
            singular or residual <= allowed,
            "checked",
        )
    ]
    with np.errstate(divide="ignore"):
        logs = np.log(p)
    middle = (means[1:] + means[0]) / 2
    expected = logs[1:] - logs[0] - (middle * w).sum(axis=1)
    scale = np.abs(middle * w).sum(axis=1) + np.abs(logs[1:] - logs[0]) + 1e-12
    if np.isfinite(expected).all():
        off = float(np.max(np.abs((b[1:] - b[0]) - expected) / scale, initial=0.0))
        holds = off <= max(1e-7, rounding(model.coef_))
        statement = f"with them the biases follow from means and shares, up to {off:.2g}"
        claims.append(Claim("biases", statement, off, 1e-7, holds, "checked"))
    return claims


def quadratic(model: Any, data: ClassData) -> list[Claim]:
    """A covariance for each class."""
    means, scatters = moments(data)
    p = shares(model, data)
    axes = [np.asarray(R, np.float64) for R in model.rotations_]
    variances = [np.asarray(s, np.float64) for s in model.scalings_]
    claims = [
        training_error(data, quadratic_scores(data.X, model, axes, variances)),
        means_claim(model.means_, means, scatters, data),
        agrees("prior", "the shares of the classes", model.priors_, p),
    ]
    S_k = covariances(model, data, scatters)
    if S_k is None:
        return claims
    regular = float(getattr(model, "reg_param", 0.0))
    d = S_k.shape[1]
    if getattr(model, "solver", "svd") == "svd":
        S_k = (1 - regular) * S_k + regular * np.eye(d)
    precision = np.asarray(model.rotations_[0]).dtype
    published = np.array([R * s @ R.T for R, s in zip(axes, variances, strict=True)], precision)
    size = np.linalg.norm(S_k, axis=(1, 2), ord=2)[:, np.newaxis, np.newaxis]
    claims.append(
        agrees("covariances", "the covariances of the classes", published, S_k, scale=size)
    )
    turned = [float(np.abs(R.T @ R - np.eye(R.shape[1])).max()) for R in axes]
    holds = max(turned) <= max(1e-8, rounding(model.rotations_[0]))
    statement = (
        f"the axes of each class are of length one and at right angles, up to {max(turned):.2g}"
    )
    claims.append(Claim("axes", statement, max(turned), 1e-8, bool(holds), "checked"))
    return claims


def quadratic_scores(X: Floats, model: Any, axes: list[Floats], variances: list[Floats]) -> Floats:
    """log P(x, y), up to a number that is the same for all classes: (n, K)."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(model.priors_, np.float64))
    means, scores = np.asarray(model.means_, np.float64), np.empty((len(X), len(axes)))
    for k, (R, s) in enumerate(zip(axes, variances, strict=True)):
        z = (X - means[k]) @ (R / np.sqrt(s))
        scores[:, k] = logs[k] - 0.5 * ((z**2).sum(axis=1) + np.log(s).sum())
    return scores


def fisher(model: Any, data: ClassData) -> list[Claim]:
    """The direction with the largest ratio of distance between means to spread within."""
    means, scatters = moments(data)
    within = shrunk(scatters.sum(axis=0), getattr(model, "shrinkage", None))
    w, gap = np.asarray(model.direction_, np.float64), means[1] - means[0]
    reached = float((w @ gap) ** 2 / (w @ within @ w))
    best = float(gap @ scipy.linalg.pinvh(within) @ gap)  # the top of w.gap^2 / w.S.w
    short = 1 - reached / best if best > 0 else 0.0
    allowed = max(1e-8, rounding(model.direction_))
    second = data.X @ w >= float(model.threshold_)  # on the threshold itself: the second class
    return [
        training_error(data, np.column_stack([~second, second]).astype(float)),
        means_claim(model.means_, means, scatters, data),
        Claim(
            "criterion",
            f"the direction reaches J = {reached:.6g}; the largest possible is {best:.6g}",
            reached, best, bool(short <= allowed), "checked",
        ),
    ]  # fmt: skip


def least_squares(model: Any, data: ClassData) -> list[Claim]:
    """Planes fitted to codes of the classes: the normal equations hold."""
    W = np.atleast_2d(np.asarray(model.coef_, np.float64))
    b = np.atleast_1d(np.asarray(model.intercept_, np.float64))
    if len(W) == 1:
        targets = np.where(data.codes == 1, 1.0, -1.0)[:, np.newaxis]
    else:
        targets = (data.codes[:, np.newaxis] == np.arange(len(W))).astype(float)
    fitted = data.X @ W.T + b
    scores = np.column_stack([-fitted[:, 0], fitted[:, 0]]) if len(W) == 1 else fitted
    A = np.column_stack([data.X, np.ones(len(data.X))]) if model.fit_intercept else data.X
    weighted = A * data.weight[:, np.newaxis]
    residual = np.abs(weighted.T @ (targets - fitted))
    size = np.abs(weighted).T @ (np.abs(targets) + np.abs(fitted)) + 1e-300
    off = float((residual / size).max())
    allowed = max(1e-8, rounding(model.coef_))
    return [
        training_error(data, scores),
        Claim(
            "normal equations",
            f"the residuals are at right angles to every column, up to {off:.2g} of their terms",
            off, allowed, bool(off <= allowed), "checked",
        ),
    ]  # fmt: skip


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)


_KINDS: dict[str, tuple[str, Callable[[Any, ClassData], list[Claim]]]] = {
    "LinearDiscriminantAnalysis": (
        "Gaussians of one covariance that make the rows most probable", linear
    ),
    "QuadraticDiscriminantAnalysis": (
        "Gaussians that make the rows most probable, a covariance for each class", quadratic
    ),
    "FisherDiscriminant": (
        "the direction of the largest distance between means for the spread within", fisher
    ),
    "LeastSquaresClassifier": ("least squares on codes of the classes", least_squares),
}  # fmt: skip
