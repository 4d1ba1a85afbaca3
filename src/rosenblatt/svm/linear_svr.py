"""Linear support vector regression."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import LinearRegressor, Passes
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from .linear_svm import LinearSVM, MarginFits, check_settings
from .margin_problem import MarginProblem, check_costs, check_squares
from .smo import costs


class LinearSVR(LinearSVM, LinearRegressor):
    """Linear support vector regression: errors up to epsilon cost nothing.

    The line ``f(x) = w.x + b`` minimizes ::

        |w|^2 / 2 + C sum_i s_i [|t_i - f(x_i)| - epsilon]_+

    or, with ``loss="squared_epsilon_insensitive"``, the squares of the brackets; s_i is the row's
    weight. With the default ``epsilon=0`` and loss this is regression by least absolute errors.

    Parameters
    ----------
    epsilon : float
        The error that costs nothing, in the units of the targets.
    tol : float
        Stop when the optimality conditions are violated at most `tol` times as much as at zero
        weights, on average, and the duality gap is at most `tol` times the objective there.
    C : float
        The price of an error. For a tube that no row may leave, use
        ``SVR(kernel="linear", C=np.inf)``.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        Loss of an error beyond epsilon.
    fit_intercept : bool
        Whether there is a b.
    intercept_scaling : float
        The penalty on the intercept is ``(b / intercept_scaling)^2 / 2``.
    dual : bool or "auto"
        As in `LinearSVC`.
    verbose : int
        Print a line for each pass if not 0.
    random_state : int, RandomState instance or None
        Seed of the order in which coordinate descent visits the rows.
    max_iter : int
        Passes or steps before giving up.
    penalize_intercept : bool
        False leaves the intercept out of the penalty.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights.
    intercept_ : ndarray of shape (1,)
        The intercept.
    n_iter_ : int
        Passes or steps made.
    objective_ : ndarray of shape (1,)
        The value above.
    dual_gap_ : ndarray of shape (1,)
        An upper bound on its distance from the minimum.
    support_ : ndarray of shape (m,)
        The support vectors' rows: their error is not below epsilon.
    stop_reason_ : str
        Why the fit ended: "converged", "max_iter" or "callback".
    n_parameters_ : int
        Free numbers: d weights, and an intercept if there is one.

    Examples
    --------
    >>> from rosenblatt import LinearSVR
    >>> line = LinearSVR(C=100.0, penalize_intercept=False)
    >>> line.fit([[0], [1], [2], [3], [4]], [1, 3, 5, 7, 90]).coef_.round(3)
    array([2.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSVM._parameter_constraints,
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | Literal["auto"] = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        penalize_intercept: bool = True,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> MarginFits:
        if np.inf == self.C:
            raise ValueError(
                "LinearSVR needs a finite C; got inf. For a tube that no row may leave, use "
                'SVR(kernel="linear", C=np.inf).'
            )
        self._validate_params()
        check_settings("ovr", "l2", self.loss, self.dual, self.C)
        table, t = checks.validate_data(
            self, X, y, accept_sparse="csr", dtype=checks.FLOATS, order="C", y_numeric=True
        )
        t = t.astype(np.float64, copy=False)
        weight = checks.weights(sample_weight, len(t), ones=True)
        c = costs(weight, self.C)
        check_costs(c)
        check_squares(table)
        squared, epsilon = self.loss != "epsilon_insensitive", float(self.epsilon)
        problem = MarginProblem(table, t, c, c, epsilon, squared, self._bias)

        def attributes(fits: MarginFits) -> dict[str, Any]:
            W, b = fits.planes
            return {
                "coef_": W[0].astype(table.dtype),
                "intercept_": b.astype(table.dtype),
                **fits.attributes(),
            }

        passes = Passes(self, X, y, sample_weight, self.max_iter)
        return self._solve([problem], passes, attributes)


ROW = Row(
    "LinearSVR",
    page="svm.md",
    certificate="linear_svm",
    compare=(
        Candidate(
            "linear support vector regression",
            "linear regression with outliers in the target (absolute error)",
            {"C": (0.001, 0.01, 0.1, 1.0, 10.0)},
            short_names=("linear svr",),
            order=62,
        ),
    ),
    contract=Contract(
        settings=(
            {"random_state": 0},
            {"epsilon": 0.1, "penalize_intercept": False},
            {"loss": "squared_epsilon_insensitive", "epsilon": 1.0, "C": 10.0},
            {"epsilon": 0.1, "C": 0.01, "dual": True, "random_state": 0},
        ),
        checked=({}, {"loss": "squared_epsilon_insensitive"}),
        endless={"dual": True, "tol": 1e-15},
    ),
    warm=Warm(({}, {"loss": "squared_epsilon_insensitive"}, {"dual": True, "random_state": 0})),
    parts="linear_svm",
    slow_peer_tests=("svm/tests/test_svm.py",),
)
