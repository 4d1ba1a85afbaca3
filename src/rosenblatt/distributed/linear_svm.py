"""Linear support vector machines by parts: Newton's method on sums, a certified gap in each pass.

A squared loss is smooth as it is. The others are smoothed within `mu` of their corner (Nesterov
2005), and `mu` falls until the gap does: the slopes of the smoothed loss are multipliers that the
dual of the true one allows, so that every pass bounds the optimum from below.

All planes of a model, one for each class against the rest, take the same passes.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.base import warn_not_converged
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.solvers.newton import factored
from rosenblatt.svm.linear_svc import class_problems
from rosenblatt.svm.linear_svm import check_settings
from rosenblatt.svm.margin_problem import LEAST, ROUNDING, MarginProblem

from .census import Census, codes_of
from .passes import PartRows, Passes
from .sums import Sums

Array = NDArray[np.float64]
WIDEST = 1000  # columns whose products are formed
FIRST_MU, LAST_MU, FALL_OF_MU = 2.0, 1e-9, 0.2
ARMIJO, MOST_HALVINGS = 1e-4, 30
NEAR = 0.1  # of the smoothing error, or of the gap wanted: Newton's steps need not go below it


class Broadcast(NamedTuple):
    """What every part receives: the problems but for their rows."""

    classes: NDArray[Any] | None  # None: targets are numbers
    by_class: Array  # the factor of each class (K,)
    C: float
    epsilon: float
    squared: bool
    bias: float  # as in `MarginProblem`

    def problems(self, X: Any, y: Any) -> list[MarginProblem]:
        """The problems of some rows, one for each plane."""
        c = np.full(X.shape[0], self.C)
        if self.classes is None:
            t = np.asarray(y, np.float64)
            return [MarginProblem(X, t, c, c, self.epsilon, self.squared, self.bias)]
        codes = codes_of(self.classes, y)
        return class_problems(X, codes, c, self.by_class, self.squared, self.bias)


class Trial(NamedTuple):
    """Where a plane wants to be evaluated: weights and intercept (d + 1,), and the smoothing."""

    point: Array
    mu: float


def fit_parts(model: Any, passes: Passes) -> Any:
    """All planes step by step, a pass over the parts for each step of all."""
    shared, census = _broadcast(model, passes)
    passes.publish_columns(model)
    if model.n_features_in_ > WIDEST:
        raise ValueError(
            f"{type(model).__name__} by parts forms the products of all pairs of columns, at most "
            f"{WIDEST:,}; got {model.n_features_in_:,}. Use LogisticRegression, which need not."
        )
    n_planes = 1 if shared.classes is None or len(shared.classes) == 2 else len(shared.classes)
    zero = np.zeros(model.n_features_in_ + 1)
    at_zero = passes.total(evaluate, shared, [Trial(zero, FIRST_MU)] * n_planes)
    planes = [Plane(shared, float(model.tol), zero, at_zero[str(k)]) for k in range(n_planes)]
    n_iter = 0
    while n_iter < model.max_iter and any(plane.trial for plane in planes):
        total = passes.total(evaluate, shared, [plane.trial for plane in planes])
        for k, plane in enumerate(planes):
            if plane.trial is not None:
                plane.advance(total[str(k)])
        n_iter += 1
    _publish(model, planes, shared, census.dtype, n_iter)
    return model


def _broadcast(model: Any, passes: Passes) -> tuple[Broadcast, Census]:
    classifies = hasattr(model, "multi_class")
    penalty, joint = (model.penalty, model.multi_class) if classifies else ("l2", "ovr")
    check_settings(joint, penalty, model.loss, "auto", model.C)
    if penalty == "l1" or joint != "ovr" or np.isinf(model.C):
        raise ValueError(
            f"{type(model).__name__} is fitted by parts with penalty='l2', multi_class='ovr' and a "
            f"finite C; got penalty={penalty!r}, multi_class={joint!r}, C={model.C}."
        )
    census = Census(passes, by_class=classifies)
    bias = float(model.intercept_scaling) if model.penalize_intercept else np.inf
    factors = np.ones(1)
    if classifies:
        codes = np.arange(len(census.classes))
        factors = checks.class_weights(census.classes, codes, census.counts, model.class_weight)
    return Broadcast(
        census.classes if classifies else None, factors, float(model.C),
        0.0 if classifies else float(model.epsilon), model.loss.startswith("squared"),
        bias if model.fit_intercept else 0.0,
    ), census  # fmt: skip


def evaluate(rows: PartRows, shared: Broadcast, trials: list[Trial | None]) -> Any:
    """The sums of one part for every plane that wants them."""

    def measure(X: Any, y: Any) -> Sums:
        problems = shared.problems(X, y)
        return Sums(
            {
                str(k): measured(problem, trial)
                for k, (problem, trial) in enumerate(zip(problems, trials, strict=True))
                if trial is not None
            }
        )

    with one_blas_thread():
        return rows.summed(measure)


def measured(problem: MarginProblem, trial: Trial) -> Sums:
    """Losses, slopes and curvature of some rows, and what they add to the dual bound."""
    w, mu = trial.point[:-1], trial.mu
    excess = problem.excess(problem.scores(w) + trial.point[-1])
    price, size = problem.price(excess), np.abs(excess)
    if problem.squared:
        loss = smooth = float(price @ size**2)
        beta, bend = 2 * price * excess, np.where(size > 0, 2 * price, 0.0)
        costs = price * size**2  # beta^2 / (4 price)
    else:
        part = np.minimum(size / mu, 1.0)
        loss, smooth = float(price @ size), float(price @ (part * (size - 0.5 * mu * part)))
        beta, bend = price * np.sign(excess) * part, np.where((size > 0) & (size < mu), price, 0.0)
        bend, costs = bend / mu, np.zeros(len(size))
    some = np.flatnonzero(bend)
    Z, root = problem.X[some], np.sqrt(bend[some])[:, None]
    Z = Z.multiply(root).tocsr() if hasattr(Z, "tocsr") else Z * root
    edge = np.ravel(Z.T @ root)
    gram = Z.T @ Z
    H = np.empty((problem.d + 1, problem.d + 1))
    H[:-1, :-1] = gram.toarray() if hasattr(gram, "toarray") else gram
    H[-1, :-1] = H[:-1, -1] = edge
    H[-1, -1] = bend.sum()
    sides = [np.where(beta > 0, beta, 0.0), np.where(beta < 0, beta, 0.0)]
    return Sums(
        loss=loss,
        smooth=smooth,
        H=H,
        pull=np.array([np.append(problem.combination(side), side.sum()) for side in sides]),
        gain=np.array([problem.t @ s - problem.epsilon * np.abs(s).sum() for s in sides]),
        cost=np.array([costs[beta > 0].sum(), costs[beta < 0].sum()]),
        size=float(np.abs(problem.t) @ np.abs(beta)),
        far=float(np.sum(price[size > 0] / size[size > 0])),
    )


class Plane:
    """One plane on its way: the next point that it wants to see, and the best that it has seen."""

    def __init__(self, shared: Broadcast, tol: float, zero: Array, at_zero: Sums) -> None:
        self.shared = shared
        self.hold = 1 / shared.bias**2 if 0 < shared.bias < np.inf else 0.0
        self.point, self.objective, self.bound = zero, np.inf, 0.0
        self.wanted = tol * loss_without_weights(at_zero, shared)
        self.trial: Trial | None = Trial(zero, FIRST_MU)
        self.steps = self._newton()
        next(self.steps)
        self.advance(at_zero)

    @property
    def gap(self) -> float:
        """How far the best point is from the optimum, at most."""
        return self.objective - self.bound

    def advance(self, sums: Sums) -> None:
        """Take note of the sums at the trial point, and find the next; none once the gap is small.

        `trial` is then None.
        """
        trial = self.trial
        if trial is None:
            return
        objective = float(sums["loss"]) + self._penalty(trial.point)
        if objective < self.objective:
            self.point, self.objective = trial.point, objective
        allowance = ROUNDING * (abs(objective) + float(sums["size"]))
        self.bound = max(self.bound, dual_value(sums, self.shared) - allowance)
        try:
            self.trial = None if self.gap <= self.wanted else self.steps.send(sums)
        except StopIteration:
            self.trial = None

    def _penalty(self, point: Array) -> float:
        return 0.5 * float(point[:-1] @ point[:-1] + self.hold * point[-1] ** 2)

    def _newton(self) -> Generator[Trial, Sums, None]:
        """Newton's steps, halved until the smoothed objective falls enough."""
        penalty = np.append(np.ones(len(self.point) - 1), self.hold)
        free = np.append(np.ones(len(self.point) - 1), float(self.shared.bias > 0))
        point, mu = self.point, FIRST_MU
        sums = yield Trial(point, mu)
        while mu > LAST_MU:
            value = float(sums["smooth"]) + self._penalty(point)
            slope = free * (penalty * point - sums["pull"].sum(axis=0))
            H = sums["H"] * np.outer(free, free) + np.diag(np.where(free > 0, penalty, 1.0))
            if not H[-1, -1]:  # no row bends a free intercept: the parabola above the loss does
                H[-1, -1] = max(float(sums["far"]), 1e-300)
            move = -factored(H)(slope) * free
            fall = float(slope @ move)
            smoothing = 0.0 if self.shared.squared else float(sums["loss"]) - float(sums["smooth"])
            # With multipliers that are the slopes, half the squared gradient is the gap but for the
            # smoothing.
            rest = 0.5 * float(slope[:-1] @ slope[:-1])
            if rest <= NEAR * max(smoothing, self.wanted) or -fall <= 1e-15 * abs(value):
                if self.shared.squared:
                    return
                mu *= FALL_OF_MU
                sums = yield Trial(point, mu)
                continue
            for step in 0.5 ** np.arange(MOST_HALVINGS):
                new = point + step * move
                found = yield Trial(new, mu)
                if float(found["smooth"]) + self._penalty(new) <= value + ARMIJO * step * fall:
                    break
            else:
                return
            point, sums = new, found


