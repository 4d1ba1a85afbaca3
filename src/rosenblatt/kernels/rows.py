"""Rows of a kernel matrix, computed when they are first needed and kept within a budget."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .functions import Against, Kernel

MEGABYTE = 1 << 20

CURE = " Standardise X, for example with StandardScaler, or use a lower degree or gamma."


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
        room = int(megabytes * MEGABYTE // (n * self.X.dtype.itemsize))
        if room < 1:
            needed = n * self.X.dtype.itemsize / MEGABYTE
            raise ValueError(
                f"cache_size={megabytes} megabytes cannot hold one row of the kernel matrix, which "
                f"has {n} numbers: at least {needed:.3g} are needed."
            )
        self.kept = np.empty((min(room, n), n))
        self.slot = np.full(n, -1, np.int32)
        self.n_kept = 0
        self.guest = -1  # whose row is in the last place

    def fetch(self, i: int) -> None:
        """Compute the row of i and keep it."""
        with np.errstate(over="ignore", invalid="ignore"):  # said in words of our own
            row = self.row_of(self.X[[i]])
        refuse_strange_values(row, i, "" if not self.trusted else CURE)
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

    def checked(U: Any) -> NDArray[Any]:
        wanted = (U.shape[0], V.shape[0])
        rule = (
            "A kernel function is given tables of rows U and V and must return the matrix of all "
            f"pairs, here of shape {wanted}"
        )
        try:
            K = kernel(U, V)
            K = K.toarray() if sp.issparse(K) else K
            if np.iscomplexobj(K):
                raise TypeError("its values are complex numbers.")
            K = np.asarray(K, dtype=U.dtype)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{rule}; {name_of(kernel)} failed on them: {error}") from error
        if K.shape != wanted:
            raise ValueError(f"{rule}; {name_of(kernel)} returned {K.shape}.")
        return K

    return checked


def refuse_strange_values(row: NDArray[Any], i: int, cure: str) -> None:
    """Raise if the kernel of row i with some other is not a finite number."""
    finite = np.isfinite(row[0])
    if not finite.all():
        j = int(np.argmin(finite))
        raise ValueError(
            f"The kernel of rows {i} and {j} of X is {row[0, j]}: it must be a finite number.{cure}"
        )


def name_of(kernel: Any) -> str:
    """What to call a function in a message."""
    return str(getattr(kernel, "__name__", type(kernel).__name__))
