"""Scores that are linear in counts or in presence, dense or CSR, with exact infinities.

A weight of -inf makes a row impossible that has the feature, one of +inf a row that lacks it. Both
are counted, by a second product, instead of multiplied: zero times infinity would be NaN.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import threads
from rosenblatt.runtime.storage import some_rows

from . import linear_scores_loops

# SciPy's product serves where the compiled loop, first to be imported, would gain little.
SMALL_PRODUCT = 2**20
CELLS_PER_CHUNK = 1_000_000  # of a prediction: much more than a call costs, much less than the data
NUMBERS = (np.float64, np.float32, np.int64)

Array = NDArray[np.float64]


class LinearScores:
    """Weights (d, K) and a start (K,), applied to rows X (n, d) a range of rows at a time.

    With a `threshold`, a number above it is one and another nothing; with None, numbers are as they
    are and must not be negative.
    """

    def __init__(self, X: Any, weights: NDArray[Any], start: Array, threshold: float | None):
        self.X, self.threshold = X, threshold
        self.small = is_small(X)
        self.weights, self.start = weights.astype(np.float64, order="C", copy=False), start
        self.hits: NDArray[Any] | None = None
        if are_infinite(self.weights):
            self._set_infinities_apart()

    def _set_infinities_apart(self) -> None:
        never, always = self.weights == -np.inf, self.weights == np.inf
        self.hits = never.astype(np.float64) - always
        self.most_hits = always.sum(axis=0).astype(np.float64)
        self.weights = np.where(never | always, 0.0, self.weights)

    def scores(self, first: int, last: int) -> Array:
        """The scores (m, K) of some rows; -inf where a row is impossible."""
        scores = self.product(first, last, self.weights, self.start)
        if self.hits is not None:
            missed = self.product(first, last, self.hits, self.most_hits)
            scores[missed > 0] = -np.inf
        return scores

    def comparison(self) -> Callable[[int, int], Array]:
        """What classes are compared by: their scores (m, K), or the difference (m,) of two."""
        two = len(self.start) == 2 and self.hits is None and np.isfinite(self.start).all()
        return self.difference if two else self.scores

    def difference(self, first: int, last: int) -> Array:
        """The second of two classes' scores less the first, (m,); weights must be finite."""
        return self.product(first, last, self._difference, self.start[1] - self.start[0])

    @cached_property
    def _difference(self) -> Array:
        return np.ascontiguousarray(self.weights[:, 1] - self.weights[:, 0])

    def product(self, first: int, last: int, weights: Array, start: Any) -> Array:
        """`start` plus some rows times weights (d,) or (d, K)."""
        if self.small:
            return np.asarray(self._small_product(first, last, weights) + start)
        return score(self.X, np.arange(first, last), weights, start, self.threshold)[0]

    def _small_product(self, first: int, last: int, weights: Array) -> Array:
        X = self.X if last - first == self.X.shape[0] else self.X[first:last]
        sparse = sp.issparse(X)
        numbers = X.data if sparse else X
        if not np.isfinite(numbers).all() or (
            self.threshold is None and numbers.min(initial=0) < 0
        ):
            raise ValueError(why_not(numbers))
        counts = X
        if self.threshold is not None:
            counts = (numbers > self.threshold).astype(np.float64)
            if sparse:
                counts = sp.csr_array((counts, X.indices, X.indptr), shape=X.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            product = np.asarray(counts @ weights)
        if not np.isfinite(product).all():
            raise ValueError(why_not(numbers))
        return product


def score(
    X: Any, order: NDArray[np.intp], weights: NDArray[Any], start: Any, threshold: float | None
) -> tuple[Array, Array]:
    """`start` plus rows `order` (m,) of CSR X times weights (d,) or (d, K); their sizes (m,)."""
    # The size of a row is what its numbers count together.
    if X.dtype not in NUMBERS or X.indices.dtype != np.int32:
        X, order = X[order], np.arange(len(order))  # a copy of these rows alone, then converted
    first, last = (int(order.min()), int(order.max()) + 1) if len(order) else (0, 0)
    rows, order = some_rows(X, first, last, NUMBERS), order - first
    scores, sizes = np.empty((len(order), *weights.shape[1:])), np.empty(len(order))
    loop = (
        linear_scores_loops.score_plane if weights.ndim == 1 else linear_scores_loops.score_classes
    )
    bad = loop(rows, order, weights, start, threshold, scores, sizes)
    if bad >= 0:
        raise ValueError(why_not(X[[first + order[bad]]].data))
    return scores, sizes


def over_rows(work: Any, X: Any) -> list[Any]:
    """What work(first, last) gives for each chunk of rows."""
    cells = X.nnz if sp.issparse(X) else X.size
    # The pool cuts chunks of its own size: tell it of as many cells as make them ours.
    return threads.over_chunks(work, X.shape[0], cells * threads.CELLS_PER_CHUNK // CELLS_PER_CHUNK)


def is_small(X: Any) -> bool:
    """Whether SciPy's or NumPy's product of X serves."""
    return not sp.issparse(X) or X.nnz < SMALL_PRODUCT


def are_infinite(weights: NDArray[Any]) -> bool:
    """Whether any weight is; one sum tells it if none is, without a table of answers."""
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(weights.sum()) and bool(np.isinf(weights).any())


def why_not(numbers: NDArray[Any]) -> str:
    """What is wrong with numbers that cannot be scored."""
    if np.isnan(numbers).any():
        return "Input X contains NaN; missing='ignore' leaves such values out."
    if np.isinf(numbers).any():
        return "Input X contains infinity."
    if numbers.min(initial=0) < 0:
        return f"Negative values in data cannot be counts; got {numbers.min()}."
    return f"Values in data are too large to be counts; got {numbers.max()}."


# Scores that are linear in counts or in presence, of rows in which values may be missing.


class LinearWithGaps(LinearScores):
    """As `LinearScores`, for rows in which NaN is missing.

    A row is read as numbers, zero where one is missing, and as gaps, one where a number is missing:
    its score is linear in both. A gap takes back what an absent feature would have added.
    """

    def __init__(
        self, X: Any, weights: Array, of_gaps: Array | None, start: Array, threshold: float | None
    ) -> None:
        self.n_features = len(weights)
        if of_gaps is None:
            of_gaps = np.zeros(weights.shape)
        super().__init__(X, np.concatenate([weights, of_gaps]), start, threshold)

    def _set_infinities_apart(self) -> None:
        super()._set_infinities_apart()
        assert self.hits is not None
        # A feature that must be present is present or missing: it is missed once, not twice.
        self.most_hits = (self.hits[: self.n_features] < 0).sum(axis=0).astype(np.float64)

    def product(self, first: int, last: int, weights: Array, start: Any) -> Array:
        """`start` plus some rows, numbers and gaps, times weights (2 d,) or (2 d, K)."""
        numbers, gaps = apart(self.X[first:last])
        of_numbers, of_gaps = weights[: self.n_features], weights[self.n_features :]
        part = copy(self)
        part.X = numbers
        scores = LinearScores.product(part, 0, last - first, of_numbers, start)
        return scores if gaps is None else np.asarray(scores + gaps @ of_gaps)


def apart(X: Any) -> tuple[Any, Any]:
    """Rows X (n, d) with zeros where they are NaN, and ones where they were; None if nowhere."""
    numbers = X.data if sp.issparse(X) else X
    missing = np.isnan(numbers)
    if not missing.any():
        return X, None
    numbers = np.where(missing, numbers.dtype.type(0), numbers)
    if not sp.issparse(X):
        return numbers, missing.astype(np.float64)
    return _like(X, numbers), _like(X, missing.astype(np.float64))


def _like(X: Any, numbers: NDArray[Any]) -> Any:
    """A CSR matrix with X's places and other numbers."""
    return sp.csr_array((numbers, X.indices, X.indptr), shape=X.shape)


# Decisions from weights in 32 bits, where these are enough to tell.
#
# Weights are gathered from a table that no near cache holds: half its size is half the time. How
# far a score can be off is known, so that a decision is either that of all bits, or left open.


LARGEST = 1e30  # sums of weights that are larger might not fit
# A score is off by at most 2**-24 of its terms, and the two that are compared by twice that; as
# much again is more than rounding in 64 bits can add.
ROUNDING = 2.0**-22

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rough:
    """Weights and starts of scores, of which a row's largest, or its sign, decides."""

    weights: NDArray[np.float32]  # (d, K); (d,) for the difference of two classes
    start: Any  # (K,) or a number
    threshold: float | None

    @classmethod
    def of(cls, model: Any) -> Self | None:
        """The weights of a fitted model; None if it reads gaps, or has infinite or huge ones."""
        if model.missing == "ignore":
            return None
        two = len(model.classes_) == 2
        weights, start, threshold = model._weights(np.float64 if two else np.float32)
        start = start + model._log_prior().astype(np.float64)
        if two:
            with np.errstate(invalid="ignore"):
                weights = (weights[:, 1] - weights[:, 0]).astype(np.float32)
                start = start[1] - start[0]
        rough = cls(weights, start, threshold)
        return rough if rough.unit < ROUNDING * LARGEST and np.isfinite(start).all() else None

    @cached_property
    def unit(self) -> float:
        """How far two scores can be off for each that a row counts."""
        return ROUNDING * float(max(self.weights.max(), -self.weights.min()))

    def decide(self, X: Any, order: Codes) -> Codes:
        """The places of the classes of rows `order` (m,) of CSR X; -1 where all bits must tell."""
        scores, sizes = score(X, order, self.weights, self.start, self.threshold)
        if scores.ndim == 1:
            return signs(scores, self.unit * sizes)
        codes = np.empty(len(order), np.intp)
        linear_scores_loops.choose(scores, sizes, self.unit, codes)
        return codes


def signs(scores: NDArray[np.float64], slack: NDArray[np.float64]) -> Codes:
    """1 for scores above zero, 0 for others, -1 for those nearer to it than the slack."""
    codes = (scores > 0).astype(np.intp)
    codes[np.abs(scores) < slack] = -1
    return codes


def decide_together(several: list[Rough], X: Any, order: Codes) -> list[Codes]:
    """What each of several decides, all in one read of the rows if they are planes."""
    if len(several) == 1 or any(rough.weights.ndim == 2 for rough in several):
        return [rough.decide(X, order) for rough in several]
    weights = np.column_stack([rough.weights for rough in several])
    start = np.array([rough.start for rough in several])
    scores, sizes = score(X, order, weights, start, several[0].threshold)
    return [signs(scores[:, c], rough.unit * sizes) for c, rough in enumerate(several)]
