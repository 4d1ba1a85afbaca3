"""Scores that are linear in counts or in presence, dense or CSR, with exact infinities.

A weight of -inf makes a row impossible that has the feature, one of +inf a row that lacks it. Both
are counted, by a second product, instead of multiplied: zero times infinity would be NaN.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops, threads
from rosenblatt.storage import some_rows

# SciPy's product serves where the compiled loop, first to be imported, would gain little.
SMALL_PRODUCT = 2**20
CELLS_PER_CHUNK = 1_000_000  # of a prediction: much more than a call costs, much less than the data
NUMBERS = (np.float64, np.float32, np.int64)

Array = NDArray[np.float64]


class Linear:
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
    """`start` plus rows `order` (m,) of CSR X times weights (d,) or (d, K); and their sizes (m,).

    The size of a row is what its numbers count together.
    """
    if X.dtype not in NUMBERS or X.indices.dtype != np.int32:
        X, order = X[order], np.arange(len(order))  # a copy of these rows alone, then converted
    first, last = (int(order.min()), int(order.max()) + 1) if len(order) else (0, 0)
    rows, order = some_rows(X, first, last, NUMBERS), order - first
    scores, sizes = np.empty((len(order), *weights.shape[1:])), np.empty(len(order))
    loop = (
        loops.sparse_scores.score_plane if weights.ndim == 1 else loops.sparse_scores.score_classes
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
