"""Words that are numbers already: for each row the place of its word among those of its column.

An array of words holds a pointer or more for each row, and sorting it takes long; of a place two
bytes are enough, and it is all that counting needs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Coded:
    """Columns of words: codes (n, c), -1 where nothing is known, and each column's words, sorted.

    >>> towns = Coded(np.array([[1], [-1], [0]], np.int8), (np.array(["Oslo", "Rome"]),))
    >>> towns[:, 0].of(np.array([10, 20]), missing=0)
    array([20,  0, 10])
    """

    codes: NDArray[Any]  # signed integers, as small as there are words
    words: tuple[NDArray[Any], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.codes), len(self.words)

    def __getitem__(self, which: Any) -> Any:
        """Some of the rows, by number or range; or all rows of a column, as ``[:, c]``."""
        if isinstance(which, tuple):
            rows, c = which
            return CodedColumn(self.codes[rows, c], self.words[c])
        return Coded(self.codes[which], self.words)


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column of words: codes (n,), -1 where nothing is known."""

    codes: NDArray[Any]
    words: NDArray[Any]

    def of(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """For each row (n,) what stands for its word in `values` (m,); `missing` if it has none."""
        found: NDArray[Any] = np.append(values, missing).take(self.codes)  # -1 is the last
        return found

    def __getitem__(self, i: int) -> Any:
        """The word of a row."""
        return self.words[self.codes[i]].item()


def coded(columns: list[tuple[NDArray[Any], list[str]]]) -> Coded:
    """Columns of words from codes (n,) and the words that these are places of, in any order.

    Words that no row has may be among them; a code that is no place stands for a missing one.

    >>> found = coded([(np.array([0, 2, 3]), ["Rome", "Bonn", "Oslo"])])
    >>> found.codes.tolist(), found.words[0].tolist()
    ([[2], [1], [-1]], ['Bonn', 'Oslo', 'Rome'])
    """
    most = max((len(words) for _, words in columns), default=0)
    codes = np.empty((len(columns[0][0]), len(columns)), np.min_scalar_type(-max(most, 1)))
    sorted_words = []
    for c, (places, words) in enumerate(columns):
        order = np.argsort(np.array(words)) if words else np.empty(0, np.intp)
        ranks = np.full(len(words) + 1, -1, codes.dtype)
        ranks[order] = np.arange(len(words))
        np.take(ranks, places, out=codes[:, c], mode="clip")
        sorted_words.append(np.array(words)[order] if words else np.array([]))
    return Coded(codes, tuple(sorted_words))
