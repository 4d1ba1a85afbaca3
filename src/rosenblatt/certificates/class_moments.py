"""Means and scatters of classes, in two passes, and covariances as settings want them."""

import copy
from typing import Any, NamedTuple

import numpy as np

from .claims import Claim
from .closed_form import EPS, ClassData, Floats, agrees, filled, gaps, is_ours, sums_by_class, unit


class ClassMoments(NamedTuple):
    """Weights of what is known, means and scatters of the classes."""

    weight: Floats  # (K, d)
    mean: Floats  # (K, d); zero where nothing is known
    scatter: Floats  # (K, d), or (K, d, d) with products of different features


def moments(data: ClassData, X: Floats, full: bool = False) -> ClassMoments:
    """Of rows X (n, d); NaN is missing, unless products are asked for."""
    w = sums_by_class(data, 1 - gaps(X))
    means, scatters = [], []
    for members, known in zip(data.members, w, strict=True):
        rows, weight = X[members], data.weight[members]
        divisor = np.where(known > 0, known, 1.0)
        mean = weight @ filled(rows) / divisor
        mean += weight @ filled(rows - mean) / divisor  # what rounding did far from the origin
        away = filled(rows - mean)
        means.append(mean)
        scatters.append(away.T @ (away * weight[:, np.newaxis]) if full else weight @ away**2)
    return ClassMoments(w, np.array(means), np.array(scatters))


def rounding_of_means(model: Any, published: Any, X: Floats) -> Floats:
    """What rounding may do to the mean of each column (d,); ours are added up with compensation."""
    largest = np.abs(filled(X)).max(axis=0, initial=0.0)
    if is_ours(model):
        return np.asarray((16 * EPS + 2 * unit(published)) * largest)
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
        S = np.array([_estimated(model.covariance_estimator, rows) for rows in wholes])
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
    """The covariance (d, d) of rows, shrunk by Ledoit and Wolf's rule, columns scaled to one.

    The share of the identity is ``b^2 / d^2``: b^2 how much the covariance is expected to be off,
    the mean of ``|x x' - S|^2 / n``; d^2 how far it is from a multiple of the identity.
    """
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


def _estimated(estimator: Any, rows: Floats) -> Floats:
    """What the user's own estimator finds on the rows, asked once more."""
    return np.asarray(copy.deepcopy(estimator).fit(rows).covariance_, np.float64)
