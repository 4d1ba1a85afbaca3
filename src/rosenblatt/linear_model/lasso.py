"""Lasso and elastic net: least squares with an L1 penalty, by coordinate descent."""

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
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED

from rosenblatt import checks
from rosenblatt.base import LinearRegressor, Passes, fitting, warn, warn_not_converged
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Gram

from .column_warnings import SCALES_APART, unequal_scales
from .coordinate_descent import Columns, Iterate, Penalty, penalty_of
from .gram_problem import Descent, Squares, by_rows, check_gram_given, check_rows, folds_have_grams
from .lasso_paths import NOT_CONVERGED, enet_path, penalty_tries

Array = NDArray[np.float64]
PATIENCE = 20  # iterations without any progress, before it is taken to be rounding


class ElasticNet(CallbackSupportMixin, LinearRegressor):  # type: ignore[misc]
    """Least squares with an L1 and an L2 penalty.

    Minimizes ``1/(2n) |y - X w - b|^2 + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio)/2 |w|^2``; the
    intercept b is not penalized. Many weights are exactly zero, and correlated columns have similar
    weights. The fit stops when the duality gap, an upper bound on the distance of the objective to
    its minimum, is at most ``tol`` times the mean square of y (centered, with an intercept).

    Parameters
    ----------
    alpha : float
        Strength of the penalty.
    l1_ratio : float
        Share of the L1 penalty, from 0 to 1; 1 is `Lasso`.
    fit_intercept : bool
        Whether to fit b; it is zero otherwise.
    precompute : bool or array-like of shape (d, d)
        Whether to use the Gram matrix of the columns. By default it is used where it is faster.
        True, or a matrix (which is computed again), uses it for all dense tables with at least as
        many rows as columns. The result is the same.
    max_iter : int or None
        Maximum number of iterations: sweeps over the weights, or working sets of columns.
    copy_X : bool
        Accepted for compatibility; X is never changed.
    tol : float or None
        Largest duality gap, as a share of the mean square of y; None makes `max_iter` iterations.
    warm_start : bool
        Whether to start from the previous fit.
    positive : bool
        Whether to forbid weights below zero.
    random_state : int, RandomState instance or None
        Seed of the order of the weights with ``selection="random"``.
    selection : {"cyclic", "random"}
        Whether a sweep visits the weights in their order, or in a new random order each time.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
        Weights.
    sparse_coef_ : sparse matrix of shape (1, d) or (t, d)
        Weights in a sparse matrix.
    intercept_ : float or ndarray of shape (t,)
        Intercept.
    alpha_ : float
        Strength of the penalty that was used.
    dual_gap_ : float or ndarray of shape (t,)
        Upper bound on the distance of `objective_` to its minimum.
    objective_ : float or ndarray of shape (t,)
        Value of the objective.
    gradient_norm_ : float or ndarray of shape (t,)
        Length of the shortest subgradient; zero at the minimum.
    n_iter_ : int or list of int
        Number of iterations.
    stop_reason_ : str
        "converged", "max_iter", "no_progress" (rounding allows no smaller gap) or "callback".
    n_parameters_ : int
        Number of parameters: d weights, zeros included, and the intercept, for each target.
    n_features_in_, feature_names_in_ :
        Number of columns of X, and their names if all are strings.

    See Also
    --------
    Lasso : with the L1 penalty alone.

    Examples
    --------
    Two equal columns share the weight, where a lasso may use either:

    >>> from rosenblatt import ElasticNet
    >>> X, y = [[0, 0], [1, 1], [2, 2], [3, 3]], [0, 1, 2, 3]
    >>> model = ElasticNet(alpha=0.1, tol=1e-9).fit(X, y)
    >>> model.coef_.round(4), model.dual_gap_ < 1e-8
    (array([0.4706, 0.4706]), True)
    """

    # `fit` checks its input always; the argument is scikit-learn's.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"check_input": UNUSED}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
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
    _searches = False  # for alpha
    measured_by = ()  # the Gram of the rows depends on no parameter
    simpler_when_larger = ("alpha",)  # of candidates that score alike

    path = staticmethod(enet_path)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = 1000,
        copy_X: bool = True,
        tol: float | None = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
            Each of several targets is a fit of its own.
        sample_weight : array-like of shape (n,) or None
        check_input : bool
        """
        self._validate_params()
        rows = check_rows(self, X, y, sample_weight)
        passes = Passes(self, X, y, sample_weight, self.max_iter)
        with one_blas_thread():
            squares = Squares.of(
                *rows, fit_intercept=self.fit_intercept, precompute=self.precompute,
                path=self._searches,
            )  # fmt: skip
            if not isinstance(self.precompute, bool):
                check_gram_given(self.precompute, squares, rows[0], self.fit_intercept)
            self._descend(squares, self._start(squares), passes)
        warn_of_scales(self, squares)
        return self

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("alpha",)`` unless fits depend on where they begin, or look for alpha."""
        moves = self.selection == "random" or self.warm_start or self._searches
        return () if moves else ("alpha",)

    def measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: NDArray[np.int64], n_groups: int
    ) -> list[Gram]:
        """Return the `Gram` of each group of rows, from one read of a tall table.

        Parameters
        ----------
        X, y, sample_weight : the rows, their targets and weights.
        groups : ndarray of shape (n,)
        n_groups : int
        """
        template = clone(self)
        X, y, weights = check_rows(template, X, y, sample_weight)
        if not folds_have_grams(X, groups, n_groups):
            raise ValueError(f"X is too wide for products of {n_groups} groups of rows.")
        names = getattr(template, "feature_names_in_", None)
        names = None if names is None else tuple(names)
        parts = Gram.by_group(by_rows(X), y, groups, n_groups, weights)
        return [replace(part, feature_names=names) for part in parts]

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit at many penalties, each from where the next larger one ended.

        Data, parameter and path are those of `capabilities.PathModel`; penalties are >= 0.
        """
        values = checks.path_values(self, parameter, values)
        template, fit_intercept = clone(self), bool(self.fit_intercept)
        if isinstance(data, Gram):
            template.n_features_in_ = data.n_features
            if data.feature_names is not None:
                template.feature_names_in_ = np.array(data.feature_names, dtype=object)
            squares = Squares.of_gram(data, fit_intercept)
        else:
            rows = check_rows(template, *rows_of(data))
            squares = Squares.of(*rows, fit_intercept=fit_intercept, path=True)
        models = [copy(template).set_params(alpha=alpha) for alpha in values]
        coefs = squares.zeros()
        with one_blas_thread():
            for model in sorted(models, key=lambda model: -model.alpha):
                model._descend(squares, coefs)
        return ModelPath(models)

    def _descend(self, squares: Squares, coefs: Array, passes: Passes | None = None) -> None:
        """Fit from coefs (t, d), which are changed, and set the attributes."""
        passes = passes or Passes(self, None, None, None, self.max_iter)
        alpha = self._choose_alpha(squares, coefs, passes)
        penalty = penalty_of(alpha, self.l1_ratio, self.positive)
        rng = check_random_state(self.random_state) if self.selection == "random" else None
        runs = [
            TargetDescent(descent, penalty, w, self.tol, rng)
            for descent, w in zip(squares.descents, coefs, strict=True)
        ]
        if passes.has_callbacks:
            for run in runs:
                run.step = run.descent.at(penalty, run.w)
        passes.attributes = lambda: fitted_attributes(squares, coefs, runs, alpha)
        for _ in passes:
            for run in runs:
                if not run.done:
                    run.advance()
            if not all(np.isfinite(run.step.objective) for run in runs):
                passes.stop("diverged")
            elif all(run.done for run in runs):
                passes.stop("converged")
            elif self.tol is not None and all(run.done or run.idle >= PATIENCE for run in runs):
                passes.stop("no_progress")
        if passes.stop_reason == "diverged":
            raise checks.too_large("The squares of X or y are", "rescale them")
        self.__dict__.update(fitted_attributes(squares, coefs, runs, alpha))
        self.stop_reason_ = passes.stop_reason
        self._warn_of_gap([run for run in runs if not run.done])

    def _start(self, squares: Squares) -> Array:
        """Return the weights (t, d) to begin from."""
        coefs = squares.zeros()
        if self.warm_start and hasattr(self, "coef_"):
            before = np.atleast_2d(self.coef_)
            checks.warm_start("shape of coef_", before.shape, coefs.shape)
            coefs[:] = np.maximum(before, 0.0) if self.positive else before
        return coefs

    def _choose_alpha(self, squares: Squares, coefs: Array, passes: Passes) -> float:
        """Return the penalty; a search changes coefs (t, d), where the fit begins."""
        return float(self.alpha)

    def _warn_of_gap(self, runs: "list[TargetDescent]") -> None:
        """Warn of the largest gap of the targets whose fits did not reach `tol`."""
        if self.tol is None or not runs or self.stop_reason_ == "callback":
            return
        worst = max(runs, key=lambda run: run.step.gap - run.wanted)
        rounding = ""
        advice = (
            f"Raise max_iter={self.max_iter} or tol, standardize the columns of X, or take a "
            "larger alpha."
        )
        if self.alpha_ == 0:
            advice = "Without a penalty it proves little: use LinearRegression."
        elif self.stop_reason_ == "no_progress":
            rounding, advice = ", and rounding keeps it there", "Raise tol, or rescale X."
        warn_not_converged(
            f"{NOT_CONVERGED} The duality gap is {worst.step.gap:.3g} after {worst.n_iter} "
            f"iterations{rounding}; tol={self.tol:g} asks for {worst.wanted:.3g}. {advice}"
        )

    @property
    def sparse_coef_(self) -> Any:
        """The weights as a sparse matrix, (1, d) or (t, d)."""
        return sp.csr_matrix(np.atleast_2d(self.coef_))


class Lasso(ElasticNet):
    """Least squares with an L1 penalty, which sets many weights to zero.

    Minimizes ``1/(2n) |y - X w - b|^2 + alpha |w|_1``; the intercept b is not penalized. In terms
    of the residual sum of squares, ``RSS + lambda |w|_1`` is ``alpha = lambda / (2n)``. The fit
    stops when the duality gap, an upper bound on the distance of the objective to its minimum, is
    at most ``tol`` times the mean square of y (centered, with an intercept).

    Parameters
    ----------
    alpha : float
        Strength of the penalty.
    fit_intercept, precompute, copy_X, max_iter, tol, warm_start, positive, random_state, selection
        As for `ElasticNet`.
    n_features : int or None
        Number of features to keep: `alpha_` is then the penalty that keeps so many, or the nearest
        number with a warning, and `alpha` is ignored. The fit starts where the search ended.

    Attributes
    ----------
    alpha_ : float
        Strength of the penalty that was used.
    coef_, sparse_coef_, intercept_, dual_gap_, objective_, gradient_norm_, n_iter_, stop_reason_
        As for `ElasticNet`.
    n_parameters_, n_features_in_, feature_names_in_
        As for `ElasticNet`.

    See Also
    --------
    LassoCV : with the penalty chosen by cross-validation.
    ElasticNet : with an L2 penalty too, so that correlated columns have similar weights.

    References
    ----------
    .. [1] R. Tibshirani (1996), Regression shrinkage and selection via the lasso.
    .. [2] M. Massias, A. Gramfort, J. Salmon (2018), Celer: a fast solver for the lasso with dual
       extrapolation.

    Examples
    --------
    >>> from rosenblatt import Lasso
    >>> X, y = [[0, 1], [1, 0], [2, 0], [3, 1]], [1, 2, 2, 4]
    >>> model = Lasso(alpha=0.125).fit(X, y)
    >>> model.coef_, round(float(model.intercept_), 4)
    (array([0.8, 0. ]), 1.05)
    >>> model.stop_reason_, model.dual_gap_ < 1e-9
    ('converged', True)

    The penalty that keeps one feature:

    >>> one = Lasso(n_features=1).fit(X, y)
    >>> one.coef_.round(2), round(one.alpha_, 2)
    (array([0.18, 0.  ]), 0.9)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{k: v for k, v in ElasticNet._parameter_constraints.items() if k != "l1_ratio"},
        "n_features": [Interval(Integral, 1, None, closed="left"), None],
    }

    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float | None = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        n_features: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.n_features = n_features

    @property
    def _searches(self) -> bool:  # type: ignore[override]
        return self.n_features is not None

    def _choose_alpha(self, squares: Squares, coefs: Array, passes: Passes) -> float:
        n_features = self.n_features
        if n_features is None:
            return float(self.alpha)
        n_targets, d = coefs.shape
        if n_targets > 1:
            raise ValueError(f"n_features={n_features} asks for one target; got {n_targets}.")
        if n_features > d:
            raise ValueError(
                f"n_features={n_features} is more than the {d} features of X; ask for fewer."
            )
        descent = squares.descents[0]
        tries: dict[float, Array] = {}
        for alpha, w in penalty_tries(n_features, descent, self.positive, self.tol):
            tries[alpha] = w
            if passes.has_callbacks:
                self._report_try(squares, alpha, w, passes)
            if passes.stop_reason is not None:
                break
        kept = {alpha: int(np.count_nonzero(w)) for alpha, w in tries.items()}
        best = min(tries, key=lambda alpha: (abs(kept[alpha] - n_features), -alpha))
        if passes.stop_reason is None and kept[best] != n_features:
            warn(
                f"n_features={n_features} cannot be reached; {kept[best]} is the nearest, at "
                f"alpha={best:.3g}. Some columns enter together, or never.",
                ConvergenceWarning,
            )
        coefs[0] = tries[best]
        return best

    def _report_try(self, squares: Squares, alpha: float, w: Array, passes: Passes) -> None:
        """Report a try to the callbacks, which may stop the search."""
        penalty = penalty_of(alpha, 1.0, self.positive)

        def attributes_at(w: Array) -> Callable[[], dict[str, Any]]:
            run = TargetDescent(squares.descents[0], penalty, w, self.tol, None)
            run.step = run.descent.at(penalty, w)
            return lambda: fitted_attributes(squares, w[None], [run], alpha)

        if not hasattr(passes, "attributes"):
            passes.attributes = attributes_at(np.zeros_like(w))
        passes.report("penalty", attributes_at(w))


