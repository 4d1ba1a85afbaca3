"""Kernel matrices: what makes one, and where it fails."""

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.utils import check_array

BLOCK = 512


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
    unequal, _ = most_unequal(K)
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


def most_unequal(K: NDArray[Any]) -> tuple[float, tuple[int, int]]:
    """By how much K[i, j] and K[j, i] differ at most, and for which pair (i, j)."""
    worst, pair = 0.0, (0, 0)
    for i in range(0, len(K), BLOCK):  # in blocks: the difference of all would be as large as K
        for j in range(0, i + BLOCK, BLOCK):
            off = np.abs(K[i : i + BLOCK, j : j + BLOCK] - K[j : j + BLOCK, i : i + BLOCK].T)
            if off.max(initial=0.0) > worst:
                row, column = np.unravel_index(off.argmax(), off.shape)
                worst, pair = float(off.max()), (i + int(row), j + int(column))
    return worst, pair


def check_symmetric(K: NDArray[Any]) -> None:
    """Refuse a kernel matrix of training rows that is not square or not symmetric."""
    n, m = K.shape
    if n != m:
        raise ValueError(
            f'kernel="precomputed" needs the kernel of each training row with each other, a square '
            f"matrix (n, n); X has shape ({n}, {m})."
        )
    unequal, (i, j) = most_unequal(K)
    if unequal > rounding_of(K):
        raise ValueError(
            f"A kernel is symmetric, but X[{i}, {j}] = {K[i, j]:.10g} and X[{j}, {i}] = "
            f"{K[j, i]:.10g}. Check the function that made the matrix."
        )


def check_with_training_rows(K: Any, n: int, name: str) -> None:
    """Refuse a kernel matrix to predict from that has not a column for each of n training rows."""
    shape = np.shape(K)
    if len(shape) == 2 and shape[1] != n:
        raise ValueError(
            f"X has {shape[1]} features, but {name} is expecting {n} features as input: with "
            f'kernel="precomputed" the kernel of each new row with each of the {n} training rows, '
            f"a matrix (m, {n})."
        )


def check_finite_pairs(K: NDArray[Any]) -> None:
    """Refuse a kernel matrix that holds NaN or infinity."""
    finite = np.isfinite(K)
    if not finite.all():
        i, j = np.unravel_index(int(np.argmin(finite)), K.shape)
        raise ValueError(
            f"X[{i}, {j}], the kernel of row {i} with training row {j}, is {K[i, j]}: it must be "
            "finite, neither NaN nor inf. Check the function that made the matrix."
        )
