"""Kernel matrices: what makes one, and where it fails."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import check_array

from rosenblatt import checks
from rosenblatt.base import warn

from .functions import Against, Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid

SAMPLE = 64  # rows whose kernel shows whether its width suits them
FLAT = 1e-6  # a kernel whose values are all within this of 0, or of 1, sees no difference


def is_positive_semidefinite(K: Any) -> bool:
    """Whether a symmetric matrix may hold scalar products: no eigenvalue is negative.

    Up to rounding: K is so if ``K + n u |K| I`` has a Cholesky factor, where u is the unit of
    rounding and ``|K|`` the largest sum of sizes in a row. K may be unsymmetric by rounding, too.

    Parameters
    ----------
    K : kernel matrix of rows with themselves, shape (n, n).

    Returns
    -------
    answer : bool
        False also means that K is not symmetric.

    Examples
    --------
    >>> from rosenblatt.kernels import Gaussian, Sigmoid, is_positive_semidefinite
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]
    >>> is_positive_semidefinite(Gaussian()(X)), is_positive_semidefinite(Sigmoid()(X))
    (True, False)
    """
    K = check_array(K, dtype=(np.float64, np.float32))
    largest = float(np.abs(K).max())
    if K.shape[0] != K.shape[1]:
        return False
    if largest == 0:
        return True
    unequal, _ = checks.most_unequal(K)
    if unequal > rounding_of(K):
        return False
    unit, K = float(np.finfo(K.dtype).eps), K / np.float64(largest)
    # What it is unequal by, each of its values may be off by.
    K[np.diag_indices(len(K))] += len(K) * (unit * np.abs(K).sum(axis=1).max() + unequal / largest)
    try:
        scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def rounding_of(K: NDArray[Any]) -> float:
    """By how much K[i, j] and K[j, i] may differ: half of the digits, as of distances far away."""
    return float(np.sqrt(np.finfo(K.dtype).eps) * np.abs(K).max(initial=0.0))


def check_symmetric(K: NDArray[Any]) -> None:
    """Refuse a kernel matrix of training rows that is not square or not symmetric."""
    n, m = K.shape
    if n != m:
        raise ValueError(f'With kernel="precomputed" X must be a square matrix; got ({n}, {m}).')
    checks.symmetric(K, "A kernel", rounding_of(K))


def check_with_training_rows(K: Any, n: int, name: str) -> None:
    """Refuse a kernel matrix to predict from that has not a column for each of n training rows."""
    shape = np.shape(K)
    if len(shape) == 2 and shape[1] != n:
        raise ValueError(
            f"X has {shape[1]} features, but {name} is expecting {n} features as input: the kernel "
            f"of each row with each of the {n} training rows."
        )


def check_finite_kernel(K: NDArray[Any], rows: Any = None, others: Any = None) -> None:
    """Raise if the kernel K (m, n) of rows with training rows `others` is not finite."""
    finite = np.isfinite(K)
    if not finite.all():
        i, j = np.unravel_index(int(np.argmin(finite)), K.shape)
        row, other = i if rows is None else rows[i], j if others is None else others[j]
        raise ValueError(
            f"The kernel of row {row} of X and training row {other} is {K[i, j]}: it must be a "
            "finite number. Check the kernel function; standardize X, or use a lower degree or "
            "gamma."
        )


OF_ROWS = (
    "A function k of two single rows becomes one of tables as lambda U, V: "
    "np.array([[k(u, v) for v in V] for u in U])."
)


def called_kernel(kernel: Any, X: Any, training_rows: Any, dtype: Any = None) -> NDArray[Any]:
    """Return the kernel of rows with training rows; with `dtype` it may be not finite."""
    shape = (np.shape(X)[0], np.shape(training_rows)[0])
    rule = (
        f"The function given as kernel, {name_of(kernel)}, is called with two tables and must "
        f"return numbers, the kernel of each of {shape[0]} rows with each of {shape[1]}, {shape}"
    )
    try:
        K = kernel(X, training_rows)
        K = K.toarray() if sp.issparse(K) else K
        if np.iscomplexobj(K):
            raise TypeError("its values are complex numbers, and scalar products are real")
        K = np.asarray(K, np.float64, order="C") if dtype is None else np.asarray(K, dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{rule}; it failed: {str(error).rstrip('.')}. {OF_ROWS}") from error
    if K.shape != shape:
        raise ValueError(f"{rule}; it returned shape {K.shape}. {OF_ROWS}")
    if dtype is None:
        check_finite_kernel(K)
    return K


# From what users write, ``kernel="rbf", gamma="scale"``, to a kernel.


NAMES = ("linear", "poly", "polynomial", "rbf", "gaussian", "laplacian", "sigmoid", "precomputed")


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
    variance: float
    with np.errstate(over="ignore", invalid="ignore"):  # said below
        variance = variance_of(X) if weight is None else weighted_variance(X, weight)
    if not np.isfinite(variance):
        raise ValueError(
            'gamma="scale" is 1 / (d X.var()), and the variance of X overflowed. Standardise X, '
            "for example with StandardScaler."
        )
    return 1.0 / (d * variance) if variance > 0 else 1.0


def variance_of(X: Any) -> float:
    """The variance of all cells of X."""
    if not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    cells, values = X.shape[0] * X.shape[1], X.data.astype(np.float64)
    mean, zeros = values.sum() / cells, cells - len(values)
    return float((((values - mean) ** 2).sum() + zeros * mean**2) / cells)


def weighted_variance(X: Any, weight: NDArray[Any]) -> float:
    """The variance of all cells of X, those of a row counted by its weight."""
    total, d = float(weight.sum()), int(X.shape[1])
    mean = float((weight @ X).sum()) / (total * d)
    if not sp.issparse(X):
        return float((weight @ (X - mean) ** 2).sum()) / (total * d)
    counts = np.repeat(weight, np.diff(X.indptr))
    stored = float(counts @ (X.data - mean) ** 2)
    return (stored + (total * d - float(counts.sum())) * mean**2) / (total * d)


# Rows of a kernel matrix, computed when they are first needed and kept within a budget.


MEGABYTE = 1 << 20


def rows_in_cache(megabytes: float, n: int, itemsize: int, least: int) -> int:
    """Return how many rows of a kernel matrix (n, n) fit; raise if these are not `least`."""
    room = int(megabytes * MEGABYTE // (n * itemsize))
    if room < min(least, n):
        raise ValueError(
            f"cache_size={megabytes} megabytes cannot hold {least} row(s) of the kernel matrix: at "
            f"least {least * n * itemsize / MEGABYTE:.3g} are needed."
        )
    return min(room, n)


class KernelRows:
    """Rows of the kernel matrix (n, n) of training rows X (n, d), in 64 bits.

    A run goes on until the last row is right by however little: rounding to 32 bits would decide.

    `kept` (m, n) holds as many as the budget allows, that of row i at ``kept[slot[i]]``. When it is
    full the last place is used in turn for all others: the rows are asked for again and again in
    the order of the passes, and to throw out the oldest would throw out each before its return.
    """

    def __init__(self, kernel: Kernel | Callable[..., Any], X: Any, megabytes: float) -> None:
        self.X, n = X.astype(np.float64, copy=False), X.shape[0]
        self.row_of = against(kernel, self.X)
        self.trusted = isinstance(kernel, Kernel)
        self.kept = np.empty((rows_in_cache(megabytes, n, self.X.dtype.itemsize, 1), n))
        self.slot = np.full(n, -1, np.int32)
        self.n_kept = 0
        self.guest = -1  # whose row is in the last place

    def fetch(self, i: int) -> None:
        """Compute the row of i and keep it."""
        with np.errstate(over="ignore", invalid="ignore"):  # said in words of our own
            row = self.row_of(self.X[[i]])
        check_finite_kernel(row, [i])
        if not self.trusted:
            self._refuse_if_not_symmetric(row[0], i)
        place = min(self.n_kept, len(self.kept) - 1)
        if place == len(self.kept) - 1 and self.guest >= 0:
            self.slot[self.guest] = -1
        self.kept[place], self.slot[i] = row[0], place
        self.n_kept += place == self.n_kept
        self.guest = i if place == len(self.kept) - 1 else -1

    def _refuse_if_not_symmetric(self, row: NDArray[Any], i: int) -> None:
        """Raise if K(x_i, x_j) is not K(x_j, x_i) for some row j that is kept."""
        others = np.flatnonzero(self.slot >= 0)
        there = self.kept[self.slot[others], i]
        off = np.abs(row[others] - there)
        if not len(off) or off.max() <= 1e-6 * max(float(np.abs(row).max()), 1e-300):
            return
        j = int(others[off.argmax()])
        raise ValueError(
            f"A kernel is symmetric, but it gives {row[j]:.6g} for rows {i} and {j} of X, and "
            f"{there[off.argmax()]:.6g} for {j} and {i}. Check the kernel function."
        )


class Precomputed:
    """A kernel matrix that is there already: all rows are kept."""

    def __init__(self, K: NDArray[Any]) -> None:
        self.kept, self.slot = K, np.arange(len(K), dtype=np.int32)

    def fetch(self, i: int) -> None:
        """Nothing needs to be computed."""


def against(kernel: Kernel | Callable[..., Any], V: Any) -> Against:
    """A function of U that gives the kernel (n, m) of its rows with those of V."""
    if isinstance(kernel, Kernel):
        return kernel.against(V)
    return lambda U: called_kernel(kernel, U, V, U.dtype)


def check_function_of_rows(kernel: Any, u: Any, v: Any, settings: dict[str, Any]) -> None:
    """Refuse a function that does not give two single rows u and v a real number."""
    rule = (
        f"The function given as kernel, {name_of(kernel)}, is called with two single rows and must "
        "return one real number"
    )
    cure = 'For a function of two tables, pass its matrix with kernel="precomputed".'
    try:
        value = kernel(u, v, **settings)
    except (TypeError, ValueError) as error:
        words = str(error).partition("\n")[0].rstrip(".:")
        raise ValueError(
            f"{rule}; it failed on rows of shape {u.shape}: {words}. {cure}"
        ) from error
    if np.size(value) != 1 or np.iscomplexobj(value):
        found = f"shape {np.shape(value)}" if np.size(value) != 1 else f"{value}"
        raise ValueError(f"{rule}; for row 0 with itself it returned {found}. {cure}")


def name_of(kernel: Any) -> str:
    """What to call a function in a message."""
    return str(getattr(kernel, "__name__", type(kernel).__name__))


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
        f"Standardise X, or try gamma={1 / float(np.median(apart)):.3g}, which suits the "
        "distances between these rows."
    )


def check_finite_scores(scores: NDArray[Any]) -> None:
    """Raise if a row has a score that is not finite."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"The score of row {row} of X overflowed; scale X as the training rows.")
