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
    unit,
    unit_of_work,
)
from .decisions import Scores, decision_claims
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
        expected = away @ scipy.linalg.pinvh(S, rtol=1e-13)  # the shortest of several
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
    return [agrees("covariance", "the covariance", model.covariance_, S, scale=scale, slack=slack)]


def direction_claims(
    model: Any, data: ClassData, spread: Spread, between: Floats, centre: Floats, off: Floats
) -> list[Claim]:
    """That the directions A of `transform` whiten S, and sort what lies between the classes.

    ``A'SA = 1`` and ``A'BA = diag(e)``, e falling: no others show more of B for their spread.
    """
    if not hasattr(model, "scalings_"):
        return []
    A, by_svd = np.asarray(model.scalings_, np.float64), hasattr(model, "xbar_")
    W = spread.whitening
    e = np.linalg.eigvalsh(W.T @ between @ W)[::-1]
    top = float(np.abs(e).max(initial=0.0)) or 1.0
    most = min(len(data.classes) - 1, data.X.shape[1])
    n_columns = most if model.n_components is None else min(int(model.n_components), most)
    r = A.shape[1]
    if A.ndim != 2 or r > len(e) or len(A) != len(W) or (not by_svd and r < len(e)):
        said = f"the directions have shape {A.shape}; the data imply {W.shape}"
        return [Claim("directions", said, np.inf, 0.0, False, "checked")]
    idle = A - W @ (W.T @ spread.S @ A)
    lengths = np.linalg.norm(A * spread.scale[:, np.newaxis], axis=0)
    parts = (
        np.abs(A.T @ spread.S @ A - np.eye(r)),
        np.abs(A.T @ between @ A - np.diag(e[:r])) / top,
        np.linalg.norm(idle * spread.scale[:, np.newaxis], axis=0)
        / np.where(lengths > 0, lengths, 1),
    )
    worst = max((float(part.max(initial=0.0)) for part in parts), default=0.0)
    precision = unit(model.scalings_)
    own = precision * float((np.abs(A) * spread.scale[:, np.newaxis]).sum(axis=0).max(initial=0.0))
    far = float(np.linalg.norm(off / spread.scale)) / np.sqrt(spread.weakest * top)
    computed = unit_of_work(model, model.scalings_)
    allowed = max(1e-8, 256 * computed * len(spread.S) / spread.weakest) + 8 * own + 4 * far
    statement = f"the directions whiten S and sort what lies between the classes, up to {worst:.2g}"
    claims = [Claim("directions", statement, worst, allowed, bool(worst <= allowed), "checked")]
    whole = float(e.sum())
    if r and whole > 0:
        claims.append(
            agrees(
                "separation", "the shares of the directions", model.explained_variance_ratio_,
                (e / whole)[:n_columns], scale=1.0, slack=allowed * top / whole,
            )
        )  # fmt: skip
    if by_svd:
        deviation = np.sqrt(np.maximum(np.diag(spread.S), 0.0))
        claims.append(
            agrees("centre", "the mean of means", model.xbar_, centre, scale=deviation, slack=off)
        )
    if r:
        claims.append(_transform_claim(model, data.X, A[:, :n_columns]))
    return claims


def _transform_claim(model: Any, X: Floats, A: Floats) -> Claim:
    """That rows are projected on the directions A (d, r), by svd from the mean of means."""
    origin = np.asarray(getattr(model, "xbar_", np.zeros(len(A))), np.float64)
    own, derived = np.asarray(model.transform(X), np.float64), (X - origin) @ A
    blur = 8 * unit(model.scalings_) * (len(A) + 8) * ((np.abs(X) + np.abs(origin)) @ np.abs(A))
    return agrees("transform", "the projected rows", own, derived, scale=1.0, slack=blur)


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
