"""Logistic regression."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import LinearClassifier, Passes, fitting
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.prediction import LogisticScores
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.logistic import (
    SOLVERS,
    LogisticDescent,
    LogisticSettings,
    logistic_problem,
)
from rosenblatt.solvers.logistic_problem import LogisticProblem

from .centred_rows import less, moved, offsets, slopes_as_given
from .column_warnings import names_of
from .logistic_warnings import Strengths, deprecated, strengths, warn_of_fit

Array = NDArray[np.float64]


class LogisticRegression(LinearClassifier, LogisticScores):
    """Logistic regression: classes with probabilities from linear scores.

    Two classes: ``P(y=1|x) = 1 / (1 + exp(-(w.x + b)))``. More: ``P(k|x)`` is proportional to
    ``exp(w_k.x + b_k)``. The weights minimise

        r |w|_1 + (1 - r)/2 |w|^2 + C sum_i s_i loss_i,   r = l1_ratio,

    with the loss minus the log-probability of the row's own class and s_i the row's weight; the
    bias is never penalised. With ``C=np.inf`` it is the sum of the losses alone, and the fit that
    of maximum likelihood. The problem is convex; how far a fit is from its best value is published,
    as a bound that duality proves.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}
        Deprecated in scikit-learn 1.8; use `C` and `l1_ratio`.
    C : float
        What the loss counts against the penalty; ``np.inf`` for no penalty.
    l1_ratio : float
        Share of L1 in the penalty: 0 is L2, 1 is L1, which leaves many weights at zero.
    dual : bool
        Accepted for scikit-learn's sake; the problem solved is the same.
    tol : float or None
        Stop when the gradient of the mean loss is no longer than `tol`, as scikit-learn does, and
        the duality gap at most `tol` times the objective without weights. With a bias, columns
        that are far from zero count less one of their own values in that gradient. None goes on
        until no step lowers the objective.
    fit_intercept : bool
        Whether there is a bias.
    intercept_scaling : float
        Accepted for scikit-learn's sake: the bias is not penalised, so its scale does not matter.
    class_weight : dict, "balanced" or None
        Multiplies the weights of the rows of each class; "balanced" by the inverse of its weight.
    random_state : int, RandomState instance or None
        Seed of the order of ``solver="sgd"``.
    solver : str
        ``"auto"``, ``"newton"``, ``"lbfgs"``, ``"gradient"``, ``"sgd"``, ``"coordinate"``, or any
        name that scikit-learn knows. With an L1 penalty "auto" is "coordinate", else "newton",
        which looks at the shape of the data: see the documentation.
    max_iter : int
        Iterations before giving up.
    verbose : int
        Print a line per iteration if not 0.
    warm_start : bool
        Begin where the previous fit ended.
    n_jobs : None
        Deprecated in scikit-learn 1.8, without effect.
    softmax : {"symmetric", "reference"}
        With more than two classes, whether each has weights, as in scikit-learn, or the last has
        none and is the one that others are compared with. Predictions without a penalty are equal.
    eta0 : float or None
        Length of a step of "gradient", up the log-likelihood minus ``|w|^2 / (2 C)``, or of the
        first of "sgd", which are for the mean loss. None searches for one, or takes one over the
        mean curvature.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights, one row for two classes; with ``softmax="reference"`` the last row is zero.
    intercept_ : ndarray of shape (1,) or (K,)
        Biases.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_ : ndarray of shape (1,)
        Iterations made.
    objective_ : float
        The value above at these weights.
    dual_gap_ : float
        How far `objective_` is above the best possible, at most.
    gradient_norm_ : float
        Length of the gradient, or of the shortest subgradient, of the objective. What is left of
        the bias's part counts in it as often as columns are far from zero: see `tol`.
    stop_reason_ : str
        Why the fit ended: "converged", "max_iter", "no_progress", "callback" or "diverged".
    n_parameters_ : int
        Free numbers: d weights, and an intercept if there is one, for each class but one.

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
        strength = strengths(self)
        table, classes, codes = self._check(X, y)
        weight = checks.row_weights(classes, codes, sample_weight, self.class_weight)
        shift = offsets(table, self.fit_intercept)
        problem = self._problem(less(table, shift), classes, codes, strength, weight)
        start = moved(self._start(problem, classes), shift, 1)

        passes = Passes(self, X, y, sample_weight, self.max_iter)
        watched = passes.has_callbacks or bool(self.verbose)
        descent = LogisticDescent(problem, start, self._settings(strength.C), watched)

        def attributes(reason: str) -> dict[str, Any]:
            found = attributes_of(descent, classes, table.dtype, shift)
            return {**found, "n_iter_": np.array([passes.n_iter], np.int32), "stop_reason_": reason}

        passes.attributes = lambda: attributes("callback")
        with one_blas_thread():  # the bits of a factor depend on how many share its work
            for n_iter in passes:
                if reason := descent.advance():
                    passes.stop(reason)
                if self.verbose:
                    print(f"iteration {n_iter}: {descent}")
            ended = descent.finish(passes.stop_reason or "max_iter")
        for name, value in attributes(ended).items():
            setattr(self, name, value)
        self.stop_reason_ = warn_of_fit(self, descent, codes, X, y, table, shift)
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
        """Rows, sorted classes and the number of each row's class."""
        # Numbers that are not finite show in the first gradient; looking for them is one more read.
        X = checks.rows(self, X, reset=True, order="C", finite=False)
        return X, *checks.classes(y, X.shape[0], self._classes_of_search)

    def _problem(
        self,
        X: Any,
        classes: NDArray[Any],
        codes: NDArray[np.intp],
        strength: Strengths,
        weight: Array,
    ) -> LogisticProblem:
        penalty, reference = (strength.l1, strength.l2), self.softmax == "reference"
        c = strength.C * weight
        return logistic_problem(X, codes, len(classes), c, penalty, self.fit_intercept, reference)

    def _settings(self, C: float) -> LogisticSettings:
        return LogisticSettings(
            self.solver, self.tol, self.max_iter, C, self.random_state, self.eta0,
            type(self).__name__, lambda columns: checks.listed(columns, names_of(self)),
        )  # fmt: skip

    def _start(self, problem: LogisticProblem, classes: NDArray[Any]) -> Array:
        """The point to begin from: zero, or the previous fit."""
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
        # What moves all classes alike changes no probability, and its square costs.
        return problem.centred(start) if problem.l2 and not problem.l1 else start


