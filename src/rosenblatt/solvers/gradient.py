"""Plain gradient descent, with a fixed step or one that is searched for."""

from collections.abc import Iterator

import numpy as np

from .problem import Array, Place, Problem

FALL = 1e-4
ROUNDING = 4e-15


class Diverged(ArithmeticError):
    """The objective rose again and again, or left the numbers: the step is too large."""


def gradient(problem: Problem, place: Place, step: float | None = None) -> Iterator[Place]:
    """Steps against the gradient; an L1 penalty then pulls each weight towards 0, not past it.

    With a fixed `step` nothing is searched for. Raises `Diverged` if the objective is not finite or
    has risen twice in a row. Without one, each iteration begins with twice the last step and halves
    it until the objective falls by what the slope promises.
    """
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


def _fixed(problem: Problem, place: Place, step: float) -> Iterator[Place]:
    rises = 0
    while True:
        new = problem.at(_moved(problem, place, step))
        higher = new.objective > place.objective * (1 + ROUNDING)
        rises = rises + 1 if higher else 0
        if not np.isfinite(new.objective) or not np.all(np.isfinite(new.gradient)) or rises == 2:
            raise Diverged(f"the objective rose from {place.objective:.6g} to {new.objective:.6g}")
        place = new
        yield place


def _moved(problem: Problem, place: Place, step: float) -> Array:
    """A step against the gradient, and the pull of L1 over its length."""
    with np.errstate(over="ignore", invalid="ignore"):
        point = place.point - step * place.gradient
    if problem.l1:
        w = point[:-1]
        point[:-1] = np.sign(w) * np.maximum(np.abs(w) - step * problem.l1, 0.0)
    return point