class TargetDescent:
    """The coordinate descent of one target from w (d,), which is changed."""

    def __init__(
        self, descent: Descent, penalty: Penalty, w: Array, tol: float | None, rng: Any
    ) -> None:
        self.descent, self.penalty, self.w = descent, penalty, w
        self.wanted = -1.0 if tol is None else tol * descent.yy  # the gap at which to stop
        self.steps = descent.steps(penalty, w, max(0.0, self.wanted), rng)
        self.step = Iterate(w, np.inf)  # the last one
        self.n_iter = 0
        self.idle = 0  # iterations since the objective or the gap fell

    def advance(self) -> None:
        """Make one iteration; if the gap is small enough, go to the minimum near by."""
        step = next(self.steps)
        if step.gap <= self.wanted:
            step = self.descent.finish(self.penalty, self.w, step)
        progress = step.objective < self.step.objective or step.gap < self.step.gap
        self.idle = 0 if progress or not self.n_iter else self.idle + 1
        self.step, self.n_iter = step, self.n_iter + 1

    @property
    def done(self) -> bool:
        """Whether the gap is small enough."""
        return self.n_iter > 0 and self.step.gap <= self.wanted


def fitted_attributes(
    squares: Squares, coefs: Array, runs: list[TargetDescent], alpha: float
) -> dict[str, Any]:
    """Return the attributes at coefs (t, d): numbers for one target, else lists or arrays (t,)."""
    found: dict[str, Any] = {
        "n_iter_": [run.n_iter for run in runs],
        "objective_": np.array([run.step.objective for run in runs]),
        "dual_gap_": np.array([run.step.gap for run in runs]),
        "gradient_norm_": np.array([run.step.gradient_norm for run in runs]),
    }
    coef = checks.in_precision(coefs, squares.dtype)
    intercept = checks.in_precision(squares.intercepts(coefs), squares.dtype)
    if len(runs) == 1:
        coef = coef[0]
        found = {name: values[0] for name, values in found.items()}
        found |= {name: float(found[name]) for name in found if name != "n_iter_"}
    # scikit-learn keeps the intercept of a single column of targets in an array.
    return {
        "coef_": coef,
        "intercept_": intercept[0] if squares.flat_y else intercept,
        **found,
        "alpha_": alpha,
    }


