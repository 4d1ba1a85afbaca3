"""Numbers and dates as people write them: 1,169, $22,026.47, 12%, (300), 1.234,5; 05/13/2020.

A notation is "1,234.5" or "1.234,5" for numbers, and a format of `strptime` for dates.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from .errors import shown

POINT, COMMA = "1,234.5", "1.234,5"
CURRENCY = r"(?:[$€£¥₹₽₩]|US\$|USD|EUR|GBP|CHF|JPY)"
BLANKS = " \u00a0\u2009\u202f"
DIGITS = {  # with groups of three, and a fraction
    POINT: rf"(?:\d{{1,3}}(?:[,'’{BLANKS}]\d{{3}})+|\d+)(?:\.\d*)?|\.\d+",
    COMMA: rf"(?:\d{{1,3}}(?:[.'’{BLANKS}]\d{{3}})+|\d+)(?:,\d*)?|,\d+",
}
# A minus may come before the currency or after it; in accounting brackets are a minus.
NUMBER = {
    notation: rf"^\(?[+−-]?\s*{CURRENCY}?\s*[+−-]?(?:{digits})(?:[eE][+-]?\d+)?\s*"
    rf"(?:{CURRENCY}|%)?\)?$"
    for notation, digits in DIGITS.items()
}
NEGATIVE = r"^\(|^[^\d]*[−-]"
NUMBERED = re.compile(
    r"(?:\d{4}|\d\d?)([/.-])\d\d?\1(?:\d{4}|\d\d)(?!\d)|\d{4}([/.-])\d\d?\2\d(?!\d)"
)
MONTHS = ("%d %B %Y", "%d %B %y", "%B %d %Y", "%B %d, %Y", "%d-%B-%Y", "%d-%B-%y", "%d. %B %Y",
          "%d/%B/%Y", "%d/%B/%y", "%Y-%B-%d", "%Y %B %d")  # fmt: skip
FIRST_YEAR = 1000  # a format with four digits reads "20" as the year 20
TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S%.f", "%I:%M %p", "%I:%M:%S %p")
WORD_OF_MONTH = r"(?i)(^|[^a-z])(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*([^a-z]|$)"
FIRST = 100  # words that usually show that a notation does not fit
# Words for missing values in a column of numbers or dates, in lower case.
NOTHING = ("", "-", "--", "–", "—", ".", "?", "n/a", "na", "n.a.", "#n/a", "nan", "null", "none",
           "nil", "unknown", "missing", "not available", "#value!", "#div/0!", "#ref!")  # fmt: skip
MOST_NOTHING = 0.5  # of the words


@dataclass(frozen=True)
class Notation:
    """The notation of a column, with an example and its words for missing values."""

    code: str
    example: str
    gaps: tuple[str, ...] = ()
    either: bool = False  # whether the day or the month may come first

    @property
    def note(self) -> str:
        """Return a note for the report."""
        dates = is_date(self.code)
        said = f"{'dates' if dates else 'numbers'} written as {shown(self.example)}"
        if dates and self.either:
            order = "month" if self.code.startswith("%m") else "day"
            said += f", read with the {order} first: no row shows the order"
        if self.gaps:
            count = "count" if len(self.gaps) > 1 else "counts"
            said += f"; {', '.join(map(shown, self.gaps))} {count} as missing"
        return said


def is_date(notation: str) -> bool:
    """Return True for a notation of dates."""
    return notation.startswith("%")


def infer_notation(words: pl.Series, decimal_comma: bool = False) -> Notation | None:
    """Return the notation in which all words are numbers or dates, else None.

    >>> infer_notation(pl.Series(["$1,169", "(300)", "n/a"])).note
    "numbers written as '$1,169'; 'n/a' counts as missing"
    >>> infer_notation(pl.Series(["1.234,5", "12"])).code
    '1.234,5'
    >>> infer_notation(pl.Series(["05/13/2020", "1/2/2021"])).code
    '%m/%d/%Y'
    >>> infer_notation(pl.Series(["05/13/2020", "tomorrow"]))
    """
    bare = words.drop_nulls().str.strip_chars()
    gap = is_missing_word(bare)
    known = bare.filter(~gap)
    if not len(known) or gap.sum() > MOST_NOTHING * len(bare):
        return None
    fitting = [one for one in _candidates(known[0], decimal_comma) if _fits(known, one)]
    if not fitting:
        return None
    longest = int(known.head(FIRST).str.len_chars().arg_max() or 0)  # which has most marks
    gaps = tuple(bare.filter(gap).unique(maintain_order=True).head(3))
    either = {"%m", "%d"} <= {one[:2] for one in fitting}
    return Notation(fitting[0], str(known[longest]), gaps, either)


def parse_notation(words: pl.Series, notation: str) -> pl.Series:
    """Return words as numbers or dates, null where the notation does not fit.

    >>> parse_notation(pl.Series(["12%", "($1,200.50)", "many"]), POINT).to_list()
    [0.12, -1200.5, None]
    >>> parse_notation(pl.Series(["13.5.2020", "May"]), "%d.%m.%Y").to_list()
    [datetime.date(2020, 5, 13), None]
    """
    bare = words.str.strip_chars()
    if is_date(notation):
        kind: Any = pl.Datetime("us") if "%H" in notation or "%I" in notation else pl.Date
        return bare.str.replace_all(r"\s+", " ").str.strptime(kind, notation, strict=False)
    return _numbers(bare, notation)


def is_missing_word(words: pl.Series) -> pl.Series:
    """Return True for words for missing values in a column of numbers or dates.

    >>> is_missing_word(pl.Series(["7", " N/A", "-", None])).to_list()
    [False, True, True, False]
    """
    return words.str.strip_chars().str.to_lowercase().is_in(list(NOTHING)).fill_null(False)


def _numbers(bare: pl.Series, notation: str) -> pl.Series:
    kept = r"[^\d.eE]" if notation == POINT else r"[^\d,eE]"
    exponent = bare.str.extract(r"[eE]([+-]?\d+)").cast(pl.Float64, strict=False).fill_null(0.0)
    digits = bare.str.replace(r"[eE][+-]?\d+.*$", "").str.replace_all(kept, "")
    digits = digits.str.replace_all("[eE]", "").str.replace(",", ".", literal=True)
    size = digits.cast(pl.Float64, strict=False)
    plain = bare.cast(pl.Float64, strict=False) if notation == POINT else None
    sign = bare.str.contains(NEGATIVE).cast(pl.Float64) * -2 + 1
    share = bare.str.ends_with("%") | bare.str.ends_with("%)")
    unit = share.cast(pl.Float64) * 99 + 1
    found = (sign * size / unit * 10.0**exponent).set(~bare.str.contains(NUMBER[notation]), None)
    return found if plain is None else plain.zip_with(plain.is_not_null(), found)


def _candidates(first: str, decimal_comma: bool) -> Iterator[str]:
    """Yield the notations that the first word may have, most likely first."""
    if re.search(NUMBER[POINT], first) or re.search(NUMBER[COMMA], first):
        yield from (COMMA, POINT) if decimal_comma else (POINT, COMMA)
    if re.search(WORD_OF_MONTH, first):
        yield from _with_times(MONTHS, first)
    elif match := NUMBERED.match(first):
        yield from _with_times(_orders(match[1] or match[2]), first)


def _orders(mark: str) -> Iterator[str]:
    """Yield formats with years first or last, and with months before days if "/" separates them."""
    orders = ("%m %d %Y", "%d %m %Y") if mark == "/" else ("%d %m %Y", "%m %d %Y")
    for order in ("%Y %m %d", *orders, *(one.lower() for one in orders)):
        yield order.replace(" ", mark)


def _with_times(formats: Any, first: str) -> Iterator[str]:
    if ":" not in first:
        yield from formats
        return
    for one in formats:
        yield from (f"{one}{mark}{time}" for mark in (" ", "T", ", ") for time in TIMES)


def _fits(known: pl.Series, notation: str) -> bool:
    for some in (known.head(FIRST), known):  # most columns show it at once
        found = parse_notation(some, notation)
        if found.null_count():
            return False
        if is_date(notation) and (found.dt.year() < FIRST_YEAR).any():
            return False
    return True
