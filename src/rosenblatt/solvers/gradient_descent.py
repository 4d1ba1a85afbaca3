"""Gradient descent, with a fixed step or a line search; stochastic gradient descent."""

from collections.abc import Iterator

import numpy as np
from sklearn.utils.extmath import row_norms

from rosenblatt.loops import random
from rosenblatt.loops.rows import arrays

from . import logistic_loops, softmax_loops
from .logistic_problem import Array, BinaryProblem, Iterate, LogisticProblem, soft_threshold
from .softmax import SoftmaxProblem

ROUNDING = 4e-15
MAX_EPOCHS_ABOVE_START = 10  # steps fall as one over the epochs: later ones cannot make up for
FAR_ABOVE_START = 10.0  # an objective this many times that of the start
CELLS_PER_CALL = 30_000_000  # so that Ctrl-C is noticed


class Diverged(ArithmeticError):
    """The objective rose, or is not finite: the step is too large."""


def gradient(
    problem: LogisticProblem, iterate: Iterate, step: float | None = None
) -> Iterator[Iterate]:
    """Take steps against the gradient; an L1 penalty then moves each weight towards 0.

    With a fixed `step`, raises `Diverged` if the objective is not finite or has risen twice in a
    row. Without one, each iteration begins with twice the last step and halves it until the
    objective falls as much as the slope promises.
    """
    if step is not None:
        yield from _fixed(problem, iterate, step)
        return
    step = 1.0 / max(float(np.max(problem.diagonal(iterate))), 1e-300)
    while True:
        step *= 2.0
        while True:
            new = problem.at(_stepped(problem, iterate, step))
            move = new.point - iterate.point
            # The objective lies below the quadratic of curvature 1/step wherever this holds.
            promise = float(np.vdot(iterate.gradient, move)) + 0.5 * np.vdot(move, move) / step
            promise += problem.l1 * float(
                np.abs(new.point[:-1]).sum() - np.abs(iterate.point[:-1]).sum()
            )
            if new.objective <= iterate.objective + promise + ROUNDING * abs(iterate.objective):
                break
            step *= 0.5
            if step < 1e-300 or not np.any(move):
                return
        if not np.any(new.point != iterate.point):
            return
        iterate = new
        yield iterate


def _fixed(problem: LogisticProblem, iterate: Iterate, step: float) -> Iterator[Iterate]:
    rises = 0
    while True:
        new = problem.at(_stepped(problem, iterate, step))
        rises = rises + 1 if new.objective > iterate.objective * (1 + ROUNDING) else 0
        if not np.isfinite(new.objective) or not np.all(np.isfinite(new.gradient)) or rises == 2:
            raise Diverged(
                f"the objective rose from {iterate.objective:.6g} to {new.objective:.6g}"
            )
        iterate = new
        yield iterate


def _stepped(problem: LogisticProblem, iterate: Iterate, step: float) -> Array:
    """Return the point after a step against the gradient and the proximal step of L1."""
    with np.errstate(over="ignore", invalid="ignore"):
        point = iterate.point - step * iterate.gradient
    if problem.l1:
        point[:-1] = soft_threshold(point[:-1], step * problem.l1)
    return point


def sgd(
    problem: LogisticProblem, iterate: Iterate, seed: int, step: float | None = None
) -> Iterator[Iterate]:
    """Run epochs over the rows in random order: ``w += step c s(-m) y x`` at each.

    Steps are for the mean loss, and fall as ``step / (1 + epochs)``. The first is one over the mean
    curvature of a row by default. Raises `Diverged` if a score is not finite, or if after some
    epochs the objective is far above that of the start and of zero weights.
    """
    start = max(iterate.objective, problem.zero())
    order = np.arange(problem.n, dtype=np.int32)
    weight = problem.c * (problem.n / problem.c.sum())
    decay = problem.l2 / problem.c.sum()
    point = iterate.point.copy()
    if step is None:  # one over the curvature of the mean loss along all directions together
        per_class = problem.diagonal(iterate).reshape(problem.d + 1, -1).sum(axis=0)
        step = 1.0 / max(float(per_class.max() / problem.c.sum()), 1e-300)
    epochs = 0
    while True:
        steps = step / (1.0 + epochs + np.arange(problem.n) / problem.n)
        random.shuffle(order, seed + (epochs << 32))
        with np.errstate(over="ignore"):
            shrink = np.maximum(1.0 - steps * decay, 0.0)
        if not _epoch(problem, weight, order, steps, shrink, point):
            raise Diverged("a score left the range of floating point")
        epochs += 1
        iterate = problem.at(point.copy())
        if not np.isfinite(iterate.objective):
            raise Diverged("the objective left the range of floating point")
        if epochs == MAX_EPOCHS_ABOVE_START and iterate.objective > FAR_ABOVE_START * start:
            raise Diverged(
                f"the objective is {iterate.objective:.6g} after {epochs} passes, and was "
                f"{start:.6g} at first"
            )
        yield iterate


def _epoch(
    problem: LogisticProblem, c: Array, order: Array, steps: Array, shrink: Array, point: Array
) -> bool:
    """Visit all rows and change the point; return False if a score was not finite."""
    scale, bias, rows = np.ones(1), float(problem.fit_intercept), arrays(problem.X)
    size = max(1, CELLS_PER_CALL // max(1, problem.X.shape[1]))
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
            return False
    point[:-1] *= scale[0]
    return True


def safe_step(problem: LogisticProblem) -> float:
    """Return a first step of `sgd` that is too long for no row: one over its largest curvature."""
    # That is at most half the squared length of the row, a quarter for two classes.
    longest = 0.0
    for start, stop in problem.blocks(problem.d):
        squares = row_norms(problem.X[start:stop].astype(np.float64), squared=True)
        weighted = problem.c[start:stop] * (squares + problem.fit_intercept)
        longest = max(longest, float(weighted.max()))
    return 2.0 / max(longest * float(problem.n / problem.c.sum()), 1e-300)
