"""A decision tree as people draw it: tests, branches, and class shares in the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import INK, PALE, axes_for, clipped, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 0.84, 0.2  # of a node's bar, in leaves and levels
LETTERS = 15  # that fit above one leaf
LEAF, LEVEL = 1.2, 1.2  # inches in a figure of its own


def decision_tree(
    model: Any, max_depth: int | None = 3, feature_names: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw a fitted tree: each node's test, its rows, and a bar with the shares of its classes.

    Parameters
    ----------
    model : a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor`.
    max_depth : how many levels of tests to draw; None for all.
    feature_names : what to call the columns; by default as the data did.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import DecisionTreeClassifier
    >>> from rosenblatt.plot import decision_tree
    >>> model = DecisionTreeClassifier().fit([[0], [1], [2]], ["ham", "ham", "spam"])
    >>> len(decision_tree(model, ax=plt.figure().gca()).texts) > 3
    True
    """
    tree, words = model.tree_, model.wording(feature_names)
    places = _places(tree, max_depth)
    right, deepest = (max(place[i] for place in places.values()) for i in (0, 1))
    ax = _large_axes(right + 1, deepest + 1) if ax is None else ax
    for node, (x, level) in places.items():
        shown = [(code, child) for code, child in tree.branches(node) if child in places]
        for code, child in shown:
            below, _ = places[child]
            ax.plot([x, below], [-level - 0.3, -level - 0.74], color=PALE, zorder=1)
            _write(ax, (x + below) / 2, -level - 0.52, _branch(words, node, code), LETTERS)
        _draw_node(ax, tree, words, node, x, -level)
        cut = "" if shown or tree.children_left[node] < 0 else " \u2026"
        n_leaves = _width(tree, node, places) if shown else 1
        word = _question(words, node) if shown else f"{words.answer(node)}{cut}"
        _write(ax, x, -level - 0.2, word, LETTERS * n_leaves + 3, bold=not shown)
        _write(ax, x, -level + 0.17, f"{tree.n_node_samples[node]:,} rows", LETTERS)
    if words.classes is not None and tree.n_outputs == 1:
        for k, name in enumerate(words.classes):
            ax.plot([], [], "s", color=colour(k), label=clipped(name, 20))
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=min(len(words.classes), 6),
            frameon=False, fontsize="small",
        )  # fmt: skip
    ax.set_axis_off()
    ax.set(xlim=(-0.7, right + 0.7), ylim=(-deepest - 0.35, 0.35))
    return ax


def _large_axes(n_leaves: float, n_levels: float) -> Axes:
    """Empty axes; a figure that has no others gets room for the words."""
    axes = axes_for(None)
    figure = axes.get_figure(root=True)
    if figure is not None and len(figure.axes) == 1:
        width, height = figure.get_size_inches()
        figure.set_size_inches(max(width, LEAF * n_leaves), max(height, LEVEL * n_levels))
    return axes


def _places(tree: Any, max_depth: int | None) -> dict[int, tuple[float, int]]:
    """Where the nodes that are drawn stand: leaves side by side, others above their children."""
    places: dict[int, tuple[float, int]] = {}
    n_leaves = 0
    waiting: list[tuple[int, int, bool]] = [(0, 0, False)]
    while waiting:
        node, level, done = waiting.pop()
        children = [child for _, child in tree.branches(node)]
        if not children or (max_depth is not None and level >= max_depth):
            places[node] = (float(n_leaves), level)
            n_leaves += 1
        elif done:
            places[node] = (float(np.mean([places[child][0] for child in children])), level)
        else:
            waiting.append((node, level, True))
            waiting += [(child, level + 1, False) for child in reversed(children)]
    return places


def _width(tree: Any, node: int, places: dict[int, tuple[float, int]]) -> int:
    """How many leaves are drawn below a node."""
    below = [child for _, child in tree.branches(node) if child in places]
    return sum(_width(tree, child, places) for child in below) or 1


def _question(words: Any, node: int) -> str:
    """What a node asks: whether a number is below a threshold, or which category there is."""
    if words.categories[int(words.tree.feature[node])] is None:
        return f"{words.test(node, 0)}?"
    return f"{words.names[int(words.tree.feature[node])]}?"


def _branch(words: Any, node: int, code: int) -> str:
    """The answer that leads along a branch."""
    known = words.categories[int(words.tree.feature[node])]
    if known is None:
        return ("yes", "no", "missing")[code]
    return "missing" if code == len(known) else str(known[code])


def _write(ax: Axes, x: float, y: float, word: str, most: int, bold: bool = False) -> None:
    ax.text(
        x, y, clipped(word, most), ha="center", va="center", fontsize="x-small", color=INK,
        weight="bold" if bold else "normal", zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6}, in_layout=False,
    )  # fmt: skip


def _draw_node(ax: Axes, tree: Any, words: Any, node: int, x: float, y: float) -> None:
    """A bar of class shares; of a number, one that is the fuller the larger it is."""
    from matplotlib.patches import Rectangle

    start, bottom = x - WIDTH / 2, y - HEIGHT / 2
    if words.classes is not None and tree.n_outputs == 1:
        shares = tree.value[node, 0]
    else:
        low, high = tree.value[:, 0, 0].min(), tree.value[:, 0, 0].max()
        shares = [(tree.value[node, 0, 0] - low) / max(high - low, 1e-300)]
    for k, share in enumerate(shares):
        width = WIDTH * float(share)
        ax.add_patch(Rectangle((start, bottom), width, HEIGHT, color=colour(k), zorder=3, lw=0))
        start += width
    frame = (x - WIDTH / 2, bottom), WIDTH, HEIGHT
    ax.add_patch(Rectangle(*frame, fill=False, edgecolor=INK, linewidth=0.8, zorder=4))
