"""The problems of all training sets of a cross-validation, tall tables being read once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import mean_squared_error, r2_score, root_mean_squared_error
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer

from rosenblatt.statistics import Gram

from .gram_problem import Squares, by_rows, widest_with_gram

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
    of the other folds. Else, and for wide tables, each training set is read by itself.
    """
    groups = _left_out_once(folds, X.shape[0])
    if groups is not None and folds_have_grams(X, groups, len(folds)):
        parts = Gram.by_group(by_rows(X), targets, groups, len(folds), weights)
        for k in range(len(folds)):
            others = [part for i, part in enumerate(parts) if i != k]
            yield Squares.of_gram(sum(others[1:], others[0]), fit_intercept)
        return
    for train, _ in folds:
        some = None if weights is None else weights[train]
        yield Squares.of(X[train], targets[train], some, fit_intercept=fit_intercept, path=True)


def folds_have_grams(X: Any, groups: NDArray[np.int64], n_folds: int) -> bool:
    """Whether products of columns, for each fold of rows, take less room and time than the rows."""
    n, d = X.shape
    if d > widest_with_gram(X, path=True) or n_folds > MOST_FOLDS:
        return False
    return bool(n - np.bincount(groups).max() >= d)


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


# Scores of linear models on rows that are known by their Gram statistic alone.


Array = NDArray[np.float64]

# A sum of squared errors is a difference of sums as large as the scatter of the targets: below this
# share of it, too few digits are left.
LEAST_SHARE = 1e-6

METRICS = {r2_score: 1, mean_squared_error: -1, root_mean_squared_error: -1}


def metric_of(scorer: Any, estimator: Any) -> str | None:
    """The name of a scorer's function, if squared errors are all that it asks for."""
    if type(scorer) is _PassthroughScorer:
        usual = getattr(type(estimator), "score", None) is RegressorMixin.score
        return "r2_score" if usual else None
    if type(scorer) is not _Scorer or scorer._kwargs or scorer._response_method != "predict":
        return None
    function = scorer._score_func
    return function.__name__ if METRICS.get(function) == scorer._sign else None


def squared_errors(test: Gram, coefs: Array, intercepts: Array) -> Array:
    """Sums of squared errors (A, t) of models coefs (A, d, t) and intercepts (A, t)."""
    n_models, d, t = coefs.shape
    side_by_side = np.moveaxis(coefs, 0, 1).reshape(d, -1)
    bent = (side_by_side * (test.xx @ side_by_side)).sum(axis=0).reshape(n_models, t)
    along = np.einsum("adt,dt->at", coefs, test.xy)
    shift = test.mean_y - intercepts - test.mean_x @ coefs
    return np.asarray(np.diag(test.yy) - 2 * along + bent + test.weight * shift**2)


def scores_of(metric: str, test: Gram, coefs: Array, intercepts: Array) -> Array | None:
    """The scores (A,) of models on rows; None where the statistic has too few digits to say."""
    scatter = np.diag(test.yy)
    errors = squared_errors(test, coefs, intercepts)
    if test.rows < 2 or (errors <= LEAST_SHARE * scatter).any() or not np.isfinite(errors).all():
        return None
    if metric == "r2_score":
        return np.asarray((1 - errors / scatter).mean(axis=1))
    means = errors / test.weight
    means = np.sqrt(means) if metric == "root_mean_squared_error" else means
    return np.asarray(-means.mean(axis=1))
