"""Words by their names: models count them at places, of which nobody knows what they stand for."""

import time
from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from .column_parts import Words
from .features import TableFeatures
from .texts import placed, words_seen

ROWS_AT_A_TIME = 100
OF_WORDS = 0.8  # of the time, to read them; the rest is for finding their places
MOST_WORDS = 2  # that are named of those at one place,
FREQUENT = 1 / 4  # if they are there so often beside the most frequent


def named_words(first: Any, features: Collection[int], rows: Any, seconds: float) -> dict[int, str]:
    """What features of texts are called after the words that some rows have there, by number.

    Rows are read for some seconds at most, and then they are a sample of all.
    """
    found: dict[int, str] = {}
    if not isinstance(first, TableFeatures):
        return found
    end, start = time.perf_counter() + OF_WORDS * seconds, 0
    for part in first.parts_:
        width = len(part.names())
        if isinstance(part, Words):
            wanted = {j - start for j in features if start <= j < start + width}
            seen = _read(part.name, rows, end) if wanted else Counter()
            for place, words in placed(wanted, seen).items():
                told = [w for w in words[:MOST_WORDS] if seen[w] >= FREQUENT * seen[words[0]]]
                found[start + place] = f"{part.name}: {' or '.join(told)}"
        start += width
    return found


def _read(name: str, rows: Any, end: float) -> Counter[str]:
    """How often a column has each word, in as many rows as there is time for."""
    seen: Counter[str] = Counter()
    step = -(-rows.height // ROWS_AT_A_TIME)
    for first in range(step):
        seen.update(words_seen(rows[np.arange(first, rows.height, step)][name]))
        if time.perf_counter() > end:
            break
    return seen
