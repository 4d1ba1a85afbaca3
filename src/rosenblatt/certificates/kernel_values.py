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
        self.gamma = float(getattr(model, "gamma_", 1.0))
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
            return np.asarray(self.function(U, V), np.float64)
        if self.name in ("rbf", "laplacian"):
            metric = "sqeuclidean" if self.name == "rbf" else "cityblock"
            return np.asarray(np.exp(-self.gamma * cdist(_dense(U), _dense(V), metric)))
        products = U @ V.T
        products = np.asarray(products.toarray() if sp.issparse(products) else products)
        if self.name == "linear":
            return products
        shifted = self.gamma * products + self.coef0
        return np.asarray(np.tanh(shifted) if self.name == "sigmoid" else shifted**self.degree)

    def diagonal(self, U: Any) -> Floats:
        """K(u, u) for each row of U."""
        return np.array([self(U[[i]], U[[i]])[0, 0] for i in range(U.shape[0])])

    def allowance(self, U: Any, V: Any, largest: float) -> float:
        """By how much a value may be off, the largest K(x, x) being given."""
        d = int(U.shape[1])
        if self.name in ("linear", "poly") and self._exact(U, V, largest):
            return 0.0
        if self.name == "linear":
            return (d + 3) * UNIT * largest
        if self.name == "poly":  # the sizes of gamma u.v and coef0 add up to the base
            return (d + 5) * max(self.degree, 1) * UNIT * max(largest, abs(self.coef0)) * 2
        if self.name in (
            "rbf",
            "laplacian",
        ):  # distances are taken without cancellation: t e^-t < 1
            return (d + 8) * UNIT
        return (d + 8) * 4 * UNIT * max(largest, 1.0) * (1 + abs(self.coef0))

    def _exact(self, U: Any, V: Any, largest: float) -> bool:
        """Whether all values are whole numbers that a float holds exactly."""
        numbers = [self.gamma, self.coef0] if self.name == "poly" else []
        parts = [rows.data if sp.issparse(rows) else rows for rows in (U, V)]
        whole = all(np.array_equal(part, np.rint(part)) for part in [np.array(numbers), *parts])
        return whole and largest < 2.0**52


def _dense(U: Any) -> Floats:
    """Distances are taken from differences, which have no zeros to spare."""
    return np.asarray(U.toarray() if sp.issparse(U) else U, np.float64)
