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

CHEAPER = 8  # ratio of the time to compute a kernel value and to add one
UNIT = 1e-15  # rounding of a sum of products, relative to its terms
BLOCK = 1 << 21  # kernel values computed at a time by other kernels
COLUMNS = 2048  # of a block of Gaussian kernel values that fits into the cache
FEW = 1500  # rows up to which kernel values are computed in float64
SAFE_IN_32_BITS = 500.0  # largest exponent with a relative error below 1e-4 in float32
MEGABYTE = 1 << 20

NAMES = ("linear", "poly", "polynomial", "rbf", "gaussian", "laplacian", "sigmoid", "precomputed")
SAMPLE = 64  # rows of the check that a kernel is not flat
FLAT = 1e-6  # a kernel is flat if all values are within this of 0, or of 1


class KernelMatrix:
    """Rows of the kernel matrix (n, n) of training rows X, as many as a budget allows.

    Row i is ``kept[slot[i]]`` if slot[i] is not negative. `fetch` computes missing rows, which
    replace the least recently fetched ones.

    With ``in_order=True`` rows are read repeatedly in one order, and a new row replaces the newest:
    otherwise every row would be replaced before it is read again. The rows are then in float64,
    because a fit may continue until the last margin is positive, however small.
    """

    def __init__(
        self, kernel: Kernel | Callable[..., Any], X: Any, megabytes: float, in_order: bool = False
    ) -> None:
        self.kernel, self.X, self.in_order = kernel, X.astype(np.float64, copy=False), in_order
        self.gaussian = None if in_order else self._gaussian()
        self.row_of = against(kernel, self.X) if self.gaussian is None else None
        dtype = np.dtype(np.float64) if self.gaussian is None else self.gaussian.rows.dtype
        n = int(X.shape[0])
        n_kept, least = int(megabytes * MEGABYTE // (n * dtype.itemsize)), 1 if in_order else 2
        if n_kept < min(least, n):
            raise ValueError(
                f"cache_size={megabytes} megabytes cannot hold {least} row(s) of the kernel "
                f"matrix: at least {least * n * dtype.itemsize / MEGABYTE:.3g} are needed."
            )
        n_kept = min(n_kept, n)
        self.kept = np.empty((n_kept, n), dtype)
        self.slot = np.full(n, -1, np.intp)
        self.owner = np.full(n_kept, -1, np.intp)
        self.fetched = np.full(n_kept, -1, np.int64)  # number of the last fetch of each
        self.n_fetches = 0
        self.matrix: Floats | None = None  # the whole matrix, if computed

    def _gaussian(self) -> GaussianRows | None:
        """Return the rows of a Gaussian kernel; None for other kernels or inaccurate distances."""
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
        """Compute the missing of some rows; return their places in `kept`."""
        self.n_fetches += 1
        there = self.slot[rows]
        self.fetched[there[there >= 0]] = self.n_fetches
        missing = rows[there < 0]
        if len(missing):
            if self.n_fetches == 1:
                places = np.arange(len(missing))
            else:  # free places, else places of rows to replace
                age = self.fetched
                if self.in_order:
                    age = np.where(age < 0, -self.n_fetches, -age)
                places = np.argpartition(age, len(missing) - 1)[: len(missing)]
            replaced = self.owner[places]
            self.slot[replaced[replaced >= 0]] = -1
            self.owner[places] = -1
            self._compute(missing, places)
            self.slot[missing], self.owner[places] = places, missing
            self.fetched[places] = self.n_fetches
        return np.asarray(self.slot[rows])

    def _compute(self, rows: Indices, places: Indices) -> None:
        if self.row_of is None:
            gaussian, n = cast(GaussianRows, self.gaussian), len(self.slot)

            def work(start: int, stop: int) -> None:
                for j in range(start, stop, COLUMNS):
                    columns = slice(j, min(j + COLUMNS, stop))
                    self.kept[places, columns] = gaussian.among(rows, columns)

            over_chunks(work, n, n * len(rows))
            return
        with np.errstate(over="ignore", invalid="ignore"):  # raised below
            K = self.row_of(self.X[rows])
        check_finite_kernel(K, rows)
        if not isinstance(self.kernel, Kernel):
            others = np.flatnonzero(self.slot >= 0)
            check_symmetric_rows(K, rows, others, self.kept[self.slot[others]][:, rows])
        self.kept[places] = K

    def among(self, rows: Indices) -> Floats:
        """Return the kernel (q, q) of some rows with each other."""
        if self.kept.dtype == np.float32:  # faster than collecting it from rows
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
        """A bound on the error of a cached value, relative to the largest."""
        if self.kept.dtype == np.float64:
            return UNIT
        return float(np.finfo(np.float32).eps) * 4 * (1 + self.gaussian.largest)  # type: ignore[union-attr]

    def exactly(self, b: Floats, rows: Indices | slice = slice(None)) -> Floats:
        """Return ``K b`` of some rows, in float64."""
        used = np.flatnonzero(b)
        scores = KernelScores(self.kernel, self.X[used])
        return scores(self.X[rows], b[np.newaxis, used])[0, :, 0]


class PrecomputedMatrix(KernelMatrix):
    """A kernel matrix (n, n) with all rows computed."""

    blur = UNIT

    def __init__(self, K: NDArray[Any]) -> None:
        self.kept, self.slot = np.ascontiguousarray(K), np.arange(len(K))
        self.matrix = self.kept

    def fetch(self, rows: NDArray[Any]) -> Indices:
        return rows

    def exactly(self, b: Floats, rows: Indices | slice = slice(None)) -> Floats:
        used = np.flatnonzero(b)
        return np.asarray(b[used] @ self.kept[used][:, rows])


class KernelScores:
    """Rows V (m, d), prepared for sums of their kernel with new rows in float64."""

    def __init__(self, kernel: Kernel | Callable[..., Any], V: Any) -> None:
        self.kernel, self.V = kernel, V.astype(np.float64, copy=False)
        self.gaussian = None
        if isinstance(kernel, Gaussian) and V.shape[0]:
            rows = GaussianRows(self.V, kernel.gamma)
            self.gaussian = rows if rows.accurate else None

    def __call__(self, U: Any, a: Floats, ends: Sequence[int] = ()) -> Floats:
        """Return ``sum_j a_kj K(u_i, v_j)`` (g, n, c) over g groups of rows of V, a (c, m).

        `ends` are the ends of consecutive groups; by default all rows are one group.
        """
        m, n = a.shape[1], U.shape[0]
        bounds = [0, *(ends or [m])]
        groups = list(pairwise(bounds))
        sums = np.zeros((len(groups), n, len(a)))
        if isinstance(self.kernel, Linear):
            for g, (first, last) in enumerate(groups):
                if first == last:
                    continue
                part, rows_v = a[:, first:last], self.V[first:last]
                if sp.issparse(rows_v):
                    weights = part @ rows_v
                else:  # by differences from the mean row, as far rows nearly cancel
                    center = rows_v.mean(axis=0)
                    totals = np.array([math.fsum(row) for row in part])
                    weights = part @ (rows_v - center) + totals[:, np.newaxis] * center
                sums[g] = U @ np.asarray(weights).T
            return sums

        def add(K: Floats, rows: slice, first: int) -> None:
            """Add the sums of kernel values K of some rows with rows of V from `first` on."""
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


def kernel_of(
    kernel: str | Callable[..., Any], X: Any, *, gamma: float | str, degree: int, coef0: float
) -> Kernel | Callable[..., Any]:
    """Return the kernel of a name with scikit-learn's parameters; return functions unchanged."""
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
    """Return the value of "scale", 1 / (d var(X)), and "auto", 1 / d, as in scikit-learn."""
    if not isinstance(gamma, str):
        return float(gamma)
    d = int(X.shape[1])
    if gamma == "auto":
        return 1.0 / d
    with np.errstate(over="ignore", invalid="ignore"):  # raised below
        variance = variance_of(X, weight)
    if not np.isfinite(variance):
        raise ValueError('gamma="scale": the variance of X overflowed. Standardize X.')
    return 1.0 / (d * variance) if variance > 0 else 1.0


def variance_of(X: Any, weight: NDArray[Any] | None) -> float:
    """Return the variance of all cells of X, each row counted by its weight."""
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
    """Warn if all values of a Gaussian or Laplacian kernel on rows X are near 1 or near 0."""
    n = int(X.shape[0])
    if not isinstance(kernel, Gaussian | Laplacian) or n < 3:
        return
    some = X[:: max(1, n // SAMPLE)][:SAMPLE]
    some = some.toarray() if sp.issparse(some) else some
    apart = pdist(some, "sqeuclidean" if isinstance(kernel, Gaussian) else "cityblock")
    apart = apart[apart > 0]
    K = np.exp(-kernel.gamma * apart)
    if not len(K) or (K.max() > FLAT and K.min() < 1 - FLAT):
        return
    value = 0 if K.max() <= FLAT else 1
    warn(
        f"The kernel of all different rows is about {value} with gamma={kernel.gamma:.3g}. "
        f"Standardize X, or try gamma={1 / float(np.median(apart)):.3g}."
    )
