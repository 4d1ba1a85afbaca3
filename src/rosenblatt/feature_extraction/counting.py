"""Documents to rows of counts, by the compiled loops or, where these do not serve, by Python."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.term_table import TermTable

from . import text_loops
from .analysis import Analysis, Scratch, analysis_of, why_python
from .documents import Batch, batches, n_known

MORE = 1.25  # times the room, where there was too little and nobody knows how much is to come
MARGIN = 1.02  # times what is expected
NOTHING = np.empty((0, 2), np.int64)
LARGEST_INT32 = 2**31 - 1

Counts = NDArray[np.int64]


class Rows:
    """A CSR matrix that grows by batches of rows, in one piece.

    The loops write counts of eight bytes, where the matrix has its numbers if these are as wide. If
    it is known how many rows there are to be, the first tell how much room all of them take.
    """

    def __init__(self, dtype: Any, n_rows: int = 0) -> None:
        self.indices, self.data, self.n_rows = np.empty(0, np.int32), np.empty(0, dtype), n_rows
        self.ends: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        self.n = 0
        self._aside: Counts = np.empty(0, np.int64)

    @property
    def in_place(self) -> bool:
        """Whether counts become the matrix's numbers where they are written."""
        return self.data.dtype in (np.int64, np.float64)

    def room(self, n: int) -> tuple[NDArray[np.int32], Counts]:
        """Where to write the columns and counts of the next rows, n numbers at most."""
        if self.n + n > len(self.indices):
            for array in (self.indices, self.data):
                array.resize(self._size(self.n + n), refcheck=False)  # mostly without a copy
        if self.in_place:
            return self.indices[self.n :], self.data.view(np.int64)[self.n :]
        if n > len(self._aside):
            self._aside = np.empty(n, np.int64)
        return self.indices[self.n :], self._aside

    def _size(self, least: int) -> int:
        """How many numbers there is to be room for."""
        n_seen = sum(map(len, self.ends)) - 1
        if not self.n_rows:
            return int(MORE * least)
        return max(least, int(MARGIN * self.n * self.n_rows / max(n_seen, 1)))

    def add(self, ends: NDArray[np.int64], are_numbers: bool = False) -> None:
        """Append what was written; rows end at `ends`, and counts may be the numbers already."""
        written = slice(self.n, self.n + int(ends[-1]))
        if not self.in_place:
            self.data[written] = self._aside[: ends[-1]]
        elif self.data.dtype == np.float64 and not are_numbers:
            data = self.data[written]
            text_loops.to_length(data.view(np.int64), data, 0, len(data), 0)
        self.ends.append(self.n + ends)
        self.n = written.stop

    def matrix(self, width: int) -> Any:
        """The rows so far; none can be added afterwards."""
        for array in (self.indices, self.data):
            array.resize(self.n, refcheck=False)
        indptr = np.concatenate(self.ends)
        if self.n <= LARGEST_INT32:
            indptr = indptr.astype(np.int32)
        return sp.csr_matrix((self.data, self.indices, indptr), (len(indptr) - 1, width))


class Counted(NamedTuple):
    """Rows of counts, and the terms that their columns count."""

    X: Any
    terms: list[Any]
    documents: Counts  # that have each term
    occurrences: Counts


class TermCounter:
    """Counts the terms of documents, and numbers terms as they come: batches share the numbers.

    `tallies` (V, 2) are the documents that have each term, and its occurrences.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.reading, self.table = analysis.reading, TermTable()
        self._scratch = Scratch(analysis)
        self._make_tables(NOTHING)

    @classmethod
    def of(cls, vectorizer: Any) -> Self:
        """The counter that a vectorizer's parameters ask for."""
        analysis = analysis_of(vectorizer)
        if analysis is None:
            raise ValueError(f"{why_python(vectorizer)} is not compiled: texts take Python.")
        return cls(analysis)

    def _make_tables(self, tallies: Counts) -> None:
        """Room for as many terms as the table has, from what is known of some."""
        n = self.table.room
        self._place, self.tallies = np.zeros(n, np.int32), np.zeros((n, 2), np.int64)
        self.tallies[: len(tallies)] = tallies

    def add_to(self, rows: Rows, documents: Any) -> None:
        """Append a row of counts for each document."""
        for batch in batches(documents, self.reading):
            scan = self._scratch.for_batch(batch)
            row = rows.room(self._scratch.most_terms(batch))
            ends, n, reached = np.zeros(len(batch.limits), np.int64), len(batch.limits) - 1, 0
            while (reached := self._count(batch, reached, scan, row, ends)) < n:
                self.table.grow()
                self._make_tables(self.tallies)
            rows.add(ends[1:])

    def _count(self, batch: Batch, reached: int, scan: Any, row: Any, ends: Counts) -> int:
        counts = self.table.size, self._place, self.tallies
        found, table = self._scratch.found, self.table.arrays
        return int(
            text_loops.count_terms(tuple(batch), reached, scan, found, table, counts, row, ends)
        )


