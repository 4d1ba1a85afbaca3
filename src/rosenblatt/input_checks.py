"""scikit-learn's check of a table, which lets some data frames through as what no loop reads."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data as _validate_data

__all__ = ["validate_data"]


def validate_data(model: Any, X: Any, *y: Any, **options: Any) -> Any:
    """The same, with X in the byte order of this machine, and decimal numbers as floats.

    >>> import pandas as pd
    >>> from rosenblatt import Perceptron
    >>> frame = pd.DataFrame({"a": np.array([1.0, 2.0], ">f8")})
    >>> validate_data(Perceptron(), frame).dtype
    dtype('float64')
    """
    try:
        checked = _validate_data(model, X, *y, **options)
    except TypeError as error:
        for name, dtype in zip(getattr(X, "columns", ()), getattr(X, "dtypes", ()), strict=False):
            if str(dtype).startswith(("datetime", "timedelta")):
                raise TypeError(
                    f"Column {name!r} holds dates or times ({dtype}): write them as numbers, such "
                    "as days since the first."
                ) from error
        raise
    if options.get("skip_check_array"):
        return checked
    if isinstance(checked, tuple):
        return (_readable(checked[0], options), *checked[1:])
    return _readable(checked, options)


def _readable(X: Any, options: dict[str, Any]) -> Any:
    """A checked table as loops read it; objects stay where the model asks for any dtype.

    A table whose values are not checked stays as it is.
    """
    values = X.data if sp.issparse(X) else X
    if options.get("skip_check_array") or not isinstance(values, np.ndarray):
        return X
    if values.dtype.kind == "O" and options.get("dtype", "numeric") is not None:
        return X.astype(np.float64)
    return X if values.dtype.isnative else X.astype(values.dtype.newbyteorder("="))
