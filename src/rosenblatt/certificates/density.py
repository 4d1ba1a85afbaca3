"""Kernel densities: the points and bandwidths again, and the scores straight from the definition.

A kernel density maximises nothing: it is recomputed, no more.
"""

from typing import Any

import numpy as np

from .claims import Claim
from .comparing import ClassData, Floats, agrees, filled
from .gaussian_nb import Part

EXPONENT = -1 / 5


def densities(model: Any, data: ClassData, X: Floats) -> Part:
    """Columns X (n, d) with a small Gaussian at each value of a class; NaN is missing."""
    points, weights = [], []
    scores, sizes = (np.zeros((len(X), len(data.classes))) for _ in range(2))
    for c, x in enumerate(X.T):
        known = ~np.isnan(x)
        points.append(np.unique(x[known]))
        weights.append(weights_of(data, x, points[c]))
        if len(points[c]):
            each = column_scores(x, points[c], weights[c], np.asarray(model.bandwidth_)[:, c])
            scores += each
            sizes += np.where(np.isfinite(each), np.abs(each), 0.0)
    h = bandwidths(model, data, X)
    claims: list[Claim] = [
        agrees("points", "the points of the densities", _row(model.points_), _row(points)),
        agrees("point weights", "their weights", _row(model.point_weight_), _row(weights)),
        agrees("bandwidths", "the bandwidths", model.bandwidth_, h),
    ]
    free = sum(int(np.count_nonzero(table)) for table in weights)
    free += h.size if isinstance(model.bandwidth, str) else 0
    return Part(claims, scores, sizes, None, 0.0, free)


def weights_of(data: ClassData, x: Floats, points: Floats) -> Floats:
    """The weight (K, m) of each point in each class; that of all if a class knows none."""
    table = np.zeros((len(data.classes), len(points)))
    known = np.flatnonzero(~np.isnan(x))
    np.add.at(table, (data.codes[known], np.searchsorted(points, x[known])), data.weight[known])
    return np.where(table.any(axis=1, keepdims=True), table, table.sum(axis=0))


def column_scores(x: Floats, points: Floats, weights: Floats, h: Floats) -> Floats:
    """log sum_i w_i N(x; v_i, h^2) / sum_i w_i (n, K), row by row; 0 where x is missing."""
    scores = np.zeros((len(x), len(weights)))
    with np.errstate(divide="ignore"):
        logs = np.log(weights / weights.sum(axis=1, keepdims=True)) - np.log(
            h[:, np.newaxis] * np.sqrt(2 * np.pi)
        )
    for i in np.flatnonzero(~np.isnan(x)):
        terms = logs - 0.5 * ((x[i] - points) / h[:, np.newaxis]) ** 2
        largest = terms.max(axis=1)
        scores[i] = largest + np.log(np.exp(terms - largest[:, np.newaxis]).sum(axis=1))
    return scores


def bandwidths(model: Any, data: ClassData, X: Floats) -> Floats:
    """The bandwidths (K, d): given, or by the rule, from the spread of the values known."""
    shape = (len(data.classes), X.shape[1])
    if not isinstance(model.bandwidth, str):
        return np.full(shape, float(model.bandwidth))
    h = np.zeros(shape)
    for c, x in enumerate(X.T):
        # A class whose values do not vary takes that of all, and of a column that does not, 1.
        everyone = _by_rule(model, x, data.weight) or 1.0
        own = [_by_rule(model, x[members], data.weight[members]) for members in data.members]
        h[:, c] = [width or everyone for width in own]
    return h


def _by_rule(model: Any, x: Floats, weight: Floats) -> float:
    """Spread times a power of the weight; 0 if there is no spread."""
    weight = weight * ~np.isnan(x)
    n = float(weight.sum())
    if n <= 1:
        return 0.0
    x = filled(x)
    spread = np.sqrt(weight @ (x - weight @ x / n) ** 2 / (n - 1))
    return float(spread * ((0.75 * n if model.bandwidth == "silverman" else n) ** EXPONENT))


def _row(tables: Any) -> Floats:
    """Tables of any shapes in one row."""
    return np.concatenate([np.asarray(table, np.float64).ravel() for table in tables])
