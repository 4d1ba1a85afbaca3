"""Nearest centroid: centres, spread and shares again, and that predictions follow from them.

With the mean o of all rows, the spread s within classes, n_k the weight of class k and n that of
all, a deviation is ``(c_k - o) / (m_k (s + median(s)))`` with ``m_k = sqrt(1 / n_k - 1 / n)``.
Shrinking takes the threshold off its size, down to zero.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim
from .closed_form import ClassData, Floats, agrees, dense, is_ours, logs_of, row_blocks, size_claim
from .discriminant_planes import moments, rounding_of_means, statistics_claims
from .fitted_attributes import (
    Scores,
    answers,
    label_claims,
    labels_of,
    refusal_claims,
    score_claims,
)

ONLY_RELATIVE_WEIGHTS = True  # a common factor of the weights changes no claim


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Re-derive centroids, deviations, spread and shares, and compare."""
    data = ClassData(model, dense(X), y, weight)
    found = derive(model, data)
    off = rounding_of_means(model, model.centroids_, data.X)
    claims = [
        *centre_claims(model, found, off),
        *statistics_claims(model, data, moments(data, data.X), off),
        *size_claims(model),
    ]
    if all(claim.value < np.inf for claim in claims[:4]):  # shapes are right, so rows have scores
        claims = [*answer_claims(model, data), *claims]
    centre = "mean" if model.metric == "euclidean" else "median"
    problem = f"the {centre} of each class, and the nearest by the {model.metric} distance"
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


class Derived(NamedTuple):
    """What the rows imply."""

    centroids: Floats  # (K, d)
    deviations: Floats  # (K, d)
    spread: Floats  # (d,)
    shares: Floats  # (K,)
    unit: Floats  # (K, d): what a deviation is counted in


def derive(model: Any, data: ClassData) -> Derived:
    """Centroids, deviations, spread and shares of the rows, as the settings want them."""
    counts, centre = data.counts, overall_mean(data)
    n, seen = counts.sum(), counts > 0
    means = moments(data, data.X).mean if model.metric == "euclidean" else medians(data)
    means = np.where(seen[:, np.newaxis], means, centre)
    squares = data.weight @ (data.X - means[data.codes]) ** 2
    free = n - np.count_nonzero(seen)
    spread = np.sqrt(squares / free) if free > 0 else np.zeros_like(squares)
    spread[spread <= 1e-12 * np.abs(centre)] = 0.0  # what rounding leaves of no spread
    m = np.sqrt(np.where(seen, 1 / np.where(seen, counts, 1.0) - 1 / n, 0.0).clip(0))
    unit = m[:, np.newaxis] * (spread + np.median(spread))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.where(means == centre, 0.0, (means - centre) / unit)
    centroids = means
    if model.shrink_threshold is not None:
        size = np.maximum(np.abs(deviations) - model.shrink_threshold, 0.0)
        deviations = np.sign(deviations) * size
        moved = centre + np.where(unit > 0, deviations, 0.0) * unit
        centroids = np.where(unit > 0, moved, means)
    return Derived(centroids, deviations, spread, shares(model, counts), unit)


def overall_mean(data: ClassData) -> Floats:
    """The mean (d,) of all rows, with what rounding did to it far from the origin taken off."""
    share = data.weight / data.weight.sum()
    mean = share @ data.X
    return np.asarray(mean + share @ (data.X - mean))


def medians(data: ClassData) -> Floats:
    """The median (K, d) of each feature in each class; zero without rows."""
    found = np.zeros((len(data.classes), data.X.shape[1]))
    for k, members in enumerate(data.members):
        for j in range(data.X.shape[1] if len(members) else 0):
            found[k, j] = median(data.X[members, j], data.weight[members])
    return found


def median(values: Floats, weight: Floats) -> float:
    """The value with half of the weight on either side, or the mean of the two next to the half."""
    order = np.argsort(values)
    values, share = values[order], np.cumsum(weight[order]) / weight.sum()
    low = int(np.searchsorted(share, 0.5 - 1e-11))
    high = min(int(np.searchsorted(share, 0.5 + 1e-11, side="right")), len(values) - 1)
    return float(values[low] + values[high]) / 2


