"""Losses of gradient boosting by their formulas: of each row, g and h, the best constant."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logit

Floats = NDArray[np.float64]
LEAST_SHARE = 10 * np.finfo(np.float64).eps  # of a class without weight, as in scikit-learn
QUANTILES = {"absolute_error": 0.5}


def is_quantile(model: Any) -> float | None:
    """The share that leaves are quantiles of; None where they are Newton steps."""
    share: float | None = QUANTILES.get(model.loss)
    return model.quantile if model.loss == "quantile" else share


def losses(model: Any, y: Floats, raw: Floats) -> Floats:
    """The loss (n,) of each row at raw predictions (K, n); of classes, y are their numbers."""
    if model.loss == "log_loss":
        if len(raw) > 1:
            return np.asarray(-log_softmax(raw, axis=0)[y.astype(int), np.arange(len(y))])
        F = raw[0]
        return np.asarray(np.maximum(F, 0.0) + np.log1p(np.exp(-np.abs(F))) - y * F)
    F, share = raw[0], is_quantile(model)
    if share is not None:
        scale = 2.0 if model.loss == "absolute_error" else 1.0
        return np.asarray(scale * np.where(y < F, (1 - share) * (F - y), share * (y - F)))
    if model.loss == "poisson":
        return np.asarray(np.exp(F) - y * F)
    if model.loss == "gamma":
        return np.asarray(F + y * np.exp(-F))
    return np.asarray((F - y) ** 2 / 2)


def derivatives(model: Any, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
    """g and h (K, n) at raw predictions (K, n), for losses that have a second derivative."""
    if model.loss == "log_loss":
        p = expit(raw) if len(raw) == 1 else np.exp(log_softmax(raw, axis=0))
        truth = y[np.newaxis] if len(raw) == 1 else y == np.arange(len(raw))[:, np.newaxis]
        return p - truth, p * (1 - p)
    if model.loss == "poisson":
        return np.exp(raw) - y, np.exp(raw)
    if model.loss == "gamma":
        return 1 - y * np.exp(-raw), y * np.exp(-raw)
    return raw - y, np.ones_like(raw)


def best_constant(model: Any, y: Floats, weight: Floats, n_outputs: int) -> Floats | None:
    """The raw predictions (K,) of least loss that are the same for all rows; None of quantiles."""
    if is_quantile(model) is not None:
        return None
    if n_outputs > 1:
        share = np.bincount(y.astype(int), weight, n_outputs) / weight.sum()
        logs = np.log(np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE))
        return np.asarray(logs - logs.mean())
    mean = np.average(y, weights=weight)
    if model.loss == "log_loss":
        return np.array([logit(mean)])
    return np.array([np.log(mean) if model.loss in ("poisson", "gamma") else mean])
