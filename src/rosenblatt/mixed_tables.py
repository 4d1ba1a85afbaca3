"""Mixed tables as one matrix of numbers: of a category, its place among those known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from rosenblatt import checks, mixed_tables_loops
from rosenblatt.missing_values import which_missing

MOST_CATEGORIES = 65_000
UNKNOWN = -1.0
MANY_CELLS = 100_000  # from here on, compiled loops are worth their import
SMALL = 256  # numbers below it are found in a table


def categorical_columns(
    X: Any, given: Any, parameter: str = "categorical_features"
) -> NDArray[np.bool_]:
    """Which columns (d,) of X hold categories: by type, or as given by place, name or mask."""
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
    names = list(X.columns) if hasattr(X, "columns") else list(range(d))
    for item in chosen.tolist():
        if item in names:
            found[names.index(item)] = True
        elif isinstance(item, int) and 0 <= item < d:
            found[item] = True
        else:
            raise ValueError(f"{parameter} names the column {item!r}, which X lacks.")
    return found


def _has_words(column: Any) -> bool:
    """Whether the type of a data frame's column is one of categories or words."""
    name = str(column.dtype)
    if name.startswith(("category", "Categorical", "Enum", "String", "str", "object")):
        return name != "object" or any(isinstance(value, str) for value in column)
    return False


def checked_table(model: Any, X: Any, reset: bool) -> Any:
    """A mixed table whose shape and column names are checked, its values not."""
    if sp.issparse(X):
        raise TypeError("Categories are read from a data frame or dense array; got sparse X.")
    if not hasattr(X, "columns"):
        if isinstance(X, list | tuple):
            X = np.array(X, object)
        X = check_array(X, dtype=None, ensure_all_finite=False)
    checks.validate_data(model, X, reset=reset, skip_check_array=True)
    if _num_samples(X) < 1:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return X


def learn_categories(X: Any, categorical: NDArray[np.bool_]) -> list[NDArray[Any] | None]:
    """The categories of each column, sorted; None of a column of numbers."""
    if _is_compiled_for(X) and categorical.all():
        seen = np.zeros((len(categorical), SMALL), np.uint8)
        if mixed_tables_loops.mark_categories(X, seen):
            return [np.flatnonzero(column).astype(X.dtype) for column in seen]
    found: list[NDArray[Any] | None] = []
    for j, is_categorical in enumerate(categorical):
        if not is_categorical:
            found.append(None)
            continue
        values = _values(X, j)
        known = np.unique(_as_array(values[~which_missing(values)], _name(X, j)))
        if len(known) > MOST_CATEGORIES:
            raise ValueError(
                f"Column {_name(X, j)!r} has {len(known):,} categories, more than "
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
    """X (n, d) as numbers: the place of each category, -1 if unknown; NaN for missing values.

    Returns X itself if it is that.
    """
    matrix = np.empty((_num_samples(X), len(categories)))
    places = _small_places(categories) if _is_compiled_for(X) else None
    if places is not None:
        sizes = np.array([len(known) for known in categories if known is not None], np.float64)
        in_place = (places.max(axis=1) == places.argmax(axis=1)).all()
        if in_place and X.dtype == np.float64 and mixed_tables_loops.are_places(X, sizes):
            return np.asarray(X)
        if mixed_tables_loops.place_categories(X, places, matrix) or unknown != "error":
            return matrix
    for j, known in enumerate(categories):
        values = _values(X, j)
        if known is None:
            matrix[:, j] = _numbers(values, _name(X, j))
            continue
        absent = which_missing(values)
        matrix[absent, j] = np.nan
        present = _as_array(values[~absent], _name(X, j))
        if not len(known) or not len(present):
            matrix[~absent, j] = UNKNOWN
            continue
        if (present.dtype.kind in "US") != (known.dtype.kind in "US"):
            places = np.full(len(present), UNKNOWN)
        else:
            found = np.minimum(np.searchsorted(known, present), len(known) - 1)
            places = np.where(known[found] == present, found, UNKNOWN)
        if unknown == "error" and (places < 0).any():
            value = present[places < 0][:1].tolist()[0]
            raise ValueError(
                f"Column {_name(X, j)!r} has a category that no training row had: {value!r}. "
                + advice
            )
        matrix[~absent, j] = places
    return matrix


def _is_compiled_for(X: Any) -> bool:
    """Whether X is a large array of the kinds that loops for categories are compiled for."""
    return (
        isinstance(X, np.ndarray)
        and X.size >= MANY_CELLS
        and X.dtype in (np.float64, np.int64)
        and X.flags.c_contiguous
    )


def _small_places(categories: Sequence[NDArray[Any] | None]) -> NDArray[np.int16] | None:
    """The place (d, 256) of each small number in its column, or None if there are others."""
    places = np.full((len(categories), SMALL), mixed_tables_loops.NOWHERE, np.int16)
    for row, known in zip(places, categories, strict=True):
        if known is None or known.dtype.kind not in "iuf" or not len(known):
            return None
        if known[0] < 0 or known[-1] >= SMALL or (known != np.floor(known)).any():
            return None
        row[known.astype(np.intp)] = np.arange(len(known))
    return places


def _name(X: Any, j: int) -> Any:
    return list(X.columns)[j] if hasattr(X, "columns") else j


def _values(X: Any, j: int) -> NDArray[Any]:
    """Column j as an array; words as objects."""
    if not hasattr(X, "columns"):
        return np.asarray(X[:, j])
    column = X[X.columns[j]]
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        return array
    return np.asarray(column.to_list(), object) if hasattr(column, "to_list") else array


def _as_array(values: NDArray[Any], name: Any) -> NDArray[Any]:
    """Values of one kind, words or numbers, as an array that can be sorted."""
    if values.dtype.kind != "O":
        return values
    words = {isinstance(value, str) for value in values}
    if len(words) > 1:
        raise ValueError(f"Column {name!r} holds words and numbers: make it all words with str.")
    return np.array(values.tolist()) if len(values) else np.empty(0)


def _numbers(values: NDArray[Any], name: Any) -> NDArray[np.float64]:
    """A column of numbers; NaN where nothing is known."""
    try:
        if values.dtype.kind == "O":
            values = np.where(which_missing(values), np.nan, values)
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {name!r} holds what is not a number: {error}. If it holds categories, name "
            "it among the categorical columns; write dates as numbers, such as days."
        ) from error
    if np.isinf(numbers).any():
        raise ValueError(f"Input X contains infinity in column {name!r}.")
    return numbers
