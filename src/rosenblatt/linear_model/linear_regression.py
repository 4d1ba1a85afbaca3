"""Linear regression by least squares, and the base class of it and `Ridge`."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from rosenblatt import checks
from rosenblatt.additive import Additive, Rows
from rosenblatt.base import LinearRegressor, Passes, StopReason, all_or_nothing, fitting, warn
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.runtime.threads import MANY_UNKNOWNS, interruptible, one_blas_thread
from rosenblatt.statistics import Gram

from . import least_squares
from .centered_rows import CenteredRows
from .column_warnings import undetermined
from .least_squares import AS_GOOD_AS_ROWS, WELL_CONDITIONED, Solution, by_penalty

Array = NDArray[np.float64]
Means = tuple[Array, Array]  # of columns (d,) and targets (t,)

ROWS_SOLVED_EXACTLY = 1000  # sparse, wider than long, though an iterative solver was named


class GramRegressor(CallbackSupportMixin, LinearRegressor, Additive):  # type: ignore[misc]
    """A linear regressor whose coefficients follow from the products of its columns.

    `fit` returns to the rows where their products have lost too many digits.
    """

    fit_intercept: bool
    positive: bool
    statistics_: Gram
    stop_reason_: StopReason
    _multi_output = True

    measured_by = ()
    statistic_type = (Gram, {})
    dual_gap_: Any  # where there is no closed form
    _warnings: tuple[tuple[str, type[Warning]], ...] = ()  # that `report_warnings` will issue

    @abstractmethod
    def _penalties(self, n_targets: int) -> Array:
        """Return the penalty of each target, (t,)."""

    @abstractmethod
    def _limits(self, d: int) -> tuple[float, int]:
        """Return the relative gradient at which to stop and the most iterations."""

    def _least_variation(self) -> float:
        """Return the variation, relative to the largest, below which a direction is constant."""
        return 0.0

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        rows = self._checked(X, y, sample_weight, first=True)
        self.__dict__.pop("statistics_", None)
        passes = Passes(self, X, y, sample_weight, None)
        passes.attributes = lambda: self._attributes_at(0.0, *rows)
        try:
            with one_blas_thread():  # bits must not depend on how many there are
                for _ in passes:  # a single one
                    self._fit_rows(*rows)
                    passes.attributes = lambda: self._attributes_at(self.coef_, *rows)
                    passes.stop(self.stop_reason_)
        except ValueError:
            self._refuse_strange(rows[0])  # with scikit-learn's message
            raise
        self.report_warnings()
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Update the model with a batch of rows; all batches together give the result of one fit.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        """
        self._validate_params()
        first = "coef_" not in vars(self)
        statistic = self._statistic(X, y, sample_weight, first=first)
        self._publish(statistic if first else self.statistics_ + statistic)
        self.report_warnings()
        return self

    def _measure(self, X: Any, y: Any, sample_weight: NDArray[Any] | None) -> Gram:
        self._refuse_without_gram(X)
        return Gram.of(X, y, sample_weight)

    def _measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: NDArray[np.int64], n_groups: int
    ) -> list[Any]:
        self._refuse_without_gram(X)
        return Gram.by_group(X, y, groups, n_groups, sample_weight)

    def _refuse_without_gram(self, X: Any) -> None:
        if not least_squares.has_gram(X):
            raise ValueError(
                f"X has {X.shape[1]} columns, too many for a table of the products of all pairs; "
                "`fit` does without one, but streaming, merging and forgetting need it."
            )

    def _fit_rows(self, X: Any, y: Any, weights: Any) -> None:
        if least_squares.has_gram(X):
            self.statistics_ = self._named(self._measure(X, y, weights))  # type: ignore[assignment]
            self._conclude((X, y, weights), final=True)
            return
        self._refuse_strange(X)
        rows = CenteredRows(X, y, weights, self.fit_intercept)
        solution = self._solve_wide(rows)
        self._set(solution, (rows.mean_x, rows.mean_y), X.dtype, np.ndim(y) == 1)
        if solution.n_iter is not None:
            self.__dict__.update(self._optimality(rows, solution.coef))
            self._note_unmet(solution)
        self._note_dependence(solution, None, streamed=False)

    def _conclude(self, rows: Rows | None, final: bool) -> None:
        """Solve the normal equations, or the rows if they are given and keep more digits."""
        known = self.statistics_
        n_rows = known.rows
        if not n_rows:
            raise ValueError("This is the statistic of no rows: there is nothing to learn from.")
        gram, products, _ = known.about(self.fit_intercept)
        penalties, share = self._penalties(known.n_targets), self._least_variation()
        means = known.mean_x, known.mean_y

        def solve(here: NDArray[np.intp], penalty: float) -> Solution:
            if self.positive:
                return least_squares.solve_nonnegative(gram, products[:, here], penalty)
            return least_squares.solve(gram, products[:, here], penalty, share)

        solution = by_penalty(penalties, solve)
        by_rows = solution.condition < AS_GOOD_AS_ROWS or n_rows <= len(gram)
        if rows is not None and not self.positive and (by_rows or self._solver() == "svd"):
            A, B = CenteredRows(*rows, self.fit_intercept, means).condensed()
            solution = by_penalty(
                penalties, lambda here, p: least_squares.solve_rows(A, B[:, here], p, share)
            )
        self._set(solution, means, known.dtype, known.flat_y)
        self._note_dependence(solution, np.diag(gram), streamed=rows is None)

    def _solver(self) -> str:
        """Return the parameter of `Ridge`, or its equivalent for `LinearRegression`."""
        return getattr(self, "solver", "cholesky")

    def _solve_wide(self, rows: CenteredRows) -> Solution:
        """Return the coefficients of rows too wide for products of columns."""
        n, d = rows.shape
        targets, limits = rows.targets, self._limits(d)
        exact = self._solver() in ("cholesky", "svd") or n <= ROWS_SOLVED_EXACTLY

        def solve(here: NDArray[np.intp], penalty: float) -> Solution:
            right = targets[:, here]
            if self.positive:
                return least_squares.solve_by_lbfgs(rows, right, penalty, *limits)
            if least_squares.has_dual(rows) and (exact or not rows.sparse or not penalty):
                return least_squares.solve_dual(rows, right, penalty, self._least_variation())
            return least_squares.solve_by_lsmr(rows, right, penalty, *limits)

        return by_penalty(self._penalties(targets.shape[1]), solve)

    def _attributes_at(self, coef: Any, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        """Return the fitted attributes at coef, (d,), (t, d) or a number, for callbacks."""
        rows = CenteredRows(X, y, weights, self.fit_intercept)
        shape = rows.targets.shape[1], X.shape[1]
        columns = np.broadcast_to(np.asarray(coef, np.float64), shape).T
        plane = self._plane(columns, (rows.mean_x, rows.mean_y), X.dtype, np.ndim(y) == 1)
        return plane | self._optimality(rows, columns)

    def _optimality(self, rows: CenteredRows, coef: Array) -> dict[str, Any]:
        """Return objective, gap and gradient norm: numbers for one target, else arrays (t,)."""
        targets = rows.targets
        penalties = self._penalties(targets.shape[1])
        found = np.array([
            least_squares.optimality(rows, targets[:, k], coef[:, k], float(p), self.positive)
            for k, p in enumerate(penalties)
        ])  # fmt: skip
        names = ("objective_", "dual_gap_", "gradient_norm_")
        values = found.T if len(penalties) > 1 else found[0].tolist()
        return dict(zip(names, values, strict=True))

    def _note_unmet(self, solution: Solution) -> None:
        """Warn if iterations ended before the gradient was small enough."""
        if not solution.unmet:
            return
        assert solution.n_iter is not None
        tol, max_iter = self._limits(len(solution.coef))
        n_iter = int(solution.n_iter.max())
        self.stop_reason_ = "max_iter" if n_iter >= max_iter else "no_progress"
        gap = float(np.max(self.dual_gap_))
        advice = "Give a larger tol, or use Ridge."
        if np.any(self._penalties(solution.coef.shape[1])):
            advice = "Give a larger max_iter or tol, or a larger penalty."
        proved = f" (duality gap {gap:.2g})" if np.isfinite(gap) else ""
        self._note(
            f"After {n_iter} iterations the gradient is {solution.unmet:.2g} of what it was at "
            f"first, not yet tol={tol:.2g}{proved}. {advice}",
            ConvergenceWarning,
        )

    def _set(self, solution: Solution, means: Means, dtype: Any, flat_y: bool) -> None:
        """Set the fitted attributes of a solution, and remove those of an earlier fit."""
        for name in ("objective_", "dual_gap_", "gradient_norm_"):
            self.__dict__.pop(name, None)
        self.stop_reason_ = "converged"
        self.__dict__.update(self._plane(solution.coef, means, dtype, flat_y))
        self.rank_, self.condition_ = solution.rank, solution.condition
        self.solution_ = "unique" if solution.rank == len(solution.coef) else "minimum norm"
        self.solver_ = solution.method

    def _plane(self, coef: Array, means: Means, dtype: Any, flat_y: bool) -> dict[str, Any]:
        """Return `coef_` and `intercept_` of coefficients (d, t)."""
        coef, (mean_x, mean_y) = coef.T, means
        with np.errstate(over="ignore", invalid="ignore"):
            intercept = mean_y - coef @ mean_x if self.fit_intercept else np.zeros(1)
        for found in (coef, intercept):
            checks.in_range(found, "The coefficients are", "rescale the columns or y")
        intercept = checks.in_precision(intercept, dtype)
        return {
            "coef_": checks.in_precision(coef[0] if flat_y else coef, dtype),
            "intercept_": intercept[0] if flat_y or not self.fit_intercept else intercept,
        }

    def needs_rows(self) -> bool:
        """Return whether the rows have more digits than the statistic of this fit."""
        return self.condition_ < AS_GOOD_AS_ROWS and self.solver_ in ("cholesky", "eigen")

    def _note_dependence(self, solution: Solution, squares: Array | None, streamed: bool) -> None:
        """Warn of dependent columns; `squares` (d,) are their sums of squares, if known."""
        if self.solution_ == "minimum norm":
            self._note(undetermined(self, solution, squares))
        elif streamed and solution.condition < WELL_CONDITIONED and not self.positive:
            self._note(
                f"Columns are nearly dependent (reciprocal condition {solution.condition:.1g} of "
                "the normal equations), and a statistic alone cannot tell more digits of their "
                "coefficients. `fit` on all rows at once reads the rows themselves."
            )

    def _note(self, message: str, kind: type[Warning] = LinAlgWarning) -> None:
        self._warnings = (*self._warnings, (message, kind))

    def report_warnings(self) -> None:
        for message, kind in self.__dict__.pop("_warnings", ()):
            warn(message, kind)

    def _check_y(self, y: Any, n: int) -> NDArray[Any]:
        return checks.targets(self, y, n)

    def __getattr__(self, name: str) -> Any:
        if name == "statistics_" and "coef_" in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} was fitted to rows too wide for a table of products, "
                "and keeps no statistic: it cannot be extended, merged or made to forget."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class LinearRegression(GramRegressor):
    """Least squares: the coefficients w and intercept b that minimize ``sum (y - w.x - b)^2``.

    The residuals have mean zero and no product with any column. The fit follows from the products
    of the columns, the `Gram` statistic, so that `partial_fit`, `merge` and `forget` are exact.
    Columns are scaled to length one first, so that their units do not matter. If the products have
    lost too many digits, `fit` decomposes the rows instead. If columns are dependent, the
    coefficients of minimum norm are used, with a warning that names the columns.

    Parameters
    ----------
    fit_intercept : bool
        Whether to fit b; it is zero otherwise.
    copy_X : bool
        Accepted for compatibility; X is never changed.
    tol : float
        Directions in which the columns, scaled to length one, vary less than this times the
        largest variation count as dependent. Where there is no closed form (sparse rows with very
        many columns), the gradient at which to stop, relative to the first.
    n_jobs : int or None
        Accepted for compatibility.
    positive : bool
        Whether to forbid coefficients below zero.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
        Coefficients.
    intercept_ : float or ndarray of shape (t,)
        Intercept.
    rank_ : int
        Number of independent directions among the columns.
    singular_ : ndarray
        Singular values of the centered, weighted rows, largest first.
    solution_ : str
        "unique", or "minimum norm" if other coefficients fit equally well.
    solver_ : str
        "cholesky" or "eigen" of the products, "svd" of the rows, "nnls" for positive coefficients,
        "lsmr" or "lbfgs" where there is no closed form.
    stop_reason_ : str
        "converged" for closed forms; also "max_iter" and "no_progress".
    objective_, dual_gap_, gradient_norm_ : float or ndarray of shape (t,)
        Where there is no closed form: sum of squares, upper bound on its distance to the minimum
        (infinity if nothing is known), and length of its gradient.
    condition_ : float
        Reciprocal condition of the normal equations, columns scaled to length one.
    n_parameters_ : int
        Number of parameters.
    statistics_ : Gram
        Products of the columns; absent for more than 2048 columns, unless there are as many rows.

    Examples
    --------
    >>> from rosenblatt import LinearRegression
    >>> model = LinearRegression().fit([[0], [1], [2], [3]], [1, 2, 2, 4])
    >>> model.coef_, model.intercept_.round(12)
    (array([0.9]), np.float64(0.9))
    >>> model.partial_fit([[4]], [5]).coef_
    array([1.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "positive": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    singular_: NDArray[Any]

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _penalties(self, n_targets: int) -> Array:
        return np.zeros(n_targets)

    def _least_variation(self) -> float:
        return float(self.tol)

    def _limits(self, d: int) -> tuple[float, int]:
        return self.tol, 2 * d

    def _conclude(self, rows: Rows | None, final: bool) -> None:
        super()._conclude(rows, final)
        known = self.statistics_
        gram, _, _ = known.about(self.fit_intercept)
        many = len(gram) >= MANY_UNKNOWNS
        squares = interruptible(lambda: np.linalg.eigvalsh(gram), many)[::-1]
        self.singular_ = np.sqrt(np.maximum(squares, 0.0))[: known.rows].astype(known.dtype)


ROW = Row(
    "LinearRegression",
    page="regression.md",
    certificate="linear_regression",
    compare=(
        Candidate(
            "least squares",
            "few columns compared with rows; interpretable coefficients",
            short_names=("ols",),
            order=80,
        ),
    ),
    contract=Contract(
        settings=({}, {"fit_intercept": False, "tol": 0}, {"positive": True}),
        checked=({}, {"fit_intercept": False}, {"positive": True}),
    ),
    peer_tests=("linear_model/tests/test_base.py",),
)
