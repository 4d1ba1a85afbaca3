"""Kernel logistic regression."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, fitting, warn_not_converged
from rosenblatt.prediction import LogisticScores
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.solvers.logistic import (
    SOLVERS,
    LogisticDescent,
    LogisticSettings,
    logistic_problem,
)

from .checks import called_kernel, check_finite_scores, check_symmetric
from .functions import Kernel, canonical
from .kernel_matrix import NAMES, gamma_of, kernel_of
from .space import KernelSpace


class KernelLogisticRegression(
    CallbackSupportMixin,  # type: ignore[misc]
    LogisticScores,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Logistic regression in the feature space of a kernel, with nonlinear boundaries.

    The score is ``f(x) = sum_i a_i K(x_i, x) + b``, and a, b minimize ``1/2 a'Ka + C sum of the
    losses``: logistic regression with an L2 penalty on the weights ``w = sum_i a_i phi(x_i)``. With
    the linear kernel it is `LogisticRegression`. The n x n kernel matrix K is factored as F F' in
    time proportional to n^3, which suits some thousand rows. The columns of F are the features of
    an ordinary logistic regression, with the same bound on the distance from the minimum.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"} or callable
        As in `KernelPerceptron`. Negative eigenvalues of a kernel that is not positive
        semidefinite ("sigmoid" in general) are set to 0.
    C : float
        Factor of the loss relative to the penalty; finite, because most kernels separate any
        classes without a penalty.
    degree, gamma, coef0 : float
        Parameters of the kernel, as in `KernelPerceptron`.
    tol, fit_intercept, class_weight, random_state, solver, max_iter, verbose, softmax : object
        As in `LogisticRegression`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n) or (K, n)
        a, the coefficient of each training row for each class.
    X_fit_ : ndarray or CSR matrix of shape (n, d), or None
        The training rows; None if the kernel is precomputed.
    intercept_, classes_, n_iter_, objective_, dual_gap_, gradient_norm_, stop_reason_ : object
        As in `LogisticRegression`.
    gamma_ : float or None
        The value of `gamma`.

    Examples
    --------
    >>> from rosenblatt import KernelLogisticRegression
    >>> X, y = [[1, 1], [-1, 1], [-1, -1], [1, -1]], ["same", "other", "same", "other"]
    >>> model = KernelLogisticRegression("poly", degree=2, gamma=1).fit(X, y)
    >>> model.predict([[2, 3], [2, -3]])     # XOR, which no line separates
    array(['same', 'other'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions(set(NAMES)), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions(set(SOLVERS))],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "softmax": [StrOptions({"symmetric", "reference"})],
    }

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        C: float = 1.0,
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        tol: float | None = 1e-4,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        softmax: Literal["symmetric", "reference"] = "symmetric",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.softmax = softmax

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelLogisticRegression":
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel matrix, (n, n).
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        rows = self._check_rows(X, first=True)
        precomputed = self.kernel == "precomputed"
        gamma = None if precomputed or callable(self.kernel) else gamma_of(self.gamma, rows)
        wide = rows.astype(np.float64)  # eigenvalues near zero are lost in 32 bits
        with one_blas_thread():
            space = KernelSpace.of(wide if precomputed else self._kernel(gamma, wide))
        classes, codes = checks.classes(y, rows.shape[0])
        weight = checks.row_weights(classes, codes, sample_weight, self.class_weight)
        # K = F F', so weights of F's columns are as long as the weights in the feature space.
        F, penalty = np.ascontiguousarray(space.F), (0.0, 1.0)
        problem = logistic_problem(
            F, codes, len(classes), self.C * weight, penalty, self.fit_intercept,
            self.softmax == "reference",
        )  # fmt: skip

        passes = Passes(self, X, y, sample_weight, self.max_iter)
        track_gap = passes.has_callbacks or bool(self.verbose)
        settings = LogisticSettings(
            self.solver, self.tol, self.max_iter, float(self.C), self.random_state, None,
            type(self).__name__,
            lambda: list(map(str, range(self.n_features_in_))),
        )  # fmt: skip
        descent = LogisticDescent(problem, np.zeros(problem.shape), settings, track_gap)
        of_rows = {"gamma_": gamma, "X_fit_": None if precomputed else rows}

        def attributes(reason: str) -> dict[str, Any]:
            table = problem.by_class(np.array(descent.iterate.point.reshape(problem.d + 1, -1)))
            with one_blas_thread():
                dual_coef = space.of_rows(np.ascontiguousarray(table[:-1].T))
            return {
                "dual_coef_": dual_coef.astype(rows.dtype),
                "intercept_": table[-1].astype(rows.dtype),
                **of_rows,
                "classes_": classes,
                "objective_": descent.iterate.objective,
                "dual_gap_": descent.gap,
                "gradient_norm_": descent.iterate.gradient_norm,
                "n_iter_": np.array([passes.n_iter], np.int32),
                "stop_reason_": reason,
            }

        passes.attributes = lambda: attributes("callback")
        reason = descent.run(passes, self.verbose)
        self.__dict__.update(attributes(reason))
        for message in descent.messages(reason, codes, classes):
            warn_not_converged(message)
        return self

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: coefficients of rows, the intercept."""
        return {"support_weights": self.dual_coef_, "intercept": self.intercept_}

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of X, shape (n,) for two classes, else (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to score; with ``kernel="precomputed"`` their kernel with all training rows.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, first=False)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):  # refused below
            known = self.kernel == "precomputed"
            K = rows if known else self._kernel(self.gamma_, rows, self.X_fit_)
            scores: NDArray[Any] = np.asarray(K, rows.dtype) @ self.dual_coef_.T + self.intercept_
        check_finite_scores(scores)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _kernel(self, gamma: float | None, *tables: Any) -> Any:
        """Return the kernel of the rows of a table with themselves, or with rows of a second."""
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            K: Any = called_kernel(self.kernel, tables[0], tables[-1])
            if len(tables) == 1:
                check_symmetric(K)
            return K
        known: Any = self.gamma if gamma is None else gamma
        kernel = kernel_of(self.kernel, None, gamma=known, degree=self.degree, coef0=self.coef0)
        K = kernel(tables[0], tables[-1])
        return K.toarray() if sp.issparse(K) else K

    def _check_rows(self, X: Any, first: bool) -> Any:
        precomputed = self.kernel == "precomputed"
        sparse = False if precomputed else "csr"
        X = checks.rows(self, X, reset=first, order="C", accept_sparse=sparse)
        if first and precomputed:
            check_symmetric(X)
        return canonical(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


ROW = Row(
    "KernelLogisticRegression",
    page="logistic_regression.md",
    certificate="kernel_logistic",
    compare=(
        Candidate(
            "kernel logistic regression",
            "nonlinear boundaries with probabilities, on small tables",
            {"gamma": (0.01, 0.1, 1.0), "C": (0.1, 1.0, 10.0)},
            limits=("few rows for solving pairs",),
            halve="rows",
            order=71,
            slow_on_text=True,
        ),
    ),
    contract=Contract(
        settings=(
            {"tol": 1e-08},
            {"kernel": "poly", "coef0": 1.0, "solver": "lbfgs"},
            {"kernel": "linear", "softmax": "reference", "fit_intercept": False},
            {"kernel": "sigmoid", "gamma": 0.1, "class_weight": "balanced"},
        ),
        checked=({"gamma": 0.1}, {"kernel": "linear"}),
        most_rows=500,
        endless={"solver": "sgd", "random_state": 0},
    ),
    warm=None,
)
