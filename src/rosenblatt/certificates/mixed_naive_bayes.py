"""Naive Bayes of mixed columns: each kind of column has the claims of its own model.

log P(x | y) is a sum over columns, so that the log-likelihood falls short of its maximum by the sum
of what the columns do. Legend: w (K, d) weight of the values that are known, N (K, d) their sums.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from .category_counts import check_one_each, is_missing, parameter_claims, places_of, table_of
from .claims import Certificate, Claim
from .closed_form import (
    EPS,
    ClassData,
    Floats,
    agrees,
    class_counts_claim,
    filled,
    gaps,
    prior_claims,
    shortfall,
    size_claim,
    sums_by_class,
    sums_to_one,
)
from .fitted_attributes import Scores, decision_claims
from .gaussian_naive_bayes import GaussianPart, gaussians


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Re-derive the parameters of each kind of column, and put the claims together."""
    data = ClassData(model, X, y, weight)
    kinds = [kind for kind in PARTS if kind in model.kinds_]
    places = {kind: [j for j, k in enumerate(model.kinds_) if k == kind] for kind in kinds}
    words = ", ".join(f"{len(places[kind])} {kind}" for kind in kinds)
    problem = f"the models of each column that make the rows most probable ({words})"
    have_models = kinds_claim(model, data.X.shape[1])
    if not have_models.holds:  # then there is nothing to compare the columns with
        return Certificate(type(model).__name__, problem, data.words, (have_models,))
    parts = [PARTS[kind](model, data, data.X[:, places[kind]]) for kind in kinds]
    log_prior = np.asarray(model.class_log_prior_, np.float64)
    total = sum((part.scores for part in parts), log_prior)
    sizes = sum((part.sizes for part in parts), np.abs(np.nan_to_num(log_prior, neginf=0.0)))
    scores = Scores.of(model, total, sizes, data.X.shape[1], model.class_log_prior_)
    claims = [
        *decision_claims(model, data, scores.where_possible(log_prior)),
        have_models,
        *(claim for part in parts for claim in part.claims),
        class_counts_claim(model, data),
        *prior_claims(model, data.counts),
        sums_to_one("the shares of the classes", log_prior),
        *size_claim(model, sum(part.free for part in parts)),
    ]
    # Densities and unbiased variances are not the most probable ones: nothing is claimed of them.
    judged = [(kind, part) for kind, part in zip(kinds, parts, strict=True) if part.gap is not None]
    if judged:
        gap, scale = sum(part.gap or 0.0 for _, part in judged), sum(p.scale for _, p in judged)
        gap *= 1 + 8 * EPS  # of sums of a few parts, each of which is rounded up
        blur = sum(part.blur for _, part in judged)
        of = (
            ""
            if len(judged) == len(parts)
            else f" of {', '.join(kind for kind, _ in judged)} columns"
        )
        claims.append(shortfall(f"smoothed log-likelihood{of}", gap, scale, tol, blur))
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


def kinds_claim(model: Any, d: int) -> Claim:
    """That there is a model for each of the d columns, of the kind it is said to have."""
    there = 0
    for kind, name in TABLES.items():
        table = getattr(model, name, [])
        n_models = len(table) if isinstance(table, list) else int(np.shape(table)[1])
        there += n_models if n_models == list(model.kinds_).count(kind) else 0
    statement = f"{there} of {d} columns have a model of their kind"
    return Claim("kinds", statement, there, d, there == d == len(model.kinds_), "proved")


def categorical(model: Any, data: ClassData, X: NDArray[Any]) -> GaussianPart:
    """Columns with a table of categories each."""
    tables = []
    check_one_each(X.shape[1], categories_=model.categories_)
    for c, log_q in enumerate(model.category_log_prob_):
        log_q = np.asarray(log_q)
        if log_q.size:  # else no row has shown a value
            places = places_of(X[:, c].astype(object), model.categories_[c], log_q.shape[1])
            tables.append(table_of(data, places, log_q, float(model.alpha)))
    scores = sum((table.scores for table in tables), np.zeros((len(X), len(data.classes))))
    claims = parameter_claims(tables, " of the categories") if tables else []
    widths = [len(values) for values in model.categories_]
    claims.append(
        agrees("widths", "the numbers of categories", _columns(model.category_log_prob_), widths)
    )
    gap, scale = sum(t.gap for t in tables), sum(t.scale for t in tables)
    free = sum(t.counts.size - len(t.counts) for t in tables)
    return GaussianPart(claims, scores, _sizes(scores), gap, scale, free)


def _columns(tables: Any) -> list[int]:
    return [int(np.shape(table)[1]) for table in tables]


