"""Tables of text, a line a row: read by polars, and where that fails the line to blame is named."""

import csv
import gzip
import io
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from .errors import TableError

# What stands for nothing. "None" does not: many tables mean it as a value.
NOTHING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
LOOKED_AT = 10_000  # rows that tell the types of columns, as a rule
NUMBERS = (pl.Int64, pl.Float64)
DATES: dict[str, Any] = {
    r"^\d{4}-\d\d-\d\d$": pl.Date,
    r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d": pl.Datetime,
}


def read_delimited(source: Any, name: str, separator: str, header: bool) -> pl.DataFrame:
    """The table in a file, or in bytes, of separated values."""
    names = check_header(source, name, separator, header)
    frame = None
    for rows in (LOOKED_AT, None):  # None looks at all of them, which takes twice as long
        try:
            frame = pl.read_csv(_opened(source), **options(separator, header, rows))
            break
        except pl.exceptions.NoDataError:
            raise TableError(f"{name} is empty.") from None
        except pl.exceptions.ComputeError as error:
            why = str(error).splitlines()[0]
    if frame is None:
        check_widths(source, name, separator, len(names))
        raise TableError(f"{name} cannot be read: {why}.")
    if frame.height and frame[frame.columns[-1]].null_count():  # perhaps rows that end early
        check_widths(source, name, separator, len(names))
    return tidy(frame)


def options(separator: str, header: bool, rows: int | None) -> dict[str, Any]:
    """How polars is asked to read."""
    return {
        "separator": separator,
        "quote_char": None if separator == "\t" else '"',  # quotes say nothing between tabs
        "has_header": header,
        "null_values": NOTHING,
        "infer_schema_length": rows,
        "glob": False,  # a name with brackets or stars is a name
    }


def tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """Words without the blanks around them, and the numbers, dates and nothing that these hid."""
    words = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(_tidy_words(frame[name]) for name in words)


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


def check_header(source: Any, name: str, separator: str, header: bool) -> list[str]:
    """The names in the first line, which must differ; without a header, its values."""
    first = next(_rows(source, name, separator), None)
    if first is None:
        raise TableError(f"{name} is empty.")
    _, names = first
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


def check_widths(source: Any, name: str, separator: str, width: int) -> None:
    """Raise if a row has more or fewer values than there are columns, or is not text."""
    for line, row in _rows(source, name, separator):
        if len(row) != width:
            has = f"{len(row)} value" + "s" * (len(row) != 1)
            raise TableError(
                f"Line {line} of {name} has {has}, and there are {width} columns. Mend the line; "
                "values that hold the separator must stand in quotes."
            )


def _rows(source: Any, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Each row as words, with the line it begins at."""
    with _binary(source) as file:
        lines = _decoded(file, name)
        if separator == "\t":
            reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(lines, delimiter=separator)
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise TableError(f"Line {line} of {name} cannot be read: {error}.") from None
            if row is None:
                return
            if row:  # a line with nothing on it is no row
                yield line, row


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    """Lines as text."""
    for number, line in enumerate(lines, 1):
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


def _binary(source: Any) -> Any:
    """A file, or bytes, to be read as bytes; gzip is undone."""
    if isinstance(source, bytes):
        return io.BytesIO(source)
    with open(source, "rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(source) if zipped else open(source, "rb")


def _opened(source: Any) -> Any:
    return io.BytesIO(source) if isinstance(source, bytes) else source
