"""From counts to logarithms of probabilities, with smoothing from none to infinite."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import callers_level

LEAST_ALPHA = 1e-10  # what force_alpha=False puts in the place of less, as scikit-learn does

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


def log_shares(counts: NDArray[Any], alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    """log((n_v + alpha_v) / sum_v (n_v + alpha_v)) of counts (K, v): Laplace's rule.

    Infinite alphas share alone, and equally. Counts that are all zero, without smoothing, say
    nothing: their shares are equal, the limit for a vanishing alpha. The result is laid out by
    columns, as products with rows of features read it.
    """
    if np.isinf(alpha).any():
        counts, alpha = np.zeros(counts.shape), np.isinf(alpha).astype(np.float64)
    unit = unit_of(counts, alpha)
    if unit < 1:
        counts, alpha = counts * unit, alpha * unit
    smoothed = np.add(counts.T, alpha[..., np.newaxis], order="C")  # (v, K)
    totals = smoothed.sum(axis=0)
    if not totals.all():
        smoothed[:, totals == 0] = 1.0
        totals = smoothed.sum(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.log(smoothed, out=smoothed)
    logs -= np.log(totals)
    return np.asarray(logs.T)


def unit_of(*numbers: NDArray[Any]) -> float:
    """What to multiply counts and smoothing by, so that their sums are in range: mostly 1."""
    return SMALLER if any(table.max(initial=0) > LARGE for table in numbers) else 1.0
