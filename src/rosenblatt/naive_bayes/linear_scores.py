"""Scores that are linear in counts or in presence, dense or CSR, with exact infinities.

A weight of -inf makes a row impossible that has the feature, one of +inf a row that lacks it. Both
are counted, by a second product, instead of multiplied: zero times infinity would be NaN.

The functions at the end are the predictions of `MultinomialNB`, `ComplementNB` and `BernoulliNB`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.loops.rows import some_rows, summed_duplicates

from . import linear_scores_loops
from .base import over_chunks, relative_to_best

# SciPy's product serves where the compiled loop, first to be imported, would gain little.
SMALL_PRODUCT = 2**20
NUMBERS = (np.float64, np.float32, np.int64)
ALL = slice(None)

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


class LinearForm(NamedTuple):
    """Scores ``start + counts @ weights`` of a model's classes."""

    weights: NDArray[Any]  # (d, K)
    start: Array  # (K,)
    threshold: float | None = None  # a number above it counts as one; None: numbers are counts
    gaps: Array | None = None  # (d, K): what NaN adds; None if NaN is an error
    in_limit: bool = False  # the class with the most infinite weights wins


class LinearScores:
    """Scores of rows X (n, d), a range of rows at a time."""

    def __init__(self, X: Any, form: LinearForm, prior: Any):
        self.X, self.form = X, form
        self.small = is_small(X)
        weights = form.weights
        if form.gaps is not None:  # each feature also has an indicator of NaN
            weights = np.concatenate([weights, form.gaps])
        self.weights = weights.astype(np.float64, order="C", copy=False)
        self.start = form.start + prior
        self.hits: Array | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            suspect = not np.isfinite(self.weights.sum())
        if suspect and np.isinf(self.weights).any():
            never, always = self.weights == -np.inf, self.weights == np.inf
            self.hits = never.astype(np.float64) - always
            self.weights = np.where(never | always, 0.0, self.weights)

    def scores(self, first: int, last: int) -> Array:
        """Return the scores (m, K) of some rows; -inf where a row is impossible."""
        scores = self.product(first, last, self.weights, self.start)
        if self.hits is None:
            return scores
        if self.form.in_limit:
            hits = self.product(first, last, self.hits, np.zeros(len(self.start)))
            scores[hits > hits.min(axis=1, keepdims=True)] = -np.inf
        else:
            # A feature that must be present is present or missing: it is counted once.
            required = (self.hits[: self.X.shape[1]] < 0).sum(axis=0).astype(np.float64)
            scores[self.product(first, last, self.hits, required) > 0] = -np.inf
        return scores

    def comparison(self, first: int, last: int) -> Array:
        """Return the scores (m, K), or of two finite classes the second's less the first's (m,)."""
        if len(self.start) == 2 and self.hits is None and np.isfinite(self.start).all():
            return self.product(first, last, self._difference, self.start[1] - self.start[0])
        return self.scores(first, last)

    @cached_property
    def _difference(self) -> Array:
        return np.ascontiguousarray(self.weights[:, 1] - self.weights[:, 0])

    def codes(self, first: int, last: int) -> Codes:
        """Return the best class (m,) of some rows; -1 where a row is impossible."""
        joint = self.comparison(first, last)
        if joint.ndim == 1:
            return (joint > 0).astype(np.intp)
        best: Codes = joint.argmax(axis=1)
        best[joint[np.arange(len(best)), best] == -np.inf] = -1
        return best

    def product(self, first: int, last: int, weights: Array, start: Any) -> Array:
        """Return `start` plus some rows times weights (d,) or (d, K); with gaps (2 d, ...)."""
        if self.form.gaps is None:
            return self._product(self.X, first, last, weights, start)
        d, X = self.X.shape[1], self.X[first:last]
        numbers = X.data if sp.issparse(X) else X
        missing = np.isnan(numbers)
        if not missing.any():
            return self._product(X, 0, last - first, weights[:d], start)
        known, gaps = np.where(missing, numbers.dtype.type(0), numbers), missing.astype(np.float64)
        if sp.issparse(X):
            known, gaps = _like(X, known), _like(X, gaps)
        scores = self._product(known, 0, last - first, weights[:d], start)
        return np.asarray(scores + gaps @ weights[d:])

    def _product(self, X: Any, first: int, last: int, weights: Array, start: Any) -> Array:
        threshold = self.form.threshold
        if not self.small:
            return score(X, np.arange(first, last), weights, start, threshold)[0]
        rows = X if last - first == X.shape[0] else X[first:last]
        return np.asarray(small_product(rows, weights, threshold) + start)


