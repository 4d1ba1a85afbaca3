"""Logistic regression of several classes: how far the objective is from the best possible.

``P = l1 |W|_1 + l2/2 |W|^2 + sum c (logsumexp(z) - z_y)``, z = W x + b. Any probabilities p (n, K)
give ``D = -sum c p log p - sum_kj [|V_kj| - l1]_+^2 / (2 l2)``, ``V = sum c (e_y - p) x'``, which
no coefficients can go below; free intercepts ask for ``sum c (e_y - p) = 0``, which is brought
about exactly; without a square ``|V_kj| <= l1`` must hold, for which p is mixed with the labels
themselves. With a reference class, whose coefficients stay zero, its row of V is left out.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg
from numpy.typing import NDArray
from scipy.special import xlogy

from .binary_logistic import Bracket, solve_scaled
from .exact_arithmetic import flows, transported
from .lasso import Penalty, descend
from .rounded_matrix import UNIT, Floats, RoundedMatrix, total


@dataclass(frozen=True, eq=False)
class SoftmaxLogistic:
    """Rows of K classes, the weight c of each row's loss, and the penalty."""

    table: RoundedMatrix
    codes: NDArray[np.intp]
    c: Floats
    penalty: Penalty
    free: NDArray[np.intp]  # the classes with coefficients of their own

    @property
    def K(self) -> int:
        """How many classes there are."""
        return int(self.codes.max()) + 1

    def scores(self, W: Floats) -> tuple[Floats, Floats]:
        """Scores (n, K) without intercepts, and their rounding."""
        return self.table.times(np.ascontiguousarray(W.T))

    def value(self, W: Floats, z: Floats, rounding: Floats | float) -> float:
        """P at coefficients W with scores z, not below the true value."""
        own = z[np.arange(len(z)), self.codes]
        loss, more = total(self.c * (log_sums(z) - own))
        size = float(np.sum(self.c * np.abs(z).max(axis=1)))
        norm, further = self.penalty.of(W.ravel())
        off = 2 * float(np.sum(self.c * np.max(rounding, axis=1))) if np.ndim(rounding) else 0.0
        return loss + norm + 4 * more + further + off + 8 * UNIT * (size + float(np.sum(self.c)))

    def best_bias(self, z: Floats) -> Floats:
        """The intercepts (K,) that serve scores z best."""
        return best_bias(z, self.codes, self.c) if self.table.centred else np.zeros(z.shape[1])

    def dual(self, z: Floats) -> float:
        """D at the probabilities of scores z, not above the true value; -inf if there is none."""
        p = probabilities(z)
        n, K = p.shape
        if self.table.centred:
            wrong = flows(transported(p, self.codes, self.c), self.codes, self.c)
        else:
            wrong = p * self.c[:, np.newaxis]
            wrong[np.arange(n), self.codes] = 0.0
        given = wrong.sum(axis=1)
        masses = -wrong
        masses[np.arange(n), self.codes] = given
        V, rounding = self.slopes(masses)
        outer = np.abs(V) + rounding
        kept = self.penalty.kept(outer)
        if (given > self.c).any():  # by rounding: less of all is of no higher cost
            kept = min(kept, float(np.min(self.c / np.maximum(given, self.c))) * (1 - 4 * UNIT))
        share = kept * wrong / self.c[:, np.newaxis]
        share[np.arange(n), self.codes] = np.maximum(1.0 - kept * given / self.c, 0.0)
        value, more = total((-self.c[:, np.newaxis] * xlogy(share, share)).ravel())
        cost, further = 0.0, 0.0
        if self.penalty.l2 > 0:
            excess = self.penalty.excess(outer)
            cost, further = total((excess**2).ravel() / (2 * self.penalty.l2))
        allowance = 4 * (more + further) + 64 * UNIT * K * float(np.sum(self.c))
        return float(value - cost - allowance)

    def slopes(self, masses: Floats) -> tuple[Floats, Floats]:
        """V (free classes, d) and its rounding."""
        V, rounding = self.table.transposed(np.ascontiguousarray(masses[:, self.free]))
        return V.T, rounding.T

    def rough_slopes(self, masses: Floats) -> Floats:
        """V without a word on rounding."""
        return self.table.roughly_transposed(np.ascontiguousarray(masses[:, self.free])).T


def least_lead(z: Floats, rounding: Floats, codes: NDArray[np.intp]) -> float:
    """By how much each row's own score leads all others, at least, less rounding of both."""
    own = np.arange(len(z)), codes
    others = z + rounding
    others[own] = -np.inf
    return float((z[own] - rounding[own] - others.max(axis=1)).min())


def probabilities(z: Floats) -> Floats:
    """Softmax of scores (n, K)."""
    return np.asarray(np.exp(z - log_sums(z)[:, np.newaxis]))


