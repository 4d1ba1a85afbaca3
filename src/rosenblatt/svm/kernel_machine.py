"""What kernel machines share: checks of rows, passes of the solver, scores, the path over C."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, warn
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.kernels.blocks import KernelScores
from rosenblatt.kernels.functions import Kernel, canonical
from rosenblatt.kernels.gram import (
    called_kernel,
    check_finite_kernel,
    check_symmetric,
    check_with_training_rows,
    kernel_of,
)
from rosenblatt.kernels.shared_products import SharesProducts
from rosenblatt.runtime.blas import one_blas_thread

from .training_rows import Floats, TrainingRows, warn_if_indefinite, widest_columns
from .warm_starts import Run, Runs, Warmth


class KernelMachine(SharesProducts):
    """Checks of rows, runs of the solver and scores, for classification and regression."""

    kernel: Any
    gamma: Any
    tol: float
    max_iter: int
    cache_size: float
    degree: int
    coef0: float
    gamma_: float | None
    support_: NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: Floats
    shape_fit_: tuple[int, ...]
    _scores: KernelScores | None = None  # supports, ready to be compared with
    _X_fit: Any = None  # what a kernel function compares new rows with
    _warmth: Warmth | None = None  # of a path: what the fit with the last C left

    # Rows.

    def _training_rows(self, X: Any) -> Any:
        """Rows or a kernel matrix, checked."""
        self._X_fit = self._scores = None
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            self._X_fit = X
            X = self._matrix(X)
            check_symmetric(X)
            warn_if_indefinite(X)
        elif self.kernel == "precomputed":
            if sp.issparse(X):
                raise TypeError("Sparse precomputed kernels are not supported.")
            X = checks.rows(self, X, reset=True, order="C", finite=False)
            check_finite_kernel(X)
            check_symmetric(X)
            warn_if_indefinite(X)
        else:
            X = checks.rows(self, X, reset=True, order="C")
        self.shape_fit_ = X.shape if self._X_fit is None else np.shape(self._X_fit)
        return canonical(X)

    def _matrix(self, X: Any) -> NDArray[np.float64]:
        """The kernel of rows with those of the fit, by the function that was given."""
        return called_kernel(self.kernel, X, self._X_fit)

    def _rows_to_score(self, X: Any) -> Any:
        check_is_fitted(self)
        if self._X_fit is not None:
            return self._matrix(X)
        if self.kernel == "precomputed":
            check_with_training_rows(X, self.shape_fit_[0], type(self).__name__)
        elif self.support_vectors_.shape[0] != self.n_support_.sum():  # type: ignore[attr-defined]
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        return canonical(checks.rows(self, X, order="C"))

    def _sums(self, X: Any, coefficients: Any, some: slice = slice(None)) -> Floats:
        """``sum_j a_kj K(x, x_j)`` (n, c) over some supports, by coefficients a (c, s)."""
        a = coefficients.toarray() if sp.issparse(coefficients) else coefficients
        a = np.ascontiguousarray(a[:, some], np.float64)
        if self._X_fit is not None or self.kernel == "precomputed":
            return np.asarray(X[:, self.support_[some]] @ a.T, np.float64)
        if self._scores is None:
            self._scores = KernelScores(self._fitted_kernel(), self.support_vectors_)
        with one_blas_thread():
            return self._scores(X, a, some)

    def _fitted_kernel(self) -> Kernel:
        if isinstance(self.kernel, Kernel):
            return self.kernel
        rate: Any = self.gamma_
        return kernel_of(  # type: ignore[return-value]
            self.kernel, None, gamma=rate, degree=self.degree, coef0=self.coef0
        )

    def _publish(self, attributes: dict[str, Any]) -> None:
        """Set fitted attributes, and make the supports ready to be compared with."""
        for name, value in attributes.items():
            setattr(self, name, value)
        if self._X_fit is None and self.kernel != "precomputed":
            self._scores = KernelScores(self._fitted_kernel(), self.support_vectors_)

    def _run(self, runs: Runs, passes: Passes) -> list[Run]:
        """Solve all problems, each working set a pass that callbacks see."""
        with one_blas_thread():
            for _ in passes:
                if reason := runs.advance():
                    passes.stop(reason)
        self.stop_reason_, self.n_sweeps_ = passes.stop_reason, passes.n_iter
        results = runs.results()
        self._warn_not_converged(results, runs.rows)
        return results

    def _warn_not_converged(self, runs: list[Run], rows: TrainingRows) -> None:
        """Warn if a run stopped short of the tolerance."""
        short = [run for run in runs if run.reason in ("max_iter", "no_progress")]
        self.fit_status_ = int(bool(short))
        if not short:
            return
        worst, steps = max(run.violation for run in short), max(run.n_steps for run in short)
        limit, cure = f"(max_iter={self.max_iter})", "raise max_iter"
        if short[0].reason == "no_progress":
            limit, cure = f"(no progress, after {steps:,} steps in all)", "lower C"
        warn(
            f"Solver terminated early {limit}: slopes are off by {worst:.3g}, and tol={self.tol:g} "
            "was asked for. Consider pre-processing your data with StandardScaler or MinMaxScaler, "
            f"{cure}, or see how far from the best it is with certify(model, X, y)."
            + (
                ""
                if rows.matrix
                else widest_columns(rows.X, getattr(self, "feature_names_in_", None))
            ),
            ConvergenceWarning,
        )

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit with each C, from where the next smaller one ended, on the same kernel blocks.

        Data, parameter and path are those of `capabilities.PathModel`.
        """
        X, y, sample_weight = rows_of(data)
        values = checks.path_values(self, parameter, values)
        models = [clone(self).set_params(C=C) for C in values]
        warmth = Warmth()
        for model in sorted(models, key=lambda model: model.C):
            model._warmth = warmth
            try:
                model.fit(X, y, sample_weight)
            finally:
                del model._warmth
        return ModelPath(models)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: state[name] for name in state if name != "_scores"}
