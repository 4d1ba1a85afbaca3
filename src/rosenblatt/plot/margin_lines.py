"""The street of a support vector machine, its slacks (L1, L3), and other lines beside it (V14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .drawing import DASHES, INK, PALE, axes_for, colour, labelled_axes, marker
from .regions import set_frame, two_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ON_LINE = 1e-6  # how far from one a margin may be to count as on the canonical line
FINENESS = 200
POINT, RING = 36, 120  # areas of markers


def margins(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the plane of a machine with two classes and two features, its street and the slacks.

    The solid line is the plane, the dashed lines are the canonical ones, where the score is -1 and
    +1. A row on or beyond the wrong side of its own line has a ring: it is a support vector. From a
    row inside its margin a thin line runs to its own canonical line; its length is the slack
    divided by the length of w.

    Parameters
    ----------
    model : a fitted classifier of two classes with `decision_function`, such as `LinearSVC`.
    X, y : rows (n, 2) and their labels (n,).
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import LinearSVC
    >>> from rosenblatt.plot import margins
    >>> X, y = [[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]], [-1, 1, 1, 1, -1]
    >>> widest = LinearSVC(C=float("inf"), penalize_intercept=False).fit(X, y)
    >>> margins(widest, X, y, ax=plt.figure().gca()).get_title()
    'margin 0.2236, 3 support vectors'
    """
    classes = getattr(model, "classes_", ())
    if len(classes) != 2:
        got = len(classes) or f"{type(model).__name__}, which has none"
        raise ValueError(f"margins are drawn for two classes; got {got}.")
    points, labels = two_features(X), np.asarray(y).ravel()
    ax = axes_for(ax)
    set_frame(ax, points, getattr(model, "feature_names_in_", ("x1", "x2")))
    scores = np.asarray(model.decision_function(points), np.float64)
    sign = np.where(labels == model.classes_[1], 1.0, -1.0)
    carry = sign * scores <= 1 + ON_LINE
    _draw_street(ax, model)
    if hasattr(model, "coef_"):
        _draw_slacks(ax, np.ravel(model.coef_), points, sign, scores)
    draw_classes(ax, points, labels, model.classes_)
    ax.scatter(
        points[carry, 0],
        points[carry, 1],
        s=RING,
        facecolors="none",
        edgecolors=INK,
        linewidths=1,
        zorder=5,
    )
    if hasattr(model, "coef_") or hasattr(model, "margin_"):
        of_plane = hasattr(model, "coef_")
        width = 1 / float(np.linalg.norm(model.coef_)) if of_plane else float(model.margin_[0])
        ax.set_title(f"margin {width:.4g}, {np.count_nonzero(carry):,} support vectors")
    return ax


def _draw_street(ax: Axes, model: Any) -> None:
    """The lines where the score is -1, 0 and 1, and a tint between the outer two."""
    across, up = np.meshgrid(
        np.linspace(*ax.get_xlim(), FINENESS), np.linspace(*ax.get_ylim(), FINENESS)
    )
    places = np.column_stack([across.ravel(), up.ravel()])
    scores = np.asarray(model.decision_function(places), np.float64).reshape(across.shape)
    ax.contourf(across, up, scores, [-1, 1], colors=[PALE], alpha=0.35, zorder=0)
    ax.contour(across, up, scores, [0], colors=[INK], linewidths=1.8, zorder=3)
    ax.contour(across, up, scores, [-1, 1], colors=[INK], linewidths=1, linestyles=[DASHES])


def _draw_slacks(
    ax: Axes, w: NDArray[Any], points: NDArray[Any], sign: NDArray[Any], scores: NDArray[Any]
) -> None:
    """From each row inside its margin the way to its own canonical line."""
    inside = np.flatnonzero(sign * scores < 1 - ON_LINE)
    foot = points[inside] + ((sign - scores)[inside] / (w @ w))[:, None] * w
    for k, (begin, end) in enumerate(zip(points[inside], foot, strict=True)):
        label = "slack" if k == 0 else None
        ax.plot(*np.array([begin, end]).T, color=INK, linewidth=0.8, zorder=2, label=label)


def draw_classes(ax: Axes, points: NDArray[Any], labels: NDArray[Any], classes: Any) -> None:
    """Rows by class, each with its own colour and marker, and a legend."""
    for k, label in enumerate(classes):
        mine = points[labels == label]
        ax.scatter(
            mine[:, 0],
            mine[:, 1],
            s=POINT,
            color=colour(k),
            marker=marker(k),
            label=str(label),
            zorder=4,
        )
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1.06), ncols=4)


def separating_lines(
    X: Any, y: Any, n_lines: int = 5, random_state: Any = 0, ax: Axes | None = None
) -> Axes:
    """Draw several lines at which perceptrons stop, and the line with the widest margin (V14).

    Each perceptron visits the rows in another order and stops at the first line that separates.
    The smallest distance of a row from each line stands in the legend.

    Parameters
    ----------
    X, y : rows (n, 2) of two classes that a line separates, and their labels (n,).
    n_lines : how many perceptrons.
    random_state : int
        Seed of the first; the others follow it.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt.plot import separating_lines
    >>> X, y = [[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]], [-1, 1, 1, 1, -1]
    >>> len(separating_lines(X, y, n_lines=3, ax=plt.figure().gca()).get_lines())
    4
    """
    from rosenblatt.linear_model import Perceptron
    from rosenblatt.separation import separability
    from rosenblatt.svm import LinearSVC

    points, labels = two_features(X), np.asarray(y).ravel()
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"separating_lines are drawn for two classes; got {len(classes)}.")
    try:
        widest = LinearSVC(C=np.inf, penalize_intercept=False).fit(points, labels)
    except ValueError as error:
        if separability(points, labels).separable:
            raise
        raise ValueError(
            f"separating_lines needs rows that a line separates: none has all rows of {classes[0]} "
            f"on one side and all of {classes[1]} on the other. separability(X, y) has the proof."
        ) from error
    ax = labelled_axes(ax, "x1", "x2")
    set_frame(ax, points, ("x1", "x2"))
    for k in range(n_lines):
        model = Perceptron(tol=None, max_iter=100_000, random_state=random_state + k)
        model.fit(points, labels)
        _draw_line(ax, model, points, {"color": PALE, "linewidth": 1.2}, f"perceptron {k + 1}")
    _draw_line(ax, widest, points, {"color": INK, "linewidth": 2.2}, "widest")
    draw_classes(ax, points, labels, widest.classes_)
    # Beside the picture, which makes room on its left: the lines cross all of it.
    ax.set_anchor("W")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small", frameon=False)
    return ax


def _draw_line(ax: Axes, model: Any, points: NDArray[Any], style: Any, name: str) -> None:
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    nearest = float(np.abs(points @ w + b).min() / np.linalg.norm(w))
    limits = ax.get_xlim(), ax.get_ylim()
    # From the foot of the perpendicular on the middle of the picture, both ways past its edges.
    middle = np.mean(limits, axis=1)
    foot = middle - (w @ middle + b) / (w @ w) * w
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w) * np.ptp(limits, axis=1).sum()
    ax.plot(*np.array([foot - along, foot + along]).T, **style, label=f"{name}: {nearest:.3g}")
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
