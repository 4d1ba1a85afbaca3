"""Numbers and vectors as one writes them by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_NUMBERS = 7  # a bias and six features still fit on a line


def number(value: float | None) -> str:
    """0, 3.5, -1: integers whole, others to four digits; nothing for what is missing."""
    if value is None or np.isnan(value):
        return ""
    if float(value).is_integer() and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.4g}"


def vector(values: ArrayLike) -> str:
    """[-1,0,3.5]; a long vector keeps its first four numbers and its last."""
    words = [number(value) for value in np.ravel(values)]
    if len(words) > MOST_NUMBERS:
        words = [*words[:4], "...", words[-1]]
    return f"[{','.join(words)}]"


def score(value: Any) -> str:
    """A score, or one per class."""
    return number(float(value)) if np.ndim(value) == 0 else vector(value)


def planes(estimator: Any) -> NDArray[np.float64] | None:
    """The weights of a linear model, bias first, one row per plane; None for other models."""
    if not hasattr(estimator, "coef_"):
        return None
    coef = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    if not has_bias(estimator):
        return coef
    bias = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), len(coef))
    return np.column_stack([bias, coef])


def has_bias(estimator: Any) -> bool:
    """Whether the model learns an intercept."""
    return bool(getattr(estimator, "fit_intercept", hasattr(estimator, "intercept_")))
