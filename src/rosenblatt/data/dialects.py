"""What separates the values of a table of text, and whether its numbers have decimal commas."""

import itertools
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .errors import TableError
from .text import decoded, opened, rows_of

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
