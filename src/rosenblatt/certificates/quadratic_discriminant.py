"""Quadratic discriminants: a covariance for each class, along axes of its own."""

from typing import Any

import numpy as np

from .claims import Claim
from .closed_form import (
    EPS,
    ClassData,
    Floats,
    agrees,
    is_ours,
    logs_of,
    row_blocks,
    size_claim,
    unit,
    unit_of_work,
)
from .discriminant_planes import (
    ClassMoments,
    covariances,
    moments,
    rounding_of_means,
    statistics_claims,
)
from .fitted_attributes import Scores, decision_claims

ENOUGH = 1e-2  # beyond this share of a variance nothing is said


def quadratic(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """A covariance for each class."""
    found, p = moments(data, data.X, full=True), shares(model, data)
    off = rounding_of_means(model, model.means_, data.X)
    S_k, _ = covariances(model, data, found.scatter)
    d, n_classes = data.X.shape[1], len(data.classes)
    if getattr(model, "solver", "svd") == "svd":
        regular = float(getattr(model, "reg_param", 0.0))
        S_k = (1 - regular) * S_k + regular * np.eye(d)
    if is_ours(model):
        S_k[p == 0] = np.eye(d)  # of a class without a share nothing is known or needed
    axes = [np.asarray(R, np.float64) for R in model.rotations_]
    variances = [np.asarray(s, np.float64) for s in model.scalings_]
    n_covariance = d if getattr(model, "covariance", "full") == "diagonal" else d * (d + 1) // 2
    return [
        *decision_claims(model, data, scores_of(data.X, model, axes, variances)),
        means_claim(model, found, off),
        prior_claim(model, p),
        *axes_claims(model, axes, variances, [raised(model, S) for S in S_k]),
        *stored_claims(model, S_k, off),
        *size_claim(model, n_classes * (d + n_covariance)),
        *statistics_claims(model, data, found, off),
    ]


def shares(model: Any, data: ClassData) -> Floats:
    """The classes' shares: given, or counted; of ours, none for a class without rows."""
    given = getattr(model, "priors", None)
    if given is None:
        return np.asarray(data.counts / data.counts.sum())
    given = np.asarray(given, np.float64)
    if is_ours(model):
        given = np.where(data.counts > 0, given, 0.0)
    elif hasattr(model, "rotations_"):
        return given  # as they are
    return np.asarray(given / given.sum())


def prior_claim(model: Any, p: Floats) -> Claim:
    """That the shares are those given or counted."""
    return agrees("prior", "the shares of the classes", model.priors_, p)


def means_claim(model: Any, found: ClassMoments, off: Floats) -> Claim:
    """That the published means are those of the rows, for the spread about them."""
    diagonal = np.diagonal(found.scatter, axis1=1, axis2=2)
    deviation = np.sqrt(diagonal / np.where(found.weight > 0, found.weight, 1.0))
    return agrees("means", "the means", model.means_, found.mean, scale=deviation, slack=off)


def raised(model: Any, S: Floats) -> Floats:
    """S, no variance in any direction below the floor of our solver by svd."""
    if not is_ours(model) or getattr(model, "solver", "svd") != "svd":
        return S
    variances, axes = directions(S)
    # Rounding is judged beside the variances of the features that make up a direction.
    floors = np.maximum(float(model.tol), 1e-14 * (np.diag(S) @ axes**2))
    return np.asarray((axes * np.maximum(variances, floors)) @ axes.T)


def directions(S: Floats) -> tuple[Floats, Floats]:
    """Variances (d,) along principal axes (d, d); features are brought to one scale on the way."""
    deviation = np.sqrt(np.maximum(np.diag(S), 0.0))
    scale = np.where(deviation > 0, deviation, deviation.max() or 1.0)
    squares, axes = np.linalg.eigh(S / np.outer(scale, scale))
    root = scale[:, np.newaxis] * axes * np.sqrt(np.maximum(squares, 0.0))
    axes, lengths, _ = np.linalg.svd(root)
    return lengths**2, axes


def axes_claims(
    model: Any, axes: list[Floats], variances: list[Floats], S_k: list[Floats]
) -> list[Claim]:
    """That variances along axes make the covariances, in every direction for its own variance."""
    d, precision = len(S_k[0]), unit(model.rotations_[0])
    if [R.shape for R in axes] != [(d, d)] * len(S_k) or {len(s) for s in variances} != {d}:
        said = f"the axes have shapes {[R.shape for R in axes]}; the data imply {(d, d)} for each"
        return [Claim("covariances", said, np.inf, 0.0, False, "checked")]
    computed = unit_of_work(model, model.rotations_[0])
    worst, allowed = 0.0, 1e-8
    for R, s, S in zip(axes, variances, S_k, strict=True):
        squares, Q = directions(S)
        whitening = Q / np.sqrt(np.maximum(squares, 1e-300))
        ratio = whitening.T @ ((R * s) @ R.T) @ whitening
        off = float(np.abs(ratio - np.eye(d)).max())
        worst = max(worst, off if np.isfinite(off) else np.inf)
        condition = float(squares.max() / max(float(squares.min()), 1e-300))
        allowed = max(allowed, (64 * d * computed + 16 * precision) * condition)
    statement = (
        "in every direction the variances of the classes are those of the data, up to "
        f"{worst:.2g} of their size"
    )
    if allowed > ENOUGH and worst > ENOUGH:
        statement += (
            f"; the problem is ill-conditioned, rounding alone may change {allowed:.2g}: nearly "
            "collinear columns, or scales far apart"
        )
    bound = min(allowed, ENOUGH)
    turned = max(float(np.abs(R.T @ R - np.eye(d)).max()) for R in axes)
    square = max(1e-8, 64 * precision)
    said = f"the axes of each class are of length one and at right angles, up to {turned:.2g}"
    return [
        Claim("covariances", statement, worst, bound, bool(worst <= bound), "checked"),
        Claim("axes", said, turned, square, bool(turned <= square), "checked"),
    ]


def stored_claims(model: Any, S_k: Floats, off: Floats) -> list[Claim]:
    """That `covariance_`, where there is one, holds the covariances."""
    if not hasattr(model, "covariance_"):
        return []
    deviation = np.sqrt(np.diagonal(S_k, axis1=1, axis2=2))
    scale = deviation[:, :, np.newaxis] * deviation[:, np.newaxis, :]
    published = np.array(model.covariance_)
    slack = np.outer(off, off) + 64 * unit_of_work(model, published) * scale
    return [agrees("stored", "the stored covariances", published, S_k, scale=scale, slack=slack)]


def scores_of(X: Floats, model: Any, axes: list[Floats], variances: list[Floats]) -> Scores:
    """log P(x, y), up to a number that is the same for all classes: (n, K)."""
    # Models may measure from the middle of all classes, and multiply the squares out.
    logs, means = logs_of(model.priors_), np.asarray(model.means_, np.float64)
    centre = np.nan_to_num(np.asarray(model.priors_, np.float64)) @ means
    precision, d = unit(model.means_), X.shape[1]
    values, blur = np.empty((len(X), len(axes))), np.zeros(len(X))
    for some in row_blocks(*X.shape):
        far = np.abs(X[some] - centre)
        for k, (R, s) in enumerate(zip(axes, variances, strict=True)):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                whitening = np.abs(R) / np.sqrt(s)
                moved = X[some] - means[k]
                z = moved @ (R / np.sqrt(s))
                values[some, k] = logs[k] - 0.5 * (_products(z, z) + np.log(s).sum())
                near = (far + np.abs(means[k] - centre)) @ whitening
                rounded = (np.abs(moved) + np.abs(means[k])) @ whitening
                each = 8 * EPS * (d + 8) * (_products(near, near) + np.abs(np.log(s)).sum())
                each += 4 * precision * _products(np.abs(z), rounded)
                each += (4 * precision) ** 2 * _products(rounded, rounded)
                each = 2 * each + 4 * precision * np.abs(np.log(s)).sum()
                blur[some] = np.maximum(blur[some], each)
    with np.errstate(invalid="ignore"):
        last = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1)
    return Scores(values, blur + 4 * precision * last)


def _products(A: Floats, B: Floats) -> Floats:
    """The product of each row of A with that of B, without a table of them."""
    return np.asarray(np.einsum("ij,ij->i", A, B))
