"""Checks of tables and labels, without rounding."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.float64]
Table: TypeAlias = Any  # a dense (n, d) array or a CSR array, float64 either way

UNIT = 2.0**-53  # half the distance from one to the next number
BEYOND = 1e150  # squares beyond this would overflow
CURE = "subtract an offset or rescale it; to allow rounding, pass X as float64"


def check_table(X: Any) -> Table:
    """Return X as a float64 array or canonical CSR array holding exactly the same numbers."""
    table = sparse.csr_array(X) if sparse.issparse(X) else _as_given(X)
    if table.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns; got {table.ndim}: reshape it first."
        )
    if 0 in table.shape:
        raise ValueError(f"X must have at least one row and one column; got shape {table.shape}.")
    table = _as_float64(table)
    _check_values(table)
    return table


def _as_given(X: Any) -> NDArray[Any]:
    """Return X as an array, of objects where a common type would round."""
    table = np.asarray(X)
    mixed = isinstance(X, (list, tuple)) or len(set(getattr(X, "dtypes", ()))) > 1
    if not mixed or table.dtype.kind != "f":
        return table
    if isinstance(X, (list, tuple)):
        return np.asarray(X, dtype=object)
    columns = X.items() if hasattr(X, "items") else enumerate(X.iter_columns())
    parts = [np.asarray(column) for _, column in columns]
    rounds = any(part.dtype.kind in "iuO" for part in parts)
    return np.column_stack([part.astype(object) for part in parts]) if rounds else table


def _as_float64(table: Table) -> Table:
    """Cast to float64; raise if that changes a number."""
    if table.dtype.kind not in "biufO":
        raise TypeError(f"X must hold real numbers; got dtype {table.dtype}: encode it first.")
    try:
        cast = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"X must hold numbers only; {error}: encode or fill it first.") from error
    except OverflowError as error:
        raise ValueError(f"X must hold numbers that float64 can; {error}: {CURE}.") from error
    _check_exact(table, cast)
    if sparse.issparse(cast):
        cast.sum_duplicates()
        cast.eliminate_zeros()
        return cast
    return np.ascontiguousarray(cast) + 0.0  # not -0.0: equal rows have equal bytes


def _check_exact(table: Table, cast: Table) -> None:
    """Raise if the cast to float64 changed a number, with its place."""
    given, floats = (t.data if sparse.issparse(t) else t.ravel() for t in (table, cast))
    if given.dtype.kind == "b":
        return
    if given.dtype.kind == "f":
        doubt = np.flatnonzero(floats.astype(given.dtype) != given)
    elif given.dtype.kind == "O":
        doubt = np.flatnonzero([type(value) is not float for value in given])
    else:
        doubt = np.flatnonzero((given > 2**53) | (given < -(2**53)))
    for at in doubt.tolist():
        value, rounded = given[at], float(floats[at])
        if isinstance(value, (str, bytes)):
            raise TypeError(f"X must hold numbers only; got {value!r}: encode or fill it first.")
        # NumPy would round an integer to compare it. NaN is refused elsewhere.
        value = int(value) if isinstance(value, np.integer) else value
        if value != rounded and rounded == rounded:
            raise ValueError(
                f"X must hold numbers that float64 keeps exactly; got {value} "
                f"in {_place(table, at)}: {CURE}."
            )


def _place(table: Table, at: int) -> str:
    """Describe row and column of a stored value."""
    if sparse.issparse(table):
        table = table.tocoo()
        i, j = table.row[at], table.col[at]
    else:
        i, j = divmod(at, table.shape[1])
    return f"row {i}, column {j}"


def _check_values(table: Table) -> None:
    """Raise for NaN, infinity, and magnitudes whose squares overflow or underflow."""
    values = table.data if sparse.issparse(table) else table.ravel()
    bad = np.flatnonzero(~(np.abs(values) <= BEYOND))
    if bad.size:
        value, where = values[bad[0]], _place(table, int(bad[0]))
        cure = "rescale the column" if np.isfinite(value) else "drop or fill it"
        raise ValueError(
            f"X must hold finite numbers below {BEYOND:g}; got {value} in {where}: {cure}."
        )
    largest = abs(table).max(axis=0)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
    faint = np.flatnonzero((largest > 0) & (largest < 1 / BEYOND))
    if faint.size:
        raise ValueError(
            f"X must hold numbers whose squares do not underflow; got at most "
            f"{largest[faint[0]]:g} in column {faint[0]}: rescale the column."
        )


def check_labels(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes (K,) and each row's class number (n,)."""
    labels = np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension; got {labels.ndim}: pass y.ravel().")
    if len(labels) != n:
        raise ValueError(
            f"X and y must have the same length; got {n} rows in X and {len(labels)} labels in y."
        )
    if labels.dtype == object:
        words = [isinstance(label, (str, np.str_)) for label in labels]
        if any(words) != all(words):
            raise TypeError("y must hold labels of one type; got strings among others: convert it.")
        labels = np.asarray(list(labels))
    if labels.dtype == object:
        raise TypeError("y must hold strings or numbers, one a row; got other objects: convert it.")
    if labels.dtype.kind in "fc" and np.isnan(labels).any():
        where = int(np.flatnonzero(np.isnan(labels))[0])
        raise ValueError(f"y must hold labels; got NaN in row {where}: drop the row.")
    classes, code = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes; got only {classes.tolist()[0]!r}.")
    return classes, code
