"""Curvatures turned around: what a step is that leads to the bottom of a quadratic."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack

from . import curvature_factors_loops

Array = NDArray[np.float64]
SMALL = 40  # up to which the call of LAPACK takes most of its time
RIDGES = (1e-12, 1e-9, 1e-6, 1e-3)  # on a diagonal of ones, the first that will do


class Factor(NamedTuple):
    """A function v -> H^-1 v, v (m,) or (m, t), with ``H = S L L' S``."""

    lower: Array  # L (m, m), stored by columns
    scale: Array  # the diagonal of S (m,)

    def __call__(self, v: Array) -> Array:
        """Return H^-1 v, silent about numbers that are too large."""
        scale = self.scale if v.ndim == 1 else self.scale[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = v / scale
            solved = lapack.dpotrs(self.lower, scaled, lower=True)[0] if v.size else scaled
            return np.asarray(solved / scale)


@np.errstate(over="ignore", invalid="ignore")
def factored(H: Array) -> Factor:
    """The factor of H (m, m), at least positive semidefinite."""
    # Where it would be larger than any number, the answer is not finite, and no step is made of it.
    # The scores do not change along some directions (all biases of a softmax together, columns
    # that repeat another): a little more on the diagonal, and nothing happens along them.
    scale = np.sqrt(np.maximum(H.diagonal(), 1e-300))
    for ridge in RIDGES:
        if (lower := _lower(H, scale, ridge)) is not None:
            return Factor(lower, scale)
    return Factor(np.eye(len(H), order="F"), scale)


def _lower(H: Array, scale: Array, ridge: float) -> Array | None:
    """The L of ``H = S L L' S``, with the ridge on the diagonal of L L'; None if there is none."""
    if len(H) <= SMALL:
        H, lower = np.ascontiguousarray(H), np.empty(H.shape, order="F")
        return lower if curvature_factors_loops.factor(H, ridge, scale, lower) else None
    scaled = H / (scale[:, np.newaxis] * scale)
    scaled.flat[:: len(H) + 1] = 1.0 + ridge
    lower, failed = lapack.dpotrf(scaled, lower=True)
    return None if failed or not np.isfinite(lower.trace()) else lower


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
