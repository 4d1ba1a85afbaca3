"""Shared by `SVC` and `SVR`: checks of rows, passes of the solver, scores, the path over C."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Estimator, Passes, StopReason, warn, warn_not_converged
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.kernels.checks import (
    called_kernel,
    check_finite_kernel,
    check_symmetric,
    check_with_training_rows,
    is_positive_semidefinite,
)
from rosenblatt.kernels.functions import Kernel, canonical
from rosenblatt.kernels.kernel_matrix import MEGABYTE, KernelMatrix, KernelScores, kernel_of
from rosenblatt.runtime.threads import one_blas_thread

from .smo import BoxProblem, Smo, Solution
from .training_rows import Array, TrainingRows, widest_columns

Problems = Sequence[tuple[NDArray[np.intp], BoxProblem]]  # the rows of each, and its dual
Attributes = Callable[[list[Solution]], dict[str, Any]]  # the fitted attributes by solutions

MOST_ROWS_OF_EIGENVALUES = 2_000
NO_LIMIT = 1 << 62  # steps
REASONS: tuple[StopReason, ...] = ("max_iter", "no_progress", "converged")  # the worst first

KERNELS = [StrOptions({"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"}), callable]


class KernelSVM(CallbackSupportMixin, Estimator):  # type: ignore[misc]
    """Support vector machine with a kernel: for classification and regression."""

    _scores: KernelScores | None = None  # of the support vectors
    _X_fit: Any = None  # the training rows, for a kernel function
    _path_cache: "PathCache | None" = None  # in a path: the state of the fit with the last C

    def _training_rows(self, X: Any) -> Any:
        """Return checked rows, or their kernel matrix."""
        self._X_fit = self._scores = None
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            self._X_fit = X
            X = called_kernel(self.kernel, X, X)
        elif self.kernel == "precomputed":
            if sp.issparse(X):
                raise TypeError("Sparse precomputed kernels are not supported.")
            X = checks.rows(self, X, reset=True, order="C", finite=False)
            check_finite_kernel(X)
        else:
            X = canonical(checks.rows(self, X, reset=True, order="C"))
            self.shape_fit_ = X.shape
            return X
        check_symmetric(X)
        if len(X) <= MOST_ROWS_OF_EIGENVALUES and not is_positive_semidefinite(X):
            least = float(np.linalg.eigvalsh(X.astype(np.float64))[0])
            warn(
                "The kernel matrix is not positive semidefinite: its least eigenvalue is "
                f"{least:.3g}. The solution may then depend on the order of the rows."
            )
        self.shape_fit_ = X.shape if self._X_fit is None else np.shape(self._X_fit)
        return X

    def _rows_to_score(self, X: Any) -> Any:
        check_is_fitted(self)
        if self._X_fit is not None:
            return called_kernel(self.kernel, X, self._X_fit)
        if self.kernel == "precomputed":
            check_with_training_rows(X, self.shape_fit_[0], type(self).__name__)
        elif self.support_vectors_.shape[0] != self.n_support_.sum():
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")
        return canonical(checks.rows(self, X, order="C"))

    def _solve(
        self, rows: TrainingRows, problems: Problems, passes: Passes, attributes: Attributes
    ) -> None:
        """Solve problems of some rows each, a working set per pass; set the fitted attributes."""
        solutions = [Solution.zero(problem) for _, problem in problems]
        passes.attributes = lambda: attributes(solutions)
        with one_blas_thread():
            working_sets = self._improve(rows, problems, solutions, passes.has_callbacks)
            for _ in passes:
                if next(working_sets, len(problems)) == len(problems):
                    reasons = {solution.reason for solution in solutions}
                    passes.stop(next(reason for reason in REASONS if reason in reasons))
        if self._path_cache:
            self._path_cache.keep([problem for _, problem in problems], solutions, self.C)
        self.stop_reason_, self.n_sweeps_ = passes.stop_reason, passes.n_iter
        self._warn_not_converged(solutions, rows)
        self.__dict__.update(attributes(solutions))
        if rows.kernel is not None:
            self._scores = KernelScores(self._fitted_kernel(), self.support_vectors_)

    def _improve(
        self, rows: TrainingRows, problems: Problems, solutions: list[Solution], watched: bool
    ) -> Iterator[int]:
        """Solve the problems; yield how many are solved after each working set.

        Solutions are set when a problem is solved and, if `watched`, after each working set.
        """
        path, start = self._path_cache, None
        most = NO_LIMIT if self.max_iter < 0 else self.max_iter
        for number, (places, problem) in enumerate(problems):
            if path:
                blocks = path.blocks_of(number, rows, places)
                start = path.start_of(number, self.C)
            else:
                blocks = rows.blocks(places)
            solver = Smo(problem, blocks, self.tol, most, start, bool(self.shrinking))
            reason = None
            while reason is None:
                reason = solver.advance()
                if watched or reason:
                    solutions[number] = solver.solution(reason or "callback")
                yield number + bool(reason)

    def _warn_not_converged(self, solutions: list[Solution], rows: TrainingRows) -> None:
        """Warn if a solution misses the tolerance."""
        short = [run for run in solutions if run.reason in ("max_iter", "no_progress")]
        self.fit_status_ = int(bool(short))
        if not short:
            return
        worst, steps = max(run.violation for run in short), max(run.n_steps for run in short)
        limit, cure = f"(max_iter={self.max_iter})", "raise max_iter"
        if short[0].reason == "no_progress":
            limit, cure = f"(no progress, after {steps:,} steps in all)", "lower C"
        names = getattr(self, "feature_names_in_", None)
        warn_not_converged(
            f"Solver terminated early {limit}: slopes are off by {worst:.3g}, wanted was "
            f"tol={self.tol:g}. Consider pre-processing your data with StandardScaler or "
            f"MinMaxScaler, {cure}, or bound the remaining error with certify(model, X, y)."
            + ("" if rows.is_matrix else widest_columns(rows.X, names))
        )

    def _sums(self, X: Any, ends: Sequence[int] = ()) -> Array:
        """Return ``sum_j a_kj K(x, x_j)`` (g, n, c) over groups of supports, each up to its end."""
        a = self.dual_coef_.toarray() if sp.issparse(self.dual_coef_) else self.dual_coef_
        a = np.ascontiguousarray(a, np.float64)
        with one_blas_thread():
            if self._X_fit is not None or self.kernel == "precomputed":
                groups = np.split(np.arange(a.shape[1]), ends[:-1])
                K = X[:, self.support_]
                return np.stack([K[:, some] @ a[:, some].T for some in groups])
            if self._scores is None:
                self._scores = KernelScores(self._fitted_kernel(), self.support_vectors_)
            return self._scores(X, a, ends)

    def _fitted_kernel(self) -> Kernel:
        if isinstance(self.kernel, Kernel):
            return self.kernel
        return kernel_of(  # type: ignore[return-value]
            self.kernel, None, gamma=self.gamma_, degree=self.degree, coef0=self.coef0
        )

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: supports, their weights, the intercept."""
        if not hasattr(self, "dual_coef_"):
            return {}
        coef = self.dual_coef_
        return {
            "supports": self.support_,
            "support_weights": coef.toarray() if sp.issparse(coef) else coef,
            "intercept": self.intercept_,
        }

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("C",)``."""
        return ("C",)

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit with each C, from where the next smaller one ended, on the same kernel blocks.

        Takes and returns the same as `capabilities.PathModel.fit_path`.
        """
        X, y, sample_weight = rows_of(data)
        values = checks.path_values(self, parameter, values)
        models = [clone(self).set_params(C=C) for C in values]
        cache = PathCache()
        for model in sorted(models, key=lambda model: model.C):
            model._path_cache = cache
            try:
                model.fit(X, y, sample_weight)
            finally:
                del model._path_cache
        return ModelPath(models)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: state[name] for name in state if name != "_scores"}


