"""The curve of a regression on one feature, moving among its points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot.palette import INK, PALE, colour
from rosenblatt.plot.plane import draw_legend, set_frame, size_of
from rosenblatt.trace.guises import nameless
from rosenblatt.trace.points import MOST_POINTS, numbers
from rosenblatt.trace.run import Run
from rosenblatt.trace.thinning import sampled, strided

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINENESS = 200  # places along the axis at which models are asked
PAST = 6  # curves drawn besides the last


def is_curve(run: Run) -> bool:
    """Whether a run fits one number to one feature."""
    data = run.data
    if data.n_features != 1 or data.y is None or not hasattr(run.last, "predict"):
        return False
    return not hasattr(run.last, "classes_") and np.size(data.y) == np.shape(data.X)[0]


def fitted_points(run: Run) -> dict[str, Any] | None:
    """The points of a line's page as plain JSON types; None unless one feature has a line."""
    if not is_curve(run) or np.shape(getattr(run.last, "coef_", ())) not in ((1,), (1, 1)):
        return None
    points = np.column_stack([run.data.points(), np.asarray(run.data.labels(), np.float64)])
    drawn = sampled(len(points), MOST_POINTS)
    return {"n": len(points), "sampled": len(drawn), "at": numbers(points[drawn])}


def draw_fit(ax: Axes, run: Run, names: Sequence[str]) -> None:
    """The points, the last curve, and curves of the past, the older the paler."""
    points = np.column_stack([run.data.points(), np.asarray(run.data.labels(), np.float64)])
    set_frame(ax, points, (names[0], "target"))
    ax.set_aspect("auto")
    across = np.linspace(*ax.get_xlim(), FINENESS)
    past = [step.estimator for step in run.steps[:-1] if step.estimator is not None]
    chosen = [past[i] for i in strided(len(past), PAST)]
    for age, model in enumerate(reversed(chosen)):
        shade = str(0.55 + 0.33 * (age + 1) / len(chosen))
        ax.plot(across, predicted(model, across), color=shade, linewidth=1.0, zorder=1)
    ax.scatter(points[:, 0], points[:, 1], s=size_of(points), c=colour(0), linewidths=0, zorder=3)
    ax.plot(across, predicted(run.last, across), color=INK, linewidth=1.6, zorder=4, label="fit")
    if chosen:
        ax.plot([], [], color=PALE, linewidth=1.0, label="earlier")
    draw_legend(ax, points, most=4)


def predicted(model: Any, across: Any) -> Any:
    """What a model predicts at places (m,) along its feature."""
    X = across[:, None]
    return np.asarray(nameless(model, X).predict(X)).ravel()