def loss_without_weights(at_zero: Sums, shared: Broadcast) -> float:
    """The loss of zero weights, and of classes with the best intercept if that is free."""
    loss = float(at_zero["loss"])
    if shared.classes is None or not np.isinf(shared.bias):
        return max(loss, LEAST)
    # At zero every row is 1 inside its margin, so that the slopes are in proportion to the prices.
    up, down = np.abs(at_zero["pull"][:, -1]) / np.abs(at_zero["pull"][:, -1]).sum() * loss
    return float(max(4 * up * down / loss if shared.squared else 2 * min(up, down), LEAST * loss))


def dual_value(sums: Sums, shared: Broadcast) -> float:
    """A value that no plane goes below, from the multipliers that the slopes are."""
    up, down = sums["pull"][0, -1], -sums["pull"][1, -1]
    shares = np.ones(2)
    if np.isinf(shared.bias):  # they must sum to zero: those of the heavier sign are made smaller
        least = min(up, down)
        shares = np.array([least / up if up > 0 else 0.0, least / down if down > 0 else 0.0])
    v = shares @ sums["pull"]
    level = 0.0 if np.isinf(shared.bias) else shared.bias * v[-1]
    gain = float(shares @ sums["gain"])
    bend = float(v[:-1] @ v[:-1] + level**2 + 2 * shares**2 @ sums["cost"])
    share = gain / bend if bend > 0 else 1.0
    share = max(share if shared.squared else min(share, 1.0), 0.0)
    return share * gain - share**2 * bend / 2


def _publish(model: Any, planes: list[Plane], shared: Broadcast, dtype: Any, n_iter: int) -> None:
    points = np.array([plane.point for plane in planes])
    coef = points[:, :-1].astype(dtype)
    model.coef_ = coef[0] if shared.classes is None else coef
    model.intercept_ = points[:, -1].astype(dtype)
    if shared.classes is not None:
        model.classes_ = shared.classes
    model.objective_ = np.array([plane.objective for plane in planes])
    model.dual_gap_ = np.array([plane.gap for plane in planes])
    model.n_iter_ = n_iter
    short = [plane for plane in planes if plane.gap > plane.wanted]
    model.stop_reason_ = "max_iter" if n_iter >= model.max_iter and short else "converged"
    if short:
        worst = max(short, key=lambda plane: plane.gap / plane.wanted)
        model.stop_reason_ = "max_iter" if n_iter >= model.max_iter else "no_progress"
        warn_not_converged(
            f"{type(model).__name__} stopped after {n_iter} passes with a duality gap of "
            f"{worst.gap:.3g}; wanted was {worst.wanted:.3g}. Increase max_iter or tol, "
            "standardise the columns, or lower C."
        )
