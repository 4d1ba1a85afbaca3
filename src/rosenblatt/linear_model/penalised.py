"""Linear regression with an elastic-net penalty: what its classes share."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral, Number, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import _check_sample_weight, validate_data

from rosenblatt.base import (
    FLOATS,
    LinearRegressor,
    Passes,
    callers_level,
    fitting,
    warn_not_converged,
)
from rosenblatt.blas import one_blas_thread
from rosenblatt.solvers import Step
from rosenblatt.solvers.columns import Columns
from rosenblatt.solvers.coordinate import Penalty

from . import doubts
from .squares import Descent, Squares, penalty_of

Array = NDArray[np.float64]
PATIENCE = 20  # iterations without any progress, before it is taken to be rounding


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked input."""

    X: Any  # (n, d)
    targets: NDArray[Any]  # (n, t)
    weights: Array | None  # (n,)
    flat: bool  # whether the target was a vector


@dataclass(eq=False)
class Descending:
    """One target's way down, from w (d,)."""

    descent: Descent
    penalty: Penalty
    w: Array
    wanted: float  # the gap that will do
    steps: Iterator[Step]
    last: Step = field(default_factory=lambda: Step(np.zeros(0), np.inf))
    n_iter: int = 0
    idle: int = 0  # iterations since the objective or the gap fell
    start: Step | None = None  # known if someone is listening

    @property
    def now(self) -> Step:
        """Where it is: at the start, or after the last iteration."""
        return self.last if self.n_iter or self.start is None else self.start

    def advance(self) -> None:
        """Make one iteration; and if that will do, go the last of the way at once."""
        step = next(self.steps)
        if step.gap <= self.wanted:
            step = self.descent.finish(self.penalty, self.w, step)
        progress = step.objective < self.last.objective or step.gap < self.last.gap
        self.last, self.n_iter = step, self.n_iter + 1
        self.idle = 0 if progress else self.idle + 1

    @property
    def done(self) -> bool:
        """Whether the gap is what was wanted."""
        return self.last.gap <= self.wanted


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

    # Fits that compile the loops for tall tables, and those for wide ones (see `rosenblatt warm`).
    _rehearsals: ClassVar[tuple[dict[str, Any], ...]] = ({"alpha": 0.01},)
    _rehearsed_widths = (3, 20)

    _simpler_when_larger = ("alpha",)  # of candidates that score alike

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
        """Learn from X (n, d) and targets y (n,) or (n, t); return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,) or (n, t)
            Their targets. Each of several is a fit of its own.
        sample_weight : array-like of shape (n,) or None
            The rows' weights; a weight of two is a row twice.
        check_input : bool
            Accepted for scikit-learn's sake; input is checked always.
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
            shortfall = self._descend(squares, rows, (X, y, sample_weight))
        if shortfall:
            warn_not_converged(shortfall)
        warn_of_scales(self, squares)
        return self

    def _descend(
        self,
        squares: Squares,
        rows: Rows,
        data: tuple[Any, Any, Any],
        start: Array | None = None,
    ) -> str:
        """Fit, and publish; say what is missing to the tolerance, if anything is."""
        coefs = self._start(squares) if start is None else start
        alpha = self._choose_alpha(squares, coefs)
        penalty = penalty_of(alpha, self.l1_ratio, self.positive)
        rng = check_random_state(self.random_state) if self.selection == "random" else None
        runs = []
        for descent, w in zip(squares.descents, coefs, strict=True):
            wanted = -1.0 if self.tol is None else self.tol * descent.yy
            steps = descent.steps(penalty, w, max(0.0, wanted), rng)
            runs.append(Descending(descent, penalty, w, wanted, steps))

        passes = Passes(self, *data, self.max_iter)
        passes.attributes = lambda: published(squares, coefs, runs, alpha, rows)
        if passes.listening:  # the start is a step, too
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
            raise ValueError(
                "The squares of X or y are too large for 64 bits: the objective is not finite. "
                "Rescale them, for instance by StandardScaler."
            )
        for name, value in published(squares, coefs, runs, alpha, rows).items():
            setattr(self, name, value)
        self.stop_reason_ = passes.stop_reason
        return self._shortfall(runs)

    def _start(self, squares: Squares) -> Array:
        """Weights (t, d) to begin from."""
        coefs = np.zeros((len(squares.descents), squares.n_features))
        if self.warm_start and hasattr(self, "coef_"):
            before = np.atleast_2d(self.coef_)
            if before.shape != coefs.shape:
                raise ValueError(
                    f"warm_start=True begins from coef_ of shape {before.shape}, but X and y ask "
                    f"for {coefs.shape}; use warm_start=False for other columns or targets."
                )
            coefs[:] = before
            if self.positive:
                np.maximum(coefs, 0.0, out=coefs)
        return coefs

    def _searches(self) -> bool:
        """Whether many fits are made to find one."""
        return False

    def _choose_alpha(self, squares: Squares, coefs: Array) -> float:
        """The penalty; coefs (t, d), where the fit begins, may be changed."""
        return float(self.alpha)

    def _rehearse_large(self, X: Any, y: Any) -> None:
        """Run the loop of fits with thousands of weights, which no small table gets to."""
        roots = np.full(X.shape[0], X.shape[0] ** -0.5)
        columns = Columns(X, roots, np.zeros(X.shape[1]))
        penalty = penalty_of(1.0, self.l1_ratio, self.positive)
        columns.sweep(penalty, np.arange(X.shape[1]), np.zeros(X.shape[1]), roots * y)

    def _shortfall(self, runs: list[Descending]) -> str:
        """A sentence on the target that is furthest from its tolerance, if one is short of it."""
        short = [run for run in runs if not run.done]
        if self.tol is None or not short or self.stop_reason_ == "callback":
            return ""
        worst = max(short, key=lambda run: run.last.gap - run.wanted)
        reached = f"The duality gap is {worst.last.gap:.3g} after {worst.n_iter} iterations"
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def check_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Rows, targets and weights, checked; a weight that is one number says nothing."""
    X, y = validate_data(
        estimator, X, y, accept_sparse=("csr", "csc"), dtype=FLOATS, multi_output=True,
        y_numeric=True,
    )  # fmt: skip
    y = y.toarray() if sp.issparse(y) else y
    weights = None
    if sample_weight is not None and not isinstance(sample_weight, Number):
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return Rows(X, y.reshape(len(y), -1), weights, y.ndim == 1)