def count_new(documents: Any, analysis: Analysis, dtype: Any) -> Counted:
    """Count the terms of documents, and number the terms as they come."""
    counter, rows = TermCounter(analysis), Rows(dtype, n_known(documents))
    counter.add_to(rows, documents)
    V = len(counter.table)
    return Counted(rows.matrix(V), counter.table.terms(), *counter.tallies[:V].T)


def count_known(documents: Any, analysis: Analysis, table: TermTable, dtype: Any) -> Any:
    """Count those terms of documents that are in a table."""
    scratch, rows = Scratch(analysis), Rows(dtype, n_known(documents))
    counts = table.size, np.zeros(max(len(table), 1), np.int32), NOTHING
    for batch in batches(documents, analysis.reading):
        scan, row = scratch.for_batch(batch), rows.room(scratch.most_terms(batch))
        ends = np.zeros(len(batch.limits), np.int64)
        text_loops.count_terms(
            tuple(batch), 0, scan, scratch.found, table.arrays, counts, row, ends
        )
        rows.add(ends[1:])
    return rows.matrix(len(table))


def count_hashes(
    documents: Any, analysis: Analysis, n_features: int, signed: bool, power: int, dtype: Any
) -> Any:
    """Count the terms of documents in the columns of their hashes.

    Rows of 64-bit numbers get length one if power is 1 or 2, not if it is 0.
    """
    scratch, rows = Scratch(analysis), Rows(dtype, n_known(documents))
    place, are_numbers = np.zeros(2, np.int64), dtype == np.float64
    power = power if are_numbers else -1
    for batch in batches(documents, analysis.reading):
        scan, row = scratch.for_batch(batch), rows.room(scratch.most_terms(batch))
        written = (*row, row[1].view(np.float64))
        n_places = 1 << (min(4 * len(scratch.found[0]), n_features) - 1).bit_length()
        place = place if len(place) >= n_places else np.zeros(n_places, np.int64)
        ends = np.zeros(len(batch.limits), np.int64)
        found = scratch.found[0], scratch.tails, scratch.found[1]
        text_loops.hash_terms(
            tuple(batch), scan, found, n_features, signed, power, place, written, ends
        )
        rows.add(ends[1:], are_numbers)
    return rows.matrix(n_features)


def count_in_python(
    documents: Any, analyze: Callable[[Any], Any], known: dict[Any, int] | None, dtype: Any
) -> Counted:
    """Count terms as Python finds them: all of them, or those that are known."""
    places: dict[Any, int] = {} if known is None else known
    rows = Rows(dtype)
    for document in documents:
        counts: dict[int, int] = {}
        for term in analyze(document):
            j = places.setdefault(term, len(places)) if known is None else places.get(term)
            if j is not None:
                counts[j] = counts.get(j, 0) + 1
        indices, data = rows.room(len(counts))
        indices[: len(counts)], data[: len(counts)] = [*counts], [*counts.values()]
        rows.add(np.array([len(counts)]))
    X = rows.matrix(len(places))
    columns = np.bincount(X.indices, minlength=len(places))
    occurrences = np.bincount(X.indices, X.data, len(places)).astype(np.int64)
    return Counted(X, list(places), columns, occurrences)


def with_columns(X: Any, columns: NDArray[np.int32], width: int) -> Any:
    """A CSR matrix whose column j is renamed columns[j], or left out where that is -1.

    Its arrays may become those of the result.
    """
    if len(columns) and columns.min() < 0:
        renamed = columns[X.indices]
        kept = renamed >= 0
        ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
        parts = X.data[kept], renamed[kept], ends.astype(X.indptr.dtype)
        return sp.csr_matrix(parts, (X.shape[0], width))
    text_loops.rename(X.indices, columns)
    return sp.csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width))
