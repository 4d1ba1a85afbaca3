"""Support vector machines with kernels."""

from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
import sklearn.svm
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import (
    check_random_state,
    column_or_1d,
    compute_class_weight,
)
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, fitting, warn
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.solvers.smo import BoxProblem

from .dual_problems import JointMargins, Margins, published_supports
from .hard_margin import refuse_narrow_tube
from .kernel_machine import KernelMachine
from .multiclass import most_votes, pair_scores
from .training_rows import Floats, TrainingRows, priced, summed
from .warm_starts import Run, Runs


class SVC(KernelMachine, CallbackSupportMixin, sklearn.svm.SVC):  # type: ignore[misc]
    """The widest margin between two classes in the feature space of a kernel.

    The score ``f(x) = sum_i a_i y_i K(x_i, x) + b`` minimises ``1/2 |w|^2 + sum_i C_i [1 - y_i
    f(x_i)]_+``, w being its element of the feature space; 1 / |w| is the margin, and rows with
    ``a_i > 0`` are its support. It is solved in the dual, where pairs of coefficients are improved
    in working sets [1]_. The parameters are scikit-learn's, but for `multi_class`.

    Parameters
    ----------
    C : float
        What slack costs against a narrow margin; infinity allows none (the hard margin), and is
        refused for classes that cannot be separated.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, callable or `Kernel`
        A function is given two tables of rows, and must return the kernel of all pairs.
    degree, gamma, coef0 : float
        The numbers of the kernel.
    shrinking : bool
        Whether steps among few rows leave out those that are at rest. Working sets of many rows
        leave them out in any case.
    verbose : accepted as in scikit-learn.
    probability : bool
        Whether to calibrate probabilities by cross-validation; deprecated, as in scikit-learn.
    tol : by how much slopes of the dual may be off at the end.
    cache_size : megabytes for rows of the kernel matrix.
    class_weight : multiplies C by class.
    max_iter : pairs improved at most, in each two-class machine; -1 for no limit.
    decision_function_shape, break_ties : how pairs of classes decide, as in scikit-learn.
    random_state : seed of the folds for `probability`.
    multi_class : {"ovo", "ovr", "joint"}
        With more than two classes, a machine for each pair, one for each class against the rest, or
        all classes at once: ``sum_k |w_k|^2 + sum_i C_i xi_i``, where the slack xi_i of a row is
        what its own score lacks of leading every other by one.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, class_weight_,
    fit_status_, n_iter_, shape_fit_, n_features_in_, feature_names_in_ : as in scikit-learn; equal
        rows of a class are one support.
    margin_ : ndarray of shape (machines,)
        1 / |w|, the distance from the boundary to the lines where the score is 1 and -1; of all
        classes at once, 1 / |w_k - w_l| of each pair.
    slack_ : ndarray of shape (n,), or (n, K - 1) for pairs, (n, K) for classes against the rest
        ``[1 - y_i f(x_i)]_+`` of each training row, in the order of `dual_coef_`; xi_i of all
        classes at once.
    objective_, dual_gap_ : ndarray of shape (machines,)
        The objective, and how far it may be from the best possible.
    gamma_ : float or None
        The number that `gamma` stood for; "scale" weighs rows as the fit does.
    n_sweeps_, stop_reason_ : int, str
        Working sets improved, and why that ended: "converged", "max_iter", "no_progress" or
        "callback".

    References
    ----------
    .. [1] R.-E. Fan, P.-H. Chen, C.-J. Lin (2005), Working set selection using second order
       information for training support vector machines.

    Examples
    --------
    >>> from rosenblatt import SVC
    >>> X, y = [[1, 1], [-1, 1], [-1, -1], [1, -1]], ["same", "other", "same", "other"]
    >>> model = SVC(kernel="poly", degree=2, gamma=1).fit(X, y)
    >>> model.predict([[2, 3], [2, -3]])     # XOR, which no line separates
    array(['same', 'other'], dtype='<U5')
    >>> model.dual_coef_, model.margin_.round(4)      # f(x) = x1 x2
    (array([[-0.25,  0.25]]), array([1.4142]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.svm.SVC._parameter_constraints,
        "kernel": [
            StrOptions({"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}),
            callable,
        ],
        "multi_class": [StrOptions({"ovo", "ovr", "joint"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: Literal["ovo", "ovr", "joint"] = "ovo",
    ) -> None:
        super().__init__(
            C=C, kernel=kernel, degree=degree, gamma=gamma, coef0=coef0, shrinking=shrinking,
            probability=probability, tol=tol, cache_size=cache_size, class_weight=class_weight,
            verbose=verbose, max_iter=max_iter, decision_function_shape=decision_function_shape,
            break_ties=break_ties, random_state=random_state,
        )  # fmt: skip
        self.multi_class = multi_class

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel matrix, (n, n).
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Multiplies C by row; rows of weight 0 are left out, and classes of such rows alone.
        """
        self._validate_params()
        self._warn_of_probability()
        table = self._training_rows(X)
        weight = row_weights(table.shape[0], sample_weight)
        classes, codes = self._check_labels(y, weight)
        cost = self._costs(codes, weight)
        rows = TrainingRows(self, table, codes, weight)
        kind = JointMargins if self.multi_class == "joint" and len(classes) > 2 else Margins
        problem = kind(self, rows, codes, cost)
        problem.refuse_if_inseparable(self.C)
        rows.warn_if_flat()
        runs = problem.runs(self)
        passes = Passes(self, X, y, sample_weight, None)
        passes.attributes = lambda: problem.attributes(runs.results(), classes)
        self._publish(problem.attributes(self._run(runs, passes), classes))
        self._calibrated = self._calibrate(X, y, sample_weight)
        return self

    def _check_labels(self, y: Any, weight: Floats) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The classes that have a weight, and the number of each row's; -1 if it has none."""
        classes, codes = checks.classes(y, len(weight))
        by_class = compute_class_weight(self.class_weight, classes=classes, y=classes[codes])
        kept = np.unique(codes[weight > 0])
        if 1 < len(kept) < len(classes):
            place = np.full(len(classes), -1, np.intp)
            place[kept] = np.arange(len(kept))
            classes, codes, by_class = classes[kept], place[codes], by_class[kept]
        self.class_weight_ = by_class
        return classes, codes

    def _costs(self, codes: NDArray[np.intp], weight: Floats) -> Floats:
        """C (n,) of each row."""
        cost = weight * self.class_weight_[codes]
        if len(np.unique(codes[cost > 0])) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class."
            )
        return priced(cost, self.C)

    def _warn_of_probability(self) -> None:
        if self.probability != "deprecated":
            warn(
                "The `probability` parameter was deprecated in 1.9 and will be removed in version "
                "1.11. Use `CalibratedClassifierCV(SVC(), ensemble=False)` instead of "
                "`SVC(probability=True)`",
                FutureWarning,
            )

    def _calibrate(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Probabilities by Platt's sigmoid of scores that folds gave; None if not asked for."""
        self._probA = self._probB = np.empty(0)
        if self.probability == "deprecated" or not self.probability:
            return None
        fewest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
        if fewest < 2:  # no fold could do without that row: scores of the training rows must do
            frozen, everything = FrozenEstimator(_without_calibration(self)), np.arange(len(y))
            model = CalibratedClassifierCV(frozen, cv=[(everything, everything)], ensemble=False)
        else:
            plain = clone(self).set_params(probability="deprecated")
            rng = check_random_state(self.random_state)
            folds = StratifiedKFold(min(5, fewest), shuffle=True, random_state=rng)
            model = CalibratedClassifierCV(plain, cv=folds, ensemble=False)
        model.fit(X, y, sample_weight)
        found = model.calibrated_classifiers_[0].calibrators
        self._probA = np.array([sigmoid.a_ for sigmoid in found])
        self._probB = np.array([sigmoid.b_ for sigmoid in found])
        return model

    def _decision_function(self, X: Any) -> Floats:
        """Scores (n,) of two classes, (n, K) of classes against the rest, or (n, P) of pairs."""
        rows = self._rows_to_score(X)
        if len(self.classes_) == 2 or self.multi_class != "ovo":
            scores = self._sums(rows, self.dual_coef_) + self.intercept_
            scores = scores[:, 0] if len(self.classes_) == 2 else scores
        else:
            scores = pair_scores(
                lambda some: self._sums(rows, self.dual_coef_, some), self.n_support_,
                self.intercept_,
            )  # fmt: skip
        return scores.astype(self.dual_coef_.dtype, copy=False)

    def _get_coef(self) -> Any:
        if self.multi_class != "ovo":  # a row for each class
            return safe_sparse_dot(self.dual_coef_, self.support_vectors_)
        return super()._get_coef()

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of X: (n,) for two classes, else (n, K), or (n, pairs) for "ovo".

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel with all training rows.
        """
        if self.multi_class != "ovo":
            return self._decision_function(X)
        return np.asarray(super().decision_function(X), self.dual_coef_.dtype)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row: most votes of pairs, or the highest score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel with all training rows.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        K = len(self.classes_)
        if K == 2:
            chosen = (self._decision_function(X) > 0).astype(np.intp)
        elif self.break_ties or self.multi_class != "ovo":
            chosen = self.decision_function(X).argmax(axis=1)
        else:
            chosen = most_votes(self._decision_function(X), K)
        return np.asarray(self.classes_.take(chosen))

    @available_if(sklearn.svm.SVC._check_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return calibrated class probabilities (n, K), if fitted with ``probability=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        if self._calibrated is None:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False"
            )
        return np.asarray(self._calibrated.predict_proba(X))

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: supports and what they count."""
        return trace_view(self)

    def path_parameters(self) -> tuple[str, ...]:
        """Return the parameters along which a fit starts from the last."""
        return () if self._probabilities else ("C",)

    @property
    def _probabilities(self) -> bool:
        return self.probability != "deprecated" and bool(self.probability)


def _without_calibration(model: SVC) -> SVC:
    """The same fitted machine, which asks for no probabilities."""
    plain = copy(model)
    plain.probability = "deprecated"
    return plain


def trace_view(model: Any) -> dict[str, Any]:
    """Supports, what they count, and the intercept."""
    if not hasattr(model, "dual_coef_"):
        return {}
    coef = model.dual_coef_
    return {
        "supports": model.support_,
        "support_weights": coef.toarray() if sp.issparse(coef) else coef,
        "intercept": model.intercept_,
    }


class SVR(KernelMachine, CallbackSupportMixin, sklearn.svm.SVR):  # type: ignore[misc]
    """A function that is within `epsilon` of the targets where it can, in a kernel's space.

    ``f(x) = sum_i c_i K(x_i, x) + b`` minimises ``1/2 |w|^2 + sum_i C_i [|t_i - f(x_i)| -
    epsilon]_+``. Rows inside the tube have no coefficient. The parameters are scikit-learn's.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, cache_size, shrinking, verbose, max_iter : as in `SVC`.
    C : float
        What leaving the tube costs; infinity allows it nowhere, and is refused for targets that
        no function of the kernel's space keeps inside.
    epsilon : float
        Half the width of the tube.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_,
    shape_fit_, n_features_in_, feature_names_in_ : as in scikit-learn.
    slack_ : ndarray of shape (n,)
        How far each training row is outside of the tube.
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
        "kernel": SVC._parameter_constraints["kernel"],
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
        t = self._check_targets(y, table.shape[0])
        cost = priced(weight, self.C)
        rows = TrainingRows(self, table, t, weight)
        rows.warn_if_flat()
        problem = Tube(self, rows, t, cost)
        if not np.isfinite(self.C):
            refuse_narrow_tube(rows, problem.first, problem.t, problem.epsilon)
        runs = problem.runs(self)
        passes = Passes(self, X, y, sample_weight, None)
        passes.attributes = lambda: problem.attributes(runs.results()[0])
        self._publish(problem.attributes(self._run(runs, passes)[0]))
        return self

    def _check_targets(self, y: Any, n: int) -> Floats:
        if y is None:
            raise ValueError("SVR requires y to be passed, but the target y is None.")
        t = column_or_1d(y, warn=True).astype(np.float64, copy=False)
        checks.finite(t, "y")
        checks.same_length(n, t)
        return np.asarray(t)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the targets of X, shape (n,).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel with all training rows.
        """
        scores = self._sums(self._rows_to_score(X), self.dual_coef_)[:, 0] + self.intercept_
        return np.asarray(scores.astype(self.dual_coef_.dtype, copy=False))

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: supports and what they count."""
        return trace_view(self)

    def _get_coef(self) -> Any:
        return safe_sparse_dot(self.dual_coef_, self.support_vectors_)

    def path_parameters(self) -> tuple[str, ...]:
        """Return the parameters along which fits share work."""
        return ("C",)


class Tube:
    """The problem of a regression, of rows of which equal ones are merged."""

    def __init__(self, model: SVR, rows: TrainingRows, t: Floats, cost: Floats) -> None:
        self.rows, self.epsilon = rows, float(model.epsilon)
        self.first, self.group = rows.first, rows.group
        self.t, self.cost = t[self.first], summed(self.group, cost, len(self.first))

    def runs(self, model: SVR) -> Runs:
        """The one run."""
        runs = Runs(model, self.rows)
        runs.add(self.first, BoxProblem(-self.t, -self.cost, self.cost, self.epsilon))
        return runs

    def attributes(self, run: Run) -> dict[str, Any]:
        """What the run implies, under the names that are published."""
        support, dtype = np.flatnonzero(run.b), self.rows.X.dtype
        support = support[np.argsort(self.first[support])]
        slack = np.maximum(np.abs(self.t - run.f - run.intercept) - self.epsilon, 0)
        finite = np.isfinite(self.cost)
        primal = max(float(run.b @ run.f), 0.0) / 2 + float(self.cost[finite] @ slack[finite])
        intercept = self.rows.intercept(run.intercept, run.b, self.first)
        return {
            **published_supports(self.rows, self.first[support], run.b[np.newaxis, support]),
            "_n_support": np.array([len(support), 0], np.int32),
            "intercept_": np.array([intercept]).astype(dtype),
            "slack_": np.where(self.group >= 0, slack[self.group], 0.0).astype(dtype),
            "objective_": primal,
            "dual_gap_": max(primal - run.dual, 0.0),
            "n_iter_": run.n_steps,
        }


def row_weights(n: int, sample_weight: Any) -> Floats:
    """Weights (n,); rows without a positive one are left out."""
    weight = checks.weights(sample_weight, n, ones=True, negative=True, all_zero=True)
    weight = np.maximum(weight, 0.0)
    if not weight.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return np.asarray(weight)


ROWS = (
    Row(
        "SVC",
        page="kernel_machines.md",
        certificate="kernel_machine",
        compare=(
            Candidate(
                "support vector machine",
                "curved boundaries with a wide margin, up to some ten thousand rows",
                {"gamma": (0.001, 0.01, 0.1, 1.0), "C": (0.1, 1.0, 10.0, 100.0)},
                limits=("few rows for pairs",),
                halve="rows",
                short_names=("svm", "kernel svm"),
                order=63,
                slow_on_text=True,
            ),
        ),
        contract=Contract(
            settings=(
                {},
                {"kernel": "linear", "C": 0.1},
                {"kernel": "poly", "coef0": 1.0, "cache_size": 1.0, "multi_class": "ovr"},
                {"kernel": "laplacian", "decision_function_shape": "ovo"},
                {"multi_class": "joint"},
            ),
            checked=({}, {"kernel": "linear"}),
            most_rows=2000,
            endless={"kernel": "linear", "C": 1000000.0, "tol": 1e-12},
        ),
        warm=Warm(({}, {"kernel": "linear"}, {"multi_class": "joint"})),
        file_types=(
            "kernels.functions.Gaussian",
            "kernels.functions.Laplacian",
            "kernels.functions.Linear",
            "kernels.functions.Polynomial",
            "kernels.functions.Sigmoid",
        ),
        peer_tests=("svm/tests/test_sparse.py",),
        slow_peer_tests=("svm/tests/test_svm.py",),
    ),
    Row(
        "SVR",
        page="kernel_machines.md",
        certificate="kernel_machine",
        compare=(
            Candidate(
                "support vector regression",
                "curves in any direction that few large errors should not bend",
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
        file_types=(
            "kernels.functions.Gaussian",
            "kernels.functions.Laplacian",
            "kernels.functions.Linear",
            "kernels.functions.Polynomial",
            "kernels.functions.Sigmoid",
        ),
        peer_tests=("svm/tests/test_sparse.py",),
        slow_peer_tests=("svm/tests/test_svm.py",),
    ),
)
