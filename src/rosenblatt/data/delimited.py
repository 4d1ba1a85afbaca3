"""Tables of text, a line a row: read by polars, and where that fails the line to blame is named."""

import csv
import gzip
import io
import itertools
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from .errors import TableError

# What stands for nothing. "None" does not: many tables mean it as a value.
NOTHING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
LOOKED_AT = 10_000  # rows that tell the types of columns, as a rule
LINES_THAT_SHOW = 20  # what stands between values
OTHERS = (";", "\t", "|", ",")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
NUMBERS = (pl.Int64, pl.Float64)
DATES: dict[str, Any] = {
    r"^\d{4}-\d\d-\d\d$": pl.Date,
    r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d": pl.Datetime,
}


@dataclass(frozen=True)
class Dialect:
    """What stands between values, and in numbers before the fraction."""

    separator: str
    decimal_comma: bool = False


def dialect_of(source: Any, name: str, usual: str) -> Dialect:
    """The dialect of a file, or bytes: the usual one if it is in the first line.

    >>> dialect_of(b"a;b\\n1,5;x\\n", "here", ",")
    Dialect(separator=';', decimal_comma=True)
    """
    with opened(source) as file:
        lines = list(itertools.islice(_decoded(file, name), LINES_THAT_SHOW))
    if not lines or usual in lines[0]:
        return Dialect(usual)
    for other in OTHERS:
        counts = {line.count(other) for line in lines if line.strip()}
        if len(counts) == 1 and 0 not in counts:
            cells = [cell.strip() for line in lines for cell in line.split(other)]
            commas = other != "," and any(DECIMAL_COMMA.fullmatch(cell) for cell in cells)
            return Dialect(other, commas)
    return Dialect(usual)


def read_delimited(
    source: Any, name: str, dialect: Dialect, header: bool, of_words: Collection[str] = ()
) -> pl.DataFrame:
    """The table in a file, or in bytes, of separated values; some columns may be told to be words."""
    separator = dialect.separator
    names = header_of(source, name, separator, header)
    frame = None
    for rows in (LOOKED_AT, None):  # None looks at all of them, which takes twice as long
        try:
            frame = pl.read_csv(input_of(source), **options(dialect, header, rows))
            break
        except pl.exceptions.NoDataError:
            raise TableError(f"{name} is empty.") from None
        except (pl.exceptions.ComputeError, OSError) as error:
            why = str(error).splitlines()[0]
    if frame is None:
        check_widths(source, name, separator, len(names))
        check_widths(source, name, separator, len(names), strict=True)
        raise TableError(f"{name} cannot be read: {why}.")
    if frame.height and frame[frame.columns[-1]].null_count():  # perhaps rows that end early
        check_widths(source, name, separator, len(names))
    frame = tidy(frame, names if header else None)
    taken = [j for j, column in enumerate(frame.columns) if column in of_words]
    taken = [j for j in taken if frame.dtypes[j] != pl.String]  # for numbers, dates or truth values
    if not taken:
        return frame
    cells = pl.read_csv(input_of(source), columns=taken, **options(dialect, header, None, True))
    cells.columns = [frame.columns[j] for j in taken]
    return frame.with_columns(of_cells(cells))


def options(
    dialect: Dialect, header: bool, rows: int | None, words: bool = False
) -> dict[str, Any]:
    """How polars is asked to read; with `words`, cells as they are, which `of_cells` reads."""
    asked: dict[str, Any] = {
        "separator": dialect.separator,
        "quote_char": None if dialect.separator == "\t" else '"',  # quotes say nothing between tabs
        "has_header": header,
        "infer_schema_length": rows,
        "glob": False,  # a name with brackets or stars is a name
    }
    if words:
        return asked | {"infer_schema": False}
    return asked | {"decimal_comma": dialect.decimal_comma, "null_values": NOTHING}


def of_cells(cells: pl.DataFrame) -> pl.DataFrame:
    """The words that cells stand for, none where they say nothing.

    They stay words, whatever they look like: a batch of "01" and "1" says nothing of the next one.

    >>> of_cells(pl.DataFrame({"a": ["1,5", "?"], "b": ["01", " NA "]})).rows()
    [('1,5', '01'), (None, None)]
    """
    bare = cells.with_columns(pl.all().str.strip_chars())
    return bare.with_columns(pl.when(~pl.all().is_in(NOTHING)).then(pl.all()))