def small_product(X: Any, weights: Array, threshold: float | None) -> Array:
    """Return the counts in X times weights (d,) or (d, K)."""
    sparse = sp.issparse(X)
    numbers = X.data if sparse else X
    if not np.isfinite(numbers).all() or (threshold is None and numbers.min(initial=0) < 0):
        raise checks.not_counts(numbers)
    if threshold is not None:
        present = (numbers > threshold).astype(np.float64)
        X = _like(X, present) if sparse else present
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.asarray(X @ weights)
    if not np.isfinite(product).all():
        raise checks.not_counts(numbers)
    return product


def score(
    X: Any, order: Codes, weights: NDArray[Any], start: Any, threshold: float | None
) -> tuple[Array, Array]:
    """Return `start` plus rows `order` (m,) of CSR X times weights (d,) or (d, K); and their sizes.

    The size (m,) of a row is the sum of its counts.
    """
    if X.dtype not in NUMBERS or X.indices.dtype != np.int32:
        X, order = X[order], np.arange(len(order))  # a copy of these rows alone, then converted
    first, last = (int(order.min()), int(order.max()) + 1) if len(order) else (0, 0)
    rows, order = some_rows(X, first, last, NUMBERS), order - first
    scores, sizes = np.empty((len(order), *weights.shape[1:])), np.empty(len(order))
    loops = linear_scores_loops
    loop = loops.score_plane if weights.ndim == 1 else loops.score_classes
    bad = loop(rows, order, weights, start, threshold, scores, sizes)
    if bad >= 0:
        raise checks.not_counts(X[[first + order[bad]]].data)
    return scores, sizes


def is_small(X: Any) -> bool:
    """Return whether SciPy's or NumPy's product of X serves."""
    return not sp.issparse(X) or X.nnz < SMALL_PRODUCT


def _like(X: Any, numbers: NDArray[Any]) -> Any:
    """Return a CSR matrix with X's places and other numbers."""
    return sp.csr_array((numbers, X.indices, X.indptr), shape=X.shape)


# Decisions from weights in 32 bits, where these suffice.
#
# Weights are gathered from a table that no near cache holds: half its size is half the time. The
# error of a score has a bound, so that a decision is either that of 64 bits, or left open.


LARGEST = 1e30  # sums of weights that are larger might not fit
# A score is off by at most 2**-24 of its terms, and the two that are compared by twice that; as
# much again is more than rounding in 64 bits can add.
ROUNDING = 2.0**-22


@dataclass(frozen=True, eq=False)
class Float32Scores:
    """Weights and starts of scores, of which a row's largest, or its sign, decides."""

    weights: NDArray[np.float32]  # (d, K); (d,) for the difference of two classes
    start: Any  # (K,) or a number
    threshold: float | None

    @classmethod
    def of(cls, model: Any) -> Self | None:
        """Return the weights of a fitted model; None if it reads gaps, or some are too large."""
        if model.missing == "ignore":
            return None
        two = len(model.classes_) == 2
        weights, start, threshold, *_ = model._linear_form(np.float64 if two else np.float32)
        start = start + model._log_prior().astype(np.float64)
        if two:
            with np.errstate(invalid="ignore"):
                weights = (weights[:, 1] - weights[:, 0]).astype(np.float32)
                start = start[1] - start[0]
        scores = cls(weights, start, threshold)
        fits = scores.unit < ROUNDING * LARGEST and np.isfinite(start).all()
        return scores if fits else None

    @cached_property
    def unit(self) -> float:
        """Bound on the error of the difference of two scores, for each count of a row."""
        return ROUNDING * float(max(self.weights.max(), -self.weights.min()))

    def decide(self, X: Any, order: Codes) -> Codes:
        """Return the classes of rows `order` (m,) of CSR X; -1 where 64 bits are needed."""
        scores, sizes = score(X, order, self.weights, self.start, self.threshold)
        if scores.ndim == 1:
            return signs(scores, self.unit * sizes)
        codes = np.empty(len(order), np.intp)
        linear_scores_loops.choose(scores, sizes, self.unit, codes)
        return codes


