"""The supports of a kernel machine, found among the rows given, and whether its kernel is one."""

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
        self.off = 0.0 if kernel.name == "precomputed" else kernel.allowance(X, X)
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
        """The kernel of some rows with others, some rows at a time."""
        at_once = max(1, BLOCK // max(len(columns), 1))
        for i in range(0, len(rows), at_once):
            some = rows[i : i + at_once]
            if self.kernel.name == "precomputed":
                yield slice(i, i + at_once), np.asarray(self.X[np.ix_(some, columns)], np.float64)
            else:
                yield slice(i, i + at_once), self.kernel(self.X[some], self.X[columns])

    def sums(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], b: Floats
    ) -> tuple[Floats, Floats]:
        """``sum_j b_j K(x_i, x_j)`` for some rows, and their rounding."""
        f, sizes = np.zeros(len(rows)), np.zeros(len(rows))
        for some, K in self.blocks(rows, columns):
            f[some] = K @ b
            sizes[some] = np.abs(K) @ np.abs(b)
        return f, (len(b) + 4) * UNIT * sizes + self.off * float(np.abs(b).sum())


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
