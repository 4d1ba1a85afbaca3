"""Ridge regression at many penalties from one decomposition of the rows or their products.

In the coordinates of the eigenvectors V of ``X'X = V diag(values) V'`` columns are independent, and
each coefficient is ``products / (values + penalty)``.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mean_squared_error, r2_score, root_mean_squared_error
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer
from sklearn.utils.validation import check_array

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.capabilities import ModelPath
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Gram

from .centered_rows import CenteredRows
from .least_squares import (
    AS_GOOD_AS_ROWS,
    ROUNDING,
    WELL_CONDITIONED,
    Solution,
    has_dual,
    has_gram,
    solve,
    solve_by_lsmr,
)

Array = NDArray[np.float64]
Path = tuple[Array, Array]  # coefs (A, d, t) and intercepts (A, t)

FINE = 1e-9  # the gradient, relative to the first, at which iterations end


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A least-squares problem in the coordinates in which its columns are independent."""

    values: Array  # (k,) how much the rows vary along each axis
    axes: Array  # (d, k) orthonormal columns
    products: Array  # (k, t) of axes and targets, ``axes' X' y``

    @staticmethod
    def of_gram(gram: Array, products: Array) -> "Spectrum":
        """Decompose the products (d, d) of columns, and (d, t) of columns and targets."""
        values, axes = np.linalg.eigh(gram)
        return Spectrum(np.maximum(values, 0.0), axes, axes.T @ products)

    @staticmethod
    def of_rows(A: Array, B: Array) -> "Spectrum":
        """Decompose rows A (m, d) with targets B (m, t): small values keep twice as many digits."""
        U, s, axes = np.linalg.svd(A, full_matrices=False)
        return Spectrum(s**2, axes.T, s[:, None] * (U.T @ B))

    def condition(self, penalty: float) -> float:
        """Return the reciprocal condition of the penalized normal equations."""
        largest = self.values.max(initial=0.0) + penalty
        if len(self.axes) > len(self.values):  # more columns than rows
            return float(penalty / largest) if largest > 0 else 0.0
        return float((self.values.min() + penalty) / largest) if largest > 0 else 0.0

    def shrinkage(self, penalties: Array) -> Array:
        """Return ``1 / (values + penalty)`` (k, A) for penalties (A,); 0 along constant axes."""
        total = self.values[:, None] + penalties
        known = total > ROUNDING * len(self.axes) * (self.values.max(initial=0.0) + penalties)
        with np.errstate(divide="ignore"):
            return np.where(known, 1.0 / total, 0.0)

    def coefs(self, penalties: Array) -> Array:
        """Return the coefficients (A, d, t) for penalties (A,)."""
        parts = self.shrinkage(penalties)[:, :, None] * self.products[:, None, :]
        k, n_penalties, n_targets = parts.shape
        flat = self.axes @ parts.reshape(k, -1)
        return np.moveaxis(flat.reshape(-1, n_penalties, n_targets), 1, 0)


def ridge_coefs(gram: Array, products: Array, penalties: Array) -> tuple[Array, float]:
    """Return coefficients (A, d, t) for penalties (A,), and the worst reciprocal condition met."""
    # Where columns differ too much in size for one decomposition, each penalty has its own, of
    # columns scaled to length one.
    spectrum = Spectrum.of_gram(gram, products)
    condition = spectrum.condition(float(penalties.min()))
    if condition > AS_GOOD_AS_ROWS:
        return spectrum.coefs(penalties), condition
    each = [solve(gram, products, float(penalty)) for penalty in penalties]
    return np.stack([s.coef for s in each]), min(s.condition for s in each)


def dual_coefs(rows: CenteredRows, penalties: Array) -> Array:
    """Return the coefficients (A, d, t) of few wide rows, from the products of rows."""
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


def iterated_coefs(rows: CenteredRows, penalties: Array) -> Array:
    """Return the coefficients (A, d, t) of rows too many and too wide for any table."""
    max_iter = 10 * rows.shape[1]
    each = [solve_by_lsmr(rows, rows.targets, float(p), FINE, max_iter) for p in penalties]
    worst = int(np.argmax([solution.unmet for solution in each]))
    if each[worst].unmet:
        warn(
            f"At penalty {penalties[worst]:.3g} the gradient is {each[worst].unmet:.2g} of what "
            f"it was at first after {max_iter} iterations, not yet {FINE:.2g}. Leave out the "
            "smallest penalties, or standardize the columns.",
            ConvergenceWarning,
        )
    return np.stack([solution.coef for solution in each])


