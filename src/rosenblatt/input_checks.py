"""scikit-learn's checks of tables and weights, which let some through as what no loop reads."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite as _assert_all_finite
from sklearn.utils.validation import _check_sample_weight
from sklearn.utils.validation import validate_data as _validate_data

__all__ = [
    "assert_all_finite",
    "check_sample_weight",
    "refuse_equal_names",
    "refuse_times",
    "validate_data",
]

LARGEST_POWER = 256  # of two: products of three sums of such weights are in range


def assert_all_finite(X: Any, **options: Any) -> None:
    """The same, without NumPy's warning of the sum that is tried first, as of 1e308 or infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        _assert_all_finite(X, **options)


def validate_data(model: Any, X: Any, *y: Any, **options: Any) -> Any:
    """The same, with X in the byte order of this machine, and decimal numbers as floats.

    >>> import pandas as pd
    >>> from rosenblatt import Perceptron
    >>> frame = pd.DataFrame({"a": np.array([1.0, 2.0], ">f8")})
    >>> validate_data(Perceptron(), frame).dtype
    dtype('float64')
    """
    refuse_equal_names(X)
    numeric = not options.get("skip_check_array") and options.get("dtype", "numeric") is not None
    if numeric and _is_time(_first_dtype(X)):  # scikit-learn reads dates alone, and NaT, as numbers
        refuse_times(X)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # as above
            checked = _validate_data(model, X, *y, **options)
    except TypeError:
        refuse_times(X)
        raise
    if options.get("skip_check_array"):
        return checked
    if isinstance(checked, tuple):
        return (_readable(checked[0], options), *checked[1:])
    return _readable(checked, options)


def _first_dtype(X: Any) -> Any:
    """The type of an array, or of the first column of a data frame."""
    if hasattr(X, "columns"):
        return getattr(X[X.columns[0]], "dtype", None) if len(X.columns) else None
    return getattr(X, "dtype", None)


def _is_time(dtype: Any) -> bool:
    return str(dtype).lower().startswith(("date", "time", "duration"))


def refuse_times(X: Any) -> None:
    """Raise if X holds dates or times, with the name of the column."""
    dtypes = X.dtypes if hasattr(X, "columns") else [_first_dtype(X)]
    for name, dtype in zip(getattr(X, "columns", [0]), dtypes, strict=False):
        if _is_time(dtype):
            raise TypeError(
                f"Column {name!r} holds dates or times ({dtype}): write them as numbers, such "
                "as days since the first."
            )


def refuse_equal_names(X: Any) -> None:
    """Raise if two columns of a data frame have one name."""
    names = list(getattr(X, "columns", ()))
    if len(set(names)) < len(names):
        name = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(
            f"{names.count(name)} columns of X are called {name!r}: give each a name of its own."
        )


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


def check_sample_weight(sample_weight: Any, X: Any, **options: Any) -> NDArray[np.float64]:
    """scikit-learn's check of weights (n,), as doubles whose sums and products stay in range."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, **options)
    return weights_in_range(weight)


def weights_in_range(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (n,), times a power of two if the largest is beyond 2**256 or below 2**-256.

    >>> weights_in_range(np.array([1.0, 3.0])), weights_in_range(np.array([2.0**900, 2.0**1000]))
    (array([1., 3.]), array([4.56719262e+46, 5.78960446e+76]))
    """
    power = int(np.frexp(np.abs(weight).max(initial=0.0))[1])
    return np.ldexp(weight, int(np.clip(power, -LARGEST_POWER, LARGEST_POWER)) - power)
