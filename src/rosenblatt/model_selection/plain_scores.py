"""The scores that most models go by, without the look at labels and targets that takes longest."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer
from sklearn.pipeline import Pipeline

# Of a model, rows and their labels or targets, these perhaps at some places alone; None if they
# need a closer look.
PlainScore = Callable[..., float | None]


def plain_score(scorer: Any, estimator: Any) -> PlainScore | None:
    """What a scorer gives if that is a classifier's accuracy or a regressor's R²; else None."""
    if is_accuracy(scorer, estimator):
        return accuracy
    return r2 if is_r2(scorer, estimator) else None


def is_r2(scorer: Any, estimator: Any) -> bool:
    """Whether a scorer gives a regressor's plain R²."""
    return is_plain(scorer, estimator, r2_score, RegressorMixin)


def r2(estimator: Any, X: Any, y: Any, places: Any = None) -> float | None:
    """1 - |y - prediction|² / |y - mean|², to the bits of scikit-learn; None if it is undefined.

    The targets are of all rows of X, or of those at some places.
    """
    if not (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype == np.float64 and len(y) > 1):
        return None
    try:
        answers = estimator.predict(X)
    except Exception:  # the scorer will meet it again, and knows what to do
        return None
    answers = answers if places is None else answers.take(places)
    if answers.shape != y.shape or answers.dtype != np.float64:
        return None
    # A column: sums of one are not taken in the order of those of a row.
    y, answers = y[:, np.newaxis], answers[:, np.newaxis]
    with np.errstate(over="ignore", invalid="ignore"):
        left = float(((y - answers) ** 2).sum(axis=0)[0])
        spread = float(((y - np.average(y, axis=0)) ** 2).sum(axis=0)[0])
    if not (np.isfinite(left) and 0 < spread < np.inf):
        return None
    return 1 - left / spread


# The share of right answers, which is what most models are scored by.
#
# scikit-learn's own takes most of a millisecond to look at the labels: as long as all the rest,
# when
# rows are left out one by one.


def is_accuracy(scorer: Any, estimator: Any) -> bool:
    """Whether a scorer gives a classifier's plain accuracy."""
    return is_plain(scorer, estimator, accuracy_score, ClassifierMixin)


def is_plain(scorer: Any, estimator: Any, metric: Any, kind: Any) -> bool:
    """Whether a scorer gives a metric of predictions as it is, asked for or as a kind's `score`."""
    if type(scorer) is _PassthroughScorer:
        model = estimator.steps[-1][1] if type(estimator) is Pipeline else estimator
        return getattr(type(model), "score", None) is kind.score
    return (
        type(scorer) is _Scorer
        and scorer._score_func is metric
        and scorer._response_method == "predict"
        and scorer._sign == 1
        and not scorer._kwargs
    )


def accuracy(estimator: Any, X: Any, y: Any, places: Any = None) -> float | None:
    """The share of rows whose label is the predicted one; None if labels need a closer look.

    The labels are of all rows of X, or of those at some places.
    """
    if not _are_plain(y):
        return None
    try:
        answers = estimator.predict(X)
    except Exception:  # the scorer will meet it again, and knows what to do
        return None
    return _share(answers if places is None else answers.take(places), y)


def accuracies(models: list[Any], X: Any, order: NDArray[np.intp], y: Any) -> list[float | None]:
    """The accuracy of each of some models on rows `order` of X with labels y, read where they are.

    None where that cannot be: for models that do not predict together, or do not know the rows.
    """
    nothing: list[float | None] = [None] * len(models)
    kind = type(models[0])
    if not _are_plain(y) or not _can_be_read(X) or not hasattr(kind, "predict_together"):
        return nothing
    if any(type(model) is not kind or model.n_features_in_ != X.shape[1] for model in models):
        return nothing
    try:
        answers = kind.predict_together(models, X, order)
    except Exception:  # the ordinary way will meet it again, and knows what to do
        return nothing
    return nothing if answers is None else [_share(labels, y) for labels in answers]


def _can_be_read(X: Any) -> bool:
    """Whether rows of X are as models read them."""
    return sp.issparse(X) and X.format == "csr" and X.dtype.kind in "fiu" and X.has_canonical_format


def _are_plain(y: Any) -> bool:
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU" and len(y) > 0


def _share(answers: NDArray[Any], y: NDArray[Any]) -> float | None:
    """The share of answers that are right; None if they are of another kind."""
    if answers.shape != y.shape or answers.dtype.kind != y.dtype.kind:
        return None
    return float(np.mean(answers == y))
