"""Variances of features within classes, each of its own or shared.

Legend: K classes, d features; w weights (K, d), or (K, 1) when no value is missing.
"""

import warnings

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import callers_level

Table = NDArray[np.float64]

# The axes of (class, feature) that share a variance.
SHARED: dict[str, tuple[int, ...]] = {
    "class-feature": (),
    "feature": (0,),
    "class": (1,),
    "single": (0, 1),
}


def variances_of(
    w: Table, scatter: Table, spread: Table, shared: tuple[int, ...], ddof: float
) -> Table:
    """The variances (K, d), pooled over the axes `shared`; `spread` (d,) where nothing is known."""
    if not shared and ddof == 0 and w.all():
        return np.asarray(scatter / w)
    w = np.broadcast_to(w, scatter.shape)
    pooled, weight, n_means = (
        table.sum(axis=shared, keepdims=True) for table in (scatter, w, w > 0)
    )
    divisor = weight - ddof * n_means
    short = (divisor <= 0) & (weight > 0)
    if short.any():
        warnings.warn(
            f"{np.count_nonzero(short)} of {short.size} variances cannot be estimated with "
            f"ddof={ddof}: their rows weigh no more than that. They are taken as zero, "
            "plus smoothing. More rows, ddof=0, or a variance shared more widely would do.",
            stacklevel=callers_level(),
        )
    variances = np.where(weight > 0, pooled / np.where(divisor > 0, divisor, np.inf), spread)
    return np.broadcast_to(variances, scatter.shape)


def of_all(w: Table, mean_pairs: Table, scatter: Table) -> tuple[Table, Table]:
    """Mean and variance (d,) of all classes together; 0 and 1 for a feature nobody knows."""
    total = w.sum(axis=0)
    if not total.all():
        nothing = np.broadcast_to(total == 0, scatter.shape[1:])
        w, scatter = np.where(nothing, 1.0, w), np.where(nothing, 1.0, scatter)
        total = w.sum(axis=0)
    centre = (w * mean_pairs[0]).sum(axis=0) / total
    # The distances are exact to the last digits even if the centre is rounded, and a rounded
    # centre changes their squares by its square only.
    away = (mean_pairs[0] - centre) + mean_pairs[1]
    return centre, (scatter + w * away * away).sum(axis=0) / total
