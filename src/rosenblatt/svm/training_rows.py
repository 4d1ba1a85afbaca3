"""The rows of a fit, equal ones merged, and what gives blocks of their kernel."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.kernels import shared_products
from rosenblatt.kernels.blocks import KernelBlocks, PrecomputedBlocks
from rosenblatt.kernels.functions import Kernel, Linear
from rosenblatt.kernels.gram import gamma_of, is_positive_semidefinite, kernel_of, warn_if_flat
from rosenblatt.kernels.shared_products import row_hashes, row_keys

Floats = NDArray[np.float64]

MOST_ROWS_OF_EIGENVALUES = 2_000
MOST_COST = 1e100  # of a row, whose squares and sums stay in range
LEAST_SHARE = 1e-30  # of the largest cost
FAR = 100.0  # times their squared distance from the mean, that of rows far from zero
UNEVEN = 100.0  # times the least spread of a column, from which on a column should be scaled


class TrainingRows:
    """The rows of a fit, and what gives blocks of their kernel."""

    def __init__(self, model: Any, X: Any, labels: NDArray[Any], weight: Floats) -> None:
        self.X, self.megabytes = X, model.cache_size
        self.wide = X.astype(np.float64, copy=False)
        if sp.issparse(X) and X.shape[0] * X.shape[1] <= shared_products.CELLS:
            self.wide = self.wide.toarray()  # one block: with the bits of dense rows
        self.matrix = model.kernel == "precomputed" or (
            callable(model.kernel) and not isinstance(model.kernel, Kernel)
        )
        self.first, self.group = self._groups(labels, weight)
        of_groups = summed(self.group, weight, len(self.first))
        self.kernel, self.gamma = self._kernel(model, of_groups)
        self.centre = far_centre(self.wide[self.first]) if isinstance(self.kernel, Linear) else None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def _groups(
        self, labels: NDArray[Any], weight: Floats
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first of equal rows of one label, and the number (n,) of each row's group.

        Rows without a weight have none, -1. Groups are sorted, so that a row of weight two, a row
        given twice, and rows in another order or storage all give the same problem.
        """
        counted = np.flatnonzero(weight > 0)
        group = np.full(len(self), -1, np.intp)
        if self.matrix:  # which does not show for certain which rows are equal
            group[counted] = np.arange(len(counted))
            return counted, group
        if surely_distinct(self.X[counted]):
            group[counted] = np.arange(len(counted))
        else:
            keys = zip(row_keys(self.X[counted]), labels[counted].tolist(), strict=True)
            number: dict[Any, int] = {}
            group[counted] = [number.setdefault(key, len(number)) for key in keys]
        first = counted[np.unique(group[counted], return_index=True)[1]]
        direction = np.random.default_rng(0).normal(size=self.X.shape[1])
        order = np.lexsort((labels[first], self.wide[first] @ direction))
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        group[counted] = place[group[counted]]
        return first[order], group

    def _kernel(self, model: Any, weight: Floats) -> tuple[Any, float | None]:
        """The kernel and its gamma; None for a matrix, given or computed by a function."""
        if self.matrix or isinstance(model.kernel, Kernel):
            return (None if self.matrix else model.kernel), None
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

    def blocks(self, rows: NDArray[np.intp]) -> Any:
        """What gives the kernel of some rows with each other; a linear one, of rows about a centre.

        As coefficients sum to zero, a shift of all rows changes scores by a constant alone.
        """
        X = self.wide
        if self.kernel is None:
            return PrecomputedBlocks(X[np.ix_(rows, rows)])
        return KernelBlocks(self.kernel, self._about_centre(rows), self.megabytes)

    def _about_centre(self, rows: NDArray[np.intp]) -> Any:
        return self.wide[rows] if self.centre is None else self.wide[rows] - self.centre

    def intercept(self, found: Any, b: Floats, rows: NDArray[np.intp]) -> Any:
        """The intercept for rows as given, from that about the centre and coefficients (..., n)."""
        if self.centre is None:
            return found
        total = np.apply_along_axis(math.fsum, -1, b)
        return (
            found
            - (b @ self._about_centre(rows) + total[..., np.newaxis] * self.centre) @ self.centre
        )

    def warn_if_flat(self) -> None:
        """Warn if a Gaussian or Laplacian kernel is all ones or all zeros on these rows."""
        warn_if_flat(self.kernel, self.wide)