class Decomposition:
    """Products of columns, or rows, from which the coefficients for all penalties follow.

    Rows are used where there are no products or these have too few digits.
    """

    def __init__(self, center: bool, gram: Gram | None, rows: CenteredRows | None = None) -> None:
        self.center, self.gram, self.rows = center, gram, rows
        self.products = None if gram is None else gram.about(center)[:2]  # (d, d) and (d, t)

    @classmethod
    def of(cls, X: Any, y: Array, weights: Any, center: bool) -> "Decomposition":
        """Return the decomposition of checked rows X (n, d) with targets y (n,) or (n, t)."""
        weights = checks.weights(weights, len(y))
        if has_gram(X) and X.shape[0] > X.shape[1]:
            gram = Gram.of(X, y, weights)
            return cls(
                center, gram, CenteredRows(X, y, weights, center, (gram.mean_x, gram.mean_y))
            )
        checks.finite(X)
        return cls(center, None, CenteredRows(X, y, weights, center))

    def largest_variation(self) -> float:
        """Return an estimate of the largest variation along a direction; one if there is none."""
        if self.products is not None:
            found = float(np.linalg.eigvalsh(self.products[0])[-1])
        else:
            assert self.rows is not None
            found = float(self.rows.squares().sum())
        return found if found > 0 else 1.0

    def path(self, penalties: Array, least: float = AS_GOOD_AS_ROWS) -> Path | None:
        """Return coefficients and intercepts for penalties (A,), from products.

        None if a reciprocal condition is below `least`, by default if rows have more digits.
        """
        assert self.products is not None
        with one_blas_thread():
            coefs, condition = ridge_coefs(*self.products, penalties)
        return None if condition < least else self._with_intercepts(coefs)

    def path_by_rows(self, penalties: Array) -> Path:
        """Return the same, from the rows where products do not suffice."""
        path = None if self.products is None else self.path(penalties)
        if path is not None:
            return path
        assert self.rows is not None
        if self.products is not None:
            return self._with_intercepts(Spectrum.of_rows(*self.rows.condensed()).coefs(penalties))
        coefs = dual_coefs if has_dual(self.rows) else iterated_coefs
        return self._with_intercepts(coefs(self.rows, penalties))

    def _with_intercepts(self, coefs: Array) -> Path:
        known: Any = self.rows if self.gram is None else self.gram
        if not self.center:
            return coefs, np.zeros((len(coefs), len(known.mean_y)))
        return coefs, np.asarray(known.mean_y - known.mean_x @ coefs)


# Scores of linear models on rows that are known by their Gram statistic alone.

# A sum of squared errors is a difference of sums as large as the scatter of the targets: below this
# share of it, too few digits are left.
LEAST_SHARE = 1e-6

METRICS = {r2_score: 1, mean_squared_error: -1, root_mean_squared_error: -1}


def metric_of(scorer: Any, estimator: Any) -> str | None:
    """Return the name of a scorer's function, if it needs squared errors only."""
    if type(scorer) is _PassthroughScorer:
        usual = getattr(type(estimator), "score", None) is RegressorMixin.score
        return "r2_score" if usual else None
    if type(scorer) is not _Scorer or scorer._kwargs or scorer._response_method != "predict":
        return None
    function = scorer._score_func
    return function.__name__ if METRICS.get(function) == scorer._sign else None


def squared_errors(test: Gram, coefs: Array, intercepts: Array) -> Array:
    """Return sums of squared errors (A, t) of models coefs (A, d, t) and intercepts (A, t)."""
    n_models, d, t = coefs.shape
    side_by_side = np.moveaxis(coefs, 0, 1).reshape(d, -1)
    bent = (side_by_side * (test.xx @ side_by_side)).sum(axis=0).reshape(n_models, t)
    along = np.einsum("adt,dt->at", coefs, test.xy)
    shift = test.mean_y - intercepts - test.mean_x @ coefs
    return np.asarray(np.diag(test.yy) - 2 * along + bent + test.weight * shift**2)


def scores_of(metric: str, test: Gram, coefs: Array, intercepts: Array) -> Array | None:
    """Return the scores (A,) of models on rows; None where the statistic has too few digits."""
    scatter = np.diag(test.yy)
    errors = squared_errors(test, coefs, intercepts)
    if test.rows < 2 or (errors <= LEAST_SHARE * scatter).any() or not np.isfinite(errors).all():
        return None
    if metric == "r2_score":
        if not (scatter > 0).all():  # R² has a definition of its own for constant targets
            return None
        return np.asarray((1 - errors / scatter).mean(axis=1))
    means = errors / test.weight
    means = np.sqrt(means) if metric == "root_mean_squared_error" else means
    return np.asarray(-means.mean(axis=1))


