"""The problems of all training sets of a cross-validation, tall tables being read once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.statistics import Gram

from .squares import WIDEST_FOR_PATH, Squares

Folds = Sequence[tuple[NDArray[Any], NDArray[Any]]]  # rows to train on, and to test on
MOST_FOLDS = 20  # whose Gram matrices are held at a time


def training_squares(
    X: Any,
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    folds: Folds,
    fit_intercept: bool,
) -> Iterator[Squares]:
    """The problem of each training set, in order.

    Where every row is left out once, its products are summed once, and a training set is the sum
    of the other folds. Else, and for wide or sparse tables, each training set is read by itself.
    """
    n, d = X.shape
    tall = not sp.issparse(X) and d <= WIDEST_FOR_PATH
    groups = _left_out_once(folds, n) if tall and len(folds) <= MOST_FOLDS else None
    if groups is not None and n - np.bincount(groups).max() >= d:
        parts = Gram.by_group(X, targets, groups, len(folds), weights)
        for k in range(len(folds)):
            others = [part for i, part in enumerate(parts) if i != k]
            yield Squares.of_gram(sum(others[1:], others[0]), fit_intercept)
        return
    for train, _ in folds:
        some = None if weights is None else weights[train]
        yield Squares.of(X[train], targets[train], some, fit_intercept=fit_intercept, path=True)


def _left_out_once(folds: Folds, n: int) -> NDArray[np.int64] | None:
    """The fold that each row is left out of; None unless that is exactly one for each."""
    groups = np.full(n, -1, np.int64)
    for k, (train, test) in enumerate(folds):
        train, test = np.arange(n)[train], np.arange(n)[test]
        if len(train) + len(test) != n or (groups[test] >= 0).any():
            return None
        groups[test] = k
        if len(np.union1d(train, test)) != n:
            return None
    return groups if (groups >= 0).all() and len(folds) > 1 else None
