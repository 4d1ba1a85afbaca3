"""Read each format, whole or in batches."""

import io
import logging
import math
import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Iterator
from json import loads
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file

from .delimited import NO_HEADER, CellReader
from .errors import TableError, did_you_mean, listed, shown
from .files import SEPARATORS, SPREADSHEETS, is_arrow_stream
from .notation import infer_notation, parse_notation
from .parsing import strip_cells, tidy
from .table import MOST_NAMED, TARGET, Table
from .text import blocks, check_lines, number_in, opened

ROWS_FOR_HINT = 1_000
MOST_COLUMNS = 100_000_000  # of a LIBSVM file: a table of weights must fit in memory
SCANS: dict[str, Any] = {"parquet": pl.scan_parquet, "arrow": pl.scan_ipc}
INDEX_ZERO = b" 0:"  # a LIBSVM file that counts columns from 0 has it somewhere


class Options(NamedTuple):
    """Options of readers: see `read_table` and `read_batches`."""

    header: bool = True
    words: bool = False
    of_words: Collection[str] = ()
    sheet: str | None = None


def tables_in(
    source: str | Iterable[bytes], name: str, form: str, rows: int | None, options: Options
) -> Iterator[Table]:
    """Yield batches of so many rows, or one table, of a file or of lines."""
    if options.sheet is not None and form not in SPREADSHEETS:
        raise TableError(f"{name} is not a spreadsheet, so it has no sheet {options.sheet!r}.")
    if form in SPREADSHEETS:
        yield from _spreadsheet(_binary(source), name, options).cut(rows)
        return
    if form in SCANS:
        yield from _columnar(_binary(source), name, form, rows)
        return
    is_empty = True
    with opened(source) as lines:
        if form in SEPARATORS:
            tables = _delimited(lines, name, form, rows, options)
        elif form == "jsonl":
            tables = _json_lines(lines, name, rows, options.of_words)
        else:
            tables = _libsvm(lines, name, rows, _counts_from_zero(source, rows))
        for table in tables:
            is_empty = False
            yield table
    if is_empty:
        raise TableError(f"{name} is empty.")


def _binary(source: str | Iterable[bytes]) -> str | bytes:
    return source if isinstance(source, str) else b"".join(source)


def _delimited(
    lines: Iterable[bytes], name: str, form: str, rows: int | None, options: Options
) -> Iterator[Table]:
    reader, hint = None, ""
    for start, block in blocks(lines, rows, form):
        if reader is None:
            reader = CellReader(
                block, name, SEPARATORS[form], options.header, options.words, options.of_words
            )
        frame = reader.read(start, block)
        commas = reader.dialect.decimal_comma
        if options.words:
            yield Table(strip_cells(frame), name, decimal_comma=commas, cells=frame)
        else:
            hint = header_hint(frame, name) if options.header and start == 1 else hint
            yield Table(frame, name, guessed=True, decimal_comma=commas, hint=hint)


def header_hint(frame: pl.DataFrame, name: str) -> str:
    """Return a sentence if most names of columns look like values, else nothing.

    Names that count, such as 1990, 1991, 1992 or 0, 1, 2, are names.
    """
    alike = [column for column in frame.columns if _is_like_a_value(column, frame[column])]
    numbers = [number for number in map(number_in, alike) if number is not None]
    counts = len(numbers) > 1 and bool(np.all(np.diff(numbers) == 1))
    if 2 * len(alike) <= frame.width or counts:
        return ""
    return f"The first line of {name} holds {listed(alike, 4)}. {NO_HEADER}"


def _is_like_a_value(name: str, values: pl.Series) -> bool:
    if values.dtype.is_numeric():
        return number_in(name) is not None
    if values.dtype != pl.String:
        return False
    some = values.head(ROWS_FOR_HINT)
    notation = infer_notation(some)
    if notation is not None:
        return parse_notation(pl.Series([name]), notation.code)[0] is not None
    return 2 * some.n_unique() < len(some) and name in some


def _json_lines(
    lines: Iterable[bytes], name: str, rows: int | None, of_words: Collection[str]
) -> Iterator[Table]:
    """Each batch has its own types, and the columns of the first."""
    names: list[str] = []
    for start, marked in blocks(lines, rows, "jsonl"):
        block = marked.removeprefix(BOM_UTF8)
        try:
            frame = _json_frame(block, of_words)
        except pl.exceptions.PolarsError as error:
            check_lines(block, _check_json, name, "jsonl", start - 1)
            raise _unreadable(name, "jsonl", error) from None
        names = names or frame.columns
        missing = [pl.lit(None).alias(column) for column in names if column not in frame.columns]
        yield Table(frame.with_columns(missing).select(names), name, guessed=True)


def _json_frame(block: bytes, of_words: Collection[str]) -> pl.DataFrame:
    """Return the columns of JSON lines; numbers and truth values `of_words` become words.

    >>> _json_frame(b'{"a": 1.0, "b": 2}', of_words=["a"]).rows()
    [('1', 2)]
    """
    # The last line may show that a number is a fraction, or a word.
    frame = pl.read_ndjson(block, infer_schema_length=None)
    taken: Any = {
        name: pl.String
        for name, dtype in frame.schema.items()
        if name in of_words and (dtype.is_numeric() or dtype == pl.Boolean)
    }
    if not taken:
        return frame
    return pl.read_ndjson(block, infer_schema_length=None, schema_overrides=taken)


