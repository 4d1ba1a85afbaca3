"""Kernel matrices: what makes one, and where it fails."""

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.utils import check_array


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
    K = check_array(K, dtype=np.float64, copy=True)
    if K.shape[0] != K.shape[1] or most_unequal(K) is not None:
        return False
    n = len(K)
    if not K.any():
        return True
    K[np.diag_indices(n)] += n * np.finfo(np.float64).eps * np.abs(K).sum(axis=1).max()
    try:
        scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def most_unequal(K: NDArray[Any]) -> tuple[int, int] | None:
    """The pair (i, j) for which K[i, j] and K[j, i] differ most, None if by rounding alone."""
    tolerance = 64 * float(np.finfo(K.dtype).eps) * max(float(np.abs(K).max()), 1e-300)
    worst, pair = tolerance, None
    for i in range(len(K)):  # row by row: the difference of all would be as large as K
        differences = np.abs(K[i, :i] - K[:i, i])
        if i and differences.max() > worst:
            worst, pair = float(differences.max()), (i, int(differences.argmax()))
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
