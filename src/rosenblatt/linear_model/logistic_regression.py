"""Logistic regression."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import LinearClassifier, Passes, fitting, warn
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.prediction import LogisticScores
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.solvers.logistic import SOLVERS, LogisticDescent, LogisticSettings, logistic_problem
from rosenblatt.solvers.logistic_problem import LogisticProblem
from rosenblatt.solvers.sampled_newton import float32_start

from .centered_rows import offsets, original_gradient, shift_intercept, subtract_offsets
from .column_warnings import names_of, not_unique, unequal_scales_of_rows
from .separation_warning import SeparationWarning, separation_warning

Array = NDArray[np.float64]


class Penalty(NamedTuple):
    """``l1 |w|_1 + l2/2 |w|^2 + C times the loss``; without a penalty C is 1."""

    l1: float
    l2: float
    C: float


class LogisticRegression(LinearClassifier, LogisticScores):
    """Logistic regression: class probabilities from linear scores.

    Two classes: ``P(y=1|x) = 1 / (1 + exp(-(w.x + b)))``. More: ``P(k|x)`` is proportional to
    ``exp(w_k.x + b_k)``. The weights minimize

        r |w|_1 + (1 - r)/2 |w|^2 + C sum_i s_i loss_i,   r = l1_ratio,

    where loss_i is minus the log-probability of the class of row i and s_i its weight; the
    intercept is not penalized. ``C=np.inf`` is maximum likelihood, without a penalty. The problem
    is convex, and `dual_gap_` bounds the distance to its optimum.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}
        Deprecated in scikit-learn 1.8; use `C` and `l1_ratio`.
    C : float
        Inverse strength of the penalty; ``np.inf`` for no penalty.
    l1_ratio : float
        Share of L1 in the penalty: 0 is L2; 1 is L1, which sets many weights to zero.
    dual, intercept_scaling :
        Accepted for compatibility, without effect.
    tol : float or None
        Stop when the gradient of the mean loss is at most `tol`, as scikit-learn does, and the
        duality gap at most `tol` times the objective at zero weights. With an intercept, columns
        that are far from zero are shifted by one of their values in that gradient. None stops when
        no step lowers the objective.
    fit_intercept : bool
        Whether to fit an intercept.
    class_weight : dict, "balanced" or None
        Factors for the weights of the rows of each class; "balanced" is the inverse of its weight.
    random_state : int, RandomState instance or None
        Seed for shuffling with ``solver="sgd"``.
    solver : str
        ``"auto"``, ``"newton"``, ``"lbfgs"``, ``"gradient"``, ``"sgd"``, ``"coordinate"``, or any
        name of scikit-learn. "auto" is "coordinate" with an L1 penalty, else "newton", whose
        variant depends on the shape of the data: see the documentation.
    max_iter : int
        Maximum number of iterations.
    verbose : int
        Print a line per iteration if not 0.
    warm_start : bool
        Whether to start from the previous fit.
    n_jobs : None
        Deprecated in scikit-learn 1.8, without effect.
    softmax : {"symmetric", "reference"}
        With more than two classes, whether each has weights, as in scikit-learn, or the last class
        is the reference without weights. Predictions without a penalty are equal.
    eta0 : float or None
        Step length of "gradient", for the log-likelihood minus ``|w|^2 / (2 C)``, or the first of
        "sgd", for the mean loss. None uses a line search, or one over the mean curvature.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights, one row for two classes; with ``softmax="reference"`` the last row is zero.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    n_iter_ : ndarray of shape (1,)
        Number of iterations.
    objective_ : float
        Value of the objective.
    dual_gap_ : float
        Upper bound on the distance of `objective_` to its minimum.
    gradient_norm_ : float
        Length of the gradient of the objective, or of its shortest subgradient, for the columns as
        given.
    stop_reason_ : str
        "converged", "max_iter", "no_progress", "callback" or "diverged".
    n_parameters_ : int
        Number of free parameters.

    Examples
    --------
    >>> from rosenblatt import LogisticRegression
    >>> X, y = [[0.5], [1.5], [2.5], [3.5], [4.5]], ["no", "no", "yes", "no", "yes"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[1.0], [4.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.predict_proba([[3.0]]).round(3)
    array([[0.542, 0.458]])
    >>> model.dual_gap_ < 1e-4
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [
            StrOptions({"l1", "l2", "elasticnet"}), None, Hidden(StrOptions({"deprecated"})),
        ],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions(set(SOLVERS))],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "softmax": [StrOptions({"symmetric", "reference"})],
        "eta0": [Interval(Real, 0, None, closed="neither"), None],
    }  # fmt: skip

    # All classes of a search, for folds that miss some.
    _classes_of_search: NDArray[Any] | None = None

    n_iter_: NDArray[np.int32]
    objective_: float
    dual_gap_: float
    gradient_norm_: float
    stop_reason_: str

    def __init__(
        self,
        penalty: Literal["l1", "l2", "elasticnet", "deprecated"] | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float | None = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        softmax: Literal["symmetric", "reference"] = "symmetric",
        eta0: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.softmax = softmax
        self.eta0 = eta0

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LogisticRegression":
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        if self.n_jobs is not None:
            deprecated("'n_jobs' has no effect and", f"Leave it out; got n_jobs={self.n_jobs}.")
        penalty = penalty_of(self)
        rows, classes, codes = self._check(X, y)
        weight = checks.row_weights(classes, codes, sample_weight, self.class_weight)
        shift = offsets(rows, self.fit_intercept)
        problem = logistic_problem(
            subtract_offsets(rows, shift), codes, len(classes), penalty.C * weight,
            (penalty.l1, penalty.l2), self.fit_intercept, self.softmax == "reference",
        )  # fmt: skip
        start = shift_intercept(self._start(problem, classes), shift, 1)
        settings = LogisticSettings(
            self.solver, self.tol, self.max_iter, penalty.C, self.random_state, self.eta0,
            type(self).__name__, lambda: names_of(self),
        )  # fmt: skip

        passes = Passes(self, X, y, sample_weight, self.max_iter)
        track_gap = passes.has_callbacks or bool(self.verbose)
        descent = LogisticDescent(problem, start, settings, track_gap)

        def attributes(reason: str) -> dict[str, Any]:
            fitted = attributes_of(descent, classes, rows.dtype, shift)
            n_iter = np.array([passes.n_iter], np.int32)
            return {**fitted, "n_iter_": n_iter, "stop_reason_": reason}

        passes.attributes = lambda: attributes("callback")
        reason = descent.run(passes, self.verbose)
        for name, value in attributes(reason).items():
            setattr(self, name, value)
        self._warn(descent, reason, rows, codes, shift)
        return self

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("C",)`` where the fit has one best answer, and reaches it from anywhere."""
        return ("C",) if self.solver not in ("gradient", "sgd") and np.isfinite(self.C) else ()

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit at many values of C, each from where the next smaller one ended.

        Data, parameter and path are those of `capabilities.PathModel`; C is > 0 and finite.
        """
        values = checks.path_values(self, parameter, values)
        models = [clone(self).set_params(C=C) for C in values]
        before = None
        for model in sorted(models, key=lambda model: model.C):
            if before is not None:
                model.coef_, model.intercept_ = before.coef_, before.intercept_
            before = model.set_params(warm_start=True).fit(*rows_of(data))
            model.warm_start = self.warm_start
        return ModelPath(models)

    def _check(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        """Return the rows, the sorted classes and the number of each row's class."""
        # Numbers that are not finite show in the first gradient; a check would be one more pass.
        X = checks.rows(self, X, reset=True, order="C", finite=False)
        return X, *checks.classes(y, X.shape[0], self._classes_of_search)

    def _start(self, problem: LogisticProblem, classes: NDArray[Any]) -> Array:
        """Return the point to begin from: zero, or the previous fit."""
        start = np.zeros(problem.shape)
        if not self.warm_start or not hasattr(self, "coef_"):
            return start
        n_rows = 1 if len(classes) == 2 else len(classes)
        coef = self.coef_.toarray() if hasattr(self.coef_, "toarray") else self.coef_
        checks.warm_start("shape of coef_", coef.shape, (n_rows, problem.d))
        known = np.vstack([coef.T, self.intercept_]).astype(np.float64)
        if self.softmax == "reference" and n_rows > 1:
            known = known[:, :-1] - known[:, -1:]
        start[...] = known.reshape(problem.shape)
        if not self.fit_intercept:
            start[-1] = 0.0
        # The same shift of all classes changes no probability, but the L2 penalty.
        return problem.centered(start) if problem.l2 and not problem.l1 else start

    def _warn(
        self, descent: LogisticDescent, reason: str, rows: Any, codes: Any, shift: Array | None
    ) -> None:
        """Warn of separated classes, a missed tolerance, and columns without a best weight."""
        problem = descent.problem
        if problem.is_penalized:
            about_columns = unequal_scales_of_rows(self, problem.X, problem.c)
        else:
            labels = self.classes_[codes]
            found = separation_warning(self, problem, descent.iterate, rows, labels, shift)
            if isinstance(found, SeparationWarning):
                # The gradient vanishes as the weights go to infinity.
                self.stop_reason_ = "diverged" if reason == "converged" else reason
                warn(found)
                return
            about_columns = not_unique(self, problem.X, problem.c)
            if found is not None:
                warn(found)
        for message in descent.messages(reason, codes, self.classes_):
            warn(message, ConvergenceWarning)
        if about_columns is not None:
            warn(about_columns, LinAlgWarning)


def attributes_of(
    descent: LogisticDescent, classes: NDArray[Any], dtype: Any, shift: Array | None
) -> dict[str, Any]:
    """Return the fitted attributes at the last iterate, as copies."""
    iterate, problem = descent.iterate, descent.problem
    table = shift_intercept(np.array(iterate.point.reshape(problem.d + 1, -1)), shift, -1)
    table = problem.by_class(table)
    shortest = problem.subgradient(iterate.point, original_gradient(iterate.gradient, shift))
    return {
        "coef_": np.ascontiguousarray(table[:-1].T, dtype=dtype),
        "intercept_": table[-1].astype(dtype),
        "classes_": classes,
        "objective_": iterate.objective,
        "dual_gap_": descent.gap,
        "gradient_norm_": float(np.linalg.norm(shortest)),
    }


def penalty_of(model: Any) -> Penalty:
    """Return the penalty of a model, also from the deprecated parameter."""
    kind = model.penalty
    if kind == "deprecated":
        if model.l1_ratio is None:
            deprecated("'l1_ratio=None'", "Use a number from 0 to 1.")
        kind = {0: "l2", 1: "l1"}.get(model.l1_ratio or 0, "elasticnet")
        kind = None if np.isinf(model.C) else kind
    else:
        deprecated(
            "'penalty'",
            f"Got penalty={kind!r}. Leave it out, and use l1_ratio=0 for L2, l1_ratio=1 for L1, a "
            "number between for both, and C=np.inf for no penalty.",
        )
        _warn_of_contradictions(model, kind)
    if kind is None or np.isinf(model.C):
        return Penalty(0.0, 0.0, 1.0)
    if kind == "elasticnet" and model.l1_ratio is None:
        raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
    l1 = {"l1": 1.0, "l2": 0.0}.get(kind)
    l1 = float(model.l1_ratio) if l1 is None else l1
    return Penalty(l1, 1.0 - l1, float(model.C))


def _warn_of_contradictions(model: Any, kind: str | None) -> None:
    """Issue scikit-learn's warnings about parameters that contradict each other."""
    ratio = model.l1_ratio
    if kind != "elasticnet" and ratio is not None and 0 < ratio < 1:
        warn(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={kind})")
    if (kind == "l2" and ratio != 0) or (kind == "l1" and ratio != 1):
        warn(
            f"Inconsistent values: penalty={kind} with l1_ratio={ratio}. penalty is deprecated. "
            "Please use l1_ratio only."
        )
    if kind is None and model.C != 1.0:
        warn("Setting penalty=None will ignore the C and l1_ratio parameters")


def deprecated(what: str, instead: str) -> None:
    """Warn of a parameter that scikit-learn 1.10 removes."""
    warn(
        f"{what} was deprecated in scikit-learn 1.8 and goes away in 1.10. {instead}", FutureWarning
    )


def run_large_loop(model: LogisticRegression, X: Any, y: Any) -> None:
    """Run the float32 loop, which needs a large table otherwise (`rosenblatt warm`)."""
    rows, classes, codes = model._check(X, y)
    weight = np.ones(len(codes))
    problem = logistic_problem(rows, codes, len(classes), weight, (0.0, 1.0), True, False)
    float32_start(problem, np.zeros(problem.shape))


ROW = Row(
    "LogisticRegression",
    page="logistic_regression.md",
    certificate="logistic_regression",
    also=("SGDClassifier",),
    compare=(
        Candidate(
            "logistic regression",
            "calibrated probabilities and interpretable weights",
            {"C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)},
            short_names=("logreg",),
            order=50,
            text_rank=3,
        ),
    ),
    contract=Contract(
        settings=(
            {},
            {"solver": "lbfgs"},
            {"solver": "newton-cg"},
            {"solver": "gradient", "max_iter": 20},
            {"solver": "sgd", "max_iter": 5, "random_state": 0},
            {"l1_ratio": 0.5, "C": 0.1},
            {"softmax": "reference"},
        ),
        checked=({}, {"l1_ratio": 0.5}, {"softmax": "reference", "solver": "lbfgs"}),
        endless={"solver": "gradient", "eta0": 1e-12},
    ),
    warm=Warm(
        ({}, {"solver": "newton-cg"}, {"solver": "sgd"}, {"l1_ratio": 0.5}),
        large="linear_model.logistic_regression.run_large_loop",
    ),
    parts="logistic",
    slow_peer_tests=("linear_model/tests/test_logistic.py",),
)
