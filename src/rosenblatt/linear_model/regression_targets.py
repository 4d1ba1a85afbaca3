"""What regressions check: targets, one or several for each row, and penalties."""

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_scalar
from sklearn.utils.validation import _check_y

Array = NDArray[np.float64]


def checked_targets(model: Any, y: Any, n: int) -> Array:
    """Targets (n,) or (n, t) in doubles."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    refuse_words(y)
    y = _check_y(y, multi_output=True, y_numeric=True, estimator=model)
    if sp.issparse(y):
        raise TypeError("y must be dense; got a sparse matrix. Use y.toarray().")
    if y.ndim > 2 or len(y) != n:
        raise ValueError(f"y must have shape ({n},) or ({n}, t), as X has rows; got {y.shape}.")
    return np.asarray(y, np.float64)


def refuse_words(y: Any) -> None:
    """Raise if targets are no numbers, and say that it is they: a failed conversion does not."""
    if y is None or sp.issparse(y):
        return
    values = np.asarray(y)
    kind, place = values.dtype.kind, 0
    if kind == "O":
        wrong = (i for i, value in enumerate(values.ravel()) if not _may_be_number(value))
        place = next(wrong, -1)
    elif kind in "fiubc":  # of complex ones scikit-learn has its own word
        return
    if values.size and place >= 0:
        raise ValueError(
            f"y must hold numbers; got {values.dtype}, such as {values.ravel().tolist()[place]!r}. "
            "For labels use a classifier, for instance rosenblatt.LogisticRegression."
        )


def _may_be_number(value: Any) -> bool:
    """Whether a value is no word, or one that reads as a number."""
    if not isinstance(value, str | bytes):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True


def columns(y: Any) -> Array:
    """Targets (n, t) of y (n,) or (n, t)."""
    targets: Array = np.asarray(y, np.float64)
    return targets[:, None] if targets.ndim == 1 else targets


def checked_penalties(alphas: Any, *, zero: bool = False) -> Array:
    """Penalties (A,) as doubles, in the order given; `zero` is one if allowed."""
    given = alphas if np.ndim(alphas) else [alphas]
    if np.ndim(given) > 1 or not len(given):
        raise ValueError(
            f"alphas must be at least one penalty, (A,); got shape {np.shape(alphas)}."
        )
    for k, alpha in enumerate(given):
        check_scalar(
            alpha,
            f"alphas[{k}]",
            Real,
            min_val=0.0,
            include_boundaries="left" if zero else "neither",
        )
        if not np.isfinite(alpha):
            raise ValueError(f"alphas[{k}] == {alpha}, must be finite.")
    return np.asarray(given, np.float64)
