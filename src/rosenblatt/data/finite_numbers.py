"""Numbers that can be learned from: not infinite, and with squares that are not, nor all zero."""

from typing import Any

import numpy as np
import polars as pl

from .columns import A_FEW, numbers_of_words
from .errors import TableError
from .table import Table

# Squares of so many numbers still have a sum; half of what floating point holds has none.
LARGEST = 1e150
SMALLEST = 1e-150  # of the largest: else all squares are zero, or nearly so
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
    """Raise if a number is infinite or too large, or if all numbers of a column are too small."""
    if table.sparse is not None:
        _check_matrix(table)
    for name, dtype in table.frame.schema.items():
        if dtype.is_float():
            _check_column(name, table.frame[name])
        elif dtype == pl.String and table.guessed:  # numbers with a word among them, perhaps
            _check_column(name, _mostly_numbers(table.frame[name], table.decimal_comma))


def _check_column(name: str, numbers: pl.Series) -> None:
    # The ends tell it fifty times sooner than a look at each number, where columns are many.
    if ends_beyond(numbers):
        row = int(beyond(numbers).arg_max() or 0)
        raise TableError(
            f"Column {name!r} {_is_bad(float(numbers[row]))} in row {row} {WHAT_TO_DO}"
        )
    largest = max((abs(end) for end in _ends(numbers)), default=0.0)
    if 0 < largest < SMALLEST:
        raise TableError(
            f"Column {name!r} holds no number larger than {largest:g}, and squares of such are "
            "zero: give them in another unit."
        )


def _mostly_numbers(words: pl.Series, decimal_comma: bool) -> pl.Series:
    """Words as numbers, if most of the first are such: "Inf" is one, which polars reads as a word.

    >>> _mostly_numbers(pl.Series(["1", "Inf", "many"]), False).to_list()
    [1.0, inf, None]
    """
    few = words.drop_nulls().head(A_FEW)
    if 2 * numbers_of_words(few, decimal_comma).null_count() > len(few):
        return words.head(0).cast(pl.Float64)
    return numbers_of_words(words, decimal_comma)


def ends_beyond(numbers: pl.Series) -> bool:
    """Whether the least or the largest is infinite or too large; NaN, which is a gap, is neither.

    >>> nan = float("nan")
    >>> ends_beyond(pl.Series([nan, None, -1e200])), ends_beyond(pl.Series([nan, None, 1.0]))
    (True, False)
    >>> ends_beyond(pl.Series([nan, nan])), ends_beyond(pl.Series([None], dtype=pl.Float64))
    (False, False)
    """
    return any(abs(end) > LARGEST for end in _ends(numbers))


def _ends(numbers: pl.Series) -> list[Any]:
    """The least and the largest number; none of a column without any."""
    return [end for end in (numbers.min(), numbers.max()) if end is not None]


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
