"""Scores that are linear in counts or in presence, of rows in which values may be missing."""

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .scores import Array, Linear


class LinearWithGaps(Linear):
    """As `Linear`, for rows in which NaN is missing.

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
        scores = Linear.product(part, 0, last - first, of_numbers, start)
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
