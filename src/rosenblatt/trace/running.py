"""Learners with two sets of weights: those of their run, and what they publish of it."""

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
