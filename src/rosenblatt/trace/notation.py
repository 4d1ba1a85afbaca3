"""Numbers and vectors as one writes them by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_NUMBERS = 7  # a bias and six features still fit on a line
ROUNDINGS = 256  # what is smaller than so many roundings of the largest number is printed as 0


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


def rounding(estimator: Any) -> float:
    """The part of a model's largest number below which others are what its sums left over.

    0.1 added three times and taken away again leaves 2.8e-17; by hand it leaves 0.
    """
    weights = getattr(estimator, "coef_", getattr(estimator, "dual_coef_", None))
    kind = getattr(weights, "dtype", np.dtype(np.float64))
    return ROUNDINGS * float(np.finfo(kind if kind.kind == "f" else np.float64).eps)


def tidied(values: ArrayLike, part: float, beside: ArrayLike = 0.0) -> NDArray[np.float64]:
    """Numbers, with 0 for those below a part of the largest of them, or of numbers beside them."""
    numbers = np.asarray(values, dtype=np.float64)
    sizes = np.abs(np.concatenate([numbers.ravel(), np.ravel(beside)]))
    largest = sizes[np.isfinite(sizes)].max(initial=0.0)
    return np.where(np.abs(numbers) < part * largest, 0.0, numbers)


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
