"""Logistic regression by parts: loss, gradient and curvature are sums, the optimum is the same."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.linear_model.centred_rows import less
from rosenblatt.linear_model.logistic import attributes_of
from rosenblatt.linear_model.logistic_warnings import strengths
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.logistic import LogisticDescent, LogisticSettings, logistic_problem
from rosenblatt.solvers.logistic_problem import Array, LogisticProblem
from rosenblatt.solvers.summed_problem import SummedProblem

from .census import Census, codes_of
from .passes import PartRows, Passes
from .sums import Sums


class Broadcast(NamedTuple):
    """What every part receives: the problem but for its rows."""

    classes: NDArray[Any]
    price: Array  # of a row of each class, (K,)
    fit_intercept: bool
    reference: bool
    shift: Array | None  # taken off the columns

    def problem(self, X: Any, y: Any) -> LogisticProblem:
        """The problem of some rows, without the penalty."""
        codes, K = codes_of(self.classes, y), len(self.classes)
        about = ((0.0, 0.0), self.fit_intercept, self.reference)
        return logistic_problem(less(X, self.shift), codes, K, self.price[codes], *about)


def fit_parts(model: Any, passes: Passes) -> Any:
    """Newton's method, one pass a step; L-BFGS where there are too many weights for a matrix."""
    if model.solver in ("sgd", "gradient"):
        raise ValueError(
            f"solver={model.solver!r} goes row by row or step by step, and is not for parts: use "
            'solver="auto".'
        )
    strength, census = strengths(model), Census(passes, by_class=True)
    classes, K = census.classes, len(census.classes)
    totals = checks.row_weights(classes, np.arange(K), census.counts, model.class_weight)
    shift = census.offsets(passes.source.sparse) if model.fit_intercept else None
    shared = Broadcast(
        classes, strength.C * totals / census.counts, model.fit_intercept,
        model.softmax == "reference", shift,
    )  # fmt: skip
    passes.publish_columns(model)
    one_row_each = logistic_problem(
        np.zeros((K, model.n_features_in_)), np.arange(K), K, strength.C * totals,
        (strength.l1, strength.l2), shared.fit_intercept, shared.reference,
    )  # fmt: skip
    problem = SummedProblem(one_row_each, census.n_rows, OverParts(passes, shared))
    with one_blas_thread():
        descent = LogisticDescent(
            problem, np.zeros(problem.shape), _settings(model, problem, strength.C), watched=False
        )
        n_iter, reason = 0, None
        while reason is None and n_iter < model.max_iter:
            reason, n_iter = descent.advance(), n_iter + 1
        ended = descent.finish(reason or "max_iter")
    vars(model).update(attributes_of(descent, classes, census.dtype, shift))
    model.n_iter_, model.stop_reason_ = np.array([n_iter], np.int32), ended
    if said := descent.shortfall(ended):
        warn(said, ConvergenceWarning)
    return model


def _settings(model: Any, problem: SummedProblem, C: float) -> LogisticSettings:
    name = "newton-cholesky" if problem.curved else "lbfgs"
    return LogisticSettings(
        "coordinate" if problem.l1 else name, model.tol, model.max_iter, C, None, None,
        type(model).__name__, lambda columns: checks.listed(columns, model.feature_names_in_),
    )  # fmt: skip


class OverParts:
    """The sums of a problem over all parts, a pass each."""

    def __init__(self, passes: Passes, shared: Broadcast) -> None:
        self.passes, self.shared = passes, shared

    def at(self, point: Array, curved: bool) -> tuple[float, Array, Array]:
        """Loss, gradient, and the second derivative or its diagonal."""
        total = self.passes.total(evaluate, self.shared, point, curved)
        return float(total["loss"]), total["gradient"], total["curvature"]

    def hessian(self, point: Array, chosen: NDArray[np.intp]) -> Array:
        """The second derivative by the chosen entries of the flat point."""
        return np.asarray(self.passes.total(curve, self.shared, point, chosen)["curvature"])

    def dual(self, point: Array, move: Array) -> tuple[Array, float] | None:
        """Pull and entropy after a move, if these are probabilities."""
        total = self.passes.total(bound, self.shared, point, move)
        return (total["pull"], float(total["entropy"])) if not total["failed"] else None

    def entropy(self, point: Array, move: Array, kept: float) -> float:
        """The entropy after a move, the dual point multiplied by `kept`."""
        return float(self.passes.total(entropy_of, self.shared, point, move, kept)["entropy"])


def evaluate(rows: PartRows, shared: Broadcast, point: Array, curved: bool) -> Any:
    """Loss, gradient and curvature of a part at a point."""

    def measure(X: Any, y: Any) -> Sums:
        problem = shared.problem(X, y)
        place = problem.at(point)
        curvature = problem.hessian(place) if curved else problem.diagonal(place).ravel()
        return Sums(loss=place.objective, gradient=place.gradient, curvature=curvature)

    return _summed(rows, measure)


def curve(rows: PartRows, shared: Broadcast, point: Array, chosen: NDArray[np.intp]) -> Any:
    """Some of the curvature of a part at a point."""

    def measure(X: Any, y: Any) -> Sums:
        problem = shared.problem(X, y)
        return Sums(curvature=problem.hessian(problem.at(point), chosen))

    return _summed(rows, measure)


def bound(rows: PartRows, shared: Broadcast, point: Array, move: Array) -> Any:
    """What a part adds to the dual bound."""

    def measure(X: Any, y: Any) -> Sums:
        problem = shared.problem(X, y)
        dual = problem.dual_at(problem.at(point), move)
        pull, entropy = (np.zeros(problem.shape), 0.0) if dual is None else dual
        return Sums(pull=pull, entropy=entropy, failed=int(dual is None))

    return _summed(rows, measure)


def entropy_of(rows: PartRows, shared: Broadcast, point: Array, move: Array, kept: float) -> Any:
    """The entropy of a part after a move."""

    def measure(X: Any, y: Any) -> Sums:
        problem = shared.problem(X, y)
        return Sums(entropy=problem.entropy_at(problem.at(point), move, kept))

    return _summed(rows, measure)


def _summed(rows: PartRows, measure: Any) -> Any:
    with one_blas_thread():
        return rows.summed(measure)
