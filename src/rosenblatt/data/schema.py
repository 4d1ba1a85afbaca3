"""Parse the columns of a source by a schema that the user gives."""

import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import polars as pl

from .columns import USED
from .errors import TableError, did_you_mean
from .parsing import misfit, parse
from .table import Table

# Collects sentences about rows that are left out; without a list they are warnings.
LEFT_OUT: ContextVar[list[str] | None] = ContextVar("left out", default=None)


def checked_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema; raise if a value is neither a kind of column nor a type of polars."""
    if not schema:
        raise TableError("schema names no column.")
    for name, kind in schema.items():
        is_type = isinstance(kind, pl.DataType) or (
            isinstance(kind, type) and issubclass(kind, pl.DataType)
        )
        if kind not in USED and not is_type:
            near = did_you_mean(str(kind), USED) or f" There are {', '.join(USED)}."
            raise TableError(f"schema: {kind!r} is not a kind of column ({name}).{near}")
    return dict(schema)


def words_of(schema: Mapping[str, Any]) -> list[str]:
    """Return the columns whose values stay words, even if all of them look like numbers."""
    return [name for name, kind in schema.items() if kind in ("categorical", "text", pl.String)]


def conform(
    table: Table, schema: Mapping[str, Any], place: str, first: int, skip: bool = False
) -> Table:
    """Return the columns of a schema, parsed; an error names the row of a value that does not fit.

    With `skip`, leave the rows of such values out, and report their number.

    >>> table = Table(pl.DataFrame({"x": ["1", "2.5"], "w": [7, 8]}), "a.csv")
    >>> conform(table, {"x": "numeric", "w": "categorical"}, "a.csv", 0).frame.rows()
    [(1.0, '7'), (2.5, '8')]
    >>> conform(table, {"x": pl.Int64}, "a.csv", 100)
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: Column 'x' of a.csv must hold values of type Int64, but holds
    '2.5' in row 101 (rows count from 0). Correct it or leave it empty.
    """
    parsed, all_bad, sentence = [], set[int](), ""
    for name, kind in schema.items():
        values = table.frame[name]
        found, bad = parse(values, kind, table.decimal_comma)
        if len(bad):
            sentence = sentence or misfit(values, bad, kind, f" of {place}", first)
            if not skip:
                raise TableError(sentence)
            all_bad.update(bad)
        parsed.append(found)
    frame = pl.DataFrame(parsed)
    if sentence:
        report_left_out(len(all_bad), first, len(frame), place, sentence)
        rows = pl.Series(range(len(frame)))
        frame = frame.filter(~rows.is_in(list(all_bad)))
    return Table(frame, table.name)


def report_left_out(n: int, first: int, n_rows: int, place: str, sentence: str) -> None:
    """Add a sentence about rows that are left out to those that are collected, or warn."""
    sentence = f"{n:,} of the rows {first:,} to {first + n_rows - 1:,} of {place}. {sentence}"
    collected = LEFT_OUT.get()
    if collected is None:
        warnings.warn(f"Left out: {sentence}", stacklevel=2)
    else:
        collected.append(sentence)
