"""Kernel logistic regression: how far from the best element of the feature space it is.

The learned element, one for each class that has any, is ``w_k = sum_i a_ki phi(x_i)``; the
objective is ``P = 1/2 sum_k |w_k|^2 + sum c (logsumexp(z) - z_y)``, ``z_k = w_k.phi(x) + b_k``. Two
classes are a softmax whose first has no element. Any probabilities p (n, K) give

    D = -sum c p log p - 1/2 sum_k m_k'K m_k,   m_ki = c_i ([y_i = k] - p_ik),

which no element can go below; free intercepts ask for ``sum_i m_ki = 0``, brought about exactly.
Nothing but kernel values is needed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .binary_logistic import setting_of, weights_of_classes
from .claims import Certificate, Claim, gap_claim, measured, share
from .closed_form import ClassData
from .exact_arithmetic import flows, transported
from .fitted_attributes import agreement, nearness, numbers_of
from .kernel_values import KernelOf, Space, feature_space, rate_claim, space_of
from .logistic_regression import _training_error
from .rounded_matrix import UNIT, Floats, total
from .softmax import best_bias, log_sums, probabilities


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Read a fitted kernel logistic regression and state what it achieved on the rows given."""
    data, setting = ClassData(model, X, y, weight), setting_of(model, len(y))
    a, b = np.asarray(model.dual_coef_, np.float64), np.asarray(model.intercept_, np.float64)
    kernel = KernelOf(model)
    space = space_of(model, kernel, data, np.flatnonzero(weight > 0))
    K = len(data.classes)
    if a.shape != (1 if K == 2 else K, space.published.shape[1]) or len(b) != len(a):
        raise ValueError(
            f"dual_coef_ {a.shape} and intercept_ {b.shape} do not belong to {K} classes and "
            f"{space.published.shape[1]} rows."
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("dual_coef_ and intercept_ must be finite to be certified.")
    c = weights_of_classes(data, setting)[data.codes] * data.weight * setting.C
    if (np.bincount(data.codes, c, K) == 0).any():
        raise ValueError("There is nothing to certify: a class has no row of positive weight.")
    claims: list[Claim] = [_training_error(data, a, b, space.published)]
    claims += rate_claim(model, X) if space.same or model.gamma != "scale" else []
    if space.least is not None:
        claims.append(feature_space(space, space.least))
    free = np.arange(1, 2) if K == 2 else np.arange(K - (model.softmax == "reference"))
    if len(a) > len(free) and (a[-1].any() or b[-1]):
        raise ValueError("The last class is the reference: its row of dual_coef_ must be zero.")
    problem = KernelLogistic(space, data.codes, c, free, bool(model.fit_intercept))
    claims += _claims(problem, a[: len(free)], b[: len(free)], tol, model)
    bias = "b free" if model.fit_intercept else "b = 0"
    loss = "log(1 + exp(-y_i z_i))" if K == 2 else "logsumexp(z_i) - z_i,y_i"
    words = (
        f"{setting.words(c)}, loss_i = {loss}, z_i = w.phi(x_i) + b, {bias}, kernel {kernel.name}"
    )
    return Certificate(type(model).__name__, words, data.words, tuple(claims))


@dataclass(frozen=True, eq=False)
class KernelLogistic:
    """Rows of K classes, the weight c of each row's loss, and the classes that have an element."""

    space: Space
    codes: NDArray[np.intp]
    c: Floats
    free: NDArray[np.intp]
    fit_intercept: bool

    def scores(self, a: Floats) -> tuple[Floats, Floats]:
        """Scores (n, K) without intercepts, and their rounding."""
        space, K = self.space, int(self.codes.max()) + 1
        z, off = np.zeros((space.n, K)), np.zeros((space.n, K))
        z[:, self.free] = space.published @ a.T
        sizes = np.abs(a).T
        off[:, self.free] = (len(sizes) + 4) * UNIT * (np.abs(space.published) @ sizes)
        off[:, self.free] += space.off * sizes.sum(axis=0)
        if space.cut:  # what the scores owe to the part of the kernel that is left out
            fitted = space.K[: space.n, -len(sizes) :]
            off[:, self.free] += np.abs((space.published - fitted) @ a.T)
        return z, off

    def value(self, a: Floats, z: Floats, off: Floats) -> tuple[float, float]:
        """P at counts a with scores z (n, K), and what rounding may have done to it."""
        loss, more = total(self.c * (log_sums(z) - z[np.arange(len(z)), self.codes]))
        nothing = np.zeros((self.space.n, len(a)))
        square, further = self.space.squares(self.space.both(nothing, a.T))
        allowance = 2 * float(self.c @ off.max(axis=1)) + 4 * more + further
        allowance += 8 * UNIT * float(self.c @ (1 + np.abs(z).max(axis=1)))
        return loss + square / 2, allowance

    def masses(self, p: Floats) -> Floats | None:
        """``c_i ([y_i = k] - p_ik)`` (n, K) of probabilities p, moved until they balance."""
        own = np.arange(len(p)), self.codes
        if self.fit_intercept:
            wrong = flows(transported(p, self.codes, self.c), self.codes, self.c)
        else:
            wrong = p * self.c[:, np.newaxis]
            wrong[own] = 0.0
        if (wrong.sum(axis=1) > self.c).any():
            return None
        masses = -wrong
        masses[own] = wrong.sum(axis=1)
        return np.asarray(masses)

    def dual(self, p: Floats) -> float:
        """D at probabilities p, not above the true value; -inf if they cannot be balanced."""
        masses = self.masses(p)
        if masses is None:
            return -np.inf
        own = np.arange(len(p)), self.codes
        share = -masses / self.c[:, np.newaxis]
        share[own] = np.maximum(1.0 - masses[own] / self.c, 0.0)
        entropy, more = total((-self.c[:, np.newaxis] * xlogy(share, share)).ravel())
        counts = self.in_space(masses[:, self.free])
        square, further = self.space.squares(counts)
        allowance = 4 * more + further + 64 * UNIT * p.shape[1] * float(np.sum(self.c))
        return float(entropy - square / 2 - allowance)

    def best_dual(self, p: Floats) -> float:
        """D at p, or on the way from p to the labels, where D is 0, if that is far better."""
        # Far from the best element, masses are too large: the square outweighs the entropy.
        highest, masses = self.dual(p), self.masses(p)
        if masses is None:
            return max(highest, 0.0)
        square, _ = self.space.squares(self.in_space(masses[:, self.free]))
        labels = np.zeros_like(p)
        labels[np.arange(len(p)), self.codes] = 1.0

        def about(t: float) -> float:
            share = labels + t * (p - labels)
            entropy = -float(np.sum(self.c[:, np.newaxis] * xlogy(share, share)))
            return entropy - t * t * square / 2

        t = max(2.0 ** -np.arange(40), key=about)
        if t < 1:
            highest = max(highest, self.dual(labels + t * (p - labels)))
        return max(highest, 0.0)

    def in_space(self, given: Floats) -> Floats:
        """Counts of the rows given, and none of those of the fit."""
        missing = len(self.space.K) - len(given)
        return np.vstack([given, np.zeros((missing, given.shape[1]))])


def _claims(problem: KernelLogistic, a: Floats, b: Floats, tol: float, model: Any) -> list[Claim]:
    """The gap, the gradient and the distance in the feature space; what the fit says of them."""
    c, codes, free = problem.c, problem.codes, problem.free
    z, off = problem.scores(a)
    biases = np.zeros(z.shape[1])
    biases[free] = b
    off = off + 4 * UNIT * np.abs(biases)
    value, blur = problem.value(a, z + biases, off)
    best = best_bias(z, codes, c) if problem.fit_intercept else np.zeros(z.shape[1])
    most = max(value + blur - problem.best_dual(probabilities(z + best)), 0.0)

    nothing = np.zeros_like(z)
    level = best_bias(nothing, codes, c) if problem.fit_intercept else nothing[0]
    scale = float(np.sum(c * (log_sums(nothing + level) - level[codes])))

    pull = -c[:, np.newaxis] * probabilities(z + biases)
    pull[np.arange(len(z)), codes] += c
    square, rounding = problem.space.squares(problem.space.both(-pull[:, free], a.T))
    slope = np.sum(pull[:, free].sum(axis=0) ** 2) if problem.fit_intercept else 0.0
    length = float(np.sqrt(max(square, 0.0) + rounding + slope)) / float(np.sum(c))
    gradient = f"length {length:.3g} for each unit of weight, in the feature space"
    distance = float(np.sqrt(2 * most))
    own, _ = problem.space.squares(problem.space.both(np.zeros((problem.space.n, len(a))), a.T))
    away = f"{distance:.3g}{share(distance, float(np.sqrt(max(own, 0.0))), 'its own length')}"
    widest = max(1.0, float(np.sqrt(np.diag(problem.space.K).max(initial=0.0))))
    derived = {
        "objective_": value,
        "gradient_norm_": float(np.sqrt(max(square, 0.0) + slope)),
        "dual_gap_": value - lower_value(problem, a, z, pull[:, free]),
    }
    sizes = {"objective_": scale, "gradient_norm_": float(np.sum(c)) * widest, "dual_gap_": scale}
    shaken = float(np.sqrt(rounding)) + 2 * widest * float(c @ off.max(axis=1))
    blurs = {"objective_": blur, "gradient_norm_": shaken, "dual_gap_": 2 * blur}
    return [
        gap_claim(most, scale, tol * scale, " (duality gap)"),
        measured("gradient", f"the gradient has {gradient}", length),
        measured(
            "distance",
            f"the learned element is within {away} of the best one, in the feature space",
            distance,
        ),
        *agreement(numbers_of(model), derived, sizes, nearness(model), blurs),
    ]


@np.errstate(over="ignore", invalid="ignore")  # a step too long is no better one
def lower_value(problem: KernelLogistic, a: Floats, z: Floats, pull: Floats) -> float:
    """The least P found on the way from the element of counts a, scores z, down its gradient."""
    # Not below the true value. No better one is looked for: it tells of a gap too small to be true.
    space, free, c = problem.space, problem.free, problem.c
    here = space.both(np.zeros_like(pull), a.T)
    slope = space.both(-pull, a.T)
    along, sizes = space.K @ slope, np.abs(slope)
    shaken = (len(slope) + 4) * UNIT * (np.abs(space.K) @ sizes)[: space.n]
    loss_blur = 2 * float(c @ (shaken + space.off * sizes.sum(axis=0)).max(axis=1))
    (square, more), (steep, further) = space.squares(here), space.squares(slope)
    cross, lowest = float(np.sum(here * along)), np.inf
    for t in (0.0, *2.0 ** -np.arange(20.0)):
        moved = z.copy()
        moved[:, free] -= t * along[: space.n]
        if problem.fit_intercept:
            moved += best_bias(moved, problem.codes, c)
        loss = float(c @ (log_sums(moved) - moved[np.arange(len(z)), problem.codes]))
        length = square - 2 * t * cross + t * t * steep
        rounding = more + t * t * further + 2 * t * np.sqrt(more * further)
        lowest = np.fmin(lowest, loss + t * loss_blur + (length + rounding) / 2)
    return float(lowest)
