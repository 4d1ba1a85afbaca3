"""Tables as loops read them: dense or CSR, in few kinds, never copied as a whole."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray


def arrays(X: Any) -> Any:
    """X as loops read it: C-ordered, read-only; CSR as (data, indices, indptr).

    Numba compiles a loop anew for each kind of array, so there is one kind: indices have 32 bits,
    and the places where rows start 64, because a matrix may hold more than 2**31 numbers.
    """
    if sp.issparse(X):
        return (
            read_only(X.data),
            read_only(X.indices.astype(np.int32, copy=False)),
            read_only(X.indptr.astype(np.int64, copy=False)),
        )
    return read_only(X)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A C-ordered view of an array that cannot be written through."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def aligned_zeros(*shape: int) -> NDArray[np.float64]:
    """Doubles on a boundary of 64 bytes, so that no vector of a loop lies across two cache lines.

    Without it the steps of a mixture took an eighth longer.
    """
    size = int(np.prod(shape))
    space = np.zeros(size + 8)
    first = -(space.ctypes.data // 8) % 8
    return space[first : first + size].reshape(shape)


def summed_duplicates(X: Any, copy: bool = True) -> Any:
    """X, its numbers added up where CSR stores them in parts; else X itself."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy() if copy else X
        X.sum_duplicates()
    return X


def some_rows(X: Any, start: int, stop: int, dtypes: tuple[DTypeLike, ...]) -> Any:
    """Rows of X as loops read them; only these are copied, if their kind asks for it.

    Numbers of another kind than one of `dtypes` become numbers of the first.
    """
    if not sp.issparse(X):
        rows = X[start:stop]
        return read_only(rows if X.dtype in dtypes else rows.astype(dtypes[0], order="C"))
    data, indices, indptr = X.data, X.indices, X.indptr[start : stop + 1]
    if data.dtype in dtypes and indices.dtype == np.int32:
        return read_only(data), read_only(indices), read_only(indptr.astype(np.int64, copy=False))
    first, last = int(indptr[0]), int(indptr[-1])
    data, indices = data[first:last], indices[first:last]
    if data.dtype not in dtypes:
        data = data.astype(dtypes[0])
    indptr = indptr.astype(np.int64) - first
    return read_only(data), read_only(indices.astype(np.int32, copy=False)), read_only(indptr)
