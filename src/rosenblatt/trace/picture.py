"""A run as one matplotlib figure: the boundary moving, and the curves beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot.curves import draw_beside, draw_curve
from rosenblatt.plot.palette import INK, pyplot
from rosenblatt.plot.plane import (
    draw_lines,
    draw_points,
    draw_regions,
    draw_rings,
    hollow_means,
    leads,
    note,
    set_frame,
    why_lineless,
)
from rosenblatt.trace.guises import published, running
from rosenblatt.trace.run import Run, Step
from rosenblatt.trace.supports import has_supports
from rosenblatt.trace.thinning import strided

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_STEPS = 2000  # measured for a curve
PAST = 6  # boundaries drawn besides the last; half as many where each is several lines


def figure_of(run: Run, unit: str) -> Figure:
    """Objective and error over the steps, and for two features the boundary's way."""
    plt = pyplot()
    steps = [run.steps[i] for i in strided(len(run.steps), MOST_STEPS)]
    curves = _curves(run, steps)
    planar = run.data.n_features == 2 and run.data.y is not None and hasattr(run.last, "classes_")
    figure = plt.figure(figsize=(9.2, 4.6) if planar else (6.4, 4.6), layout="constrained")
    grid = figure.add_gridspec(
        max(len(curves), 1), 2 if planar else 1, width_ratios=(5, 4) if planar else None
    )
    if planar:
        _draw_way(figure.add_subplot(grid[:, 0]), run)
    for i, (name, values) in enumerate(curves.items()):
        ax = figure.add_subplot(grid[i, -1])
        at, label = [step.step for step in steps], published(run.last) or None
        draw_curve(ax, at, values, name, label)
        if label and name == "training error":
            draw_beside(ax, at, [run.measures(step).last_error for step in steps], "current")
    if curves:
        ax.set_xlabel(unit)
    return figure  # type: ignore[no-any-return]


def _curves(run: Run, steps: list[Step]) -> dict[str, list[float]]:
    """The quantities the model has, by name."""
    measures, name = [run.measures(step) for step in steps], published(run.last)
    curves = {
        "training error": [m.error for m in measures],
        f"objective of the {name}" if name else "objective": [m.objective for m in measures],
    }
    return {name: values for name, values in curves.items() if not np.all(np.isnan(values))}


def _draw_way(ax: Axes, run: Run) -> None:
    """The last regions, and boundaries of the past, the older the paler."""
    points = run.data.points()
    set_frame(ax, points, run.data.feature_names(run.last))
    models = _distinct([step.estimator for step in run.steps])
    past = models[:-1]
    most = PAST if len(run.last.classes_) == 2 else PAST // 2
    chosen = [past[i] for i in strided(len(past), most)]
    for age, model in enumerate(reversed(chosen)):
        shade = 0.55 + 0.33 * (age + 1) / len(chosen)
        draw_lines(ax, leads(model, ax), ink=str(shade), width=1.0, order=1)
    lead = leads(models[-1], ax)
    draw_regions(ax, lead)
    draw_lines(ax, lead)
    _draw_current(ax, models[-1])
    wrong, tied = run.ruler.wrong(models[-1]), run.ruler.tied(models[-1])
    wrong = np.zeros(len(points), np.bool_) if wrong is None else wrong
    if has_supports(models[-1]) and len(models[-1].support_):
        draw_rings(ax, points, models[-1].support_, "support")
    draw_points(ax, points, run.data.labels(), run.last.classes_, wrong, tied)
    note(
        ax,
        why_lineless(models[-1]),
        hollow_means(wrong),
        "half filled: on the line, still a mistake" if tied.any() else "",
    )


def _draw_current(ax: Axes, model: Any) -> None:
    """The line of the run's own weights beside that of their mean or pocket, and a key to both."""
    run_itself = running(model)
    if run_itself is None:
        return
    draw_lines(ax, leads(run_itself, ax), width=1.0, order=3.9, style="dashed")
    ax.plot([], [], color=INK, linewidth=1.6, label=published(model))
    ax.plot([], [], color=INK, linewidth=1.0, linestyle="dashed", label="current")


def _distinct(models: list[Any]) -> list[Any]:
    """The models in order, each once: right visits share theirs."""
    return list({id(model): model for model in models if model is not None}.values())
