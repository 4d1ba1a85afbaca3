"""Linear regression that follows from the Gram statistic: what least squares and ridge share."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import checks
from rosenblatt.additive import Additive
from rosenblatt.base import LinearRegressor, StopReason, all_or_nothing, fitting, warn
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.least_squares import (
    AS_GOOD_AS_ROWS,
    WELL_CONDITIONED,
    Solution,
    by_penalty,
    solve,
    solve_nonnegative,
    solve_rows,
)
from rosenblatt.statistics import Gram

from . import column_warnings
from .centred_rows import Centred
from .column_warnings import columns
from .least_squares_callbacks import Stopped, Watch, said
from .wide_least_squares import (
    descended,
    few_steps,
    has_dual,
    has_gram,
    refuse_without_gram,
    solve_dual,
    solve_iteratively,
    solve_positive,
)

Array = NDArray[np.float64]


class GramRegressor(CallbackSupportMixin, LinearRegressor, Additive):  # type: ignore[misc]
    """A linear regressor whose coefficients follow from the products of its columns.

    `fit` has the rows at hand, and goes back to them where products have lost too many digits.
    """

    fit_intercept: bool
    positive: bool
    statistics_: Gram
    _multi_output = True

    measured_by = ()
    statistic_type = (Gram, {})
    dual_gap_: Any  # where there is no closed form
    _said: tuple[tuple[str, type[Warning]], ...] = ()  # what `report_warnings` is going to say

    @abstractmethod
    def _penalties(self, n_targets: int) -> Array:
        """The penalty of each target, (t,)."""

    def _least_share(self) -> float:
        """Directions that vary less than this, relative to the largest, are none."""
        return 0.0

    def _prefers_rows(self) -> bool:
        """Whether rows are to be decomposed though their products would do."""
        return False

    def _is_exact(self) -> bool:
        """Whether a closed form is wanted where steps come as near as `tol` sooner."""
        return True

    @abstractmethod
    def _limits(self, d: int) -> tuple[float, int]:
        """The relative gradient at which to stop where there is no closed form, and iterations."""

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
        try:
            narrow = has_gram(rows[0])
            watch = Watch(self, (X, y, sample_weight), rows, narrow)
            with one_blas_thread():  # bits must not depend on how many there are
                if narrow:
                    self.statistics_ = self._named(self._measure(*rows))  # type: ignore[assignment]
                    self._conclude(*rows)
                else:
                    self._conclude_without_gram(*rows, watch)
        except ValueError:
            self._refuse_strange(rows[0])  # in scikit-learn's words, if it is that
            raise
        watch.end(self.stop_reason_)
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

    def _measure(
        self, X: Any, y: Any, sample_weight: NDArray[Any] | None, careful: bool = False
    ) -> Gram:
        refuse_without_gram(X)
        return Gram.of(X, y, sample_weight, careful=careful)

    def _measure_groups(
        self,
        X: Any,
        y: Any,
        sample_weight: NDArray[Any] | None,
        groups: NDArray[np.int64],
        n_groups: int,
    ) -> list[Any]:
        refuse_without_gram(X)
        return Gram.by_group(X, y, groups, n_groups, sample_weight)

    def _conclude(self, X: Any = None, y: Any = None, weights: Any = None) -> None:
        """Set what the statistic implies; with rows, more exactly where products do not suffice."""
        known = self.statistics_
        if not len(known):
            raise ValueError("This is the statistic of no rows: there is nothing to learn from.")
        self._begin()
        gram, products, _ = known.about(self.fit_intercept)
        solution = self._solved(gram, products)
        self._count_iterations(np.ones(known.n_targets, np.int64))
        rows_say_more = solution.condition < AS_GOOD_AS_ROWS or known.rows <= len(gram)
        if X is not None and not self.positive and (rows_say_more or self._prefers_rows()):
            means = known.mean_x, known.mean_y
            rows = Centred(X, columns(y), weights, self.fit_intercept, means)
            solution = self._solved_by_rows(rows)
        self._set(solution, known.mean_x, known.mean_y, known.dtype, known.flat_y)
        self._doubt(solution, np.diag(gram), streamed=X is None)

    def _conclude_without_gram(self, X: Any, y: Any, weights: Any, watch: Watch) -> None:
        """Set what rows imply that are too wide for a statistic."""
        self._refuse_strange(X)
        self._begin()
        rows = Centred(X, columns(y), weights, self.fit_intercept)
        solution = self._solved_wide(rows, watch)
        self._set(solution, rows.mean_x, rows.mean_y, X.dtype, np.ndim(y) == 1)
        self._doubt(solution, None, streamed=False)

    def _begin(self) -> None:
        """Forget what only steps say, of an earlier fit; a closed form has converged."""
        for name in ("objective_", "dual_gap_", "gradient_norm_"):
            self.__dict__.pop(name, None)
        self.stop_reason_: StopReason = "converged"

    def _solved(self, gram: Array, products: Array) -> Solution:
        """The coefficients (d, t) of all targets, from products."""

        def one(here: NDArray[np.intp], penalty: float) -> Solution:
            if self.positive:
                return solve_nonnegative(gram, products[:, here], penalty)
            return solve(gram, products[:, here], penalty, self._least_share())

        return by_penalty(self._penalties(products.shape[1]), one)

    def _solved_by_rows(self, rows: Centred) -> Solution:
        """The same from the rows themselves."""
        A, B = rows.condensed()
        share = self._least_share()
        with one_blas_thread():  # for matrices as small as these, others only get in the way
            return by_penalty(
                self._penalties(B.shape[1]), lambda here, p: solve_rows(A, B[:, here], p, share)
            )

    def _solved_wide(self, rows: Centred, watch: Watch) -> Solution:
        """The same of rows too wide for products of columns."""
        targets, (tol, max_iter) = rows.targets, self._limits(rows.shape[1])
        t = targets.shape[1]
        n_iter, last = np.ones(t, np.int64), np.empty(t, object)
        short = 0.0

        def one(here: NDArray[np.intp], penalty: float) -> Solution:
            nonlocal short
            right, closed = targets[:, here], not self.positive and has_dual(rows)
            found = None
            if closed and not self._is_exact():
                found = few_steps(rows, right, penalty, tol, max_iter)
            elif not closed:
                method = solve_positive if self.positive else solve_iteratively
                found = method(rows, right, penalty, tol, max_iter, watch.reporter(here))
            if found is None:
                return solve_dual(rows, right, penalty, self._least_share())
            n_iter[here], last[here] = found.n_iter, found.last
            short = max(short, found.short)
            return found.solution

        penalties = self._penalties(t)
        try:
            solution = by_penalty(penalties, one)
        except Stopped:
            solution = descended(rows, watch.coef, float(penalties.min()), self.positive)
            n_iter, last, self.stop_reason_ = watch.n_iter, np.array(watch.steps), "callback"
        self._count_iterations(n_iter)
        if last.all():
            self.__dict__.update(said(last))
        if short and self.stop_reason_ != "callback":
            made = int(n_iter.max())
            self.stop_reason_ = "max_iter" if made >= max_iter else "no_progress"
            self._say_short(made, short, tol)
        return solution

    def _say_short(self, made: int, short: float, tol: float) -> None:
        """Warn that so many iterations left the gradient at a share `short` of the first."""
        gap = float(np.max(self.dual_gap_))
        advice = "Give a larger tol, or use Ridge."
        if np.any(self._penalties(len(np.atleast_1d(self.dual_gap_)))):
            advice = "Give a larger max_iter or tol, or a larger penalty."
        proved = f" (duality gap {gap:.2g})" if np.isfinite(gap) else ""
        self._say(
            f"After {made} iterations the gradient is {short:.2g} of what it was at first, "
            f"not yet tol={tol:.2g}{proved}. {advice}",
            ConvergenceWarning,
        )

    def _count_iterations(self, n_iter: NDArray[np.int64]) -> None:
        """Publish how many steps (t,) there were; a closed form is one."""

    def _set(
        self, solution: Solution, mean_x: Array, mean_y: Array, dtype: Any, flat_y: bool
    ) -> None:
        """Publish a solution."""
        self.__dict__.update(self._plane(solution.coef, mean_x, mean_y, dtype, flat_y))
        d = len(solution.coef)
        self.rank_, self.condition_ = solution.rank, solution.condition
        self.solution_ = "unique" if solution.rank == d else "minimum norm"
        self.solver_ = solution.method

    def _plane(
        self, coef: Array, mean_x: Array, mean_y: Array, dtype: Any, flat_y: bool
    ) -> dict[str, Any]:
        """The attributes that coefficients (d, t) are published in."""
        coef = coef.T
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
        """Whether the rows could say more than the statistic that this was concluded from."""
        return self.condition_ < AS_GOOD_AS_ROWS and self.solver_ in ("cholesky", "eigen")

    def _doubt(self, solution: Solution, squares: Array | None, streamed: bool) -> None:
        """Find what is to be said of the columns, from their sums of squares (d,) if known."""
        if self.solution_ == "minimum norm":
            self._say(column_warnings.undetermined(self, solution, squares))
        elif streamed and solution.condition < WELL_CONDITIONED and not self.positive:
            self._say(
                f"Columns are nearly dependent (reciprocal condition {solution.condition:.1g} of "
                "the normal equations), and a statistic alone cannot tell more digits of their "
                "coefficients. `fit` on all rows at once reads the rows themselves."
            )

    def _say(self, message: str, kind: type[Warning] = LinAlgWarning) -> None:
        self._said = (*self._said, (message, kind))

    def report_warnings(self) -> None:
        for message, kind in self.__dict__.pop("_said", ()):
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
