"""Curvatures turned around: what a step is that leads to the bottom of a quadratic."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack

Array = NDArray[np.float64]
RIDGES = (1e-12, 1e-9, 1e-6, 1e-3)  # on a diagonal of ones, the first that will do


@np.errstate(over="ignore", invalid="ignore")
def factored(H: Array) -> Callable[[Array], Array]:
    """A function v -> H^-1 v, v (m,) or (m, t), for H (m, m) at least positive semidefinite."""
    # Where it would be larger than any number, the answer is not finite, and no step is made of it.
    # The scores do not change along some directions (all biases of a softmax together, columns
    # that repeat another): a little more on the diagonal, and nothing happens along them.
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    scaled = H / np.outer(scale, scale)
    for ridge in RIDGES:
        scaled.flat[:: len(H) + 1] = 1.0 + ridge
        factor, failed = lapack.dpotrf(scaled, lower=True)
        if not failed and np.isfinite(factor.trace()):
            return _scaled(partial(_solved, factor), scale)
    return _scaled(np.asarray, scale)


@np.errstate(over="ignore", invalid="ignore")
def inverted(H: Array) -> Array:
    """The inverses of matrices (K, m, m) about as `factored` has them, at once if it can be."""
    # With more on the diagonal: of a matrix that is hardly one to one, all numbers of the inverse
    # are large, and rounded accordingly.
    scale = np.sqrt(np.maximum(np.diagonal(H, axis1=1, axis2=2), 1e-300))
    outer = scale[:, :, None] * scale[:, None, :]
    scaled = H / outer
    scaled.reshape(len(H), -1)[:, :: H.shape[1] + 1] = 1.0 + RIDGES[1]
    try:
        np.linalg.cholesky(scaled)  # which says whether they are positive definite
        return np.asarray(np.linalg.inv(scaled) / outer)
    except LinAlgError:
        return np.stack([factored(one)(np.eye(len(one))) for one in H])


def _solved(factor: Array, v: Array) -> Array:
    """The x with ``L L' x = v``, for the factor L (m, m)."""
    return np.asarray(lapack.dpotrs(factor, v, lower=True)[0]) if v.size else v


def _scaled(solve: Callable[[Array], Any], scale: Array) -> Callable[[Array], Array]:
    """The function v -> solve(v / scale) / scale, silent about numbers that are too large."""

    def solution(v: Array) -> Array:
        by = scale if v.ndim == 1 else scale[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(solve(v / by) / by)

    return solution
