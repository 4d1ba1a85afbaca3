"""Words by their names: models count them at places, of which nobody knows what they stand for."""

import time
from collections.abc import Collection
from typing import Any

import numpy as np

from .column_parts import Words
from .features import TableFeatures
from .texts import words_at

ROWS_AT_A_TIME = 100
MOST_WORDS = 2  # that are named of those at one place


def named_words(first: Any, features: Collection[int], rows: Any, seconds: float) -> dict[int, str]:
    """What features of texts are called after the words that some rows have there, by number.

    Rows are read until all features have a name, or some seconds are over.
    """
    found: dict[int, str] = {}
    if not isinstance(first, TableFeatures):
        return found
    end, start = time.perf_counter() + seconds, 0
    for part in first.parts_:
        width = len(part.names())
        if isinstance(part, Words):
            wanted = {j - start for j in features if start <= j < start + width}
            for place, words in _in_rows(part.name, wanted, rows, end).items():
                found[start + place] = f"{part.name}: {' or '.join(words[:MOST_WORDS])}"
        start += width
    return found


def _in_rows(name: str, wanted: set[int], rows: Any, end: float) -> dict[int, list[str]]:
    """The words of a column at some places, as the first rows with any have them."""
    found: dict[int, list[str]] = {}
    for first in range(0, rows.height, ROWS_AT_A_TIME):
        some = rows[np.arange(first, min(first + ROWS_AT_A_TIME, rows.height))]
        found = words_at(wanted - found.keys(), some[name]) | found
        if len(found) == len(wanted) or time.perf_counter() > end:
            break
    return found
