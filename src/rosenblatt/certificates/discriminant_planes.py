"""Planes that separate Gaussians of one covariance S, published and derived.

Legend: w_k, b_k the plane of class k, m_k its mean, p_k its share. Only differences between classes
matter, ``S (w_k - w_r) = m_k - m_r`` with r a class to compare with. How far a difference is off is
measured twice: by the deviation it adds to the scores, ``sqrt(w'Sw)``, and by its length, features
scaled to one.
"""

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .claims import Claim, within
from .closed_form import (
    ClassData,
    Floats,
    agrees,
    filled,
    gaps,
    is_ours,
    row_blocks,
    unit,
    unit_of_work,
)

ENOUGH = 1e-2  # of a unit of log-odds, or of the distance of two classes: beyond, nothing is said
FAR = 1e3  # deviations from the origin that are worth a word


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
        scales = float(self.scale.max() / self.scale.min()) ** 2
        return f"; the variances of columns are {scales:.1g} apart" if scales > 1e12 else ""

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
    hidden: float = 0.0,
) -> list[Claim]:
    """That planes (K, d) differ as the expected ones do, and biases follow from the means."""
    # `off` (d,) is what rounding may have done to a mean, `hidden` to a bias, beside what shows.
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
    blur = 4 * precision * terms + (sizes * off).sum(axis=1) + hidden
    reach = np.maximum(1.0, spread.deviations(right))
    allowed = 1e-7 * np.maximum(reach, np.abs(logs[rest] - logs[first])) + blur
    far = float(np.max(np.abs(middle) / spread.scale, initial=0.0))
    claims.append(_biases(np.abs(gap), np.minimum(allowed, ENOUGH * reach), far))
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
    share = max(1e-8, 256 * unit_of_work(model, model.coef_) * len(spread.S) / spread.weakest)
    # What is unavoidable: rounding of the published numbers, and of means far from the origin.
    own = 4 * precision * (sizes * spread.scale).sum(axis=1)
    far = float(np.linalg.norm(off / spread.scale))
    scores, reach = spread.deviations(w - right), spread.deviations(right)
    blur = far / np.sqrt(spread.weakest)
    allowed, most = share * reach + own + blur, ENOUGH * np.maximum(1.0, reach)
    # However far apart the classes are, a column far from the origin excuses no more than ENOUGH.
    most = np.minimum(most, share * reach + own + ENOUGH)
    lengths = spread.lengths(w - right)
    most_length = share * spread.lengths(right) + own + far / spread.weakest
    worst, bound = _worst(scores, np.minimum(allowed, most))
    longest, longest_bound = _worst(lengths, most_length)
    holds = worst <= bound and longest <= longest_bound
    statement = f"S (w_k - w_0) = m_k - m_0, up to {worst:.2g} in the log-odds of rows"
    if not longest <= longest_bound:
        statement += f"; the planes are off by {longest:.2g}, columns scaled to one"
    if not holds and (allowed > most).any():
        statement += (
            "; the problem is ill-conditioned, rounding alone may change "
            f"{allowed.max():.2g}: nearly collinear columns, or columns far from the origin for "
            "their spread"
        )
    return Claim("planes", statement + spread.words, worst, bound, holds, "checked")


def _worst(apart: Floats, allowed: Floats) -> tuple[float, float]:
    """The number that is largest for what it may be, and that."""
    if not len(apart):
        return 0.0, 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(apart <= allowed, apart / np.maximum(allowed, 1e-300), np.inf)
    k = int(ratio.argmax())
    return float(apart[k]), float(allowed[k])


def _biases(gap: Floats, allowed: Floats, far: float) -> Claim:
    """That halfway between two means the log-odds are those of the shares."""
    off, bound = _worst(gap, allowed)
    statement = f"halfway between two means the log-odds are those of the shares, up to {off:.2g}"
    if not off <= bound and far > FAR:
        statement += (
            f"; the columns are up to {far:.1g} deviations from the origin, where intercepts lose "
            "their digits: centring them before the fit would help"
        )
    return within("biases", statement, off, bound)


# Means and scatters of classes, in two passes, and covariances as settings want them.


class ClassMoments(NamedTuple):
    """Weights of what is known, means and scatters of the classes."""

    weight: Floats  # (K, d)
    mean: Floats  # (K, d); zero where nothing is known
    scatter: Floats  # (K, d), or (K, d, d) with products of different features


def moments(data: ClassData, X: Floats, full: bool = False) -> ClassMoments:
    """Of rows X (n, d); NaN is missing, unless products are asked for."""
    each = [moments_of(X[members], data.weight[members], full) for members in data.members]
    return ClassMoments(*(np.array(tables) for tables in zip(*each, strict=True)))


def moments_of(X: Floats, weight: Floats, full: bool = False) -> tuple[Floats, Floats, Floats]:
    """Weight of what is known, mean and scatter of rows X (n, d)."""
    blocks = [(X[some], weight[some]) for some in row_blocks(*X.shape)]
    known = sum((w @ (1 - gaps(rows)) for rows, w in blocks), np.zeros(X.shape[1]))
    divisor = np.where(known > 0, known, 1.0)

    def mean_of_the_rest(*parts: Floats) -> Floats:
        """The mean of the rows less each of these in turn."""
        total = np.zeros(X.shape[1])
        for rows, w in blocks:
            total += w @ filled(less(rows, parts))
        return np.asarray(total / divisor)

    mean = mean_of_the_rest()
    mean += mean_of_the_rest(mean)  # what rounding did far from the origin
    rest = mean_of_the_rest(mean)  # which no mean holds
    scatter = np.zeros((X.shape[1],) * (1 + full))
    for rows, w in blocks:
        away = filled(less(rows, (mean, rest)))
        scatter += away.T @ (away * w[:, np.newaxis]) if full else w @ away**2
    return known, mean, scatter


