"""Points in the plane, and the regions a classifier makes of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.capabilities import planes_of, trace_view

from .drawing import INK, axes_for, clipped, colour, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINENESS = 240  # grid points along each axis; a linear boundary is exact on any grid


def boundary(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw data with two features, and the regions in which a classifier predicts each class.

    Any fitted classifier will do. The boundary is where two classes tie in
    ``decision_function`` or ``predict_proba``; without these it follows ``predict``. Hollow
    points are predicted wrongly.

    Parameters
    ----------
    model : the fitted classifier.
    X, y : the points (n, 2) and their labels (n,).
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import Perceptron
    >>> from rosenblatt.plot import boundary
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> boundary(Perceptron().fit(X, y), X, y, ax=plt.figure().gca()).get_xlabel()
    'x1'
    """
    points = two_features(X)
    if not hasattr(model, "classes_"):
        raise TypeError(
            f"boundary draws the regions of a fitted classifier; {type(model).__name__} has no "
            "classes_. The clusters of a traced k-means or mixture are drawn by plot.cluster_steps."
        )
    ax = axes_for(ax)
    set_frame(ax, points, getattr(model, "feature_names_in_", ("x1", "x2")))
    lead = leads(model, ax)
    draw_regions(ax, lead)
    draw_lines(ax, lead)
    labels = np.asarray(y).ravel()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (does not have|has) .*feature names")
        wrong = np.asarray(model.predict(X)) != labels
    draw_points(ax, points, labels, model.classes_, wrong)
    draw_legend(ax, points)
    note(ax, why_lineless(model), hollow_means(wrong))
    return ax


def two_features(X: Any) -> NDArray[np.float64]:
    """X as a dense array (n, 2)."""
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X must have two features to be drawn; got shape {points.shape}.")
    return points