def tidy(frame: pl.DataFrame, names: list[str] | None = None) -> pl.DataFrame:
    """Words without the blanks around them, and the numbers, dates and nothing that these hid."""
    frame = renamed(frame, names)
    words = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(_tidy_words(frame[name]) for name in words)


def renamed(frame: pl.DataFrame, names: list[str] | None) -> pl.DataFrame:
    """Columns by the names that the header gives them, of which polars keeps the doubled quotes."""
    if names is not None and len(names) == frame.width:
        frame.columns = names
    return frame


def _tidy_words(words: pl.Series) -> pl.Series:
    bare = words.str.strip_chars()
    if (bare != words).any():
        bare = bare.replace(NOTHING, [None] * len(NOTHING))
        for number in NUMBERS:
            numbers = bare.cast(number, strict=False)
            if numbers.null_count() == bare.null_count():
                return numbers
    # polars would look for dates by itself, and take seconds over a small table of words.
    first = bare.drop_nulls().head(20)
    for pattern, kind in DATES.items():
        if len(first) and first.str.contains(pattern).all():
            dates = bare.str.strptime(kind, strict=False)
            if dates.null_count() == bare.null_count():
                return dates
    return bare


def header_of(source: Any, name: str, separator: str, header: bool) -> list[str]:
    """The names in the first line, which must differ; without a header, its values."""
    first = next(_rows(source, name, separator), None)
    if first is None:
        raise TableError(f"{name} is empty.")
    _, names = first
    names = [column.strip() for column in names]
    if not header:
        return names
    twice = [column for column in dict.fromkeys(names) if names.count(column) > 1]
    if twice:
        raise TableError(f"{name} has more than one column named {twice[0]!r}; rename them.")
    if all(_is_number(column) for column in names):
        raise TableError(
            f"The first line of {name} should name the columns, and holds numbers only: "
            f"{', '.join(names[:4])}. Name the columns, or say that there is no header."
        )
    return names


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def check_widths(
    source: Any, name: str, separator: str, width: int, before: int = 0, strict: bool = False
) -> None:
    """Raise if a row has more or fewer values than there are columns, or is not text.

    `before` counts the lines that came before these; `strict` asks quotes to be closed.
    """
    for line, row in _rows(source, name, separator, before, strict):
        if len(row) != width:
            has = f"{len(row)} value" + "s" * (len(row) != 1)
            raise TableError(
                f"Line {line} of {name} has {has}, and there are {width} columns. Mend the line; "
                "values that hold the separator must stand in quotes."
            )


def _rows(
    source: Any, name: str, separator: str, before: int = 0, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each row as words, with the line it begins at."""
    with opened(source) as file:
        lines = _decoded(file, name, before)
        if separator == "\t":
            reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(lines, delimiter=separator, strict=strict)
        while True:
            line = before + reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise TableError(_unread(line, name, str(error))) from None
            if row is None:
                return
            if row:  # a line with nothing on it is no row
                yield line, row


def _unread(line: int, name: str, why: str) -> str:
    """Why the reader of the standard library stopped, in our words."""
    if "new-line character" in why:
        return (
            f"Line {line} of {name} holds a carriage return alone, as lines of old Macs end: "
            "convert the file, as in tr '\\r' '\\n'."
        )
    if "unexpected end" in why or "expected after" in why:
        return f"Quotes of line {line} of {name} do not end where its value does. Mend the line."
    return f"Line {line} of {name} cannot be read: {why}."


def _decoded(lines: Iterable[bytes], name: str, before: int = 0) -> Iterator[str]:
    """Lines as text."""
    for number, line in enumerate(lines, before + 1):
        if number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise TableError(f"{name} is encoded as UTF-16; save it as UTF-8.")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            near = line[max(0, error.start - 10) : error.start + 10].decode("latin-1")
            raise TableError(
                f"Line {number} of {name} is not UTF-8, near {near!r}; save it as UTF-8. If all of "
                "it is Latin-1: iconv -f latin1 -t utf8."
            ) from None


@contextmanager
def opened(source: Any) -> Iterator[Any]:
    """A file, bytes, or what is open already, to be read as bytes; of files gzip is undone."""
    if hasattr(source, "read"):
        yield source
    elif isinstance(source, bytes):
        yield io.BytesIO(source)
    else:
        with open(source, "rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        try:
            with gzip.open(source) if zipped else open(source, "rb") as file:
                yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableError(f"{source} is damaged where gzip is undone: {error}.") from None


def input_of(source: Any) -> Any:
    """A path as it is, bytes as a file."""
    return io.BytesIO(source) if isinstance(source, bytes) else source
