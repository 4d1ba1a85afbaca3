"""Logistic regression by parts: loss, gradient and curvature are sums, the optimum is the same."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.linear_model.centered_rows import subtract_offsets
from rosenblatt.linear_model.logistic_regression import attributes_of, penalty_of
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.solvers.logistic import LogisticDescent, LogisticSettings, logistic_problem
from rosenblatt.solvers.logistic_messages import shortfall
from rosenblatt.solvers.logistic_problem import Array, Iterate, LogisticProblem
from rosenblatt.solvers.newton import MAX_TOGETHER

from .census import Census, codes_of
from .passes import PartRows, Passes
from .sums import Sums


class Broadcast(NamedTuple):
    """What every part receives: the problem but for its rows."""

    classes: NDArray[Any]
    price: Array  # weight of a row of each class, (K,)
    fit_intercept: bool
    reference: bool
    shift: Array | None  # subtracted from the columns

    def problem(self, X: Any, y: Any) -> LogisticProblem:
        """Return the problem of some rows, without the penalty."""
        codes, K = codes_of(self.classes, y), len(self.classes)
        X, about = subtract_offsets(X, self.shift), ((0.0, 0.0), self.fit_intercept, self.reference)
        return logistic_problem(X, codes, K, self.price[codes], *about)


def fit_parts(model: Any, passes: Passes) -> Any:
    """Newton's method, one pass a step; L-BFGS where there are too many weights for a matrix."""
    if model.solver in ("sgd", "gradient"):
        raise ValueError(
            f"solver={model.solver!r} goes row by row or step by step, and is not for parts: use "
            'solver="auto".'
        )
    penalty, census = penalty_of(model), Census(passes, by_class=True)
    classes, K = census.classes, len(census.classes)
    totals = checks.row_weights(classes, np.arange(K), census.counts, model.class_weight)
    shift = census.offsets(passes.source.sparse) if model.fit_intercept else None
    shared = Broadcast(
        classes, penalty.C * totals / census.counts, model.fit_intercept,
        model.softmax == "reference", shift,
    )  # fmt: skip
    passes.publish_columns(model)
    one_row_each = logistic_problem(
        np.zeros((K, model.n_features_in_)), np.arange(K), K, penalty.C * totals,
        (penalty.l1, penalty.l2), shared.fit_intercept, shared.reference,
    )  # fmt: skip
    problem = PartsProblem(one_row_each, census.n_rows, passes, shared)
    with one_blas_thread():
        start, settings = np.zeros(problem.shape), _settings(model, problem, penalty.C)
        descent = LogisticDescent(problem, start, settings, track_gap=False)
        n_iter, reason = 0, None
        while reason is None and n_iter < model.max_iter:
            reason, n_iter = descent.advance(), n_iter + 1
        stop_reason = descent.finish(reason or "max_iter")
    vars(model).update(attributes_of(descent, classes, census.dtype, shift))
    model.n_iter_, model.stop_reason_ = np.array([n_iter], np.int32), stop_reason
    if message := shortfall(descent, stop_reason):
        warn(message, ConvergenceWarning)
    return model


def _settings(model: Any, problem: "PartsProblem", C: float) -> LogisticSettings:
    name = "newton-cholesky" if problem.has_hessian else "lbfgs"
    return LogisticSettings(
        "coordinate" if problem.l1 else name, model.tol, model.max_iter, C, None, None,
        type(model).__name__, lambda: model.feature_names_in_,
    )  # fmt: skip


class PartsProblem(LogisticProblem):
    """A logistic regression whose rows are in parts; `form` has one row for each class.

    One pass over the parts returns loss, gradient and curvature together: it costs more than what
    is computed in it.
    """

    def __init__(
        self, form: LogisticProblem, n_rows: int, passes: Passes, shared: Broadcast
    ) -> None:
        super().__init__(form.X, form.c, form.l1, form.l2, form.fit_intercept)
        self.passes, self.shared, self.n, self.shape = passes, shared, n_rows, form.shape
        self.form, self.zero = form, form.zero
        self.has_hessian = int(np.prod(form.shape)) <= MAX_TOGETHER

    def centered(self, v: Array) -> Array:
        return self.form.centered(v)

    def by_class(self, table: Array) -> Array:
        return self.form.by_class(table)

    def _loss(self, point: Array) -> tuple[float, Array]:
        sums = self.passes.total(evaluate, self.shared, point, self.has_hessian)
        self.P = sums["curvature"]  # the Hessian, or its diagonal
        return float(sums["loss"]), sums["gradient"]

    def hessian(self, iterate: Iterate, chosen: NDArray[np.intp] | None = None) -> Array:
        size = int(np.prod(self.shape))
        chosen = np.arange(size) if chosen is None else chosen
        if self.has_hessian:
            H = self.probabilities(iterate)[np.ix_(chosen, chosen)]
        else:
            H = self.passes.total(curve, self.shared, iterate.point, chosen)["curvature"]
        return self._penalized(H, chosen >= size - size // (self.d + 1))

    def diagonal(self, iterate: Iterate) -> Array:
        curvature = self.probabilities(iterate)
        diagonal = (np.diag(curvature) if self.has_hessian else curvature).reshape(self.shape)
        diagonal = diagonal.copy()
        diagonal[:-1] += self.l2
        diagonal[-1] = diagonal[-1] if self.fit_intercept else 1.0
        return np.asarray(diagonal)

    def dual_at(
        self, iterate: Iterate, move: Array, kept: float = 1.0
    ) -> tuple[Array, float] | None:
        sums = self.passes.total(bound, self.shared, iterate.point, move, kept)
        return None if sums["failed"] else (sums["pull"], float(sums["entropy"]))


def evaluate(rows: PartRows, shared: Broadcast, point: Array, curved: bool) -> Any:
    """Loss, gradient and curvature of a part at a point."""

    def measure(X: Any, y: Any) -> Sums:
        problem = shared.problem(X, y)
        iterate = problem.at(point)
        curvature = problem.hessian(iterate) if curved else problem.diagonal(iterate).ravel()
        return Sums(loss=iterate.objective, gradient=iterate.gradient, curvature=curvature)

    return _summed(rows, measure)


def curve(rows: PartRows, shared: Broadcast, point: Array, chosen: NDArray[np.intp]) -> Any:
    """Some of the curvature of a part at a point."""

    def measure(X: Any, y: Any) -> Sums:
        problem = shared.problem(X, y)
        return Sums(curvature=problem.hessian(problem.at(point), chosen))

    return _summed(rows, measure)


def bound(rows: PartRows, shared: Broadcast, point: Array, move: Array, kept: float) -> Any:
    """What a part adds to the dual bound."""

    def measure(X: Any, y: Any) -> Sums:
        problem = shared.problem(X, y)
        dual = problem.dual_at(problem.at(point), move, kept)
        pull, entropy = (np.zeros(problem.shape), 0.0) if dual is None else dual
        return Sums(pull=pull, entropy=entropy, failed=int(dual is None))

    return _summed(rows, measure)


def _summed(rows: PartRows, measure: Any) -> Any:
    with one_blas_thread():
        return rows.summed(measure)