class PathCache:
    """Kernel blocks and coefficients of the last fit along a path over C."""

    def __init__(self) -> None:
        self.blocks: dict[int, KernelMatrix] = {}
        self.found: list[tuple[Array, bool]] = []  # coefficients; True if most are bounded
        self.C = 1.0

    def blocks_of(self, number: int, rows: TrainingRows, places: NDArray[np.intp]) -> KernelMatrix:
        """Return the kernel blocks of a problem, cached while all fit into the budget of one."""
        if number in self.blocks:
            return self.blocks[number]
        blocks = rows.blocks(places)
        held = sum(other.kept.nbytes for other in self.blocks.values())
        if held + blocks.kept.nbytes <= rows.megabytes * MEGABYTE:
            self.blocks[number] = blocks
        return blocks

    def start_of(self, number: int, C: float) -> Array | None:
        """Return the start of a problem: bounded coefficients grow with C, free ones hardly do."""
        ratio = C / self.C
        if number >= len(self.found) or not np.isfinite(ratio):
            return None
        b, mostly_bounded = self.found[number]
        return b * ratio if mostly_bounded else b

    def keep(self, problems: list[BoxProblem], solutions: list[Solution], C: float) -> None:
        """Store the coefficients of the fit with one C."""
        self.found, self.C = [], C
        for problem, solution in zip(problems, solutions, strict=True):
            b = solution.b
            bounded = (b != 0) & ((b <= problem.low) | (b >= problem.high))
            mostly_bounded = bool(2 * np.count_nonzero(bounded) > np.count_nonzero(b))
            self.found.append((b, mostly_bounded))


def row_weights(n: int, sample_weight: Any) -> Array:
    """Return weights (n,), with negative ones set to 0: such rows are left out."""
    if sample_weight is None:
        return np.ones(n)
    weight = checks.weights(sample_weight, n, ones=True, negative=True, all_zero=True)
    weight = np.maximum(weight, 0.0)
    if not weight.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return np.asarray(weight)
