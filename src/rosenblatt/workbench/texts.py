"""Words of texts, counted once: the counts of a text follow from the text alone.

Nothing is learned here, so that texts that a fold scores on may be counted beside those it fits to:
words get numbers as they come, and a fold makes columns of those that its own texts have.
"""

import time
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from rosenblatt.feature_extraction import CountVectorizer
from rosenblatt.feature_extraction.counting import Rows as GrowingRows
from rosenblatt.feature_extraction.counting import TermCounter
from rosenblatt.term_table import TermTable

TEXTS_AT_A_TIME = 2**12  # between which an interrupt takes effect


def term_counts(texts: pl.Series, counter: TermCounter) -> Any:
    """Return how often (n, V) each word is in texts, words numbered as they come."""
    rows = GrowingRows(np.int32, len(texts))
    counter.add_to(rows, texts.to_list())
    return rows.matrix(len(counter.table))


class CountedTexts:
    """Counts of the words of texts, by column; each text is counted when it is first seen.

    >>> counted = CountedTexts()
    >>> counted.of(pl.Series("said", ["so so", None, "so"])).toarray()
    array([[2.],
           [0.],
           [1.]])
    """

    def __init__(self) -> None:
        # By column: the texts, and their counts as a CSR matrix of numbers as small as they allow.
        self._kept: dict[str, tuple[pl.Series, Any]] = {}
        self._counters: dict[str, TermCounter] = {}
        self.n_texts, self.seconds = 0, 0.0  # counted so far, in all columns, and in what time

    def table(self, name: str) -> TermTable:
        """Return the words of a column, with their numbers."""
        return self._counters[name].table

    def of(self, values: pl.Series) -> Any:
        """Return the counts (n, V) of the words of texts, as a CSR matrix."""
        self.count(values)
        texts, counts = self._kept[values.name]
        return counts[_places(_strings(values), texts).to_numpy()].astype(np.float64)

    def count(self, values: pl.Series) -> None:
        """Count the texts that are not counted yet; what is done by an interrupt stays."""
        name, begun = values.name, time.perf_counter()
        if name not in self._kept:
            nothing = pl.Series(name, [], pl.String)
            self._kept[name] = nothing, sp.csr_matrix((0, 0), dtype=np.uint8)
            self._counters[name] = TermCounter.of(CountVectorizer())
        texts, known = self._kept[name]
        words = _strings(values)
        new = words.filter(_places(words, texts).is_null()).unique(maintain_order=True)
        done = [known]
        try:
            for start in range(0, len(new), TEXTS_AT_A_TIME):
                X = term_counts(new[start : start + TEXTS_AT_A_TIME], self._counters[name])
                done.append(X.astype(np.min_scalar_type(int(X.data.max(initial=0)))))
        finally:
            if len(done) > 1:
                for X in done:
                    X.resize(X.shape[0], len(self.table(name)))
                counts = sp.vstack(done, format="csr")
                n = counts.shape[0] - known.shape[0]
                # At once, so that an interrupt spoils nothing.
                self._kept[name] = pl.concat([texts, new[:n]]), counts
                self.n_texts += n
                self.seconds += time.perf_counter() - begun

    def seconds_for(self, n_rows: int) -> float:
        """Return about how long it takes to count all texts of so many rows."""
        return self.seconds * len(self._kept) * n_rows / self.n_texts if self.n_texts else 0.0


def _strings(values: pl.Series) -> pl.Series:
    return values.cast(pl.String).fill_null("")


def _places(words: pl.Series, texts: pl.Series) -> pl.Series:
    """Return the place (n,) of each word among different texts; null if it is not there."""
    known = pl.DataFrame({"text": texts}).with_row_index("place")
    found = pl.DataFrame({"text": words}).join(known, "text", "left", maintain_order="left")
    return found["place"]
