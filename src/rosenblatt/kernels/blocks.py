"""Rows of a kernel matrix, a block at a time, kept within a budget of memory.

Gaussian kernels of dense rows are computed by BLAS and a vectorised exponential, in float32 where
the exponents keep enough digits; all others by `Kernel.against`, in float64.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.base import read_only
from rosenblatt.runtime.threads import over_chunks

from .distances import ACCURATE
from .functions import Gaussian, Kernel, Linear
from .gram import CURE, MEGABYTE, against, refuse_strange_values

COLUMNS = 2048  # of a block that stay in the cache
UNIT = 1e-15  # rounding of a sum of products, relative to its terms
BLOCK = 1 << 21  # kernel values computed at a time by other kernels
SAFE_IN_32_BITS = 500.0  # exponents up to this are off by less than 1e-4 of the kernel's value


class GaussianRows:
    """Rows V (m, d) scaled so that ``K(u, v) = exp(u.v - |u|^2 / 2 - |v|^2 / 2)``."""

    def __init__(self, V: NDArray[Any], gamma: float, dtype: Any = np.float64) -> None:
        self.centre, self.scale = V.mean(axis=0, dtype=np.float64), np.sqrt(2 * gamma)
        wide = (V - self.centre) * self.scale
        self.halves = read_only(np.einsum("ij,ij->i", wide, wide).astype(dtype) / 2)
        self.rows = read_only(wide.astype(dtype))

    @property
    def largest(self) -> float:
        """The largest exponent's part."""
        return float(self.halves.max(initial=0.0))

    def sums(
        self, U: NDArray[Any], a: NDArray[np.float64], some: slice = slice(None)
    ) -> NDArray[np.float64]:
        """``a K`` (n, c) for rows U (n, d) and weights a (c, s) of some of V's rows."""
        V, of_columns = self.rows[some], self.halves[some]
        U = (U.astype(np.float64) - self.centre) * self.scale
        halves, sums = np.einsum("ij,ij->i", U, U) / 2, np.zeros((len(U), len(a)))

        def work(start: int, stop: int) -> None:
            for j in range(0, len(V), COLUMNS):
                columns = slice(j, j + COLUMNS)
                loops.kernel_blocks.gaussian_sums(
                    U[start:stop] @ V[columns].T, halves[start:stop], of_columns[columns],
                    a[:, columns], sums[start:stop],
                )  # fmt: skip

        over_chunks(work, len(U), len(U) * max(len(V), 1) // 2)
        return sums


class KernelScores:
    """Rows V (m, d), ready to have their kernel with new rows summed up in float64."""

    def __init__(self, kernel: Kernel | Callable[..., Any], V: Any) -> None:
        self.kernel, self.V = kernel, V.astype(np.float64, copy=False)
        self.fast = None
        if isinstance(kernel, Gaussian) and not sp.issparse(V) and V.shape[0]:
            rows = GaussianRows(V, kernel.gamma)
            self.fast = rows if UNIT * rows.largest <= ACCURATE else None

    def __call__(
        self, U: Any, a: NDArray[np.float64], some: slice = slice(None)
    ) -> NDArray[np.float64]:
        """``sum_j a_kj K(u_i, v_j)`` (n, c) over some rows of V, a (c, s) for those."""
        if not a.shape[1]:
            return np.zeros((U.shape[0], len(a)))
        if isinstance(self.kernel, Linear):
            return np.asarray(U @ np.asarray(a @ self.V[some]).T, np.float64)
        if self.fast is not None and not sp.issparse(U):
            return self.fast.sums(U, a, some)
        of_rows, at_once = against(self.kernel, self.V[some]), max(1, BLOCK // a.shape[1])
        blocks = [U[i : i + at_once].astype(np.float64) for i in range(0, U.shape[0], at_once)]
        return np.concatenate([of_rows(block) @ a.T for block in blocks])


class KernelBlocks:
    """Rows of the kernel matrix (n, n) of training rows X, as many as a budget allows.

    That of row i is ``kept[slot[i]]`` if slot[i] is not negative. `fetch` computes all that are
    missing of some rows at once, in place of those that were used longest ago.
    """

    def __init__(self, kernel: Kernel | Callable[..., Any], X: Any, megabytes: float) -> None:
        self.kernel, self.X, n = kernel, X, X.shape[0]
        self.fast = self._fast()
        dtype = np.dtype(np.float64) if self.fast is None else self.fast.rows.dtype
        room = int(megabytes * MEGABYTE // (n * dtype.itemsize))
        if room < min(2, n):
            raise ValueError(
                f"cache_size={megabytes} megabytes cannot hold two rows of the kernel matrix, which "
                f"have {n} numbers each: at least {2 * n * dtype.itemsize / MEGABYTE:.3g} are "
                "needed."
            )
        self.row_of = None if self.fast else against(kernel, X)
        self.kept = np.empty((min(room, n), n), dtype)
        self.slot = np.full(n, -1, np.intp)
        self.owner = np.full(len(self.kept), -1, np.intp)
        self.used = np.full(len(self.kept), -1, np.int64)
        self.clock = 0

    def _fast(self) -> GaussianRows | None:
        """The rows as a Gaussian kernel reads them; None for other kernels and sparse rows."""
        if not isinstance(self.kernel, Gaussian) or sp.issparse(self.X):
            return None
        rows = GaussianRows(self.X, self.kernel.gamma)
        if UNIT * rows.largest > ACCURATE:
            return None  # from differences
        return GaussianRows(self.X, self.kernel.gamma, np.float32) if self._safe(rows) else rows

    def _safe(self, rows: GaussianRows) -> bool:
        return len(self.X) > 1500 and rows.largest <= SAFE_IN_32_BITS

    def fetch(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Compute what is missing of some rows; return their places in `kept`."""
        self.clock += 1
        have = self.slot[rows]
        self.used[have[have >= 0]] = self.clock
        missing = rows[have < 0]
        if len(missing):
            places = np.argpartition(self.used, len(missing) - 1)[: len(missing)]
            gone = self.owner[places]
            self.slot[gone[gone >= 0]] = -1
            self._compute(missing, places)
            self.slot[missing], self.owner[places], self.used[places] = places, missing, self.clock
        return np.asarray(self.slot[rows])

    def _compute(self, rows: NDArray[np.intp], places: NDArray[np.intp]) -> None:
        if self.row_of is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # said in words of our own
                K = self.row_of(self.X[rows])
            if not np.isfinite(K).all():
                bad = int(np.argmin(np.isfinite(K).all(axis=1)))
                trusted = isinstance(self.kernel, Kernel)
                refuse_strange_values(K[[bad]], int(rows[bad]), CURE if trusted else "")
            self.kept[places] = K
            return
        fast: Any = self.fast
        U, halves = fast.rows[rows], fast.halves[rows]

        def work(start: int, stop: int) -> None:
            for j in range(start, stop, COLUMNS):
                columns = slice(j, min(j + COLUMNS, stop))
                loops.kernel_blocks.gaussian_rows(
                    U @ fast.rows[columns].T, halves, fast.halves[columns], places, j, self.kept
                )

        over_chunks(work, len(self.X), len(self.X) * len(rows))

    def among(self, rows: NDArray[np.intp], places: NDArray[np.intp]) -> NDArray[np.float64]:
        """The kernel (q, q) of some rows with each other."""
        return np.asarray(self.kept[places[:, np.newaxis], rows], np.float64)

    def add(self, places: NDArray[np.intp], steps: NDArray[Any], f: NDArray[np.float64]) -> None:
        """Add steps (q,) times rows that are kept to f (n,)."""

        def work(start: int, stop: int) -> None:
            for j in range(start, stop, COLUMNS):
                loops.kernel_blocks.add_rows(
                    self.kept, places, steps, j, min(j + COLUMNS, stop), f
                )

        over_chunks(work, len(f), len(f) * len(places))

    def exactly(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K b`` (n,) in float64."""
        used = np.flatnonzero(b)
        return KernelScores(self.kernel, self.X[used])(self.X, b[np.newaxis, used])[:, 0]


class PrecomputedBlocks:
    """A kernel matrix (n, n) that is there already."""

    def __init__(self, K: NDArray[np.float64]) -> None:
        self.kept = np.ascontiguousarray(K)

    def fetch(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Nothing needs to be computed: rows are at their own places."""
        return rows

    among, add = KernelBlocks.among, KernelBlocks.add

    def exactly(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K b`` (n,)."""
        return np.asarray(b @ self.kept)