def log_sums(z: Floats) -> Floats:
    """``log sum_k exp z_k`` of each row (n,)."""
    top = z.max(axis=1)
    return np.asarray(top + np.log(np.exp(z - top[:, np.newaxis]).sum(axis=1)))


def pull(problem: SoftmaxLogistic, z: Floats) -> Floats:
    """Derivatives of the losses in the scores (n, K): ``c (p - e_y)``."""
    force = probabilities(z) * problem.c[:, np.newaxis]
    force[np.arange(len(z)), problem.codes] -= problem.c
    return np.asarray(force)


def best_bias(z: Floats, codes: NDArray[np.intp], c: Floats) -> Floats:
    """The b (K,) that makes ``sum c (logsumexp(z + b) - (z + b)_y)`` least, its mean zero."""
    scores = np.ascontiguousarray(z.T)  # sums over few classes are slow along rows
    wanted = np.bincount(codes, c, len(scores))

    def look(b: Floats) -> tuple[float, Floats]:
        """The value at b, and the probabilities (K, n)."""
        moved = scores + b[:, np.newaxis]
        top = moved.max(axis=0)
        shares = np.exp(moved - top)
        total = shares.sum(axis=0)
        return float(np.sum(c * (top + np.log(total))) - wanted @ b), shares / total

    b = np.zeros(len(scores))
    reached, p = look(b)
    for _ in range(50):
        mass = p @ c
        curvature = np.diag(mass) - (p * c) @ p.T
        step = -np.linalg.pinv(curvature, rcond=1e-14, hermitian=True) @ (mass - wanted)
        step -= step.mean()
        new, p = look(b + step)
        while new > reached and np.abs(step).max() > 1e-12:
            step /= 2
            new, p = look(b + step)
        if not new < reached - 4 * UNIT * abs(reached):  # no more than rounding is left
            return b + step if new <= reached else b
        b, reached = b + step, new
    return b


def scale_of(problem: SoftmaxLogistic) -> float:
    """The size of the objective: what it is without coefficients."""
    z = np.zeros((problem.table.n, problem.K))
    return problem.value(np.zeros((1, 1)), z + problem.best_bias(z), 0.0)


def curvature(problem: SoftmaxLogistic, z: Floats) -> Floats:
    """Second derivatives of the loss in W and b, (K, d + 1, K, d + 1); no b, if there is none."""
    table, K, d = problem.table, problem.K, problem.table.d
    p = probabilities(z)
    width = d + table.centred
    H = np.zeros((K, width, K, width))
    columns = np.arange(d)
    for k in range(K):
        for j in range(k, K):
            h = problem.c * p[:, k] * ((k == j) - p[:, j])
            H[k, :d, j, :d] = table.scatter(columns, h)
            if table.centred:
                H[k, :d, j, d] = H[k, d, j, :d] = table.roughly_transposed(h)
                H[k, d, j, d] = h.sum()
            H[j, :, k, :] = H[k, :, j, :].T
    return H


# Logistic regression of several classes: better coefficients, to know both ends of the gap.
#
# The dual value of the published coefficients is a bound by itself; where it is loose, steps
# toward the best raise it, and lower what the objective is known to reach.


MOST_STEPS = 30
MOST_UNKNOWNS = 1000
HALVINGS = 8
ENOUGH = 2.0
PROXIMAL_STEPS = 300


def bracket(problem: SoftmaxLogistic, W: Floats, b: Floats, tol: float, effort: int) -> Bracket:
    """How far coefficients W (K, d) and intercepts b, of columns as centred, are from the best."""
    z, rounding = problem.scores(W)
    primal = problem.value(W[problem.free], z + b, rounding + 4 * UNIT * np.abs(b))
    lowest, highest = primal, problem.dual(z + problem.best_bias(z))
    bound = tol * scale_of(problem)
    if effort and not primal - highest <= bound:
        by_steps = problem.penalty.l1 > 0 and W.size > MOST_UNKNOWNS
        polish = _polish_by_proximal_steps if by_steps else _polish
        lowest, highest = polish(problem, W, primal, highest, bound)
    return Bracket(max(primal - lowest, 0.0), max(primal - max(highest, 0.0), 0.0))


def _polish(
    problem: SoftmaxLogistic, W: Floats, primal: float, highest: float, bound: float
) -> tuple[float, float]:
    """Newton steps from W: the lowest P and the highest D on the way."""
    lowest = primal
    z, rounding = problem.scores(W)
    b = problem.best_bias(z)
    value = problem.value(W[problem.free], z + b, rounding)
    for _ in range(MOST_STEPS):
        step = _newton_step(problem, W, z + b)
        along = problem.table.roughly_times(np.ascontiguousarray(step.T))
        for halving in range(HALVINGS):
            t = 0.5**halving
            trial, z_trial = W + t * step, z + t * along
            b_trial = problem.best_bias(z_trial)
            reached = problem.value(trial[problem.free], z_trial + b_trial, rounding)
            if reached < value:
                break
        else:
            break
        W, z, b, value = trial, z_trial, b_trial, reached
        lowest, highest = min(lowest, value), max(highest, problem.dual(z + b))
        if primal - highest <= max(ENOUGH * (primal - lowest), 0.1 * bound):
            break
    return lowest, highest


