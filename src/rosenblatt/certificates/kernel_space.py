"""Rows as a kernel knows them: their products in a feature space, and how far these may be off."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .claims import Claim
from .comparing import ClassData
from .kernel_values import KernelOf
from .table import UNIT, Floats


@dataclass(frozen=True, eq=False)
class Space:
    """Rows given, n, and of the fit, m, by their kernel: of all with all, given ones first."""

    K: Floats  # as scalar products: without what is negative in it
    published: Floats  # (n, m), what the model's scores are sums of
    same: bool  # whether both are the same rows, and here once
    off: float  # by how much a value may be off
    least: float | None = None  # eigenvalue, where no theorem says that there is a feature space
    cut: bool = False  # whether something was negative

    @property
    def n(self) -> int:
        """How many rows were given."""
        return len(self.published)

    def both(self, given: Floats, fitted: Floats) -> Floats:
        """What rows count in a sum over them: given (n, k) and fitted (m, k) ones."""
        return given + fitted if self.same else np.vstack([given, fitted])

    def squares(self, counts: Floats) -> tuple[float, float]:
        """The squared lengths of sums with counts (n + m, k), added up, and their rounding."""
        sizes = np.abs(counts)
        square = float(np.sum(counts * (self.K @ counts)))
        rounding = 2 * (len(self.K) + 4) * UNIT * float(np.sum(sizes * (np.abs(self.K) @ sizes)))
        return square, rounding + self.off * float(np.sum(sizes.sum(axis=0) ** 2))


def space_of(model: Any, kernel: KernelOf, data: ClassData, kept: NDArray[np.intp]) -> Space:
    """The kernel of the rows given that have a weight, and of those of the fit."""
    places: NDArray[np.intp] | None
    if kernel.name == "precomputed":
        K, off, places = np.asarray(data.given, np.float64), 0.0, kept
        if K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-6, atol=1e-9):
            raise ValueError(
                "A precomputed kernel is certified by the matrix of the training rows with "
                f"themselves; got {K.shape}, or values that are not symmetric."
            )
    else:
        fitted = _wide(model.X_fit_)
        places = _places(data.X, fitted)
        table = fitted if places is not None else _stacked(data.X, fitted)
        K, off = kernel(table, table), kernel.allowance(table, table)
    n, whole = len(kept), K
    least, cut, unsure = None, False, 0.0
    if not kernel.semidefinite_by_theorem:
        K, least, unsure = _without_negative(K, off)
        cut = K is not whole
    if places is None:
        if cut:
            raise ValueError(
                f"Kernel {kernel.name} has no feature space: what is negative in it was left out "
                "among the rows of the fit, so only those can be certified."
            )
        return Space(K, K[:n, n:], False, off + unsure, least)
    published, same = whole[places], np.array_equal(places, np.arange(len(K)))
    if not same:
        rows = np.concatenate([places, np.arange(len(K))])
        K = K[np.ix_(rows, rows)]
    return Space(K, published, same, off + unsure, least, cut)


def _without_negative(K: Floats, off: float) -> tuple[Floats, float, float]:
    """K, or its part with eigenvalues above zero; the least of them, and the rounding of the part.

    K itself if what is negative may be rounding.
    """
    values, vectors = scipy.linalg.eigh((K + K.T) / 2)
    unsure = 4 * len(K) * UNIT * float(np.abs(values).max(initial=0.0))
    if values[0] >= -(unsure + len(K) * off):
        return K, float(values[0]), 0.0
    kept = values > 0
    part = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
    return np.asarray(part), float(values[0]), unsure


def feature_space(space: Space, least: float) -> Claim:
    """Whether the kernel is one of scalar products."""
    words = "there is none; what is negative is left out" if space.cut else "there may be one"
    statement = f"{words}: the least eigenvalue of the kernel matrix is {least:.3g}"
    return Claim("feature space", statement, least, None, True, "checked")


def _wide(rows: Any) -> Any:
    """Rows in 64 bits, in the storage they came in."""
    return sp.csr_matrix(rows, dtype=np.float64) if sp.issparse(rows) else np.asarray(rows, float)


def _places(X: Any, fitted: Any) -> NDArray[np.intp] | None:
    """Where the rows given stand among those of the fit; None if one of them is not there."""
    if X.shape == fitted.shape and not abs(X - fitted).max():
        return np.arange(X.shape[0])
    known = {row: i for i, row in enumerate(_rows_as_bytes(fitted))}
    places = [known.get(row, -1) for row in _rows_as_bytes(X)]
    return None if -1 in places else np.array(places, np.intp)


def _rows_as_bytes(X: Any) -> list[bytes]:
    """Each row as a key; 0 and -0 are the same."""
    rows = (X[[i]].toarray() if sp.issparse(X) else X[i] for i in range(X.shape[0]))
    return [(row + 0.0).tobytes() for row in rows]


def _stacked(X: Any, fitted: Any) -> Any:
    """One table of both."""
    if sp.issparse(X) or sp.issparse(fitted):
        return sp.csr_matrix(sp.vstack([sp.csr_matrix(X), sp.csr_matrix(fitted)]))
    return np.vstack([X, fitted])
