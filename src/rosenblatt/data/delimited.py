"""Read CSV and TSV with polars; if that fails, name the line."""

import io
import re
from codecs import BOM_UTF8
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import polars as pl

from .errors import TableError
from .parsing import NOTHING, tidy
from .text import decoded, number_in, rows_of

LINES_FOR_SEPARATOR = 20
ROWS_FOR_COMMAS = 1_000
OTHERS = (";", "\t", "|", ",")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
# A value in quotes, from the start of a line or a possible separator to the next of these.
QUOTED = re.compile(r'(?<![^,;|\n]) *"[^"]*(?:""[^"]*)*" *(?=[,;|\r\n]|\Z)')
# The last lines, from the first quote that none of the lines closes.
UNCLOSED = re.compile(r'^[^\n]*(?<![^,;|\n]) *"[^"]*(?:""[^"]*)*\Z', re.MULTILINE)


@dataclass(frozen=True)
class Dialect:
    """The separator of values, and whether numbers have decimal commas."""

    separator: str
    decimal_comma: bool = False


def dialect_of(first: bytes, name: str, usual: str) -> Dialect:
    """Return the dialect of the first lines: the usual separator if the first line has it.

    >>> dialect_of(b"a;b\\n1,5;x\\n", "here", ",")
    Dialect(separator=';', decimal_comma=True)
    """
    lines = list(islice(decoded(io.BytesIO(first), name), LINES_FOR_SEPARATOR))
    bare = _without_quoted(lines)
    if not lines or usual in (lines if usual == "\t" else bare)[0]:
        return Dialect(usual)
    for other in OTHERS:
        among = lines if other == "\t" else bare  # TSV has no quotes
        counts = {line.count(other) for line in among if line.strip()}
        if len(counts) == 1 and 0 not in counts:
            return Dialect(other, other != "," and _has_decimal_commas(first, name, other))
    return Dialect(usual)


def _without_quoted(lines: list[str]) -> list[str]:
    """Return lines without quoted values, which may hold separators and line breaks.

    >>> _without_quoted(['a;"b, c"\\n', '"two\\n', 'lines";5"\\n', '1;"cut\\n'])
    ['a;', ';5"', '']
    """
    return UNCLOSED.sub("", QUOTED.sub("", "".join(lines))).split("\n")


def _has_decimal_commas(first: bytes, name: str, separator: str) -> bool:
    with suppress(TableError):  # of a bad row, which the reader will report
        rows = rows_of(io.BytesIO(first), name, separator)
        cells = (cell for _, row in islice(rows, ROWS_FOR_COMMAS) for cell in row)
        return any(map(DECIMAL_COMMA.fullmatch, cells))
    return False


NO_HEADER = "If its first line is a row, read it without a header: --no-header, or header=False."
LOOKED_AT = 10_000  # rows that usually show the types of columns


