"""Solve ``(K + s I) c = t`` for many shifts s in about the time of a few.

``K = Q B Q'``: reflections Q, a block of columns at a time, leave a band B of `WIDTH` diagonals,
and ``K + s I = Q (B + s I) Q'`` for every s. Almost all of the work is matrix products, half of the
work of an eigendecomposition; banded systems are then solved fast. The reduction is in float32, and
solutions are corrected by residuals in float64, as long as that converges.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]

WIDTH = 64
MOST_CORRECTIONS = 12
NEAR = 1e-13  # accepted residual, relative to its terms
FEW = 3  # shifts up to which separate solutions are faster


class BlockReflector(NamedTuple):
    """``I - V T V'``, which acts on the rows from `start` on."""

    start: int
    V: NDArray[Any]
    T: NDArray[Any]


class BandedMatrix:
    """A symmetric matrix K (n, n) as Q B Q'; `lower` (WIDTH + 1, n) holds the diagonals of B."""

    def __init__(self, K: NDArray[Any], dtype: Any) -> None:
        A, n = K.astype(dtype), len(K)
        self.steps: list[BlockReflector] = []
        for k in range(0, n - WIDTH, WIDTH):
            self.steps.append(_eliminate(A, k))
        self.lower = np.zeros((WIDTH + 1, n))
        for j in range(min(WIDTH + 1, n)):
            self.lower[j, : n - j] = np.diagonal(A, -j)

    def factor(self, shift: float) -> NDArray[Any]:
        """Return Cholesky's factor of ``B + s I``; raise LinAlgError if it is not positive."""
        band = self.lower.copy()
        band[0] += shift
        return np.asarray(scipy.linalg.cholesky_banded(band, lower=True, check_finite=False))

    def solve(self, t: NDArray[Any], factor: NDArray[Any]) -> NDArray[Any]:
        """Return the solution c (n, k) for targets t (n, k), with the factor for a shift."""
        c = t.astype(self.steps[0].V.dtype if self.steps else np.float64)
        for start, V, T in self.steps:
            c[start:] -= V @ (T.T @ (V.T @ c[start:]))
        found = scipy.linalg.cho_solve_banded((factor, True), c, check_finite=False)
        c = found.astype(c.dtype)
        for start, V, T in reversed(self.steps):
            c[start:] -= V @ (T @ (V.T @ c[start:]))
        return np.asarray(c, np.float64)


def _eliminate(A: NDArray[Any], k: int) -> BlockReflector:
    """Reflect columns k to k + WIDTH to zero below the band, in place."""
    stop = k + WIDTH
    (below, tau), R = scipy.linalg.qr(A[stop:, k:stop], mode="raw", check_finite=False)
    V = np.tril(below[:, : len(tau)], -1)
    np.fill_diagonal(V, 1)
    V[:, tau == 0] = 0
    # The product of the reflections is I - V T V', where T^-1 = the upper half of V'V.
    inverse = np.triu(V.T @ V, 1) + np.diag(1 / np.where(tau == 0, 1, tau)).astype(A.dtype)
    T = scipy.linalg.solve_triangular(inverse, np.eye(len(tau), dtype=A.dtype))
    A[stop:, k:stop] = 0
    A[stop : stop + len(tau), k:stop] = R[: len(tau)]
    # Both sides at once: A - V W' - W V', with W = A V T - V (T' V' A V T) / 2.
    rest = A[stop:, stop:]
    W = rest @ V @ T
    W -= V @ (T.T @ (V.T @ W)) / 2
    rest -= np.hstack([V, W]) @ np.hstack([W, V]).T
    return BlockReflector(stop, V, T)


def solve_shifted(K: Array, t: Array, shifts: list[float]) -> list[Array]:
    """Return the solutions c (n, k) of ``(K + s I) c = t`` for each shift s.

    >>> K, t = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[3.0], [3.0]])
    >>> [c.ravel().round(9).tolist() for c in solve_shifted(K, t, [0.0, 1.0, 3.0, 7.0])]
    [[1.0, 1.0], [0.75, 0.75], [0.5, 0.5], [0.3, 0.3]]
    """
    if len(shifts) <= FEW:
        return [solve_one(K, t, shift) for shift in shifts]
    band = BandedMatrix(K, np.float32 if len(K) > WIDTH else np.float64)
    found = [_corrected(K, t, shift, band) for shift in shifts]
    return [solve_one(K, t, s) if c is None else c for c, s in zip(found, shifts, strict=True)]


def _corrected(K: Array, t: Array, shift: float, band: BandedMatrix) -> Array | None:
    """Return a solution corrected until its residual is rounding; None without convergence."""
    try:
        factor = band.factor(shift)
        c, size = band.solve(t, factor), float(np.abs(t).max(initial=0.0))
        for _ in range(MOST_CORRECTIONS):
            residual = t - K @ c - shift * c
            if np.abs(residual).max(initial=0.0) <= NEAR * np.sqrt(len(residual)) * size:
                return c
            if not np.isfinite(residual).all():
                return None
            c = c + band.solve(residual, factor)
    except scipy.linalg.LinAlgError:  # no positive band: the shift is lost in rounding
        return None
    return None


def solve_one(K: Array, t: Array, shift: float) -> Array:
    """Return the solution for one shift by Cholesky's factor; raise LinAlgError if singular."""
    A = K.copy()
    A.flat[:: len(K) + 1] += shift
    factor = scipy.linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(scipy.linalg.cho_solve(factor, t, check_finite=False))
