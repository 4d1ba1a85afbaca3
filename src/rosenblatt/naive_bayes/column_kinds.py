"""A model for each kind of column: its statistic, attributes, scores and samples.

Each kind sets attributes on the model that it is part of, and reads them there. Columns of one kind
are measured together, and scored one by one unless it can be done at once.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlogy

from rosenblatt.statistics import CategoryCounts, Moments
from rosenblatt.statistics.categories import Coded, CodedColumn

from .base import log_shares
from .categorical import refuse_unknown
from .gaussian import GaussianNB

Table = NDArray[np.float64]

UNSEEN, MISSING = -1, -2


class Kind(ABC):
    """One kind of column of a model."""

    attributes: tuple[str, ...]  # that it sets on the model
    statistic: Any = CategoryCounts

    def measured(self, values: Any) -> Any:
        """Return the values (n, c) as the statistic reads them."""
        return values

    @abstractmethod
    def conclude(self, model: Any, part: Any) -> int:
        """Set the attributes that a statistic implies; return the number of free parameters."""

    @abstractmethod
    def scores(self, model: Any, c: int, x: Any) -> Table:
        """Return log P(x | y) (n, K) of the c-th column of the kind; 0 where x is missing."""

    def total(self, model: Any, values: NDArray[Any]) -> Any:
        """Return the sum (n, K) of the scores of all columns of the kind."""
        return sum(self.scores(model, c, values[:, c]) for c in range(values.shape[1]))

    @abstractmethod
    def draw(self, model: Any, c: int, codes: NDArray[np.intp], rng: Any) -> Any:
        """Draw values (n,) of the c-th column of the kind, for rows of the classes `codes`."""


class Numeric(Kind):
    """Gaussian, as in `GaussianNB`."""

    attributes = ("theta_", "var_", "epsilon_")
    statistic = Moments

    def conclude(self, model: Any, part: Any) -> int:
        settings = {name: getattr(model, name) for name in ("var_smoothing", "variance", "ddof")}
        inner = GaussianNB(**settings, missing="ignore")
        inner._promised, inner.n_features_in_ = model.classes_, part.n_features
        inner._publish(part)
        model._gaussian = inner
        model.theta_, model.var_, model.epsilon_ = inner.theta_, inner.var_, inner.epsilon_
        return inner.n_parameters_ - (len(model.classes_) - 1)

    def total(self, model: Any, values: NDArray[Any]) -> Any:
        return model._gaussian._log_likelihood(values)

    def scores(self, model: Any, c: int, x: NDArray[Any]) -> Table:
        v = model.var_[:, c].astype(np.float64)
        far = x[:, None].astype(np.float64) - model.theta_[:, c]
        scores = -0.5 * (far**2 / v + np.log(2 * np.pi * v))
        return np.where(np.isnan(scores), 0.0, scores)

    def draw(self, model: Any, c: int, codes: NDArray[np.intp], rng: Any) -> Any:
        return rng.normal(model.theta_[codes, c], np.sqrt(model.var_[codes, c])).tolist()


class Categorical(Kind):
    """A probability for each value."""

    attributes = ("categories_", "category_log_prob_")

    def conclude(self, model: Any, part: Any) -> int:
        model.categories_ = list(part.categories)
        tables = [model._by_class(part.counts_of(j)) for j in range(part.n_features)]
        alpha = np.asarray(model.alpha, np.float64)
        model.category_log_prob_ = [log_shares(table, alpha) for table in tables]
        model._log_unseen = [_log_unseen(table, model.alpha) for table in tables]
        return sum(table.size - len(table) for table in tables if table.size)

    def scores(self, model: Any, c: int, x: CodedColumn) -> Table:
        place = {value: i for i, value in enumerate(model.categories_[c].tolist())}
        places = [place.get(word, UNSEEN) for word in x.words.tolist()]
        codes = np.array([*places, MISSING], np.intp).take(x.codes)
        if model.unknown == "error" and UNSEEN in codes:
            j = model.statistics_.columns["categorical"][c]
            name = getattr(model, "feature_names_in_", range(model.n_features_in_))[j]
            unseen = x.codes[np.flatnonzero(codes == UNSEEN)[0]]
            refuse_unknown(x.words[unseen].item(), name)
        # The last two rows are for what is unseen (-1) and missing (-2).
        rest = np.stack([np.zeros(len(model.classes_)), model._log_unseen[c]])
        return np.asarray(np.concatenate([model.category_log_prob_[c].T, rest])[codes])

    def draw(self, model: Any, c: int, codes: NDArray[np.intp], rng: Any) -> Any:
        found = _draw_places(np.exp(model.category_log_prob_[c]), codes, rng)
        return model.categories_[c][found].tolist()


class Boolean(Kind):
    """A probability of being true."""

    attributes = ("true_prob_",)

    def measured(self, values: Any) -> Any:
        codes = np.where(np.isnan(values), -1, values == 1)
        return Coded(codes, (np.array([False, True]),) * values.shape[1])

    def conclude(self, model: Any, part: Any) -> int:
        alpha = np.asarray(model.alpha, np.float64)
        model.true_prob_ = np.empty((len(model.classes_), part.n_features))
        for j, values in enumerate(part.categories):
            table = np.zeros((len(model.classes_), 2))
            table[:, np.asarray(values).astype(np.intp)] = model._by_class(part.counts_of(j))
            model.true_prob_[:, j] = np.exp(log_shares(table, alpha)[:, 1])
        return int(model.true_prob_.size)

    def scores(self, model: Any, c: int, x: NDArray[Any]) -> Table:
        p = model.true_prob_[:, c]
        with np.errstate(divide="ignore"):
            scores = np.where(x[:, None] == 1, np.log(p), np.log1p(-p))
        return np.where(np.isnan(x)[:, None], 0.0, scores)

    def draw(self, model: Any, c: int, codes: NDArray[np.intp], rng: Any) -> Any:
        return (rng.uniform(size=len(codes)) < model.true_prob_[codes, c]).tolist()


class Count(Kind):
    """Poisson, with a rate in each class."""

    attributes = ("rate_",)
    statistic = Moments

    def conclude(self, model: Any, part: Any) -> int:
        w, means = model._by_class(part.feature_weight), model._by_class(part.mean)
        rows, sums = w + model.alpha, w * means + model.alpha
        model.rate_ = np.divide(sums, rows, out=np.ones(means.shape), where=rows > 0)
        return int(model.rate_.size)

    def scores(self, model: Any, c: int, x: NDArray[Any]) -> Table:
        r, known = model.rate_[:, c], ~np.isnan(x)[:, None]
        value = np.where(known, x[:, None].astype(np.float64), 0.0)
        return np.where(known, xlogy(value, r) - r - gammaln(value + 1), 0.0)

    def draw(self, model: Any, c: int, codes: NDArray[np.intp], rng: Any) -> Any:
        return rng.poisson(model.rate_[codes, c]).tolist()


class Density(Kind):
    """A kernel density: a small Gaussian at each value of the training rows."""

    attributes = ("points_", "point_weight_", "bandwidth_")

    def measured(self, values: Any) -> Any:
        return values.astype(np.float64)

    def conclude(self, model: Any, part: Any) -> int:
        model.points_ = [values.astype(np.float64) for values in part.categories]
        weights = [model._by_class(part.counts_of(j)).astype(float) for j in range(part.n_features)]
        pairs = zip(model.points_, weights, strict=True)
        widths = [bandwidths(points, weight, model.bandwidth) for points, weight in pairs]
        model.bandwidth_ = np.column_stack(widths)
        # A class that has shown no value is taken to be as all the data are.
        model.point_weight_ = [np.where(w.any(axis=1)[:, None], w, w.sum(axis=0)) for w in weights]
        points = sum(int(np.count_nonzero(weight)) for weight in model.point_weight_)
        return points + (model.bandwidth_.size if isinstance(model.bandwidth, str) else 0)

    def scores(self, model: Any, c: int, x: NDArray[Any]) -> Table:
        return log_density(
            x.astype(np.float64), model.points_[c], model.point_weight_[c], model.bandwidth_[:, c]
        )

    def draw(self, model: Any, c: int, codes: NDArray[np.intp], rng: Any) -> Any:
        points, weight = model.points_[c], model.point_weight_[c]
        if not len(points):
            return [None] * len(codes)
        found = _draw_places(weight, codes, rng)
        return rng.normal(points[found], model.bandwidth_[codes, c]).tolist()


KINDS: dict[str, Kind] = {
    "numeric": Numeric(),
    "categorical": Categorical(),
    "boolean": Boolean(),
    "count": Count(),
    "density": Density(),
}


def _draw_places(weight: Table, codes: NDArray[np.intp], rng: Any) -> NDArray[np.intp]:
    """Draw the places (n,) of values by their weights (K, m) in the classes `codes`."""
    steps = weight.cumsum(axis=1)[codes]
    return np.asarray((rng.uniform(size=(len(codes), 1)) * steps[:, -1:] > steps).sum(axis=1))


def _log_unseen(counts: NDArray[Any], alpha: float) -> Table:
    """Return the log of the smoothed share (K,) of a value with count 0; 0 without any values."""
    totals = counts.sum(axis=1) + alpha * counts.shape[1]
    with np.errstate(divide="ignore"):
        return np.log(np.where(totals > 0, alpha / np.where(totals > 0, totals, 1.0), 1.0))


# Kernel density of one feature in each class: a small Gaussian at each value that was seen.
#
# f_k(x) = sum_i w_ki N(x; v_i, h_k^2) / sum_i w_ki. Legend: v (m,) the points, all values that
# occur, w (K, m) their weights in each class, h (K,) the bandwidths.


# Factors for the standard deviation of n values, as in scipy.stats.gaussian_kde.
RULES = {"scott": lambda n: n**-0.2, "silverman": lambda n: (n * 0.75) ** -0.2}

CELLS_AT_ONCE = 1_000_000  # distances held at a time


def bandwidths(points: Table, weight: Table, rule: Any) -> Table:
    """Return the bandwidth (K,) of each class: a number, or by a rule from its values."""
    # A class whose values do not vary takes the bandwidth of all classes together; and where these
    # do not vary either, it is 1.
    if not isinstance(rule, str):
        return np.full(len(weight), float(rule))
    everyone = _by_rule(points, weight.sum(axis=0, keepdims=True), rule)[0] or 1.0
    own = _by_rule(points, weight, rule)
    return np.where(own > 0, own, everyone)


def _by_rule(points: Table, weight: Table, rule: str) -> Table:
    """Return the bandwidth (K,) by a rule; zero where the values do not vary."""
    n = weight.sum(axis=1)
    mean = weight @ points / np.where(n > 0, n, 1.0)
    scatter = (weight * (points - mean[:, None]) ** 2).sum(axis=1)
    more = n > 1  # a weight counts as so many rows: with one there is no spread
    spread = np.sqrt(scatter / np.where(more, n - 1, 1.0))
    return np.where(more, spread * RULES[rule](np.where(more, n, 1.0)), 0.0)


def log_density(x: Table, points: Table, weight: Table, h: Table) -> Table:
    """Return log f_k(x) (n, K) for values x (n,); 0 where x is NaN, or without points."""
    scores = np.zeros((len(x), len(weight)))
    if not len(points):
        return scores
    step = max(1, CELLS_AT_ONCE // len(points))
    for start in range(0, len(x), step):
        far = x[start : start + step, None] - points
        for k, width in enumerate(h):
            at = -0.5 * (far / width) ** 2
            scores[start : start + step, k] = logsumexp(at, b=weight[k], axis=1)
    scores -= np.log(weight.sum(axis=1) * h * np.sqrt(2 * np.pi))
    return np.where(np.isnan(x)[:, None], 0.0, scores)
