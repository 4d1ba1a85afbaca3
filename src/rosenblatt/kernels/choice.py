"""From what users write, ``kernel="rbf", gamma="scale"``, to a kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .functions import Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid

NAMES = ("linear", "poly", "polynomial", "rbf", "gaussian", "laplacian", "sigmoid", "precomputed")


def kernel_of(
    kernel: str | Callable[..., Any], X: Any, *, gamma: float | str, degree: int, coef0: float
) -> Kernel | Callable[..., Any]:
    """The kernel of that name, with scikit-learn's parameters; functions are taken as they are."""
    if callable(kernel):
        return kernel
    rate = gamma_of(gamma, X)
    if kernel in ("poly", "polynomial"):
        return Polynomial(degree, rate, coef0)
    if kernel in ("rbf", "gaussian"):
        return Gaussian(rate)
    if kernel == "laplacian":
        return Laplacian(rate)
    if kernel == "sigmoid":
        return Sigmoid(rate, coef0)
    return Linear()


def gamma_of(gamma: float | str, X: Any) -> float:
    """The number behind "scale", 1 / (d var(X)), and "auto", 1 / d, as scikit-learn has them."""
    if not isinstance(gamma, str):
        return float(gamma)
    d = int(X.shape[1])
    if gamma == "auto":
        return 1.0 / d
    with np.errstate(over="ignore", invalid="ignore"):  # said below
        variance = variance_of(X)
    if not np.isfinite(variance):
        raise ValueError(
            'gamma="scale" is 1 / (d X.var()), and the variance of X overflowed. Standardise X, '
            "for example with StandardScaler."
        )
    return 1.0 / (d * variance) if variance > 0 else 1.0


def variance_of(X: Any) -> float:
    """The variance of all cells of X."""
    if not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    cells, values = X.shape[0] * X.shape[1], X.data.astype(np.float64)
    mean, zeros = values.sum() / cells, cells - len(values)
    return float((((values - mean) ** 2).sum() + zeros * mean**2) / cells)
