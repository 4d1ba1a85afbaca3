"""Nearest neighbours in the plane: cells, the neighbours of a point, boundaries as k grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Voronoi

from rosenblatt.neighbors import KNeighborsClassifier
from rosenblatt.neighbors import distance_concentration as concentration

from .drawing import COLOURS, INK, PALE, axes_for, clipped, colour, labelled_axes, pyplot
from .regions import boundary, draw_legend, draw_points, note, set_frame, size_of, two_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = NDArray[np.float64]

LEAST_STAR = 260.0  # so that a place is seen among many points
FAR = 10.0  # times the spread of the points: a cell that ends there is open


def voronoi(X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the cell of each point: all places that are nearer to it than to any other point.

    A new row gets the label of the cell it lies in: the boundary of one nearest neighbour, drawn
    bold, is made of the edges between cells of different labels.

    Parameters
    ----------
    X, y : the points (n, 2), at least two different ones, and their labels (n,).
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt.plot import voronoi
    >>> ax = voronoi([[0, 0], [4, 2]], ["ham", "spam"], ax=plt.figure().gca())
    >>> x, y = ax.lines[0].get_data()       # of (0, 0) and (4, 2): 2x + y = 5
    >>> (2 * x + y).round(9)
    array([5., 5.])
    """
    points, labels = two_features(X), np.asarray(y).ravel()
    classes, codes = np.unique(labels, return_inverse=True)
    first = np.sort(np.unique(points, axis=0, return_index=True)[1])  # of equal points
    if len(first) < 2:
        raise ValueError("Cells need two different points at least; all rows of X are equal.")
    ax = axes_for(ax)
    set_frame(ax, points, getattr(X, "columns", ("x1", "x2")))
    diagram = _bounded(points[first])
    for i, k in enumerate(codes[first]):
        corners = diagram.vertices[diagram.regions[diagram.point_region[i]]]
        ax.fill(*corners.T, color=colour(int(k)), alpha=0.12, linewidth=0)
    _draw_edges(ax, diagram, codes[first])
    draw_points(ax, points, labels, classes, np.zeros(len(points), np.bool_))
    draw_legend(ax, points)
    return ax


def _bounded(points: Points) -> Voronoi:
    """The cells of points (n, 2), all of them closed: four more lie far outside."""
    middle, reach = points.mean(axis=0), FAR * float(np.ptp(points, axis=0).max())
    corners = middle + reach * np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    return Voronoi(np.vstack([points, corners]))


def _draw_edges(ax: Axes, diagram: Voronoi, codes: NDArray[np.intp]) -> None:
    """The edges between cells; bold, and first, those between different labels."""
    edges = [
        (diagram.vertices[ends], bool(codes[a] != codes[b]))
        for (a, b), ends in zip(diagram.ridge_points, diagram.ridge_vertices, strict=True)
        if max(a, b) < len(codes)
    ]
    for (x, y), bold in sorted(((e.T, bold) for e, bold in edges), key=lambda edge: not edge[1]):
        ax.plot(x, y, color=INK if bold else PALE, linewidth=1.6 if bold else 0.7,
                scalex=False, scaley=False, zorder=2.5 if bold else 2)  # fmt: skip


