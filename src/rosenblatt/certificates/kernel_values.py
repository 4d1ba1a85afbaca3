"""Kernel values for certificates, each written out plainly, with what rounding may do to them.

Legend: U (n, d), V (m, d) rows, dense or sparse; u = 2^-53.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .claims import Claim, measured, within
from .closed_form import ClassData
from .exact_arithmetic import UNIT

Floats = NDArray[np.float64]

ROWS_PER_BLOCK = 512
NAMES = ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "precomputed")


class KernelOf:
    """The kernel that a fitted model says it used."""

    def __init__(self, model: Any) -> None:
        names = {"polynomial": "poly", "gaussian": "rbf"}
        self.function = model.kernel if callable(model.kernel) else None
        self.name = "callable" if self.function else names.get(model.kernel, model.kernel)
        self.gamma = float(getattr(model, "gamma_", None) or 0.0)
        self.degree, self.coef0 = float(model.degree), float(model.coef0)
        self.pairwise = False  # a function of two rows, and not of two tables

    @staticmethod
    def of(model: Any, X: Any) -> "KernelOf":
        """The kernel of a model that has no `gamma_`: its number follows from the rows given."""
        kernel = KernelOf(model)
        if kernel.function is None and kernel.name not in NAMES:
            raise ValueError(f"Kernel {kernel.name!r} cannot be certified; these can: {NAMES}.")
        if getattr(model, "gamma_", None) is None:
            kernel.gamma = _rate(model.gamma, X)
        kernel.pairwise = hasattr(model, "kernel_params") and not hasattr(
            kernel.function, "against"
        )
        if kernel.pairwise and kernel.function and model.kernel_params:
            kernel.function = partial(kernel.function, **model.kernel_params)
        return kernel

    @property
    def semidefinite_by_theorem(self) -> bool:
        """Whether it is a scalar product in some space, known without looking at values."""
        if self.name == "poly":
            return self.gamma >= 0 and self.coef0 >= 0 and self.degree.is_integer()
        by_rate = self.name in ("rbf", "laplacian") and self.gamma >= 0
        return self.name in ("linear", "cosine") or by_rate

    def __call__(self, U: Any, V: Any) -> Floats:
        """K (n, m), of each row of U with each row of V."""
        if self.function is not None and self.pairwise:
            return np.array([[self.function(u, v) for v in V] for u in U], np.float64)
        if self.function is not None:
            K = self.function(U, V)
            return np.asarray(K.toarray() if sp.issparse(K) else K, np.float64)
        if self.name == "laplacian":
            return np.asarray(np.exp(-self.gamma * cdist(_dense(U), _dense(V), "cityblock")))
        if self.name == "rbf" and not sp.issparse(U):
            return np.asarray(np.exp(-self.gamma * cdist(U, V, "sqeuclidean")))
        if self.name == "cosine":
            U, V = _of_length_one(U), _of_length_one(V)
        products = U @ V.T
        products = np.asarray(products.toarray() if sp.issparse(products) else products)
        if self.name == "rbf":
            distances = _squares(U)[:, np.newaxis] + _squares(V) - 2 * products
            return np.asarray(np.exp(-self.gamma * np.maximum(distances, 0)))
        return self._of(products)

    def diagonal(self, U: Any) -> Floats:
        """K(u, u) for each row of U."""
        if self.name in ("rbf", "laplacian"):
            return np.ones(U.shape[0])
        if self.name == "cosine":
            return _squares(_of_length_one(U))
        if self.function is None:
            return self._of(_squares(U))
        return np.array([self(U[[i]], U[[i]])[0, 0] for i in range(U.shape[0])])

    def _of(self, products: Floats) -> Floats:
        """The kernel from scalar products."""
        if self.name in ("linear", "cosine"):
            return products
        shifted = self.gamma * products + self.coef0
        return np.asarray(np.tanh(shifted) if self.name == "sigmoid" else shifted**self.degree)

    def allowance(self, U: Any, V: Any) -> float:
        """By how much a value may be off: the terms of its sum are at most |u| |v| in all."""
        rounding = (int(U.shape[1]) + 8) * UNIT
        square = max(float(_squares(rows).max(initial=0.0)) for rows in (U, V))
        base = abs(self.gamma) * square + abs(self.coef0)
        if self.name == "linear":
            return 0.0 if self._whole(U, V) and square < 2.0**52 else rounding * square
        if self.name == "poly":
            if self._whole(U, V) and base**self.degree < 2.0**52:
                return 0.0
            return max(self.degree, 1.0) * rounding * float(base**self.degree)
        if self.name == "sigmoid":
            return rounding * (base + 1)
        if self.name == "cosine":  # two lengths and a product, of which each rounds d times
            return 2 * rounding
        if self.name == "rbf" and sp.issparse(U):
            return rounding * (4 * self.gamma * square + 1)
        if self.function is None:  # from differences, and t exp(-t) < 1
            return rounding
        return 8 * rounding * max(1.0, square)  # not known: as of something like a scalar product

    def doubts(self, K: Floats, off: float, sparse: bool) -> Floats:
        """By how much each value of K (n, m) may be off, where none is by more than `off`."""
        # From differences t is off by its own size, and so exp(-t) by its own size times 1 + t:
        # rows far from all others have scores that are tiny and sure.
        if self.name == "laplacian" or (self.name == "rbf" and not sparse):
            tiny = float(np.finfo(np.float64).tiny)
            return np.asarray(off * K * (1 - np.log(np.maximum(K, tiny))) + tiny)
        return np.full(K.shape, off)

    def _whole(self, U: Any, V: Any) -> bool:
        """Whether all that goes into a value is whole numbers."""
        numbers = np.array([self.gamma, self.coef0] if self.name == "poly" else [])
        parts = [rows.data if sp.issparse(rows) else rows for rows in (U, V)]
        return all(np.array_equal(part, np.rint(part)) for part in [numbers, *parts])


def _rate(gamma: Any, X: Any) -> float:
    """The number behind "scale", 1 / (d var(X)), and "auto" or None, 1 / d."""
    if gamma is None or gamma == "auto":
        return 1.0 / int(X.shape[1])
    if gamma != "scale":
        return float(gamma)
    mean, d = float(X.mean()), int(X.shape[1])
    variance = float(X.multiply(X).mean()) - mean**2 if sp.issparse(X) else float(X.var())
    return 1.0 / (d * variance) if variance > 0 else 1.0


def rate_claim(model: Any, X: Any) -> list[Claim]:
    """That `gamma_` is the number behind `gamma`, for the rows given; nothing without one."""
    said = getattr(model, "gamma_", None)
    if said is None:
        return []
    derived = _rate(model.gamma, X)
    off = abs(float(said) / derived - 1) if derived else abs(float(said))
    statement = f"gamma_ is {float(said):.6g}; gamma={model.gamma!r} gives {derived:.6g}"
    return [within("gamma", statement, off, 1e-6)]


def _squares(U: Any) -> Floats:
    """|u|^2 for each row (n,)."""
    if sp.issparse(U):
        return np.asarray(U.multiply(U).sum(axis=1), np.float64).ravel()
    return np.asarray((np.asarray(U, np.float64) ** 2).sum(axis=1))


def _of_length_one(U: Any) -> Any:
    """Rows divided by their lengths; those of zeros stay."""
    lengths = np.sqrt(_squares(U))
    shares = 1 / np.where(lengths > 0, lengths, 1.0)
    return sp.csr_matrix(sp.diags(shares) @ U) if sp.issparse(U) else U * shares[:, np.newaxis]


def _dense(U: Any) -> Floats:
    """Distances are taken from differences, which have no zeros to spare."""
    return np.asarray(U.toarray() if sp.issparse(U) else U, np.float64)


# Rows as a kernel knows them: their products in a feature space, and how far these may be off.


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
        fitted = wide(model.X_fit_)
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
    """K, or its part with eigenvalues above zero; the least of them, and the part's rounding."""
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
    return measured("feature space", statement, least)


def wide(rows: Any) -> Any:
    """Rows in 64 bits, in the storage they came in."""
    return sp.csr_matrix(rows, dtype=np.float64) if sp.issparse(rows) else np.asarray(rows, float)


def _places(X: Any, fitted: Any) -> NDArray[np.intp] | None:
    """Where the rows given stand among those of the fit; None if one of them is not there."""
    if X.shape == fitted.shape and not abs(X - fitted).max():
        return np.arange(X.shape[0])
    known = {row: i for i, row in enumerate(row_bytes(fitted))}
    places = [known.get(row, -1) for row in row_bytes(X)]
    return None if -1 in places else np.array(places, np.intp)


def row_bytes(X: Any) -> list[bytes]:
    """Each row as a key; 0 and -0 are the same."""
    rows = (X[[i]].toarray() if sp.issparse(X) else X[i] for i in range(X.shape[0]))
    return [(row + 0.0).tobytes() for row in rows]


def _stacked(X: Any, fitted: Any) -> Any:
    """One table of both."""
    if sp.issparse(X) or sp.issparse(fitted):
        return sp.csr_matrix(sp.vstack([sp.csr_matrix(X), sp.csr_matrix(fitted)]))
    return np.vstack([X, fitted])