def signs(scores: Array, slack: Array) -> Codes:
    """Return 1 for scores above zero, 0 for others, -1 for those nearer to it than the slack."""
    codes = (scores > 0).astype(np.intp)
    codes[np.abs(scores) < slack] = -1
    return codes


# Predictions of models that have a `_linear_form`.


def check_rows(model: Any, X: Any, first: bool) -> Any:
    """Return X with numbers of any kind: the loops read integers without a copy."""
    X = checks.rows(model, X, reset=first, dtype="numeric", finite=False)
    # A number and NaN in one place are missing together.
    return summed_duplicates(X) if model.missing == "ignore" else X


def feature_count(model: Any) -> Array:
    """Weight of each feature in each class, shape (K, d)."""
    counts: Array = model._by_class(model.statistics_.sums).astype(np.float64)
    return counts


def log_likelihood(model: Any, X: Any) -> NDArray[Any]:
    """Return the scores (n, K) of checked rows without the prior."""
    scores = np.concatenate(over_chunks(LinearScores(X, model._linear_form(), 0.0).scores, X))
    return scores.astype(model.feature_log_prob_.dtype, copy=False)


def joint_log_likelihood(model: Any, X: Any) -> NDArray[Any]:
    """Return the joint scores (n, K) of checked rows up to a number for each row."""
    prior = model._log_prior().astype(np.float64)
    scores = np.concatenate(over_chunks(LinearScores(X, model._linear_form(), prior).comparison, X))
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    return relative_to_best(scores, model.feature_log_prob_.dtype)


def predict_codes(model: Any, X: Any) -> Codes:
    """Return the best class (n,) of checked rows; scores are never held for all rows."""
    prior = model._log_prior().astype(np.float64)
    float32 = None if is_small(X) else Float32Scores.of(model)
    if float32 is None:
        codes = np.concatenate(over_chunks(LinearScores(X, model._linear_form(), prior).codes, X))
    else:

        def decide(first: int, last: int) -> Codes:
            order = np.arange(first, last)
            return _completed(model, float32.decide(X, order), X, order)

        codes = np.concatenate(over_chunks(decide, X))
    impossible = codes < 0
    if impossible.any():
        model._warn_impossible(impossible)
        codes[impossible] = prior.argmax()
    return codes


def predict_together(models: list[Any], X: Any, order: Codes) -> list[NDArray[Any]] | None:
    """Return the predictions of each of several models of one class for rows `order` of CSR X.

    Rows are not copied and not checked again. None if 32 bits do not suffice for some model.
    """
    several = [scores for scores in map(Float32Scores.of, models) if scores is not None]
    if len(several) < len(models) or len({scores.threshold for scores in several}) > 1:
        return None
    if len(several) == 1 or any(scores.weights.ndim == 2 for scores in several):
        decisions = [scores.decide(X, order) for scores in several]
    else:  # one read of the rows
        weights = np.column_stack([scores.weights for scores in several])
        start = np.array([scores.start for scores in several])
        table, sizes = score(X, order, weights, start, several[0].threshold)
        decisions = [signs(table[:, c], one.unit * sizes) for c, one in enumerate(several)]
    pairs = zip(models, decisions, strict=True)
    return [model.classes_[_completed(model, codes, X, order)] for model, codes in pairs]


def _completed(model: Any, codes: Codes, X: Any, order: Codes) -> Codes:
    """Return decisions about rows `order` of X, those left open decided in 64 bits."""
    left = codes < 0
    if left.any():
        rows = X[order[left]]
        # Only the features that occur: a few rows should not cost a pass over all weights.
        features, places = np.unique(rows.indices, return_inverse=True)
        rows = sp.csr_array((rows.data, places, rows.indptr), (rows.shape[0], len(features)))
        form = model._linear_form(features=features)
        codes[left] = LinearScores(rows, form, model._log_prior()).codes(0, rows.shape[0])
    return codes


def known_row(model: Any, X: Any) -> tuple[Array, NDArray[np.bool]]:
    """Return one row (1, d) as doubles (d,), zero where missing; and where it is not."""
    row = np.asarray((X.toarray() if sp.issparse(X) else X)[0], dtype=np.float64)
    known = ~np.isnan(row)
    if np.isinf(row).any() or (model.missing == "refuse" and not known.all()):
        raise checks.not_counts(row)
    return np.where(known, row, 0.0), known