def attributes_of(
    descent: LogisticDescent, classes: NDArray[Any], dtype: Any, shift: Array | None
) -> dict[str, Any]:
    """The fitted attributes where a descent is now, as copies."""
    place, problem = descent.place, descent.problem
    table = moved(np.array(place.point.reshape(problem.d + 1, -1)), shift, -1)
    table = problem.by_class(table)
    shortest = problem.subgradient(place.point, slopes_as_given(place.gradient, shift))
    return {
        "coef_": np.ascontiguousarray(table[:-1].T, dtype=dtype),
        "intercept_": table[-1].astype(dtype),
        "classes_": classes,
        "objective_": place.objective,
        "dual_gap_": descent.gap,
        "gradient_norm_": float(np.linalg.norm(shortest)),
    }


def run_large_loop(model: LogisticRegression, X: Any, y: Any) -> None:
    """Run the loop of single precision, which no small table gets to (`rosenblatt warm`)."""
    table, classes, codes = model._check(X, y)
    weight = checks.row_weights(classes, codes, None, None)
    rough = model._problem(table, classes, codes, strengths(model), weight).rough()
    rough.at(np.zeros(rough.shape))


ROW = Row(
    "LogisticRegression",
    page="logistic_regression.md",
    certificate="logistic_regression",
    also=("SGDClassifier",),
    compare=(
        Candidate(
            "logistic regression",
            "probabilities to be trusted, and weights to be read",
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
        large="linear_model.logistic.run_large_loop",
    ),
    parts="logistic",
    slow_peer_tests=("linear_model/tests/test_logistic.py",),
)
