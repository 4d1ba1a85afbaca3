"""From counts to logarithms of probabilities, with smoothing from none to infinite."""

import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import callers_level

LEAST_ALPHA = 1e-10  # what force_alpha=False puts in the place of less, as scikit-learn does
FEATURES_PER_BLOCK = 4096

# Above this sums may leave the range of doubles. Shares do not change if all is divided alike.
LARGE = 2.0**960
SMALLER = 2.0**-60


def checked_alpha(alpha: Any, force: bool, n_features: int) -> NDArray[np.float64]:
    """The smoothing as an array, () or (d,)."""
    values = np.asarray(alpha, dtype=np.float64)
    if not isinstance(alpha, Real) and values.shape != (n_features,):
        raise ValueError(
            "When alpha is an array, it should contains `n_features`. "
            f"Got shape {values.shape} instead of ({n_features},)."
        )
    if not (values >= 0).all():
        raise ValueError(f"All values in alpha must be >= 0; got {values.min()}.")
    if not force and values.min() < LEAST_ALPHA:
        warnings.warn(
            "alpha too small will result in numeric errors, setting alpha = "
            f"{LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
            stacklevel=callers_level(),
        )
        values = np.maximum(values, LEAST_ALPHA)
    return values


def blocks(n_features: int) -> Iterator[slice]:
    """Ranges of features that are concluded together: what is made on the way stays in cache."""
    for start in range(0, n_features, FEATURES_PER_BLOCK):
        yield slice(start, min(start + FEATURES_PER_BLOCK, n_features))


def log_shares(
    counts: NDArray[Any], alpha: NDArray[np.float64], dtype: Any = np.float64
) -> NDArray[Any]:
    """log((n_v + alpha_v) / sum_v (n_v + alpha_v)) of counts (K, v): Laplace's rule.

    Infinite alphas share alone, and equally. Counts that are all zero, without smoothing, say
    nothing: their shares are equal, the limit for a vanishing alpha. The result is laid out by
    columns, as products with rows of features read it.
    """
    n_classes, n_features = counts.shape
    if np.isinf(alpha).any():
        counts, alpha = np.zeros(counts.shape), np.isinf(alpha).astype(np.float64)
    unit = unit_of(counts, alpha)
    if unit < 1:
        counts, alpha = counts * unit, alpha * unit
    alpha = np.broadcast_to(alpha, n_features)
    totals = counts.sum(axis=1, dtype=np.float64) + alpha.sum()
    unknown = totals == 0
    log_totals = np.log(np.where(unknown, n_features, totals))
    logs = np.empty((n_features, n_classes), dtype)
    for some in blocks(n_features):
        smoothed = counts[:, some] + alpha[some]
        smoothed[unknown] = 1.0
        with np.errstate(divide="ignore"):
            np.log(smoothed, out=smoothed)
        smoothed -= log_totals[:, np.newaxis]
        logs[some] = smoothed.T
    return logs.T


def unit_of(*numbers: NDArray[Any]) -> float:
    """What to multiply counts and smoothing by, so that their sums are in range: mostly 1."""
    return SMALLER if any(table.max(initial=0) > LARGE for table in numbers) else 1.0
