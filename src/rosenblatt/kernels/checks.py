"""Checks of kernel matrices and of users' kernel functions."""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from rosenblatt import checks


def is_positive_semidefinite(K: Any) -> bool:
    """Return whether a symmetric matrix has no negative eigenvalue.

    Up to rounding: ``K + n u |K| I`` must have a Cholesky factor, where u is the unit of rounding
    and ``|K|`` the largest sum of absolute values in a row. K must be symmetric up to rounding.

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
    if K.shape[0] != K.shape[1] or largest == 0:
        return bool(K.shape[0] == K.shape[1])
    unequal, _ = checks.most_unequal(K)
    if unequal > rounding_of(K):
        return False
    unit, K = float(np.finfo(K.dtype).eps), K / np.float64(largest)
    # The difference of K[i, j] and K[j, i] bounds the error of each.
    K[np.diag_indices(len(K))] += len(K) * (unit * np.abs(K).sum(axis=1).max() + unequal / largest)
    try:
        scipy.linalg.cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def rounding_of(K: NDArray[Any]) -> float:
    """Return the allowed difference of K[i, j] and K[j, i]: half of the digits."""
    return float(np.sqrt(np.finfo(K.dtype).eps) * np.abs(K).max(initial=0.0))


def check_symmetric(K: NDArray[Any]) -> None:
    """Raise if a kernel matrix of training rows is not square or not symmetric."""
    n, m = K.shape
    if n != m:
        raise ValueError(f'With kernel="precomputed" X must be a square matrix; got ({n}, {m}).')
    checks.symmetric(K, "A kernel", rounding_of(K))


def check_with_training_rows(K: Any, n: int, name: str) -> None:
    """Raise if a kernel matrix to predict from does not have a column for each training row."""
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
            f"The kernel of row {row} of X and training row {other} is {K[i, j]}: it must be "
            "finite. Check the kernel function, standardize X, or use a lower degree or gamma."
        )


def check_symmetric_rows(
    K: NDArray[Any], rows: NDArray[Any], others: NDArray[Any], transposed: NDArray[Any]
) -> None:
    """Raise unless rows K (q, n) of a kernel matrix agree with the columns `transposed` (m, q)."""
    off = np.abs(K[:, others] - transposed.T)
    if off.max(initial=0.0) <= 1e-6 * max(float(np.abs(K).max()), 1e-300):
        return
    r, c = np.unravel_index(int(off.argmax()), off.shape)
    i, j = rows[r], others[c]
    raise ValueError(
        f"A kernel is symmetric, but it gives {K[r, j]:.6g} for rows {i} and {j} of X, and "
        f"{transposed[c, r]:.6g} for {j} and {i}. Check the kernel function."
    )


OF_ROWS = (
    "A function k of two single rows becomes one of tables as lambda U, V: "
    "np.array([[k(u, v) for v in V] for u in U])."
)
OF_TABLES = 'For a function of two tables, pass its matrix with kernel="precomputed".'


def called_kernel(kernel: Any, X: Any, training_rows: Any, dtype: Any = None) -> NDArray[Any]:
    """Return the kernel of rows with training rows; check that it is finite unless `dtype`."""
    shape = (np.shape(X)[0], np.shape(training_rows)[0])
    rule = f"two tables and must return numbers, the kernel of all pairs of rows, {shape}"
    K = _checked_call(kernel, (X, training_rows), {}, rule, OF_ROWS, lambda K: K.shape == shape)
    if dtype is not None:
        return K.astype(dtype, copy=False)
    check_finite_kernel(K)
    return np.ascontiguousarray(K)


def check_function_of_rows(kernel: Any, u: Any, v: Any, settings: dict[str, Any]) -> None:
    """Raise unless a function returns a real number for two single rows u and v."""
    rule = "two single rows and must return one real number"
    _checked_call(kernel, (u, v), settings, rule, OF_TABLES, lambda value: value.size == 1)


def _checked_call(
    kernel: Any, rows: Any, settings: dict[str, Any], rule: str, cure: str, fits: Any
) -> NDArray[np.float64]:
    """Return the kernel by a user's function; raise if it is not real or has another shape."""
    name = getattr(kernel, "__name__", type(kernel).__name__)
    rule = f"The function given as kernel, {name}, is called with {rule}"
    try:
        K = kernel(*rows, **settings)
        K = np.asarray(K.toarray() if sp.issparse(K) else K)
        if np.iscomplexobj(K):
            raise TypeError(f"its values are complex numbers, but must be real; got {K.flat[0]}")
        K = K.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0].rstrip(".:")
        raise ValueError(f"{rule}; it failed: {reason}. {cure}") from error
    if not fits(K):
        raise ValueError(f"{rule}; it returned shape {K.shape}. {cure}")
    return K


def check_finite_scores(scores: NDArray[Any]) -> None:
    """Raise if a row has a score that is not finite."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"The score of row {row} of X overflowed; scale X as the training rows.")