def warn_of_scales(model: Any, squares: Squares) -> None:
    """Warn if columns vary on scales so different that one penalty cannot serve all."""
    scales = doubts.apart(squares.variances(), 1.0, squares.mean_x, doubts.names_of(model))
    if scales is not None and model.alpha_ > 0:
        warnings.warn(scales, LinAlgWarning, stacklevel=callers_level())


def models_along(models: list[Any], squares: Squares, rows: Rows) -> None:
    """Fit models that differ in alpha alone, each from where the next larger alpha ended."""
    coefs = np.zeros((len(squares.descents), squares.n_features))
    with one_blas_thread():
        for model in sorted(models, key=lambda model: -model.alpha):
            shortfall = model._descend(squares, rows, (None, None, None), coefs)
            if shortfall:
                warnings.warn(shortfall, ConvergenceWarning, stacklevel=2)


def published(
    squares: Squares,
    coefs: Array,
    runs: list[Descending],
    alpha: float,
    rows: Rows,
) -> dict[str, Any]:
    """The fitted attributes as they are now: numbers for one target, lists of them for several."""
    found: dict[str, Any] = {
        "n_iter_": [run.n_iter for run in runs],
        "objective_": np.array([run.now.objective for run in runs]),
        "dual_gap_": np.array([run.now.gap for run in runs]),
        "gradient_norm_": np.array([run.now.gradient_norm for run in runs]),
    }
    coef, intercept = coefs.astype(rows.X.dtype), squares.intercepts(coefs)
    intercept = intercept.astype(rows.X.dtype)
    if len(runs) == 1:
        coef = coef[0]
        found = {name: values[0] for name, values in found.items()}
        found |= {name: float(found[name]) for name in found if name != "n_iter_"}
    # scikit-learn keeps the intercept of a single column of targets in an array.
    return {
        "coef_": coef,
        "intercept_": intercept[0] if rows.flat else intercept,
        **found,
        "alpha_": alpha,
    }
