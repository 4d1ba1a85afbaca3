"""What kernels ask of their rows and of their numbers."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from rosenblatt.base import FLOATS


def as_rows(U: Any) -> Any:
    """Rows as floating-point numbers, dense or CSR without repeated entries."""
    return canonical(check_array(U, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=0))


def canonical(X: Any) -> Any:
    """X, in which no entry is stored in several parts: their squares would not add up."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_degree(degree: Any) -> None:
    if not isinstance(degree, int | np.integer) or degree < 0:
        raise ValueError(f"degree must be a whole number >= 0; got {degree!r}.")


def check_gamma(gamma: Any) -> None:
    if not isinstance(gamma, int | float | np.number) or not 0 <= gamma < math.inf:
        raise ValueError(f"gamma must be a finite number >= 0; got {gamma!r}.")


def check_coef0(coef0: Any) -> None:
    if not isinstance(coef0, int | float | np.number) or not math.isfinite(coef0):
        raise ValueError(f"coef0 must be a finite number; got {coef0!r}.")
