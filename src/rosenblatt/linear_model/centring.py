"""Columns far from zero: a fit with a bias may move them, and says so to nobody.

Where a mean is many deviations from zero, as in years or time stamps, the curvature of weight and
bias together loses all digits. A bias that is not penalised makes up for any move of the columns.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]

FAR = 1e3  # deviations from zero
ENOUGH_ROWS = 1000  # to see where a column is
ENOUGH_CELLS = 500_000


def offsets(X: Any, fit_intercept: bool) -> Array | None:
    """What to subtract (d,) of columns that are far from zero; None if none is.

    It is one of a column's own values, so that near it the differences are exact. Of a sparse table
    only columns without an empty place are moved, which leaves it as sparse as it was.
    """
    if not fit_intercept:
        return None
    n_rows = min(ENOUGH_ROWS, max(ENOUGH_CELLS // X.shape[1], 10))
    some = X[:: max(1, X.shape[0] // n_rows)]
    columns = _full(some) if sp.issparse(X) else np.arange(X.shape[1])
    if sp.issparse(X):
        some = some[:, columns].toarray()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = some.mean(axis=0, dtype=np.float64)
        far = np.flatnonzero(np.abs(mean) > FAR * some.std(axis=0, dtype=np.float64))
        far = far[np.ptp(some[:, far], axis=0) > 0]  # a constant has nothing to be centred for
    if len(far) and sp.issparse(X):
        far = far[np.isin(columns[far], _full(X))]
    if not len(far):
        return None
    nearest = np.abs(some[:, far] - mean[far]).argmin(axis=0)
    shift = np.zeros(X.shape[1])
    shift[columns[far]] = some[nearest, far]
    return shift


def less(X: Any, shift: Array | None) -> Any:
    """The table with its columns less their offsets, in the numbers and the storage it has."""
    if shift is None:
        return X
    shift = shift.astype(X.dtype)
    if not sp.issparse(X):
        return X - shift
    X = X.copy()
    X.data -= shift[X.indices]
    return X


def moved(table: Array, shift: Array | None, side: int) -> Array:
    """Weights and biases (d + 1, ...) of columns less their offsets (side 1), or as they were (-1).

    The scores stay the same: ``w.x + b = w.(x - shift) + (b + w.shift)``.
    """
    if shift is None:
        return table
    table = table.copy()
    table[-1] += side * (shift @ table[:-1])
    return table


def slopes_as_given(gradient: Array, shift: Array | None) -> Array:
    """The gradient (d + 1, ...) in weights of columns as they were, from that of columns moved.

    A weight of ``x - shift`` moves the scores by that of x, less shift times what the bias does.
    """
    if shift is None:
        return gradient
    gradient = gradient.copy()
    gradient[:-1] += np.multiply.outer(shift, gradient[-1])
    return gradient


def _full(X: Any) -> NDArray[np.intp]:
    """The columns of a CSR table that have a number in each row; none if it has some twice."""
    full = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])
    return full if not len(full) or X.has_canonical_format else full[:0]