class CellReader:
    """Parses blocks of lines with separated values.

    The types are those of the first block, or of a later block that has other values. With
    `words`, cells stay as they are; columns `of_words` are not parsed.
    """

    def __init__(
        self, first: bytes, name: str, usual: str, header: bool, words: bool, of_words: Any
    ) -> None:
        self.name, self.header, self.words, self.of_words = name, header, words, of_words
        self.dialect = dialect_of(first, name, usual)
        self.separator = self.dialect.separator
        names = header_of(first, name, self.separator, header)
        self.names = names if header else [f"column_{j}" for j in range(len(names))]
        self.types: list[Any] = []

    def read(self, start: int, block: bytes) -> pl.DataFrame:
        """Return the rows of a block that begins at this line."""
        frame = self._frame(block, start)
        if frame.width != len(self.names) or (
            frame.height and frame[frame.columns[-1]].null_count()  # perhaps rows that end early
        ):
            self._check_widths(block, start)
        if frame.height:
            self.types = self.types or frame.dtypes
        frame.columns = self.names
        return frame if self.words else tidy(frame, self.of_words)

    def _frame(self, block: bytes, start: int) -> pl.DataFrame:
        options: dict[str, Any] = {
            "separator": self.separator,
            "quote_char": None if self.separator == "\t" else '"',  # TSV has no quotes
        }
        lines = block
        if not (self.header and start == 1):  # a header that shows the number of columns
            header = self.separator.join(map(str, range(len(self.names))))
            lines = header.encode() + b"\n" + block.removeprefix(BOM_UTF8)
        if self.words:
            attempts: list[dict[str, Any]] = [{"infer_schema": False}]
        else:
            options |= {"decimal_comma": self.dialect.decimal_comma, "null_values": NOTHING}
            given = {"schema_overrides": self._types_given(lines, options)}
            attempts = [
                {"schema_overrides": self.types, "infer_schema_length": 0}
                if self.types
                else given | {"infer_schema_length": LOOKED_AT},
                given | {"infer_schema_length": None},  # by all rows, which takes twice as long
            ]
        for types in attempts:
            try:
                return pl.read_csv(lines, **options, **types)
            except pl.exceptions.PolarsError as error:
                why = str(error).splitlines()[0]
        self._check_widths(block, start)
        self._check_widths(block, start, strict=True)
        if self.separator != "\t":
            self._check_quotes(block, start)
        raise TableError(f"{self.name} cannot be read: {why}.")

    def _types_given(self, lines: bytes, options: dict[str, Any]) -> dict[str, Any]:
        """Return the type of columns that stay words, by the names that polars gives them."""
        if not self.of_words:
            return {}
        names = pl.read_csv(lines, n_rows=0, **options).columns
        pairs = zip(names, self.names, strict=False)
        return {name: pl.String for name, known in pairs if known in self.of_words}

    def _check_widths(self, block: bytes, start: int, strict: bool = False) -> None:
        """Raise if a row has more or fewer values than there are columns."""
        lines, width = io.BytesIO(block), len(self.names)
        for line, row in rows_of(lines, self.name, self.separator, start - 1, strict):
            if len(row) != width:
                values, columns = _counted(len(row), "value"), _counted(width, "column")
                raise TableError(
                    f"Line {line} of {self.name} has {values}, but the table has {columns}. "
                    "Correct the line; quote values that contain the separator."
                )

    def _check_quotes(self, block: bytes, start: int) -> None:
        """Raise if a quote is part of a value that is not quoted, such as 5" for inches."""
        outside = QUOTED.sub(lambda value: "\n" * value[0].count("\n"), block.decode("utf-8-sig"))
        for line, values in enumerate(outside.split("\n"), start):
            if '"' in values:
                raise TableError(
                    f"Line {line} of {self.name} has a quote within a value. Put the value in "
                    "quotes, and double the quote."
                )


def _counted(n: int, what: str) -> str:
    return f"1 {what}" if n == 1 else f"{n:,} {what}s"


def header_of(first: bytes, name: str, separator: str, header: bool) -> list[str]:
    """Return the names in the first line, which must differ; without a header, its values."""
    row = next(rows_of(io.BytesIO(first), name, separator), None)
    if row is None:
        raise TableError(f"{name} is empty.")
    _, names = row
    names = [column.strip() for column in names]
    if not header:
        return names
    names = [column or _name_of_unnamed(j, names) for j, column in enumerate(names)]
    twice = [column for column, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(
            f"{name} has more than one column named {twice[0]!r}; rename them. {NO_HEADER}"
        )
    if all(number_in(column) is not None for column in names):
        raise TableError(
            f"The first line of {name} should name the columns, and holds numbers only: "
            f"{', '.join(names[:4])}. {NO_HEADER}"
        )
    return names


def _name_of_unnamed(j: int, names: list[str]) -> str:
    """Return a name for column j; pandas writes row numbers first, without a name."""
    name = f"column_{j}" if j else "index"
    while name in names:
        name += "_"
    return name
