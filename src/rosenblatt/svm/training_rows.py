"""The rows of a kernel fit, equal ones merged, and blocks of their kernel matrix."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis

from rosenblatt import checks
from rosenblatt.kernels.checks import check_finite_kernel
from rosenblatt.kernels.functions import Kernel, Linear, row_keys
from rosenblatt.kernels.kernel_matrix import (
    MEGABYTE,
    KernelMatrix,
    PrecomputedMatrix,
    gamma_of,
    kernel_of,
)

from .smo import WHOLE

Array = NDArray[np.float64]

CELLS = 1 << 20  # sparse tables with at most this many become dense
FAR = 100.0  # ratio of squared distances from zero and from the mean of rows far from zero
SAME = 1e-9  # of the largest projection: rows whose projections are closer may be equal
UNEVEN = 100.0  # times the least spread of a column: columns above it should be scaled


class TrainingRows:
    """The rows of a fit, with equal rows of one label merged to groups.

    `first` (g,) is the first row of each group, and `group` (n,) the group of each row; -1 for rows
    without a weight. Groups are sorted, so that a row of weight two, a row given twice, and rows in
    another order or storage all give the same problem.
    """

    def __init__(self, model: Any, X: Any, labels: NDArray[Any], weight: Array) -> None:
        self.X, self.megabytes = X, model.cache_size
        self.wide = X.astype(np.float64, copy=False)
        if sp.issparse(X) and X.shape[0] * X.shape[1] <= CELLS:
            self.wide = self.wide.toarray()  # one block: with the bits of dense rows
        self.is_matrix = model.kernel == "precomputed" or (
            callable(model.kernel) and not isinstance(model.kernel, Kernel)
        )
        self.matrix: Array | None = None  # the kernel of all groups, if they are few
        self.first, self.group = self._groups(labels, weight)
        self.kernel, self.gamma = self._kernel(model, self.sums(weight))
        self.center = far_center(self.wide[self.first]) if isinstance(self.kernel, Linear) else None

    def _groups(
        self, labels: NDArray[Any], weight: Array
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        counted = np.flatnonzero(weight > 0)
        group = np.full(len(weight), -1, np.intp)
        group[counted] = np.arange(len(counted))
        if self.is_matrix:  # equal rows are unknown
            return counted, group
        # Rows whose projections differ by more than rounding are not equal.
        projection = self.wide[counted] @ direction(self.X.shape[1])
        gaps = np.diff(np.sort(projection))
        first = counted
        if gaps.min(initial=np.inf) <= SAME * np.abs(projection).max():
            keys = zip(row_keys(self.X[counted]), labels[counted].tolist(), strict=True)
            number: dict[Any, int] = {}
            group[counted] = [number.setdefault(key, len(number)) for key in keys]
            place_of_first = np.unique(group[counted], return_index=True)[1]
            first, projection = counted[place_of_first], projection[place_of_first]
        order = np.lexsort((labels[first], projection))
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        group[counted] = place[group[counted]]
        return first[order], group

    def _kernel(self, model: Any, weight: Array) -> tuple[Any, float | None]:
        """Return the kernel and its gamma; None for a matrix, given or computed by a function."""
        if self.is_matrix or isinstance(model.kernel, Kernel):
            return (None if self.is_matrix else model.kernel), None
        X = self.wide[self.first]
        # Twelve digits, so that other storage and repeated rows, summed in another order, agree.
        try:
            rate = float(f"{gamma_of(model.gamma, X, weight):.12g}")
        except ValueError as error:
            raise ValueError(
                "The dual coefficients or intercepts are not finite. The input data may contain "
                f"large values and need to be preprocessed: {error}"
            ) from error
        return kernel_of(model.kernel, X, gamma=rate, degree=model.degree, coef0=model.coef0), rate

    def sums(self, weight: Array) -> Array:
        """Return the sum (g,) of the weights (n,) of the rows of each group."""
        counted = self.group >= 0
        sums = np.bincount(self.group[counted], weight[counted], len(self.first))
        return sums.astype(np.float64, copy=False)

    def of_rows(self, values: Array) -> Array:
        """Return values (..., g) of groups for each row (..., n); 0 for rows without a weight."""
        return np.where(self.group >= 0, values[..., self.group], 0.0)

    def blocks(self, rows: NDArray[np.intp]) -> KernelMatrix:
        """Return the kernel of some rows with each other, about the center if it is linear.

        As coefficients sum to zero, a shift of all rows changes scores by a constant alone. Several
        problems of few rows share the kernel of all rows.
        """
        if self.kernel is None:
            return PrecomputedMatrix(self.wide[np.ix_(rows, rows)])
        if self._is_small(self.first):
            if self.matrix is None:
                self.matrix = self._matrix(self.first)
            if len(rows) == len(self.first):
                return PrecomputedMatrix(self.matrix)
            places = self.group[rows]
            return PrecomputedMatrix(self.matrix.take(places, axis=0).take(places, axis=1))
        if self._is_small(rows):
            return PrecomputedMatrix(self._matrix(rows))
        return KernelMatrix(self.kernel, self._about_center(rows), self.megabytes)

    def _is_small(self, rows: NDArray[np.intp]) -> bool:
        """Return whether the kernel of some rows is computed at once."""
        n = len(rows)
        return n <= WHOLE and 8 * n * n <= self.megabytes * MEGABYTE

    def _matrix(self, rows: NDArray[np.intp]) -> Array:
        X = self._about_center(rows)
        with np.errstate(over="ignore", invalid="ignore"):  # raised below
            K = np.asarray(self.kernel.against(X)(X), np.float64)
        if not checks.has_finite_sum(K):
            check_finite_kernel(K, rows, rows)
        return K

    def _about_center(self, rows: NDArray[np.intp]) -> Any:
        return self.wide[rows] if self.center is None else self.wide[rows] - self.center

    def intercept(self, found: float, b: Array, rows: NDArray[np.intp]) -> float:
        """Return the intercept for the original rows, from the intercept about the center."""
        if self.center is None:
            return found
        w = b @ self._about_center(rows) + math.fsum(b) * self.center
        return float(found - w @ self.center)

    def published_supports(self, support: NDArray[np.intp], a: Array) -> dict[str, Any]:
        """Return the fitted attributes of support rows with coefficients a (c, s)."""
        X, dtype = self.X, self.X.dtype
        return {
            "support_": support.astype(np.int32),
            "support_vectors_": np.empty((0, 0), dtype) if self.kernel is None else X[support],
            "dual_coef_": (sp.csr_matrix(a) if sp.issparse(X) else a).astype(dtype),
            "gamma_": self.gamma,
            "_sparse": sp.issparse(X),
        }


def far_center(X: Any) -> Array | None:
    """Return the mean of dense rows much further from zero than from it; None for others."""
    if sp.issparse(X):
        return None
    center = X.mean(axis=0)
    spread, size = row_norms(X - center, squared=True).max(), row_norms(X, squared=True).max()
    return np.asarray(center) if FAR * spread < size else None


@lru_cache(8)
def direction(d: int) -> Array:
    """Return the direction (d,) along which rows are sorted."""
    return np.random.default_rng(0).normal(size=d)


def widest_columns(X: Any, names: Any) -> str:
    """Return advice on columns that vary far more than others, or an empty string."""
    spread = np.sqrt(mean_variance_axis(X, axis=0)[1] if sp.issparse(X) else X.var(axis=0))
    least = float(spread[spread > 0].min(initial=np.inf))
    wide = np.flatnonzero(spread > UNEVEN * least)
    if not len(wide):
        return ""
    wide = wide[np.argsort(-spread[wide], kind="stable")]
    words = [f"column {j}" for j in range(X.shape[1])] if names is None else list(map(repr, names))
    return (
        f" Scale {checks.listed(wide, words)}: the spread is up to {spread.max() / least:.1g} "
        "times the spread of another column."
    )