def shares(model: Any, counts: Floats) -> Floats:
    """The classes' shares (K,): equal, counted or given; none without rows."""
    seen = counts > 0
    if isinstance(model.priors, str):
        table = counts if model.priors == "empirical" else seen.astype(np.float64)
    else:
        table = np.where(seen, np.asarray(model.priors, np.float64), 0.0)
    return np.asarray(table / table.sum())


def centre_claims(model: Any, found: Derived, off: Floats) -> list[Claim]:
    """That the published centres, deviations, spread and shares are those of the rows."""
    # Where a feature has no unit, scikit-learn divides zero by zero; ours are compared there, too.
    spread = np.broadcast_to(found.spread, found.centroids.shape)
    known = found.unit > 0
    tables = {}
    for name, derived in (("centroids_", found.centroids), ("deviations_", found.deviations)):
        published = np.asarray(getattr(model, name))
        if not is_ours(model) and published.shape == derived.shape:
            published = np.where(known | ~np.isnan(published), published, derived)
        tables[name] = published
    off = 4 * off
    with np.errstate(divide="ignore"):
        slack = np.where(known, off / found.unit, 0.0)
    sizes = np.maximum(1.0, np.abs(found.deviations))
    return [
        agrees("centroids", "the centroids", tables["centroids_"], found.centroids, spread, off),
        agrees("deviations", "the shifts", tables["deviations_"], found.deviations, sizes, slack),
        agrees("spread", "the spreads", model.within_class_std_dev_, found.spread, slack=off),
        agrees("prior", "the shares of the classes", model.class_prior_, found.shares),
    ]


def size_claims(model: Any) -> list[Claim]:
    """That a model says truly how many free numbers it has learned."""
    K, d = len(model.classes_), model.n_features_in_
    counted = isinstance(model.priors, str) and model.priors == "empirical"
    return size_claim(model, K * d + d + (K - 1 if counted else 0), shares=False)


def answer_claims(model: Any, data: ClassData) -> list[Claim]:
    """The training error, and that labels and scores follow from what is published."""
    # By equal shares labels go by plain distances; scores are always of distances over the spread.
    seen = data.counts > 0
    priors = np.asarray(model.class_prior_, np.float64)
    spread = np.asarray(model.within_class_std_dev_, np.float64)
    scale = np.where(spread > 0, spread, 1.0)
    scaled = squared_distances(model, data.X, scale, logs_of(priors))
    rule = scaled
    if np.isclose(priors[seen], 1 / np.count_nonzero(seen)).all():
        rule = squared_distances(model, data.X, np.ones_like(scale), logs_of(seen))
    try:
        if not hasattr(model, "decision_function"):
            return label_claims(data, labels_of(model, data.X), rule)
        labels, own = answers(model, data.X)
        return [*label_claims(data, labels, rule), *score_claims(own, scaled)]
    except Exception as error:  # whatever it is: a model that cannot answer is not as published
        return refusal_claims(data, rule, error)


def squared_distances(model: Any, X: Floats, scale: Floats, logs: Floats) -> Scores:
    """``2 log p_k - dist(x / scale, c_k / scale)^2`` of the rows, and what rounding may do."""
    centroids = np.asarray(model.centroids_, np.float64)
    values, sizes = np.empty((2, len(X), len(centroids)))
    for some in row_blocks(*X.shape):
        rows, lengths = X[some], np.abs(X[some])
        for k, c in enumerate(centroids):
            apart, size = np.abs(rows - c) / scale, (lengths + np.abs(c)) / scale
            if model.metric == "euclidean":
                values[some, k], sizes[some, k] = (apart**2).sum(axis=1), (size**2).sum(axis=1)
            else:
                values[some, k], sizes[some, k] = apart.sum(axis=1) ** 2, size.sum(axis=1) ** 2
    sizes = sizes + np.abs(np.where(np.isfinite(logs), logs, 0.0))
    return Scores.of(model, 2 * logs - values, sizes, X.shape[1], model.centroids_)
