"""Tree-augmented naive Bayes: each feature depends on the class and one other feature."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.additive import Additive
from rosenblatt.base import warn
from rosenblatt.registry.row import Contract, Row
from rosenblatt.statistics import PairCounts

from .base import COUNT_PARAMETERS, NaiveBayes, log_shares, over_chunks
from .categorical import CategoricalNB, places_of

ROOT = -1
DIGITS = 12  # of information, so that ties are not decided by rounding

Array = NDArray[np.float64]


class TreeAugmentedNB(NaiveBayes):
    """Naive Bayes in which each feature but one also depends on one other feature.

    ``P(y, x) = P(y) prod_j P(x_j | x_parent(j), y)``. Parents form a tree: of all trees the one
    whose edges carry the most conditional mutual information ``I(x_i; x_j | y)``, which is the one
    that makes the rows most probable [1]_. Probabilities are smoothed shares,
    ``(n_ab + alpha) / (n_b + alpha m)``.

    A row whose parent value is unknown or missing is scored by ``P(x_j | y)`` there, as in naive
    Bayes.

    Parameters
    ----------
    alpha : smoothing, a number: 0 is maximum likelihood.
    fit_prior : whether class probabilities are counted; if not, they are equal.
    class_prior : class probabilities, shape (K,), in the place of either.
    unknown : what a value does that no row had in training: ``"error"``, or ``"smooth"`` to give
        it the probability of a value that the class has never had.
    missing : what NaN and None do: ``"refuse"``, or ``"ignore"`` to leave them out of counts
        and products.

    Attributes
    ----------
    classes_ : the classes, shape (K,).
    class_count_ : the weight of each class's rows, shape (K,).
    categories_ : for each feature its values, in the order of the tables below.
    parents_ : the parent of each feature, -1 for the first, shape (d,).
    information_ : conditional mutual information of each two features in bits, shape (d, d).
    class_log_prior_ : log P(y), shape (K,).
    feature_log_prob_ : for each feature log P(value | y), shape (K, categories).
    conditional_log_prob_ : for each feature log P(value | value of its parent, y), shape
        (K, categories of the parent, categories); of the first feature log P(value | y).
    n_parameters_ : how many free numbers were learned.
    statistics_ : the counts of pairs, with + and -.
    n_features_in_, feature_names_in_ : the number of features, and their names if known.

    Examples
    --------
    >>> from rosenblatt import TreeAugmentedNB
    >>> X = [["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]] * 5
    >>> y = ["same", "same", "other", "other"] * 5
    >>> model = TreeAugmentedNB().fit(X, y)
    >>> model.parents_, model.score(X, y)
    (array([-1,  0]), 1.0)

    References
    ----------
    .. [1] N. Friedman, D. Geiger, M. Goldszmidt (1997), Bayesian network classifiers.
    """

    statistics_: PairCounts

    measured_by = ("missing",)
    statistic_type = (PairCounts, {})
    simpler_when_larger = ("alpha",)
    _measure_groups = Additive._measure_groups
    _reads_counts = _reads_categories = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": COUNT_PARAMETERS["alpha"][:1],
        **{
            name: CategoricalNB._parameter_constraints[name]
            for name in ("fit_prior", "class_prior", "unknown", "missing")
        },
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        unknown: str = "error",
        missing: str = "refuse",
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.unknown = unknown
        self.missing = missing

    def _check_X(self, X: Any, first: bool) -> Any:
        found = CategoricalNB._check_X(self, X, first)
        if first and (X := np.asarray(X)).dtype.kind == "f":
            column, row = np.nonzero(np.floor(X).T < np.ceil(X).T)
            if len(column):
                j, value = int(column[0]), float(X[row[0], column[0]])
                warn(
                    f"TreeAugmentedNB takes categories, and cuts fractions off: column {j} holds "
                    f"{value:g}. Sort measurements into a few intervals first, with "
                    'KBinsDiscretizer(encode="ordinal"), or use GaussianNB.'
                )
        return found

    def _conclude(self, rows: Any, final: bool) -> None:
        counts, d = self.statistics_, self.n_features_in_
        information = conditional_information(counts)
        parents = widest_tree(information)
        self.categories_ = list(counts.categories)
        self.parents_, self.information_ = parents, information
        self.feature_log_prob_ = [self._shares(counts.counts_of(j)) for j in range(d)]
        self.conditional_log_prob_ = [
            self.feature_log_prob_[j] if i == ROOT else self._shares(counts.pairs_of(i, j))
            for j, i in enumerate(parents.tolist())
        ]
        n_shares = self._set_prior(self.class_prior, not self.fit_prior)
        free = sum(logs[..., 1:].size for logs in self.conditional_log_prob_)
        self.n_parameters_ = free + n_shares

    def _shares(self, counts: NDArray[Any]) -> Array:
        """Return smoothed log shares of counts (K, ..., m) along their last axis."""
        table = self._by_class(np.asarray(counts, np.float64))
        if not table.size:
            return table
        flat = log_shares(table.reshape(-1, table.shape[-1]), np.asarray(self.alpha, np.float64))
        return np.ascontiguousarray(flat).reshape(table.shape)

    def _log_likelihood(self, X: Any) -> NDArray[Any]:
        tables = self._tables()

        def score(first: int, last: int) -> Array:
            places = self._places(X[first:last])
            total = np.zeros((last - first, len(self.classes_)))
            for j, (table, i) in enumerate(zip(tables, self.parents_.tolist(), strict=True)):
                cell = places[j]
                if i != ROOT:
                    cell = cell + np.minimum(places[i], len(table) - 1) * table.shape[1]
                total += table.reshape(-1, table.shape[2]).take(cell, axis=0)
            return total

        return np.concatenate(over_chunks(score, X))

    def _log_factors(self, X: Any) -> Array:
        places = self._places(X)[:, 0]
        parts = []
        for j, (table, i) in enumerate(zip(self._tables(), self.parents_.tolist(), strict=True)):
            above = 0 if i == ROOT else min(places[i], len(table) - 1)
            parts.append(table[above, places[j]])
        return np.transpose(parts)

    def _tables(self) -> list[Array]:
        """Return log-probabilities (parent's categories + 1, categories + 2, K) of each feature.

        The last row is for a parent that is unknown or missing, the last two columns for a value
        that is unknown, and for one that is missing, which has no part in the product.
        """
        tables = []
        for j, i in enumerate(self.parents_.tolist()):
            plain = self.feature_log_prob_[j][:, np.newaxis]
            rows = plain if i == ROOT else np.concatenate([self.conditional_log_prob_[j], plain], 1)
            never, nothing = self._never(j, i), np.zeros((*rows.shape[:2], 1))
            tables.append(np.concatenate([rows, never, nothing], axis=2).transpose(1, 2, 0).copy())
        return tables

    def _never(self, j: int, i: int) -> Array:
        """Return log-probabilities (K, parent's categories + 1, 1) of a value that no row had."""
        counts = self._by_class(np.asarray(self.statistics_.counts_of(j), np.float64))
        totals = counts.sum(axis=1)[:, np.newaxis]
        if i != ROOT:
            pairs = self._by_class(self.statistics_.pairs_of(i, j)).sum(axis=2)
            totals = np.concatenate([pairs, totals], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.alpha / (totals + self.alpha * max(counts.shape[1], 1)))
        return np.asarray(np.nan_to_num(logs, nan=-np.inf, neginf=-np.inf)[..., np.newaxis])

    def _places(self, X: Any) -> NDArray[np.int64]:
        """Return the indices (d, n) of the values of checked rows (n, d) in the tables."""
        widths = map(len, self.categories_)
        return np.array([places_of(self, X, j, width) for j, width in enumerate(widths)])


def conditional_information(counts: PairCounts) -> Array:
    """Return I(x_i; x_j | y) of each two features in bits, (d, d)."""
    d = counts.n_features
    found = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            together = counts.pairs_of(i, j)  # (K, m_i, m_j)
            of_class = together.sum(axis=(1, 2), keepdims=True)
            apart = together.sum(axis=2, keepdims=True) * together.sum(axis=1, keepdims=True)
            seen = together > 0
            ratio = (together * of_class)[seen] / apart[seen]
            total = max(float(of_class.sum()), 1e-300)
            found[i, j] = found[j, i] = max(0.0, float(together[seen] @ np.log2(ratio)) / total)
    return found.round(DIGITS)


def widest_tree(weights: Array) -> NDArray[np.int64]:
    """Return the parents (d,) in the tree from feature 0 with the largest sum of edge weights.

    Prim's rule: of all edges from the tree to a feature outside, the widest is taken next.
    """
    d = len(weights)
    parents = np.full(d, ROOT, np.int64)
    nearest, widest, outside = np.zeros(d, np.int64), weights[0].copy(), np.arange(d) > 0
    while outside.any():
        j = int(np.where(outside, widest, -np.inf).argmax())
        parents[j], outside[j] = nearest[j], False
        wider = outside & (weights[j] > widest)
        nearest[wider], widest[wider] = j, weights[j][wider]
    return parents


ROW = Row(
    "TreeAugmentedNB",
    page="tree_augmented.md",
    certificate="tree_augmented",
    contract=Contract(
        tampered=({"alpha": 0.5},),
        settings=({}, {"alpha": 0.5, "unknown": "smooth", "missing": "ignore"}),
        checked=({}, {"unknown": "smooth", "missing": "ignore"}),
    ),
)
