"""Rows as a model reads them: data frames and arrays of any kind as columns by name."""

import re
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.data import TableError
from rosenblatt.data.errors import did_you_mean, listed
from rosenblatt.data.parsing import parsed_or_refused

MOST_NAMED = 5
# Types whose numbers 32 bits hold.
NO_LONGER = (pl.Float32, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Boolean)


def as_frame(X: Any) -> Any:
    """Return a polars data frame; the columns of an array are called x0, x1, ..."""
    if isinstance(X, pl.DataFrame):
        return X
    if isinstance(X, pl.LazyFrame):
        return X.collect()
    if type(X).__module__.startswith("pyarrow"):
        return pl.from_arrow(X)
    if hasattr(X, "columns"):
        return frame_of_pandas(X)
    X = _two_dimensional(X)
    return frame_of_array(X, [f"x{j}" for j in range(X.shape[1])])


def frame_for(X: Any, kinds: dict[str, str], notations: dict[str, str] | None = None) -> Any:
    """Return rows with the columns that a model reads; they may be in any order, with others.

    An array has no names of columns: one with as many columns as the model reads has them in the
    order of `kinds`. Words in a column that has a notation are read by it.
    """
    frame = _with_columns(X, kinds)
    if not notations:
        return frame
    return frame.with_columns(
        parsed_or_refused(frame[name], notation)
        for name, notation in notations.items()
        if frame.schema[name] == pl.String
    )


def _with_columns(X: Any, kinds: dict[str, str]) -> Any:
    frame = as_frame(X)
    there = set(frame.columns)
    missing = [name for name in kinds if name not in there]
    if not missing:
        return frame
    if isinstance(X, pl.LazyFrame) or hasattr(X, "columns"):
        raise TableError(lacking("The table", missing, frame.columns))
    if all(re.fullmatch(r"x\d+", name) for name in kinds):  # the model was fitted to an array
        raise TableError(
            f"The array has {frame.width} columns, and the model reads {first_of(missing)} as "
            "well, counted from x0: give all columns of the array that it was fitted to."
        )
    if frame.width != len(kinds):
        raise TableError(
            f"The array has {frame.width} columns without names, and the model reads {len(kinds)}: "
            f"give {first_of(list(kinds))}, in this order, or a data frame with these names."
        )
    others = [name for name, kind in kinds.items() if kind not in ("numeric", "boolean")]
    if others and all(dtype.is_numeric() for dtype in frame.dtypes):
        # A category 1 may have become 1.0 on the way, which would be another category.
        raise TableError(
            f"The array holds numbers alone, and the model reads {first_of(others)} as they were: "
            "give a data frame, or an array of objects."
        )
    return frame.rename(dict(zip(frame.columns, kinds, strict=True)))


def frame_of_pandas(X: Any) -> pl.DataFrame:
    """Return a pandas frame as a polars frame; numbers in a column with words become words."""
    if len(set(X.columns)) < len(X.columns):
        twice = next(name for name in X.columns if list(X.columns).count(name) > 1)
        raise TableError(f"The table has more than one column named {twice!r}; rename them.")
    try:
        return pl.from_pandas(X)
    except (TypeError, ValueError):  # of pyarrow: objects of several types
        return pl.DataFrame([series_of(X[name].to_numpy(), str(name)) for name in X.columns])


def frame_of_array(X: NDArray[Any], names: list[str]) -> pl.DataFrame:
    """Return an array (n, d) as a data frame; infer the types of columns of objects.

    >>> frame_of_array(np.array([[1, "a"], [None, float("nan")]], object), ["n", "word"]).dtypes
    [Int64, String]
    """
    if X.dtype != object:
        return pl.DataFrame(X, schema=names)
    return pl.DataFrame([series_of(X[:, j], name) for j, name in enumerate(names)])


def series_of(values: NDArray[Any], name: str) -> pl.Series:
    """Return values (n,) as a column; None, NaN, pandas.NA and NaT among objects are missing."""
    if values.dtype != object:
        return pl.Series(name, values)
    known = [None if _is_gap(value) else value for value in values.tolist()]
    types = {type(value) for value in known} - {type(None)}
    if str in types and len(types) > 1:  # words among others
        known = [None if value is None else str(value) for value in known]
    return pl.Series(
        name, [v.item() if isinstance(v, np.generic) else v for v in known], strict=False
    )


def plain_array(values: Any) -> NDArray[Any]:
    """Return values as an array; numbers in a list with words stay numbers."""
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind == "U" and not hasattr(values, "dtype"):
        array = np.asarray(values, object)
    return array


def lacking(table: str, missing: list[str], there: list[str]) -> str:
    """Return a sentence about missing columns, with names similar to the first."""
    word = "column" if len(missing) == 1 else "columns"
    near = did_you_mean(missing[0], there)
    names = first_of([repr(name) for name in missing])
    return f"{table} lacks the {word} {names}, which the model reads.{near}"


def first_of(names: list[str]) -> str:
    """Return the first names, and the number of the others."""
    return listed(names, MOST_NAMED)


def numbers_in(values: pl.Series) -> pl.Series:
    """Return a column of numbers as floats; raise if a value is not a number."""
    return parsed_or_refused(values, "numeric").cast(pl.Float64)


def dates_in(values: pl.Series) -> pl.Series:
    """Return a column of dates, parsed if they are words; raise if a value is not a date."""
    return parsed_or_refused(values, "date")


def _two_dimensional(X: Any) -> NDArray[Any]:
    array = plain_array(X)
    if array.ndim != 2:
        # A series is one column: a data frame of it has a name to show.
        name = getattr(X, "name", None) or "message"
        one = f' Of one column make a table: df[["{name}"]].' if array.ndim == 1 else ""
        raise TableError(
            f"An array of rows and columns is needed; got one of shape {array.shape}.{one}"
        )
    return array


def _is_gap(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def n_bytes(X: Any) -> int:
    """Return the bytes of a data frame, an array or a CSR matrix.

    >>> n_bytes(np.zeros((3, 2))), n_bytes(pl.DataFrame({"a": [1, 2]}))
    (48, 16)
    """
    if isinstance(X, pl.DataFrame):
        return int(X.estimated_size())
    return int(X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes)
