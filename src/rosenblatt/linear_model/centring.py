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
    """What to subtract (d,) of dense columns that are far from zero; None if none is.

    It is one of a column's own values, so that near it the differences are exact.
    """
    if sp.issparse(X) or not fit_intercept:
        return None
    n_rows = min(ENOUGH_ROWS, max(ENOUGH_CELLS // X.shape[1], 10))
    some = X[:: max(1, X.shape[0] // n_rows)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = some.mean(axis=0, dtype=np.float64)
        far = np.flatnonzero(np.abs(mean) > FAR * some.std(axis=0, dtype=np.float64))
        far = far[np.ptp(some[:, far], axis=0) > 0]  # a constant has nothing to be centred for
    if not len(far):
        return None
    nearest = np.abs(some[:, far] - mean[far]).argmin(axis=0)
    shift = np.zeros(X.shape[1])
    shift[far] = some[nearest, far]
    return shift


def moved(table: Array, shift: Array | None, side: int) -> Array:
    """Weights and biases (d + 1, ...) of columns less their offsets (side 1), or as they were (-1).

    The scores stay the same: ``w.x + b = w.(x - shift) + (b + w.shift)``.
    """
    if shift is None:
        return table
    table = table.copy()
    table[-1] += side * (shift @ table[:-1])
    return table
