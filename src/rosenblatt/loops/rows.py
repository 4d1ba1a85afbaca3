"""Operations on rows of a table, dense or compressed.

X is an array (n, d), or the three arrays (data, indices, indptr) of a CSR matrix; Numba settles
``isinstance(X, tuple)`` when it compiles, so that neither form pays for the other. Indices are
read as unsigned, which spares the test for a negative index at every element.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from . import compiled, instruction
from .llvm import llvm_type
from .simd import prefetch

# How many visits ahead a row is prefetched, and how much of it: the processor prefetches the rest
# of a long row by itself. Measured best for rows of 50 and 500 numbers and for sparse ones.
AHEAD = 2
PREFETCHED_BYTES = 1024
CACHE_LINE_BYTES = 64


@compiled(reorder_sums=True)  # the sum of products is most of the time of a pass
def dot(X, i, w):
    """Return row i of X times w (d,)."""
    if isinstance(X, tuple):
        return sparse_dot(X, i, w)
    else:  # noqa: RET505  (Numba prunes the branch only in this form)
        total = w.dtype.type(0)
        for j in range(X.shape[1]):
            total += X[i, j] * w[j]
        return total


@compiled(fuse=True)  # with `reorder_sums` the compiler gathers w in vectors: half as fast
def sparse_dot(X, i, w):
    """Return row i of a CSR matrix times w (d,), from four sums: one would wait for the adder."""
    data, indices, indptr = X
    start, stop = indptr[i], indptr[i + 1]
    a = b = c = d = w.dtype.type(0)
    last = stop - (stop - start) % 4
    for p in range(start, last, 4):
        a += data[p] * w[np.uint32(indices[p])]
        b += data[p + 1] * w[np.uint32(indices[p + 1])]
        c += data[p + 2] * w[np.uint32(indices[p + 2])]
        d += data[p + 3] * w[np.uint32(indices[p + 3])]
    for p in range(last, stop):
        a += data[p] * w[np.uint32(indices[p])]
    return (a + b) + (c + d)


@compiled
def add(X, i, step, w):
    """Add `step` times row i of X to w (d,)."""
    if isinstance(X, tuple):
        data, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            w[np.uint32(indices[p])] += step * data[p]
    else:
        for j in range(X.shape[1]):
            w[j] += step * X[i, j]


@compiled(reorder_sums=True)
def dot_each(X, first, w, scores):
    """Fill scores (m,) with the rows of X from `first` on, times w (d,).

    Four dense rows at once: each number of w is read once for all of them.
    """
    m, single = scores.shape[0], 0
    if not isinstance(X, tuple):
        single = m - m % 4
        for t in range(0, single, 4):
            p, q, r, s = X[first + t], X[first + t + 1], X[first + t + 2], X[first + t + 3]
            a = b = c = d = w.dtype.type(0)
            for j in range(w.shape[0]):
                a += p[j] * w[j]
                b += q[j] * w[j]
                c += r[j] * w[j]
                d += s[j] * w[j]
            scores[t], scores[t + 1], scores[t + 2], scores[t + 3] = a, b, c, d
    for t in range(single, m):
        scores[t] = dot(X, first + t, w)


@compiled(reorder_sums=True)
def add_each(X, first, steps, w):
    """Add the rows of X from `first` on, each times its own of steps (m,), to w (d,)."""
    m = steps.shape[0]
    single = 0
    if not isinstance(X, tuple):
        single = m - m % 4
        for t in range(0, single, 4):
            p, q, r, s = X[first + t], X[first + t + 1], X[first + t + 2], X[first + t + 3]
            a, b, c, d = steps[t], steps[t + 1], steps[t + 2], steps[t + 3]
            for j in range(w.shape[0]):
                w[j] += (a * p[j] + b * q[j]) + (c * r[j] + d * s[j])
    for t in range(single, m):
        add(X, first + t, steps[t], w)


@compiled(reorder_sums=True)
def sum_of(values):
    """Return the sum of values."""
    total = 0.0
    for k in range(values.shape[0]):
        total += values[k]
    return total


@compiled
def dots(X, i, W, scores):
    """Fill scores (K,) with row i of X times each column of W (d, K), four rows of W at once."""
    for k in range(scores.shape[0]):
        scores[k] = 0
    if isinstance(X, tuple):
        data, indices, indptr = X
        start, stop = indptr[i], indptr[i + 1]
        last = stop - (stop - start) % 4
        for p in range(start, last, 4):
            t, u = W[np.uint32(indices[p])], W[np.uint32(indices[p + 1])]
            v, w = W[np.uint32(indices[p + 2])], W[np.uint32(indices[p + 3])]
            add_four(data[p], t, data[p + 1], u, data[p + 2], v, data[p + 3], w, scores)
        for p in range(last, stop):
            add_times(data[p], W[np.uint32(indices[p])], scores)
    else:
        last = X.shape[1] - X.shape[1] % 4
        for j in range(0, last, 4):
            t, u, v, w = W[j], W[j + 1], W[j + 2], W[j + 3]
            add_four(X[i, j], t, X[i, j + 1], u, X[i, j + 2], v, X[i, j + 3], w, scores)
        for j in range(last, X.shape[1]):
            add_times(X[i, j], W[j], scores)


@compiled
def add_four(a, t, b, u, c, v, d, w, scores):
    """Add a t + b u + c v + d w, all (K,), to scores (K,)."""
    for k in range(scores.shape[0]):
        scores[k] += (a * t[k] + b * u[k]) + (c * v[k] + d * w[k])


@compiled
def add_times(a, t, scores):
    """Add a t (K,) to scores (K,)."""
    for k in range(scores.shape[0]):
        scores[k] += a * t[k]


@compiled
def add_to_each(X, i, steps, W):
    """Add row i of X times each of steps (K,) to the columns of W (d, K)."""
    if isinstance(X, tuple):
        data, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            add_times(data[p], steps, W[np.uint32(indices[p])])
    else:
        for j in range(X.shape[1]):
            add_times(X[i, j], steps, W[j])


@compiled
def prefetch_row(X, per_row, order, t):
    """Prefetch the row visited AHEAD visits after t, and its entry in per_row (n,).

    A pass in shuffled order waits for memory at nearly every row, and takes three times as long as
    one in the order of the data. Prefetched in time, sparse rows cost 1.4 times as much (200,000 x
    50,000) and dense ones 2.6 times (1,000,000 x 50), and the order can be truly random.
    """
    if isinstance(X, tuple):
        data, indices, indptr = X
        # Where a row starts must be known before the row itself can be prefetched.
        if t + 2 * AHEAD < order.shape[0]:
            prefetch(indptr, order[t + 2 * AHEAD])
        if t + AHEAD < order.shape[0]:
            i = order[t + AHEAD]
            stored = indptr[i + 1] - indptr[i]
            prefetch_elements(data, indptr[i], stored)
            prefetch_elements(indices, indptr[i], stored)
            prefetch(per_row, i)
    else:
        if t + AHEAD < order.shape[0]:
            i = np.int64(order[t + AHEAD])
            prefetch_elements(X, i * X.shape[1], X.shape[1])
            prefetch(per_row, i)


@compiled
def prefetch_elements(array, start, count):
    """Prefetch the first of `count` elements of an array, up to PREFETCHED_BYTES."""
    per_line = CACHE_LINE_BYTES // item_bytes(array)
    for offset in range(0, min(count, PREFETCHED_BYTES // item_bytes(array)), per_line):
        prefetch(array, start + offset)


@instruction("intp(array)")
def item_bytes(array):
    """Return the size of an element: a constant, where `array.itemsize` is read from memory."""
    return array.itemsize


@item_bytes.llvm
def _(builder, array):
    second = builder.gep(array.type(None), [llvm_type("int64")(1)])
    return builder.ptrtoint(second, llvm_type("int64"))


def arrays(X: Any) -> Any:
    """Return X as loops read it: C-ordered, read-only; CSR as (data, indices, indptr).

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
    """Return a C-ordered, read-only view of an array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def summed_duplicates(X: Any, copy: bool = True) -> Any:
    """Return X, its numbers added up where CSR stores them in parts; else X itself."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy() if copy else X
        X.sum_duplicates()
    return X


def some_rows(X: Any, start: int, stop: int, dtypes: tuple[DTypeLike, ...]) -> Any:
    """Return rows of X as loops read them; only these are copied, if needed.

    Numbers of another type than one of `dtypes` are converted to the first.
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
