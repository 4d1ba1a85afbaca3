"""Numbers that can be learned from: not infinite, and not so large that their squares would be."""

from typing import Any

import numpy as np
import polars as pl

from .errors import TableError
from .table import Table

# Squares of so many numbers still have a sum; half of what floating point holds has none.
LARGEST = 1e150
LONG = (pl.Int128, pl.UInt128, pl.Decimal)  # of which NumPy knows nothing
WHAT_TO_DO = "(rows count from 0): make it missing, or a number of another unit."


def beyond(numbers: pl.Series) -> pl.Series:
    """Which numbers are infinite or too large, as a column of truth values.

    >>> beyond(pl.Series([1.0, -1e200, None, float("inf")])).to_list()
    [False, True, False, True]
    """
    if not (numbers.dtype.is_float() or numbers.dtype == pl.Int128):  # others hold no such number
        return pl.Series(numbers.name, [False]).new_from_index(0, len(numbers))
    # A comparison takes NaN, which is a gap, for larger than all numbers.
    found = (numbers.abs() > LARGEST).fill_null(False)
    return found & numbers.is_not_nan().fill_null(False) if numbers.dtype.is_float() else found


def as_floats(frame: pl.DataFrame) -> pl.DataFrame:
    """Numbers of more digits than a machine has, whole or decimal, as those nearest to them.

    >>> as_floats(pl.DataFrame({"a": [10**30]}))["a"].to_list()
    [1e+30]
    """
    long = [name for name, dtype in frame.schema.items() if isinstance(dtype, LONG)]
    return frame.with_columns(pl.col(long).cast(pl.Float64)) if long else frame


def check_finite(table: Table) -> None:
    """Raise if a number is infinite, or too large."""
    if table.sparse is not None:
        _check_matrix(table)
    for name, dtype in table.frame.schema.items():
        # The ends tell it fifty times sooner than a look at each number, where columns are many.
        if dtype.is_float() and ends_beyond(table.frame[name]):
            row = int(beyond(table.frame[name]).arg_max() or 0)
            value = float(table.frame[name][row])
            raise TableError(f"Column {name!r} {_is_bad(value)} in row {row} {WHAT_TO_DO}")


def ends_beyond(numbers: pl.Series) -> bool:
    """Whether the least or the largest is infinite or too large; NaN, which is a gap, is neither.

    >>> nan = float("nan")
    >>> ends_beyond(pl.Series([nan, None, -1e200])), ends_beyond(pl.Series([nan, None, 1.0]))
    (True, False)
    >>> ends_beyond(pl.Series([nan, nan])), ends_beyond(pl.Series([None], dtype=pl.Float64))
    (False, False)
    """
    ends: list[Any] = [numbers.min(), numbers.max()]
    return any(end is not None and abs(end) > LARGEST for end in ends)


def _check_matrix(table: Table) -> None:
    X = table.sparse
    assert X is not None
    # NaN is neither small nor large.
    bad = np.flatnonzero(~(np.abs(X.data) <= LARGEST))
    if len(bad):
        place = int(bad[0])
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        raise TableError(
            f"Column {int(X.indices[place]) + 1} of {table.name} {_is_bad(float(X.data[place]))} "
            f"in row {row} (rows count from 0, columns from 1): make it a number of another unit, "
            "or leave it out, which means zero."
        )


def _is_bad(value: float) -> str:
    if np.isnan(value):
        return "is NaN"
    if np.isinf(value):
        return "is infinite"
    return f"holds {value:g}, larger than can be squared and summed,"
