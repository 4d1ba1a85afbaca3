"""A decision tree as people draw it: tests, branches, and class shares in the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import INK, PALE, clipped, colour, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 0.84, 0.2  # of a node's bar, in leaves and levels


def decision_tree(
    model: Any, max_depth: int | None = 3, feature_names: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw a fitted tree: each node's test, its rows, and a bar with the shares of its classes.

    Parameters
    ----------
    model : a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor`.
    max_depth : how many levels of tests to draw; None for all.
    feature_names : what to call the columns; by default as the data did.
    ax : where to draw; the current axes if None.

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
    ax = pyplot().gca() if ax is None else ax
    tree, words = model.tree_, model.wording(feature_names, digits=3)
    places = _places(tree, max_depth)
    for node, (x, level) in places.items():
        shown = [(code, child) for code, child in tree.branches(node) if child in places]
        for code, child in shown:
            below, _ = places[child]
            ax.plot([x, below], [-level - HEIGHT, -level - 1 + HEIGHT / 2], color=PALE, zorder=1)
            ax.text(
                (2 * below + x) / 3, -level - 0.62, clipped(words.test(node, code), 22),
                ha="center", va="center", fontsize="x-small", color=INK,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8}, zorder=2,
            )  # fmt: skip
        cut = not shown and tree.children_left[node] >= 0
        _draw_node(ax, tree, words, node, x, -level, cut)
    if words.classes is not None and tree.n_outputs == 1:
        for k, name in enumerate(words.classes):
            ax.plot([], [], "s", color=colour(k), label=clipped(name, 20))
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=min(len(words.classes), 6),
            frameon=False, fontsize="small",
        )  # fmt: skip
    ax.set_axis_off()
    ax.margins(0.06)
    return ax


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


def _draw_node(ax: Axes, tree: Any, words: Any, node: int, x: float, y: float, cut: bool) -> None:
    """A bar of class shares, or a box, with the answer and the rows above it."""
    from matplotlib.patches import Rectangle

    left, bottom = x - WIDTH / 2, y - HEIGHT / 2
    if words.classes is not None and tree.n_outputs == 1:
        start = left
        for k, share in enumerate(tree.value[node, 0]):
            width = WIDTH * float(share)
            ax.add_patch(Rectangle((start, bottom), width, HEIGHT, color=colour(k), zorder=3))
            start += width
    frame = Rectangle(
        (left, bottom), WIDTH, HEIGHT, fill=words.classes is None, facecolor="white",
        edgecolor=INK, linewidth=0.8, zorder=4,
    )  # fmt: skip
    ax.add_patch(frame)
    answer = clipped(words.answer(node), 24) + (" \u2026" if cut else "")
    rows = f"{tree.n_node_samples[node]:,} rows"
    ax.text(
        x, y + HEIGHT / 2 + 0.03, f"{answer}\n{rows}", ha="center", va="bottom",
        fontsize="x-small", color=INK, zorder=5, linespacing=1.0,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )  # fmt: skip
