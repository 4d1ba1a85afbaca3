"""The curve of a regression on one column, moving among its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plot.drawing import INK, PALE, colour
from rosenblatt.plot.regions import draw_legend, set_frame, size_of
from rosenblatt.trace.ground import Ground
from rosenblatt.trace.guises import nameless
from rosenblatt.trace.points import MOST_POINTS, numbers
from rosenblatt.trace.run import Run
from rosenblatt.trace.thinning import sampled, strided

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINENESS = 200  # places along the axis at which models are asked
PAST = 6  # curves drawn besides the last
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
        straight = not ground.steps and np.size(getattr(run.last, "coef_", ())) == 1
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
