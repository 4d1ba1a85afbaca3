"""Kernel values for certificates, each written out plainly, with what rounding may do to them.

Legend: U (n, d), V (m, d) rows, dense or sparse; u = 2^-53.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .leads import UNIT

Floats = NDArray[np.float64]

ROWS_PER_BLOCK = 512


class KernelOf:
    """The kernel that a fitted model says it used."""

    def __init__(self, model: Any) -> None:
        names = {"polynomial": "poly", "gaussian": "rbf"}
        self.function = model.kernel if callable(model.kernel) else None
        self.name = "callable" if self.function else names.get(model.kernel, model.kernel)
        self.gamma = float(getattr(model, "gamma_", None) or 0.0)
        self.degree, self.coef0 = int(model.degree), float(model.coef0)

    @property
    def semidefinite_by_theorem(self) -> bool:
        """Whether it is a scalar product in some space, known without looking at values."""
        if self.name == "poly":
            return self.gamma >= 0 and self.coef0 >= 0
        return self.name in ("linear", "rbf", "laplacian")

    def __call__(self, U: Any, V: Any) -> Floats:
        """K (n, m), of each row of U with each row of V."""
        if self.function is not None:
            K = self.function(U, V)
            return np.asarray(K.toarray() if sp.issparse(K) else K, np.float64)
        if self.name == "laplacian":
            return np.asarray(np.exp(-self.gamma * cdist(_dense(U), _dense(V), "cityblock")))
        if self.name == "rbf" and not sp.issparse(U):
            return np.asarray(np.exp(-self.gamma * cdist(U, V, "sqeuclidean")))
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
        if self.function is None:
            return self._of(_squares(U))
        return np.array([self(U[[i]], U[[i]])[0, 0] for i in range(U.shape[0])])

    def _of(self, products: Floats) -> Floats:
        """The kernel from scalar products."""
        if self.name == "linear":
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
            return max(self.degree, 1) * rounding * base**self.degree
        if self.name == "sigmoid":
            return rounding * (base + 1)
        if self.name == "rbf" and sp.issparse(U):
            return rounding * (4 * self.gamma * square + 1)
        if self.function is None:  # from differences, and t exp(-t) < 1
            return rounding
        return 8 * rounding * max(1.0, square)  # not known: as of something like a scalar product

    def doubts(self, K: Floats, off: float, sparse: bool) -> Floats:
        """By how much each value of K (n, m) may be off, where none is by more than `off`.

        From differences t is off by its own size, and so exp(-t) by its own size times 1 + t:
        rows far from all others have scores that are tiny and sure.
        """
        if self.name == "laplacian" or (self.name == "rbf" and not sparse):
            tiny = float(np.finfo(np.float64).tiny)
            return np.asarray(off * K * (1 - np.log(np.maximum(K, tiny))) + tiny)
        return np.full(K.shape, off)

    def _whole(self, U: Any, V: Any) -> bool:
        """Whether all that goes into a value is whole numbers."""
        numbers = np.array([self.gamma, self.coef0] if self.name == "poly" else [])
        parts = [rows.data if sp.issparse(rows) else rows for rows in (U, V)]
        return all(np.array_equal(part, np.rint(part)) for part in [numbers, *parts])


def _squares(U: Any) -> Floats:
    """|u|^2 for each row (n,)."""
    if sp.issparse(U):
        return np.asarray(U.multiply(U).sum(axis=1), np.float64).ravel()
    return np.asarray((np.asarray(U, np.float64) ** 2).sum(axis=1))


def _dense(U: Any) -> Floats:
    """Distances are taken from differences, which have no zeros to spare."""
    return np.asarray(U.toarray() if sp.issparse(U) else U, np.float64)
