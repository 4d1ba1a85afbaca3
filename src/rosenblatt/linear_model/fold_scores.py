"""Scores of linear models on rows that are known by their Gram statistic alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import mean_squared_error, r2_score, root_mean_squared_error
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer

from rosenblatt.statistics import Gram

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
