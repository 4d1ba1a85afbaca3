"""Support vector regression with kernels."""

from typing import Any, ClassVar, Self

import numpy as np
import sklearn.svm
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.extmath import safe_sparse_dot

from rosenblatt import checks
from rosenblatt.base import Passes, fitting
from rosenblatt.kernels.kernel_matrix import warn_if_flat
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from .hard_margin import check_tube
from .kernel_svm import KERNELS, KernelSVM, row_weights
from .smo import BoxProblem, Solution, costs
from .training_rows import TrainingRows


class SVR(KernelSVM, sklearn.svm.SVR):  # type: ignore[misc]
    """A function that is within `epsilon` of the targets where it can, in a kernel's space.

    ``f(x) = sum_i c_i K(x_i, x) + b`` minimizes ``1/2 |w|^2 + sum_i C_i [|t_i - f(x_i)| -
    epsilon]_+``. Rows inside the tube have the coefficient 0. The parameters are scikit-learn's.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, cache_size, shrinking, verbose, max_iter : as in `SVC`.
    C : float
        Cost of leaving the tube; infinity does not allow it, and raises for targets that no
        function of the kernel's space keeps inside.
    epsilon : float
        Half the width of the tube.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_, n_features_in_, feature_names_in_ : as in scikit-learn.
    slack_ : ndarray of shape (n,)
        Distance of each training row from the tube.
    objective_, dual_gap_, gamma_, n_sweeps_, stop_reason_ : as in `SVC`, for the one problem.

    Examples
    --------
    >>> from rosenblatt import SVR
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = SVR(kernel="linear", C=10, epsilon=0.5, tol=1e-6).fit(X, [0.0, 1.0, 2.0, 3.0])
    >>> model.coef_.round(3), model.intercept_.round(3)     # as flat as the tube allows
    (array([[0.667]]), array([0.5]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.svm.SVR._parameter_constraints,
        "kernel": KERNELS,
    }

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel matrix, (n, n).
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Multiplies C by row; rows of weight 0 are left out.
        """
        self._validate_params()
        table = self._training_rows(X)
        weight = row_weights(table.shape[0], sample_weight)
        if y is None:
            raise ValueError("SVR requires y to be passed, but the target y is None.")
        targets = np.asarray(column_or_1d(y, warn=True), np.float64)
        checks.finite(targets, "y")
        checks.same_length(table.shape[0], targets)
        cost = costs(weight, self.C)
        rows = TrainingRows(self, table, targets, weight)
        warn_if_flat(rows.kernel, rows.wide)
        t, c = targets[rows.first], rows.sums(cost)
        if not np.isfinite(self.C):
            check_tube(rows, t, float(self.epsilon))
        problem = BoxProblem(-t, -c, c, float(self.epsilon))
        passes = Passes(self, X, y, sample_weight, None)
        self._solve(
            rows, [(rows.first, problem)], passes,
            lambda solutions: fitted_attributes(rows, problem, *solutions),
        )  # fmt: skip
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the targets of X, shape (n,).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel with all training rows.
        """
        scores = self._sums(self._rows_to_score(X))[0, :, 0] + self.intercept_
        return np.asarray(scores.astype(self.dual_coef_.dtype, copy=False))

    def _get_coef(self) -> Any:
        return safe_sparse_dot(self.dual_coef_, self.support_vectors_)


def fitted_attributes(rows: TrainingRows, problem: BoxProblem, found: Solution) -> dict[str, Any]:
    """Return the fitted attributes that follow from a solution."""
    t, cost, dtype = -problem.c, problem.high, rows.X.dtype
    support = np.flatnonzero(found.b)
    support = support[np.argsort(rows.first[support])]
    slack = np.maximum(np.abs(t - found.f - found.intercept) - problem.kink, 0)
    finite = np.isfinite(cost)
    primal = max(float(found.b @ found.f), 0.0) / 2 + float(cost[finite] @ slack[finite])
    intercept = rows.intercept(found.intercept, found.b, rows.first)
    return {
        **rows.published_supports(rows.first[support], found.b[np.newaxis, support]),
        "_n_support": np.array([len(support), 0], np.int32),
        "intercept_": np.array([intercept]).astype(dtype),
        "slack_": rows.of_rows(slack).astype(dtype),
        "objective_": primal,
        "dual_gap_": max(primal - found.dual, 0.0),
        "n_iter_": found.n_steps,
    }


ROW = Row(
    "SVR",
    page="kernel_machines.md",
    certificate="kernel_machine",
    compare=(
        Candidate(
            "support vector regression",
            "nonlinear regression with outliers in the target",
            {"gamma": (0.001, 0.01, 0.1), "C": (0.1, 1.0, 10.0, 100.0)},
            limits=("few rows for pairs",),
            halve="rows",
            short_names=("svm", "kernel svm"),
            order=64,
            slow_on_text=True,
        ),
    ),
    contract=Contract(
        settings=({}, {"kernel": "linear", "epsilon": 0.5}, {"kernel": "poly", "degree": 2}),
        checked=({}, {"kernel": "linear"}),
        most_rows=2000,
        endless={"kernel": "linear", "C": 1000000.0, "tol": 1e-12},
    ),
    warm=Warm(({}, {"kernel": "linear"})),
    peer_tests=("svm/tests/test_sparse.py",),
    slow_peer_tests=("svm/tests/test_svm.py",),
)
