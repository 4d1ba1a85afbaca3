"""Types of columns that were guessed from cells, told by some rows alone.

In a file of words a single cell makes a column of numbers one of words. Where only some rows may be
looked at, they decide, and what does not fit elsewhere is missing.
"""

from typing import Any

import polars as pl

from .columns import TRUTH
from .delimited import DATES, NUMBERS
from .errors import shown

FEW_WORDS = 0.1  # of the values: where there are more, words are meant
A_FEW = 100  # values that show at once that a column holds words


def told_by(
    frame: pl.DataFrame, rows: Any, decimal_comma: bool = False
) -> tuple[pl.DataFrame, list[str]]:
    """Columns of words as what they are in some rows, and a sentence if they differ elsewhere.

    Numbers among the words may have a decimal comma.

    >>> frame = pl.DataFrame({"age": ["20", "31", "many"], "town": ["Rome", "Oslo", "7"]})
    >>> told, said = told_by(frame, [0, 1])
    >>> told["age"].to_list(), told["town"].to_list()
    ([20, 31, None], ['Rome', 'Oslo', '7'])
    >>> said
    ["age holds numbers, but for 'many' outside of the training part, which counts as missing."]
    """
    changed, said = [], []
    for name in [name for name, dtype in frame.schema.items() if dtype == pl.String]:
        words = frame[name]
        found = _as_told(words, words[rows].drop_nulls(), decimal_comma)
        if found is None:
            continue
        lost = words.filter(found.is_null() & words.is_not_null())
        if len(lost):
            changed.append(found)
            more = f" and {len(lost) - 1:,} more" if len(lost) > 1 else ""
            count = "count" if more else "counts"
            said.append(
                f"{name} holds {_holds(found)}, but for {shown(lost[0])}{more} outside of the "
                f"training part, which {count} as missing."
            )
    return frame.with_columns(changed), said


def words_among_numbers(
    frame: pl.DataFrame, whole: pl.DataFrame, decimal_comma: bool = False
) -> list[str]:
    """A sentence for each column of words that is one of numbers but for a few of its cells.

    The rows of `frame` are some of those of `whole`, where they have the numbers that are told.

    >>> frame = pl.DataFrame({"age": [*map(str, range(20)), "many"]})
    >>> words_among_numbers(frame, frame)
    ["age holds numbers, but for 'many' in row 20 (rows count from 0), and is taken as words: mend
    such cells, or empty them."]
    """
    said = []
    for name in [name for name, dtype in frame.schema.items() if dtype == pl.String]:
        words = frame[name].drop_nulls()
        few = words.head(A_FEW)
        if 2 * numbers_of_words(few, decimal_comma).null_count() > len(few):  # told at once
            continue
        odd = words.filter(numbers_of_words(words, decimal_comma).is_null())
        if 0 < len(odd) <= FEW_WORDS * len(words):
            row = int((whole[name] == odd[0]).fill_null(False).arg_max() or 0)
            more = f" and {len(odd) - 1:,} more cells" if len(odd) > 1 else ""
            said.append(
                f"{name} holds numbers, but for {shown(odd[0])} in row {row} (rows count from 0)"
                f"{more}, and is taken as words: mend such cells, or empty them."
            )
    return said


def numbers_of_words(words: pl.Series, decimal_comma: bool, kind: Any = pl.Float64) -> pl.Series:
    """Words as numbers, none where they are no such.

    >>> numbers_of_words(pl.Series(["1,5", "x", "2"]), decimal_comma=True).to_list()
    [1.5, None, 2.0]
    """
    if decimal_comma:
        words = words.str.replace(",", ".", literal=True)
    return words.cast(kind, strict=False)


def _as_told(words: pl.Series, told: pl.Series, decimal_comma: bool) -> pl.Series | None:
    """A column as what those of its words are that may be looked at; None if these are words."""
    if not len(told):
        return None
    few = told.head(A_FEW)
    for number in NUMBERS:
        if not numbers_of_words(few, decimal_comma, number).null_count() and not (
            numbers_of_words(told, decimal_comma, number).null_count()
        ):
            return numbers_of_words(words, decimal_comma, number)
    for pattern, kind in DATES.items():
        if few.str.contains(pattern).all() and not (
            told.str.strptime(kind, strict=False).null_count()
        ):
            return words.str.strptime(kind, strict=False)
    if set(few.str.to_lowercase().unique()) <= set().union(*TRUTH):
        seen = set(told.str.to_lowercase().unique())
        if seen in TRUTH:
            return words.set(~words.str.to_lowercase().is_in(list(seen)).fill_null(True), None)
    return None


def _holds(values: pl.Series) -> str:
    if values.dtype.is_numeric():
        return "numbers"
    return "dates" if values.dtype.is_temporal() else "yes or no"
