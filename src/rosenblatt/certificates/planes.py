"""Planes that separate Gaussians of one covariance S, published and derived.

Legend: w_k, b_k the plane of class k, m_k its mean, p_k its share. Only differences between classes
matter, ``S (w_k - w_r) = m_k - m_r`` with r a class to compare with. How far a difference is off is
measured twice: by the deviation it adds to the scores, ``sqrt(w'Sw)``, and by its length, features
scaled to one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .claims import Claim
from .comparing import EPS, Floats, is_ours, unit

ENOUGH = 1e-2  # of a unit of log-odds, or of the distance of two classes: beyond, nothing is said


@dataclass(frozen=True, eq=False)
class Spread:
    """A covariance, and the directions in which there is any."""

    S: Floats  # (d, d)
    scale: Floats  # (d,): deviations of the features, one where there is none
    variances: Floats  # (r,): of the directions kept, features scaled to one
    whitening: Floats  # (d, r): A with A'SA = 1
    n_doubtful: int  # directions so near the least variance that they may as well be dropped

    @staticmethod
    def of(S: Floats, least: float = 0.0) -> "Spread":
        """Directions of a deviation of at most `least`, or below rounding, are none."""
        deviation = np.sqrt(np.maximum(np.diag(S), 0.0))
        scale = np.where(deviation > 0, deviation, 1.0)
        variances, axes = np.linalg.eigh(S / np.outer(scale, scale))
        floor = max(least**2, 1e-14 * len(S))
        kept = variances > floor
        doubtful = (variances > floor / 4) & (variances < 4 * floor)
        A = axes[:, kept] / scale[:, np.newaxis] / np.sqrt(variances[kept])
        return Spread(S, scale, variances[kept], A, int(np.count_nonzero(doubtful)))

    @property
    def condition(self) -> float:
        """Of what is kept, features scaled to one."""
        v = self.variances
        return float(v.max() / v.min()) if len(v) else 1.0

    @property
    def weakest(self) -> float:
        """The smallest variance kept, features scaled to one."""
        return float(self.variances.min(initial=1.0))

    @property
    def words(self) -> str:
        """What is to be said of it, if anything."""
        n_dropped = len(self.S) - len(self.variances)
        if n_dropped:
            return f"; S is singular, and {n_dropped} directions without variance were dropped"
        if self.condition > 1e8:
            return f"; S is nearly singular (condition {self.condition:.1g}, columns scaled to one)"
        return ""

    def deviations(self, w: Floats) -> Floats:
        """``sqrt(w'Sw)`` of each row of w (k, d)."""
        squares = np.einsum("kd,de,ke->k", w, self.S, w)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def lengths(self, w: Floats) -> Floats:
        """Of each row of w (k, d), features scaled to one."""
        return np.asarray(np.linalg.norm(w * self.scale, axis=1))

    def solved(self, m: Floats) -> Floats:
        """``S^-1 m`` for each row of m (k, d), in the directions kept."""
        return np.asarray(m @ self.whitening @ self.whitening.T)


def published_planes(model: Any) -> tuple[Floats, Floats]:
    """Planes W (K, d) and biases b (K,); of two classes the first is zero."""
    W = np.atleast_2d(np.asarray(model.coef_, np.float64))
    b = np.atleast_1d(np.asarray(model.intercept_, np.float64))
    if len(model.classes_) == 2 and len(W) == 1:
        W, b = np.vstack([0 * W, W]), np.append(0.0, b)
    return W, b


def rank_claims(model: Any, spread: Spread) -> list[Claim]:
    """That the directions counted are there; at the least variance that counts, either way."""
    if not hasattr(model, "rank_"):
        return []
    rank, apart = len(spread.variances), abs(int(model.rank_) - len(spread.variances))
    statement = f"the classes vary in {rank} of {len(spread.S)} directions; {model.rank_} were used"
    holds = apart <= spread.n_doubtful
    return [Claim("rank", statement, apart, spread.n_doubtful, holds, "checked")]


def plane_claims(
    model: Any,
    W: Floats,
    b: Floats,
    expected: Floats,
    means: Floats,
    logs: Floats,
    spread: Spread,
    off: Floats,
) -> list[Claim]:
    """That planes (K, d) differ as the expected ones do, and biases follow from means and shares.

    `off` (d,) is what rounding may have done to a mean.
    """
    if W.shape != expected.shape or b.shape != logs.shape:
        said = f"the planes have shape {W.shape}; the data imply {expected.shape}"
        return [Claim("planes", said, np.inf, 0.0, False, "checked")]
    if len(W) == 1:
        return []  # nothing to compare a single class with
    shares = np.flatnonzero(np.isfinite(logs))  # classes without a share have no plane to check
    first, rest = shares[0], shares[1:]
    w, right = W[rest] - W[first], expected[rest] - expected[first]
    sizes = np.abs(W[rest]) + np.abs(W[first])
    precision = unit(model.coef_)
    claims = [_directions(model, w, right, sizes, precision, spread, off)]
    middle = (means[rest] + means[first]) / 2
    gap = (w * middle).sum(axis=1) + (b[rest] - b[first]) - (logs[rest] - logs[first])
    terms = (sizes * np.abs(middle)).sum(axis=1) + np.abs(b[rest]) + abs(b[first])
    reach = np.maximum(1.0, spread.deviations(right))
    blur = 4 * precision * terms + (sizes * off).sum(axis=1)
    allowed = 1e-7 * np.maximum(reach, np.abs(logs[rest] - logs[first])) + blur
    claims.append(_biases(gap, allowed, blur / reach))
    without = np.flatnonzero(np.isneginf(logs))
    if len(without):
        never = all(b[k] == -np.inf or b[first] == np.inf for k in without)
        said = f"{len(without)} classes without a share are never predicted"
        claims.append(Claim("no share", said, len(without), None, bool(never), "checked"))
    return claims


def _directions(
    model: Any,
    w: Floats,
    right: Floats,
    sizes: Floats,
    precision: float,
    spread: Spread,
    off: Floats,
) -> Claim:
    """That differences of planes w (k, d) are the right ones."""
    # What is unavoidable: rounding of the published numbers, and of means far from the origin.
    own = 4 * precision * (sizes * spread.scale).sum(axis=1)
    far = float(np.linalg.norm(off / spread.scale))
    blur = own + far / np.sqrt(spread.weakest)
    measures = (
        (spread.deviations(w - right), spread.deviations(right), blur),
        (spread.lengths(w - right), spread.lengths(right), own + far / spread.weakest),
    )
    worst = 0.0
    for apart, size, slack in measures:
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.where(apart <= slack, 0.0, (apart - slack) / size)
        worst = max(worst, float(np.max(np.where(np.isnan(excess), np.inf, excess), initial=0.0)))
    computed = EPS if is_ours(model) else precision
    allowed = max(1e-8, 256 * computed * len(spread.S) / spread.weakest)
    vague = float(np.max(blur / np.maximum(1.0, measures[0][1]), initial=0.0))
    statement = f"S (w_k - w_0) = m_k - m_0 up to {worst:.2g} of its size{spread.words}"
    if max(allowed, vague) > ENOUGH:
        statement += (
            "; too ill-conditioned to be checked, rounding alone may change "
            f"{max(allowed, vague):.2g}: nearly collinear columns, or columns far from the origin "
            "for their spread"
        )
    bound = min(allowed, ENOUGH)
    return Claim("planes", statement, worst, bound, worst <= bound and vague <= ENOUGH, "checked")


def _biases(gap: Floats, allowed: Floats, vague: Floats) -> Claim:
    """That halfway between two means the log-odds are those of the shares."""
    k = int(np.argmax(np.abs(gap) / allowed)) if len(gap) else 0
    off, bound = (float(np.abs(gap[k])), float(allowed[k])) if len(gap) else (0.0, 0.0)
    statement = f"halfway between two means the log-odds are those of the shares, up to {off:.2g}"
    holds = bool(off <= bound)
    if np.max(vague, initial=0.0) > ENOUGH:
        holds = False
        statement += (
            f"; rounding alone may change {vague.max():.2g}: the columns are far from the origin "
            "for their spread, and centring them before the fit would help"
        )
    return Claim("biases", statement, off, bound, holds, "checked")