def _check_json(block: bytes) -> None:
    """Raise a ValueError unless all lines are JSON objects with finite numbers."""
    for line in filter(None, map(bytes.strip, block.splitlines())):
        try:
            found = loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            text = shown(line.decode("utf-8", "backslashreplace"))
            raise ValueError(f"{text} is not a JSON object")
        for key, value in found.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{key!r} has an infinite value, or NaN; use null")


def _counts_from_zero(source: Any, rows: int | None) -> bool | str:
    """Return whether a LIBSVM file counts columns from 0; the whole file shows it."""
    if rows is None:
        return "auto"
    if not isinstance(source, str):
        return False
    with opened(source) as lines:
        return any(INDEX_ZERO in line for line in lines)


def _libsvm(
    lines: Iterable[bytes], name: str, rows: int | None, zero_based: bool | str
) -> Iterator[Table]:
    for start, block in blocks(lines, rows, "libsvm"):
        if INDEX_ZERO in block and not zero_based:
            if start > 1:
                raise TableError(
                    f"{name} counts columns from 0, which shows only from line {start} on; give "
                    "the file itself."
                )
            zero_based = True
        try:
            X, y = _sparse_rows(block, zero_based)
        except ValueError as error:
            check_lines(block, lambda some: _sparse_rows(some, True), name, "libsvm", start - 1)
            raise _unreadable(name, "libsvm", error) from None
        if X.shape[1] > MOST_COLUMNS:
            raise TableError(
                f"{name} has a feature of number {X.shape[1]:,}, more than {MOST_COLUMNS:,}: "
                "number them from 1 on."
            )
        whole = bool(np.all(y == np.floor(y)))
        target = pl.Series(TARGET, y.astype(np.int64) if whole else y)
        yield Table(pl.DataFrame([target]), name, X.tocsr())


def _sparse_rows(block: bytes, zero_based: bool | str) -> tuple[Any, Any]:
    try:
        X, y = load_svmlight_file(io.BytesIO(block), zero_based=zero_based)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise ValueError("labels and values must be finite; a value that is left out is zero")
    return X, y


def _spreadsheet(source: str | bytes, name: str, options: Options) -> Table:
    """Return a sheet without empty rows: the first unless one is named."""
    import fastexcel  # slow, and not always installed

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it reports each column of words
    try:
        sheets = fastexcel.read_excel(source).sheet_names
        sheet = _sheet_of(sheets, options.sheet, name)
        frame: pl.DataFrame = pl.read_excel(
            io.BytesIO(source) if isinstance(source, bytes) else source,
            sheet_name=sheet, has_header=options.header,
        )  # fmt: skip
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        raise _unreadable(name, "a spreadsheet", error) from None
    frame.columns = [re.sub(r"^__UNNAMED__", "column_", name).strip() for name in frame.columns]
    frame = frame.with_columns(strip_cells(frame.select(pl.selectors.string())))
    hint = ""
    if options.sheet is None and len(sheets) > 1:
        hint = f"{name} has the sheets {listed(sheets, MOST_NAMED)}; the first was read."
        hint += " Name another by --sheet, or sheet=."
    frame = tidy(frame)
    hint = (header_hint(frame, name) if options.header else "") or hint
    return Table(frame, name, guessed=True, hint=hint)


def _sheet_of(sheets: list[str], wanted: str | None, name: str) -> str:
    """Return the name of a sheet that is wanted by name or number."""
    if wanted is None or wanted in sheets:
        return wanted or sheets[0]
    if wanted.isdigit() and 1 <= int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    near = did_you_mean(wanted, sheets) or f" It has {listed(sheets, MOST_NAMED)}."
    raise TableError(f"{name} has no sheet {wanted!r}.{near}")


def _columnar(source: str | bytes, name: str, form: str, rows: int | None) -> Iterator[Table]:
    try:
        if form == "arrow" and is_arrow_stream(source):
            yield from _arrow_stream(source, name, rows)
            return
        plan = scan(source, form)
        if rows is None:
            yield Table(plan.collect(), name)
        else:
            yield from scanned(plan, name, rows)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(name, form, error) from None


def scan(source: str | bytes, form: str) -> Any:
    """Return the lazy frame of a Parquet or Arrow file; polars reads brackets in a name as such."""
    return SCANS[form](source, glob=False)


def scanned(plan: Any, name: str, rows: int) -> Iterator[Table]:
    """Yield the rows of a lazy frame in batches."""
    for frame in plan.collect_batches(chunk_size=rows, maintain_order=True):
        yield Table(frame, name)


def _arrow_stream(source: str | bytes, name: str, rows: int | None) -> Iterator[Table]:
    """Yield the record batches of a stream, which polars cannot scan."""
    if rows is None:
        yield Table(pl.read_ipc_stream(source), name)
        return
    import pyarrow  # slow
    import pyarrow.ipc

    try:
        open_file = pyarrow.BufferReader if isinstance(source, bytes) else pyarrow.memory_map
        with open_file(source) as file, pyarrow.ipc.open_stream(file) as stream:
            for batch in stream:
                yield from Table(pl.DataFrame(batch), name).cut(rows)
    except pyarrow.ArrowException as error:
        raise _unreadable(name, "arrow", error) from None


def _unreadable(name: str, form: str, error: Exception) -> TableError:
    why = str(error).splitlines()[0].rstrip(".")
    return TableError(f"{name} cannot be read as {form}: {why}.")
