"""Ridge regression: least squares with a penalty on squared coefficients."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.capabilities import rows_of
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.statistics import Gram

from .column_warnings import SCALES_APART, unequal_scales
from .least_squares import Solution, has_gram
from .linear_regression import GramRegressor, Means
from .ridge_decomposition import RidgePath, wide_ridge_path

Array = NDArray[np.float64]

SOLVERS = {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}


class Ridge(GramRegressor):
    """Least squares with an L2 penalty: minimizes ``sum (y - w.x - b)^2 + alpha |w|^2``.

    The intercept b is not penalized. The penalty makes the solution unique and shrinks it toward
    zero, most in directions in which the rows vary least; no coefficient is exactly zero. It is the
    most probable w if each coefficient has a Gaussian prior with mean zero and variance
    ``noise variance / alpha``. The fit follows from the products of the columns, the `Gram`
    statistic, so that `partial_fit`, `merge` and `forget` are exact; a few wide rows are solved by
    the products of rows.

    Parameters
    ----------
    alpha : float or array-like of shape (t,)
        Strength of the penalty, >= 0, for all targets or for each.
    fit_intercept : bool
        Whether to fit b; it is zero otherwise.
    copy_X : bool
        Accepted for compatibility; X is never changed.
    max_iter : int or None
        Maximum number of iterations where there is no closed form.
    tol : float
        Gradient, relative to the first, at which to stop where there is no closed form.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        "svd" decomposes the rows, "cholesky" factors the products of columns or of rows. All others
        do this as well, which is more exact, except for more than 1,000 sparse rows with more
        columns than rows, where LSMR is faster. `solver_` is the method that was used.
    positive : bool
        Whether to forbid coefficients below zero.
    random_state : int, RandomState instance or None
        Accepted for compatibility; nothing is random.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
        Coefficients.
    intercept_ : float or ndarray of shape (t,)
        Intercept.
    n_iter_ : ndarray of shape (t,)
        Iterations for each target; one for closed forms.
    stop_reason_ : str
        "converged" for closed forms; also "max_iter" and "no_progress".
    objective_, dual_gap_, gradient_norm_ : float or ndarray of shape (t,)
        Where there is no closed form: value of the objective, upper bound on its distance to the
        minimum, and length of its gradient.
    solver_ : str
        "cholesky" or "eigen" of products, "svd" of rows, "nnls" or "lbfgs" for positive
        coefficients, "lsmr" for sparse rows that are too wide for a closed form.
    solution_ : str
        "unique", or "minimum norm" if other coefficients fit equally well (only with alpha=0).
    rank_ : int
        Number of directions that the rows and the penalty determine.
    condition_ : float
        Reciprocal condition of the penalized normal equations, columns scaled to length one.
    n_parameters_ : int
        Number of parameters.
    statistics_ : Gram
        Products of the columns; absent for more than 2048 columns, unless there are as many rows.

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

    def _limits(self, d: int) -> tuple[float, int]:
        return self.tol, self.max_iter or 10 * d

    def _set(self, solution: Solution, means: Means, dtype: Any, flat_y: bool) -> None:
        super()._set(solution, means, dtype, flat_y)
        n_targets = solution.coef.shape[1]
        self.n_iter_ = np.ones(n_targets, np.int64) if solution.n_iter is None else solution.n_iter

    def _plane(self, coef: Array, means: Means, dtype: Any, flat_y: bool) -> dict[str, Any]:
        plane = super()._plane(coef, means, dtype, flat_y)
        if coef.shape[1] == 1:  # one row of coefficients is a row, as in scikit-learn
            plane["coef_"] = plane["coef_"].ravel()
        return plane

    def _note_dependence(self, solution: Solution, squares: Array | None, streamed: bool) -> None:
        super()._note_dependence(solution, squares, streamed)
        if squares is None or not np.max(self.alpha) > 0:
            return
        if squares.max() > SCALES_APART**2 * squares.min():
            known = self.statistics_
            if message := unequal_scales(self, squares, known.weight, known.mean_x):
                self._note(message)

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
            return wide_ridge_path(template, values, *rows)
        return RidgePath(self, values, template._named(template._measure(*rows)), rows)


ROW = Row(
    "Ridge",
    page="regression.md",
    certificate="linear_regression",
    compare=(
        Candidate(
            "ridge regression",
            "many correlated columns",
            {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)},
            order=81,
        ),
        Candidate(
            "ridge on products",
            "interactions between columns",
            {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)},
            limits=("products",),
            expansion="products",
            order=82,
        ),
        Candidate(
            "ridge on splines",
            "smooth nonlinear effects of single columns; linear extrapolation",
            {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)},
            limits=("splines",),
            expansion="splines",
            order=83,
        ),
        Candidate(
            "kernel ridge on landmarks",
            "nonlinear regression from 5,000 rows (Nystroem approximation with 300 landmarks)",
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
