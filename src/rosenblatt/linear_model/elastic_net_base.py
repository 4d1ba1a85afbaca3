"""Linear regression with an elastic-net penalty: what its classes share."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED

from rosenblatt import checks
from rosenblatt.base import LinearRegressor, Passes, fitting, warn, warn_not_converged
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.column_descent import Columns
from rosenblatt.statistics import Gram

from . import column_warnings
from .gram_problem import Squares, by_rows, folds_have_grams, penalty_of
from .lasso_fit import (
    NOT_CONVERGED,
    Descending,
    Rows,
    check_gram_given,
    check_rows,
    published,
    rows_of_gram,
)
from .penalty_search import Enough

Array = NDArray[np.float64]
PATIENCE = 20  # iterations without any progress, before it is taken to be rounding


class PenalisedRegressor(CallbackSupportMixin, LinearRegressor):  # type: ignore[misc]
    """A linear fit whose weights are made small by ``alpha`` times their elastic-net norm."""

    # `fit` checks its input always; the argument is scikit-learn's.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"check_input": UNUSED}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "precompute": ["boolean", "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "copy_X": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "warm_start": ["boolean"],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "selection": [StrOptions({"cyclic", "random"})],
    }

    _multi_output = True
    measured_by = ()  # the Gram of the rows depends on no parameter
    simpler_when_larger = ("alpha",)  # of candidates that score alike

    alpha: float
    l1_ratio: float
    fit_intercept: bool
    precompute: Any
    max_iter: int | None
    tol: float | None
    warm_start: bool
    positive: bool
    random_state: Any
    selection: str

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
            Their targets. Each of several is a fit of its own.
        sample_weight : array-like of shape (n,) or None
        check_input : bool
        """
        self._validate_params()
        rows = check_rows(self, X, y, sample_weight)
        with one_blas_thread():
            squares = Squares.of(
                rows.X,
                rows.targets,
                rows.weights,
                fit_intercept=self.fit_intercept,
                precompute=self.precompute,
                path=self._searches(),
            )
            if not isinstance(self.precompute, bool):
                check_gram_given(self.precompute, squares, rows, self.fit_intercept)
            shortfall = self._descend(squares, rows, (X, y, sample_weight))
        if shortfall:
            warn_not_converged(shortfall)
        warn_of_scales(self, squares)
        return self

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("alpha",)`` unless fits depend on where they begin, or look for alpha."""
        moves = self.selection == "random" or self.warm_start or getattr(self, "n_features", None)
        return () if moves else ("alpha",)

    def measure_groups(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: NDArray[np.int64],
        n_groups: int,
        keep: bool = True,
    ) -> list[Gram]:
        """Return the `Gram` of each group of rows, from one read of a tall table.

        Parameters
        ----------
        X, y, sample_weight : the rows, their targets and weights.
        groups : ndarray of shape (n,)
        n_groups : int
        keep : bool
        """
        template = clone(self)
        rows = check_rows(template, X, y, sample_weight)
        if not folds_have_grams(rows.X, groups, n_groups):
            raise ValueError(f"X is too wide for products of {n_groups} groups of rows.")
        targets = rows.targets[:, 0] if rows.flat else rows.targets
        names = getattr(template, "feature_names_in_", None)
        return [
            replace(gram, feature_names=None if names is None else tuple(names))
            for gram in Gram.by_group(by_rows(rows.X), targets, groups, n_groups, rows.weights)
        ]

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit at many penalties, each from where the next larger one ended.

        Data, parameter and path are those of `capabilities.PathModel`; penalties are >= 0.
        """
        values = checks.path_values(self, parameter, values)
        template, fit_intercept = clone(self), bool(self.fit_intercept)
        if isinstance(data, Gram):
            rows, squares = rows_of_gram(template, data), Squares.of_gram(data, fit_intercept)
        else:
            rows = check_rows(template, *rows_of(data))
            squares = Squares.of(
                rows.X, rows.targets, rows.weights, fit_intercept=fit_intercept, path=True
            )
        models = [copy(template).set_params(alpha=alpha) for alpha in values]
        coefs = np.zeros((len(squares.descents), squares.n_features))
        with one_blas_thread():
            for model in sorted(models, key=lambda model: -model.alpha):
                shortfall = model._descend(squares, rows, (None, None, None), coefs)
                if shortfall:
                    warn_not_converged(shortfall)
        return ModelPath(models)

    def _descend(
        self,
        squares: Squares,
        rows: Rows,
        data: tuple[Any, Any, Any],
        start: Array | None = None,
    ) -> str:
        """Fit, and publish; return a sentence if the tolerance was missed, else nothing."""
        coefs = self._start(squares) if start is None else start
        passes = Passes(self, *data, self.max_iter)
        tried = self._reporter(passes, squares, rows) if passes.has_callbacks else None
        alpha = self._choose_alpha(squares, coefs, tried)
        penalty = penalty_of(alpha, self.l1_ratio, self.positive)
        rng = check_random_state(self.random_state) if self.selection == "random" else None
        runs = []
        for descent, w in zip(squares.descents, coefs, strict=True):
            wanted = -1.0 if self.tol is None else self.tol * descent.yy
            steps = descent.steps(penalty, w, max(0.0, wanted), rng)
            runs.append(Descending(descent, penalty, w, wanted, steps))

        passes.attributes = lambda: published(squares, coefs, runs, alpha, rows)
        if passes.has_callbacks:  # the start is a step, too
            for run, descent, w in zip(runs, squares.descents, coefs, strict=True):
                run.start = descent.at(penalty, w)
        for _ in passes:
            for run in runs:
                if not run.done:
                    run.advance()
            if not all(np.isfinite(run.last.objective) for run in runs):
                passes.stop("diverged")
            elif all(run.done for run in runs):
                passes.stop("converged")
            elif self.tol is not None and all(run.done or run.idle >= PATIENCE for run in runs):
                passes.stop("no_progress")
        if passes.stop_reason == "diverged":
            raise checks.too_large("The squares of X or y are", "rescale them")
        for name, value in published(squares, coefs, runs, alpha, rows).items():
            setattr(self, name, value)
        self.stop_reason_ = passes.stop_reason
        return self._shortfall(runs)

    def _start(self, squares: Squares) -> Array:
        """Weights (t, d) to begin from."""
        coefs = np.zeros((len(squares.descents), squares.n_features))
        if self.warm_start and hasattr(self, "coef_"):
            before = np.atleast_2d(self.coef_)
            checks.warm_start("shape of coef_", before.shape, coefs.shape)
            coefs[:] = before
            if self.positive:
                np.maximum(coefs, 0.0, out=coefs)
        return coefs

    def _searches(self) -> bool:
        """Whether many fits are made to find one."""
        return False

    def _choose_alpha(self, squares: Squares, coefs: Array, tried: Any = None) -> float:
        """The penalty; coefs (t, d), where the fit begins, may be changed.

        A search gives each penalty and its weights to `tried`, which reports them to the
        callbacks, if there are any.
        """
        return float(self.alpha)

    def _reporter(self, passes: Passes, squares: Squares, rows: Rows) -> Callable[..., None]:
        """The function that reports a penalty tried for one target, and its weights (d,)."""

        def state(alpha: float, w: Array) -> Callable[[], dict[str, Any]]:
            penalty, descent = penalty_of(alpha, self.l1_ratio, self.positive), squares.descents[0]
            start = descent.at(penalty, w)
            try_ = Descending(descent, penalty, w, 0.0, iter(()), start=start)
            return lambda: published(squares, w[None], [try_], alpha, rows)

        def tried(alpha: float, w: Array) -> None:
            if not hasattr(passes, "attributes"):
                passes.attributes = state(alpha, np.zeros_like(w))
            passes.report("penalty", state(alpha, w))
            if passes.stop_reason is not None:
                raise Enough

        return tried

    def _shortfall(self, runs: list[Descending]) -> str:
        """A sentence on the target that is furthest from its tolerance, if one is short of it."""
        short = [run for run in runs if not run.done]
        if self.tol is None or not short or self.stop_reason_ == "callback":
            return ""
        worst = max(short, key=lambda run: run.last.gap - run.wanted)
        reached = (
            f"{NOT_CONVERGED} The duality gap is {worst.last.gap:.3g} after {worst.n_iter} "
            "iterations"
        )
        wanted = f"tol={self.tol:g} asks for {worst.wanted:.3g}"
        if self.alpha_ == 0:
            return f"{reached}; {wanted}. Without a penalty it proves little: use LinearRegression."
        if self.stop_reason_ == "no_progress":
            return f"{reached}, and rounding keeps it there; {wanted}. Raise tol, or rescale X."
        return (
            f"{reached}; {wanted}. Raise max_iter={self.max_iter} or tol, standardise the columns "
            "of X, or take a larger alpha."
        )

    @property
    def sparse_coef_(self) -> Any:
        """The weights as a sparse matrix, (1, d) or (t, d)."""
        return sp.csr_matrix(np.atleast_2d(self.coef_))


def warn_of_scales(model: Any, squares: Squares) -> None:
    """Warn if columns vary on scales so different that one penalty cannot serve all."""
    scales = column_warnings.apart(
        squares.variances(), 1.0, squares.mean_x, column_warnings.names_of(model)
    )
    if scales is not None and model.alpha_ > 0:
        warn(scales, LinAlgWarning)


def run_large_loop(model: PenalisedRegressor, X: Any, y: Any) -> None:
    """Run the loop of thousands of weights, which no small table gets to (`rosenblatt warm`)."""
    roots = np.full(X.shape[0], X.shape[0] ** -0.5)
    columns = Columns(X, roots, np.zeros(X.shape[1]))
    penalty = penalty_of(1.0, model.l1_ratio, model.positive)
    columns.sweep(penalty, np.arange(X.shape[1]), np.zeros(X.shape[1]), roots * y)