def boolean(model: Any, data: ClassData, X: NDArray[Any]) -> GaussianPart:
    """Columns that are one coin each in each class: Bernoulli."""
    X = _numbers(X)
    q = np.asarray(model.true_prob_, np.float64)
    w, N = _known(data, X), sums_by_class(data, filled(X))
    tosses = w + 2 * float(model.alpha)
    p = np.where(tosses > 0, (N + model.alpha) / np.where(tosses > 0, tosses, 1.0), 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        on, off = np.log(q), np.log1p(-q)
        each = _excess(p, q, len(X)) + _excess(1 - p, 1 - q, len(X))
    scores = _chosen(X, on, off)
    claims = [
        agrees("chances", "the probabilities of being true", model.true_prob_, p),
        agrees(
            "chances of false", "those of being false", 1 - q, 1 - p, scale=np.maximum(1 - p, 1e-6)
        ),
    ]
    gap = float((tosses * each).sum())
    return GaussianPart(claims, scores, _sizes(scores), gap, float(tosses.sum()), q.size)


def count(model: Any, data: ClassData, X: NDArray[Any]) -> GaussianPart:
    """Columns of counts: Poisson, with a rate in each class."""
    X = _numbers(X)
    q = np.asarray(model.rate_, np.float64)
    w, N = _known(data, X), sums_by_class(data, filled(X))
    rows = w + float(model.alpha)
    r = np.where(rows > 0, (N + model.alpha) / np.where(rows > 0, rows, 1.0), 1.0)
    known = ~np.isnan(X)
    terms = xlogy(filled(X)[:, np.newaxis], q) - q - gammaln(filled(X) + 1)[:, np.newaxis]
    scores = np.where(known[:, np.newaxis], terms, 0.0).sum(axis=2)
    gap = float((rows * _excess(r, q, len(X))).sum())
    claims = [agrees("rates", "the expected counts", model.rate_, r)]
    sizes = np.where(known[:, np.newaxis], np.abs(terms) + 2 * q, 0.0).sum(axis=2)
    return GaussianPart(claims, scores, _sizes(sizes), gap, float(rows.sum()), q.size)


def _sizes(terms: Floats) -> Floats:
    """Absolute values of terms of scores; what is impossible has none."""
    return np.where(np.isfinite(terms), np.abs(terms), 0.0)


def _excess(p: Floats, q: Floats, n: int) -> Floats:
    """``p log(p / q) - p + q``, what a wrong rate q costs where p is right, at most.

    Shares p are rounded as numbers of size one are, and sums of n rows are.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(p > 0, np.log(p) - np.log(q), 0.0)
        cost = np.maximum(p * logs - p + q, 0.0)
        most = cost + (n + 16) * EPS * (np.maximum(p, 1.0) * (1 + np.abs(logs)) + q)
    return np.asarray(np.where(np.isnan(most), np.inf, most))


def _chosen(X: Floats, on: Floats, off: Floats) -> Floats:
    """The sum (n, K) of log-probabilities (K, d) of ones and of zeros; NaN adds nothing."""
    terms = np.where(X[:, np.newaxis] == 1, on, off)
    return np.asarray(np.where(np.isnan(X)[:, np.newaxis], 0.0, terms).sum(axis=2))


def _known(data: ClassData, X: Floats) -> Floats:
    """The weight (K, d) of what is not missing."""
    return sums_by_class(data, 1 - gaps(X))


def _numbers(X: NDArray[Any]) -> Floats:
    """Columns as numbers, NaN where nothing is known."""
    if X.dtype != object:
        return X.astype(np.float64)
    cells = [_number(value) for value in X.ravel().tolist()]
    return np.array(cells, np.float64).reshape(X.shape)


def _number(value: Any) -> float:
    """A value as a number; what is none counts as missing, which shows in means and rates."""
    try:
        return np.nan if is_missing(value) else float(value)
    except (TypeError, ValueError):
        return np.nan


TABLES = {
    "numeric": "theta_",
    "categorical": "category_log_prob_",
    "boolean": "true_prob_",
    "count": "rate_",
    "density": "points_",
}
PARTS: dict[str, Callable[..., GaussianPart]] = {
    "numeric": lambda model, data, X: gaussians(model, data, _numbers(X)),
    "categorical": categorical,
    "boolean": boolean,
    "count": count,
    "density": lambda model, data, X: densities(model, data, _numbers(X)),
}


# Kernel densities: the points and bandwidths again, and the scores straight from the definition.
#
# A kernel density maximises nothing: it is recomputed, no more.


EXPONENT = -1 / 5


def densities(model: Any, data: ClassData, X: Floats) -> GaussianPart:
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
    return GaussianPart(claims, scores, sizes, None, 0.0, free)


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