def less(rows: Floats, parts: tuple[Floats, ...]) -> Floats:
    """Rows (n, d) less each of some numbers (d,), in turn."""
    for part in parts:
        rows = rows - part
    return rows


def means_apart(data: ClassData, X: Floats) -> Floats:
    """The means (K, d) of the classes, each less one number, so that they keep their digits."""
    centre, found = data.weight @ X / data.weight.sum(), []
    for members in data.members:
        rows, weight = X[members] - centre, data.weight[members]
        total = float(weight.sum()) or 1.0
        mean = weight @ rows / total
        found.append(mean + weight @ (rows - mean) / total)
    return np.array(found)


def rounding_of_means(model: Any, published: Any, X: Floats) -> Floats:
    """What rounding may do to the mean of each column (d,); ours are added up with compensation."""
    largest = np.abs(filled(X)).max(axis=0, initial=0.0)
    if is_ours(model):
        return np.asarray(2 * unit(published) * largest)
    return np.asarray(16 * np.sqrt(len(X)) * unit(published) * largest)


def statistics_claims(model: Any, data: ClassData, found: ClassMoments, off: Floats) -> list[Claim]:
    """That the statistic a model would learn on from is that of the rows; nothing without one."""
    statistic = getattr(model, "statistics_", None)
    if statistic is None:
        return []
    seen = data.places(np.asarray(statistic.classes))
    weight, mean, scatter = (table[seen] for table in found)
    squares = scatter if scatter.ndim == 2 else np.diagonal(scatter, axis1=1, axis2=2)
    deviation = np.sqrt(squares / np.where(weight > 0, weight, 1.0))
    if statistic.scatter.ndim == 3:
        scale = deviation[:, :, np.newaxis] * deviation[:, np.newaxis] * weight[:, :, np.newaxis]
        slack = np.outer(off, off) * weight[:, :, np.newaxis]
    else:
        scatter, scale, slack = squares, squares, off**2 * weight
    means = np.where(weight > 0, statistic.mean, 0.0)
    words = "of the statistic"
    return [
        agrees("statistic", f"the weights {words}", statistic.weight, data.counts[seen]),
        agrees("its means", f"the means {words}", means, mean, scale=deviation, slack=off),
        agrees("its scatters", f"the scatters {words}", statistic.scatter, scatter, scale, slack),
    ]


def covariances(model: Any, data: ClassData, scatters: Floats) -> tuple[Floats, Floats]:
    """S_k (K, d, d) as the settings ask for, and that of all rows together, (d, d)."""
    wholes = [*(data.X[members] for members in data.members), data.X]
    if getattr(model, "covariance_estimator", None) is not None:
        asked = [copy.deepcopy(model.covariance_estimator).fit(rows) for rows in wholes]
        S = np.array([estimator.covariance_ for estimator in asked], np.float64)
    elif getattr(model, "shrinkage", None) == "auto":
        S = np.array([ledoit_wolf(rows) for rows in wholes])
    else:
        share = data.weight / data.weight.sum()
        away = data.X - share @ data.X
        away -= share @ away
        total = away.T @ (away * share[:, np.newaxis])
        each = scatters / np.where(data.counts > 0, data.counts, 1.0)[:, np.newaxis, np.newaxis]
        S = np.concatenate([each, total[np.newaxis]])
        if getattr(model, "covariance", "full") == "diagonal":
            S = S * np.eye(S.shape[1])
        S = shrunk(S, getattr(model, "shrinkage", None))
    if getattr(model, "covariance", "full") == "diagonal":
        S = S * np.eye(S.shape[1])
    return S[:-1], S[-1]


def shrunk(S: Floats, shrinkage: float | None) -> Floats:
    """Covariances (..., d, d) with a share of a multiple of the identity."""
    if not shrinkage:
        return S
    d = S.shape[-1]
    sizes = np.trace(S, axis1=-2, axis2=-1) / d
    return np.asarray((1 - shrinkage) * S + shrinkage * np.multiply.outer(sizes, np.eye(d)))


def ledoit_wolf(X: Floats) -> Floats:
    """The covariance (d, d) of rows, shrunk by Ledoit and Wolf's rule, columns scaled to one."""
    # The share of the identity is ``b^2 / d^2``: b^2 how much the covariance is expected to be off,
    # the mean of ``|x x' - S|^2 / n``; d^2 how far it is from a multiple of the identity.
    n, d = X.shape
    away = X - X.mean(axis=0)
    away -= away.mean(axis=0)
    deviation = np.sqrt((away**2).mean(axis=0))
    scale = np.where(deviation > 0, deviation, 1.0)
    Z = away / scale
    S = Z.T @ Z / n
    apart = float(((S - np.trace(S) / d * np.eye(d)) ** 2).sum())
    noise = float(((Z**2).sum(axis=1) ** 2).mean() - (S**2).sum()) / n
    share = min(noise, apart) / apart if apart > 0 else 0.0
    return np.asarray(shrunk(S, share) * np.outer(scale, scale))