def warn_of_scales(model: Any, squares: Squares) -> None:
    """Warn if columns vary on scales so different that one penalty cannot serve all."""
    variances = squares.descents[0].variances
    with np.errstate(over="ignore"):
        if not (variances.max() > SCALES_APART**2 * variances.min() and model.alpha_ > 0):
            return
    if message := unequal_scales(model, variances, 1.0, squares.mean_x):
        warn(message, LinAlgWarning)


def run_large_loop(model: ElasticNet, X: Any, y: Any) -> None:
    """Run the loop of thousands of weights, which no small table reaches (`rosenblatt warm`)."""
    roots = np.full(X.shape[0], X.shape[0] ** -0.5)
    columns = Columns(X, roots, np.zeros(X.shape[1]))
    penalty = penalty_of(1.0, model.l1_ratio, model.positive)
    columns.sweep(penalty, np.arange(X.shape[1]), np.zeros(X.shape[1]), roots * y)


PEER_TESTS = (
    "linear_model/tests/test_coordinate_descent.py",
    "linear_model/tests/test_sparse_coordinate_descent.py",
)
ROWS = (
    Row(
        "Lasso",
        page="lasso.md",
        certificate="linear_regression",
        compare=(
            Candidate(
                "lasso",
                "many columns, few of them relevant",
                {"alpha": (1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0)},
                order=85,
                first_if_wide=True,
            ),
        ),
        contract=Contract(
            settings=(
                {"alpha": 0.01, "tol": 1e-12},
                {"alpha": 0.05, "positive": True, "fit_intercept": False, "tol": 1e-12},
                {"alpha": 0.01, "selection": "random", "random_state": 0, "tol": 1e-12},
            )
        ),
        warm=Warm(({"alpha": 0.01},), widths=(3, 20), large="linear_model.lasso.run_large_loop"),
        parts="lasso",
        slow_peer_tests=PEER_TESTS,
        peer_functions=("enet_path", "lasso_path"),
    ),
    Row(
        "ElasticNet",
        page="lasso.md",
        certificate="linear_regression",
        compare=(
            Candidate(
                "elastic net",
                "like the lasso, with groups of correlated columns",
                {"alpha": (1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0), "l1_ratio": (0.2, 0.5, 0.8)},
                order=86,
            ),
        ),
        contract=Contract(
            settings=(
                {"tol": 1e-12},
                {"alpha": 0.01, "l1_ratio": 0.9, "fit_intercept": False, "tol": 1e-12},
            )
        ),
        warm=Warm(({"alpha": 0.01},), widths=(3, 20), large="linear_model.lasso.run_large_loop"),
        parts="lasso",
        slow_peer_tests=PEER_TESTS,
    ),
)
