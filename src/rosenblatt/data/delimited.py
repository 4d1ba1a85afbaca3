"""Tables of text, a line a row: read by polars, and where that fails the line to blame is named."""

import itertools
import re
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import polars as pl

from .errors import TableError
from .text import decoded, input_of, n_blank_at_end, number_in, opened, rows_of

# What separates the values of a table of text, and whether its numbers have decimal commas.


LINES_THAT_SHOW = 20  # what stands between values
ROWS_THAT_SHOW = 1_000  # whether there are decimal commas
OTHERS = (";", "\t", "|", ",")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
# A value in quotes, from the start of a line or what may be a separator to the next of these.
QUOTED = re.compile(r'(?<![^,;|\n]) *"[^"]*(?:""[^"]*)*" *(?=[,;|\r\n]|\Z)')
# The last lines, from that on whose quotes are not closed in any that is looked at.
UNCLOSED = re.compile(r'^[^\n]*(?<![^,;|\n]) *"[^"]*(?:""[^"]*)*\Z', re.MULTILINE)


@dataclass(frozen=True)
class Dialect:
    """What stands between values, and in numbers before the fraction."""

    separator: str
    decimal_comma: bool = False


def dialect_of(source: Any, name: str, usual: str) -> Dialect:
    """The dialect of a file, or bytes: the usual one if it is in the first line, quotes aside.

    >>> dialect_of(b"a;b\\n1,5;x\\n", "here", ",")
    Dialect(separator=';', decimal_comma=True)
    """
    with opened(source) as file:
        lines = list(itertools.islice(decoded(file, name), LINES_THAT_SHOW))
    bare = _without_quoted(lines)
    if not lines or usual in (lines if usual == "\t" else bare)[0]:
        return Dialect(usual)
    for other in OTHERS:
        among = lines if other == "\t" else bare  # quotes say nothing between tabs
        counts = {line.count(other) for line in among if line.strip()}
        if len(counts) == 1 and 0 not in counts:
            return Dialect(other, other != "," and _has_decimal_commas(source, name, other))
    return Dialect(usual)


def _without_quoted(lines: list[str]) -> list[str]:
    """Lines without the values that stand in quotes, which may hold separators and ends of lines.

    >>> _without_quoted(['a;"b, c"\\n', '"two\\n', 'lines";5"\\n', '1;"cut\\n'])
    ['a;', ';5"', '']
    """
    return UNCLOSED.sub("", QUOTED.sub("", "".join(lines))).split("\n")


def _has_decimal_commas(source: Any, name: str, separator: str) -> bool:
    """Whether a value of the first rows is such a number."""
    with suppress(TableError):  # whoever reads the table will say what is wrong with it
        for _, row in itertools.islice(rows_of(source, name, separator), ROWS_THAT_SHOW):
            if any(DECIMAL_COMMA.fullmatch(cell) for cell in row):
                return True
    return False


NO_HEADER = "If its first line is a row, read it without a header: --no-header, or header=False."
# What stands for nothing. "None" does not: many tables mean it as a value.
NOTHING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
LOOKED_AT = 10_000  # rows that tell the types of columns, as a rule
NUMBERS = (pl.Int64, pl.Float64)
DATES: dict[str, Any] = {
    r"^\d{4}-\d\d-\d\d$": pl.Date,
    r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d": pl.Datetime,
}


def read_delimited(
    source: Any, name: str, dialect: Dialect, header: bool, of_words: Collection[str] = ()
) -> pl.DataFrame:
    """The table in a file, or in bytes, of separated values; those `of_words` stay words."""
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
    if n_empty := n_empty_at_end(frame):
        frame = frame.head(frame.height - min(n_empty, n_blank_at_end(source)))
    taken = [j for j, column in enumerate(frame.columns) if column in of_words]
    taken = [j for j in taken if frame.dtypes[j] != pl.String]  # for numbers, dates or truth values
    if not taken:
        return frame
    cells = pl.read_csv(input_of(source), columns=taken, **options(dialect, header, None, True))
    cells.columns = [frame.columns[j] for j in taken]
    return frame.with_columns(of_cells(cells).head(frame.height))


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


def n_empty_at_end(frame: pl.DataFrame) -> int:
    """How many rows at the end have no value, as blank lines there have.

    >>> n_empty_at_end(pl.DataFrame({"a": [None, 1, None, None], "b": [2, None, None, None]}))
    2
    """
    if not frame.height or any(value is not None for value in frame.row(-1)):
        return 0
    known = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    return int(frame.height - (known[-1] + 1 if len(known) else 0))


def header_of(source: Any, name: str, separator: str, header: bool) -> list[str]:
    """The names in the first line, which must differ; without a header, its values."""
    first = next(rows_of(source, name, separator), None)
    if first is None:
        raise TableError(f"{name} is empty.")
    _, names = first
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
    """What a column without a name is called; the first numbers the rows, as pandas writes it."""
    name = f"column_{j}" if j else "index"
    while name in names:
        name += "_"
    return name


def check_widths(
    source: Any, name: str, separator: str, width: int, before: int = 0, strict: bool = False
) -> None:
    """Raise if a row has more or fewer values than there are columns, or is not text.

    `before` counts the lines that came before these; `strict` asks quotes to be closed.
    """
    for line, row in rows_of(source, name, separator, before, strict):
        if len(row) != width:
            has = f"{len(row)} value" + "s" * (len(row) != 1)
            raise TableError(
                f"Line {line} of {name} has {has}, and there are {width} columns. Mend the line; "
                "values that hold the separator must stand in quotes."
            )
