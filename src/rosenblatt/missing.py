"""What counts as no value at all."""

from typing import Any


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
