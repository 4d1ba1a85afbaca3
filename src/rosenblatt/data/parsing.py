"""Read columns of words as numbers, dates or truth values.

Files of text are read by polars, which finds most types. What is left are words with blanks or
decimal commas, and columns whose type is known: of a schema, of a fitted model, or by some rows.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

import polars as pl

from .errors import TableError, shown
from .notation import (
    NUMBER,
    POINT,
    Notation,
    infer_notation,
    is_date,
    is_missing_word,
    parse_notation,
)

# Cells without a value. "None" does not count: many tables have it as a category.
NOTHING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
NUMBERS = (pl.Int64, pl.Float64)
DATES: dict[str, Any] = {
    r"^\d{4}-\d\d-\d\d$": pl.Date,
    r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d": pl.Datetime,
}
TRUTH = [{"0", "1"}, {"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}]
YES = ["1", "true", "yes", "y", "t"]
YES_OR_NO = sorted(set().union(*TRUTH))
HOLDS = {
    "numeric": "numbers",
    "boolean": "yes or no",
    "date": "dates",
    "categorical": "categories",
    "text": "texts",
}
A_FEW = 100  # values that usually show that a column holds words
FEW_WORDS = 0.1  # largest part of the values that are words in a column of numbers with mistakes
MOST_REPEATED = 0.5  # largest part of the values that differ in a column of categories


# Types of columns: "numeric", "boolean", "date", "categorical" or "text"; a type of polars; or a
# notation of `notation.py`.


def infer_type(words: pl.Series, decimal_comma: bool = False) -> Any:
    """Return Int64, Float64, Date, Datetime or "boolean" if all words are such, else None.

    >>> infer_type(pl.Series(["1", "2,5"]), decimal_comma=True)
    Float64
    >>> infer_type(pl.Series(["Yes", "no"])), infer_type(pl.Series(["1", "x"]))
    ('boolean', None)
    """
    known = words.drop_nulls()
    if not len(known):
        return None
    few = known.head(A_FEW)
    for number in NUMBERS:
        if not any(to_numbers(some, decimal_comma, number).null_count() for some in (few, known)):
            return number
    for pattern, date in DATES.items():
        if few.str.contains(pattern).all() and not _as_dates(known, date).null_count():
            return date
    if few.str.to_lowercase().is_in(YES_OR_NO).all() and (
        set(known.str.to_lowercase().unique()) in TRUTH
    ):
        return "boolean"
    return None


def parse(values: pl.Series, kind: Any, decimal_comma: bool = False) -> tuple[pl.Series, pl.Series]:
    """Return a column as another type, null where a value does not fit, and these rows.

    Words that stand for nothing are missing in a column of numbers or dates.

    >>> found, bad = parse(pl.Series(["1", "n/a", "many"]), "numeric")
    >>> found.to_list(), bad.to_list()
    ([1.0, None, None], [2])
    """
    try:
        if values.dtype == pl.String:
            found = _parsed_words(values, kind, decimal_comma)
        else:
            found = _converted(values, kind)
    except pl.exceptions.PolarsError:  # no value of this type is one of the other
        found = _missing(values)
    if found.null_count() == values.null_count():
        return found, pl.Series(dtype=pl.UInt32)
    bad = found.is_null() & values.is_not_null()
    if values.dtype == pl.String and found.dtype != pl.Boolean:
        bad &= ~is_missing_word(values)
    return found, bad.arg_true()


def parse_written(
    values: pl.Series, decimal_comma: bool = False, dates: bool | None = None
) -> tuple[pl.Series, Notation | None]:
    """Parse numbers or dates as people write them, or only `dates`, or only numbers.

    Return other columns as they are, without a notation.
    """
    how = infer_notation(values, decimal_comma) if values.dtype == pl.String else None
    if how is None or dates not in (None, is_date(how.code)):
        return values, None
    return parse(values, how.code)[0], how


def _is_notation(kind: Any) -> bool:
    return isinstance(kind, str) and (kind in NUMBER or is_date(kind))


def _parsed_words(words: pl.Series, kind: Any, decimal_comma: bool) -> pl.Series:
    """Return text cells as another type, null where a cell does not fit."""
    if kind in ("categorical", "text", pl.String):
        return words
    if kind in ("boolean", pl.Boolean):
        return _truth(words)
    if not isinstance(kind, str) and not (kind.is_numeric() or kind.is_temporal()):
        return words.cast(kind, strict=False)  # "none" may be a category
    words = words.set(is_missing_word(words), None)
    if _is_notation(kind):
        return parse_notation(words, kind)
    if kind == "numeric":
        whole = to_numbers(words, decimal_comma, pl.Int64)
        lossless = whole.null_count() == words.null_count()
        return whole if lossless else to_numbers(words, decimal_comma)
    if kind == "date":
        return _dates(words)
    if kind == pl.Time:
        return _as_dates(words, kind)
    if kind.is_temporal():
        return _dates(words).cast(kind, strict=False)
    return to_numbers(words, decimal_comma, kind)


def _converted(values: pl.Series, kind: Any) -> pl.Series:
    """Return a column other than words as another type, null where a value does not fit."""
    dtype = values.dtype
    if kind in ("boolean", pl.Boolean):
        return values if dtype == pl.Boolean else _truth(values)
    # A cast would count days, or read numbers as days.
    if kind == "date" or (not isinstance(kind, str) and kind.is_temporal()):
        dates = values if dtype.is_temporal() else _missing(values).cast(pl.Date)
        return dates if kind == "date" else dates.cast(kind, strict=False)
    if kind == "numeric" and (dtype.is_numeric() or dtype == pl.Boolean):
        return values
    kind = {"numeric": pl.Float64, "categorical": pl.String, "text": pl.String}.get(kind, kind)
    if kind.is_numeric() and not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        return _missing(values).cast(kind)
    found = values.cast(kind, strict=False)
    if dtype.is_float() and found.dtype.is_integer():  # a cast drops fractions
        return found.set(found != values, None)
    return found


def to_numbers(words: pl.Series, decimal_comma: bool, kind: Any = pl.Float64) -> pl.Series:
    """Return words as numbers, null for other words.

    >>> to_numbers(pl.Series(["1,5", "x", "2"]), decimal_comma=True).to_list()
    [1.5, None, 2.0]
    """
    if decimal_comma:
        words = words.str.replace(",", ".", literal=True)
    return words.cast(kind, strict=False)


def _truth(values: pl.Series) -> pl.Series:
    if values.dtype.is_float():
        values = values.set(values != values.floor(), None).cast(pl.Int64, strict=False)
    lower = values.cast(pl.String).str.to_lowercase()
    return lower.is_in(YES).set(~lower.is_in(YES_OR_NO).fill_null(False), None)


def _dates(words: pl.Series) -> pl.Series:
    """Return words as dates, or as times if fewer are lost."""
    found = []
    for kind in (pl.Date, pl.Datetime("us")):
        found.append(_as_dates(words, kind))
        if found[-1].null_count() == words.null_count():
            break
    return min(found, key=pl.Series.null_count)


def _as_dates(words: pl.Series, kind: Any) -> pl.Series:
    """Return words as dates or times, null for other words."""
    try:
        return words.str.strptime(kind, strict=False)
    except pl.exceptions.ComputeError:  # no format of polars fits
        return _missing(words)


def _missing(values: pl.Series) -> pl.Series:
    return pl.Series(values.name, [None]).new_from_index(0, len(values))


# Cells of text files.


def strip_cells(cells: pl.DataFrame) -> pl.DataFrame:
    """Return cells without blanks around them, null where they stand for nothing; parse no type.

    A batch of "01" and "1" does not show the type of the next batch.

    >>> strip_cells(pl.DataFrame({"a": ["1,5", "?"], "b": ["01", " NA "]})).rows()
    [('1,5', '01'), (None, None)]
    """
    bare = cells.with_columns(pl.all().str.strip_chars())
    return bare.with_columns(pl.when(~pl.all().is_in(NOTHING)).then(pl.all()))


def tidy(frame: pl.DataFrame, of_words: Collection[str] = ()) -> pl.DataFrame:
    """Strip words, and parse the dates among them and the numbers that had blanks around them.

    Columns `of_words` are not parsed. polars can find dates, but takes long over words.
    """
    tidied = []
    for name in [name for name, dtype in frame.schema.items() if dtype == pl.String]:
        words = frame[name].str.strip_chars()
        had_blanks = (words != frame[name]).any()
        if had_blanks:
            words = words.replace(NOTHING, [None] * len(NOTHING))
        kind = None if name in of_words else infer_type(words)
        if kind in DATES.values() or (had_blanks and kind in NUMBERS):
            words, _ = parse(words, kind)
        tidied.append(words)
    return frame.with_columns(tidied)


# One sentence for a value that does not fit.


def misfit(values: pl.Series, bad: pl.Series, kind: Any, place: str = "", start: int = 0) -> str:
    """Return the error for the first of the `bad` rows, which `parse` or others found.

    >>> misfit(pl.Series("age", ["31", "many"]), pl.Series([1]), "numeric", " of t.csv")
    "Column 'age' of t.csv must hold numbers, but holds 'many' in row 1 (rows count from 0)...
    """
    row = int(bad[0])
    [value] = values[row : row + 1].to_list()
    what = HOLDS.get(kind, kind) if isinstance(kind, str) else f"values of type {kind}"
    return (
        f"Column {values.name!r}{place} must hold {what}, but holds {shown(value)} in row "
        f"{start + row} (rows count from 0). Correct it or leave it empty."
    )


def parsed_or_refused(values: pl.Series, kind: Any) -> pl.Series:
    """Return a column as another type; raise if a value does not fit.

    >>> parsed_or_refused(pl.Series("age", ["31", "many"]), "numeric")
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: Column 'age' must hold numbers, but holds 'many' in row 1
    (rows count from 0). Correct it or leave it empty.
    """
    found, bad = parse(values, kind)
    if len(bad):
        raise TableError(misfit(values, bad, kind))
    return found


# Columns of words of a table, of which some rows show the types.
#
# In a file a single word makes a column of numbers one of words. Where only the training rows may
# decide, values that do not fit elsewhere are missing.


class ParsedColumns(NamedTuple):
    """A table whose columns of words have the types that some rows show."""

    frame: pl.DataFrame
    hints: list[str]  # a sentence for each column with other values elsewhere
    written: dict[str, Notation]  # how people wrote the numbers or dates of a column


def parse_columns(
    frame: pl.DataFrame,
    rows: Any,
    decimal_comma: bool = False,
    guessed: bool = True,
    given: Collection[str] = (),
) -> ParsedColumns:
    """Parse columns of words by the types that they have in some rows.

    Numbers may have a decimal comma. Where types were not `guessed` from cells, as those of a data
    frame, plain numbers that repeat stay words. Columns in `given` stay as they are.
    """
    changed, hints, written = [], list[str](), dict[str, Notation]()
    for name, dtype in frame.schema.items():
        if dtype != pl.String or name in given:
            continue
        words = frame[name]
        known = words[rows].drop_nulls()
        kind = infer_type(known, decimal_comma) if guessed else None
        if kind is None and (how := _notation(known, decimal_comma, guessed)):
            written[name], kind = how, how.code
        if kind is None:
            continue
        found, bad = parse(words, kind, decimal_comma)
        changed.append(words.set(found.is_null(), None) if kind == "boolean" else found)
        if len(bad):
            hints.append(_misfit_elsewhere(name, changed[-1].dtype, words[bad]))
    return ParsedColumns(frame.with_columns(changed), hints, written)


def _notation(known: pl.Series, decimal_comma: bool, guessed: bool) -> Notation | None:
    """Return the notation of words; of a data frame, None for plain numbers that repeat."""
    how = infer_notation(known, decimal_comma)
    if guessed or how is None or how.code != POINT:
        return how
    plain = to_numbers(known, decimal_comma=False).null_count() == 0
    return None if plain and known.n_unique() <= MOST_REPEATED * len(known) else how


def _misfit_elsewhere(name: str, dtype: Any, lost: pl.Series) -> str:
    holds = "dates" if dtype.is_temporal() else "numbers" if dtype.is_numeric() else "yes or no"
    more, count = (f" and {len(lost) - 1:,} more", "count") if len(lost) > 1 else ("", "counts")
    return (
        f"{name} holds {holds}, but for {shown(lost[0])}{more} outside of the training part, which "
        f"{count} as missing."
    )


def mostly_numbers(words: pl.Series, decimal_comma: bool = False) -> pl.Series | None:
    """Return words as numbers if at least half of the first are numbers, else None.

    >>> mostly_numbers(pl.Series(["1", "Inf", "many"])).to_list()
    [1.0, inf, None]
    """
    few = words.drop_nulls().head(A_FEW)
    if 2 * to_numbers(few, decimal_comma).null_count() > len(few):
        return None
    return to_numbers(words, decimal_comma)


def words_among_numbers(
    frame: pl.DataFrame, whole: pl.DataFrame, decimal_comma: bool = False
) -> list[str]:
    """Return a sentence for each column of words that are numbers but for a few.

    The rows of `frame` are some of those of `whole`, by which the sentence counts.
    """
    hints = []
    for name in [name for name, dtype in frame.schema.items() if dtype == pl.String]:
        words = frame[name].drop_nulls()
        numbers = mostly_numbers(words, decimal_comma)
        odd = words.head(0) if numbers is None else words.filter(numbers.is_null())
        if 0 < len(odd) <= FEW_WORDS * len(words):
            row = int((whole[name] == odd[0]).fill_null(False).arg_max() or 0)
            more = f" and {len(odd) - 1:,} more cells" if len(odd) > 1 else ""
            hints.append(
                f"{name} holds numbers, but for {shown(odd[0])} in row {row} (rows count from 0)"
                f"{more}, and is read as words: correct or empty such cells."
            )
    return hints
