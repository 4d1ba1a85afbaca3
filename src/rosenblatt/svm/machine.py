"""What kernel machines share: rows and their kernel, runs of the solver, and scores of new rows."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.base import FLOATS, Passes, callers_level, is_as_fitted, naming_columns
from rosenblatt.kernels.blocks import KernelBlocks, KernelScores, PrecomputedBlocks
from rosenblatt.kernels.dual import row_keys
from rosenblatt.kernels.functions import Gaussian, Kernel, Laplacian, canonical
from rosenblatt.kernels.gram import (
    check_finite_pairs,
    check_symmetric,
    check_with_training_rows,
    gamma_of,
    is_positive_semidefinite,
    kernel_of,
)
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.smo import BoxProblem, Smo

Floats = NDArray[np.float64]

ENDLESS = 1 << 62
MOST_ROWS_OF_EIGENVALUES = 2_000
SMALL = 1 << 20  # cells of sparse rows that are compared as dense ones
SAMPLE = 64  # rows whose kernel shows whether its width suits them
FLAT = 1e-6  # a kernel whose values are all within this of 0, or of 1, sees no difference


class TrainingRows:
    """The rows of a fit, and what gives blocks of their kernel."""

    def __init__(self, model: Any, X: Any, labels: NDArray[Any], weight: Floats) -> None:
        self.X, self.megabytes = X, model.cache_size
        self.wide = X.astype(np.float64, copy=False)
        if sp.issparse(X) and X.shape[0] * X.shape[1] <= SMALL:  # the bits of dense rows
            self.wide = self.wide.toarray()
        self.matrix = model.kernel == "precomputed" or (
            callable(model.kernel) and not isinstance(model.kernel, Kernel)
        )
        self.first, self.group = self._groups(labels, weight)
        of_groups = summed(self.group, weight, len(self.first))
        self.kernel, self.gamma = self._kernel(model, of_groups)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def _groups(
        self, labels: NDArray[Any], weight: Floats
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first of equal rows of one label, and the number (n,) of each row's group.

        Rows without a weight have none, -1. Groups are sorted, so that a row of weight two, a row
        given twice, and rows in another order or storage all give the same problem.
        """
        counted = np.flatnonzero(weight > 0)
        group = np.full(len(self), -1, np.intp)
        if self.matrix:  # which does not show for certain which rows are equal
            group[counted] = np.arange(len(counted))
            return counted, group
        keys = zip(row_keys(self.X[counted]), labels[counted].tolist(), strict=True)
        number: dict[Any, int] = {}
        group[counted] = [number.setdefault(key, len(number)) for key in keys]
        first = counted[np.unique(group[counted], return_index=True)[1]]
        direction = np.random.default_rng(0).normal(size=self.X.shape[1])
        order = np.lexsort((labels[first], self.wide[first] @ direction))
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        group[counted] = place[group[counted]]
        return first[order], group

    def _kernel(self, model: Any, weight: Floats) -> tuple[Any, float | None]:
        """The kernel and its gamma; None for a matrix, given or computed by a function."""
        if self.matrix or isinstance(model.kernel, Kernel):
            return (None if self.matrix else model.kernel), None
        X = self.wide[self.first]
        # Twelve digits, so that other storage and repeated rows, summed in another order, agree.
        try:
            rate = float(f"{gamma_of(model.gamma, X, weight):.12g}")
        except ValueError as error:
            raise ValueError(
                "The dual coefficients or intercepts are not finite. The input data may contain "
                f"large values and need to be preprocessed: {error}"
            ) from error
        return kernel_of(model.kernel, X, gamma=rate, degree=model.degree, coef0=model.coef0), rate

    def blocks(self, rows: NDArray[np.intp]) -> Any:
        """What gives the kernel of some rows with each other."""
        X = self.wide
        if self.kernel is None:
            return PrecomputedBlocks(X[np.ix_(rows, rows)])
        return KernelBlocks(self.kernel, X[rows], self.megabytes)

    def warn_if_flat(self) -> None:
        """Warn if a Gaussian or Laplacian kernel is all ones or all zeros on these rows."""
        if not isinstance(self.kernel, Gaussian | Laplacian) or len(self) < 3:
            return
        some = self.wide[:: max(1, len(self) // SAMPLE)][:SAMPLE]
        squared = isinstance(self.kernel, Gaussian)
        apart = pdist(
            some.toarray() if sp.issparse(some) else some, "sqeuclidean" if squared else "cityblock"
        )
        apart = apart[apart > 0]
        K = np.exp(-self.kernel.gamma * apart)
        if not len(K) or (K.max() > FLAT and K.min() < 1 - FLAT):
            return
        values = "0: each row is like no other" if K.max() <= FLAT else "1: all rows look alike"
        warnings.warn(
            f"The kernel of different rows is about {values} with gamma={self.kernel.gamma:.3g}. "
            f"Standardise X, or try gamma={1 / float(np.median(apart)):.3g}, which suits the "
            "distances between these rows.",
            stacklevel=callers_level(),
        )


def warn_if_indefinite(K: NDArray[Any]) -> None:
    """Warn, with the eigenvalue, if a matrix holds no scalar products."""
    if len(K) > MOST_ROWS_OF_EIGENVALUES or is_positive_semidefinite(K):
        return
    least = float(np.linalg.eigvalsh(K.astype(np.float64))[0])
    warnings.warn(
        f"The kernel matrix is not positive semidefinite: its least eigenvalue is {least:.3g}. The "
        "problem then has no unique solution, and the answer may depend on the order of the rows.",
        stacklevel=callers_level(),
    )


def summed(group: NDArray[np.intp], cost: Floats, n_groups: int) -> Floats:
    """The cost of each group of rows; those of no group, -1, have none."""
    counted = group >= 0
    return np.asarray(np.bincount(group[counted], cost[counted], n_groups), np.float64)


class Run(NamedTuple):
    """What one problem came to."""

    b: Floats  # coefficients (n,)
    f: Floats  # scores (n,), without the intercept
    intercept: float
    n_steps: int
    violation: float
    reason: str
    dual: float  # the objective of the dual, to be maximised


class Runs:
    """Problems solved one after the other, a working set at a time."""

    def __init__(self, model: Any, rows: TrainingRows) -> None:
        self.rows, self.tol = rows, model.tol
        self.most = ENDLESS if model.max_iter < 0 else model.max_iter
        self.waiting: list[tuple[NDArray[np.intp], BoxProblem, Floats | None]] = []
        self.done: list[Run] = []
        self.now: Smo | None = None

    def add(self, rows: NDArray[np.intp], problem: BoxProblem, start: Floats | None) -> None:
        """Take on the problem of some rows, from coefficients `start` on if there are any."""
        self.waiting.append((rows, problem, start))

    def advance(self) -> Any:
        """Improve one working set; return why to stop when all problems are solved."""
        if self.now is None:
            rows, problem, start = self.waiting[len(self.done)]
            self.now = Smo(problem, self.rows.blocks(rows), self.tol, self.most, start)
        reason = self.now.advance()
        if reason is None:
            return None
        self.done.append(_concluded(self.now, reason))
        self.now = None
        if len(self.done) < len(self.waiting):
            return None
        reasons = {run.reason for run in self.done}
        return next(word for word in ("max_iter", "no_progress", "converged") if word in reasons)

    def results(self) -> list[Run]:
        """All runs as they stand; those that have not begun are at zero."""
        found = [*self.done]
        if self.now is not None:
            found.append(_concluded(self.now, "callback"))
        for rows, _, _ in self.waiting[len(found) :]:
            nothing = np.zeros(len(rows))
            found.append(Run(nothing, nothing, 0.0, 0, np.inf, "callback", 0.0))
        return found


def _concluded(smo: Smo, reason: str) -> Run:
    c, _, _, kink = smo.problem
    dual = -(0.5 * smo.b @ smo.f + c @ smo.b + kink * np.abs(smo.b).sum())
    return Run(
        smo.b.copy(), smo.f.copy(), smo.intercept, smo.n_steps, smo.violation, reason, float(dual)
    )


class KernelMachine:
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

    # Rows.

    def _training_rows(self, X: Any) -> Any:
        """Rows or a kernel matrix, checked."""
        self._X_fit = self._scores = None
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            self._X_fit = X
            X = self._matrix(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError("X.shape[0] should be equal to X.shape[1]")
        elif self.kernel == "precomputed":
            if sp.issparse(X):
                raise TypeError("Sparse precomputed kernels are not supported.")
            X = validate_data(self, X, dtype=FLOATS, order="C", ensure_all_finite=False)
            check_finite_pairs(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    "Precomputed matrix must be a square matrix."
                    f" Input is a {X.shape[0]}x{X.shape[1]} matrix."
                )
            check_symmetric(X)
            warn_if_indefinite(X)
        else:
            X = validate_data(self, X, dtype=FLOATS, order="C", accept_sparse="csr")
        self.shape_fit_ = X.shape if self._X_fit is None else np.shape(self._X_fit)
        return canonical(X)

    def _matrix(self, X: Any) -> NDArray[np.float64]:
        """The kernel of rows with those of the fit, by the function that was given."""
        K = self.kernel(X, self._X_fit)
        K = np.asarray(K.toarray() if sp.issparse(K) else K, np.float64, order="C")
        check_finite_pairs(K)
        return K

    def _rows_to_score(self, X: Any) -> Any:
        check_is_fitted(self)
        if self._X_fit is not None:
            K = self._matrix(X)
            if K.shape[1] != self.shape_fit_[0]:
                raise ValueError(
                    f"X.shape[1] = {K.shape[1]} should be equal to {self.shape_fit_[0]}, the "
                    "number of samples at training time"
                )
            return K
        if is_as_fitted(self, X) and np.isfinite(X.sum()) and self.kernel != "precomputed":
            self._check_unaltered()
            return np.ascontiguousarray(X)
        with naming_columns(X):
            if self.kernel == "precomputed":
                check_with_training_rows(X, self.shape_fit_[0], type(self).__name__)
            X = validate_data(
                self, X, accept_sparse="csr", dtype=FLOATS, order="C", reset=False,
            )  # fmt: skip
        if self.kernel != "precomputed":
            self._check_unaltered()
        return canonical(X)

    def _check_unaltered(self) -> None:
        if self.support_vectors_.shape[0] != self.n_support_.sum():  # type: ignore[attr-defined]
            raise ValueError(f"The internal representation of {type(self).__name__} was altered")

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
        self._warn_not_converged(results)
        return results

    def _warn_not_converged(self, runs: list[Run]) -> None:
        """Warn if a run stopped short of the tolerance."""
        short = [run for run in runs if run.reason in ("max_iter", "no_progress")]
        self.fit_status_ = int(bool(short))
        if not short:
            return
        worst = max(run.violation for run in short)
        limit = f"(max_iter={self.max_iter})" if short[0].reason == "max_iter" else "(rounding)"
        warnings.warn(
            f"Solver terminated early {limit}: slopes are off by {worst:.3g}, and tol={self.tol:g} "
            "was asked for. Consider pre-processing your data with StandardScaler or MinMaxScaler, "
            "raise max_iter, or see how far from the best it is with certify(model, X, y).",
            ConvergenceWarning,
            stacklevel=callers_level(),
        )

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: state[name] for name in state if name != "_scores"}
