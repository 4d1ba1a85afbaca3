"""Linear support vector classification."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import LinearClassifier, Passes
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from .crammer_singer import CrammerSingerProblem
from .hard_margin import check_joint_margin
from .linear_svm import LinearSVM, MarginFits, check_settings
from .margin_problem import Array, MarginProblem, check_costs, check_squares
from .smo import costs, product


class LinearSVC(LinearSVM, LinearClassifier):
    """Linear support vector classification: the plane with the widest margin.

    Two classes y = -1 and +1 and scores ``f(x) = w.x + b``: with ``loss="hinge"`` the plane
    minimizes ::

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
        Loss of a row inside the margin; "hinge" requires the penalty "l2".
    dual : bool or "auto"
        True finds the multipliers of the rows by coordinate descent; False the weights, by Newton's
        method or, with "l1", coordinate descent. "auto" chooses by the shape of the data, and also
        uses an interior point method for the hinge loss of few columns.
    tol : float
        Stop when no optimality condition is violated by more than `tol`, in units of the margin,
        and the duality gap is at most `tol` times the objective at zero weights.
    C : float
        The price of a row inside the margin; ``np.inf`` allows none.
    multi_class : {"ovr", "crammer_singer", "joint"}
        With more than two classes, one plane for each against the rest, or all in one problem with
        one slack a row: ``sum_k |w_k|^2 / 2 + C sum_i xi_i`` with a penalized intercept, or, for
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
        An upper bound on the distance of each from the minimum.
    support_ : ndarray of shape (m,)
        The support vectors' rows, sorted.
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
        **LinearSVM._parameter_constraints,
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

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> MarginFits:
        self._validate_params()
        check_settings(self.multi_class, self.penalty, self.loss, self.dual, self.C)
        table = checks.rows(self, X, reset=True, order="C")
        classes, codes = checks.classes(y, table.shape[0])
        weight = checks.row_weights(classes, codes, sample_weight, None)
        by_class = checks.class_weights(classes, codes, weight, self.class_weight)
        check_costs(costs(weight * by_class[codes], self.C))
        check_squares(table)
        problems, factor = self._problems(table, codes, weight, by_class)
        is_column = self.penalty == "l1" and self.multi_class == "ovr" and 0 < self._bias < np.inf

        def attributes(fits: MarginFits) -> dict[str, Any]:
            W, b = fits.planes
            if is_column:  # the intercept
                W, b = W[:, :-1], W[:, -1] * self._bias
            return {
                "coef_": W.astype(table.dtype),
                "intercept_": b.astype(table.dtype),
                "classes_": classes,
                **fits.attributes(factor),
            }

        passes = Passes(self, X, y, sample_weight, self.max_iter)
        return self._solve(problems, passes, attributes)

    def _problems(
        self, X: Any, codes: NDArray[np.intp], weight: Array, by_class: Array
    ) -> tuple[list[Any], float]:
        """Return the problems to solve, and the factor of their objectives."""
        K, bias = len(by_class), self._bias
        price = product(weight, self.C)  # inf for a hard margin
        if self.multi_class == "ovr":
            squared = self.loss == "squared_hinge"
            problems = class_problems(X, codes, price, by_class, squared, bias)
            if self.penalty == "l1":
                problems = [with_column(problem) for problem in problems]
            return problems, 1.0
        c = product(price, by_class[codes])
        factor = 1.0
        if self.multi_class == "joint":
            if np.isinf(self.C) and self.fit_intercept and K > 2:
                check_joint_margin(X[c > 0], codes[c > 0])
            c, bias, factor = c / 2, np.inf if self.fit_intercept else 0.0, 2.0
        if K == 2:
            # |w_1|^2 / 2 + |w_2|^2 / 2 is least for w_1 = -w_2, where it is |w|^2 / 4 of the
            # difference w: a problem of one plane.
            return [two_class_problem(X, codes == 1, 2 * c, False, bias)], factor / 2
        return [CrammerSingerProblem(X, codes, K, c, bias)], factor

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the classes of X, shape (n,).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])


def class_problems(
    X: Any, codes: NDArray[np.intp], price: Array, by_class: Array, squared: bool, bias: float
) -> list[MarginProblem]:
    """Return one problem for two classes, else one for each class against the rest.

    As in LIBLINEAR, class weights of more than two classes apply to the positive class only.
    """
    if len(by_class) == 2:
        return [two_class_problem(X, codes == 1, product(price, by_class[codes]), squared, bias)]
    problems = []
    for k, own in enumerate(by_class):
        c = np.where(codes == k, product(price, own), price)
        problems.append(two_class_problem(X, codes == k, c, squared, bias))
        # The rows are the same for all problems.
        vars(problems[-1]).update(rows=problems[0].rows, lengths=problems[0].lengths)
    return problems


def two_class_problem(
    X: Any, positive: NDArray[np.bool_], c: Array, squared: bool, bias: float
) -> MarginProblem:
    """Return the problem of a class against all others, with costs c (n,)."""
    t = np.where(positive, 1.0, -1.0)
    above, below = np.where(positive, c, 0.0), np.where(positive, 0.0, c)
    return MarginProblem(X, t, above, below, squared=squared, bias=bias)


def with_column(problem: MarginProblem) -> MarginProblem:
    """Return the problem with the intercept as a weight, under the penalty |w|_1."""
    if not 0 < problem.bias < np.inf:
        return replace(problem, l1=True)
    column = np.full((problem.X.shape[0], 1), problem.bias, problem.X.dtype)
    X = problem.X
    X = sp.csr_matrix(sp.hstack([X, column])) if sp.issparse(X) else np.hstack([X, column])
    return replace(problem, X=X, bias=0.0, l1=True)


ROW = Row(
    "LinearSVC",
    page="svm.md",
    certificate="linear_svm",
    compare=(
        Candidate(
            "linear support vector machine",
            "classes that are nearly linearly separable; many columns, as in text",
            {"C": (0.001, 0.01, 0.1, 1.0, 10.0)},
            short_names=("linear svm", "linear machine"),
            order=60,
            rank=4,
            text_rank=1,
        ),
        Candidate(
            "support vector machine on landmarks",
            "nonlinear boundaries from 5,000 rows (Nystroem approximation with 300 landmarks)",
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
)
