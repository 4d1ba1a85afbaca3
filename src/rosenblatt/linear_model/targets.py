"""Targets of regression: numbers, one or several for each row."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import _check_y

Array = NDArray[np.float64]


def checked_targets(model: Any, y: Any, n: int) -> Array:
    """Targets (n,) or (n, t) in doubles."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    y = _check_y(y, multi_output=True, y_numeric=True, estimator=model)
    if sp.issparse(y):
        raise TypeError("y must be dense; got a sparse matrix. Use y.toarray().")
    if y.dtype.kind not in "fiub":
        raise ValueError(
            f"y must hold numbers; got {y.dtype}, such as {y.ravel()[0]!r}. For labels use a "
            "classifier, for instance rosenblatt.LeastSquaresClassifier."
        )
    if y.ndim > 2 or len(y) != n:
        raise ValueError(f"y must have shape ({n},) or ({n}, t), as X has rows; got {y.shape}.")
    return np.asarray(y, np.float64)


def columns(y: Any) -> Array:
    """Targets (n, t) of y (n,) or (n, t)."""
    targets: Array = np.asarray(y, np.float64)
    return targets[:, None] if targets.ndim == 1 else targets
