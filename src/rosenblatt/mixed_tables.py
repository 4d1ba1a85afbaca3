"""Columns of mixed tables, data frames or arrays, and codes of categories."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from rosenblatt import checks, mixed_tables_loops
from rosenblatt.missing_values import which_missing

MOST_CATEGORIES = 65_000
MANY_CELLS = 100_000  # from here on, compiled loops are worth their import
SMALL = 256  # numbers below it are found in a table
MANY_ROWS = 1000  # from here on, sorting numbers is faster than a dict

NAME_OR_CONVERT = (
    "If it holds categories, name it among the categorical columns; write dates as numbers, such "
    "as days."
)


def categorical_columns(
    X: Any, given: Any, parameter: str = "categorical_features"
) -> NDArray[np.bool_]:
    """Return a mask (d,) of the categorical columns: by type, or given by place, name or mask."""
    if given is None or (isinstance(given, str) and not hasattr(X, "columns")):
        return np.zeros(0, bool)
    checks.unique_names(X)
    d = np.shape(X)[1] if not hasattr(X, "columns") else len(X.columns)
    if isinstance(given, str):
        if given != "from_dtype":
            raise ValueError(f"{parameter} must be 'from_dtype', a list or None; got {given!r}.")
        return np.array([_has_words(X[name]) for name in X.columns], bool)
    chosen = np.asarray(given)
    found = np.zeros(d, bool)
    if chosen.dtype == bool:
        if chosen.shape != (d,):
            raise ValueError(f"{parameter} as a mask must have shape ({d},); got {chosen.shape}.")
        return chosen
    names = names_of(X) if hasattr(X, "columns") else list(range(d))
    for item in chosen.tolist():
        if item in names:
            found[names.index(item)] = True
        elif isinstance(item, int) and 0 <= item < d:
            found[item] = True
        else:
            raise ValueError(f"{parameter} names the column {item!r}, which X lacks.")
    return found


def _has_words(column: Any) -> bool:
    """Return True if a column of a data frame has a type of categories or strings."""
    name = str(column.dtype)
    if name.startswith(("category", "Categorical", "Enum", "String", "str", "object")):
        return name != "object" or any(isinstance(value, str) for value in column)
    return False


def checked_table(model: Any, X: Any, reset: bool) -> Any:
    """Return a mixed table whose shape and column names are checked, its values not."""
    if sp.issparse(X):
        raise TypeError("Mixed tables are data frames or dense arrays; got a sparse matrix.")
    if not hasattr(X, "columns"):
        if isinstance(X, list | tuple):
            X = np.array(X, object)
        X = check_array(X, dtype=None, ensure_all_finite=False)
    elif 0 in X.shape:
        raise ValueError(
            f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) while a "
            "minimum of 1 is required."
        )
    checks.validate_data(model, X, reset=reset, skip_check_array=True)
    return X


def names_of(X: Any) -> list[Any]:
    """Return the names of the columns of a data frame; those of an array are numbers."""
    # Called once for a table: polars creates the list each time.
    return list(X.columns) if hasattr(X, "columns") else list(range(X.shape[1]))


def column(X: Any, name: Any) -> Any:
    """Return a column of a data frame by its name, or of an array by its number."""
    return X[:, name] if isinstance(X, np.ndarray) else X[name]


def values_of(column: Any) -> NDArray[Any]:
    """Return a column as an array: numbers as they are, words of a data frame as objects."""
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        return array
    if hasattr(column, "to_list"):
        array = np.empty(len(column), object)
        array[:] = column.to_list()
    return array.astype(object) if array.dtype.kind in "mM" else array


def numbers_of(column: Any, name: Any, advice: str) -> NDArray[Any]:
    """Return a column as floating-point numbers; NaN for missing values."""
    values = values_of(column)
    if values.dtype.kind == "f":
        return values
    try:
        if values.dtype.kind == "O":
            values = np.where(which_missing(values), np.nan, values)
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {name!r} holds what is not a number: {error}. {advice}"
        ) from error


def table_of_numbers(X: Any, names: list[Any], advice: str) -> NDArray[Any]:
    """Return columns of a table as one array (n, c) of floating-point numbers."""
    if len(names) == X.shape[1] and _is_one_block(X):
        if isinstance(X, np.ndarray):
            return X if X.dtype.kind == "f" else X.astype(np.float64)
        if type(X).__module__.startswith("polars"):
            return np.asarray(X.to_numpy(order="c"))  # without another copy on the way
        return np.ascontiguousarray(X.to_numpy())
    return np.column_stack([numbers_of(column(X, name), name, advice) for name in names])


def _is_one_block(X: Any) -> bool:
    """Return True for an array of numbers, or a data frame of one floating-point type."""
    # As one block its columns take a tenth of the time that they take one by one.
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "fiub"
    # pandas' types with a capital letter may hold missing values that are not NaN.
    is_pandas = type(X).__module__.startswith("pandas")
    names = ("float32", "float64") if is_pandas else ("Float32", "Float64")
    return {str(dtype) for dtype in X.dtypes} in [{name} for name in names]


def codes_of(column: Any) -> tuple[NDArray[Any], Any]:
    """Return the index (n,) of each row's value among the different values, and these values.

    The index of a missing value is one after the last. Values are an array of numbers, or a list.
    """
    many = len(column) >= MANY_ROWS
    if many and str(getattr(column, "dtype", "")).startswith("Categorical"):  # of polars
        different = column.drop_nulls().unique()
        known = different.to_physical().to_numpy()
        # The physical codes also count the words of other columns.
        places = np.full(int(known.max(initial=0)) + 2, len(known), np.int32)
        places[known] = np.arange(len(known))
        own = column.to_physical().cast(int).fill_null(len(places) - 1).to_numpy()
        return places.take(own), different.to_list()
    values = values_of(column)
    present, numeric = ~which_missing(values), values.dtype.kind in "biuf"
    found: Any
    codes = np.empty(len(values), np.int64)
    if many and numeric:
        found, codes[present] = np.unique(values[present], return_inverse=True)
    else:
        numbers: dict[Any, int] = {}
        codes[present] = [numbers.setdefault(v, len(numbers)) for v in values[present].tolist()]
        found = np.array(list(numbers), values.dtype) if numeric else list(numbers)
    codes[~present] = len(found)
    return codes, found


def places_among(values: NDArray[Any], known: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of values (n,) among sorted others; -1 for values that are not there."""
    if not len(known) or not len(values):
        return np.full(len(values), -1, np.int64)
    found = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[found] == values, found, -1)


