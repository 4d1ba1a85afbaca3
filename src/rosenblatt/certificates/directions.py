"""The directions in which linear discriminants project rows.

Legend: S the covariance within classes, B what lies between them, A (d, r) the directions. They
whiten S and sort B: ``A'SA = 1`` and ``A'BA = diag(e)``, e falling, so that no others show more of
B for their spread.
"""

from typing import Any

import numpy as np

from .claims import Claim
from .comparing import ClassData, Floats, agrees, unit, unit_of_work
from .planes import Spread


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
    fewest, largest = _n_directions(model, e, len(data.classes))
    if A.ndim != 2 or len(A) != len(W) or not fewest <= A.shape[1] <= largest:
        said = f"the directions have shape {A.shape}; the data imply {(len(W), fewest)}"
        return [Claim("directions", said, np.inf, 0.0, False, "checked")]
    noise = 256 * unit_of_work(model, model.scalings_) * len(W) / spread.weakest
    top = float(np.abs(e).max(initial=0.0)) or 1.0
    # Rounding of A itself, and of means far from the origin.
    own = unit(model.scalings_) * float(_lengths(A, spread, 1).max(initial=0.0))
    far = float(np.linalg.norm(off / spread.scale)) / np.sqrt(spread.weakest * top)
    allowed = max(1e-8, noise) + 8 * own + 4 * far
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


def _n_directions(model: Any, e: Floats, n_classes: int) -> tuple[int, int]:
    """How few and how many there may be: all, or by svd those in which the means differ."""
    if not hasattr(model, "xbar_"):
        return len(e), len(e)
    lengths = np.sqrt(np.maximum(e, 0.0))
    largest = float(lengths.max(initial=0.0))
    cut = float(model.tol) * largest
    fewest = np.count_nonzero(lengths > 1.01 * cut + 1e-7 * largest)
    most = np.count_nonzero(lengths > 0.99 * cut - 1e-7 * largest) if largest > 0 else 0
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
    return Claim("directions", statement, worst, allowed, bool(worst <= allowed), "checked")


def _transform_claim(model: Any, X: Floats, A: Floats) -> Claim:
    """That rows are projected on the directions A (d, r), by svd from the mean of means."""
    origin = np.asarray(getattr(model, "xbar_", np.zeros(len(A))), np.float64)
    own, derived = np.asarray(model.transform(X), np.float64), (X - origin) @ A
    blur = 8 * unit(model.scalings_) * (len(A) + 8) * ((np.abs(X) + np.abs(origin)) @ np.abs(A))
    return agrees("transform", "the projected rows", own, derived, scale=1.0, slack=blur)
