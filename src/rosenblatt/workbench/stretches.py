"""A CSR matrix that is made of some rows at a time, and is there once."""

from typing import Any

import numpy as np
import scipy.sparse as sp

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
            self._widen(int(MORE * stop) + 1)
        self.data[start:stop], self.indices[start:stop] = X.data, X.indices
        self.indptr[self.n_rows + 1 : self.n_rows + X.shape[0] + 1] = start + X.indptr[1:]
        self.n_rows, self.n_used = self.n_rows + X.shape[0], stop

    def joined(self) -> Any:
        """The matrix."""
        small = self.n_used <= np.iinfo(np.int32).max
        indptr = self.indptr.astype(np.int32) if small else self.indptr
        parts = self.data[: self.n_used], self.indices[: self.n_used], indptr
        return Uncopied(parts, self.shape)

    def _widen(self, room: int) -> None:
        self.data = np.append(self.data, np.empty(room - len(self.data)))
        self.indices = np.append(self.indices, np.empty(room - len(self.indices), np.int32))


class Uncopied(sp.csr_matrix):  # type: ignore[misc]
    """A CSR matrix of which rows that follow each other are taken without a copy.

    >>> X = Uncopied([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    >>> some = X[np.array([1, 2])]
    >>> some.toarray().tolist(), np.shares_memory(some.data, X.data)
    ([[0.0, 2.0], [3.0, 0.0]], True)
    """

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
