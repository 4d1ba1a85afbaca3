"""Linear support vector machines."""

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import LinearClassifier, LinearRegressor, Passes, fitting
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.solvers.margin_problem import MarginProblem

from .hard_margin import refuse_no_joint_margin
from .linear_machine import LinearMachine, refuse_combination
from .linear_solvers import Array, MarginFits
from .one_versus_rest import class_problems, joint_problem, weighed, with_column
from .training_rows import priced, refuse_tiny_shares, refuse_vast_rows


class LinearSVC(LinearMachine, LinearClassifier):
    """Linear support vector classification: the plane with the widest margin.

    Two classes y = -1 and +1 and scores ``f(x) = w.x + b``: with ``loss="hinge"`` the plane
    minimises ::

        |w|^2 / 2 + C sum_i s_i [1 - y_i f(x_i)]_+,

    s_i being the row's weight; the default loss is the square of the hinge. The canonical lines
    f = -1 and f = +1 lie ``1 / |w|`` from the plane on either side, and rows beyond their own line
    cost nothing: the plane is a combination of the others, the support vectors. ``C=np.inf`` is the
    hard margin, with no row between the lines.

    Parameters
    ----------
    penalty : {"l1", "l2"}
        ``|w|_1``, which leaves many weights at zero, or ``|w|^2 / 2``.
    loss : {"hinge", "squared_hinge"}
        What a row inside the margin costs; "hinge" goes with "l2" alone.
    dual : bool or "auto"
        True finds the multipliers of the rows by coordinate descent; False the weights, by Newton's
        method or, with "l1", coordinate descent. "auto" takes what is fastest for the shape of the
        data, an interior point method for the hinge loss of few columns included.
    tol : float
        Stop when no optimality condition is violated by more than `tol`, in units of the margin,
        and the duality gap is at most `tol` times the objective at zero weights.
    C : float
        The price of a row inside the margin; ``np.inf`` allows none.
    multi_class : {"ovr", "crammer_singer", "joint"}
        With more than two classes, one plane for each against the rest, or all in one problem with
        one slack a row: ``sum_k |w_k|^2 / 2 + C sum_i xi_i`` with a penalised intercept, or, for
        "joint", ``sum_k |w_k|^2 + C sum_i xi_i`` with a free one. The last two take the hinge loss
        whatever `loss`, `penalty` and `dual` are.
    fit_intercept : bool
        Whether there is a b.
    intercept_scaling : float
        The penalty on the intercept is ``(b / intercept_scaling)^2 / 2``.
    class_weight : dict, "balanced" or None
        Multiplies C for the rows of each class; one against the rest, of the one alone.
    verbose : int
        Print a line for each pass if not 0.
    random_state : int, RandomState instance or None
        Seed of the order in which coordinate descent visits the rows.
    max_iter : int
        Passes or steps before giving up.
    penalize_intercept : bool
        False leaves the intercept out of the penalty, so that moving all rows moves the plane.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights, one row for two classes.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Passes or steps made, the most of any plane.
    objective_ : ndarray of shape (1,) or (K,)
        The value above, of each problem that was solved.
    dual_gap_ : ndarray of shape (1,) or (K,)
        How far each is above the best possible, at most.
    support_ : ndarray of shape (m,)
        The rows that the planes are made of, sorted.
    stop_reason_ : str
        Why the fit ended: "converged", "max_iter", "no_progress" or "callback".
    n_parameters_ : int
        Free numbers: d weights, and an intercept if there is one, for each class but one.

    Examples
    --------
    >>> from rosenblatt import LinearSVC
    >>> X, y = [[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]], ["-", "+", "+", "+", "-"]
    >>> widest = LinearSVC(C=float("inf"), penalize_intercept=False).fit(X, y)
    >>> widest.coef_.round(6), widest.intercept_.round(6)
    (array([[-4., -2.]]), array([15.]))
    >>> widest.predict([[0, 0], [4, 4]])
    array(['-', '+'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearMachine._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer", "joint"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
    }

    def __init__(
        self,
        penalty: Literal["l1", "l2"] = "l2",
        loss: Literal["hinge", "squared_hinge"] = "squared_hinge",
        *,
        dual: bool | Literal["auto"] = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: Literal["ovr", "crammer_singer", "joint"] = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        penalize_intercept: bool = True,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.penalize_intercept = penalize_intercept

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        fits = self._fit(X, y, sample_weight)
        fits.warn(self.stop_reason_, self.n_iter_)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> MarginFits:
        self._validate_params()
        refuse_combination(self.multi_class, self.penalty, self.loss, self.dual, self.C)
        table = checks.rows(self, X, reset=True, order="C")
        classes, codes = checks.classes(y, table.shape[0])
        weight = checks.row_weights(classes, codes, sample_weight, None)
        by_class = checks.class_weights(classes, codes, weight, self.class_weight)
        refuse_tiny_shares(priced(weight * by_class[codes], self.C))
        refuse_vast_rows(table)
        problems, factor = self._problems(table, codes, weight, by_class)

        def publish(fits: MarginFits) -> dict[str, Any]:
            W, b = self._planes(*fits.planes)
            return {
                "coef_": W.astype(table.dtype),
                "intercept_": b.astype(table.dtype),
                "classes_": classes,
                **fits.numbers(factor),
            }

        passes = Passes(self, X, y, sample_weight, self.max_iter)
        return self._solve(problems, passes, publish)

    def _problems(
        self, X: Any, codes: NDArray[np.intp], weight: Array, by_class: Array
    ) -> tuple[Any, float]:
        """What to solve, and what its objective is to be multiplied with."""
        K, squared = len(by_class), self.loss == "squared_hinge"
        price = weighed(weight, self.C)  # inf for a hard margin, whatever a row weighs
        if self.multi_class == "crammer_singer":
            c = weighed(price, by_class[codes])
            return joint_problem(X, codes, c, K, self._bias), 0.5 if K == 2 else 1.0
        if self.multi_class == "joint":
            if np.isinf(self.C) and self.fit_intercept and K > 2:
                counted = weighed(price, by_class[codes]) > 0
                refuse_no_joint_margin(X[counted], codes[counted])
            c, bias = weighed(price, by_class[codes]) / 2, np.inf if self.fit_intercept else 0.0
            return joint_problem(X, codes, c, K, bias), 1.0 if K == 2 else 2.0
        problems = class_problems(X, codes, price, by_class, squared, self._bias)
        if self.penalty == "l1":
            problems = [with_column(problem) for problem in problems]
        return problems, 1.0

    def _planes(self, W: Array, b: Array) -> tuple[Array, Array]:
        """Weights and intercepts, of an intercept that was a column of X, too."""
        if self.penalty == "l1" and self.multi_class == "ovr" and 0 < self._bias < np.inf:
            return W[:, :-1], W[:, -1] * self._bias
        return W, b

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of X, shape (n,).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])


class LinearSVR(LinearMachine, LinearRegressor):
    """Linear support vector regression: errors up to epsilon cost nothing.

    The line ``f(x) = w.x + b`` minimises ::

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
        What an error costs.
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
        How far it is above the best possible, at most.
    support_ : ndarray of shape (m,)
        The rows that the line is made of: those whose error is not below epsilon.
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
        **LinearMachine._parameter_constraints,
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

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        fits = self._fit(X, y, sample_weight)
        fits.warn(self.stop_reason_, self.n_iter_)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> MarginFits:
        if np.inf == self.C:
            raise ValueError(
                "LinearSVR needs a finite C; got inf. For a tube that no row may leave, use "
                'SVR(kernel="linear", C=np.inf).'
            )
        self._validate_params()
        refuse_combination("ovr", "l2", self.loss, self.dual, self.C)
        table, t = checks.validate_data(
            self, X, y, accept_sparse="csr", dtype=checks.FLOATS, order="C", y_numeric=True
        )
        t = t.astype(np.float64, copy=False)
        weight = checks.weights(sample_weight, len(t), ones=True)
        c = priced(weight, self.C)
        refuse_tiny_shares(c)
        refuse_vast_rows(table)
        squared, epsilon = self.loss != "epsilon_insensitive", float(self.epsilon)
        problem = MarginProblem(table, t, c, c, epsilon, squared, self._bias)

        def publish(fits: MarginFits) -> dict[str, Any]:
            W, b = fits.planes
            return {
                "coef_": W[0].astype(table.dtype),
                "intercept_": b.astype(table.dtype),
                **fits.numbers(),
            }

        passes = Passes(self, X, y, sample_weight, self.max_iter)
        return self._solve([problem], passes, publish)