def set_frame(ax: Axes, points: NDArray[np.float64], names: Sequence[str]) -> None:
    """Give the axes room around the points, one scale for both where that is sensible."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    span = 1.24 * np.ptp(points, axis=0)
    span[span == 0] = 1.0
    if 1 / 3 < span[0] / span[1] < 3:
        span[:] = span.max()
        ax.set_aspect("equal")
    ax.set_xlim(middle[0] - span[0] / 2, middle[0] + span[0] / 2)
    ax.set_ylim(middle[1] - span[1] / 2, middle[1] + span[1] / 2)
    ax.set_xlabel(str(names[0]))
    ax.set_ylabel(str(names[1]))
    ax.spines[["top", "right"]].set_visible(False)


def leads(
    model: Any, ax: Axes, seen: Callable[[NDArray[np.float64]], Any] = np.asarray
) -> NDArray[np.float64]:
    """By how much each class leads its best rival, over a grid on the axes: (2 + K, m, m).

    The first two layers are the coordinates. What the model sees of places (m, 2) is ``seen`` of
    them.
    """
    across, up = np.meshgrid(
        np.linspace(*ax.get_xlim(), FINENESS), np.linspace(*ax.get_ylim(), FINENESS)
    )
    scores = class_scores(model, seen(np.column_stack([across.ravel(), up.ravel()])))
    best = np.sort(scores, axis=1)[:, -2:]
    rival = np.where(scores == best[:, 1:], best[:, :1], best[:, 1:])
    return np.stack([across, up, *(scores - rival).T.reshape(-1, *across.shape)])


def class_scores(model: Any, grid: Any) -> NDArray[np.float64]:
    """A score per row and class, from the best source the model has."""
    K = len(model.classes_)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        for method in ("decision_function", "predict_proba"):
            if not hasattr(model, method):
                continue
            scores = np.asarray(getattr(model, method)(grid), dtype=np.float64)
            if scores.ndim == 1:
                return np.column_stack([-scores, scores])
            if scores.shape[1] == K:
                return scores
        return np.asarray(model.predict(grid)[:, None] == model.classes_, dtype=np.float64)


def draw_regions(ax: Axes, lead: NDArray[np.float64]) -> None:
    """Tint the region of each class."""
    across, up, *layers = lead
    for k, layer in enumerate(layers):
        if layer.max() > 0:
            ax.contourf(across, up, layer, [0, layer.max()], colors=[colour(k)], alpha=0.12)


def draw_lines(
    ax: Axes,
    lead: NDArray[np.float64],
    ink: str = INK,
    width: float = 1.6,
    order: float = 4,
    style: Any = "solid",
) -> bool:
    """Draw the boundaries between the regions, and say whether there are any."""
    across, up, *layers = lead
    if style != "solid" and len(layers) > 2:
        layers = _once_each(lead[2:])  # dashes of the same line twice would fill each other's gaps
    layers = layers if len(layers) > 2 else layers[:1]
    crossed = [layer for layer in layers if layer.min() < 0 < layer.max()]  # at first, none is
    for layer in crossed:
        ax.contour(
            across, up, layer, [0], colors=ink, linewidths=width, linestyles=[style], zorder=order
        )
    return bool(crossed)


def _once_each(layers: NDArray[np.float64]) -> list[Any]:
    """Leads (K, m, m), each masked but where its class contends with a later one."""
    first, second = np.argsort(-layers, axis=0)[:2]
    return [
        np.ma.masked_where(np.minimum(first, second) != k, layer) for k, layer in enumerate(layers)
    ]


def draw_points(
    ax: Axes,
    points: NDArray[np.float64],
    y: NDArray[Any],
    classes: Any,
    wrong: NDArray[np.bool_],
    tied: NDArray[np.bool_] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> None:
    """Draw the points by class, in a colour and a shape of its own, with its name for the legend.

    Those that are `wrong` (n,) are hollow, and those `tied` (n,) on the line are half filled. The
    area of a mark is proportional to its weight (n,), if there are weights.
    """
    size = size_of(points)
    scales = np.ones(len(points)) if weights is None else mark_scales(weights) ** 2
    tied = np.zeros(len(points), np.bool_) if tied is None else tied
    for k, name in enumerate(classes):
        mine = y == name
        ax.scatter([], [], s=size, c=colour(k), marker=marker(k), label=clipped(name))
        _draw_class(ax, points[mine], k, size * scales[mine], wrong[mine] | tied[mine])
        _draw_halves(ax, points[mine & tied], k, size)


def draw_legend(ax: Axes, points: NDArray[np.float64], most: int = 6) -> None:
    """A legend above of everything drawn that has a name, so many to a line."""
    keys = len(ax.get_legend_handles_labels()[0])
    rows = -(-keys // most)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=-(-keys // rows), frameon=False,
        markerscale=float(np.sqrt(42 / size_of(points))), handletextpad=0.4, columnspacing=1.2,
        borderaxespad=0.2,
    )  # fmt: skip


def draw_corners(ax: Axes, points: NDArray[np.float64], chosen: Sequence[int], name: str) -> None:
    """Four corners around each of the chosen points, with their name for the legend.

    A ring would be taken for a hollow point.
    """
    size = size_of(points)
    line: dict[str, Any] = {"facecolors": "none", "edgecolors": INK}
    x, y = points[chosen].T
    width = 0.9 if size > 20 else 0.6
    ax.scatter(x, y, s=2.6 * size + 14, marker=_corners(), linewidths=width, zorder=3.2, **line)
    ax.scatter([], [], s=2.2 * size, marker=_corners(dot=True), linewidths=0.9, label=name, **line)


def _corners(dot: bool = False) -> Any:
    """The corners of a square as a marker, with a dot within for a key."""
    from matplotlib.path import Path

    right = np.array([[1.0, 0.45], [1.0, 1.0], [0.45, 1.0]])
    turns = [np.array([[a, 0], [0, b]]) for a in (1, -1) for b in (1, -1)]
    paths = [Path(right @ turn) for turn in turns]
    return Path.make_compound_path(*paths, *([Path.circle((0, 0), 0.08)] if dot else []))


def size_of(points: NDArray[np.float64]) -> float:
    """The size of a mark, smaller where there are many."""
    return float(np.clip(6000 / max(len(points), 1), 8, 42))


def mark_scales(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """How wide marks (n,) are, beside one of mean weight: between 0.4 and 3."""
    mean = float(weights.mean()) or 1.0
    return np.clip(np.sqrt(weights / mean), 0.4, 3.0)


def _draw_class(
    ax: Axes,
    points: NDArray[np.float64],
    k: int,
    sizes: NDArray[np.float64],
    hollow: NDArray[np.bool_],
) -> None:
    """The points of class k."""
    size = float(np.median(sizes)) if len(sizes) else 0.0
    rim = 0.6 if size > 20 else 0.0
    ax.scatter(
        points[:, 0], points[:, 1], s=sizes, marker=marker(k), zorder=3,
        facecolors=np.where(hollow, "white", colour(k)),
        edgecolors=np.where(hollow, colour(k), "white").tolist(),
        linewidths=np.where(hollow, 1.4 if size > 20 else 0.9, rim).tolist(),
    )  # fmt: skip


def _draw_halves(ax: Axes, points: NDArray[np.float64], k: int, size: float) -> None:
    """The left halves of hollow points, filled."""
    from matplotlib.markers import MarkerStyle

    if len(points):
        half = MarkerStyle(marker(k), fillstyle="left")
        ax.scatter(
            points[:, 0], points[:, 1], s=size, marker=half, c=colour(k), linewidths=0, zorder=3.1
        )


def is_flat(model: Any) -> bool:
    """Whether a model has no line: its weights are all zero, or those of no class differ.

    Weights are those of a linear model or of the supports of a kernel model.
    """
    view = trace_view(model)
    weights = view.get("weights", view.get("support_weights"))
    if weights is None:
        return False
    weights = planes_of(weights)
    return not np.any(weights if len(weights) == 1 else weights - weights[0])


def why_lineless(model: Any, line: str = "line") -> str:
    """What to say of a model that has no line; nothing of others."""
    if not is_flat(model):
        return ""
    linear = "weights" in trace_view(model)
    return f"w = 0: no {line} yet" if linear else "no supports: no curve yet"


def hollow_means(wrong: NDArray[np.bool_]) -> str:
    """The key to hollow points, if there are any."""
    return "hollow: predicted wrongly" if wrong.any() else ""


def note(ax: Axes, *remarks: str) -> None:
    """Print what needs saying above the legend, where it covers no point."""
    text, legend = "; ".join(filter(None, remarks)), ax.get_legend()
    if text and legend is not None:
        legend.set_title(text)
        legend.get_title().set_fontsize("small")
        legend.set_alignment("left")
