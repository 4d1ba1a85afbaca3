"""Words of texts, counted once for each row: its counts follow from its own text alone.

Nothing is learned here, so that rows that a fold scores on may be counted beside those it fits to:
words get numbers as they come, and a fold makes columns of those that its own rows have.
"""

import time
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.feature_extraction import CountVectorizer
from rosenblatt.feature_extraction.counting import Rows as GrowingRows
from rosenblatt.feature_extraction.counting import TermCounter
from rosenblatt.term_table import TermTable

ROWS_AT_A_TIME = 2**12  # between which an interrupt takes effect

Rows = NDArray[np.int64]


def term_counts(values: pl.Series, counter: TermCounter) -> Any:
    """How often (n, V) each word is in texts, words numbered as they come."""
    rows = GrowingRows(np.int32, len(values))
    counter.add_to(rows, _strings(values))
    return rows.matrix(len(counter.table))


def _strings(values: pl.Series) -> list[str]:
    return values.cast(pl.String).fill_null("").to_list()


class CountedTexts:
    """Counts of the words of a table's texts, each row counted when it is first asked for."""

    def __init__(self) -> None:
        # By column: the place of each row of the table among those that are counted, or -1, and
        # their counts as a CSR matrix of numbers as small as they allow.
        self._kept: dict[str, tuple[Rows, Any]] = {}
        self._counters: dict[str, TermCounter] = {}
        self.n_rows, self.seconds = 0, 0.0  # counted so far, in all columns, and in what time

    def table(self, name: str) -> TermTable:
        """Return the words of a column, with their numbers."""
        return self._counters[name].table

    def of(self, frame: pl.DataFrame, name: str, rows: Rows) -> Any:
        """Return the counts (n, V) of some rows of a column, as a CSR matrix."""
        self.count(frame, name, rows)
        place, counts = self._kept[name]
        return counts[place[rows]].astype(np.float64)

    def count(self, frame: pl.DataFrame, name: str, rows: Rows) -> None:
        """Count those of some rows that are not counted yet; what is done by an interrupt stays."""
        if name not in self._kept:
            self._kept[name] = np.full(frame.height, -1), sp.csr_matrix((0, 0), dtype=np.uint8)
            self._counters[name] = TermCounter.of(CountVectorizer())
        place, known = self._kept[name]
        new, done, begun = rows[place[rows] < 0], [known], time.perf_counter()
        try:
            for start in range(0, len(new), ROWS_AT_A_TIME):
                some = frame[name][new[start : start + ROWS_AT_A_TIME]]
                X = term_counts(some, self._counters[name])
                done.append(X.astype(np.min_scalar_type(int(X.data.max(initial=0)))))
        finally:
            if len(done) > 1:
                for X in done:
                    X.resize(X.shape[0], len(self.table(name)))
                counts = sp.vstack(done, format="csr")
                place, n = place.copy(), counts.shape[0] - known.shape[0]
                place[new[:n]] = np.arange(known.shape[0], counts.shape[0])
                self._kept[name] = place, counts  # at once, so that an interrupt spoils nothing
                self.n_rows += n
                self.seconds += time.perf_counter() - begun

    def seconds_for(self, n_rows: int) -> float:
        """Return about how long it takes to count all texts of so many rows."""
        return self.seconds * len(self._kept) * n_rows / self.n_rows if self.n_rows else 0.0
