"""Rows of a kernel matrix, a block at a time, kept within a budget of memory.

Gaussian kernels of dense rows are computed by BLAS and a vectorised exponential, in float32 where
the exponents keep enough digits; all others by `Kernel.against`, in float64.
"""

import math
import mmap
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from rosenblatt.runtime.threads import over_chunks

from . import blocks_loops, shared_products
from .distances import ACCURATE
from .functions import Gaussian, Kernel, Linear
from .gram import MEGABYTE, against, check_finite_kernel, rows_in_cache
from .shared_products import SharedRows, shared_rows

COLUMNS = 2048  # of a block that stay in the cache
CHEAPER = 8  # times as many values are added as are computed in the same time
UNIT = 1e-15  # rounding of a sum of products, relative to its terms
FILLED = 4  # sparse rows of which a cell in so many is filled are faster when dense
BLOCK = 1 << 21  # kernel values computed at a time by other kernels
FEW = 1500  # rows of which all kernel values are computed in float64
SAFE_IN_32_BITS = 500.0  # exponents up to this are off by less than 1e-4 of the kernel's value


class GaussianRows:
    """Rows V (m, d) and their squares: ``|u - v|^2 = |u|^2 + |v|^2 - 2 u.v``.

    They are dense, sparse, or rows whose products are shared.
    """

    def __init__(self, V: Any, gamma: float, dtype: Any = np.float64) -> None:
        self.rate, self.centre = np.asarray(gamma, dtype)[()], None
        if isinstance(V, SharedRows):
            self.rows: Any = replace(V, dtype=np.dtype(dtype))
            self.squares = self.rows.squares
            return
        self.rows, self.squares = V.astype(np.float64, copy=False), row_norms(V, squared=True)
        if not sp.issparse(V) and (dtype == np.float32 or not self.accurate):
            self.centre = V.mean(axis=0, dtype=np.float64)
            self.rows = self.rows - self.centre
            self.squares = row_norms(self.rows, squared=True)
        self.rows = self.rows.astype(dtype, copy=False)
        self.squares = self.squares.astype(dtype, copy=False)

    @property
    def largest(self) -> float:
        """The largest part of an exponent."""
        return float(self.rate) * float(self.squares.max(initial=0.0))

    @property
    def accurate(self) -> bool:
        """Whether the squares leave enough digits of the distances, in float64."""
        return UNIT * self.largest <= ACCURATE

    def sums(
        self, U: Any, a: NDArray[np.float64], some: slice = slice(None)
    ) -> NDArray[np.float64]:
        """``a K`` (n, c) for rows U (n, d) and weights a (c, s) of some of V's rows."""
        V, of_columns = self.rows[some], self.squares[some]
        if isinstance(U, SharedRows):
            of_rows = U.squares
        else:
            U = U.astype(np.float64, copy=False)
            U = U if self.centre is None else _dense(U) - self.centre
            of_rows = row_norms(U, squared=True)
        sums = np.zeros((U.shape[0], len(a)))

        def work(start: int, stop: int) -> None:
            for j in range(0, V.shape[0], COLUMNS):
                columns = slice(j, j + COLUMNS)
                blocks_loops.gaussian_sums(
                    products_of(U[start:stop], V[columns]), of_rows[start:stop],
                    of_columns[columns], self.rate, a[:, columns], sums[start:stop],
                )  # fmt: skip

        over_chunks(work, U.shape[0], U.shape[0] * max(V.shape[0], 1) // 2)
        return sums


def products_of(U: Any, V: Any) -> NDArray[Any]:
    """All scalar products (n, m) of rows; of sparse ones, a few dense rows of U at a time."""
    if isinstance(V, SharedRows):
        return U.products(V)  # type: ignore[no-any-return]
    if not sp.issparse(V):
        return np.asarray(U @ V.T)
    n, d = U.shape
    cells, most = V.shape[0] * d, shared_products.CELLS
    if cells <= most and FILLED * V.nnz >= cells:  # a block with few zeros
        V = V.toarray()
    at_once = max(1, most // max(d, 1))
    found = np.empty((n, V.shape[0]), np.result_type(U.dtype, V.dtype))
    for i in range(0, n, at_once):
        found[i : i + at_once] = (V @ _dense(U[i : i + at_once]).T).T
    return found


def _dense(U: Any) -> NDArray[Any]:
    return np.asarray(U.toarray() if sp.issparse(U) else U)


class KernelScores:
    """Rows V (m, d), ready to have their kernel with new rows summed up in float64."""

    def __init__(self, kernel: Kernel | Callable[..., Any], V: Any) -> None:
        self.kernel, self.V = kernel, V.astype(np.float64, copy=False)
        self.fast = None
        if isinstance(kernel, Gaussian) and V.shape[0]:
            rows = GaussianRows(V, kernel.gamma)
            self.fast = rows if rows.accurate else None

    def __call__(
        self, U: Any, a: NDArray[np.float64], some: slice = slice(None)
    ) -> NDArray[np.float64]:
        """``sum_j a_kj K(u_i, v_j)`` (n, c) over some rows of V, a (c, s) for those."""
        if not a.shape[1]:
            return np.zeros((U.shape[0], len(a)))
        if isinstance(self.kernel, Linear):
            return np.asarray(U @ _combined(a, self.V[some]).T, np.float64)
        if self.fast is not None:
            V = shared_rows(self.V, about_mean=True)
            shared = None if V is None else V.of(U)
            if shared is not None:
                return GaussianRows(V, float(self.fast.rate)).sums(shared, a, some)
            return self.fast.sums(U, a, some)
        of_rows, at_once = against(self.kernel, self.V[some]), max(1, BLOCK // a.shape[1])
        blocks = [U[i : i + at_once].astype(np.float64) for i in range(0, U.shape[0], at_once)]
        return np.concatenate([of_rows(block) @ a.T for block in blocks])


def _combined(a: NDArray[np.float64], V: Any) -> NDArray[np.float64]:
    """``a V`` (c, d): by differences from the mean row, as far rows nearly cancel."""
    if sp.issparse(V):
        return np.asarray(a @ V)
    centre = V.mean(axis=0)
    totals = np.array([math.fsum(row) for row in a])
    return np.asarray(a @ (V - centre) + totals[:, np.newaxis] * centre)


# Memory that is new to the process costs more than the kernel values that are put into it: blocks
# that are done with leave theirs to the next ones. The system may take back large parts.
SPARE: list[NDArray[np.uint8]] = []
MOST_SPARE = 256 * MEGABYTE
LARGE = 64 * MEGABYTE  # memory that the system may take back; of less, to offer it costs too much
LAZILY_FREED = getattr(mmap, "MADV_FREE", None)


def _borrowed(n: int, m: int, dtype: Any) -> NDArray[Any]:
    """An array (n, m), in memory left over if there is enough."""
    size = n * m * dtype.itemsize
    spare = SPARE.pop() if SPARE else np.empty(0, np.uint8)
    memory = spare if len(spare) >= size else _new_memory(size)
    return np.asarray(memory[:size].view(dtype).reshape(n, m))


def _new_memory(size: int) -> NDArray[np.uint8]:
    if LAZILY_FREED is None or size < LARGE:
        return np.empty(size, np.uint8)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, np.uint8)


def _give_back(kept: NDArray[Any]) -> None:
    memory = kept
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    if memory.nbytes + sum(other.nbytes for other in SPARE) > MOST_SPARE:
        return
    pages: Any = getattr(memory.base, "obj", None)
    if isinstance(pages, mmap.mmap):
        pages.madvise(LAZILY_FREED)  # type: ignore[arg-type]
    SPARE.append(memory)


class KernelBlocks:
    """Rows of the kernel matrix (n, n) of training rows X, as many as a budget allows.

    That of row i is ``kept[slot[i]]`` if slot[i] is not negative. `fetch` computes all that are
    missing of some rows at once, in place of those that were used longest ago.
    """

    def __init__(self, kernel: Kernel | Callable[..., Any], X: Any, megabytes: float) -> None:
        self.kernel, self.X, n = kernel, X, X.shape[0]
        self.fast = self._fast()
        dtype = np.dtype(np.float64) if self.fast is None else self.fast.rows.dtype
        room = rows_in_cache(megabytes, n, dtype.itemsize, 2)
        self.row_of = None if self.fast else against(kernel, X)
        self.kept = _borrowed(room, n, dtype)
        self.slot = np.full(n, -1, np.intp)
        self.owner = np.full(len(self.kept), -1, np.intp)
        self.used = np.full(len(self.kept), -1, np.int64)
        self.clock = 0

    def __del__(self) -> None:
        if hasattr(self, "kept"):
            _give_back(self.kept)

    def _fast(self) -> GaussianRows | None:
        """The rows as a Gaussian kernel reads them; None for other kernels."""
        if not isinstance(self.kernel, Gaussian):
            return None
        shared = shared_rows(self.X, about_mean=True)
        X = self.X if shared is None else shared
        rows = GaussianRows(X, self.kernel.gamma)
        if not rows.accurate:
            return None  # from differences
        many = self.X.shape[0] > FEW
        single = GaussianRows(X, self.kernel.gamma, np.float32) if many else rows
        return rows if single.largest > SAFE_IN_32_BITS else single

    def fetch(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Compute what is missing of some rows; return their places in `kept`."""
        self.clock += 1
        have = self.slot[rows]
        self.used[have[have >= 0]] = self.clock
        missing = rows[have < 0]
        if len(missing):
            oldest = np.argpartition(self.used, len(missing) - 1)[: len(missing)]
            places = np.arange(len(missing)) if self.clock == 1 else oldest
            gone = self.owner[places]
            self.slot[gone[gone >= 0]] = -1
            self._compute(missing, places)
            self.slot[missing], self.owner[places], self.used[places] = places, missing, self.clock
        return np.asarray(self.slot[rows])

    def _compute(self, rows: NDArray[np.intp], places: NDArray[np.intp]) -> None:
        if self.row_of is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # said in words of our own
                K = self.row_of(self.X[rows])
            check_finite_kernel(K, rows)
            self.kept[places] = K
            return
        fast: Any = self.fast
        U, of_rows, n = fast.rows[rows], fast.squares[rows], self.X.shape[0]

        def work(start: int, stop: int) -> None:
            for j in range(start, stop, COLUMNS):
                columns = slice(j, min(j + COLUMNS, stop))
                blocks_loops.gaussian_rows(
                    products_of(U, fast.rows[columns]), of_rows, fast.squares[columns], fast.rate,
                    places, j, self.kept,
                )  # fmt: skip

        over_chunks(work, n, n * len(rows))

    def among(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The kernel (q, q) of some rows with each other."""
        if self.kept.dtype == np.float32:  # to compute it is less work than to collect it from rows
            fast: Any = self.fast
            U, squares = fast.rows[rows], fast.squares[rows]
            K = np.empty((len(rows), len(rows)))
            blocks_loops.gaussian_rows(
                products_of(U, U), squares, squares, fast.rate, np.arange(len(rows)), 0, K
            )
            return K
        places = self.fetch(rows)
        if len(rows) == len(self.kept[0]):  # all, in their order
            in_place = np.array_equal(places, rows)
            return np.asarray(self.kept if in_place else self.kept[places], np.float64)
        return np.asarray(self.kept[places[:, np.newaxis], rows], np.float64)

    def add(self, rows: NDArray[np.intp], steps: NDArray[Any], f: NDArray[np.float64]) -> None:
        """Add steps (q,) times the kernel of some rows with all to f (n,)."""
        places = self.fetch(rows)

        def work(start: int, stop: int) -> None:
            blocks_loops.add_rows(self.kept, places, steps, start, stop, f)

        over_chunks(work, len(f), len(f) * len(places) // CHEAPER)

    @property
    def blur(self) -> float:
        """What a value that is kept may be off by, as a share of the largest."""
        if self.kept.dtype == np.float64:
            return UNIT
        return float(np.finfo(np.float32).eps) * 4 * (1 + self.fast.largest)  # type: ignore[union-attr]

    def exactly(
        self, b: NDArray[np.float64], rows: NDArray[np.intp] | slice = slice(None)
    ) -> NDArray[np.float64]:
        """``K b`` of some rows, in float64."""
        used = np.flatnonzero(b)
        return KernelScores(self.kernel, self.X[used])(self.X[rows], b[np.newaxis, used])[:, 0]


class PrecomputedBlocks:
    """A kernel matrix (n, n) that is there already."""

    def __init__(self, K: NDArray[np.float64]) -> None:
        self.kept = np.ascontiguousarray(K)

    def fetch(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Nothing needs to be computed: rows are at their own places."""
        return rows

    blur = UNIT
    among, add = KernelBlocks.among, KernelBlocks.add

    def exactly(
        self, b: NDArray[np.float64], rows: NDArray[np.intp] | slice = slice(None)
    ) -> NDArray[np.float64]:
        """``K b`` of some rows."""
        used = np.flatnonzero(b)
        return np.asarray(b[used] @ self.kept[used][:, rows])
