"""Check that numbers are finite, and that their squares are neither infinite nor all zero."""

from typing import Any

import numpy as np
import polars as pl

from .errors import TableError
from .parsing import misfit, mostly_numbers
from .table import Table

LARGEST = 1e150  # millions of squares still have a finite sum
SMALLEST = 1e-150  # for the largest number of a column
FINITE = f"finite numbers up to {LARGEST:g}"
LONG = (pl.Int128, pl.UInt128, pl.Decimal)  # types that NumPy lacks


def beyond(numbers: pl.Series) -> pl.Series:
    """Return the rows whose number is infinite or too large; NaN counts as missing.

    >>> beyond(pl.Series([1.0, -1e200, None, float("inf"), float("nan")])).to_list()
    [1, 3]
    """
    if not any(abs(end) > LARGEST for end in _ends(numbers)):  # much faster than each number
        return pl.Series(dtype=pl.UInt32)
    return (numbers.abs() > LARGEST).fill_null(False).set(numbers.is_nan(), False).arg_true()


def as_floats(frame: pl.DataFrame) -> pl.DataFrame:
    """Return decimals and integers of more than 64 bits as floats.

    >>> as_floats(pl.DataFrame({"a": [10**30]}))["a"].to_list()
    [1e+30]
    """
    long = [name for name, dtype in frame.schema.items() if isinstance(dtype, LONG)]
    return frame.with_columns(pl.col(long).cast(pl.Float64)) if long else frame


def check_finite(table: Table) -> None:
    """Raise if a number is infinite or too large, or if all numbers of a column are too small."""
    if table.sparse is not None:
        _check_matrix(table)
    for name, dtype in table.frame.schema.items():
        numbers = None
        if dtype.is_float():
            numbers = table.frame[name]
        elif dtype == pl.String and table.guessed:  # polars reads "Inf" as a word
            numbers = mostly_numbers(table.frame[name], table.decimal_comma)
        if numbers is not None:
            _check_column(name, numbers)


def _check_column(name: str, numbers: pl.Series) -> None:
    bad = beyond(numbers)
    if len(bad):
        raise TableError(misfit(numbers, bad, FINITE))
    largest = max((abs(end) for end in _ends(numbers)), default=0.0)
    if 0 < largest < SMALLEST:
        raise TableError(
            f"Column {name!r} holds no number larger than {largest:g}, and squares of such are "
            "zero: give them in another unit."
        )


def _ends(numbers: pl.Series) -> list[Any]:
    """Return the minimum and the maximum, if there is any number."""
    return [end for end in (numbers.min(), numbers.max()) if end is not None]


def _check_matrix(table: Table) -> None:
    X: Any = table.sparse
    bad = np.flatnonzero(~(np.abs(X.data) <= LARGEST))  # NaN, too
    if len(bad):
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        raise TableError(
            f"Column {X.indices[bad[0]] + 1} of {table.name} must hold {FINITE}, but holds "
            f"{X.data[bad[0]]:g} in row {row} (rows count from 0, columns from 1)."
        )
