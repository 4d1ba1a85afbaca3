"""The share of right answers, which is what most models are scored by.

scikit-learn's own takes most of a millisecond to look at the labels: as long as all the rest, when
rows are left out one by one.
"""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer
from sklearn.pipeline import Pipeline


def is_accuracy(scorer: Any, estimator: Any) -> bool:
    """Whether a scorer gives a classifier's plain accuracy."""
    if type(scorer) is _PassthroughScorer:
        model = estimator.steps[-1][1] if type(estimator) is Pipeline else estimator
        return getattr(type(model), "score", None) is ClassifierMixin.score
    return (
        type(scorer) is _Scorer
        and scorer._score_func is accuracy_score
        and scorer._response_method == "predict"
        and scorer._sign == 1
        and not scorer._kwargs
    )


def accuracy(estimator: Any, X: Any, y: Any, places: Any = None) -> float | None:
    """The share of rows whose label is the predicted one; None if labels need a closer look.

    The labels are of all rows of X, or of those at some places.
    """
    if not isinstance(y, np.ndarray) or y.ndim != 1 or y.dtype.kind not in "biuU" or not len(y):
        return None
    try:
        answers = estimator.predict(X)
    except Exception:  # the scorer will meet it again, and knows what to do
        return None
    if places is not None:
        answers = answers.take(places)
    if answers.shape != y.shape or answers.dtype.kind != y.dtype.kind:
        return None
    return float(np.mean(answers == y))
