"""Plain gradient descent, with a fixed step or one that is searched for."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from rosenblatt.loops import random
from rosenblatt.runtime.storage import arrays

from . import logistic_loops, softmax_loops
from .logistic_problem import Array, BinaryProblem, LogisticProblem, Place
from .softmax import SoftmaxProblem

FALL = 1e-4
ROUNDING = 4e-15


class Diverged(ArithmeticError):
    """The objective rose again and again, or left the numbers: the step is too large."""


def gradient(problem: LogisticProblem, place: Place, step: float | None = None) -> Iterator[Place]:
    """Steps against the gradient; an L1 penalty then pulls each weight towards 0, not past it."""
    # With a fixed `step` nothing is searched for. Raises `Diverged` if the objective is not finite
    # or has risen twice in a row. Without one, each iteration begins with twice the last step and
    # halves it until the objective falls by what the slope promises.
    if step is not None:
        yield from _fixed(problem, place, step)
        return
    step = 1.0 / max(float(np.max(problem.diagonal(place))), 1e-300)
    while True:
        step *= 2.0
        while True:
            new = problem.at(_moved(problem, place, step))
            move = new.point - place.point
            # The objective lies below the quadratic of curvature 1/step wherever this holds.
            promise = float(np.vdot(place.gradient, move)) + 0.5 * float(np.vdot(move, move)) / step
            promise += problem.l1 * float(
                np.abs(new.point[:-1]).sum() - np.abs(place.point[:-1]).sum()
            )
            if new.objective <= place.objective + promise + ROUNDING * abs(place.objective):
                break
            step *= 0.5
            if step < 1e-300 or not np.any(move):
                return
        if not np.any(new.point != place.point):
            return
        place = new
        yield place


def _fixed(problem: LogisticProblem, place: Place, step: float) -> Iterator[Place]:
    rises = 0
    while True:
        new = problem.at(_moved(problem, place, step))
        higher = new.objective > place.objective * (1 + ROUNDING)
        rises = rises + 1 if higher else 0
        if not np.isfinite(new.objective) or not np.all(np.isfinite(new.gradient)) or rises == 2:
            raise Diverged(f"the objective rose from {place.objective:.6g} to {new.objective:.6g}")
        place = new
        yield place


def _moved(problem: LogisticProblem, place: Place, step: float) -> Array:
    """A step against the gradient, and the pull of L1 over its length."""
    with np.errstate(over="ignore", invalid="ignore"):
        point = place.point - step * place.gradient
    if problem.l1:
        w = point[:-1]
        point[:-1] = np.sign(w) * np.maximum(np.abs(w) - step * problem.l1, 0.0)
    return point


# Stochastic gradient descent: a step after each example.


PATIENCE = 10  # passes after which an objective this many times that of the start is hopeless,
FAR = 10.0  # for steps fall as one over the passes: what the first did the next cannot undo


def sgd(
    problem: LogisticProblem, place: Place, seed: int, step: float | None = None
) -> Iterator[Place]:
    """Passes over the rows in random order: ``w += step c s(-m) y x`` at each."""
    # Steps are for the mean loss, and fall as ``step / (1 + passes made)``. The first is one over
    # the mean curvature of a row by default. Raises `Diverged` if a score is not a finite number,
    # or if after some passes the objective is far above what it was at first and without weights.
    start = max(place.objective, problem.zero())
    order = np.arange(problem.n, dtype=np.int32)
    weight = problem.c * (problem.n / problem.c.sum())
    decay = problem.l2 / problem.c.sum()
    point = place.point.copy()
    if step is None:  # one over the curvature of the mean loss along all directions together
        per_class = problem.diagonal(place).reshape(problem.d + 1, -1).sum(axis=0)
        step = 1.0 / max(float(per_class.max() / problem.c.sum()), 1e-300)
    passes = 0
    while True:
        steps = step / (1.0 + passes + np.arange(problem.n) / problem.n)
        random.shuffle(order, seed + (passes << 32))
        with np.errstate(over="ignore"):
            shrink = np.maximum(1.0 - steps * decay, 0.0)
        if _pass(problem, weight, order, steps, shrink, point):
            raise Diverged("a score left the range of floating point")
        passes += 1
        place = problem.at(point.copy())
        if not np.isfinite(place.objective):
            raise Diverged("the objective left the range of floating point")
        if passes == PATIENCE and place.objective > FAR * start:
            raise Diverged(
                f"the objective is {place.objective:.6g} after {passes} passes, and was "
                f"{start:.6g} at first"
            )
        yield place


def _pass(
    problem: LogisticProblem, c: Array, order: Array, steps: Array, shrink: Array, point: Array
) -> bool:
    """Visit all rows, and say whether that had to be broken off. Changes the point."""
    scale, bias, rows = np.ones(1), float(problem.fit_intercept), arrays(problem.X)
    size = max(1, 30_000_000 // max(1, problem.X.shape[1]))  # so that Ctrl-C is heard
    for start in range(0, problem.n, size):
        some = slice(start, start + size)
        part = (order[some], steps[some], shrink[some])
        if isinstance(problem, BinaryProblem):
            made = logistic_loops.stochastic_pass(rows, problem.y, c, *part, bias, point, scale)
        else:
            assert isinstance(problem, SoftmaxProblem)
            made = softmax_loops.stochastic_pass(
                rows, problem.code, c, *part, bias, problem.reference, point, scale,
                np.empty(problem.K),
            )  # fmt: skip
        if made < len(order[some]):
            return True
    point[:-1] *= scale[0]
    return False


def safe_step(problem: LogisticProblem) -> float:
    """A first step that is too long for no row: one over the most that the loss of one may bend."""
    # That is half its squared length, and half of that for two classes.
    longest = 0.0
    for start, stop in problem.blocks(problem.d):
        part, c = problem.X[start:stop], problem.c[start:stop]
        if sp.issparse(part):
            squares = np.asarray(part.astype(np.float64).power(2).sum(axis=1)).ravel()
        else:
            squares = np.einsum("nd,nd->n", part, part, dtype=np.float64)
        longest = max(longest, float((c * (squares + problem.fit_intercept)).max()))
    return 2.0 / max(longest * float(problem.n / problem.c.sum()), 1e-300)
