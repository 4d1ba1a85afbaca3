"""What separability accepts: tables in any storage and two or more labels, told apart exactly."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.float64]
Table: TypeAlias = Any  # a dense (n, d) array or a CSR array, float64 either way

LARGEST = 1e150  # squares beyond this would overflow


def check_table(X: Any) -> Table:
    """Return X as a float64 array or canonical CSR array holding exactly the same numbers."""
    table = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if table.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns; got {table.ndim}: reshape it first."
        )
    if 0 in table.shape:
        raise ValueError(f"X must have at least one row and one column; got shape {table.shape}.")
    table = _as_float64(table)
    _refuse_values(table)
    return table


def _as_float64(table: Table) -> Table:
    """Cast without changing a number; what float64 cannot hold is refused."""
    if table.dtype.kind not in "biufO":
        raise TypeError(f"X must hold real numbers; got dtype {table.dtype}: encode it first.")
    try:
        cast = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"X must hold numbers only; {error}: encode or fill it first.") from error
    if table.dtype.kind in "iu":
        values = table.data if sparse.issparse(table) else table
        large = values[(values > 2**53) | (values < -(2**53))]
        if large.size:
            raise ValueError(
                f"X must hold integers up to 2**53, which float64 keeps exactly; got {large[0]}."
            )
    if sparse.issparse(cast):
        cast.sum_duplicates()
        cast.eliminate_zeros()
        return cast
    return np.ascontiguousarray(cast) + 0.0  # -0.0 becomes 0.0: equal rows have equal bytes


def _refuse_values(table: Table) -> None:
    """Refuse NaN, infinity and magnitudes whose squares overflow, naming the place."""
    values = table.data if sparse.issparse(table) else table
    bad = ~(np.abs(values) <= LARGEST)
    if not bad.any():
        _refuse_faint_columns(table)
        return
    if sparse.issparse(table):
        table = table.tocoo()
        at = int(np.flatnonzero(bad)[0])
        i, j, value = table.row[at], table.col[at], table.data[at]
    else:
        i, j = (int(index[0]) for index in np.nonzero(bad))
        value = table[i, j]
    cure = "rescale the column" if np.isfinite(value) else "drop or fill it"
    raise ValueError(
        f"X must hold finite numbers below {LARGEST:g}; got {value} in row {i}, column {j}: {cure}."
    )


def _refuse_faint_columns(table: Table) -> None:
    """Refuse columns of numbers whose squares underflow."""
    largest = abs(table).max(axis=0)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
    faint = np.flatnonzero((largest > 0) & (largest < 1 / LARGEST))
    if faint.size:
        raise ValueError(
            f"X must hold numbers whose squares are not lost; got at most {largest[faint[0]]:g} "
            f"in column {faint[0]}: rescale the column."
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
