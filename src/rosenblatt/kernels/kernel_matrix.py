"""Kernels by name, rows of a kernel matrix within a budget of memory, and sums over its rows.

Gaussian kernels of support vector machines are computed by BLAS and a vectorized exponential, in
float32 where the exponents keep enough digits; all others by `Kernel.against`, in float64.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import gen_batches

from rosenblatt.base import warn
from rosenblatt.runtime.threads import over_chunks

from . import gaussian_loops
from .checks import check_finite_kernel, check_symmetric_rows
from .functions import (
    Gaussian,
    GaussianRows,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    against,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

CHEAPER = 8  # times as many values are added as are computed in the same time
UNIT = 1e-15  # rounding of a sum of products, relative to its terms
BLOCK = 1 << 21  # kernel values computed at a time by other kernels
COLUMNS = 2048  # of a block of Gaussian kernel values that stays in the cache
FEW = 1500  # rows of which all kernel values are computed in float64
SAFE_IN_32_BITS = 500.0  # exponents up to this are off by less than 1e-4 of the kernel's value
MEGABYTE = 1 << 20

NAMES = ("linear", "poly", "polynomial", "rbf", "gaussian", "laplacian", "sigmoid", "precomputed")
SAMPLE = 64  # rows whose kernel shows whether its width suits them
FLAT = 1e-6  # a kernel whose values are all within this of 0, or of 1, sees no difference


class KernelMatrix:
    """Rows of the kernel matrix (n, n) of training rows X, as many as a budget allows.

    Row i is ``kept[slot[i]]`` if slot[i] is not negative. `fetch` computes all that are missing of
    some rows at once, in place of those that were fetched longest ago.

    With ``in_order=True`` rows are read again and again in one order, and a new row replaces the
    newest: to replace the oldest would throw out each before its return. They are then in float64,
    as a run may go on until the last row is right by however little.
    """

    def __init__(
        self,
        kernel: Kernel | Callable[..., Any],
        X: Any,
        megabytes: float,
        in_order: bool = False,
    ) -> None:
        self.kernel, self.X, self.in_order = kernel, X.astype(np.float64, copy=False), in_order
        self.gaussian = None if in_order else self._gaussian()
        self.row_of = against(kernel, self.X) if self.gaussian is None else None
        dtype = np.dtype(np.float64) if self.gaussian is None else self.gaussian.rows.dtype
        n = int(X.shape[0])
        n_kept = rows_in_cache(megabytes, n, dtype.itemsize, 1 if in_order else 2)
        self.kept = np.empty((n_kept, n), dtype)
        self.slot = np.full(n, -1, np.intp)
        self.owner = np.full(n_kept, -1, np.intp)
        self.fetched = np.full(n_kept, -1, np.int64)  # number of the fetch that last asked for it
        self.n_fetches = 0
        self.matrix: Floats | None = None  # the whole matrix, if it is there

    def _gaussian(self) -> GaussianRows | None:
        """Return the rows for a Gaussian kernel; None for other kernels, or without the digits."""
        if not isinstance(self.kernel, Gaussian):
            return None
        double = GaussianRows(self.X, self.kernel.gamma)
        if not double.accurate:
            return None
        if self.X.shape[0] <= FEW:
            return double
        single = GaussianRows(self.X, self.kernel.gamma, np.float32)
        return double if single.largest > SAFE_IN_32_BITS else single

    def fetch(self, rows: NDArray[Any]) -> Indices:
        """Compute what is missing of some rows; return their places in `kept`."""
        self.n_fetches += 1
        there = self.slot[rows]
        self.fetched[there[there >= 0]] = self.n_fetches
        missing = rows[there < 0]
        if len(missing):
            places = self._places_for(len(missing))
            replaced = self.owner[places]
            self.slot[replaced[replaced >= 0]] = -1
            self.owner[places] = -1
            self._compute(missing, places)
            self.slot[missing], self.owner[places] = places, missing
            self.fetched[places] = self.n_fetches
        return np.asarray(self.slot[rows])

    def _places_for(self, count: int) -> Indices:
        """Return places for new rows: free ones, else those to be replaced."""
        if self.n_fetches == 1:
            return np.arange(count)
        age = self.fetched
        if self.in_order:
            age = np.where(age < 0, -self.n_fetches, -age)
        return np.argpartition(age, count - 1)[:count]

    def _compute(self, rows: Indices, places: Indices) -> None:
        if self.row_of is None:
            self._compute_gaussian(rows, places)
            return
        with np.errstate(over="ignore", invalid="ignore"):  # raised below
            K = self.row_of(self.X[rows])
        check_finite_kernel(K, rows)
        if not isinstance(self.kernel, Kernel):
            others = np.flatnonzero(self.slot >= 0)
            check_symmetric_rows(K, rows, others, self.kept[self.slot[others]][:, rows])
        self.kept[places] = K

    def _compute_gaussian(self, rows: Indices, places: Indices) -> None:
        def work(start: int, stop: int) -> None:
            for j in range(start, stop, COLUMNS):
                columns = slice(j, min(j + COLUMNS, stop))
                self.kept[places, columns] = gaussian.among(rows, columns)

        gaussian, n = cast(GaussianRows, self.gaussian), len(self.slot)
        over_chunks(work, n, n * len(rows))

    def among(self, rows: Indices) -> Floats:
        """The kernel (q, q) of some rows with each other."""
        if self.kept.dtype == np.float32:  # to compute it is less work than to collect it from rows
            return self.gaussian.among(rows, rows).astype(np.float64)  # type: ignore[union-attr]
        places = self.fetch(rows)
        return np.asarray(self.kept[places[:, np.newaxis], rows], np.float64)

    def add(self, rows: Indices, steps: NDArray[Any], f: Floats) -> None:
        """Add steps (q,) times the kernel of some rows with all to f (n,)."""
        places = self.fetch(rows)

        def work(start: int, stop: int) -> None:
            gaussian_loops.add_rows(self.kept, places, steps, start, stop, f)

        over_chunks(work, len(f), len(f) * len(places) // CHEAPER)

    @property
    def blur(self) -> float:
        """What a value that is kept may be off by, as a share of the largest."""
        if self.kept.dtype == np.float64:
            return UNIT
        return float(np.finfo(np.float32).eps) * 4 * (1 + self.gaussian.largest)  # type: ignore[union-attr]

    def exactly(self, b: Floats, rows: Indices | slice = slice(None)) -> Floats:
        """``K b`` of some rows, in float64."""
        used = np.flatnonzero(b)
        scores = KernelScores(self.kernel, self.X[used])
        return scores(self.X[rows], b[np.newaxis, used])[0, :, 0]


class PrecomputedMatrix(KernelMatrix):
    """A kernel matrix (n, n) that is there already: all rows are at their own places."""

    blur = UNIT

    def __init__(self, K: NDArray[Any]) -> None:
        self.kept, self.slot = np.ascontiguousarray(K), np.arange(len(K))
        self.matrix = self.kept

    def fetch(self, rows: NDArray[Any]) -> Indices:
        """Return the rows: nothing needs to be computed."""
        return rows

    def exactly(self, b: Floats, rows: Indices | slice = slice(None)) -> Floats:
        """``K b`` of some rows."""
        used = np.flatnonzero(b)
        return np.asarray(b[used] @ self.kept[used][:, rows])


def rows_in_cache(megabytes: float, n: int, itemsize: int, least: int) -> int:
    """Return how many rows of a kernel matrix (n, n) fit; raise if these are not `least`."""
    room = int(megabytes * MEGABYTE // (n * itemsize))
    if room < min(least, n):
        raise ValueError(
            f"cache_size={megabytes} megabytes cannot hold {least} row(s) of the kernel matrix: at "
            f"least {least * n * itemsize / MEGABYTE:.3g} are needed."
        )
    return min(room, n)


class KernelScores:
    """Rows V (m, d), ready to have their kernel with new rows summed up in float64."""

    def __init__(self, kernel: Kernel | Callable[..., Any], V: Any) -> None:
        self.kernel, self.V = kernel, V.astype(np.float64, copy=False)
        self.gaussian = None
        if isinstance(kernel, Gaussian) and V.shape[0]:
            rows = GaussianRows(self.V, kernel.gamma)
            self.gaussian = rows if rows.accurate else None

    def __call__(self, U: Any, a: Floats, ends: Sequence[int] = ()) -> Floats:
        """``sum_j a_kj K(u_i, v_j)`` (g, n, c) over each of g groups of rows of V, a (c, m).

        A group begins where the last one ends; by default all rows are one group.
        """
        m, n = a.shape[1], U.shape[0]
        bounds = [0, *(ends or [m])]
        groups = list(pairwise(bounds))
        sums = np.zeros((len(groups), n, len(a)))
        if isinstance(self.kernel, Linear):
            for g, (first, last) in enumerate(groups):
                if first < last:
                    sums[g] = U @ _combined(a[:, first:last], self.V[first:last]).T
            return sums

        def add(K: Floats, rows: slice, first: int) -> None:
            """Add the kernel of some rows U with rows of V from the first on."""
            for g, (start, stop) in enumerate(groups):
                some = slice(max(start, first), min(stop, first + K.shape[1]))
                if some.start < some.stop:
                    sums[g, rows] += K[:, some.start - first : some.stop - first] @ a[:, some].T

        if self.gaussian is None:
            of_rows, at_once = against(self.kernel, self.V), max(1, BLOCK // max(m, 1))
            for rows in gen_batches(n, at_once) if m else ():
                add(of_rows(U[rows].astype(np.float64)), rows, 0)
            return sums
        gaussian, (prepared, squares) = self.gaussian, self.gaussian.prepared(U)

        def work(start: int, stop: int) -> None:
            rows = slice(start, stop)
            for j in range(0, m, COLUMNS):
                columns = slice(j, j + COLUMNS)
                add(gaussian.with_columns(prepared[rows], squares[rows], columns), rows, j)

        over_chunks(work, n, n * max(m, 1) // 2)
        return sums


def _combined(a: Floats, V: Any) -> Floats:
    """``a V`` (c, d): by differences from the mean row, as far rows nearly cancel."""
    if sp.issparse(V):
        return np.asarray(a @ V)
    center = V.mean(axis=0)
    totals = np.array([math.fsum(row) for row in a])
    return np.asarray(a @ (V - center) + totals[:, np.newaxis] * center)


# Kernels by name.


def kernel_of(
    kernel: str | Callable[..., Any], X: Any, *, gamma: float | str, degree: int, coef0: float
) -> Kernel | Callable[..., Any]:
    """The kernel of that name, with scikit-learn's parameters; functions are taken as they are."""
    if callable(kernel):
        return kernel
    rate = gamma_of(gamma, X)
    if kernel in ("poly", "polynomial"):
        return Polynomial(degree, rate, coef0)
    if kernel in ("rbf", "gaussian"):
        return Gaussian(rate)
    if kernel == "laplacian":
        return Laplacian(rate)
    if kernel == "sigmoid":
        return Sigmoid(rate, coef0)
    return Linear()


