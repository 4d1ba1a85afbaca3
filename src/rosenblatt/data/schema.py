"""What the columns of a source must hold, if that is given: each value is read as its kind."""

import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import polars as pl

from .columns import TRUTH, USED, numbers_of_words
from .delimited import DATES, NUMBERS
from .errors import TableError, did_you_mean, shown
from .table import Table

# Where sentences about rows that are left out go, if someone collects them; else they are warnings.
LEFT_OUT: ContextVar[list[str] | None] = ContextVar("left out", default=None)
YES = {"1", "true", "yes", "y", "t"}


def checked_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose kinds are all kinds of column, or types of polars."""
    if not schema:
        raise TableError("schema names no column.")
    for name, kind in schema.items():
        if kind not in USED and not _is_type(kind):
            near = did_you_mean(str(kind), USED) or f" There are {', '.join(USED)}."
            raise TableError(f"schema: {kind!r} is no kind of column ({name}).{near}")
    return dict(schema)


def _is_type(kind: Any) -> bool:
    return isinstance(kind, pl.DataType) or (
        isinstance(kind, type) and issubclass(kind, pl.DataType)
    )


def words_of(schema: Mapping[str, Any]) -> list[str]:
    """The columns whose values stay words, even if all of them look like numbers."""
    return [name for name, kind in schema.items() if kind in ("categorical", "text", pl.String)]


def conform(
    table: Table, schema: Mapping[str, Any], place: str, first: int, skip: bool = False
) -> Table:
    """The columns of a schema in its kinds; a value that does not fit is named by its row.

    `skip` leaves the rows of such values out, and reports how many there are.

    >>> table = Table(pl.DataFrame({"x": ["1", "2.5"], "w": [7, 8]}), "a.csv")
    >>> conform(table, {"x": "numeric", "w": "categorical"}, "a.csv", 0).frame.rows()
    [(1.0, '7'), (2.5, '8')]
    >>> conform(table, {"x": pl.Int64}, "a.csv", 100)
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: a.csv: column 'x' holds '2.5' in row 101 (rows count from \
0), and the schema has Int64.
    """
    read, bad, sentence = [], pl.Series([False]).new_from_index(0, table.frame.height), ""
    for name, kind in schema.items():
        values = table.frame[name]
        found = _read(values, kind, table.decimal_comma)
        wrong = found.is_null() & values.is_not_null()
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            sentence = sentence or (
                f"{place}: column {name!r} holds {shown(values[row])} in row {first + row:,} "
                f"(rows count from 0), and the schema has {kind}."
            )
            if not skip:
                raise TableError(sentence)
            bad = bad | wrong
        read.append(found)
    if sentence:
        last = first + len(bad) - 1
        report(f"{int(bad.sum()):,} of the rows {first:,} to {last:,} of {sentence}")
    return Table(pl.DataFrame(read).filter(~bad) if sentence else pl.DataFrame(read), table.name)


def report(sentence: str) -> None:
    """Add a sentence to those that someone collects, or warn."""
    collected = LEFT_OUT.get()
    if collected is None:
        warnings.warn(f"Left out: {sentence}", stacklevel=2)
    else:
        collected.append(sentence)


def _read(values: pl.Series, kind: Any, decimal_comma: bool) -> pl.Series:
    """A column as a kind, none where it is no such."""
    if kind == "numeric":
        return _numbers(values, decimal_comma)
    if kind == "boolean":
        words = values.cast(pl.String, strict=False).str.to_lowercase()
        known = words.is_in([word for pair in TRUTH for word in pair])
        return pl.select(pl.when(known).then(words.is_in(list(YES)))).to_series().alias(values.name)
    if kind == "date":
        if values.dtype.is_temporal():
            return values
        return _dates(values) if values.dtype == pl.String else _none(values)
    kind = pl.String if kind in ("categorical", "text") else kind
    try:
        if values.dtype == pl.String and kind.is_numeric():
            return numbers_of_words(values, decimal_comma, kind)
        found = values.cast(kind, strict=False)
        if values.dtype.is_float() and found.dtype.is_integer():  # fractions would be cut off
            return found.set(found != values, None)
        return found
    except pl.exceptions.PolarsError:  # no value of this type is one of that
        return _none(values)


def _numbers(values: pl.Series, decimal_comma: bool) -> pl.Series:
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values
    if values.dtype != pl.String:
        return values.cast(pl.Float64, strict=False) if values.dtype == pl.Null else _none(values)
    for number in NUMBERS:
        found = numbers_of_words(values, decimal_comma, number)
        if found.null_count() == values.null_count():
            break
    return found


def _dates(words: pl.Series) -> pl.Series:
    for pattern, kind in DATES.items():
        if words.drop_nulls().str.contains(pattern).all():
            return words.str.strptime(kind, strict=False)
    return words.str.strptime(pl.Date, strict=False)


def _none(values: pl.Series) -> pl.Series:
    return pl.Series(values.name, [None] * len(values), pl.Null)
