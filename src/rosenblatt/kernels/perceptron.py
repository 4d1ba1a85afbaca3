"""The kernel perceptron."""

from collections.abc import Callable, Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Attributes, fitting, read_only
from rosenblatt.mistake_driven import (
    CELLS_PER_CALL,
    Examples,
    MistakeDriven,
    Pick,
    Training,
    check_examples,
)
from rosenblatt.registry.row import VISITS_ROWS, Candidate, Contract, Row, Warm
from rosenblatt.runtime.threads import one_blas_thread

from . import perceptron_loops
from .checks import (
    check_finite_kernel,
    check_finite_scores,
    check_symmetric,
    check_with_training_rows,
)
from .functions import Linear, against, canonical, row_keys
from .kernel_matrix import (
    NAMES,
    KernelMatrix,
    PrecomputedMatrix,
    gamma_of,
    kernel_of,
)

BLOCK = 1 << 22  # kernel values computed at once for predictions: 32 megabytes


class KernelPerceptron(MistakeDriven):
    """Perceptron in the feature space of a kernel, with nonlinear boundaries.

    The weights there are ``w = sum_i a_i phi(x_i)``, so that ``w.phi(x) = sum_i a_i K(x_i, x)``,
    and a mistake on example i changes ``a_i += y_i``: the algorithm needs only kernel values [1]_.
    With the linear kernel it is the `Perceptron`. If a unit vector of the feature space separates
    the classes with margin g, there are at most ``(R / g)**2`` mistakes, with ``R**2`` the largest
    K(x, x), plus 1 if there is an intercept.

    Only examples with mistakes are kept, identical ones as one. Fewer of them, by a smaller
    `max_updates` or `max_iter`, make a smoother boundary.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"} or callable
        As in scikit-learn's SVC; "polynomial" and "gaussian" are other names for "poly" and "rbf".
        A callable gets tables of rows U (n, d) and V (m, d) and returns the matrix (n, m). For
        "precomputed" X is the kernel matrix itself.
    degree : int
        Of the polynomial kernel ``(gamma u.v + coef0)**degree``.
    gamma : {"scale", "auto"} or float
        How fast a kernel falls with distance, or the factor of the scalar product; "scale" is
        ``1 / (d X.var())`` and "auto" ``1 / d``.
    coef0 : float
        Constant that "poly" and "sigmoid" add to the scalar product. With 0, the features of "poly"
        are products of exactly `degree` columns, with 1 of up to `degree`.
    fit_intercept : bool
        Whether to learn an intercept.
    max_updates : int or None
        Most corrections; fewer regularize.
    max_iter, tol, shuffle, verbose, eta0, random_state, early_stopping, validation_fraction, \
    n_iter_no_change, class_weight
        As for `Perceptron`.
    boundary : {"mistake", "positive", "negative"}
        Treatment of scores of exactly 0, and of ties: see `Perceptron`.
    pick : {"cyclic", "random", "first", "worst"}
        Which mistake to correct next: see `Perceptron`.
    cache_size : float
        Megabytes for rows of the kernel matrix; rows that do not fit are computed when needed.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, s) or (K, s)
        Coefficient of each support: its mistakes, with sign and step.
    support_ : ndarray of shape (s,)
        The supports' rows in X.
    support_vectors_ : ndarray or CSR matrix of shape (s, d)
        The supports themselves; empty if the kernel is precomputed.
    intercept_ : ndarray of shape (1,) or (K,)
        The biases.
    gamma_ : float or None
        The value of `gamma`; None for objects, functions and matrices.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_, n_updates_, t_, converged_, stop_reason_, cycle_, step_range_
        As for `Perceptron`.
    validation_scores_ : list of float or None
        Accuracy on the held-out rows after each pass.
    n_features_in_, feature_names_in_ :
        Number of columns of X, and their names if all are strings.

    See Also
    --------
    Perceptron : with a weight for each feature.

    References
    ----------
    .. [1] M. Aizerman, E. Braverman, L. Rozonoer (1964), Theoretical foundations of the potential
       function method in pattern recognition learning.

    Examples
    --------
    >>> from rosenblatt import KernelPerceptron
    >>> X, y = [[1, 1], [-1, 1], [-1, -1], [1, -1]], ["same", "other", "same", "other"]
    >>> model = KernelPerceptron("poly", degree=2, gamma=1, fit_intercept=False, shuffle=False)
    >>> model.fit(X, y).predict([[2, 3], [2, -3]])     # XOR, which no line separates
    array(['same', 'other'], dtype='<U5')
    >>> model.dual_coef_, model.support_               # f(x) = 4 x1 x2
    (array([[ 1., -1.]]), array([0, 1], dtype=int32))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MistakeDriven._parameter_constraints,
        "kernel": [StrOptions(set(NAMES)), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "max_updates": [Interval(Integral, 1, None, closed="left"), None],
        "pick": [StrOptions({"cyclic", "random", "first", "worst"})],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        degree: int = 3,
        gamma: float | Literal["scale", "auto"] = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        max_updates: int | None = None,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        boundary: Literal["mistake", "positive", "negative"] = "mistake",
        pick: Pick = "cyclic",
        cache_size: float = 200.0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.max_updates = max_updates
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.boundary = boundary
        self.pick = pick
        self.cache_size = cache_size

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples; with ``kernel="precomputed"`` their kernel matrix, (n, n).
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            Multiplies the step of each row; rows of weight 0 are not visited.
        """
        if isinstance(self.kernel, type):
            raise ValueError(f"kernel must be a name or an object; got the class {self.kernel!r}.")
        rng = check_random_state(self.random_state)
        examples = check_examples(self, X, y, sample_weight, rng=rng)
        named = isinstance(self.kernel, str) and self.kernel != "precomputed"
        self.gamma_ = gamma_of(self.gamma, examples.X) if named else None
        if self.kernel == "precomputed":
            matrix: KernelMatrix = PrecomputedMatrix(examples.X)
        else:
            kernel = self._kernel(examples.X)
            matrix = KernelMatrix(kernel, examples.X, self.cache_size, in_order=True)
        weights = DualWeights(examples, matrix)

        training = Training(self, weights, X, y, sample_weight, rng)
        for rows in training:
            # On a mistake on example i: a_i += y_i and b += y_i.
            training.count(rows, weights.visit(rows, training.updates_left))

        training.set_attributes()
        # A limit on updates keeps the boundary simple: reaching it needs no warning.
        limited = self.stop_reason_ == "max_iter" and self.n_updates_ == self.max_updates
        if not limited:
            training.warn_if_not_converged("certify(model, X, y)")
        return self

    def _kernel(self, X: Any = None) -> Any:
        """Return the kernel function, with its parameters from X or from the fit."""
        gamma = self.gamma if X is not None or self.gamma_ is None else self.gamma_
        return kernel_of(self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of X, shape (n,) for two classes, else (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to score; with ``kernel="precomputed"`` their kernel with all training rows.
        """
        check_is_fitted(self)
        X = self._check_X(X, first=False)
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: supports and their weights."""
        view = super().trace_view() | {
            "supports": self.support_,
            "support_weights": self.dual_coef_,
            "intercept": self.intercept_,
        }
        if type(self).decision_function is KernelPerceptron.decision_function:
            view["kernel"] = self._kernel_values
        return view

    def _kernel_values(self, X: Any, places: Sequence[int]) -> NDArray[Any]:
        """Return the kernel (m, n) of the supports at some places with rows X."""
        probe = copy(self)
        probe.support_ = self.support_[places]
        if self.kernel != "precomputed":
            probe.support_vectors_ = self.support_vectors_[places]
        probe.dual_coef_ = np.eye(len(places), dtype=self.dual_coef_.dtype)
        probe.intercept_ = np.zeros(len(places), self.dual_coef_.dtype)
        return np.reshape(probe.decision_function(X), (-1, len(places))).T

    def _scores(self, X: Any) -> NDArray[Any]:
        """Return the scores (n, c) of rows, in float64 like the fit: margins can be tiny."""
        scores = np.tile(self.intercept_.astype(np.float64), (X.shape[0], 1))
        if self.kernel == "precomputed":
            kernel: Callable[[Any], Any] = lambda K: K[:, self.support_]  # noqa: E731
        else:
            kernel = against(self._kernel(), self.support_vectors_.astype(np.float64, copy=False))
        s = len(self.support_)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):  # raised below
            for rows in gen_batches(X.shape[0], max(1, BLOCK // s)) if s else ():
                K = kernel(X[rows].astype(np.float64, copy=False))
                scores[rows] += K @ self.dual_coef_.T
                if not np.isfinite(scores[rows]).all():
                    check_finite_kernel(K, range(rows.start, rows.stop), self.support_)
        with np.errstate(over="ignore", under="ignore"):  # raised below; restored here
            narrow: NDArray[Any] = scores.astype(X.dtype, copy=False)
        lost = (narrow == 0) & (scores != 0)  # nonzero scores stay nonzero
        if lost.any():
            narrow[lost] = np.copysign(np.finfo(X.dtype).smallest_subnormal, scores[lost])
        check_finite_scores(narrow)
        return narrow

    def _check_X(self, X: Any, first: bool) -> Any:
        """Return checked rows, or a kernel matrix (n, n), or (m, n) of new rows."""
        if self.kernel != "precomputed":
            return canonical(checks.rows(self, X, reset=first, order="C"))
        if not first:
            check_with_training_rows(X, self.n_features_in_, type(self).__name__)
        K = checks.rows(self, X, reset=first, order="C", finite=False, accept_sparse=False)
        check_finite_kernel(K)
        if first:
            check_symmetric(K)
        return np.asarray(K)

    def _always_zero(self, X: Any) -> NDArray[np.bool_]:
        if self.kernel == "precomputed":
            return np.asarray(~X.any(axis=1))
        kernel = self._kernel(X)
        homogeneous = getattr(kernel, "coef0", None) == 0 and getattr(kernel, "degree", 1) > 0
        if isinstance(kernel, Linear) or homogeneous:
            return super()._always_zero(X)
        return np.zeros(X.shape[0], np.bool_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


class DualWeights:
    """Coefficients a (c, n) of the examples, scores f (c, n) and biases b (c,); c is 1 or K.

    On a mistake on example i, a_i += y_i. With K classes the coefficient rises for the true class
    and falls for the best rival.
    """

    drifts = False

    def __init__(self, examples: Examples, rows: KernelMatrix) -> None:
        self.examples, self.rows = examples, rows
        shape = (examples.n_outputs, len(examples.codes))
        self.a, self.f, self.b = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
        self.n_updates = self.n_visits = 0
        self.bias = float(examples.bias)
        step = examples.step.astype(np.float64)
        self.labels: tuple[NDArray[Any], ...]
        if len(self.b) == 1:
            self.labels = (read_only(np.where(examples.codes == 1, step, -step)),)
        else:
            self.labels = (read_only(examples.codes), read_only(step), np.empty(len(self.b)))
        self.corrections_per_call = max(1, CELLS_PER_CALL // shape[1])

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        """Visit rows in order, correct at most `most` mistakes; return (mistakes, loss, visits)."""
        mistakes, loss, visits = 0, 0.0, 0
        while visits < len(order):
            limit = min(most - mistakes, self.corrections_per_call)
            made, lost, seen = perceptron_loops.dual_pass(
                self.labels, order[visits:], self.examples.ties, limit, self.bias,
                read_only(self.rows.kept), self.rows.slot, self.a, self.f, self.b,
            )  # fmt: skip
            mistakes, loss, visits = mistakes + made, loss + lost, visits + seen
            if visits == len(order) or mistakes == most:
                break
            if self.rows.slot[order[visits]] < 0 and np.isfinite(self.score(order[visits])).all():
                self.rows.fetch(order[visits : visits + 1])
            elif made < limit:
                break  # not finite
        return mistakes, loss, visits

    def all_scores(self) -> NDArray[Any]:
        """Return the scores (n,) or (n, K) of all rows."""
        scores = self.f + self.b[:, np.newaxis]
        return scores[0] if len(scores) == 1 else scores.T

    def score(self, row: int) -> Any:
        """Return the score of a row, or its scores (K,)."""
        scores = self.f[:, row] + self.b
        return scores[0] if len(scores) == 1 else scores

    def state(self) -> tuple[NDArray[Any], ...]:
        """Return the scores and biases."""
        return self.f, self.b  # other coefficients may give the same scores

    def published_scores(self, rows: NDArray[np.int32]) -> NDArray[Any]:
        """Return the scores (m, 1) or (m, K) of some rows."""
        return self.f[:, rows].T + self.b

    def attributes(self, copy: bool = True) -> Attributes:
        """Return the fitted attributes."""
        X, dtype = self.examples.X, self.examples.X.dtype
        support, a = np.flatnonzero(self.a.any(axis=0)), self.a
        if isinstance(self.rows, PrecomputedMatrix):
            vectors, a = np.empty((0, 0), dtype), a[:, support]
        else:
            support, a = merge_identical(X[support], support, a[:, support])
            vectors = X[support]
        return {
            "dual_coef_": a.astype(dtype),
            "support_": support.astype(np.int32),
            "support_vectors_": vectors,
            "intercept_": self.b.astype(dtype),
            "n_updates_": self.n_updates,
        }


def merge_identical(
    X: Any, support: NDArray[np.intp], a: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Merge identical rows X (s, d); return the supports and coefficients that are not 0."""
    first: dict[bytes, int] = {}
    place = np.array([first.setdefault(key, len(first)) for key in row_keys(X)], np.intp)
    if len(first) == len(support):
        return support, a
    merged = np.zeros((len(a), len(first)))
    for k in range(len(a)):
        np.add.at(merged[k], place, a[k])
    left = merged.any(axis=0)
    firsts = np.unique(place, return_index=True)[1]
    return support[firsts[left]], merged[:, left]


ROW = Row(
    "KernelPerceptron",
    page="kernels.md",
    certificate="kernel_perceptron",
    compare=(
        Candidate(
            "kernel perceptron",
            "nonlinear boundaries, on small tables",
            {"gamma": (0.001, 0.01, 0.1, 1.0), "max_iter": (5, 20)},
            limits=("few rows for pairs",),
            halve="rows",
            order=70,
            rank=4,
            slow_on_text=True,
        ),
    ),
    contract=Contract(
        settings=(
            {"max_updates": 200},
            {"kernel": "poly", "coef0": 1.0, "max_updates": 200, "cache_size": 1.0},
            {"kernel": "linear", "pick": "worst", "max_updates": 20},
            {"early_stopping": True, "max_updates": 200},
        ),
        checked=({}, {"kernel": "poly", "coef0": 1.0}),
        expected_failures=VISITS_ROWS,
    ),
    warm=Warm(({"max_iter": 2},)),
    file_types=(  # for all models with kernels
        "kernels.functions.Gaussian",
        "kernels.functions.Laplacian",
        "kernels.functions.Linear",
        "kernels.functions.Polynomial",
        "kernels.functions.Sigmoid",
    ),
)
