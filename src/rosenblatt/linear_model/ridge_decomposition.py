"""Ridge problems taken apart once, for any number of penalties."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.linear_model.centred_rows import Centred
from rosenblatt.linear_model.wide_least_squares import has_dual, has_gram, solve_iteratively
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.least_squares import AS_GOOD_AS_ROWS, ROUNDING, solve
from rosenblatt.statistics import Gram

from .column_warnings import columns

Array = NDArray[np.float64]
FINE = 1e-9  # the gradient, relative to the first, at which steps end
Path = tuple[Array, Array]  # coefs (A, d, t) and intercepts (A, t)


@dataclass(eq=False)
class Decomposition:
    """What the coefficients for every penalty follow from: products of columns, or the rows."""

    centre: bool
    means: tuple[Array, Array]  # of columns (d,) and targets (t,)
    products: tuple[Array, Array] | None  # (d, d), and with targets (d, t); None for wide rows
    rows: Centred | None = None  # for where products have too few digits or there are none
    gram: Gram | None = None  # the statistic that products are from

    @classmethod
    def of_gram(cls, gram: Gram, centre: bool) -> "Decomposition":
        """From a statistic."""
        xx, xy, _ = gram.about(centre)
        return cls(centre, (gram.mean_x, gram.mean_y), (xx, xy), gram=gram)

    @classmethod
    def of(cls, X: Any, y: Array, weights: Any, centre: bool) -> "Decomposition":
        """From checked rows X (n, d) with targets y (n,) or (n, t)."""
        Y = columns(y)
        weights = checks.weights(weights, len(Y))
        if has_gram(X) and X.shape[0] > X.shape[1]:
            found = cls.of_gram(Gram.of(X, y, weights), centre)
            found.rows = Centred(X, Y, weights, centre, found.means)
            return found
        checks.finite(X)
        rows = Centred(X, Y, weights, centre)
        return cls(centre, (rows.mean_x, rows.mean_y), None, rows)

    @property
    def largest(self) -> float:
        """About the largest variation along a direction, or one if there is none."""
        if self.products is not None:
            found = float(np.linalg.eigvalsh(self.products[0])[-1])
        else:
            assert self.rows is not None
            found = float(self.rows.squares().sum())
        return found if found > 0 else 1.0

    def path(self, penalties: Array, least: float = AS_GOOD_AS_ROWS) -> Path | None:
        """Coefficients and intercepts for penalties (A,), from products.

        None if a reciprocal condition is below `least`, by default if rows know more.
        """
        assert self.products is not None
        with one_blas_thread():
            coefs, condition = ridge_coefs(*self.products, penalties)
        return None if condition < least else self._with_intercepts(coefs)

    def path_by_rows(self, penalties: Array) -> Path:
        """The same, from the rows where products do not suffice."""
        path = None if self.products is None else self.path(penalties)
        if path is not None:
            return path
        rows = self.rows
        assert rows is not None
        if self.products is not None:
            coefs = Spectrum.of_rows(*rows.condensed()).coefs(penalties)
        elif has_dual(rows):
            coefs = dual_coefs(rows, penalties)
        else:
            coefs = self._step_by_step(penalties)
        return self._with_intercepts(coefs)

    def _step_by_step(self, penalties: Array) -> Array:
        """For rows too many and too wide for any table."""
        rows = self.rows
        assert rows is not None
        max_iter = 10 * rows.shape[1]
        each = [solve_iteratively(rows, rows.targets, float(p), FINE, max_iter) for p in penalties]
        short = [found.short for found in each]
        if any(short):
            worst = int(np.argmax(short))
            warn(
                f"At penalty {penalties[worst]:.3g} the gradient is {short[worst]:.2g} of what it "
                f"was at first after {max_iter} iterations, not yet {FINE:.2g}. Leave out the "
                "smallest penalties, or standardise the columns.",
                ConvergenceWarning,
            )
        return np.stack([found.solution.coef for found in each])

    def _with_intercepts(self, coefs: Array) -> Path:
        mean_x, mean_y = self.means
        if not self.centre:
            return coefs, np.zeros((len(coefs), len(mean_y)))
        return coefs, np.asarray(mean_y - mean_x @ coefs)


def dual_coefs(rows: Centred, penalties: Array) -> Array:
    """Coefficients (A, d, t) of few wide rows, by the products of rows."""
    targets = rows.targets
    with one_blas_thread():
        values, turned = np.linalg.eigh(rows.dual())
        values = np.maximum(values, 0.0)
        largest = values.max(initial=0.0)
        if penalties.min() < AS_GOOD_AS_ROWS * largest and not rows.sparse:
            return Spectrum.of_rows(*rows.condensed()).coefs(penalties)
        parts = (turned.T @ targets)[:, None, :] / (values[:, None] + penalties)[:, :, None]
        flat = turned @ parts.reshape(len(values), -1)
        coefs = rows.adjoint(flat).reshape(-1, len(penalties), targets.shape[1])
    return np.moveaxis(coefs, 1, 0)


# Ridge regression for any number of penalties from one decomposition.
#
# In the coordinates of the eigenvectors V of ``X'X = V diag(values) V'`` the columns do not know of
# each other, and each coefficient is ``products / (values + penalty)``.


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A least-squares problem in the coordinates in which its columns are independent."""

    values: Array  # (k,) how much the rows vary along each axis
    axes: Array  # (d, k) orthonormal columns
    products: Array  # (k, t) of axes and targets, ``axes' X' y``

    @staticmethod
    def of_gram(gram: Array, products: Array) -> "Spectrum":
        """From the products (d, d) of the columns and (d, t) of columns and targets."""
        values, axes = np.linalg.eigh(gram)
        return Spectrum(np.maximum(values, 0.0), axes, axes.T @ products)

    @staticmethod
    def of_rows(A: Array, B: Array) -> "Spectrum":
        """From rows A (m, d) and targets B (m, t): small values keep twice as many digits."""
        U, s, axes = np.linalg.svd(A, full_matrices=False)
        return Spectrum(s**2, axes.T, s[:, None] * (U.T @ B))

    def condition(self, penalty: float) -> float:
        """The reciprocal condition of the penalised normal equations."""
        largest = self.values.max(initial=0.0) + penalty
        if len(self.axes) > len(self.values):  # columns that the rows say nothing of
            return float(penalty / largest) if largest > 0 else 0.0
        return float((self.values.min() + penalty) / largest) if largest > 0 else 0.0

    def shrinkage(self, penalties: Array) -> Array:
        """``1 / (values + penalty)`` for penalties (A,), shape (k, A); 0 where nothing is known."""
        total = self.values[:, None] + penalties
        known = total > ROUNDING * len(self.axes) * (self.values.max(initial=0.0) + penalties)
        with np.errstate(divide="ignore"):
            return np.where(known, 1.0 / total, 0.0)

    def coefs(self, penalties: Array) -> Array:
        """The coefficients (A, d, t) for penalties (A,)."""
        parts = self.shrinkage(penalties)[:, :, None] * self.products[:, None, :]
        k, n_penalties, n_targets = parts.shape
        flat = self.axes @ parts.reshape(k, -1)
        return np.moveaxis(flat.reshape(-1, n_penalties, n_targets), 1, 0)


def ridge_coefs(gram: Array, products: Array, penalties: Array) -> tuple[Array, float]:
    """Coefficients (A, d, t) for penalties (A,), and the worst reciprocal condition met."""
    # Where columns differ too much in size for one decomposition, each penalty has its own, of
    # columns scaled to length one.
    spectrum = Spectrum.of_gram(gram, products)
    condition = spectrum.condition(float(penalties.min()))
    if condition > AS_GOOD_AS_ROWS:
        return spectrum.coefs(penalties), condition
    each = [solve(gram, products, float(penalty)) for penalty in penalties]
    return np.stack([s.coef for s in each]), min(s.condition for s in each)
