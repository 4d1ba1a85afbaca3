"""Least-squares problems for coordinate descent, on a Gram matrix or on columns."""

from dataclasses import dataclass
from numbers import Number
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.statistics import Gram

from .coordinate_descent import ColumnDescent, Columns, GramDescent

Array = NDArray[np.float64]
Descent = GramDescent | ColumnDescent
Rows = tuple[Any, Array, Array | None]  # X (n, d), targets (n,) or (n, t), and weights (n,)

# A Gram matrix costs d / 2 multiplications for each number of the table; columns cost a copy and a
# read for each working set. Up to these numbers of columns a Gram matrix is faster for one fit, for
# a path of fits, and for sparse rows, which are multiplied one by one.
WIDEST_FOR_ONE, WIDEST_FOR_PATH, WIDEST_SPARSE = 500, 5000, 500


@dataclass(frozen=True, eq=False)
class Squares:
    """The squared error of each target, mean over the rows by weight: ``1/2 |t - X w|^2``.

    With an intercept, columns and targets are centered, and ``b = mean_y - mean_x . w``.
    """

    descents: list[Descent]  # one for each target
    mean_x: Array  # (d,), zeros without an intercept
    mean_y: Array  # (t,)
    dtype: Any  # of the rows
    flat_y: bool  # whether the targets came as (n,)

    @classmethod
    def of(
        cls,
        X: Any,
        y: NDArray[Any],
        weights: Array | None,
        *,
        fit_intercept: bool,
        path: bool = False,
        precompute: Any = False,
    ) -> Self:
        """Return the problem of rows X (n, d), dense or sparse, and targets (n,) or (n, t)."""
        n, d = X.shape
        dense = not sp.issparse(X)
        by_gram = dense and (not isinstance(precompute, bool | str) or precompute is True)
        if n >= d and (by_gram or d <= widest_with_gram(X, path)):
            with np.errstate(over="ignore", invalid="ignore"):  # refused by feature, if it happens
                gram = Gram.of(by_rows(X), y, weights)
            return cls.of_gram(gram, fit_intercept)
        return cls._of_columns(X, np.asarray(y, np.float64), weights, fit_intercept)

    @classmethod
    def of_gram(cls, gram: Gram, fit_intercept: bool) -> Self:
        """Return the problem of a Gram statistic."""
        xx, xy, yy = (table / gram.weight for table in gram.about(fit_intercept))
        mean_x, mean_y = gram.mean_x, gram.mean_y
        if not fit_intercept:
            mean_x, mean_y = np.zeros_like(mean_x), np.zeros_like(mean_y)
        descents: list[Descent] = [
            GramDescent(xx, np.ascontiguousarray(xy[:, k]), float(yy[k])) for k in range(len(yy))
        ]
        return cls(descents, mean_x, mean_y, gram.dtype, gram.flat_y)

    @classmethod
    def _of_columns(cls, X: Any, y: Array, weights: Array | None, fit_intercept: bool) -> Self:
        (n, d), targets = X.shape, y.reshape(len(y), -1)
        shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
        mean_x, mean_y = np.zeros(d), np.zeros(targets.shape[1])
        if fit_intercept:
            mean_x, mean_y = np.asarray(shares @ X, np.float64), shares @ targets
        roots = np.sqrt(shares)
        with np.errstate(over="ignore", invalid="ignore"):
            columns = Columns(X, roots, mean_x)
            centered = ((targets - mean_y) * roots[:, None]).T.copy()
            squares = columns.squares, (centered**2).sum(axis=1)
        for what, found in zip(("feature", "target"), squares, strict=True):
            j = int(np.argmin(np.isfinite(found)))
            checks.in_range(found, f"The squares of {what} {j} are", "rescale it")
        descents: list[Descent] = [ColumnDescent(columns, target) for target in centered]
        return cls(descents, mean_x, mean_y, X.dtype, y.ndim == 1)

    def zeros(self) -> Array:
        """Return weights (t, d) of zero."""
        return np.zeros((len(self.mean_y), len(self.mean_x)))

    def intercepts(self, coefs: Array) -> Array:
        """Return the intercepts (t,) for coefs (t, d)."""
        return np.asarray(self.mean_y - coefs @ self.mean_x)

    def largest_alpha(self, l1_ratio: float, positive: bool) -> float:
        """Return the least alpha at which all weights of all targets are zero."""
        products = np.array([descent.xy for descent in self.descents])
        if positive:
            return max(0.0, float(products.max())) / l1_ratio
        return float(np.abs(products).max()) / l1_ratio


def widest_with_gram(X: Any, path: bool) -> int:
    """Return up to how many columns a Gram matrix is faster than descent on columns."""
    if sp.issparse(X):
        return WIDEST_SPARSE
    return WIDEST_FOR_PATH if path else WIDEST_FOR_ONE


def by_rows(X: Any) -> Any:
    """Return the table with sparse rows in CSR form, which sums of products read."""
    return X.tocsr() if sp.issparse(X) else X


MOST_FOLDS = 20  # whose Gram matrices are held at a time


def folds_have_grams(X: Any, groups: NDArray[np.int64], n_folds: int) -> bool:
    """Return whether the Gram matrices of all folds take less memory and time than the rows."""
    n, d = X.shape
    if d > widest_with_gram(X, path=True) or n_folds > MOST_FOLDS:
        return False
    return bool(n - np.bincount(groups).max() >= d)


# Checked input.


def check_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Return the checked rows, targets and weights of a fit."""
    X = checks.rows(estimator, X, reset=True, accept_sparse=("csr", "csc"))
    y = checks.targets(estimator, y.toarray() if sp.issparse(y) else y, X.shape[0])
    if isinstance(sample_weight, Number):  # one number for all rows changes nothing
        return X, y, None
    return X, y, checks.weights(sample_weight, X.shape[0])


def check_gram_given(given: Any, squares: Squares, X: Any, fit_intercept: bool) -> None:
    """Check a given Gram matrix by its diagonal; it is computed again in any case."""
    if sp.issparse(X):
        return
    if fit_intercept and not np.allclose(squares.mean_x, 0.0):
        warn(
            "Gram matrix was provided but X was centered to fit intercept: recomputing Gram matrix."
        )
        return
    matrix, d = np.asarray(given), len(squares.mean_x)
    if matrix.shape != (d, d):
        raise ValueError(
            f"precompute must be the Gram matrix of X, ({d}, {d}); got {matrix.shape}."
        )
    own = X.shape[0] * squares.descents[0].variances
    rtol = 1e-4 if np.float32 in (matrix.dtype, X.dtype) else 1e-7
    wrong = np.flatnonzero(~np.isclose(np.diag(matrix), own, rtol=rtol, atol=1e-5))
    if len(wrong):
        j = int(wrong[0])
        raise ValueError(
            "Gram matrix passed in via 'precompute' parameter did not pass validation: element "
            f"({j}, {j}) is {matrix[j, j]:.6g}, and the sum of squares of column {j} of X is "
            f"{own[j]:.6g}. Give X.T @ X of these rows, or precompute=True."
        )
