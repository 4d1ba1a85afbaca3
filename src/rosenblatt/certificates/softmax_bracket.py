"""Logistic regression of several classes: better coefficients, to know both ends of the gap.

The dual value of the published coefficients is a bound by itself; where it is loose, steps toward
the best raise it, and lower what the objective is known to reach.
"""

import numpy as np
import scipy.sparse.linalg

from .lasso import descend
from .logistic import Bracket, solve_scaled
from .softmax import Problem, curvature, probabilities, pull, scale_of
from .table import UNIT, Floats

MOST_STEPS = 30
MOST_UNKNOWNS = 1000
HALVINGS = 8
ENOUGH = 2.0
PROXIMAL_STEPS = 300


def bracket(problem: Problem, W: Floats, b: Floats, tol: float, effort: int) -> Bracket:
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
    problem: Problem, W: Floats, primal: float, highest: float, bound: float
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


def _newton_step(problem: Problem, W: Floats, z: Floats) -> Floats:
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


def _by_conjugate_gradients(problem: Problem, W: Floats, z: Floats) -> Floats:
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
    problem: Problem, W: Floats, primal: float, highest: float, bound: float
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


def _steepest_curvature(problem: Problem) -> float:
    """About the largest second derivative, by power iteration; steps are short enough with it."""
    v = np.random.RandomState(0).standard_normal(problem.table.d)
    size = 1.0
    for _ in range(20):
        v = problem.table.transposed(problem.c * problem.table.times(v / np.linalg.norm(v))[0])[0]
        size = float(np.linalg.norm(v))
        if size == 0:
            return 1.0
    return 0.55 * size