def _newton_step(problem: SoftmaxLogistic, W: Floats, z: Floats) -> Floats:
    """The change of W (K, d) that the second-order model asks for, the intercepts following."""
    free, d = problem.free, problem.table.d
    if W.size > MOST_UNKNOWNS:
        return _by_conjugate_gradients(problem, W, z)
    H, m = curvature(problem, z), len(free) * d
    gram = H[free][:, :d][:, :, free][:, :, :, :d].reshape(m, m)
    if problem.table.centred:  # less what the intercepts take of it
        both = H[free][:, :d, :, d].reshape(m, problem.K)
        gram = gram - both @ np.linalg.pinv(H[:, d, :, d], rcond=1e-12, hermitian=True) @ both.T
    w, gradient = W[free].ravel(), problem.rough_slopes(pull(problem, z)).ravel()
    target = gram @ w - gradient
    if problem.penalty.l1 == 0:
        new = solve_scaled(gram + problem.penalty.l2 * np.eye(m), target)
    else:
        new = descend(gram, target, w, problem.penalty)
    step = np.zeros_like(W)
    step[free] = (new - w).reshape(len(free), d)
    return step


def _by_conjugate_gradients(problem: SoftmaxLogistic, W: Floats, z: Floats) -> Floats:
    """The Newton step of many unknowns; the intercepts move along, and are set anew afterwards."""
    table, free, l2 = problem.table, problem.free, problem.penalty.l2
    d, m, K = table.d, len(problem.free), problem.K
    p, force = probabilities(z), pull(problem, z)
    gradient = problem.rough_slopes(force) + l2 * W[free]
    biases = K if table.centred else 0

    def times(v: Floats) -> Floats:
        v = np.ravel(v)
        V = np.zeros((K, d))
        V[free] = v[: m * d].reshape(m, d)
        moved = table.roughly_times(np.ascontiguousarray(V.T))
        if biases:
            moved = moved + v[m * d :]
        moved = problem.c[:, np.newaxis] * p * (moved - (p * moved).sum(axis=1, keepdims=True))
        W_part = problem.rough_slopes(moved) + (l2 + 1e-12) * V[free]
        b_part = moved.sum(axis=0) + 1e-12 * v[m * d :] if biases else np.zeros(0)
        return np.append(W_part.ravel(), b_part)

    size = m * d + biases
    A = scipy.sparse.linalg.LinearOperator((size, size), matvec=times, dtype=np.float64)
    right = np.append(-gradient.ravel(), -force.sum(axis=0) if biases else np.zeros(0))
    v, _ = scipy.sparse.linalg.cg(A, right, rtol=1e-5, maxiter=200)
    step = np.zeros_like(W)
    step[free] = v[: m * d].reshape(m, d)
    return step


def _polish_by_proximal_steps(
    problem: SoftmaxLogistic, W: Floats, primal: float, highest: float, bound: float
) -> tuple[float, float]:
    """Accelerated proximal steps from W, where absolute values are penalised."""
    table, penalty, free = problem.table, problem.penalty, problem.free
    lowest, V, momentum = primal, np.array(W), 1.0
    curvature = _steepest_curvature(problem)
    for i in range(PROXIMAL_STEPS):
        z = table.roughly_times(np.ascontiguousarray(V.T))
        b = problem.best_bias(z)
        moved = V[free] - problem.rough_slopes(pull(problem, z + b)) / curvature
        new = np.array(W)
        new[free] = np.sign(moved) * np.maximum(np.abs(moved) - penalty.l1 / curvature, 0.0)
        new[free] /= 1 + penalty.l2 / curvature
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        V, W, momentum = new + (momentum - 1) / following * (new - W), new, following
        if i % 20 == 19:
            z, rounding = problem.scores(W)
            b = problem.best_bias(z)
            lowest = min(lowest, problem.value(W[free], z + b, rounding))
            highest = max(highest, problem.dual(z + b))
            if primal - highest <= max(ENOUGH * (primal - lowest), 0.1 * bound):
                break
    return lowest, highest


def _steepest_curvature(problem: SoftmaxLogistic) -> float:
    """About the largest second derivative, by power iteration; steps are short enough with it."""
    v = np.random.RandomState(0).standard_normal(problem.table.d)
    size = 1.0
    for _ in range(20):
        v = problem.table.transposed(problem.c * problem.table.times(v / np.linalg.norm(v))[0])[0]
        size = float(np.linalg.norm(v))
        if size == 0:
            return 1.0
    return 0.55 * size
