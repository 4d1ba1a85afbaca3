"""What counts as no value at all: None, NaN, and pandas' own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_missing(value: Any) -> bool:
    """Whether a single value is None, or unlike itself as NaN is.

    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' own, which does not even say whether it equals itself
        return True
    except ValueError:  # an array, which has many answers
        return False


def which_missing(values: NDArray[Any]) -> NDArray[np.bool]:
    """Which of some values (n,) are missing.

    >>> which_missing(np.array(["a", None, float("nan")], object))
    array([False,  True,  True])
    """
    if values.dtype.kind != "O":
        return np.asarray(values != values)
    try:  # all at once: many times faster than one by one
        nothing = np.asarray(values == None, bool)  # noqa: E711
        return np.asarray(np.logical_or(nothing, values != values), bool)
    except (TypeError, ValueError):
        return np.array([is_missing(value) for value in values], bool)