def learn_categories(X: Any, categorical: NDArray[np.bool_]) -> list[NDArray[Any] | None]:
    """Return the categories of each column, sorted; None for a column of numbers."""
    if _is_compiled_for(X) and categorical.all():
        seen = np.zeros((len(categorical), SMALL), np.uint8)
        if mixed_tables_loops.mark_categories(X, seen):
            return [np.flatnonzero(column).astype(X.dtype) for column in seen]
    found: list[NDArray[Any] | None] = []
    for name, is_categorical in zip(names_of(X), categorical, strict=True):
        if not is_categorical:
            found.append(None)
            continue
        known = np.unique(_as_array(codes_of(column(X, name))[1], name))
        if len(known) > MOST_CATEGORIES:
            raise ValueError(
                f"Column {name!r} has {len(known):,} categories, more than "
                f"{MOST_CATEGORIES:,}: leave it out, or group its values."
            )
        found.append(known)
    return found


def encode(
    X: Any,
    categories: Sequence[NDArray[Any] | None],
    unknown: str,
    advice: str = "With unknown='majority' such a row stays at the node that asks for it.",
) -> NDArray[np.float64]:
    """Return X (n, d) as numbers: indices of categories, -1 if unknown, NaN if missing.

    The result may be X itself.
    """
    matrix = np.empty((X.shape[0], len(categories)))
    places = _small_places(categories) if _is_compiled_for(X) else None
    if places is not None:
        sizes = np.array([len(known) for known in categories if known is not None], np.float64)
        in_place = (places.max(axis=1) == places.argmax(axis=1)).all()
        if in_place and X.dtype == np.float64 and mixed_tables_loops.are_places(X, sizes):
            return np.asarray(X)
        if mixed_tables_loops.place_categories(X, places, matrix) or unknown != "error":
            return matrix
    for j, (name, known) in enumerate(zip(names_of(X), categories, strict=True)):
        if known is None:
            matrix[:, j] = numbers_of(column(X, name), name, NAME_OR_CONVERT)
            if np.isinf(matrix[:, j]).any():
                raise ValueError(f"Input X contains infinity in column {name!r}.")
            continue
        codes, values = codes_of(column(X, name))
        present = _as_array(values, name)
        places = np.full(len(present) + 1, -1.0)
        places[-1] = np.nan  # of missing values
        if (present.dtype.kind in "US") == (known.dtype.kind in "US"):
            places[:-1] = places_among(present, known)
        if unknown == "error" and len(known) and (places < 0).any():
            value = present[places[:-1] < 0].tolist()[0]
            raise ValueError(
                f"Column {name!r} has a category that no training row had: {value!r}. " + advice
            )
        matrix[:, j] = places.take(codes)
    return matrix


def _is_compiled_for(X: Any) -> bool:
    """Return True for a large array of a type that the loops are compiled for."""
    return (
        isinstance(X, np.ndarray)
        and X.size >= MANY_CELLS
        and X.dtype in (np.float64, np.int64)
        and X.flags.c_contiguous
    )


def _small_places(categories: Sequence[NDArray[Any] | None]) -> NDArray[np.int16] | None:
    """Return the index (d, 256) of each small number in its column; None if there are others."""
    places = np.full((len(categories), SMALL), mixed_tables_loops.NOWHERE, np.int16)
    for row, known in zip(places, categories, strict=True):
        if known is None or known.dtype.kind not in "iuf" or not len(known):
            return None
        if known[0] < 0 or known[-1] >= SMALL or (known != np.floor(known)).any():
            return None
        row[known.astype(np.intp)] = np.arange(len(known))
    return places


def _as_array(values: Any, name: Any) -> NDArray[Any]:
    """Return strings or numbers as an array that can be sorted."""
    if isinstance(values, np.ndarray):
        return values
    words = {isinstance(value, str) for value in values}
    if len(words) > 1:
        raise ValueError(f"Column {name!r} holds words and numbers: make it all words with str.")
    return np.array(values)
