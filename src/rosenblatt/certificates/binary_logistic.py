"""Logistic regression of two classes: how far the objective is from the best possible.

``P = l1 |w|_1 + l2/2 |w|^2 + sum c log(1 + exp(-m))``, with margins ``m = y (w.x + b)``. Any masses
``0 <= a <= c`` give a value that no coefficients can go below,
``D = sum c H(a / c) - sum_j [|v_j| - l1]_+^2 / (2 l2)``, ``v = sum a y x``, ``H(p)`` the entropy of
a coin; a free intercept asks for ``sum a y = 0``, which is brought about exactly, and without a
square ``|v_j| <= l1`` must hold, for which masses that balance are multiplied with a number below
one, and then balance still. The natural masses are ``c s(-m)`` at the best intercept. Where that
bound is loose, a few Newton steps give better masses, and a lower end as well.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.special import entr, expit

from .closed_form import ClassData
from .exact_arithmetic import balanced
from .lasso import MOST_COLUMNS, Penalty, columns_that_matter, descend
from .rounded_matrix import UNIT, Floats, RoundedMatrix, total

MOST_STEPS = 30
HALVINGS = 8
ENOUGH = 2.0  # ratio of the two ends at which a bracket is good
MOST_PRODUCTS = 100  # in a system too large to be formed


@dataclass(frozen=True, eq=False)
class BinaryLogistic:
    """Two classes y = -1 and 1, the weight c of each row's loss, and the penalty."""

    table: RoundedMatrix
    y: Floats
    c: Floats
    penalty: Penalty

    def scores(self, w: Floats) -> tuple[Floats, Floats]:
        """Scores without an intercept, of columns as the table centres them, and their rounding."""
        return self.table.times(w)

    def value(self, w: Floats, z: Floats, rounding: Floats) -> float:
        """P at coefficients w with scores z (n,), not below the true value."""
        loss, more = total(self.c * np.logaddexp(0.0, -self.y * z))
        norm, further = self.penalty.of(w)
        return loss + norm + 4 * more + further + float(np.sum(self.c * rounding))

    def best_bias(self, z: Floats) -> float:
        """The intercept that serves scores z best; zero where there is none."""
        return best_bias(z, self.y, self.c) if self.table.centred else 0.0

    def dual(self, z: Floats) -> float:
        """D at the masses of scores z, at their best intercept, not above its value; or -inf."""
        a = self.c * expit(-self.y * z)
        exact = balanced(a, self.y) if self.table.centred else a
        if exact is None:
            return -np.inf
        v, rounding = self.table.transposed(exact * self.y)
        outer = np.abs(v) + rounding
        kept = self.penalty.kept(outer)
        share = kept * exact / self.c
        value, more = total(self.c * (entr(share) + entr(1 - share)))
        cost, further = 0.0, 0.0
        if self.penalty.l2 > 0:
            cost, further = total(self.penalty.excess(outer) ** 2 / (2 * self.penalty.l2))
        allowance = 4 * (more + further) + 64 * UNIT * float(np.sum(self.c))
        return value - cost - allowance


@dataclass(frozen=True)
class Bracket:
    """An objective's excess over the best possible: not below `least`, not above `most`."""

    least: float
    most: float


def best_bias(z: Floats, y: Floats, c: Floats) -> float:
    """The b of least ``sum c log(1 + exp(-y (z + b)))``, by Newton steps kept in a bracket."""
    # Both classes have weight, so there is one.
    span = float(np.abs(z).max(initial=0.0)) + 40.0 + float(np.log(c.sum() / c.min()))
    low, high, b = -span, span, 0.0
    for _ in range(200):
        pull = c * expit(-y * (z + b))
        slope = -float(np.sum(pull * y))
        low, high = (b, high) if slope < 0 else (low, b)
        curvature = float(np.sum(pull * (1 - pull / c)))
        step = b - slope / curvature if curvature > 0 else np.nan
        new = step if low < step < high else (low + high) / 2
        if abs(new - b) <= 1e-15 * (1 + abs(b)):
            return new
        b = new
    return b


