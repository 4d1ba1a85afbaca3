"""Discriminants: means and covariances again, and the published rule held against them.

Legend: m_k, S_k the mean and covariance of class k, p_k its share; S the covariance that the
classes share; w_k, b_k the published planes, of which only differences between classes matter.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .claims import Certificate, Claim, within
from .closed_form import (
    EPS,
    ClassData,
    Floats,
    agrees,
    dense,
    logs_of,
    size_claim,
    unit,
    unit_of_work,
)
from .discriminant_planes import (
    Spread,
    covariances,
    means_apart,
    moments,
    plane_claims,
    published_planes,
    rank_claims,
    rounding_of_means,
    shrunk,
    statistics_claims,
)
from .fitted_attributes import Scores, decision_claims
from .linear_regression import least_squares_codes
from .quadratic_discriminant import means_claim, prior_claim, quadratic, shares

ONLY_RELATIVE_WEIGHTS = True  # a common factor of the weights changes no claim

# Fisher's discriminant: the direction, and where its line is cut.
#
# With n the weight of all rows, n w and n t are the plane of two Gaussians of the covariance
# ``S = S_W / n``, so that what is off can be said in units of log-odds.


def fisher(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """The direction with the largest ratio of distance between means to spread within."""
    found = moments(data, data.X, full=True)
    n, d = float(data.weight.sum()), data.X.shape[1]
    S = found.scatter.sum(axis=0) / n
    spread = Spread.of(shrunk(S, getattr(model, "shrinkage", None)))
    off = rounding_of_means(model, model.means_, data.X)
    apart = means_apart(data, data.X)
    gap = apart[1] - apart[0]
    right = spread.solved(gap[np.newaxis])[0]  # n w
    w, t = np.asarray(model.direction_, np.float64), float(model.threshold_)
    coef, b = np.asarray(model.coef_, np.float64), np.asarray(model.intercept_, np.float64)
    fitted = data.X @ coef[0] + b[0]
    sizes = np.abs(data.X) @ np.abs(coef[0]) + abs(b[0])
    scores = np.column_stack([np.zeros_like(fitted), fitted])
    both = np.column_stack([np.zeros_like(sizes), sizes])
    lean = _lean(model, data.counts, float(right @ S @ right), float(right @ gap))
    planes = plane_claims(
        model, n * np.array([0 * w, w]), n * np.array([0.0, -t]), np.array([0 * right, right]),
        found.mean, np.array([0.0, lean]), spread, off,
    )  # fmt: skip
    if model.threshold == "scan" and right @ gap > 0:
        planes = [claim for claim in planes if claim.name != "biases"] + [
            scan_claim(data, w, t, unit(model.direction_))
        ]
    distance = float(np.sqrt(max(right @ gap, 0.0)))  # of the means, in deviations
    blur = 4 * float(np.linalg.norm(off / spread.scale)) / np.sqrt(spread.weakest)
    blur = 256 * EPS * d / spread.weakest + (blur / distance if distance > 0 else 1.0)
    return [
        *decision_claims(model, data, Scores.of(model, scores, both, d, model.coef_)),
        means_claim(model, found, off),
        *planes,
        *criterion_claims(model, w, gap, n * spread.S, n * S, right / n, blur),
        agrees("plane", "the weights of the plane", coef, w[np.newaxis]),
        agrees("cut", "its intercept", model.intercept_, [-t]),
        *rank_claims(model, spread),
        *size_claim(model, d + 1, shares=False),
        *statistics_claims(model, data, found, off),
    ]  # fmt: skip


def _lean(model: Any, counts: Floats, spread: float, between: float) -> float:
    """The log-odds halfway between the means: none, or those of the shares."""
    if model.threshold != "prior" or between <= 0:
        return 0.0
    return float(np.log(counts[1] / counts[0]) * spread / between)


def scan_claim(data: ClassData, w: Floats, t: float, precision: float) -> Claim:
    """That no other cut of the line leaves less weight on the wrong side."""
    line = data.X @ w
    order = np.argsort(line, kind="stable")
    second, each = data.codes[order] == 1, data.weight[order]
    below = np.concatenate([[0.0], np.cumsum(np.where(second, each, 0.0))])
    above = np.concatenate([np.cumsum(np.where(second, 0.0, each)[::-1])[::-1], [0.0]])
    at = np.concatenate([[True], np.diff(line[order]) > 0, [True]])  # not between equals
    least = float((below + above)[at].min())
    doubtful = np.abs(line - t) <= 8 * precision * (np.abs(data.X) @ np.abs(w) + abs(t))
    wrong = (line >= t) != (data.codes == 1)
    reached = float(data.weight[wrong & ~doubtful].sum())
    statement = (
        f"weight {reached:g} is on the wrong side of the cut; the least possible is {least:g}"
    )
    allowed = least + 1e-9 * float(data.weight.sum())
    return within("cut of the line", statement, reached, allowed)


def criterion_claims(
    model: Any, w: Floats, gap: Floats, within: Floats, S_W: Floats, best_w: Floats, blur: float
) -> list[Claim]:
    """That no direction reaches a larger J, and that the J published is that of the direction."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = float((w @ gap) ** 2 / (w @ within @ w))
        best = float((best_w @ gap) ** 2 / (best_w @ within @ best_w))
        J = float((best_w @ gap) ** 2 / (best_w @ S_W @ best_w))
    reached, best, J = (float(np.nan_to_num(number)) for number in (reached, best, J))
    allowed = max(1e-8, 64 * unit(model.direction_)) + blur
    short = 1 - reached / best if best > 0 else 0.0
    statement = f"the direction reaches J = {reached:.6g}; the largest possible is {best:.6g}"
    return [
        Claim("criterion", statement, reached, best, bool(short <= allowed), "checked"),
        agrees("J", "the criterion published", model.criterion_, J, slack=allowed * J),
    ]


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
    centre, apart = p @ found.mean, means_apart(data, data.X)
    away = apart - p @ apart
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
    "LeastSquaresClassifier": ("least squares on codes of the classes", least_squares_codes),
}  # fmt: skip


