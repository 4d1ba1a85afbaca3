"""Ridge regression for any number of penalties from one decomposition.

In the coordinates of the eigenvectors V of ``X'X = V diag(values) V'`` the columns do not know of
each other, and each coefficient is ``products / (values + penalty)``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .least_squares import AS_GOOD_AS_ROWS, ROUNDING, solve

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A least-squares problem in the coordinates in which its columns are independent.

    Attributes
    ----------
    values : how much the rows vary along each axis, shape (k,).
    axes : the axes, orthonormal columns, shape (d, k).
    products : of axes and targets, ``axes' X' y``, shape (k, t).
    """

    values: Array
    axes: Array
    products: Array

    @staticmethod
    def of_gram(gram: Array, products: Array) -> "Spectrum":
        """From the products (d, d) of the columns and (d, t) of columns and targets."""
        values, axes = np.linalg.eigh(gram)
        return Spectrum(np.maximum(values, 0.0), axes, axes.T @ products)

    @staticmethod
    def of_rows(A: Array, B: Array) -> "Spectrum":
        """From rows A (m, d) and targets B (m, t): small values keep twice as many digits."""
        U, s, axes = np.linalg.svd(A, full_matrices=False)
        return Spectrum(s**2, axes.T, s[:, None] * (U.T @ B))

    def condition(self, penalty: float) -> float:
        """The reciprocal condition of the penalised normal equations."""
        largest = self.values.max(initial=0.0) + penalty
        if len(self.axes) > len(self.values):  # columns that the rows say nothing of
            return float(penalty / largest) if largest > 0 else 0.0
        return float((self.values.min() + penalty) / largest) if largest > 0 else 0.0

    def shrinkage(self, penalties: Array) -> Array:
        """``1 / (values + penalty)`` for penalties (A,), shape (k, A); 0 where nothing is known."""
        total = self.values[:, None] + penalties
        known = total > ROUNDING * len(self.axes) * (self.values.max(initial=0.0) + penalties)
        with np.errstate(divide="ignore"):
            return np.where(known, 1.0 / total, 0.0)

    def coefs(self, penalties: Array) -> Array:
        """The coefficients (A, d, t) for penalties (A,)."""
        parts = self.shrinkage(penalties)[:, :, None] * self.products[:, None, :]
        k, n_penalties, n_targets = parts.shape
        flat = self.axes @ parts.reshape(k, -1)
        return np.moveaxis(flat.reshape(-1, n_penalties, n_targets), 1, 0)


def ridge_coefs(gram: Array, products: Array, penalties: Array) -> tuple[Array, float]:
    """Coefficients (A, d, t) for penalties (A,), and the worst reciprocal condition met.

    Where columns differ too much in size for one decomposition, each penalty has its own, of
    columns scaled to length one.
    """
    spectrum = Spectrum.of_gram(gram, products)
    condition = spectrum.condition(float(penalties.min()))
    if condition > AS_GOOD_AS_ROWS:
        return spectrum.coefs(penalties), condition
    each = [solve(gram, products, float(penalty)) for penalty in penalties]
    return np.stack([s.coef for s in each]), min(s.condition for s in each)
