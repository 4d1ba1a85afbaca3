"""Separation as a problem of one matrix A: find a v with ``A v > 0``.

Two classes have the rows ``sign (x, c)``. K classes with one score each have the rows
``(e_y - e_k) (x) (x, c)``, one for each class k other than the row's own (Kesler).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .inputs import Floats, Table


def homogeneous_rows(X: Table, code: NDArray[Any], constant: float, n_scores: int = 1) -> Table:
    """Return the rows of two classes with one score, or of K classes with K scores.

    ``constant=0`` adds no column.
    """
    if constant:
        column = np.full((X.shape[0], 1), constant)
        X = sp.hstack([X, column], format="csr") if sp.issparse(X) else np.hstack([X, column])
    if n_scores == 1:
        sign = 2.0 * code[:, None] - 1.0
        return X.multiply(sign).tocsr() if sp.issparse(X) else X * sign + 0.0
    i, k = np.nonzero(np.arange(n_scores) != code[:, None])
    which = np.eye(n_scores)[code[i]] - np.eye(n_scores)[k]
    X = sp.csr_array(X)[i]
    return sp.hstack([X.multiply(column[:, None]) for column in which.T], format="csr")


def needed_columns(A: Table, n_scores: int) -> Table:
    """Return the columns without the last class, whose columns follow from the others."""
    return A if n_scores == 1 else A[:, : A.shape[1] - A.shape[1] // n_scores]


def dense(rows: Table) -> Floats:
    """Return rows as an array."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)


def standardize(X: Table, shift: bool) -> tuple[Table, Floats, Floats]:
    """Return Z, center (d,) and unit (d,) with ``x = center + unit z``; no z is much above one."""
    # Units are powers of two. A column is shifted only when its values lie within a factor of two
    # of each other, where floating-point subtraction is exact (Sterbenz). X is left as it is if a
    # column spans so many decimal places that scaling would lose its smallest values.
    center, Z = np.zeros(X.shape[1]), X
    if shift and not sp.issparse(X):
        low, high = X.min(axis=0), X.max(axis=0)
        far = ((low > 0) & (high <= 2 * low)) | ((high < 0) & (low >= 2 * high))
        center[far] = (low + (high - low) / 2)[far]
        Z = X - center
    exponent = np.frexp(dense(abs(Z).max(axis=0)).ravel())[1]
    unit = np.ldexp(1.0, exponent)
    if sp.issparse(X):
        Z = Z.copy()
        before, Z.data = Z.data, np.ldexp(Z.data, -exponent[Z.indices])
        after = Z.data
    else:
        before, Z = Z, np.ldexp(Z, -exponent)
        after = Z
    if np.all((before == 0.0) | (abs(after) > 1e-290)):
        return Z, center, unit
    return X, np.zeros(X.shape[1]), np.ones(X.shape[1])