def bracket(problem: BinaryLogistic, w: Floats, b: float, tol: float, effort: int) -> Bracket:
    """How far coefficients w and intercept b, of columns as centred, are from the best."""
    z, rounding = problem.scores(w)
    rounding = rounding + 4 * UNIT * abs(b)
    primal = problem.value(w, z + b, rounding)
    at_best = z + problem.best_bias(z)
    lowest, highest = primal, problem.dual(at_best)
    bound = tol * scale_of(problem)
    if effort and not primal - highest <= bound:
        lowest, highest = _polish(problem, w, primal, highest, bound)
    # Both ends carry an allowance for rounding, which may be all that is left; no objective is
    # below 0.
    return Bracket(max(primal - lowest, 0.0), max(primal - max(highest, 0.0), 0.0))


def scale_of(problem: BinaryLogistic) -> float:
    """The size of the objective: what it is without coefficients."""
    nothing = np.zeros(problem.table.n)
    return problem.value(np.zeros(0), nothing + problem.best_bias(nothing), nothing)


def _polish(
    problem: BinaryLogistic, w: Floats, primal: float, highest: float, bound: float
) -> tuple[float, float]:
    """Newton steps from w: the lowest P and the highest D on the way."""
    lowest = primal
    z, rounding = problem.scores(w)
    b = problem.best_bias(z)
    value = problem.value(w, z + b, rounding)
    for _ in range(MOST_STEPS):
        step = _newton_step(problem, w, z + b)
        along, _ = problem.scores(step)
        for halving in range(HALVINGS):
            t = 0.5**halving
            trial, z_trial = w + t * step, z + t * along
            b_trial = problem.best_bias(z_trial)
            reached = problem.value(trial, z_trial + b_trial, rounding)
            if reached < value:
                break
        else:
            break
        w, b = trial, b_trial
        z, rounding = problem.scores(w)
        value = problem.value(w, z + b, rounding)
        lowest, highest = min(lowest, value), max(highest, problem.dual(z + b))
        if primal - highest <= max(ENOUGH * (primal - lowest), 0.1 * bound):
            break
    return lowest, highest


def _newton_step(problem: BinaryLogistic, w: Floats, z: Floats) -> Floats:
    """The change of w that the second-order model of the loss asks for, the intercept following."""
    table = problem.table
    p = expit(-problem.y * z)
    h = np.maximum(problem.c * p * (1 - p), 1e-12 * problem.c)
    gradient = -table.roughly_transposed(problem.c * p * problem.y)
    return quadratic_step(table, h, gradient, w, problem.penalty, MOST_PRODUCTS)


def quadratic_step(
    table: RoundedMatrix,
    h: Floats,
    gradient: Floats,
    w: Floats,
    penalty: Penalty,
    most_products: int,
) -> Floats:
    """The change of w that is best by the gradient and the curvature ``X'HX`` of a loss."""
    if penalty.l1 == 0 and table.d > MOST_COLUMNS:
        return _by_conjugate_gradients(
            table, h, gradient + penalty.l2 * w, penalty.l2, most_products
        )
    columns = columns_that_matter(w, gradient, penalty)
    gram = _curvature(table, h, columns)
    target = gram @ w[columns] - gradient[columns]
    new = np.zeros(table.d)
    if penalty.l1 == 0:
        new[columns] = solve_scaled(gram + penalty.l2 * np.eye(len(columns)), target)
    else:
        new[columns] = descend(gram, target, w[columns], penalty)
    return np.asarray(new - w)


def solve_scaled(A: Floats, right: Floats) -> Floats:
    """``A^-1 right``, columns scaled to one first."""
    diagonal = np.diag(A)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A, right = A * np.outer(scale, scale), scale * right
    if not (np.isfinite(A).all() and np.isfinite(right).all()):
        return np.zeros_like(right)
    try:
        return np.asarray(scale * np.linalg.solve(A, right))
    except np.linalg.LinAlgError:  # columns so far from zero that they are one column
        return np.asarray(scale * np.linalg.lstsq(A, right, rcond=None)[0])


def _curvature(table: RoundedMatrix, h: Floats, columns: NDArray[np.intp]) -> Floats:
    """``X'HX`` of some columns, less what a free intercept takes of it."""
    gram = table.scatter(columns, h)
    if table.centred:
        pull = table.roughly_transposed(h)[columns]
        gram = gram - np.outer(pull, pull) / h.sum()
    return gram