ROWS = (
    Row(
        "LinearSVC",
        page="svm.md",
        certificate="linear_svm",
        compare=(
            Candidate(
                "linear machine",
                "classes that a plane nearly separates; many columns, as in text",
                {"C": (0.001, 0.01, 0.1, 1.0, 10.0)},
                short_names=("linear svm", "linear support vector machine"),
                order=60,
                rank=4,
                text_rank=1,
            ),
            Candidate(
                "support vector machine on landmarks",
                (
                    "curved boundaries with a wide margin, from 5,000 rows on: each row is "
                    "compared with 300 of them by a Gaussian kernel"
                ),
                {"C": (0.1, 1.0, 10.0)},
                limits=("many rows for pairs",),
                expansion="landmarks",
                order=61,
            ),
        ),
        contract=Contract(
            settings=(
                {"random_state": 0},
                {"loss": "hinge"},
                {"loss": "hinge", "C": 0.01, "dual": True, "random_state": 0},
                {"penalty": "l1", "C": 1.0, "tol": 1e-08},
                {"penalize_intercept": False},
                {"multi_class": "crammer_singer"},
                {"multi_class": "joint", "dual": True, "C": 0.01, "random_state": 0},
            ),
            checked=({}, {"loss": "hinge"}, {"penalty": "l1"}),
            endless={"loss": "hinge", "dual": True, "tol": 1e-15},
        ),
        warm=Warm(
            (
                {},
                {"loss": "hinge"},
                {"dual": True, "random_state": 0},
                {"multi_class": "joint"},
                {"multi_class": "joint", "dual": True},
                {"penalty": "l1"},
            )
        ),
        parts="linear_svm",
        slow_peer_tests=("svm/tests/test_svm.py",),
    ),
    Row(
        "LinearSVR",
        page="svm.md",
        certificate="linear_svm",
        compare=(
            Candidate(
                "linear support vector regression",
                "a straight line where some targets are far off: errors count, not their squares",
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
    ),
)
