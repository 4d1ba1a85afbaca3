"""Columns of different kinds, from a data frame or an array."""

import datetime
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.missing_values import which_missing
from rosenblatt.mixed_tables import column, names_of, numbers_of, values_of
from rosenblatt.statistics.categories import coded

from .column_kinds import KINDS

FLOATS_OF_PANDAS, FLOATS_OF_POLARS = ("float32", "float64"), ("Float32", "Float64")
DATES = (datetime.date, datetime.time, datetime.timedelta)  # a datetime is a date as well

SAY_CATEGORICAL = "A column of words is 'categorical'; say so in kinds."


@dataclass(frozen=True, eq=False)
class Columns:
    """Checked rows, their columns put together by kind; what is missing is NaN, in words None."""

    shape: tuple[int, int]
    parts: dict[str, Any]  # (n, columns of the kind): numbers; objects or codes if categorical

    def __getitem__(self, rows: Any) -> "Columns":
        """Some of the rows, by number or range."""
        parts = {kind: values[rows] for kind, values in self.parts.items()}
        n = len(range(self.shape[0])[rows]) if isinstance(rows, slice) else len(rows)
        return Columns((n, self.shape[1]), parts)


def infer_kinds(X: Any, given: Any) -> list[str]:
    """The kind of each column: what `given`, a dict by name or a list, says, else by its values."""
    if given is not None and not isinstance(given, dict):
        kinds = list(given)
        if len(kinds) != X.shape[1]:
            raise ValueError(f"kinds must name {X.shape[1]} kinds, one a column; got {len(kinds)}.")
    else:
        names = names_of(X)
        known = set(names)
        unknown = [name for name in given or () if name not in known]
        if unknown:
            raise ValueError(f"kinds must be of columns of X; got {unknown[0]!r}.")
        kinds = [
            given[name] if given and name in given else _kind(column(X, name), name)
            for name in names
        ]
    wrong = [kind for kind in kinds if kind not in KINDS]
    if wrong:
        raise ValueError(f"kinds must be of {', '.join(KINDS)}; got {wrong[0]!r}.")
    return kinds


def any_rows_tell(X: Any, given: Any) -> bool:
    """Whether the kinds inferred from X are those that any of its rows would give."""
    # A type tells the kind of a column; so do values, unless some are Boolean and others are not,
    # or some are numbers and others words. A column without a single value counts for nothing.
    of_numbers = getattr(getattr(X, "dtype", None), "kind", "O") in "biuf"
    if of_numbers or (given is not None and not isinstance(given, dict)):
        return True
    table = X if hasattr(X, "columns") else np.asarray(X, object)
    return all(
        len({_kind_of(v) for v in _objects(column(table, name)) if v is not None}) <= 1
        for name in names_of(table)
        if not (given and name in given) and _is_told_by_values(column(table, name))
    )


def _is_told_by_values(values: Any) -> bool:
    categories = str(getattr(values, "dtype", "")) == "category"
    return not categories and np.asarray(values).dtype.kind not in "biuf"


def _kind_of(value: Any) -> str:
    """The kind that a single value speaks for."""
    if isinstance(value, bool):
        return "boolean"
    return "numeric" if isinstance(value, Number) else "categorical"


def split(X: Any, columns: dict[str, tuple[int, ...]]) -> Columns:
    """The columns of each kind as a table of their own; `columns` are their places."""
    parts, every = {}, names_of(X)
    for kind, places in columns.items():
        names = [every[j] for j in places]
        whole = isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and len(places) == X.shape[1]
        if kind != "categorical" and whole:
            values = X if X.dtype.kind == "f" else X.astype(np.float64)
        elif kind == "categorical" and all(_is_coded(column(X, name)) for name in names):
            values = coded([_codes(column(X, name)) for name in names])
        elif kind == "categorical":
            values = np.empty((X.shape[0], len(places)), object)
            for c, name in enumerate(names):
                values[:, c] = _objects(column(X, name))
        elif _are_floats(X, len(places)):
            values = _block(X)
        else:
            values = np.column_stack(
                [numbers_of(column(X, name), name, SAY_CATEGORICAL) for name in names]
            )
        _check(kind, values, names)
        parts[kind] = values
    return Columns((X.shape[0], X.shape[1]), parts)


