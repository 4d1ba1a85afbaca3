"""Scores that are linear in counts or in presence, dense or CSR, with exact infinities.

A weight of -inf makes a row impossible that has the feature, one of +inf a row that lacks it. Both
are counted, by a second product, instead of multiplied: zero times infinity would be NaN.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.storage import some_rows

# SciPy's product serves where the compiled loop, first to be imported, would gain little.
SMALL_PRODUCT = 2**20
NUMBERS = (np.float64, np.float32, np.int64)

Array = NDArray[np.float64]


class Linear:
    """Weights (d, K) and a start (K,), applied to rows X (n, d) a range of rows at a time.

    With a `threshold`, a number above it is one and another nothing; with None, numbers are as they
    are and must not be negative.
    """

    def __init__(self, X: Any, weights: NDArray[Any], start: Array, threshold: float | None):
        self.X, self.threshold = X, threshold
        self.small = not sp.issparse(X) or X.nnz < SMALL_PRODUCT
        self.weights, self.start = weights.astype(np.float64, order="C", copy=False), start
        self.hits: NDArray[Any] | None = None
        if np.isinf(self.weights).any():
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
        X = some_rows(self.X, first, last, NUMBERS)
        scores = np.empty((last - first, *weights.shape[1:]))
        score = loops.scores.score_plane if weights.ndim == 1 else loops.scores.score_classes
        if score(X, weights, start, self.threshold, scores) >= 0:
            raise ValueError(why_not(self.X[first:last].data))
        return scores

    def _small_product(self, first: int, last: int, weights: Array) -> Array:
        X = self.X[first:last]
        sparse = sp.issparse(X)
        numbers = X.data if sparse else X
        if not np.isfinite(numbers).all() or (
            self.threshold is None and numbers.min(initial=0) < 0
        ):
            raise ValueError(why_not(numbers))
        counts = numbers if self.threshold is None else numbers > self.threshold
        counts = counts.astype(np.float64, copy=False)
        if not sparse:
            return np.asarray(counts @ weights)
        # Only the features that occur: a few short rows should not cost a pass over all weights.
        used, places = np.unique(X.indices, return_inverse=True)
        counts = sp.csr_array((counts, places, X.indptr), shape=(X.shape[0], len(used)))
        return np.asarray(counts @ weights[used])


def why_not(numbers: NDArray[Any]) -> str:
    """What is wrong with numbers that cannot be scored."""
    if np.isnan(numbers).any():
        return "Input X contains NaN; missing='ignore' leaves such values out."
    if np.isinf(numbers).any():
        return "Input X contains infinity."
    return f"Negative values in data cannot be counts; got {numbers.min()}."
