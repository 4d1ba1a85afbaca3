"""The scores that most models go by, without the look at labels and targets that takes longest."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from .accuracy import accuracy, is_accuracy, is_plain

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