# The directions in which linear discriminants project rows.
#
# Legend: S the covariance within classes, B what lies between them, A (d, r) the directions. They
# whiten S and sort B: ``A'SA = 1`` and ``A'BA = diag(e)``, e falling, so that no others show more
# of B for their spread.


def direction_claims(
    model: Any, data: ClassData, spread: Spread, between: Floats, centre: Floats, off: Floats
) -> list[Claim]:
    """That `scalings_` and what belongs to them are as they should be; nothing without them."""
    if not hasattr(model, "scalings_"):
        return []
    A, W = np.asarray(model.scalings_, np.float64), spread.whitening
    e = np.asarray(np.linalg.eigvalsh(W.T @ between @ W)[::-1], np.float64)
    most = min(len(data.classes) - 1, data.X.shape[1])
    n_columns = most if model.n_components is None else min(int(model.n_components), most)
    blur = float(np.linalg.norm(off / spread.scale)) / np.sqrt(spread.weakest)  # of means
    fewest, largest = _n_directions(model, e, len(data.classes), blur)
    if A.ndim != 2 or len(A) != len(W) or not fewest <= A.shape[1] <= largest:
        said = f"the directions have shape {A.shape}; the data imply {(len(W), fewest)}"
        return [Claim("directions", said, np.inf, 0.0, False, "checked")]
    noise = 256 * unit_of_work(model, model.scalings_) * len(W) / spread.weakest
    top = float(np.abs(e).max(initial=0.0)) or 1.0
    # Rounding of A itself, and of means far from the origin.
    own = unit(model.scalings_) * float(_lengths(A, spread, 1).max(initial=0.0))
    allowed = max(1e-8, noise) + 8 * own + 4 * blur / np.sqrt(top)
    claims = [_sorted_claim(A, spread, between, e, noise, allowed)]
    if A.shape[1] and e.sum() > 0:
        shares, slack = e / e.sum(), (allowed * top + noise) / e.sum()
        ratio = model.explained_variance_ratio_
        what = "the shares of the directions"
        claims.append(agrees("separation", what, ratio, shares[:n_columns], scale=1.0, slack=slack))
    if hasattr(model, "xbar_"):
        deviation = np.sqrt(np.maximum(np.diag(spread.S), 0.0))
        what = "the mean of means"
        claims.append(agrees("centre", what, model.xbar_, centre, scale=deviation, slack=off))
    if A.shape[1]:
        claims.append(_transform_claim(model, data.X, A[:, :n_columns]))
    return claims


def _n_directions(model: Any, e: Floats, n_classes: int, blur: float) -> tuple[int, int]:
    """How few and how many there may be: all, or by svd those in which the means differ."""
    # Means that are off by `blur` may seem to differ in one more.
    if not hasattr(model, "xbar_"):
        return len(e), len(e)
    lengths = np.sqrt(np.maximum(e, 0.0))
    largest = float(lengths.max(initial=0.0))
    cut = float(model.tol) * largest
    fewest = np.count_nonzero(lengths > 1.01 * cut + 1e-7 * largest)
    most = np.count_nonzero(lengths > 0.99 * cut - 1e-7 * largest - blur) if largest > 0 else 0
    return int(fewest), int(min(most, n_classes))


def _lengths(A: Floats, spread: Spread, norm: int) -> Floats:
    """Of the columns of A (d, r), features scaled to one."""
    return np.asarray(np.linalg.norm(A * spread.scale[:, np.newaxis], norm, axis=0))


def _sorted_claim(
    A: Floats, spread: Spread, between: Floats, e: Floats, noise: float, allowed: float
) -> Claim:
    """That A whitens S and sorts B, and has no part in directions without variance."""
    r, W = A.shape[1], spread.whitening
    top = float(np.abs(e).max(initial=0.0)) or 1.0
    lengths = _lengths(A, spread, 2)
    idle = _lengths(A - W @ (W.T @ spread.S @ A), spread, 2)
    parts = (
        np.abs(A.T @ spread.S @ A - np.eye(r)),
        np.maximum(np.abs(A.T @ between @ A - np.diag(e[:r])) - noise, 0.0) / top,
        idle / np.where(lengths > 0, lengths, 1.0),
    )
    worst = max(float(part.max(initial=0.0)) for part in parts)
    statement = f"the directions whiten S and sort what lies between the classes, up to {worst:.2g}"
    return within("directions", statement, worst, allowed)


def _transform_claim(model: Any, X: Floats, A: Floats) -> Claim:
    """That rows are projected on the directions A (d, r), by svd from the mean of means."""
    origin = np.asarray(getattr(model, "xbar_", np.zeros(len(A))), np.float64)
    own, derived = np.asarray(model.transform(X), np.float64), (X - origin) @ A
    blur = 8 * unit(model.scalings_) * (len(A) + 8) * ((np.abs(X) + np.abs(origin)) @ np.abs(A))
    return agrees("transform", "the projected rows", own, derived, scale=1.0, slack=blur)
