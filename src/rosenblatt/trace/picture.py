"""A run as one matplotlib figure: the boundary moving, and the curves beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.capabilities import trace_view
from rosenblatt.plot.drawing import DASHES, INK, PALE, colour, draw_beside, draw_curve, pyplot
from rosenblatt.plot.regions import (
    draw_corners,
    draw_legend,
    draw_lines,
    draw_points,
    draw_regions,
    hollow_means,
    leads,
    note,
    set_frame,
    size_of,
    why_lineless,
)
from rosenblatt.trace.run import Run, Step

from .model_views import nameless, published, running
from .page_points import MOST_POINTS, numbers
from .plot_columns import Ground
from .run import sampled, strided

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_STEPS = 2000  # measured for a curve
SHRINKING = ("duality gap", "gradient norm")  # by factors, which a logarithm shows
CURRENT = " of the current weights"
PAST = 6  # boundaries drawn besides the last; half as many where each is several lines


def figure_of(run: Run, unit: str, feature_names: Sequence[str] | None = None) -> Figure:
    """Objective and error over the steps, and the way of a boundary or a curve.

    Boundaries are drawn of two features, the curve of a regression of one.
    """
    plt = pyplot()
    ground = run.ground
    names = ground.names(run.last, feature_names)
    steps = [run.steps[i] for i in strided(len(run.steps), MOST_STEPS)]
    curves = _curves(run, steps)
    data = ground.data
    planar = data.n_features == 2 and data.y is not None and hasattr(run.last, "classes_")
    drawn = planar or is_curve(ground, run.last)
    figure = plt.figure(figsize=(9.2, 4.6) if drawn else (6.4, 4.6), layout="constrained")
    grid = figure.add_gridspec(
        max(len(curves), 1), 2 if drawn else 1, width_ratios=(5, 4) if drawn else None
    )
    if drawn:
        draw = _draw_way if planar else draw_fit
        draw(figure.add_subplot(grid[:, 0]), run, ground, names)
    at, label = [step.step for step in steps], published(run.last) or None
    for i, (name, values) in enumerate(curves.items()):
        ax = figure.add_subplot(grid[i, -1])
        draw_curve(
            ax, at, values, name, label, current=name.endswith(CURRENT), log=name in SHRINKING
        )
        if label and name == "training error":
            draw_beside(ax, at, [run.measures(step).last_error for step in steps], "current")
    if curves:
        ax.set_xlabel(unit)
    return figure  # type: ignore[no-any-return]


def _curves(run: Run, steps: list[Step]) -> dict[str, list[float]]:
    """The quantities the model has, by name; the objective is that of the run."""
    measures = [run.measures(step) for step in steps]
    curves = {"training error": [m.error for m in measures]}
    if published(run.last):
        curves[f"objective{CURRENT}"] = [m.last_objective for m in measures]
    else:
        curves["objective"] = [m.objective for m in measures]
        # What is proved of the objective, where it is known: infinity is not drawn.
        curves["duality gap"] = [
            m.dual_gap if np.isfinite(m.dual_gap) else np.nan for m in measures
        ]
        curves["gradient norm"] = [m.gradient_norm for m in measures]
    return {name: values for name, values in curves.items() if not np.all(np.isnan(values))}


def _draw_way(ax: Axes, run: Run, ground: Ground, names: Sequence[str]) -> None:
    """The last regions, and boundaries of the past, the older the paler."""
    points = ground.data.points()
    set_frame(ax, points, names)
    models = _distinct([step.estimator for step in run.steps])
    past = models[:-1]
    most = PAST if len(run.last.classes_) == 2 else PAST // 2
    chosen = [past[i] for i in strided(len(past), most)]
    earlier = False
    for age, model in enumerate(reversed(chosen)):
        shade = 0.55 + 0.33 * (age + 1) / len(chosen)
        earlier |= draw_lines(ax, leads(model, ax, ground.seen), ink=str(shade), width=1.0, order=1)
    lead = leads(models[-1], ax, ground.seen)
    draw_regions(ax, lead)
    drawn = draw_lines(ax, lead)
    wrong, tied = run.ruler.wrong(models[-1]), run.ruler.tied(models[-1])
    wrong = np.zeros(len(points), np.bool_) if wrong is None else wrong
    view = trace_view(models[-1])
    weights = view.get("row_weights")
    draw_points(ax, points, run.data.labels(), run.last.classes_, wrong, tied, weights)
    if len(view.get("supports", ())):
        draw_corners(ax, points, view["supports"], "support")
    _draw_current(ax, models[-1], ground)
    if earlier:
        ax.plot([], [], color=PALE, linewidth=1.0, label="earlier")
    draw_legend(ax, points, most=4)
    line = "line" if "weights" in view and not ground.steps else "curve"
    note(
        ax,
        why_lineless(models[-1], line) or ("" if drawn else f"no {line} in this picture"),
        hollow_means(wrong),
        "" if weights is None else "size: weight in the last round",
        f"half filled: on the {line}, still a mistake" if tied.any() else "",
    )


def _draw_current(ax: Axes, model: Any, ground: Ground) -> None:
    """The line of the run's own weights beside that of their mean or pocket, and a key to both."""
    run_itself = running(model)
    if run_itself is None:
        return
    draw_lines(ax, leads(run_itself, ax, ground.seen), width=1.0, order=3.9, style=DASHES)
    ax.plot([], [], color=INK, linewidth=1.6, label=published(model))
    ax.plot([], [], color=INK, linewidth=1.0, linestyle=DASHES, label="current")


