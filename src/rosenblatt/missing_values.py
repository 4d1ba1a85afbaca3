"""Missing values: None, NaN, NaT and pandas.NA."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_missing(value: Any) -> bool:
    """Return True for None, and for values that differ from themselves, as NaN does.

    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA
        return True
    except ValueError:  # an array
        return False


def which_missing(values: NDArray[Any]) -> NDArray[np.bool]:
    """Return a mask of the missing values (n,).

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
