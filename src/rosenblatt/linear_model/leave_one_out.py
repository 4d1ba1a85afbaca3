"""Errors of ridge regression on rows that are left out one by one, without a fit for each.

For a fit that is linear in its targets, ``fitted = H y``, the error on a row that is left out is
its error in the fit of all rows, divided by one less its leverage ``H_ii``.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rosenblatt.runtime.threads import one_blas_thread

from .centred_rows import Centred
from .least_squares import AS_GOOD_AS_ROWS, has_dual
from .ridge_decomposition import Decomposition, Spectrum

Array = NDArray[np.float64]

LEAST = 2.0**-52  # a row of leverage one has no error that could be known

# Some rows, and the errors (b, A, t) on them for each penalty, times the roots of their weights.
Errors = Iterator[tuple[slice, Array]]


class LeaveOneOut:
    """A decomposition of the rows that gives the error on each, left out, for any penalty."""

    def __init__(self, found: Decomposition) -> None:
        assert found.rows is not None
        self.rows: Centred = found.rows
        self.center = found.center
        self.spectrum: Spectrum | None = None
        with one_blas_thread():
            if found.products is not None:
                self.spectrum = self._along_columns(found)
            elif has_dual(self.rows):
                self.values, self.turned = self._along_rows()
            else:
                raise ValueError(
                    "Leaving out one row at a time needs a table of products of all pairs of rows "
                    f"or columns, too large for shape {self.rows.shape}; give cv, such as cv=5."
                )

    def _along_columns(self, found: Decomposition) -> Spectrum:
        assert found.products is not None
        spectrum = Spectrum.of_gram(*found.products)
        if spectrum.condition(0.0) > AS_GOOD_AS_ROWS:
            return spectrum
        return Spectrum.of_rows(*self.rows.condensed())

    def _along_rows(self) -> tuple[Array, Array]:
        """Eigenvalues (k,) and eigenvectors (n, k) of the products of rows."""
        # The direction of the intercept, in which centred rows do not vary, is turned into the
        # first coordinate, by a reflection, and left out.
        products = self.rows.dual()
        if not self.center:
            values, turned = np.linalg.eigh(products)
            return np.maximum(values, 0.0), turned
        mirror = np.ones(len(products)) if self.rows.roots is None else self.rows.roots.copy()
        mirror[0] += np.linalg.norm(mirror)
        mirror /= np.linalg.norm(mirror)
        products -= 2 * np.outer(mirror, mirror @ products)
        products -= 2 * np.outer(products @ mirror, mirror)
        values, inside = np.linalg.eigh(products[1:, 1:])
        turned = np.vstack([np.zeros(len(values)), inside])
        turned -= 2 * np.outer(mirror, mirror[1:] @ inside)
        return np.maximum(values, 0.0), turned

    def errors(self, penalties: Array) -> Errors:
        """The errors for penalties (A,), some rows at a time."""
        targets = self.rows.targets
        if self.spectrum is None:
            yield self._errors_of_few(penalties, targets)
            return
        shrinkage = self.spectrum.shrinkage(penalties)
        parts = shrinkage[:, :, None] * self.spectrum.products[:, None, :]
        flat = parts.reshape(len(shrinkage), -1)
        shares = np.full(self.rows.shape[0], 1 / self.rows.weight)
        if self.rows.roots is not None:
            shares *= self.rows.roots**2
        with one_blas_thread():
            for here, rows in self.rows.blocks(4 * flat.shape[1]):
                turned = rows @ self.spectrum.axes
                fitted = (turned @ flat).reshape(len(rows), len(penalties), -1)
                leverage = np.square(turned, out=turned) @ shrinkage
                if self.center:
                    leverage += shares[here, None]
                left = np.subtract(targets[here, None, :], fitted, out=fitted)
                left /= np.maximum(1 - leverage, LEAST)[:, :, None]
                yield here, left

    def _errors_of_few(self, penalties: Array, targets: Array) -> tuple[slice, Array]:
        """By the inverse of ``K + penalty``: one less leverage would be a difference of equals."""
        shrinkage = 1 / (self.values[:, None] + penalties)
        parts = shrinkage[:, :, None] * (self.turned.T @ targets)[:, None, :]
        dual = self.turned @ parts.reshape(len(shrinkage), -1)
        dual = dual.reshape(len(targets), len(penalties), -1)
        diagonal = self.turned**2 @ shrinkage
        return slice(None), dual / diagonal[:, :, None]
