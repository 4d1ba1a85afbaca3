"""Trees of clusters, the four linkages side by side (V10), votes, and the choice of a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .drawing import DASHES, INK, PALE, clipped, colour, labelled_axes, marker, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = NDArray[np.float64]
Nodes = NDArray[np.intp]

MOST_NAMES = 60  # leaves that are named
LEAST_POINTS = 4.5  # of room for the name of a leaf
MOST_JOINS = 3_000  # that are drawn; lower ones become one stroke
MOST_SIZES = 25  # clusters whose sizes are written
MOST_VOTES = 1_000  # rows of a heat map
LINKAGES = ("single", "complete", "average", "ward")


def dendrogram(
    model: Any,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    names: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree of clusters: each join is a bracket at its height.

    Clusters below the cut have colours and, if there are at most 25, their sizes, or the name of
    their only row; the cut is a dashed line. Up to 60 leaves are all named, where they have room.
    Of trees with more than 3,000 joins the lowest are left out, and what they join is one stroke.

    Parameters
    ----------
    model : a fitted `AgglomerativeClustering`, ours or (with distances) scikit-learn's, or SciPy's
        matrix.
    n_clusters, height : where to cut; the model's own cut if both are None, else two clusters.
    names : of the rows (n,); their numbers if None.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import AgglomerativeClustering
    >>> from rosenblatt.plot import dendrogram
    >>> model = AgglomerativeClustering().fit([[0.0], [1.0], [3.0], [7.0]])
    >>> dendrogram(model, ax=plt.figure().gca()).get_ylabel()
    'height'
    """
    from matplotlib.collections import LineCollection

    Z = linkage_of(model)
    n = len(Z) + 1
    k = _number(model, Z, n_clusters, height)
    children, heights = Z[:, :2].astype(np.intp), Z[:, 2]
    first, leaves = _order(children, Z[:, 3])
    cluster = _clusters(children, k)
    middle = _middles(children, first)
    low = np.concatenate([np.zeros(n), heights])
    ax = labelled_axes(ax, "", "height")
    drawn = np.arange(max(0, n - 1 - MOST_JOINS), n - 1)
    strokes, inks = [], []
    for j in drawn:
        a, b = children[j]
        at = heights[j]
        strokes.append([(middle[a], low[a]), (middle[a], at), (middle[b], at), (middle[b], low[b])])
        inks.append(INK if cluster[n + j] < 0 else colour(int(cluster[n + j])))
    width = 1.3 if n <= 100 else 0.8 if n <= 1_000 else 0.4
    ax.add_collection(LineCollection(strokes, colors=inks, linewidths=width, capstyle="butt"))
    if 1 < k <= n - 1:
        cut = (heights[n - 1 - k] + heights[n - k]) / 2
        ax.axhline(cut, color=PALE, linestyle=DASHES, linewidth=1, zorder=0)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(0, 1.05 * heights[-1] if heights[-1] > 0 else 1)
    _name_leaves(ax, leaves, cluster, names, k)
    return ax


def linkage_of(model: Any) -> Table:
    """SciPy's matrix of a tree, however it comes."""
    if hasattr(model, "linkage_matrix_"):
        return np.asarray(model.linkage_matrix_)
    if hasattr(model, "distances_"):
        return _with_sizes(np.asarray(model.children_), np.asarray(model.distances_))
    Z = np.asarray(getattr(model, "children_", model))
    if Z.dtype.kind in "iuf" and Z.ndim == 2 and Z.shape[1] == 4:
        return Z.astype(np.float64)
    needs = "A tree is drawn from a fitted AgglomerativeClustering or SciPy's matrix (n - 1, 4); "
    if hasattr(model, "fit") and not hasattr(model, "children_"):
        raise TypeError(f"{needs}got {type(model).__name__} without children_.")
    raise ValueError(f"{needs}scikit-learn's class needs compute_distances=True.")


def _with_sizes(children: Nodes, heights: Table) -> Table:
    n = len(children) + 1
    sizes = np.ones(2 * n - 1)
    for j, (a, b) in enumerate(children):
        sizes[n + j] = sizes[a] + sizes[b]
    return np.column_stack([children, heights, sizes[n:]])


def _number(model: Any, Z: Table, n_clusters: int | None, height: float | None) -> int:
    """How many clusters the cut leaves."""
    if height is not None:
        return 1 + int(np.count_nonzero(Z[:, 2] >= height))
    k = getattr(model, "n_clusters_", 2) if n_clusters is None else n_clusters
    if not 1 <= k <= len(Z) + 1:
        raise ValueError(f"n_clusters must be between 1 and {len(Z) + 1}; got {k}.")
    return int(k)


