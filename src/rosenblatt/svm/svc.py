"""Support vector classification with kernels."""

from collections.abc import Iterator
from copy import copy
from itertools import combinations
from typing import Any, ClassVar, Literal, Self

import numpy as np
import sklearn.svm
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, fitting, warn
from rosenblatt.kernels.kernel_matrix import warn_if_flat
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from .hard_margin import check_separable
from .kernel_svm import KERNELS, KernelSVM, row_weights
from .smo import BoxProblem, Solution, costs
from .training_rows import Array, TrainingRows


class SVC(KernelSVM, sklearn.svm.SVC):  # type: ignore[misc]
    """The widest margin between two classes in the feature space of a kernel.

    The score ``f(x) = sum_i a_i y_i K(x_i, x) + b`` minimizes ``1/2 |w|^2 + sum_i C_i [1 - y_i
    f(x_i)]_+``, w being its element of the feature space; 1 / |w| is the margin, and rows with
    ``a_i > 0`` are its support. It is solved in the dual, where pairs of coefficients are improved
    in working sets [1]_. The parameters are scikit-learn's, but for `multi_class`.

    Parameters
    ----------
    C : float
        Cost of slack; infinity allows none (the hard margin), and raises for classes that cannot
        be separated.
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}, callable or `Kernel`
        A function takes two tables of rows and returns the kernel of all pairs.
    degree, gamma, coef0 : float
        The numbers of the kernel.
    shrinking : bool
        Whether steps among few rows skip inactive rows. Working sets of many rows always do.
    verbose : accepted as in scikit-learn.
    probability : bool
        Whether to calibrate probabilities by cross-validation; deprecated, as in scikit-learn.
    tol : by how much slopes of the dual may be off at the end.
    cache_size : megabytes for rows of the kernel matrix.
    class_weight : multiplies C by class.
    max_iter : most pairs improved in each two-class problem; -1 for no limit.
    decision_function_shape, break_ties : how pairs of classes decide, as in scikit-learn.
    random_state : seed of the folds for `probability`.
    multi_class : {"ovo", "ovr"}
        With more than two classes, a classifier for each pair, or one for each class against the
        rest.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, class_weight_,
    fit_status_, n_iter_, shape_fit_, n_features_in_, feature_names_in_ : as in scikit-learn; equal
        rows of a class are one support.
    margin_ : ndarray of shape (machines,)
        1 / |w|, the distance from the boundary to the lines where the score is 1 and -1.
    slack_ : ndarray of shape (n,), or (n, K - 1) for pairs, (n, K) for classes against the rest
        ``[1 - y_i f(x_i)]_+`` of each training row, in the order of `dual_coef_`.
    objective_, dual_gap_ : ndarray of shape (machines,)
        The objective, and an upper bound on its distance from the minimum.
    gamma_ : float or None
        The value of `gamma`; "scale" weights rows as the fit does.
    n_sweeps_, stop_reason_ : int, str
        Working sets improved, and why the fit ended: "converged", "max_iter", "no_progress" or
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
        "kernel": KERNELS,
        "multi_class": [StrOptions({"ovo", "ovr"})],
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
        multi_class: Literal["ovo", "ovr"] = "ovo",
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
        if self.probability != "deprecated":
            warn(
                "The `probability` parameter was deprecated in 1.9 and will be removed in version "
                "1.11. Use `CalibratedClassifierCV(SVC(), ensemble=False)` instead of "
                "`SVC(probability=True)`",
                FutureWarning,
            )
        table = self._training_rows(X)
        weight = row_weights(table.shape[0], sample_weight)
        classes, codes = self._check_labels(y, weight)
        cost = weight * self.class_weight_[codes]
        if np.bincount(codes[cost > 0], minlength=2).min() == 0:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class."
            )
        cost = costs(cost, self.C)
        rows = TrainingRows(self, table, codes, weight)
        problems = BinaryProblems(rows, codes, cost, self.multi_class)
        if not np.isfinite(self.C):
            check_separable(rows, problems.codes, problems.sides)
        warn_if_flat(rows.kernel, rows.wide)
        passes = Passes(self, X, y, sample_weight, None)
        self._solve(
            rows, problems.box_problems(), passes,
            lambda solutions: {"classes_": classes, **problems.attributes(solutions)},
        )  # fmt: skip
        self._calibrated = self._calibrate(X, y, sample_weight)
        return self

    def _check_labels(self, y: Any, weight: Array) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the classes with a positive weight, and the code of each row; -1 without one."""
        classes, codes = checks.classes(y, len(weight))
        by_class = np.ones(len(classes))
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=classes, y=classes[codes])
        kept = np.unique(codes[weight > 0])
        if 1 < len(kept) < len(classes):
            place = np.full(len(classes), -1, np.intp)
            place[kept] = np.arange(len(kept))
            classes, codes, by_class = classes[kept], place[codes], by_class[kept]
        self.class_weight_ = by_class
        return classes, codes

    def _calibrate(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return Platt's sigmoids of cross-validated scores; None if not requested."""
        self._probA = self._probB = np.empty(0)
        if not self._probabilities:
            return None
        fewest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
        if fewest < 2:  # no folds: use the scores of the training rows
            plain, everything = copy(self), np.arange(len(y))
            plain.probability = "deprecated"
            frozen = FrozenEstimator(plain)
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

    def _decision_function(self, X: Any) -> Array:
        """Return scores (n,) of two classes, (n, K) against the rest, or (n, P) of pairs."""
        rows = self._rows_to_score(X)
        if len(self.classes_) == 2 or self.multi_class != "ovo":
            scores = self._sums(rows)[0] + self.intercept_
            scores = scores[:, 0] if len(self.classes_) == 2 else scores
        else:  # the supports of a class are a group; a pair adds two groups
            sums = self._sums(rows, np.cumsum(self.n_support_).tolist())
            pairs = combinations(range(len(sums)), 2)
            scores = np.stack([sums[i, :, j - 1] + sums[j, :, i] for i, j in pairs], axis=1)
            scores += self.intercept_
        return np.asarray(scores, self.dual_coef_.dtype)

    def _get_coef(self) -> Any:
        if self.multi_class == "ovr":  # a row for each class
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
            scores = self._decision_function(X)
            votes, rows = np.zeros((len(scores), K), np.intp), np.arange(len(scores))
            for p, (i, j) in enumerate(combinations(range(K), 2)):
                votes[rows, np.where(scores[:, p] > 0, i, j)] += 1
            chosen = votes.argmax(axis=1)
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

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("C",)``, or nothing if probabilities are calibrated."""
        return () if self._probabilities else ("C",)

    @property
    def _probabilities(self) -> bool:
        return self.probability != "deprecated" and bool(self.probability)


class BinaryProblems:
    """The two-class problems of a classifier, with equal rows merged.

    With K classes and one against one, problem (i, j), i < j, has the rows of both classes, with
    class i on the positive side. A support of class i has a coefficient in K - 1 problems, in row
    j - 1 of `dual_coef_` if j > i, else in row j. One against the rest has a problem and a row for
    each class. With two classes, the second is on the positive side.
    """

    def __init__(
        self, rows: TrainingRows, codes: NDArray[np.intp], cost: Array, scheme: str
    ) -> None:
        self.rows, self.codes, self.cost = rows, codes[rows.first], rows.sums(cost)
        self.n_classes = K = int(self.codes.max()) + 1
        self.pairs = list(combinations(range(K), 2)) if K > 2 and scheme == "ovo" else []
        self.n_coefficients = 1 if K == 2 else K - 1 if self.pairs else K
        self.sides = list(self._sides())

    def _sides(self) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Yield the groups of each problem, and their sides, 1 or -1."""
        everything = np.arange(len(self.codes))
        for i, j in self.pairs:
            some = np.flatnonzero((self.codes == i) | (self.codes == j))
            yield some, np.where(self.codes[some] == i, 1.0, -1.0)
        if not self.pairs:
            for k in [1] if self.n_classes == 2 else range(self.n_classes):
                yield everything, np.where(self.codes == k, 1.0, -1.0)

    def box_problems(self) -> list[tuple[NDArray[np.intp], BoxProblem]]:
        """Return the rows of each problem, and its dual."""
        found = []
        for some, side in self.sides:
            cost, positive = self.cost[some], side > 0
            low, high = np.where(positive, 0.0, -cost), np.where(positive, cost, 0.0)
            found.append((self.rows.first[some], BoxProblem(-side, low, high, 0.0)))
        return found

    def attributes(self, solutions: list[Solution]) -> dict[str, Any]:
        """Return the fitted attributes that follow from solutions."""
        rows, n, dtype = self.rows, len(self.codes), self.rows.X.dtype
        a, slack = np.zeros((2, self.n_coefficients, n))
        primal, margin, intercept = np.zeros((3, len(solutions)))
        cost = np.where(np.isfinite(self.cost), self.cost, 0.0)
        for p, ((some, side), found) in enumerate(zip(self.sides, solutions, strict=True)):
            line: Any = p  # the row of `dual_coef_`, or one for each group
            if self.pairs:
                i, j = self.pairs[p]
                line = np.where(side > 0, j - 1, i)
            a[line, some] = found.b
            intercept[p] = rows.intercept(found.intercept, found.b, rows.first[some])
            slack[line, some] = left = np.maximum(1 - side * (found.f + found.intercept), 0)
            length = max(float(found.b @ found.f), 0.0)
            primal[p] = length / 2 + float(cost[some] @ left)
            margin[p] = 1 / np.sqrt(length) if length > 0 else np.inf
        support = np.flatnonzero(a.any(axis=0))
        support = support[np.lexsort((rows.first[support], self.codes[support]))]
        counts = np.bincount(self.codes[support], minlength=self.n_classes)
        of_rows = rows.of_rows(slack).T.astype(dtype)
        return {
            **rows.published_supports(rows.first[support], a[:, support]),
            "_n_support": counts.astype(np.int32),
            "slack_": of_rows[:, 0] if len(slack) == 1 else of_rows,
            "intercept_": intercept.astype(dtype),
            "margin_": margin,
            "objective_": primal,
            "dual_gap_": np.maximum(primal - [found.dual for found in solutions], 0.0),
            "n_iter_": np.array([found.n_steps for found in solutions], np.int32),
        }


ROW = Row(
    "SVC",
    page="kernel_machines.md",
    certificate="kernel_machine",
    compare=(
        Candidate(
            "support vector machine",
            "nonlinear boundaries, up to some ten thousand rows",
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
        ),
        checked=({}, {"kernel": "linear"}),
        most_rows=2000,
        endless={"kernel": "linear", "C": 1000000.0, "tol": 1e-12},
    ),
    warm=Warm(({}, {"kernel": "linear"})),
    peer_tests=("svm/tests/test_sparse.py",),
    slow_peer_tests=("svm/tests/test_svm.py",),
)
