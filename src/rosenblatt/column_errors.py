"""Input that no model can use: which columns it is in, and what to do about it.

scikit-learn's checks say that there is something; looking for the columns takes a second pass,
which is worth it once there is an error to explain.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

MOST_COLUMNS = 5  # named in one message about values
MOST_NAMES = 8  # in a list of columns


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Let an error about the values of X end with the columns they are in.

    >>> with naming_columns([[1.0, float("nan")]]):
    ...     raise ValueError("Input X contains NaN.")
    Traceback (most recent call last):
    ValueError: Input X contains NaN. Column 1 has 1 missing value: impute ... or drop such rows.
    """
    try:
        yield
    except ValueError as error:
        more = _explained(X, str(error))
        if more is None or type(error) is not ValueError:
            raise
        # Only the first line: what follows recommends other models.
        raise ValueError(f"{str(error).splitlines()[0]} {more}") from None


def _explained(X: Any, said: str) -> str | None:
    """Which columns the error is about, in words; None if it is about something else."""
    kinds: list[tuple[str, Callable[[Any], Any], str, str]] = [
        ("Input X contains NaN", _missing, "missing value",
         "impute such values, for instance with sklearn.impute.SimpleImputer, or drop such rows"),
        ("Input X contains infinity", _infinite, "infinite or too large value",
         "clip or drop such values"),
        ("could not convert string to float", _words, "word",
         "encode them, for instance with sklearn.preprocessing.OneHotEncoder"),
    ]  # fmt: skip
    for beginning, strange, what, advice in kinds:
        if said.startswith(beginning) and "Column" not in said:
            found = [(name, int(strange(values).sum())) for name, values in _columns(X)]
            found = [(name, count) for name, count in found if count]
            return _sentence(found, what, advice) if found else None
    return None


def _sentence(found: list[tuple[str, int]], what: str, advice: str) -> str:
    each = [
        f"{'column' if k else 'Column'} {name} has {count} {what}{'' if count == 1 else 's'}"
        for k, (name, count) in enumerate(found[:MOST_COLUMNS])
    ]
    more = len(found) - len(each)
    return f"{', '.join(each)}{f', and {more} columns more have some' if more else ''}: {advice}."


def _columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """The columns of whatever a table is, with their names; none if it is no table."""
    if sp.issparse(X):
        X = X.tocsc()
        yield from ((str(j), X.data[X.indptr[j] : X.indptr[j + 1]]) for j in range(X.shape[1]))
    elif hasattr(X, "columns") and len(X.columns) == X.shape[1]:
        for j, name in enumerate(X.columns):
            yield repr(str(name)), np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[:, j])
    else:
        try:
            table = np.asarray(X if hasattr(X, "dtype") else list(X))
        except ValueError:  # rows of different lengths
            return
        if table.ndim == 2:
            yield from ((str(j), table[:, j]) for j in range(table.shape[1]))


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are NaN, or nothing at all."""
    if values.dtype.kind in "fc":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), bool)
    return np.array([value is None or type(value).__name__ in NOTHING or value != value
                     for value in values], bool)  # fmt: skip


NOTHING = ("NAType", "NaTType")  # as pandas calls it


def _infinite(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are infinite."""
    return np.asarray(np.isinf(values)) if values.dtype.kind == "f" else np.zeros(1, bool)


def _words(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are strings that say no number."""
    if values.dtype.kind not in "OUST":
        return np.zeros(len(values), bool)
    return np.array([isinstance(value, str) and not _is_number(value) for value in values], bool)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# What counts as no value at all: None, NaN, and pandas' own.


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


def listed(columns: Any, names: Sequence[str]) -> str:
    """Some columns by name, and how many more there are."""
    shown = [names[j] for j in columns[:MOST_NAMES]]
    more = len(columns) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
