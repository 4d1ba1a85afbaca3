"""Recorded models in other clothes: with the weights of their run, or without column names."""

from __future__ import annotations

import copy
from typing import Any


def running(estimator: Any) -> Any:
    """The model with the weights of its run in place of a mean or a pocket; None for others."""
    if not hasattr(estimator, "last_coef_"):
        return None
    model = copy.copy(estimator)
    model.coef_, model.intercept_ = estimator.last_coef_, estimator.last_intercept_
    return model


def published(estimator: Any) -> str:
    """What a learner publishes of its run, in a word; nothing if that is the run itself."""
    if not hasattr(estimator, "last_coef_"):
        return ""
    return "pocket" if hasattr(estimator, "pocket_error_") else "mean"


def nameless(estimator: Any, X: Any) -> Any:
    """The model, or a copy that expects no column names where X is a bare array."""
    if not hasattr(estimator, "feature_names_in_") or hasattr(X, "columns"):
        return estimator
    model = copy.copy(estimator)
    del model.feature_names_in_
    return model
