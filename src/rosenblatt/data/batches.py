"""Reading a table in batches, so that it may be larger than memory."""

import io
import itertools
import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from . import delimited
from .errors import TableError
from .files import SEPARATORS, SPREADSHEETS, Form, form_of, is_arrow_stream
from .table import (
    BUNDLED,
    PIPED,
    Table,
    existing,
    form_of_piped,
    read_json_lines,
    read_table,
    table_from,
    table_of_libsvm,
)
from .text import ANY_BLANK, blame_json, n_blank_at_end, opened, without_blank_end

ROWS_PER_BATCH = 50_000
SCANS: dict[str, Any] = {"parquet": pl.scan_parquet, "arrow": pl.scan_ipc}
INDEX_ZERO = b" 0:"  # a LIBSVM file that counts columns from 0 has it somewhere


def read_batches(
    source: Any,
    format: str | None = None,
    *,
    header: bool = True,
    rows: int = ROWS_PER_BATCH,
    words: bool = False,
    of_words: Collection[str] = (),
    sheet: str | None = None,
) -> Iterator[Table]:
    """Read a table in batches of at most so many rows, so that it may be larger than memory.

    Parameters
    ----------
    source, format, header, sheet : as for `read_table`
        Parquet and Arrow from standard input, and data frames, are there as a whole and then cut.
        In JSON lines each batch tells its own types, and the first which columns there are; so do
        batches of CSV for cells with blanks around them and for dates, unless all stay words.
    rows : int
        The most rows of a batch.
    words : bool
        Whether all values of CSV and TSV stay words: for who knows what each column should hold,
        and would rather say which value does not than be told so by the reader. Tables have their
        `cells` then, too: the words as they are in the file, those that mean nothing included.
    of_words : collection of str
        As for `read_table`; in JSON lines only, since `words` keeps those of CSV and TSV.

    Examples
    --------
    >>> from rosenblatt.data import read_batches
    >>> [len(batch) for batch in read_batches("iris", rows=100)]
    [100, 50]
    """
    name = str(source)
    if hasattr(source, "columns") or (name in BUNDLED and not Path(name).exists()):
        yield from cut(read_table(source), rows)
        return
    if name == "-":
        yield from _piped(format, header, rows, words, of_words)
        return
    path = existing(name)
    form = form_of(path, format)
    if sheet is not None or form.name in SPREADSHEETS:
        yield from cut(read_table(path, format, header=header, sheet=sheet), rows)
    elif form.name in ("jsonl", "libsvm"):
        with opened(path) as file:
            if form.name == "jsonl":
                yield from _json_lines(file, name, rows, of_words)
            else:
                yield from _libsvm(file, name, rows, path)
    elif form.name in SEPARATORS:
        yield from _without_blank_end(_scanned(path, name, form, header, rows, words), path)
    else:
        yield from _columnar(path, name, form, rows)


def _piped(
    format: str | None, header: bool, rows: int, words: bool, of_words: Collection[str]
) -> Iterator[Table]:
    """Batches of standard input, whose first line tells what it is unless it was said."""
    form = form_of("-", format or "csv")
    lines = iter(sys.stdin.buffer)
    first = next(lines, b"")
    form, lines = form_of_piped(first, form, format), itertools.chain([first], lines)
    if form.name == "jsonl":
        yield from _json_lines(lines, PIPED, rows, of_words)
    elif form.name == "libsvm":
        yield from _libsvm(lines, PIPED, rows, None)
    elif form.name in SEPARATORS:
        yield from _delimited_lines(lines, PIPED, form, header, rows, words)
    else:
        yield from cut(table_from(b"".join(lines), PIPED, form, header), rows)


def cut(table: Table, rows: int) -> Iterator[Table]:
    """The rows of a table, at most so many at a time."""
    for start in range(0, len(table), rows):
        some = None if table.sparse is None else table.sparse[start : start + rows]
        yield Table(table.frame[start : start + rows], table.name, some)


def _scanned(
    path: str, name: str, form: Form, header: bool, rows: int, words: bool
) -> Iterator[Table]:
    """Batches of a file of text that polars reads by and by."""
    dialect = delimited.dialect_of(path, name, SEPARATORS[form.name])
    names = delimited.header_of(path, name, dialect.separator, header)
    whole = False
    plan = pl.scan_csv(path, **delimited.options(dialect, header, delimited.LOOKED_AT, words))
    try:
        for frame in plan.collect_batches(chunk_size=rows, maintain_order=True):
            if not whole and frame.height and frame[frame.columns[-1]].null_count():
                delimited.check_widths(path, name, dialect.separator, frame.width)
                whole = True
            yield _table(frame, name, names if header else None, dialect, words)
    except (pl.exceptions.PolarsError, OSError) as error:
        delimited.check_widths(path, name, dialect.separator, len(names))
        delimited.check_widths(path, name, dialect.separator, len(names), strict=True)
        raise _unreadable(name, form.name, error) from None


def _without_blank_end(batches: Iterator[Table], path: str) -> Iterator[Table]:
    """Batches without the rows that blank lines at the end of their file became."""
    held: list[Table] = []  # rows without a value, which may be such
    for batch in batches:
        n = len(batch) - delimited.n_empty_at_end(batch.frame)
        if n:
            yield from held
            yield _some(batch, 0, n)
            held.clear()
        if n < len(batch):
            held.append(_some(batch, n, len(batch)))
    left = sum(map(len, held)) - n_blank_at_end(path) if held else 0
    for batch in held:
        if left > 0:
            yield _some(batch, 0, left)
        left -= len(batch)


