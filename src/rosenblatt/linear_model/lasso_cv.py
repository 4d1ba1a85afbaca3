"""Lasso and elastic net that choose their penalty by cross-validation."""

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from rosenblatt.registry.row import Contract, Row

from .elastic_net_cv_base import PenalisedRegressorCV
from .lasso import ElasticNet, Lasso
from .lasso_paths import enet_path, lasso_path


class ElasticNetCV(PenalisedRegressorCV):
    """`ElasticNet` with its penalty chosen by cross-validation.

    All penalties are tried on each fold in one call, each fit begun where the last ended; tall
    tables are read once for all folds. The best penalty has the least mean squared error on the
    held-out rows, mean over the folds. A warning says if it is the end of the grid.

    Parameters
    ----------
    l1_ratio : float or list of float
        Share of the absolute weights in the penalty; of several the best is taken.
    eps : float
        The smallest alpha as a share of the largest.
    alphas : int, array-like of shape (A,), or "decades"
        How many penalties, or which. "decades" tries powers of ten first, then looks closer around
        the best, twice.
    fit_intercept : bool
        Whether b is fitted; it is zero otherwise.
    precompute : "auto", bool or array-like of shape (d, d)
        Accepted for scikit-learn's sake: the faster way is taken.
    max_iter : int
        Iterations of each fit before giving up.
    tol : float
        Largest duality gap of each fit, as a share of the mean square of y.
    cv : int, splitter, iterable or None
        The folds; five if None.
    copy_X : bool
        Accepted for scikit-learn's sake; X is never written to.
    verbose : int
        Accepted for scikit-learn's sake.
    n_jobs : int or None
        Accepted for scikit-learn's sake; what is worth it runs in threads anyway.
    positive : bool
        Let no weight be below zero.
    random_state : int, RandomState instance or None
        Seed of the orders of ``selection="random"``.
    selection : {"cyclic", "random"}
        The order in which a sweep visits the weights.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The best penalty.
    alphas_ : ndarray of shape (A,) or (L, A)
        The penalties tried, falling; for each share if they differ.
    mse_path_ : ndarray of shape (A, F) or (L, A, F)
        Mean squared error on each fold's held-out rows.
    coef_, intercept_, dual_gap_, objective_, gradient_norm_, n_iter_, stop_reason_ :
        Of the fit of all rows; see `ElasticNet`.
    n_parameters_, n_features_in_, feature_names_in_ :
        Number and names of the columns of X.

    See Also
    --------
    LassoCV : with the first penalty alone.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y)
    >>> model.l1_ratio_, round(model.alpha_, 4)
    (np.float64(1.0), 0.0038)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PenalisedRegressorCV._parameter_constraints,
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), "array-like"],
    }

    path = staticmethod(enet_path)

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: Any = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _l1_ratios(self) -> Any:
        return self.l1_ratio

    def _model(self) -> Any:
        return ElasticNet(self.alpha_, l1_ratio=self.l1_ratio_, **self._of_each_fit())


class LassoCV(PenalisedRegressorCV):
    """`Lasso` with its penalty chosen by cross-validation.

    All penalties are tried on each fold in one call, each fit begun where the last ended; tall
    tables are read once for all folds. The best penalty has the least mean squared error on the
    held-out rows, mean over the folds. A warning says if it is the end of the grid.

    Parameters
    ----------
    eps, alphas, fit_intercept, precompute, max_iter, tol, copy_X, cv, verbose, n_jobs, positive, \
    random_state, selection
        As for `ElasticNetCV`.

    Attributes
    ----------
    alpha_ : float
        The best penalty.
    alphas_ : ndarray of shape (A,)
        The penalties tried, falling.
    mse_path_ : ndarray of shape (A, F)
        Mean squared error on each fold's held-out rows.
    coef_, intercept_, dual_gap_, objective_, gradient_norm_, n_iter_, stop_reason_ :
        Of the fit of all rows; see `Lasso`.
    n_parameters_, n_features_in_, feature_names_in_ :
        Number and names of the columns of X.

    See Also
    --------
    ElasticNetCV : with both penalties.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import LassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LassoCV().fit(X, y)
    >>> round(model.alpha_, 4), model.mse_path_.shape
    (0.0038, (100, 5))
    >>> round(LassoCV(alphas="decades").fit(X, y).alpha_, 4)
    0.0038
    """

    path = staticmethod(lasso_path)

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _model(self) -> Any:
        return Lasso(self.alpha_, **self._of_each_fit())


ROWS = (
    Row(
        "LassoCV",
        page="lasso.md",
        certificate="linear_regression",
        contract=Contract(settings=({"alphas": [0.01, 0.1, 0.5], "tol": 1e-12},)),
        warm=None,
        slow_peer_tests=(
            "linear_model/tests/test_coordinate_descent.py",
            "linear_model/tests/test_sparse_coordinate_descent.py",
        ),
    ),
    Row(
        "ElasticNetCV",
        page="lasso.md",
        certificate="linear_regression",
        contract=Contract(settings=({"alphas": [0.01, 0.1, 0.5], "tol": 1e-12},)),
        warm=None,
        slow_peer_tests=(
            "linear_model/tests/test_coordinate_descent.py",
            "linear_model/tests/test_sparse_coordinate_descent.py",
        ),
    ),
)