def _block(X: Any) -> NDArray[Any]:
    """A data frame of floats as one array, rows after each other."""
    if type(X).__module__.startswith("polars"):
        return np.asarray(X.to_numpy(order="c"))  # without another copy on the way
    return np.ascontiguousarray(X.to_numpy())


def _are_floats(X: Any, n_columns: int) -> bool:
    """Whether so many columns are all of a data frame, and of one floating-point type."""
    # As one block they take a tenth of the time that they take one by one.
    if isinstance(X, np.ndarray) or n_columns != X.shape[1]:
        return False
    # Of pandas' types those with a capital may hold gaps that are no floats.
    names = FLOATS_OF_PANDAS if type(X).__module__.startswith("pandas") else FLOATS_OF_POLARS
    return {str(dtype) for dtype in X.dtypes} in [{name} for name in names]


def _kind(values: Any, name: Any) -> str:
    """The kind of a column by its type, or where that says nothing by its values."""
    if str(getattr(values, "dtype", "")) == "category":
        return "categorical"
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return "boolean"
    if array.dtype.kind in "iuf":
        return "numeric"
    kinds = set(map(type, array[~which_missing(array)].tolist()))
    if array.dtype.kind in "mM" or any(issubclass(kind, DATES) for kind in kinds):
        raise ValueError(
            f"Column {name!r} holds dates or times: convert them to numbers, such as days since "
            "the first, leave the column out, or set its kind to 'categorical'."
        )
    if kinds and all(issubclass(kind, bool) for kind in kinds):
        return "boolean"
    if kinds and all(issubclass(kind, Number) for kind in kinds):
        return "numeric"
    return "categorical"


def _objects(values: Any) -> NDArray[Any]:
    """A column as objects, None where nothing is known."""
    if _is_coded(values):  # each word is there once, whatever the number of rows
        codes, words = _codes(values)
        found: NDArray[Any] = np.array([*words, None], object).take(codes)
        return found
    objects = values_of(values).astype(object)
    objects[which_missing(objects)] = None
    return objects


def _is_coded(values: Any) -> bool:
    """Whether a column has codes of words: the categories of polars."""
    return str(getattr(values, "dtype", "")).startswith("Categorical")


def _codes(values: Any) -> tuple[NDArray[Any], list[str]]:
    """Which of its words each row of a coded column has, one more than there are if none."""
    different = values.drop_nulls().unique()
    known = different.to_physical().to_numpy()
    # Its own numbers count the words of other columns as well.
    places = np.full(int(known.max(initial=0)) + 2, len(known), np.int32)
    places[known] = np.arange(len(known))
    own = values.to_physical().cast(int).fill_null(len(places) - 1).to_numpy()
    return places.take(own), different.to_list()


def _check(kind: str, values: NDArray[Any], names: list[Any]) -> None:
    """Raise if a column holds what its kind cannot."""
    if kind == "categorical":
        return
    if kind == "boolean":
        bad, wanted = ~((values == 0) | (values == 1) | np.isnan(values)), "True and False, or 1, 0"
    elif kind == "count":
        whole = (values >= 0) & (values == np.floor(values)) & np.isfinite(values)
        bad, wanted = ~(whole | np.isnan(values)), "whole numbers >= 0"
    else:
        if np.isfinite(values.sum(dtype=np.float64)):
            return
        bad, wanted = np.isinf(values), "finite numbers"
    if bad.any():
        i, c = np.argwhere(bad)[0]
        found = "Input X contains infinity: " if np.isinf(values[i, c]) else "In X, "
        raise ValueError(
            f"{found}column {names[c]!r} is {kind} and must hold {wanted}; got {values[i, c]} in "
            f"row {i}."
        )