def _some(batch: Table, start: int, end: int) -> Table:
    """Rows of a batch from one to before another."""
    cells = None if batch.cells is None else batch.cells[start:end]
    return replace(batch, frame=batch.frame[start:end], cells=cells)


def _columnar(path: str, name: str, form: Form, rows: int) -> Iterator[Table]:
    """Batches of a file that says itself what its columns hold."""
    if form.name == "arrow" and is_arrow_stream(path):
        yield from _streamed(path, name, rows)
        return
    try:
        scan = SCANS[form.name](path, glob=False)
        for frame in scan.collect_batches(chunk_size=rows, maintain_order=True):
            yield Table(frame, name)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(name, form.name, error) from None


def _streamed(path: str, name: str, rows: int) -> Iterator[Table]:
    """Batches of an Arrow stream, one record batch after the other."""
    import pyarrow.ipc  # which takes a moment

    try:
        with pyarrow.memory_map(path) as file, pyarrow.ipc.open_stream(file) as stream:
            for batch in stream:
                yield from cut(Table(pl.DataFrame(batch), name), rows)
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(name, "arrow", error) from None


def _delimited_lines(
    file: Any, name: str, form: Form, header: bool, rows: int, words: bool
) -> Iterator[Table]:
    """Batches of lines that come once: types, unless they stay words, are those of the first."""
    dialect, head, names = delimited.Dialect(SEPARATORS[form.name]), b"", list[str]()
    types: dict[str, Any] | None = None
    for start, block in _blocks(without_blank_end(file), rows, quoted=form.name == "csv"):
        if start == 1:
            dialect = delimited.dialect_of(block, name, dialect.separator)
            names = delimited.header_of(block, name, dialect.separator, header)
            head = block.split(b"\n", 1)[0] + b"\n" if header else b""
            lines, before = block, 0
        else:
            lines, before = head + block, start - 1 - bool(header)
        asked = delimited.options(dialect, header, None, words) | (
            {"schema_overrides": types} if types else {}
        )
        try:
            frame = pl.read_csv(io.BytesIO(lines), **asked)
        except pl.exceptions.PolarsError as error:
            delimited.check_widths(lines, name, dialect.separator, len(names), before)
            raise _unreadable(name, form.name, error) from None
        if frame.height and frame[frame.columns[-1]].null_count():
            delimited.check_widths(lines, name, dialect.separator, len(names), before)
        types = types or dict(frame.schema)
        if frame.height:
            yield _table(frame, name, names if header else None, dialect, words)


def _table(
    frame: pl.DataFrame, name: str, names: list[str] | None, dialect: delimited.Dialect, words: bool
) -> Table:
    """A batch, with its cells if all that was read are words."""
    if not words:
        return Table(delimited.tidy(frame, names), name)
    cells = delimited.renamed(frame, names)
    return Table(delimited.of_cells(cells), name, decimal_comma=dialect.decimal_comma, cells=cells)


def _json_lines(file: Any, name: str, rows: int, of_words: Collection[str]) -> Iterator[Table]:
    names: list[str] = []
    for start, block in _blocks(without_blank_end(file, ANY_BLANK), rows):
        try:
            frame = read_json_lines(block, of_words)
        except pl.exceptions.PolarsError as error:
            blame_json(block, name, start - 1)
            raise _unreadable(f"{name}, from line {start} on,", "jsonl", error) from None
        names = names or frame.columns
        missing = [pl.lit(None).alias(column) for column in names if column not in frame.columns]
        if frame.height:
            yield Table(frame.with_columns(missing).select(names), name)


def _libsvm(file: Any, name: str, rows: int, path: str | None) -> Iterator[Table]:
    """Whether columns count from 0 is told by the whole file, or what was piped of it so far."""
    zero_based = False
    if path is not None:
        with opened(path) as lines:
            zero_based = any(INDEX_ZERO in line for line in lines)
    for start, block in _blocks(without_blank_end(file, ANY_BLANK), rows):
        if INDEX_ZERO in block and not zero_based:
            if start > 1:
                raise TableError(
                    f"{name} counts columns from 0, which shows only from line {start} on; give "
                    "the file itself."
                )
            zero_based = True
        yield table_of_libsvm(block, name, zero_based, start - 1)


def _blocks(file: Any, rows: int, quoted: bool = False) -> Iterator[tuple[int, bytes]]:
    """So many lines at a time, with the number of the first; no quoted value is torn apart."""
    lines: list[bytes] = []
    start, quotes = 1, 0
    for number, line in enumerate(file, 1):
        lines.append(line)
        quotes += line.count(b'"') if quoted else 0
        if len(lines) >= rows and quotes % 2 == 0:
            yield start, b"".join(lines)
            lines, start = [], number + 1
    if lines:
        yield start, b"".join(lines)


def _unreadable(name: str, form: str, error: Exception) -> TableError:
    return TableError(f"{name} cannot be read as {form}: {str(error).splitlines()[0]}.")
