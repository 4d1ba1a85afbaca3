"""What the page knows of a run: plain JSON types, thinned to a size that opens at once.

Steps that share a model share a *state*, so that right visits cost next to nothing.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.capabilities import trace_view
from rosenblatt.plot.drawing import clipped
from rosenblatt.plot.regions import is_flat
from rosenblatt.runtime.atomic_files import drafted
from rosenblatt.trace.frame import PROOFS, has, kept, searches_penalty
from rosenblatt.trace.notation import rounding
from rosenblatt.trace.run import Run, Step

from .model_views import coefficients, has_supports, heaviest, published, running
from .page_points import Grid, Points, numbers
from .picture import Fit
from .plot_columns import Ground
from .run import strided

MOST_STEPS = 2000
MOST_BARS = 24  # weights shown when there are more; half as many of several classes


def payload_of(
    run: Run, unit: str, feature_names: Sequence[str] | None, most_steps: int = MOST_STEPS
) -> dict[str, Any]:
    """The run as the view reads it; `unit` is what a step is, such as a pass or a split."""
    steps = [run.steps[i] for i in strided(len(run.steps), most_steps)]
    first = list({id(step.estimator): step for step in steps}.values())  # one step per model
    number = {id(step.estimator): i for i, step in enumerate(first)}
    ground = run.ground
    axes = ground.names(run.last, feature_names)
    names = axes if not ground.steps else ground.made_of(axes) or run.data.feature_names(run.last)
    points = Points.of(run, ground.data, [step.row for step in steps if step.row is not None])
    states = _States.of(run, ground, points, len(first))
    return {
        "model": run.name,
        "run": clipped(run.label, 200),
        "unit": unit,
        "classes": [clipped(name) for name in getattr(run.last, "classes_", ())],
        "axes": [clipped(name) for name in axes] if points or states.fit else [],
        "features": [clipped(names[j]) for j in states.features],
        "expanded": bool(ground.steps),
        "n_features": run.data.n_features,
        "published": published(run.last) or None,
        "rounding": rounding(run.last),
        "supports": states.supports,
        "n_steps": len(run.steps),
        "steps": [_step(run, step, number[id(step.estimator)]) for step in steps],
        "states": [
            states.payload(run, step, before)
            for step, before in zip(first, [None, *first[:-1]], strict=True)
        ],
        "points": points and points.payload(),
        "fit": states.fit and states.fit.payload(),
        "grid": states.grid and states.grid.payload(),
    }


def _step(run: Run, step: Step, state: int) -> dict[str, Any]:
    record: dict[str, Any] = {"step": step.step, "epoch": step.epoch, "state": state}
    record["n_updates"] = step.n_updates
    if not run.single:
        record["mistakes"] = run.mistakes(step)
    if step.row is not None:
        record |= {"row": int(step.row), "mistake": bool(step.mistake)}
        record["score"] = numbers(np.asarray(step.score, dtype=np.float64))
    return record


@dataclass(frozen=True, eq=False)
class _States:
    """What is told of each state: weights of features or supports, scores on a grid, a curve."""

    features: list[int]
    supports: list[int] | None
    points: Points | None
    grid: Grid | None
    fit: Fit | None
    searched: bool  # whether the penalty was, on the way

    @classmethod
    def of(cls, run: Run, ground: Ground, points: Points | None, n_states: int) -> _States:
        coef = _coef(run.last)
        features = list(range(run.data.n_features)) if coef is None else _heaviest(coef)
        supports = grid = None
        if points is not None and (coef is None or ground.steps):
            grid = Grid.around(points.at, len(points.classes), n_states, ground.seen)
        elif has_supports(run.last):
            several = len(trace_view(run.last)["support_weights"]) > 1
            supports = heaviest(run.last, MOST_BARS // 2 if several else MOST_BARS)
        named = coef is not None or points is not None
        fit = Fit.of(run, n_states)
        searched = searches_penalty(run)
        return cls(features if named else [], supports, points, grid, fit, searched)

    def payload(self, run: Run, step: Step, before: Step | None) -> dict[str, Any]:
        """The state after `step` as plain JSON types; of supports it says which have `turned`."""
        measures, model = run.measures(step), step.estimator
        state: dict[str, Any] = {
            "objective": numbers(measures.objective),
            "error": numbers(measures.error),
        }
        if model is None:
            return state
        for name in PROOFS:
            if has(run, name):
                state[name] = numbers(getattr(measures, name))
        if self.searched:
            state |= {"alpha": numbers(model.alpha_), "n_kept": kept(model)}
        state |= _weights(model, self.features)
        if "news" in trace_view(model):
            state["news"] = trace_view(model)["news"]
        run_itself = running(model)
        if run_itself is not None:
            state["last_objective"] = numbers(measures.last_objective)
            state["last_error"] = numbers(measures.last_error)
            if self.points is not None:
                told = _weights(run_itself, self.features)
                state |= {f"last_{name}": value for name, value in told.items()}
        if has_supports(model):
            view = trace_view(model)
            state |= {"n_support": len(view["supports"]), "intercept": numbers(view["intercept"])}
            if self.points is not None:
                state["turned"] = self.points.turned(before and before.estimator, model)
        if self.supports is not None:
            state["dual"] = numbers(coefficients(model, self.supports))
        if self.fit is not None:
            state["curve"] = self.fit.curve(model)
        if self.grid is not None:
            state |= {"scores": self.grid.encoded(model), "flat": is_flat(model)}
        return state | (self.points.judged(model) if self.points is not None else {})


def _heaviest(coef: NDArray[np.float64]) -> list[int]:
    """The features whose weights are shown: all if they are few, else the heaviest at the end."""
    most = MOST_BARS if len(coef) == 1 else MOST_BARS // 2
    if coef.shape[1] <= most:
        return list(range(coef.shape[1]))
    first = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:most]
    return sorted(int(j) for j in first)


def _weights(estimator: Any, features: Sequence[int]) -> dict[str, Any]:
    """The weights of a linear model for the features shown, and its intercepts."""
    coef = _coef(estimator)
    if coef is None:
        return {}
    bias = np.broadcast_to(np.asarray(trace_view(estimator)["intercept"], np.float64), len(coef))
    return {"coef": numbers(coef[:, features]), "intercept": numbers(bias)}


def _coef(estimator: Any) -> NDArray[np.float64] | None:
    """The weights (1, d) or (K, d) of a linear model."""
    coef = trace_view(estimator).get("weights")
    return None if coef is None else np.asarray(coef, dtype=np.float64)


# A run as one self-contained page: the data as JSON, and the view that replays it.


PARTS = (
    "drawing", "geometry", "contours", "marks", "picture", "fit", "charts", "controls", "view",
)  # fmt: skip
MOST_BYTES = 4_800_000  # of data; the page as a whole stays below 5 MB


def save_page(
    path: str | os.PathLike[str], run: Run, unit: str, feature_names: Sequence[str] | None = None
) -> None:
    """Write the page whole or not at all."""
    # What a link points to, so that the link stays one; a shell leaves "~" alone within quotes.
    target = Path(os.path.realpath(os.path.expanduser(path)))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to save the page in.")
    page = page_of(run, unit, feature_names).encode()
    with drafted(target) as draft:
        draft.write_bytes(page)


def page_of(run: Run, unit: str, feature_names: Sequence[str] | None) -> str:
    """The page's HTML."""
    parts = {
        "title": html.escape(f"{run.name}, {unit} by {unit}"),
        "style": _source("view.css"),
        "view": view_source().replace("export default", "const view ="),
        "data": _data(run, unit, feature_names),
    }
    page = _source("page.html")
    for name in ("title", "style", "view", "data"):  # the data last: it may contain anything
        page = page.replace(f"%{name}%", parts[name])
    return page


def view_source() -> str:
    """The view as one ES module with ``export default { render }``: its parts, joined."""
    module = "\n".join(_source(f"{part}.js") for part in PARTS)
    module = re.sub(r"^import .*;\n", "", module, flags=re.M)
    return re.sub(r"^export (?=const|function)", "", module, flags=re.M)


def _data(run: Run, unit: str, feature_names: Sequence[str] | None) -> str:
    """The run as JSON, of as many steps as the page may weigh."""
    most = MOST_STEPS
    while True:
        payload = payload_of(run, unit, feature_names, most)
        data = json.dumps(payload, allow_nan=False, separators=(",", ":"))
        if len(data) <= MOST_BYTES or most == 2:
            # "<" as an escape: no label can close the script element it travels in.
            return data.replace("<", "\\u003c")
        most = max(2, int(0.95 * most * MOST_BYTES / len(data)))


def _source(name: str) -> str:
    return resources.files("rosenblatt.trace").joinpath("view", name).read_text(encoding="utf-8")
