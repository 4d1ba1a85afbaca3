"""Kernel ridge regression."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import sklearn.kernel_ridge
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import all_or_nothing, warn
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.runtime.threads import MANY_UNKNOWNS, interruptible, one_blas_thread

from .checks import check_finite_kernel, check_function_of_rows, check_symmetric
from .functions import Kernel, canonical
from .kernel_matrix import NAMES, kernel_of, warn_if_flat
from .shifted_systems import solve_one, solve_shifted

Array = NDArray[np.float64]

MOST_ROWS_OF_EIGENVALUES = 2_000
BLOCK = 1 << 23  # kernel values computed at a time in predictions
LEAST_ROWS, MOST_GROUPS = 500, 10  # of folds that share a kernel matrix


class KernelRidge(sklearn.kernel_ridge.KernelRidge):  # type: ignore[misc]
    """Ridge regression in the feature space of a kernel: a nonlinear function.

    The prediction is ``f(x) = sum_i c_i K(x_i, x)``, and c minimizes ``sum_i s_i (t_i - f(x_i))^2 +
    alpha c'Kc``, s being the weights: ``(K + alpha / s) c = t``. There is no intercept: center the
    targets, or add 1 to the kernel. A fit takes time proportional to n^3, which suits some thousand
    rows; `fit_path` fits all penalties in about the time of two.

    Parameters
    ----------
    alpha : float or array-like of shape (t,)
        Penalty of the norm of f; one for each target, or one for all.
    kernel : str or callable
        A name that ``sklearn.metrics.pairwise.pairwise_kernels`` accepts, "precomputed", a
        function of two rows, or one of `rosenblatt.kernels`.
    gamma, degree, coef0, kernel_params : object
        Parameters of the kernel, as in scikit-learn; None for gamma is 1 / d, and 1 for "chi2".

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, t)
        c, the coefficient of each training row.
    X_fit_ : ndarray or sparse matrix of shape (n, d), or (n, n)
        The training rows, or their precomputed kernel.

    Examples
    --------
    >>> from rosenblatt import KernelRidge
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = KernelRidge(alpha=0.01, kernel="rbf", gamma=0.5).fit(X, [0.0, 1.0, 0.0, -1.0])
    >>> model.predict([[1.0], [3.0]]).round(2)
    array([ 0.98, -0.99])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.kernel_ridge.KernelRidge._parameter_constraints
    }
    measured_by: ClassVar[tuple[str, ...]] = (
        "kernel", "gamma", "degree", "coef0", "kernel_params",
    )  # fmt: skip

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows; with ``kernel="precomputed"`` their kernel matrix, (n, n).
        y : array-like of shape (n,) or (n, t)
        sample_weight : float, array-like of shape (n,), or None
        """
        self._validate_params()
        X, y = self._check_rows(X, y)
        warn_if_flat(self._own_kernel(X), X)
        system = WeightedSystem.of(self, X, y, sample_weight)
        with one_blas_thread():  # the bits of a factor depend on the number of threads
            self._publish(X, y, system.solve_all([np.atleast_1d(self.alpha)])[0])
        return self

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        X, y = checks.validate_data(
            self, X, y, accept_sparse=("csr", "csc"), multi_output=True, y_numeric=True,
            dtype=checks.FLOATS, order="C", ensure_all_finite=self.kernel != "precomputed",
        )  # fmt: skip
        if self.kernel == "precomputed":
            check_finite_kernel(X)
            check_symmetric(X)
        elif callable(self.kernel) and not isinstance(self.kernel, Kernel):
            first = X[:1] if sp.issparse(X) else X[0]
            check_function_of_rows(self.kernel, first, first, self.kernel_params or {})
        return canonical(X), y

    def _publish(self, X: Any, y: NDArray[Any], c: Array) -> None:
        self.dual_coef_ = checks.in_precision(c, X.dtype).reshape(y.shape)
        self.X_fit_ = X

    def _own_kernel(self, X: Any) -> Kernel | None:
        """Return the kernel if it is one of this package, else None."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        known = self.kernel in NAMES and self.kernel != "precomputed"
        if not known or self.kernel_params or not float(self.degree).is_integer():
            return None
        rate = 1.0 / X.shape[1] if self.gamma is None else float(self.gamma)
        return kernel_of(  # type: ignore[return-value]
            self.kernel, X, gamma=rate, degree=int(self.degree), coef0=float(self.coef0)
        )

    def _get_kernel(self, X: Any, Y: Any = None) -> NDArray[Any]:
        """Return the kernel of the rows of X with the rows of Y, or with themselves."""
        kernel = self._own_kernel(X)
        named = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        settings = {name: value for name, value in named.items() if value is not None}
        if callable(self.kernel):
            settings = self.kernel_params or {}
        with np.errstate(over="ignore", invalid="ignore"):  # raised below
            if kernel is not None:
                K = kernel(X, Y)
            else:
                K = pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **settings)
        fraction = kernel is None and self.kernel in ("poly", "polynomial")
        if fraction and np.isnan(K).any():
            i, j = np.argwhere(np.isnan(K))[0]
            raise ValueError(
                f"degree={self.degree!r} is not an integer, and gamma u.v + coef0 is negative "
                f"for row {i} and training row {j}. Use degree={round(self.degree)}, or a "
                f"coef0 above {self.coef0!r}."
            )
        check_finite_kernel(K)
        return np.asarray(K)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the targets of X, shape (n,) or (n, t).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            Rows to predict; with ``kernel="precomputed"`` their kernel with all training rows.
        """
        check_is_fitted(self)
        X = checks.rows(
            self, X, order="C", finite=self.kernel != "precomputed", accept_sparse=("csr", "csc")
        )
        X = canonical(X.tocsr() if hasattr(X, "tocsr") else X)
        if self.kernel == "precomputed":
            check_finite_kernel(X)
        at_once = max(1, BLOCK // len(self.dual_coef_))
        with one_blas_thread():
            parts = [
                self._get_kernel(X[i : i + at_once], self.X_fit_) @ self.dual_coef_
                for i in range(0, X.shape[0], at_once)
            ]
        return np.concatenate(parts)

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("alpha",)``: one reduction of the kernel matrix serves all penalties."""
        return ("alpha",)

    def measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, n_groups: int
    ) -> list["KernelFolds"]:
        """Return groups of rows that share one kernel matrix, for the folds of a search.

        Parameters
        ----------
        X, y, sample_weight : object
            The rows, their targets, and None.
        groups : ndarray of shape (n,)
        n_groups : int
        """
        if self.kernel == "precomputed" or sample_weight is not None or sp.issparse(X):
            raise ValueError("Folds share a kernel matrix of dense rows without weights.")
        if np.shape(X)[0] < LEAST_ROWS or n_groups > MOST_GROUPS:
            raise ValueError(
                f"Folds share the matrix of {LEAST_ROWS} rows, in {MOST_GROUPS} groups."
            )
        model = clone(self)
        X, y = model._check_rows(X, y)
        if X.dtype != np.float64:  # predictions are in float32
            raise ValueError("Folds share a kernel matrix of float64.")
        K = WeightedSystem.of(model, X, y, None).K
        attributes = model._input_attributes()
        return [
            KernelFolds(K, X, y, np.asarray(groups), attributes, frozenset([g]))
            for g in range(n_groups)
        ]

    def report_warnings(self) -> None:
        """Issue the warnings that `fit` would have issued about the rows."""
        warn_if_flat(self._own_kernel(self.X_fit_), self.X_fit_)

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit with each penalty; see :class:`rosenblatt.capabilities.PathModel`.

        The path of rows also has the errors of each row left out, `left_out_residuals`.
        """
        values = checks.path_values(self, parameter, values)
        if isinstance(data, KernelFolds):
            return FoldPath(self._path_models(values, *data.problem()), data)
        X, y, sample_weight = rows_of(data)
        model = clone(self)
        X, y = model._check_rows(X, y)
        system = WeightedSystem.of(self, X, y, sample_weight)
        return PenaltyPath(
            self._path_models(values, X, y, system, model._input_attributes()), system
        )

    def _path_models(
        self, values: Sequence[Any], X: Any, y: Any, system: "WeightedSystem", attributes: Any
    ) -> list["KernelRidge"]:
        """Return a model for each penalty, fitted to rows X with their system."""
        with one_blas_thread():
            solutions = system.solve_all([np.atleast_1d(value) for value in values])
        models = [clone(self).set_params(alpha=value) for value in values]
        for model, c in zip(models, solutions, strict=True):
            vars(model).update(attributes)
            model._publish(X, y, c)
        return models

    def _input_attributes(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name.endswith("_in_")}


class WeightedSystem:
    """``(K + alpha / s) c = t`` as ``(r K r + alpha I) (c / r) = r t``, r = sqrt(s)."""

    def __init__(self, K: Array, t: Array, roots: Array) -> None:
        self.roots = roots[:, np.newaxis]
        plain = bool((roots == 1).all())
        self.K = K if plain else K * self.roots * roots
        self.t = t * self.roots

    @staticmethod
    def of(model: KernelRidge, X: Any, y: NDArray[Any], sample_weight: Any) -> "WeightedSystem":
        """Return the system of rows X, their targets y and weights."""
        wide = X.astype(np.float64)  # eigenvalues near zero are lost in 32 bits
        with one_blas_thread():
            many = wide.shape[0] >= MANY_UNKNOWNS
            K = np.asarray(interruptible(lambda: model._get_kernel(wide), many), np.float64)
        weight = checks.weights(sample_weight, wide.shape[0], ones=True, dtype=None)
        return WeightedSystem(K, y.reshape(len(y), -1).astype(np.float64), np.sqrt(weight))

    def solve_all(self, alphas: list[NDArray[Any]]) -> list[Array]:
        """Return c (n, t) for each penalty; a penalty is one number, or one for each target."""
        n_targets = self.t.shape[1]
        if any(alpha.size not in (1, n_targets) for alpha in alphas):
            raise ValueError(
                f"alpha must be one number, or one for each of {n_targets} targets; got "
                f"{[alpha.size for alpha in alphas]}."
            )
        if all(alpha.size == 1 for alpha in alphas):
            shifts = [float(alpha.item()) for alpha in alphas]
            return [c * self.roots for c in self._shifted(self.t, shifts)]
        by_target = [
            self._shifted(self.t[:, [j]], [float(np.broadcast_to(a, n_targets)[j]) for a in alphas])
            for j in range(n_targets)
        ]
        return [np.hstack(columns) * self.roots for columns in zip(*by_target, strict=True)]

    def _shifted(self, t: Array, shifts: list[float]) -> list[Array]:
        try:
            many = len(self.K) >= MANY_UNKNOWNS
            return interruptible(lambda: solve_shifted(self.K, t, shifts), many)
        except scipy.linalg.LinAlgError:
            return [self._one(t, shift) for shift in shifts]

    def _one(self, t: Array, shift: float) -> Array:
        """Return the solution for one shift; the shortest if the matrix is singular."""
        try:
            return solve_one(self.K, t, shift)
        except scipy.linalg.LinAlgError:
            reason = ""
            if len(self.K) <= MOST_ROWS_OF_EIGENVALUES:
                least = float(scipy.linalg.eigvalsh(self.K, subset_by_index=[0, 0])[0]) + shift
                reason = f": its least eigenvalue is {least:.3g}"
            warn(
                "Singular matrix in solving dual problem. Using least-squares solution instead: K "
                f"with alpha={shift:g} on its diagonal is not positive definite{reason}."
            )
            shifted = self.K + shift * np.eye(len(self.K))
            return np.asarray(scipy.linalg.lstsq(shifted, t)[0])


class PenaltyPath(ModelPath):
    """The models at some penalties, with leave-one-out residuals."""

    def __init__(self, models: Sequence[KernelRidge], system: WeightedSystem) -> None:
        super().__init__(models)
        self.system = system

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of all models: shape (len, n), or (len, n, t) for t targets."""
        first = self.models[0]
        n, *targets = first.dual_coef_.shape
        together = copy(first)  # one kernel for all coefficients
        together.dual_coef_ = np.hstack([model.dual_coef_.reshape(n, -1) for model in self.models])
        found: NDArray[Any] = together.predict(X)
        return found.reshape(len(found), len(self), *targets).swapaxes(0, 1)

    def left_out_residuals(self) -> Array:
        """Return the residual of each row in the fit without it, (len, n[, t]).

        With ``G = (K + alpha / s)^-1`` it is ``c_i / G_ii``: one eigendecomposition gives all.

        Examples
        --------
        >>> from rosenblatt import KernelRidge
        >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, -1.0]
        >>> path = KernelRidge(kernel="rbf").fit_path((X, t), "alpha", [0.01, 0.1, 1.0])
        >>> (path.left_out_residuals() ** 2).mean(axis=1).round(3)
        array([0.404, 0.423, 0.483])
        """
        with one_blas_thread():
            values, vectors = np.linalg.eigh(self.system.K)
            squares, roots = vectors**2, self.system.roots
            found = []
            for model in self.models:
                alpha = np.atleast_1d(model.alpha).astype(np.float64)
                G = squares @ (1 / (np.maximum(values, 0)[:, np.newaxis] + alpha))
                c = model.dual_coef_.reshape(len(G), -1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    left = np.where(roots > 0, c / (G * roots**2), np.nan)
                found.append(left.reshape(model.dual_coef_.shape))
        return np.stack(found)


@dataclass(frozen=True, eq=False)
class KernelFolds:
    """Some groups of the rows of a search, with the kernel of all rows; ``+`` unites groups."""

    K: Array  # (n, n), of all rows
    X: NDArray[Any]
    y: NDArray[Any]
    group: NDArray[np.intp]  # of each row (n,)
    attributes: dict[str, Any]  # that describe the input
    groups: frozenset[int]

    can_refit = True  # a sum of all groups gives the models of all rows

    def __add__(self, other: "KernelFolds") -> "KernelFolds":
        return replace(self, groups=self.groups | other.groups)

    def __reduce__(self) -> Any:
        return type(None), ()  # other processes fit their folds themselves

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of these groups."""
        return np.flatnonzero(np.isin(self.group, list(self.groups)))

    def problem(self) -> tuple[Any, NDArray[Any], WeightedSystem, dict[str, Any]]:
        """Return these rows, their targets and system, and attributes of the input."""
        rows = self.rows
        X, y = self.X[rows], self.y[rows]
        K = self.K if len(rows) == len(self.K) else self.K[np.ix_(rows, rows)]
        t = y.reshape(len(y), -1).astype(np.float64)
        return X, y, WeightedSystem(K, t, np.ones(len(y))), self.attributes


class FoldPath(ModelPath):
    """The models at some penalties, fitted to some groups of rows."""

    def __init__(self, models: Sequence[KernelRidge], data: KernelFolds) -> None:
        super().__init__(models)
        self.data = data

    def answers(self, test: KernelFolds) -> list[NDArray[Any]]:
        """Return the predictions of each model for the rows of the groups left out."""
        places = test.rows
        K = self.data.K[np.ix_(places, self.data.rows)]
        with one_blas_thread():
            return [K @ model.dual_coef_ for model in self.models]


ROW = Row(
    "KernelRidge",
    page="kernel_machines.md",
    certificate="kernel_ridge",
    compare=(
        Candidate(
            "kernel ridge regression",
            "nonlinear regression, on small tables",
            {"gamma": (0.001, 0.01, 0.1), "alpha": (0.001, 0.01, 0.1, 1.0, 10.0)},
            settings={"kernel": "rbf"},
            limits=("few rows for solving pairs",),
            halve="rows",
            order=72,
            slow_on_text=True,
        ),
    ),
    contract=Contract(
        settings=({}, {"kernel": "rbf", "alpha": 0.1}, {"kernel": "poly", "degree": 2}),
        checked=({}, {"kernel": "rbf"}),
        most_rows=500,
    ),
    warm=None,
    peer_tests=("tests/test_kernel_ridge.py",),
)
