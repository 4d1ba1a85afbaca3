"""Ridge regression: least squares with a price on long coefficients."""

from collections.abc import Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array

from rosenblatt import checks
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.linear_model.ridge_decomposition import Decomposition
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.solvers.least_squares import AS_GOOD_AS_ROWS, WELL_CONDITIONED, Solution
from rosenblatt.statistics import Gram

from . import column_warnings
from .gram_problem import metric_of, scores_of
from .gram_regression import GramRegressor
from .wide_least_squares import has_dual, has_gram

Array = NDArray[np.float64]

SOLVERS = {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}


class Ridge(GramRegressor):
    """Least squares with a penalty: least ``sum (y - w.x - b)^2 + alpha |w|^2``.

    The intercept b is free. The penalty makes the answer unique, shrinks it toward zero, most where
    the rows say least, and sets nothing exactly to zero. It is the most probable w if each
    coefficient is Gaussian around zero, of variance ``noise variance / alpha``. All follows from
    the products of the columns, the `Gram` statistic, so a model streams, merges and forgets; rows
    wider than long are taken by the products of rows instead.

    Parameters
    ----------
    alpha : float or array-like of shape (t,)
        The penalty, >= 0, for all targets or for each.
    fit_intercept : bool
        Whether b is fitted; it is zero otherwise.
    copy_X : bool
        Accepted for scikit-learn's sake: X is never changed.
    max_iter : int or None
        Most steps where there is no closed form.
    tol : float
        Gradient, relative to the first, at which to stop where there is no closed form.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        "svd" decomposes the rows themselves, "cholesky" factors products of columns or of rows. All
        others do so too, which is more exact than what they ask for, except on sparse rows wider
        than long where conjugate gradients end sooner; `solver_` says what was done.
    positive : bool
        Whether coefficients below zero are forbidden.
    random_state : int, RandomState instance or None
        Accepted for scikit-learn's sake: nothing is drawn.

    Attributes
    ----------
    coef_ : the coefficients, (d,), or (t, d) for targets in columns.
    intercept_ : a number, or (t,).
    n_iter_ : steps for each target, (t,): the closed form is one.
    stop_reason_ : "converged", a closed form always; or "max_iter", "no_progress", "callback".
    objective_, dual_gap_, gradient_norm_ : where there is no closed form, what was minimised, how
        far it is from its least value at most, and the length of its gradient; for several targets
        of each.
    solver_ : "cholesky" or "eigen" of products, "svd" of rows, "nnls" or "lbfgs" for positive ones,
        "sparse_cg" where there is no closed form.
    solution_ : "unique", or "minimum norm" where others are as good: with alpha=0 alone.
    rank_ : directions that the rows and the penalty determine.
    condition_ : reciprocal of the condition of the penalised normal equations, columns scaled to
        one.
    n_parameters_ : free numbers of the model.
    statistics_ : the `Gram` it follows from; none is kept of more than 2048 columns, unless there
        are as many rows.

    Examples
    --------
    >>> from rosenblatt import Ridge
    >>> model = Ridge(alpha=1.0).fit([[0], [1], [2], [3]], [1, 2, 2, 4])
    >>> model.coef_, model.intercept_.round(12)
    (array([0.75]), np.float64(1.125))
    """

    simpler_when_larger = ("alpha",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions(SOLVERS)],
        "positive": ["boolean"],
        "random_state": ["random_state"],
    }

    n_iter_: NDArray[np.int64]

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _penalties(self, n_targets: int) -> Array:
        alpha = np.atleast_1d(np.asarray(self.alpha, np.float64))
        if alpha.ndim > 1 or len(alpha) not in (1, n_targets):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {len(alpha)} != "
                f"{n_targets}. alpha must be a number, or one for each of {n_targets} targets; got "
                f"shape {alpha.shape}."
            )
        if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(f"alpha must be finite and >= 0; got {self.alpha!r}.")
        return np.broadcast_to(alpha, n_targets)

    def _plane(
        self, coef: Array, mean_x: Array, mean_y: Array, dtype: Any, flat_y: bool
    ) -> dict[str, Any]:
        plane = super()._plane(coef, mean_x, mean_y, dtype, flat_y)
        if len(mean_y) == 1:  # one row of coefficients is a row, as in scikit-learn
            plane["coef_"] = plane["coef_"].ravel()
        return plane

    def _prefers_rows(self) -> bool:
        return self.solver == "svd"

    def _is_exact(self) -> bool:
        return self.solver in ("cholesky", "svd")

    def _limits(self, d: int) -> tuple[float, int]:
        return self.tol, self.max_iter or 10 * d

    def _count_iterations(self, n_iter: NDArray[np.int64]) -> None:
        self.n_iter_ = n_iter

    def _doubt(self, solution: Solution, squares: Array | None, streamed: bool) -> None:
        super()._doubt(solution, squares, streamed)
        if squares is not None and np.max(self.alpha) > 0:
            known = self.statistics_
            scales = column_warnings.apart(
                squares, known.weight, known.mean_x, column_warnings.names_of(self)
            )
            if scales is not None:
                self._say(scales)

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("alpha",)`` where one decomposition serves all penalties."""
        one = isinstance(self.alpha, Real) and 0 <= float(self.alpha) < np.inf
        return ("alpha",) if one and not self.positive and self.solver != "svd" else ()

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> Any:
        """Fit at many penalties, from one decomposition.

        Data, parameter and path are those of `capabilities.PathModel`; penalties are >= 0.
        """
        values = checks.path_values(self, parameter, values)
        if isinstance(data, Gram):
            return RidgePath(self, values, data)
        template = clone(self)
        rows = template._checked(*rows_of(data), first=True)
        if not has_gram(rows[0]):
            return WideRidgePath(template, values, rows)
        return RidgePath(self, values, template._named(template._measure(*rows)), rows)


class RidgePath:
    """Ridge regressions at many penalties that follow from one statistic.

    A model of the path is the one that `fit` gives, from the rows where these have more digits;
    predictions and scores of all come from one decomposition.
    """

    def __init__(self, model: Ridge, alphas: Sequence[Any], gram: Gram, rows: Any = None) -> None:
        self.model, self.alphas, self.gram, self.rows = model, alphas, gram, rows

    def __len__(self) -> int:
        return len(self.alphas)

    def __getitem__(self, i: int) -> Ridge:
        model = clone(self.model).set_params(alpha=self.alphas[i]).fit_statistics(self.gram)
        if self.rows is not None:
            model._said = ()
            model._conclude(*self.rows)
            model.report_warnings()
        return model  # type: ignore[no-any-return]

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

    def _coefficients(self, least: float) -> tuple[Array, Array] | None:
        """Coefficients (A, d, t) and intercepts (A, t); None if a condition is below `least`."""
        penalties = np.array(self.alphas, np.float64)
        return Decomposition.of_gram(self.gram, self.model.fit_intercept).path(penalties, least)


class WideRidgePath(ModelPath):
    """Ridge regressions at many penalties > 0 on rows too wide for a statistic."""

    def __init__(self, template: Ridge, alphas: Sequence[Any], data: tuple[Any, Any, Any]) -> None:
        X, y, weights = data
        found = Decomposition.of(X, y, weights, template.fit_intercept)
        if found.rows is None or not has_dual(found.rows) or not min(alphas) > 0:
            raise ValueError(f"There is no path over alpha for rows of shape {X.shape}.")
        coefs, _ = found.path_by_rows(np.array(alphas, np.float64))
        super().__init__([copy(template).set_params(alpha=alpha) for alpha in alphas])
        for model, coef in zip(self.models, coefs, strict=True):
            model._begin()
            model._count_iterations(np.ones(coef.shape[1], np.int64))
            solution = Solution(coef, 0.0, len(coef), "eigen")
            model._set(solution, *found.means, X.dtype, y.ndim == 1)


def ridge_path(
    X: Any,
    y: Any,
    alphas: Any = None,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    n_alphas: int = 100,
) -> tuple[Array, Array, Array]:
    """Fit ridge regression for many penalties at the price of about one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The rows.
    y : array-like of shape (n,) or (n, t)
        Their targets.
    alphas : int, array-like of shape (A,) or None
        The penalties, > 0, or how many, as in `lasso_path`, from hardly any effect to hardly any
        coefficient; if None, `n_alphas` of these.
    fit_intercept : bool
        Whether there is an intercept, which is free.
    sample_weight : array-like of shape (n,) or None
        How often each row counts.
    n_alphas : int
        How many penalties, if none are given.

    Returns
    -------
    alphas : ndarray of shape (A,)
        The penalties, as given, else from the largest.
    coefs : ndarray of shape (d, A), or (t, d, A) for targets in columns
        The coefficients for each.
    intercepts : ndarray of shape (A,) or (t, A)
        The intercepts.

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
        alphas = found.largest * np.geomspace(1e2, 1e-6, n_alphas)
    penalties = checks.penalties(alphas)
    coefs, intercepts = found.path_by_rows(penalties)
    coefs, intercepts = coefs.transpose(2, 1, 0), intercepts.T
    if y.ndim == 1:
        coefs, intercepts = coefs[0], intercepts[0]
    return penalties, coefs.astype(X.dtype), intercepts.astype(X.dtype)


ROW = Row(
    "Ridge",
    page="regression.md",
    certificate="linear_regression",
    compare=(
        Candidate(
            "ridge regression",
            "many columns that say alike things",
            {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)},
            order=81,
        ),
        Candidate(
            "ridge on products",
            "columns that matter together",
            {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)},
            limits=("products",),
            expansion="products",
            order=82,
        ),
        Candidate(
            "ridge on splines",
            "bends along single columns of many values; straight on beyond the rows learned from",
            {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)},
            limits=("splines",),
            expansion="splines",
            order=83,
        ),
        Candidate(
            "kernel ridge on landmarks",
            (
                "curves in any direction, from 5,000 rows on: each row is compared with"
                " 300 of them by a Gaussian kernel"
            ),
            {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)},
            limits=("many rows for pairs",),
            expansion="landmarks",
            order=84,
        ),
    ),
    contract=Contract(
        settings=(
            {},
            {"alpha": 0.01, "fit_intercept": False},
            {"solver": "svd"},
            {"solver": "lbfgs", "positive": True},
        ),
        checked=({}, {"solver": "svd"}, {"positive": True}),
    ),
    slow_peer_tests=("linear_model/tests/test_ridge.py",),
)
