"""What the page knows of a run: plain JSON types, thinned to a size that opens at once.

Steps that share a model share a *state*, so that right visits cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plot.palette import clipped
from rosenblatt.trace.points import Points, numbers
from rosenblatt.trace.run import Run, Step
from rosenblatt.trace.thinning import strided

MOST_STEPS = 2000
MOST_BARS = 24  # weights shown when there are more features; half as many of several classes


def payload_of(
    run: Run, unit: str, feature_names: Sequence[str], most_steps: int = MOST_STEPS
) -> dict[str, Any]:
    """The run as the view reads it; `unit` is what a step is: pass, update or visit."""
    features = _features(run)
    steps = [run.steps[i] for i in strided(len(run.steps), most_steps)]
    points = Points.of(run, [step.row for step in steps if step.row is not None])
    first = list({id(step.estimator): step for step in steps}.values())  # one step per model
    number = {id(step.estimator): i for i, step in enumerate(first)}
    return {
        "model": run.name,
        "run": clipped(run.label, 200),
        "unit": unit,
        "classes": [clipped(name) for name in getattr(run.last, "classes_", ())],
        "features": [clipped(feature_names[j]) for j in features],
        "n_features": run.data.n_features,
        "n_steps": len(run.steps),
        "steps": [_step(step, number[id(step.estimator)]) for step in steps],
        "states": [_state(run, step, features, points) for step in first],
        "points": points and points.payload(),
    }


def _features(run: Run) -> list[int]:
    """The features whose weights are shown: all if they are few, else the heaviest at the end."""
    coef = _coef(run.last)
    if coef is None:
        return []
    most = MOST_BARS if len(coef) == 1 else MOST_BARS // 2
    if coef.shape[1] <= most:
        return list(range(coef.shape[1]))
    heaviest = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:most]
    return sorted(int(j) for j in heaviest)


def _step(step: Step, state: int) -> dict[str, Any]:
    record: dict[str, Any] = {"step": step.step, "epoch": step.epoch, "state": state}
    record["n_updates"] = step.n_updates
    if step.row is not None:
        record |= {"row": int(step.row), "mistake": bool(step.mistake)}
        record["score"] = numbers(np.asarray(step.score, dtype=np.float64))
    return record


def _state(run: Run, step: Step, features: Sequence[int], points: Points | None) -> dict[str, Any]:
    measures = run.measures(step)
    state: dict[str, Any] = {
        "objective": numbers(measures.objective),
        "error": numbers(measures.error),
    }
    coef = _coef(step.estimator)
    if coef is not None:
        bias = np.broadcast_to(np.asarray(step.estimator.intercept_, np.float64), len(coef))
        state |= {"coef": numbers(coef[:, features]), "intercept": numbers(bias)}
    if points is not None and step.estimator is not None:
        state |= points.judged(step.estimator)
    return state


def _coef(estimator: Any) -> NDArray[np.float64] | None:
    """The weights (1, d) or (K, d) of a linear model."""
    coef = getattr(estimator, "coef_", None)
    return None if coef is None else np.atleast_2d(np.asarray(coef, dtype=np.float64))
