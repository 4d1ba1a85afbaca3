"""What a recorded model is worth on its training data."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.trace.data import Data


class Measures(NamedTuple):
    """Numbers of one model; what it does not offer is NaN."""

    objective: float
    error: float


def measure(estimator: Any, data: Data) -> Measures:
    """The model's own objective, and its share of wrong answers."""
    if estimator is None:
        return Measures(math.nan, math.nan)
    model = nameless(estimator, data.X)
    return Measures(_objective(model, data), _error(model, data))


def _objective(estimator: Any, data: Data) -> float:
    """``estimator.objective(X, y, sample_weight)`` where the model has it."""
    if data.X is None or not hasattr(estimator, "objective"):
        return math.nan
    return float(estimator.objective(data.X, data.y, sample_weight=data.sample_weight))


def _error(estimator: Any, data: Data) -> float:
    """The weighted share of training rows whose class is predicted wrongly."""
    if data.X is None or data.y is None or not hasattr(estimator, "classes_"):
        return math.nan
    wrong = estimator.predict(data.X) != data.labels()
    return float(np.average(wrong, weights=data.sample_weight))


def nameless(estimator: Any, X: Any) -> Any:
    """The model, or a copy that expects no column names where X is a bare array."""
    if not hasattr(estimator, "feature_names_in_") or hasattr(X, "columns"):
        return estimator
    model = copy.copy(estimator)
    del model.feature_names_in_
    return model