class RidgePath:
    """Ridge regressions at many penalties, from one statistic.

    A model of the path is the one that `fit` gives, from the rows if these have more digits.
    Predictions and scores of all models come from one decomposition.
    """

    def __init__(self, model: Any, alphas: Sequence[Any], gram: Gram, rows: Any = None) -> None:
        self.model, self.alphas, self.gram, self.rows = model, alphas, gram, rows

    def __len__(self) -> int:
        return len(self.alphas)

    def __getitem__(self, i: int) -> Any:
        model = clone(self.model).set_params(alpha=self.alphas[i]).fit_statistics(self.gram)
        if self.rows is not None:
            model._warnings = ()
            model._conclude(self.rows, final=True)
            model.report_warnings()
        return model

    def predict(self, X: Any) -> Array:
        """Return the predictions of all models, shape (len, n) or (len, n, t)."""
        found = self._coefficients(AS_GOOD_AS_ROWS)
        if found is None:
            return np.stack([self[i].predict(X) for i in range(len(self))])
        coefs, intercepts = found
        X = checks.rows(self[0], X)
        side_by_side = np.moveaxis(coefs, 0, 1).reshape(X.shape[1], -1)
        side_by_side = (X @ side_by_side).reshape(X.shape[0], len(self), -1) + intercepts
        predicted: Array = np.moveaxis(side_by_side, 1, 0).astype(self.gram.dtype, copy=False)
        return predicted[:, :, 0] if self.gram.flat_y else predicted

    def scores(self, test: Gram, scorer: Any) -> Array | None:
        """Return the scores (A,) on the rows of a statistic; None where it does not suffice."""
        metric = metric_of(scorer, self.model)
        if metric is None:
            return None
        # The digits that products lose are of directions along which rows hardly vary: a penalty
        # keeps coefficients small there, and predictions do not depend on them.
        found = self._coefficients(WELL_CONDITIONED if min(self.alphas) > 0 else AS_GOOD_AS_ROWS)
        return None if found is None else scores_of(metric, test, *found)

    def _coefficients(self, least: float) -> Path | None:
        penalties = np.array(self.alphas, np.float64)
        return Decomposition(self.model.fit_intercept, self.gram).path(penalties, least)


def wide_ridge_path(template: Any, alphas: Sequence[Any], X: Any, y: Any, weights: Any) -> Any:
    """Return the path over penalties > 0 of rows too wide for a statistic."""
    found = Decomposition.of(X, y, weights, template.fit_intercept)
    if found.rows is None or not has_dual(found.rows) or not min(alphas) > 0:
        raise ValueError(f"There is no path over alpha for rows of shape {X.shape}.")
    coefs, _ = found.path_by_rows(np.array(alphas, np.float64))
    models = [copy(template).set_params(alpha=alpha) for alpha in alphas]
    for model, coef in zip(models, coefs, strict=True):
        solution = Solution(coef, 0.0, len(coef), "eigen")
        model._set(solution, (found.rows.mean_x, found.rows.mean_y), X.dtype, y.ndim == 1)
    return ModelPath(models)


def ridge_path(
    X: Any,
    y: Any,
    alphas: Any = None,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    n_alphas: int = 100,
) -> tuple[Array, Array, Array]:
    """Fit ridge regression for many penalties from one decomposition.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Rows.
    y : array-like of shape (n,) or (n, t)
        Targets.
    alphas : int, array-like of shape (A,) or None
        Penalties, > 0, or their number: these go from hardly any coefficient to hardly any effect.
        None means `n_alphas`.
    fit_intercept : bool
        Whether to fit an intercept, which is not penalized.
    sample_weight : array-like of shape (n,) or None
        Weights of the rows.
    n_alphas : int
        Number of penalties if `alphas` is None.

    Returns
    -------
    alphas : ndarray of shape (A,)
        Penalties, in the order given, else falling.
    coefs : ndarray of shape (d, A), or (t, d, A) for targets in columns
        Coefficients for each penalty.
    intercepts : ndarray of shape (A,) or (t, A)
        Intercepts.

    Examples
    --------
    >>> from rosenblatt import ridge_path
    >>> alphas, coefs, intercepts = ridge_path([[0], [1], [2], [3]], [1, 2, 2, 4], [1, 10])
    >>> coefs, intercepts
    (array([[0.75, 0.3 ]]), array([1.125, 1.8  ]))
    """
    X = check_array(X, accept_sparse="csr", dtype=checks.FLOATS, order="C")
    y = checks.targets("ridge_path", y, X.shape[0])
    found = Decomposition.of(X, y, sample_weight, fit_intercept)
    if isinstance(alphas, Integral):
        n_alphas, alphas = int(alphas), None
    if n_alphas < 1:
        raise ValueError(f"alphas must be one penalty or more; got {n_alphas} of them.")
    if alphas is None:
        alphas = found.largest_variation() * np.geomspace(1e2, 1e-6, n_alphas)
    penalties = checks.penalties(alphas)
    coefs, intercepts = found.path_by_rows(penalties)
    coefs, intercepts = coefs.transpose(2, 1, 0), intercepts.T
    if y.ndim == 1:
        coefs, intercepts = coefs[0], intercepts[0]
    return penalties, coefs.astype(X.dtype), intercepts.astype(X.dtype)