def _order(children: Nodes, sizes: Table) -> tuple[Nodes, Nodes]:
    """Where the leaves of each node begin (2 n - 1,), and the leaf at each place (n,)."""
    n = len(children) + 1
    size = np.append(np.ones(n), sizes).astype(np.intp)
    first = np.zeros(2 * n - 1, np.intp)
    for j in range(n - 2, -1, -1):
        a, b = children[j]
        first[a], first[b] = first[n + j], first[n + j] + size[a]
    leaves = np.empty(n, np.intp)
    leaves[first[:n]] = np.arange(n)
    return first, leaves


def _middles(children: Nodes, first: Nodes) -> Table:
    """Where each node stands, (2 n - 1,): between its two parts."""
    n = len(children) + 1
    middle = np.append(first[:n].astype(np.float64), np.zeros(n - 1))
    for j, (a, b) in enumerate(children):
        middle[n + j] = (middle[a] + middle[b]) / 2
    return middle


def _clusters(children: Nodes, k: int) -> Nodes:
    """The cluster of each node (2 n - 1,), -1 above the cut; numbered from the left."""
    n = len(children) + 1
    found = np.full(2 * n - 1, -1)
    heads = [2 * n - 2] if k == 1 else []
    for j in range(n - 2, n - 1 - k, -1):
        heads += [int(c) for c in children[j] if c < 2 * n - k]
    for number, head in enumerate(heads):
        found[head] = number
    for j in range(n - 2, -1, -1):
        if found[n + j] >= 0:
            found[children[j]] = found[n + j]
    return found


def _name_leaves(ax: Axes, leaves: Nodes, cluster: Nodes, names: Any, k: int) -> None:
    """Names below the leaves if there are few, else sizes below the clusters."""
    from matplotlib.font_manager import FontProperties

    n = len(leaves)
    room = 72 * _width(ax) / n  # of a leaf, in points
    if n <= MOST_NAMES and room >= LEAST_POINTS:
        words = [clipped(i if names is None else names[i], 20) for i in leaves]
        size = FontProperties(size="small").get_size_in_points()
        upright = (max(map(len, words)) + 1) * 0.64 * size > room  # a digit has 0.64 of its height
        ax.set_xticks(range(n), words, rotation=90 if upright else 0)
        ax.tick_params(axis="x", length=0, labelsize=min(size, 1.1 * room) if upright else size)
        for tick, leaf in zip(ax.get_xticklabels(), leaves, strict=True):
            tick.set_color(colour(int(cluster[leaf])))
        return
    ax.set_xlabel(f"{n:,} rows")
    ax.set_xticks([])
    if k <= MOST_SIZES:
        own = cluster[leaves]
        ends = np.flatnonzero(np.diff(own)) + 1
        _name_clusters(ax, leaves, own, names, np.array([0, *ends, n]))


def _name_clusters(ax: Axes, leaves: Nodes, own: Nodes, names: Any, bounds: Nodes) -> None:
    """Sizes below the clusters; below a cluster of one row the name of the row, upright."""
    from matplotlib.transforms import ScaledTranslation

    upright = np.diff(bounds) == 1
    words = [
        clipped(i if names is None else names[i], 20) if alone else f"{size:,}"
        for alone, size, i in zip(upright, np.diff(bounds), leaves[bounds[:-1]], strict=True)
    ]
    letters = np.array(list(map(len, words)))
    middles = (bounds[:-1] + bounds[1:] - 1) / 2
    inches = np.where(upright, 0.15, 0.1 * letters)
    below = ScaledTranslation(0, -8 / 72, ax.figure.dpi_scale_trans)
    places = _apart(middles, inches * (len(leaves) / _width(ax)), len(leaves))
    for j, word in enumerate(words):
        ink = colour(int(own[bounds[j]]))
        line = {"arrowstyle": "-", "color": ink, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0}
        ax.annotate(
            word, (middles[j], 0), xytext=(places[j], 0), annotation_clip=False,
            textcoords=ax.get_xaxis_transform() + below, ha="center", va="top", fontsize="small",
            color=ink, rotation=90 if upright[j] else 0, arrowprops=line | {"relpos": (0.5, 1)},
        )  # fmt: skip
    ax.xaxis.labelpad = max(20, 8 + 6 * letters[upright].max(initial=0))


def _width(ax: Axes) -> float:
    """The width of axes in inches, before the figure is laid out."""
    return float(ax.get_position().width * ax.figure.get_figure(root=True).get_figwidth())


def _apart(middles: Table, widths: Table, n: int) -> Table:
    """Places from left to right, as near to the middles as their widths allow."""
    places, gaps = middles.copy(), (widths[1:] + widths[:-1]) / 2
    for j, gap in enumerate(gaps):
        places[j + 1] = max(places[j + 1], places[j] + gap)
    places[-1] = min(places[-1], n - 0.5)
    for j in range(len(gaps) - 1, -1, -1):
        places[j] = min(places[j], places[j + 1] - gaps[j])
    return places


