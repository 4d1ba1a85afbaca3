"""Documents to rows of counts, by the compiled loops or, where these do not serve, by Python."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.term_table import TermTable

from .analysis import Analysis, Scratch, analysis_of, why_python
from .documents import Batch, batches

MORE = 1.5  # times the room, where there was too little
NOTHING = np.empty((0, 2), np.int64)
LARGEST_INT32 = 2**31 - 1

Counts = NDArray[np.int64]


class Rows:
    """A CSR matrix that grows by batches of rows, in one piece."""

    def __init__(self, dtype: Any) -> None:
        self.indices, self.data = np.empty(0, np.int32), np.empty(0, dtype)
        self.ends: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        self.n = 0

    def add(self, indices: NDArray[Any], data: NDArray[Any], ends: NDArray[np.int64]) -> None:
        """Append rows; `ends` counts from the first of them."""
        stop = self.n + len(indices)
        if stop > len(self.indices):
            room = max(int(MORE * stop), 2**12)
            for array in (self.indices, self.data):
                array.resize(room, refcheck=False)  # mostly without a copy
        self.indices[self.n : stop], self.data[self.n : stop] = indices, data
        self.ends.append(self.n + ends)
        self.n = stop

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


class Room:
    """Where the loops write the rows of one batch."""

    def __init__(self) -> None:
        self.indices, self.data = np.empty(0, np.int32), np.empty(0, np.int32)

    def row(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Places for n numbers."""
        if n > len(self.indices):
            self.indices, self.data = np.empty(n, np.int32), np.empty(n, np.int32)
        return self.indices, self.data


class TermCounter:
    """Counts the terms of documents, and numbers terms as they come: batches share the numbers.

    `tallies` (V, 2) are the documents that have each term, and its occurrences.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.reading, self.table = analysis.reading, TermTable()
        self._scratch, self._room = Scratch(analysis), Room()
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
            row = self._room.row(self._scratch.most_terms(batch))
            ends, n, reached = np.zeros(len(batch.limits), np.int64), len(batch.limits) - 1, 0
            while (reached := self._count(batch, reached, scan, row, ends)) < n:
                self.table.grow()
                self._make_tables(self.tallies)
            rows.add(row[0][: ends[-1]], row[1][: ends[-1]], ends[1:])

    def _count(self, batch: Batch, reached: int, scan: Any, row: Any, ends: Counts) -> int:
        counts = self.table.size, self._place, self.tallies
        found, table = self._scratch.found, self.table.arrays
        return int(
            loops.text.count_terms(tuple(batch), reached, scan, found, table, counts, row, ends)
        )


def count_new(documents: Any, analysis: Analysis, dtype: Any) -> Counted:
    """Count the terms of documents, and number the terms as they come."""
    counter, rows = TermCounter(analysis), Rows(dtype)
    counter.add_to(rows, documents)
    V = len(counter.table)
    return Counted(rows.matrix(V), counter.table.terms(), *counter.tallies[:V].T)


def count_known(documents: Any, analysis: Analysis, table: TermTable, dtype: Any) -> Any:
    """Count those terms of documents that are in a table."""
    scratch, room, rows = Scratch(analysis), Room(), Rows(dtype)
    counts = table.size, np.zeros(max(len(table), 1), np.int32), NOTHING
    for batch in batches(documents, analysis.reading):
        scan, row = scratch.for_batch(batch), room.row(scratch.most_terms(batch))
        ends = np.zeros(len(batch.limits), np.int64)
        loops.text.count_terms(
            tuple(batch), 0, scan, scratch.found, table.arrays, counts, row, ends
        )
        rows.add(row[0][: ends[-1]], row[1][: ends[-1]], ends[1:])
    return rows.matrix(len(table))


def count_hashes(
    documents: Any, analysis: Analysis, n_features: int, signed: bool, dtype: Any
) -> Any:
    """Count the terms of documents in the columns of their hashes."""
    scratch, room, rows = Scratch(analysis), Room(), Rows(dtype)
    place = np.zeros(n_features, np.int32)
    for batch in batches(documents, analysis.reading):
        scan, row = scratch.for_batch(batch), room.row(scratch.most_terms(batch))
        ends = np.zeros(len(batch.limits), np.int64)
        found = scratch.found[1], scratch.found[0].view(np.int64)
        loops.text.hash_terms(tuple(batch), scan, found, n_features, signed, place, row, ends)
        rows.add(row[0][: ends[-1]], row[1][: ends[-1]], ends[1:])
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
        found = np.array([*counts], np.int32), np.array([*counts.values()], np.int32)
        rows.add(*found, np.array([len(counts)]))
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
    np.take(columns, X.indices, out=X.indices, mode="clip")
    return sp.csr_matrix((X.data, X.indices, X.indptr), (X.shape[0], width))
