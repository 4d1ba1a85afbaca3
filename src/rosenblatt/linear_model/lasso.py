"""Lasso and elastic net: least squares with a penalty that leaves few weights."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from .elastic_net_base import PenalisedRegressor
from .gram_problem import Squares
from .lasso_paths import enet_path
from .penalty_search import alpha_for


class ElasticNet(PenalisedRegressor):
    """Least squares with both penalties: the absolute weights, and their squares.

    Minimises ``1/(2n) |y - X w - b|^2 + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio)/2 |w|^2``; the
    intercept b is never penalised. Weights that are not worth their price are exactly zero, and
    columns that say the same share their weight. The fit stops when the duality gap, an upper bound
    on how far the objective is from the best possible, is at most ``tol`` times the mean square of
    y (less its mean, with an intercept).

    Parameters
    ----------
    alpha : float
        Strength of the penalty.
    l1_ratio : float
        Share of the absolute weights in it, from 0 to 1; 1 is `Lasso`.
    fit_intercept : bool
        Whether b is fitted; it is zero otherwise.
    precompute : bool or array-like of shape (d, d)
        Whether to work on the Gram matrix of the columns. It is used where it is faster in any
        case; True, or a matrix (which is computed anew), uses it for all dense tables with more
        rows than columns. The answer is the same.
    max_iter : int or None
        Iterations before giving up: sweeps over the weights, or working sets of columns.
    copy_X : bool
        Accepted for scikit-learn's sake; X is never written to.
    tol : float or None
        Largest duality gap, as a share of the mean square of y; None makes `max_iter` iterations.
    warm_start : bool
        Begin where the previous fit ended.
    positive : bool
        Let no weight be below zero.
    random_state : int, RandomState instance or None
        Seed of the orders of ``selection="random"``.
    selection : {"cyclic", "random"}
        Whether a sweep visits the weights in their order, or in a new random order each time.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
        The weights.
    sparse_coef_ : sparse matrix of shape (1, d) or (t, d)
        The same, without their zeros.
    intercept_ : float or ndarray of shape (t,)
        The intercept.
    alpha_ : float
        The strength of the penalty that was used.
    dual_gap_ : float or ndarray of shape (t,)
        How far `objective_` is above the best possible, at most.
    objective_ : float or ndarray of shape (t,)
        What was minimised.
    gradient_norm_ : float or ndarray of shape (t,)
        Length of the shortest subgradient; zero at the best weights.
    n_iter_ : int or list of int
        Iterations made.
    stop_reason_ : str
        "converged", "max_iter", "no_progress" (rounding allows no smaller gap) or "callback".
    n_parameters_ : int
        Free numbers: d weights, zeros included, and an intercept if there is one, for each target.
    n_features_in_, feature_names_in_ :
        Number of columns of X, and their names if all are strings.

    See Also
    --------
    Lasso : with the first penalty alone.

    Examples
    --------
    Two columns that say the same share the weight, where a lasso may take either:

    >>> from rosenblatt import ElasticNet
    >>> X, y = [[0, 0], [1, 1], [2, 2], [3, 3]], [0, 1, 2, 3]
    >>> model = ElasticNet(alpha=0.1, tol=1e-9).fit(X, y)
    >>> model.coef_.round(4), model.dual_gap_ < 1e-8
    (array([0.4706, 0.4706]), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PenalisedRegressor._parameter_constraints,
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    path = staticmethod(enet_path)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = 1000,
        copy_X: bool = True,
        tol: float | None = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class Lasso(PenalisedRegressor):
    """Least squares with the absolute weights as a penalty, which leaves few of them.

    Minimises ``1/(2n) |y - X w - b|^2 + alpha |w|_1``; the intercept b is never penalised. In terms
    of the residual sum of squares, ``RSS + lambda |w|_1`` is ``alpha = lambda / (2n)``. Weights not
    worth their price are exactly zero. The fit stops when the duality gap, an upper bound
    on how far the objective is from the best possible, is at most ``tol`` times the mean square of
    y (less its mean, with an intercept).

    Parameters
    ----------
    alpha : float
        Strength of the penalty.
    fit_intercept, precompute, copy_X, max_iter, tol, warm_start, positive, random_state, selection
        As for `ElasticNet`.
    n_features : int or None
        Keep so many features, by the penalty for which that comes out, or the nearest number with
        a warning; `alpha` then means nothing, and `alpha_` is the penalty that was found. The fit
        begins where the search ended.

    Attributes
    ----------
    alpha_ : float
        The strength of the penalty that was used.
    coef_, sparse_coef_, intercept_, dual_gap_, objective_, gradient_norm_, n_iter_, stop_reason_
        As for `ElasticNet`.
    n_parameters_, n_features_in_, feature_names_in_
        As for `ElasticNet`.

    See Also
    --------
    LassoCV : with the penalty chosen by cross-validation.
    ElasticNet : with a second penalty, under which columns that say the same share their weight.

    References
    ----------
    .. [1] R. Tibshirani (1996), Regression shrinkage and selection via the lasso.
    .. [2] M. Massias, A. Gramfort, J. Salmon (2018), Celer: a fast solver for the lasso with dual
       extrapolation.

    Examples
    --------
    >>> from rosenblatt import Lasso
    >>> X, y = [[0, 1], [1, 0], [2, 0], [3, 1]], [1, 2, 2, 4]
    >>> model = Lasso(alpha=0.125).fit(X, y)
    >>> model.coef_, round(float(model.intercept_), 4)
    (array([0.8, 0. ]), 1.05)
    >>> model.stop_reason_, model.dual_gap_ < 1e-9
    ('converged', True)

    As strong a penalty as leaves one feature:

    >>> one = Lasso(n_features=1).fit(X, y)
    >>> one.coef_.round(2), round(one.alpha_, 2)
    (array([0.18, 0.  ]), 0.9)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PenalisedRegressor._parameter_constraints,
        "n_features": [Interval(Integral, 1, None, closed="left"), None],
    }

    path = staticmethod(enet_path)
    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float | None = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        n_features: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.n_features = n_features

    def _searches(self) -> bool:
        return self.n_features is not None

    def _choose_alpha(
        self, squares: Squares, coefs: NDArray[np.float64], tried: Any = None
    ) -> float:
        if self.n_features is None:
            return float(self.alpha)
        n_targets, d = coefs.shape
        if n_targets > 1:
            raise ValueError(f"n_features={self.n_features} asks for one target; got {n_targets}.")
        if self.n_features > d:
            raise ValueError(
                f"n_features={self.n_features} is more than the {d} features of X; ask for fewer."
            )
        tol = 1e-4 if self.tol is None else self.tol
        alpha, coefs[0] = alpha_for(
            self.n_features, squares.descents[0], squares.variances(), self.positive, tol, tried
        )
        return alpha


ROWS = (
    Row(
        "Lasso",
        page="lasso.md",
        certificate="linear_regression",
        compare=(
            Candidate(
                "lasso",
                "many columns of which few matter",
                {"alpha": (1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0)},
                order=85,
                first_if_wide=True,
            ),
        ),
        contract=Contract(
            settings=(
                {"alpha": 0.01, "tol": 1e-12},
                {"alpha": 0.05, "positive": True, "fit_intercept": False, "tol": 1e-12},
                {"alpha": 0.01, "selection": "random", "random_state": 0, "tol": 1e-12},
            )
        ),
        warm=Warm(
            ({"alpha": 0.01},), widths=(3, 20), large="linear_model.elastic_net_base.run_large_loop"
        ),
        parts="lasso",
        slow_peer_tests=(
            "linear_model/tests/test_coordinate_descent.py",
            "linear_model/tests/test_sparse_coordinate_descent.py",
        ),
        peer_functions=("enet_path", "lasso_path"),
    ),
    Row(
        "ElasticNet",
        page="lasso.md",
        certificate="linear_regression",
        compare=(
            Candidate(
                "elastic net",
                "as the lasso, where columns come in groups",
                {"alpha": (1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0), "l1_ratio": (0.2, 0.5, 0.8)},
                order=86,
            ),
        ),
        contract=Contract(
            settings=(
                {"tol": 1e-12},
                {"alpha": 0.01, "l1_ratio": 0.9, "fit_intercept": False, "tol": 1e-12},
            )
        ),
        warm=Warm(
            ({"alpha": 0.01},), widths=(3, 20), large="linear_model.elastic_net_base.run_large_loop"
        ),
        parts="lasso",
        slow_peer_tests=(
            "linear_model/tests/test_coordinate_descent.py",
            "linear_model/tests/test_sparse_coordinate_descent.py",
        ),
    ),
)
