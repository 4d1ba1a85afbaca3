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
from .comparing import (
    ClassData,
    Floats,
    agrees,
    dense,
    logs_of,
    size_claim,
    unit_of_work,
)
from .decisions import Scores, decision_claims
from .directions import direction_claims
from .fisher import fisher
from .least_squares_classes import least_squares
from .moments import covariances, moments, rounding_of_means, statistics_claims
from .planes import Spread, plane_claims, published_planes, rank_claims
from .quadratic import means_claim, prior_claim, quadratic, shares


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Re-derive means, shares and covariances, and compare."""
    data = ClassData(model, dense(X), y, weight)
    bases = [base.__name__ for base in type(model).__mro__]
    kind = next(name for name in _KINDS if name in bases)
    problem, read = _KINDS[kind]
    return Certificate(type(model).__name__, problem, data.words, tuple(read(model, data, tol)))


def linear(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """One covariance for all classes: planes."""
    found = moments(data, data.X, full=True)
    p, (W, b) = shares(model, data), published_planes(model)
    off = rounding_of_means(model, model.means_, data.X)
    S_k, total = covariances(model, data, found.scatter)
    stored = np.tensordot(p, S_k, axes=1)
    spread, S = Spread.of(stored), stored
    by_svd = getattr(model, "solver", "svd") == "svd"
    if by_svd:  # pooled by counts, whatever the shares
        S = np.tensordot(data.counts / data.counts.sum(), S_k, axes=1)
        spread = Spread.of(S, float(model.tol))
    centre = p @ found.mean
    away = found.mean - centre
    between = (away * p[:, np.newaxis]).T @ away if by_svd else total - S
    expected = planes_by_svd(model, spread, away, p) if by_svd else spread.solved(away)
    if not by_svd and len(spread.variances) < len(S):
        # Of several the shortest: scikit-learn's by columns as they are, ours by columns scaled.
        both = (expected, away @ scipy.linalg.pinvh(S, rtol=1e-13))
        expected = min(both, key=lambda w: np.abs(w - w[0] - (W - W[0])).max())
    hidden = 0.0
    if not by_svd:  # which take m'S^-1 m of each class, from the origin
        terms = np.abs(found.mean) * np.abs(spread.solved(found.mean))
        hidden = 16 * unit_of_work(model, model.coef_) * float(terms.sum(axis=1).max())
    d, n_classes = len(S), len(data.classes)
    n_covariance = d if getattr(model, "covariance", "full") == "diagonal" else d * (d + 1) // 2
    sizes = np.abs(data.X) @ np.abs(W).T + np.abs(np.where(np.isfinite(b), b, 0.0))
    return [
        *decision_claims(model, data, Scores.of(model, data.X @ W.T + b, sizes, d, model.coef_)),
        means_claim(model, found, off),
        prior_claim(model, p),
        *plane_claims(model, W, b, expected, found.mean, logs_of(p), spread, off, hidden),
        *covariance_claims(model, stored, off),
        *direction_claims(model, data, spread, between, centre, off),
        *rank_claims(model, spread),
        *size_claim(model, n_classes * d + n_covariance),
        *statistics_claims(model, data, found, off),
    ]


def planes_by_svd(model: Any, spread: Spread, away: Floats, p: Floats) -> Floats:
    """``S^-1 (m_k - m)``, less what lies in directions in which the means hardly differ."""
    z = away @ spread.whitening
    lengths, axes = np.linalg.svd(np.sqrt(p)[:, np.newaxis] * z, full_matrices=False)[1:]
    axes = axes[lengths > float(model.tol) * lengths.max(initial=0.0)]
    return np.asarray(z @ axes.T @ axes @ spread.whitening.T)


def covariance_claims(model: Any, S: Floats, off: Floats) -> list[Claim]:
    """That `covariance_`, where there is one, is S."""
    if not hasattr(model, "covariance_"):
        return []
    deviation = np.sqrt(np.diag(S))
    scale = np.outer(deviation, deviation)
    slack = np.outer(off, off) + 64 * unit_of_work(model, model.covariance_) * scale
    return [agrees("covariance", "the covariances", model.covariance_, S, scale=scale, slack=slack)]


_KINDS: dict[str, tuple[str, Callable[[Any, ClassData, float], list[Claim]]]] = {
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
