"""The supports of a kernel machine, found among the rows given, and whether its kernel is one."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .claims import Claim, measured, within
from .kernel_values import KernelOf, row_bytes
from .rounded_matrix import UNIT, Floats

BLOCK = 1 << 22
MOST_ROWS_OF_EIGENVALUES = 3_000
FAR = 100.0  # times their squared distance from the mean, that of rows far from zero


class Supports:
    """The support vectors of a model, found among the rows given, and their kernel with these."""

    def __init__(self, model: Any, X: Any, kernel: KernelOf, weight: Floats) -> None:
        self.X, self.kernel = X, kernel
        self.places = np.asarray(model.support_, np.intp)
        self.coef = (
            model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
        )
        self.single = self.coef.dtype == np.float32
        self.coef = np.asarray(self.coef, np.float64)
        self.intercept = np.asarray(model.intercept_, np.float64)
        self.matrix = kernel.name in ("precomputed", "callable")
        if len(self.places) and self.places.max() >= X.shape[0]:
            raise ValueError("support_ names rows that were not given. Pass the rows of the fit.")
        if not (np.isfinite(self.coef).all() and np.isfinite(self.intercept).all()):
            raise ValueError("dual_coef_ and intercept_ must be finite to be certified.")
        self._find_rows(model, np.flatnonzero(weight > 0))
        self.centre = _far_centre(X) if kernel.name == "linear" and not sp.issparse(X) else None
        self.Z = X if self.centre is None else X - self.centre
        self.off = 0.0 if kernel.name == "precomputed" else kernel.allowance(self.Z, self.Z)
        # Equal rows; a matrix does not show them for certain.
        self.keys = np.arange(X.shape[0]) if self.matrix else _numbered(row_bytes(X))

    def _find_rows(self, model: Any, counted: NDArray[np.intp]) -> None:
        """The vectors must be rows given: predictions read them.

        LIBSVM drops rows without a weight, and scikit-learn publishes the places among the others.
        """
        vectors = model.support_vectors_
        if self.matrix or not len(self.places):
            return
        if self.X.shape[1] != vectors.shape[1]:
            raise ValueError(
                f"X has {self.X.shape[1]} columns, and the model was fitted to {vectors.shape[1]}. "
                "Pass the rows of the fit."
            )
        near = 1e-6 if vectors.dtype == np.float32 else 0.0
        near *= max(abs(self.X).max(), 1e-300)
        ways = [self.places]
        if self.places.max() < len(counted) < self.X.shape[0]:
            ways.append(counted[self.places])
        for places in ways:
            if abs(self.X[places] - vectors).max() <= near:
                self.places = places
                return
        raise ValueError("support_vectors_ are not the rows of support_. Pass the rows of the fit.")

    def blocks(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> Iterator[tuple[slice, Floats]]:
        """The kernel of some rows with others, some at a time; of far rows, about their centre."""
        at_once = max(1, BLOCK // max(len(columns), 1))
        for i in range(0, len(rows), at_once):
            some = rows[i : i + at_once]
            if self.kernel.name == "precomputed":
                yield slice(i, i + at_once), np.asarray(self.X[np.ix_(some, columns)], np.float64)
            else:
                yield slice(i, i + at_once), self.kernel(self.Z[some], self.Z[columns])

    def sums(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], b: Floats
    ) -> tuple[Floats, Floats]:
        """``sum_j b_j K(x_i, x_j)`` for some rows, and their rounding."""
        f, sizes, rounding = self.terms(rows, columns, b[:, np.newaxis])
        blur = (len(b) + 4) * UNIT * sizes + self.off * float(np.abs(b).sum())
        return f[:, 0], blur[:, 0] + rounding

    def terms(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], b: Floats
    ) -> tuple[Floats, Floats, float]:
        """Sums (n, k) with coefficients b (s, k), of their terms' sizes, and rounding besides."""
        f, sizes = np.zeros((len(rows), b.shape[1])), np.zeros((len(rows), b.shape[1]))
        for some, K in self.blocks(rows, columns):
            f[some], sizes[some] = K @ b, np.abs(K) @ np.abs(b)
        if self.centre is None:
            return f, sizes, 0.0
        # With x = m + z: sum_j b_j x_j.x_i = sum_j b_j z_j.z_i + m.sum_j b_j z_j + s m.(m + z_i),
        # where s is the sum of b, which is hardly more than zero.
        m, z, total = self.centre, self.Z[columns], np.array([math.fsum(column) for column in b.T])
        f += m @ (z.T @ b) + total * ((m + self.Z[rows]) @ m)[:, np.newaxis]
        n_terms = len(b) + len(m) + 8
        largest = float(np.max(np.abs(m) @ (np.abs(z).T @ np.abs(b)), initial=0.0))
        stray = float(np.abs(total).max(initial=0.0) * (np.abs(self.X[rows]) @ np.abs(m)).max())
        return f, sizes, n_terms * UNIT * (largest + stray)


def _far_centre(X: Floats) -> Floats | None:
    """The mean of rows that are much further from zero than from it; None for others.

    Of whole numbers, whose products are exact, a whole one.
    """
    centre = X.mean(axis=0)
    centre = np.rint(centre) if np.array_equal(X, np.rint(X)) else centre
    spread, size = np.square(X - centre).sum(axis=1).max(), np.square(X).sum(axis=1).max()
    return centre if FAR * spread < size else None


def _numbered(keys: list[bytes]) -> NDArray[np.intp]:
    """Equal keys get equal numbers."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.intp)


def scalar_products(kernel: KernelOf, supports: Supports) -> list[Claim]:
    """Claim that the kernel is positive semidefinite, as a gap needs, if no theorem proves it."""
    n = supports.X.shape[0]
    if kernel.semidefinite_by_theorem:
        return []
    if n > MOST_ROWS_OF_EIGENVALUES:
        return [Claim("scalar products", "too many rows to look at all eigenvalues", n,
                      MOST_ROWS_OF_EIGENVALUES, False, "checked")]  # fmt: skip
    everything = np.arange(n)
    K = np.vstack([part for _, part in supports.blocks(everything, everything)])
    least = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    allowed = n * supports.off + 8 * n * UNIT * float(np.abs(K).sum(axis=1).max(initial=0.0))
    statement = f"the least eigenvalue of the kernel matrix is {least:.3g}"
    if least < -allowed:
        return [measured("feature space", statement + ": there is no gap to speak of", least),
                _no_gap()]  # fmt: skip
    return [within("scalar products", statement, max(-least, 0.0), allowed)]


def _no_gap() -> Claim:
    words = "weak duality fails for this kernel: the optimality conditions are measured alone"
    return measured("gap", words, np.inf)