def linkages(X: Any, n_clusters: int = 2, *, figure: Figure | None = None) -> Figure:
    """Draw the trees of the same rows by the four linkages, side by side.

    Above each tree stand the rows, coloured by their clusters, if there are two columns.

    Parameters
    ----------
    X : rows (n, d).
    n_clusters : where the trees are cut.
    figure : where to draw; a new one if None.

    Returns
    -------
    The figure.

    Examples
    --------
    >>> from rosenblatt.plot import linkages
    >>> [ax.get_title(loc="left") for ax in linkages([[0.0], [1.0], [3.0], [7.0]]).axes]
    ['single', 'complete', 'average', 'ward']
    """
    from rosenblatt import AgglomerativeClustering

    X = np.asarray(X, np.float64)
    flat = X.shape[1] == 2
    figure = figure or pyplot().figure(figsize=(11, 5 if flat else 3), layout="constrained")
    axes = figure.subplots(1 + flat, 4, squeeze=False)
    for place, linkage in enumerate(LINKAGES):
        model = AgglomerativeClustering(n_clusters, linkage=linkage).fit(X)
        dendrogram(model, ax=axes[-1, place])
        if place:
            axes[-1, place].set_ylabel("")
        if flat:
            _draw_rows(axes[0, place], X, model)
        axes[0, place].set_title(linkage, loc="left", fontsize="medium")
    return figure


def _draw_rows(ax: Axes, X: Table, model: Any) -> None:
    """The rows, with the colours of the tree."""
    cluster = _clusters(np.asarray(model.children_), model.n_clusters_)[: len(X)]
    for k in np.unique(cluster):
        inside = cluster == k
        ax.scatter(
            X[inside, 0],
            X[inside, 1],
            s=12,
            color=colour(int(k)),
            marker=marker(int(k)),
            linewidths=0,
        )
    ax.set_aspect("equal", "datalim")
    ax.set_xticks([])
    ax.set_yticks([])


def vote_map(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the votes of all pairs of rows as a heat map, clusters next to each other.

    Of many rows, 1,000 are drawn, evenly from each cluster.

    Parameters
    ----------
    model : a fitted `ConsensusClustering`.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import ConsensusClustering
    >>> from rosenblatt.plot import vote_map
    >>> model = ConsensusClustering().fit_labels([[0, 1], [0, 1], [1, 0], [1, 1]])
    >>> vote_map(model, ax=plt.figure().gca()).get_xlabel()
    '4 rows by cluster'
    """
    if not hasattr(model, "stability_"):
        raise TypeError(
            "The votes drawn are those of a fitted ConsensusClustering; got "
            f"{type(model).__name__} without stability_."
        )
    order = np.lexsort((-model.stability_, model.labels_))
    step = max(1, -(-len(order) // MOST_VOTES))
    shown = order[::step]
    votes = model.votes(shown)
    ax = labelled_axes(ax, f"{len(order):,} rows by cluster", "")
    image = ax.imshow(votes, cmap="Greys", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
    for edge in np.flatnonzero(np.diff(model.labels_[shown])):
        ax.axhline(edge + 0.5, color=colour(1), linewidth=0.8)
        ax.axvline(edge + 0.5, color=colour(1), linewidth=0.8)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.figure.colorbar(image, ax=ax, label="share of runs that put two rows together", shrink=0.8)
    return ax


def cluster_numbers(choice: Any, ax: Axes | None = None) -> Axes:
    """Draw the scores by which `choose_k` chose, with their errors, and the number chosen.

    Parameters
    ----------
    choice : what `choose_k` returned.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import AgglomerativeClustering, choose_k
    >>> from rosenblatt.plot import cluster_numbers
    >>> choice = choose_k(AgglomerativeClustering(), [[0.0], [1.0], [5.0], [6.0]], [2, 3])
    >>> cluster_numbers(choice, ax=plt.figure().gca()).get_xlabel()
    'number of clusters'
    """
    if not hasattr(choice, "criterion"):
        raise TypeError(f"choice must be what choose_k returned; got {type(choice).__name__}.")
    words = {
        "silhouette": "mean silhouette", "gap": "gap", "bic": "BIC (smaller is better)",
        "likelihood": "log-likelihood of rows left out",
    }  # fmt: skip
    ax = labelled_axes(ax, "number of clusters", words[choice.criterion])
    errors = choice.errors if choice.errors.any() else None
    ax.errorbar(choice.numbers, choice.scores, errors, color=INK, linewidth=1.2, capsize=3)
    best = choice.scores[choice.numbers == choice.k]
    ax.plot([choice.k], best, marker(0), color=colour(1), markersize=9, zorder=3)
    ax.axvline(choice.k, color=PALE, linewidth=0.8, zorder=0)
    ax.set_title(choice.why, loc="left", fontsize="medium")
    ax.locator_params(axis="x", integer=True)
    return ax
