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
    rounding and ``|K|`` the largest sum of sizes in a row.

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
    if K.shape[0] != K.shape[1] or most_unequal(K) is not None:
        return False
    if not K.any():
        return True
    unit, K = float(np.finfo(K.dtype).eps), K.astype(np.float64)
    K[np.diag_indices(len(K))] += len(K) * unit * np.abs(K).sum(axis=1).max()
    try:
        scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def most_unequal(K: NDArray[Any]) -> tuple[int, int] | None:
    """The pair (i, j) for which K[i, j] and K[j, i] differ most, None if by rounding alone."""
    worst, pair = 64 * float(np.finfo(K.dtype).eps) * float(np.abs(K).max(initial=0.0)), None
    for i in range(0, len(K), BLOCK):  # in blocks: the difference of all would be as large as K
        for j in range(0, i + BLOCK, BLOCK):
            off = np.abs(K[i : i + BLOCK, j : j + BLOCK] - K[j : j + BLOCK, i : i + BLOCK].T)
            if off.max(initial=0.0) > worst:
                row, column = np.unravel_index(off.argmax(), off.shape)
                worst, pair = float(off.max()), (i + int(row), j + int(column))
    return pair


def check_symmetric(K: NDArray[Any]) -> None:
    """Refuse a kernel matrix of training rows that is not square or not symmetric."""
    n, m = K.shape
    if n != m:
        raise ValueError(
            f'kernel="precomputed" needs the kernel of each training row with each other, a square '
            f"matrix (n, n); X has shape ({n}, {m})."
        )
    pair = most_unequal(K)
    if pair is not None:
        i, j = pair
        raise ValueError(
            f"A kernel is symmetric, but X[{i}, {j}] = {K[i, j]:.6g} and X[{j}, {i}] = "
            f"{K[j, i]:.6g}. Check the function that made the matrix."
        )
