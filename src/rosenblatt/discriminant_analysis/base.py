"""Discriminants: data that do not determine a model yet, and covariances."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rosenblatt.runtime.threads import MANY_UNKNOWNS, interruptible


class Undetermined(np.linalg.LinAlgError):
    """The rows do not determine the model; a stream may bring more."""


@contextmanager
def postponing(model: Any, final: bool) -> Iterator[None]:
    """Store the reason why rows do not determine a model; raise it if the rows are `final`."""
    model._lacking = None
    try:
        yield
    except Undetermined as reason:
        if final:
            raise
        model._lacking = str(reason)


def check_determined(model: Any) -> None:
    """Raise if a model is not fitted, or its rows so far do not determine it."""
    check_is_fitted(model)
    if model._lacking:
        raise NotFittedError(f"The rows so far do not make a model. {model._lacking}")


# Covariances. Legend: K classes, d features, priors (K,), means (K, d), covariances (d, d).

# With features scaled to one, variances below this times d count as zero.
ROUNDING = 1e-14
ALIKE = 1e3  # ratio of scales that costs the smallest variance three digits

Array = NDArray[np.float64]


def shrink(covariance: Array, shrinkage: Any) -> Array:
    """Return (1 - s) covariance + s mean(variances) I; s = None means 0."""
    if not shrinkage:
        return covariance
    mean = np.trace(covariance) / len(covariance)
    return np.asarray((1.0 - shrinkage) * covariance + shrinkage * mean * np.eye(len(covariance)))


def directions(covariance: Array, least: float = 0.0) -> tuple[Array, Array]:
    """Return W (d, r) with ``W.T @ covariance @ W = I``, and the deviations (r,) before."""
    # The features are scaled to deviation one first. Directions with a deviation of at most `least`
    # after it, or below rounding, are dropped.
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, 1.0)
    scaled = covariance / np.outer(scale, scale)
    variances, axes = interruptible(lambda: np.linalg.eigh(scaled), len(scaled) >= MANY_UNKNOWNS)
    variances, axes = variances[::-1], normalize_signs(axes[:, ::-1])
    floor = max(least**2, ROUNDING * len(covariance))
    kept = variances > floor
    deviations = np.sqrt(variances[kept])
    return axes[:, kept] / scale[:, None] / deviations, deviations


def principal_axes(covariance: Array) -> tuple[Array, Array]:
    """Return the variances (d,) along the principal axes (d, d) of a covariance, largest first."""
    # If the scales of the features are far apart, use a square root of the covariance with features
    # scaled to deviation one: rounding errors are then relative to the features of a direction.
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, deviation.max() or 1.0)
    if scale.max() <= ALIKE * scale.min():
        variances, axes = np.linalg.eigh(covariance)
        return variances[::-1], normalize_signs(axes[:, ::-1])
    variances, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    root = scale[:, None] * axes * np.sqrt(variances.clip(0))
    axes, deviations, _ = np.linalg.svd(root)
    return deviations**2, normalize_signs(axes)


def normalize_signs(columns: Array) -> Array:
    """Return the columns (d, r) with signs that make the largest entry of each positive."""
    largest = np.abs(columns).argmax(axis=0)
    signs = np.where(np.take_along_axis(columns, largest[None], 0)[0] < 0, -1.0, 1.0)
    return np.asarray(columns * signs)


def with_log(shares: Array) -> Array:
    """Return the logarithm of shares, minus infinity for zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def planes_about(origin: Array, priors: Array, means: Array, axes: Array) -> tuple[Array, Array]:
    """Return planes (K, d) and intercepts (K,) of densities with S^-1 = axes axes'."""
    # With z = axes'(x - origin): log P(y) - |z - z_y|^2 / 2 is log P(y) + z.z_y - |z_y|^2 / 2, less
    # |z|^2 / 2, which is the same for all classes.
    away = (means - origin) @ axes
    coef = away @ axes.T
    return coef, with_log(priors) - 0.5 * (away**2).sum(axis=1) - coef @ origin