def gamma_of(gamma: float | str, X: Any, weight: NDArray[Any] | None = None) -> float:
    """The number behind "scale", 1 / (d var(X)), and "auto", 1 / d, as scikit-learn has them."""
    if not isinstance(gamma, str):
        return float(gamma)
    d = int(X.shape[1])
    if gamma == "auto":
        return 1.0 / d
    with np.errstate(over="ignore", invalid="ignore"):  # said below
        variance = variance_of(X, weight)
    if not np.isfinite(variance):
        raise ValueError(
            'gamma="scale" is 1 / (d X.var()), and the variance of X overflowed. Standardize X, '
            "for example with StandardScaler."
        )
    return 1.0 / (d * variance) if variance > 0 else 1.0


def variance_of(X: Any, weight: NDArray[Any] | None) -> float:
    """The variance of all cells of X, those of a row counted by its weight."""
    if weight is None:
        if not sp.issparse(X):
            return float(X.var(dtype=np.float64))
        weight = np.ones(X.shape[0])
    total, d = float(weight.sum()), int(X.shape[1])
    mean = np.float64((weight @ X).sum()) / (total * d)
    if not sp.issparse(X):
        return float((weight @ (X - mean) ** 2).sum()) / (total * d)
    counts = np.repeat(weight, np.diff(X.indptr))
    stored = float(counts @ (X.data - mean) ** 2)
    return float(stored + (total * d - float(counts.sum())) * mean**2) / (total * d)


def warn_if_flat(kernel: Any, X: Any) -> None:
    """Warn if a Gaussian or Laplacian kernel is all ones or all zeros on rows X (n, d)."""
    n = int(X.shape[0])
    if not isinstance(kernel, Gaussian | Laplacian) or n < 3:
        return
    some = X[:: max(1, n // SAMPLE)][:SAMPLE]
    squared = isinstance(kernel, Gaussian)
    apart = pdist(
        some.toarray() if sp.issparse(some) else some, "sqeuclidean" if squared else "cityblock"
    )
    apart = apart[apart > 0]
    K = np.exp(-kernel.gamma * apart)
    if not len(K) or (K.max() > FLAT and K.min() < 1 - FLAT):
        return
    values = "0: each row is like no other" if K.max() <= FLAT else "1: all rows look alike"
    warn(
        f"The kernel of different rows is about {values} with gamma={kernel.gamma:.3g}. "
        f"Standardize X, or try gamma={1 / float(np.median(apart)):.3g}, which suits the "
        "distances between these rows."
    )