def _distinct(models: list[Any]) -> list[Any]:
    """The models in order, each once: right visits share theirs."""
    return list({id(model): model for model in models if model is not None}.values())


# The curve of a regression on one column, moving among its points.


FINENESS = 200  # places along the axis at which models are asked
ROOM = 3_000_000  # characters of a page for the curves of all steps
DIGITS = 5  # of a number on a curve: less than a pixel


def is_curve(ground: Ground, model: Any) -> bool:
    """Whether a model fits one number to one column."""
    data = ground.data
    if data.n_features != 1 or data.y is None or not hasattr(model, "predict"):
        return False
    return not hasattr(model, "classes_") and np.size(data.y) == np.shape(data.X)[0]


@dataclass(frozen=True, eq=False)
class Fit:
    """What a page draws of a regression on one column: points (n, 2), and curves over `across`.

    `rows` are the places across as the model sees them, `box` is what is shown.
    """

    points: NDArray[np.float64]
    across: NDArray[np.float64]
    rows: Any
    box: NDArray[np.float64]

    @classmethod
    def of(cls, run: Run, n_states: int) -> Fit | None:
        """The picture of a run; None unless it is one. A line is known by its two ends."""
        ground = run.ground
        if not is_curve(ground, run.last):
            return None
        points = points_of(ground)
        straight = not ground.steps and np.size(trace_view(run.last).get("weights", ())) == 1
        fineness = 2 if straight else int(np.clip(ROOM / (DIGITS + 4) / n_states, 40, FINENESS))
        across = places(ground, *_room_around(points[:, 0]), fineness)
        rows = ground.seen(across[:, None])
        return cls(points, across, rows, box_of(points, predicted(run.last, rows)))

    def curve(self, model: Any) -> list[float | None]:
        """What the model predicts at the places across, as plain JSON types."""
        values = numbers(predicted(model, self.rows))
        return [None if value is None else float(f"{value:.{DIGITS}g}") for value in values]

    def payload(self) -> dict[str, Any]:
        """The points, and where the curves are, as plain JSON types."""
        drawn = sampled(len(self.points), MOST_POINTS)
        return {
            "n": len(self.points),
            "sampled": len(drawn),
            "at": numbers(self.points[drawn]),
            "box": numbers(self.box),
            "across": numbers(self.across[[0, -1]]),
            "straight": len(self.across) == 2,
        }


def draw_fit(ax: Axes, run: Run, ground: Ground, names: Sequence[str]) -> None:
    """The points, the last curve, and curves of the past, the older the paler."""
    points = points_of(ground)
    set_frame(ax, points, (names[0], "target"))
    ax.set_aspect("auto")
    ax.locator_params(axis="x", nbins=6)
    across = places(ground, *_room_around(points[:, 0]), FINENESS)
    rows = ground.seen(across[:, None])
    last = predicted(run.last, rows)
    ax.set(**dict(zip(("xlim", "ylim"), box_of(points, last), strict=True)))
    past = [step.estimator for step in run.steps[:-1] if step.estimator is not None]
    chosen = [past[i] for i in strided(len(past), PAST)]
    for age, model in enumerate(reversed(chosen)):
        shade = str(0.55 + 0.33 * (age + 1) / len(chosen))
        ax.plot(across, predicted(model, rows), color=shade, linewidth=1.0, zorder=1)
    ax.scatter(points[:, 0], points[:, 1], s=size_of(points), c=colour(0), linewidths=0, zorder=3)
    ax.plot(across, last, color=INK, linewidth=1.6, zorder=4, label="fit")
    if chosen:
        ax.plot([], [], color=PALE, linewidth=1.0, label="earlier")
    draw_legend(ax, points, most=4)


def points_of(ground: Ground) -> NDArray[np.float64]:
    """The column and the target, (n, 2)."""
    return np.column_stack([ground.data.points(), np.asarray(ground.data.labels(), np.float64)])


def places(ground: Ground, low: float, high: float, fineness: int) -> NDArray[np.float64]:
    """Where models are asked: from low to high; where steps lie between, among the rows only."""
    if ground.steps:  # a power or a logarithm may not mean to be asked beyond
        points = ground.data.points()
        low, high = points.min(), points.max()
    return np.linspace(low, high, fineness)


def predicted(model: Any, rows: Any) -> NDArray[np.float64]:
    """What a model predicts for rows (m,)."""
    return np.asarray(nameless(model, rows).predict(rows), np.float64).ravel()


def box_of(points: NDArray[np.float64], curve: NDArray[np.float64]) -> NDArray[np.float64]:
    """Limits ([x0, x1], [y0, y1]) around points (n, 2) and a curve, as far as it stays near."""
    low, high = points[:, 1].min(), points[:, 1].max()
    far = (high - low) / 2
    near = np.clip(curve[np.isfinite(curve)], low - far, high + far)
    return np.array([_room_around(points[:, 0]), _room_around(np.append(points[:, 1], near))])


def _room_around(values: NDArray[np.float64]) -> tuple[float, float]:
    """Limits with some room around numbers."""
    low, high = float(values.min()), float(values.max())
    room = 0.12 * ((high - low) or 1.0)
    return low - room, high + room