def far_centre(X: Any) -> Floats | None:
    """The mean of dense rows that are much further from zero than from it; None for others."""
    if sp.issparse(X):
        return None
    centre = X.mean(axis=0)
    spread, size = row_norms(X - centre, squared=True).max(), row_norms(X, squared=True).max()
    return np.asarray(centre) if FAR * spread < size else None


def warn_if_indefinite(K: NDArray[Any]) -> None:
    """Warn, with the eigenvalue, if a matrix holds no scalar products."""
    if len(K) > MOST_ROWS_OF_EIGENVALUES or is_positive_semidefinite(K):
        return
    least = float(np.linalg.eigvalsh(K.astype(np.float64))[0])
    warn(
        f"The kernel matrix is not positive semidefinite: its least eigenvalue is {least:.3g}. The "
        "problem then has no unique solution, and the answer may depend on the order of the rows."
    )


def surely_distinct(X: Any) -> bool:
    """Whether hashes of rows show that no two are equal; False if they do not."""
    return len(np.unique(row_hashes(X))) == int(X.shape[0])


def summed(group: NDArray[np.intp], cost: Floats, n_groups: int) -> Floats:
    """The cost of each group of rows; those of no group, -1, have none."""
    counted = group >= 0
    return np.asarray(np.bincount(group[counted], cost[counted], n_groups), np.float64)


def priced(weight: Floats, C: float) -> Floats:
    """What slack of each row costs (n,); nothing without a weight, even if C is infinite."""
    with np.errstate(over="ignore"):
        cost = np.multiply(weight, C, out=np.zeros(len(weight)), where=weight > 0)
    if np.isfinite(C) and len(cost) and not cost.max() <= MOST_COST:
        i = int(cost.argmax())
        raise ValueError(
            f"C={C:g} times the weight {weight[i]:g} of row {i} is above {MOST_COST:g}. Choose a "
            "smaller C or smaller weights."
        )
    return cost


def refuse_tiny_shares(cost: Floats) -> None:
    """Refuse rows whose cost is so small a share of the largest that no digit of it counts."""
    finite = np.flatnonzero((cost > 0) & (cost < np.inf))
    if not len(finite):
        return
    i, most = finite[cost[finite].argmin()], float(cost[finite].max())
    if cost[i] < LEAST_SHARE * most:
        raise ValueError(
            f"The weight of row {i} times C is {cost[i]:.3g}, less than {LEAST_SHARE:g} of the "
            f"largest, {most:.3g}. Give the row a larger weight, or 0 to leave it out."
        )


def widest_columns(X: Any, names: Any) -> str:
    """A sentence on the columns that vary far more than others; empty if there are none."""
    spread = np.sqrt(mean_variance_axis(X, axis=0)[1] if sp.issparse(X) else X.var(axis=0))
    least = float(spread[spread > 0].min(initial=np.inf))
    wide = np.flatnonzero(spread > UNEVEN * least)
    if not len(wide):
        return ""
    wide = wide[np.argsort(-spread[wide], kind="stable")]
    words = [f"column {j}" for j in range(X.shape[1])] if names is None else list(map(repr, names))
    return (
        f" Scale {checks.listed(wide, words)}: the spread is up to {spread.max() / least:.1g} "
        "times that of another column."
    )


def refuse_vast_rows(X: Any) -> None:
    """Refuse rows whose squares leave the range of numbers."""
    values = np.ravel(X.data if sp.issparse(X) else X)
    with np.errstate(over="ignore"):
        # Not by BLAS, which would wake its threads for it.
        square = 0.0 if values.dtype == np.float32 else np.einsum("i,i", values, values)
    if not np.isfinite(square):
        largest = values[np.abs(values).argmax()]
        advice = "rescale the columns, for example with StandardScaler"
        raise checks.too_large(f"X holds {largest:.3g}, and the squares of X are", advice)