def _by_conjugate_gradients(
    table: RoundedMatrix, h: Floats, gradient: Floats, l2: float, most_products: int
) -> Floats:
    """The Newton step ``-(X'HX + l2)^-1 g`` of many columns, the intercept following."""

    def times(v: Floats) -> Floats:
        moved = table.roughly_times(np.ravel(v))
        if table.centred:
            moved = moved - (h @ moved) / h.sum()
        return table.roughly_transposed(h * moved) + l2 * np.ravel(v)

    A = scipy.sparse.linalg.LinearOperator((table.d, table.d), matvec=times, dtype=np.float64)
    step, _ = scipy.sparse.linalg.cg(A, -gradient, rtol=1e-4, maxiter=most_products)
    return np.asarray(step)


# Which problem the parameters of a logistic regression pose.


@dataclass(frozen=True)
class Setting:
    """What the parameters of a model say of its objective."""

    C: float  # infinite without a penalty
    l1_ratio: float
    class_weight: Any
    weighted_counts: bool  # whether "balanced" counts rows by their weights
    one_against_rest: bool = False
    penalised_intercept: float | None = None  # the value of its column, if it has a penalty

    @property
    def penalty(self) -> Penalty:
        """Of the objective multiplied with C."""
        if np.isinf(self.C):
            return Penalty(0.0, 0.0, False)
        return Penalty(self.l1_ratio, 1 - self.l1_ratio, False)

    @property
    def factor(self) -> float:
        """What multiplies the weights of the losses: C, or one without a penalty."""
        return 1.0 if np.isinf(self.C) else self.C

    def words(self, weights: Floats) -> str:
        """The penalty and the weights of the losses, as the objective is printed."""
        parts = []
        if self.penalty.l1:
            parts.append(f"{self.penalty.l1:g} |w|_1" if self.penalty.l1 != 1 else "|w|_1")
        if self.penalty.l2:
            parts.append(f"{self.penalty.l2 / 2:g} |w|^2")
        low, high = float(weights.min()), float(weights.max())
        span = f"c_i = {low:.6g}" if low == high else f"c_i = {low:.6g} .. {high:.6g}"
        return " + ".join([*parts, f"sum c_i loss_i, {span}"])


def setting_of(model: Any, n_rows: int) -> Setting:
    """Read the parameters."""
    names = {base.__name__ for base in type(model).__mro__}
    class_weight = getattr(model, "class_weight", None)
    if "SGDClassifier" in names:
        if model.loss != "log_loss":
            raise TypeError(
                f"SGDClassifier(loss={model.loss!r}) cannot be certified; loss='log_loss' can."
            )
        alpha = 0.0 if model.penalty is None else float(model.alpha)
        ratio = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
        C = 1 / (alpha * n_rows) if alpha > 0 else np.inf
        return Setting(C, float(ratio), class_weight, False, one_against_rest=True)
    C = float(np.ravel(getattr(model, "C_", getattr(model, "C", 1.0)))[0])
    ratio = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 0.0))
    ratio = np.ravel(ratio)[0]
    ratio = 0.0 if ratio is None else float(ratio)  # a search without ratios has [None]
    penalty = getattr(model, "penalty", "deprecated")
    if penalty is None:
        C = np.inf
    elif penalty in ("l1", "l2"):
        ratio = float(penalty == "l1")
    column = None
    theirs = type(model).__module__.partition(".")[0] == "sklearn"
    if theirs and getattr(model, "solver", None) == "liblinear" and model.fit_intercept:
        column = float(model.intercept_scaling)
    return Setting(C, ratio, class_weight, True, penalised_intercept=column)


def weights_of_classes(data: ClassData, setting: Setting) -> Floats:
    """The weight of each class (K,)."""
    K, given = len(data.classes), setting.class_weight
    if given is None:
        return np.ones(K)
    if given == "balanced":
        counts = data.counts
        if not setting.weighted_counts:
            counts = np.array([float(len(rows)) for rows in data.members])
        return np.asarray(counts.sum() / (K * np.where(counts > 0, counts, 1.0)))
    weights = [float(given.get(label, 1.0)) for label in data.classes.tolist()]
    return np.array(weights)
