"""Words of texts, counted once for each row: its counts follow from its own text alone.

Nothing is learned here, so that rows that a fold scores on may be counted beside those it fits to:
words get numbers as they come, and a fold makes columns of those that its own rows have.
"""

import time
from typing import Any, NamedTuple

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


class _Counts(NamedTuple):
    """Counts of one column, in numbers as small as they allow: about half as large as the texts."""

    place: NDArray[np.int32]  # of each row of the table among those that are counted, or -1
    data: NDArray[Any]  # how often
    indices: NDArray[Any]  # which word
    indptr: Rows  # where each row begins


class CountedTexts:
    """Counts of the words of a table's texts, each row counted when it is first asked for."""

    def __init__(self) -> None:
        self._kept: dict[str, _Counts] = {}
        self._counters: dict[str, TermCounter] = {}
        self.n_rows, self.seconds = 0, 0.0  # that were counted, all columns together, and in what

    def table(self, name: str) -> TermTable:
        """The words of a column, with their numbers."""
        return self._counters[name].table

    def of(self, frame: pl.DataFrame, name: str, rows: Rows) -> Any:
        """The counts (n, V) of some rows of a column, as a CSR matrix."""
        self.count(frame, name, rows)
        place, data, indices, indptr = self._kept[name]
        first = indptr[place[rows]]
        n_used = indptr[place[rows] + 1] - first
        ends = np.concatenate([[0], np.cumsum(n_used)])
        taken = np.arange(ends[-1]) + np.repeat(first - ends[:-1], n_used)
        parts = data[taken].astype(np.float64), indices[taken].astype(np.int32), ends
        return sp.csr_matrix(parts, (len(rows), len(self.table(name))))

    def count(self, frame: pl.DataFrame, name: str, rows: Rows) -> None:
        """Count those of some rows that are not counted yet; what is done by an interrupt stays."""
        if name not in self._kept:
            nothing = np.empty(0, np.uint8), np.empty(0, np.uint8), np.zeros(1, np.int64)
            self._kept[name] = _Counts(np.full(frame.height, -1, np.int32), *nothing)
            self._counters[name] = TermCounter.of(CountVectorizer())
        known = self._kept[name]
        new = rows[known.place[rows] < 0]
        done: list[Any] = []
        begun = time.perf_counter()
        try:
            for start in range(0, len(new), ROWS_AT_A_TIME):
                some = frame[name][new[start : start + ROWS_AT_A_TIME]]
                done.append(_small(term_counts(some, self._counters[name])))
        finally:
            if done:
                self._kept[name] = _with(known, new, done)
                self.n_rows += sum(len(indptr) - 1 for *_, indptr in done)
                self.seconds += time.perf_counter() - begun
                done.clear()

    def seconds_for(self, n_rows: int) -> float:
        """About what it takes to count all texts of so many rows."""
        return self.seconds * len(self._kept) * n_rows / self.n_rows if self.n_rows else 0.0


def _small(X: Any) -> tuple[NDArray[Any], NDArray[Any], Rows]:
    """Counts in the smallest numbers that hold them, as `_Counts` has them."""
    of_counts = np.min_scalar_type(int(X.data.max(initial=0)))
    return X.data.astype(of_counts), X.indices, X.indptr.astype(np.int64)


def _with(known: _Counts, rows: Rows, done: list[Any]) -> _Counts:
    """The same with more rows, or the first of them; in one piece, so that an interrupt spoils
    nothing.
    """
    data, indices, indptr = zip(*done, strict=True)
    n_used = np.concatenate([np.diff(one) for one in (known.indptr, *indptr)])
    n_known = len(known.indptr) - 1
    place = known.place.copy()
    place[rows[: len(n_used) - n_known]] = np.arange(n_known, len(n_used))
    return _Counts(
        place,
        np.concatenate([known.data, *data]),
        np.concatenate([known.indices, *indices]),
        np.concatenate([[0], np.cumsum(n_used)]),
    )


# A CSR matrix that is made of some rows at a time, and is there once.


MORE = 1.25  # times the room, where there was too little


class Stretches:
    """Rows of a CSR matrix, added stretch by stretch to arrays that have room for all of them.

    Room that is not written to takes no memory, so that it may be given generously; joining
    stretches at the end would need all numbers twice.

    >>> found = Stretches(2, 3, 1)
    >>> found.add(sp.csr_matrix([[0.0, 7.0, 0.0]]))
    >>> found.add(sp.csr_matrix([[1.0, 0.0, 2.0]]))
    >>> found.joined().toarray()
    array([[0., 7., 0.],
           [1., 0., 2.]])
    """

    def __init__(self, n_rows: int, width: int, n_expected: int) -> None:
        self.shape, self.n_rows, self.n_used = (n_rows, width), 0, 0
        self.data = np.empty(n_expected)
        self.indices = np.empty(n_expected, np.int32)
        self.indptr = np.zeros(n_rows + 1, np.int64)

    def add(self, X: Any) -> None:
        """The next rows."""
        start, stop = self.n_used, self.n_used + X.nnz
        if stop > len(self.data):
            more = int(MORE * stop) + 1 - len(self.data)
            self.data = np.append(self.data, np.empty(more))
            self.indices = np.append(self.indices, np.empty(more, np.int32))
        self.data[start:stop], self.indices[start:stop] = X.data, X.indices
        self.indptr[self.n_rows + 1 : self.n_rows + X.shape[0] + 1] = start + X.indptr[1:]
        self.n_rows, self.n_used = self.n_rows + X.shape[0], stop

    def joined(self) -> Any:
        """The matrix."""
        small = self.n_used <= np.iinfo(np.int32).max
        indptr = self.indptr.astype(np.int32) if small else self.indptr
        parts = self.data[: self.n_used], self.indices[: self.n_used], indptr
        return Uncopied(parts, self.shape)


class Uncopied(sp.csr_matrix):  # type: ignore[misc]
    """A CSR matrix of which rows that follow each other are taken without a copy."""

    def __getitem__(self, key: Any) -> Any:
        """Rows by number; any other key as ever."""
        whole_rows = isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis
        rows = key[0] if whole_rows else key
        if not _is_stretch(rows):
            return super().__getitem__(key)
        first, last = int(rows[0]), int(rows[-1])
        indptr = self.indptr[first : last + 2]
        used = slice(int(indptr[0]), int(indptr[-1]))
        parts = self.data[used], self.indices[used], indptr - indptr[0]
        return sp.csr_matrix(parts, (len(rows), self.shape[1]))


def _is_stretch(rows: Any) -> bool:
    """Whether row numbers follow each other."""
    numbers = isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind in "iu"
    return numbers and len(rows) > 0 and rows[0] >= 0 and bool((np.diff(rows) == 1).all())