def neighbours(model: Any, X: Any, y: Any, point: Any, ax: Axes | None = None) -> Axes:
    """Draw the regions of a fitted neighbour classifier, and who votes on one point.

    Parameters
    ----------
    model : a fitted `KNeighborsClassifier`, ours or scikit-learn's, of two features.
    X, y : the points (n, 2) and labels (n,) that it was fitted to.
    point : (2,), the place to decide.
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import KNeighborsClassifier
    >>> from rosenblatt.plot import neighbours
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> model = KNeighborsClassifier(3).fit(X, y)
    >>> ax = neighbours(model, X, y, [2, 2], ax=plt.figure().gca())
    >>> ax.get_legend().get_title().get_text()
    '3 nearest: 1 ham, 2 spam'
    """
    points, labels = two_features(X), np.asarray(y).ravel()
    place = np.asarray(point, np.float64).reshape(1, -1)
    if place.shape != (1, 2):
        raise ValueError(f"point must be the two numbers of a place; got {place.size}: {point!r}.")
    ax = boundary(model, X, y, ax)
    _, [found] = model.kneighbors(place)
    for i in found:
        ax.plot(*np.vstack([place[0], points[i]]).T, color=INK, linewidth=1.2, zorder=4.8)
    size = max(3 * size_of(points), LEAST_STAR)
    voters = points[found]
    ax.scatter(
        voters[:, 0], voters[:, 1], s=size / 2, facecolors="none", edgecolors=INK, zorder=4.9
    )
    ax.scatter(place[:, 0], place[:, 1], s=size, marker="*", c=INK, edgecolors="white", zorder=5)
    votes = [f"{np.sum(labels[found] == c)} {clipped(c, 20)}" for c in model.classes_]
    legend = ax.get_legend()
    before = "" if legend is None else legend.get_title().get_text()
    note(ax, f"{len(found)} nearest: {', '.join(votes)}", before)
    return ax


def boundaries_by_k(
    X: Any, y: Any, values: Sequence[int] = (1, 5, 25), axes: Sequence[Axes] | None = None
) -> list[Axes]:
    """Draw the boundary of k nearest neighbours for some k, side by side.

    One neighbour follows every point; more of them smooth the boundary, until the largest class
    takes everything.

    Parameters
    ----------
    X, y : the points (n, 2) and their labels (n,).
    values : the numbers of neighbours.
    axes : where to draw, one for each k; a new figure if None. They are returned.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from rosenblatt.plot import boundaries_by_k
    >>> axes = boundaries_by_k(*make_moons(60, noise=0.3, random_state=0))
    >>> [ax.get_title("right") for ax in axes]
    ['k = 1', 'k = 5', 'k = 25']
    """
    if axes is None:
        size = (4 * len(values), 4.4)
        _, axes = pyplot().subplots(1, len(values), figsize=size, layout="constrained")
    drawn = list(np.ravel(np.asarray(axes, object)))
    for k, ax in zip(values, drawn, strict=True):
        boundary(KNeighborsClassifier(n_neighbors=k).fit(X, y), X, y, ax)
        lines = -(-len(np.unique(np.asarray(y))) // 6)  # of the legend, which stands below
        ax.set_title(f"k = {k}", loc="right", fontsize="medium", pad=8 + 20 * lines)
    return drawn


def distance_concentration(X: Any, ax: Axes | None = None, *, random_state: int | None = 0) -> Axes:
    """Draw how near the nearest row is, compared with the farthest, over the number of columns.

    Columns are added in random order. The pale curve is for as many rows of uniform noise: where
    the other stays below it, the columns depend on each other, and the rows fill fewer dimensions
    than there are columns.

    Parameters
    ----------
    X : the rows (n, d); scale them first if their units differ.
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.
    random_state : seed of the order of columns and of the noise.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from rosenblatt.plot import distance_concentration
    >>> rows = np.random.default_rng(0).normal(size=(60, 20))
    >>> distance_concentration(rows, ax=plt.figure().gca()).get_xlabel()
    'columns'
    """
    rows, rng = np.asarray(X, np.float64), np.random.default_rng(random_state)
    d = rows.shape[1]
    noise, order = rng.uniform(size=rows.shape), rng.permutation(d)
    steps = np.unique(np.geomspace(1, d, 12).round().astype(int))
    ax = labelled_axes(ax, "columns", "distance of the nearest over the farthest row")
    for table, ink, name in ((noise, PALE, "uniform noise"), (rows[:, order], COLOURS[0], "X")):
        ratios = [concentration(table[:, :s]) for s in steps]
        ax.plot(steps, ratios, "o-", color=ink, markersize=3.5, linewidth=1.4, label=name)
    if d > 20:
        ax.set_xscale("log")
    ax.set_ylim(0, 1)
    ax.legend(frameon=False, loc="upper left")
    return ax
