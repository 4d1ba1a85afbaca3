"""Rows lifted by one more feature until a plane separates them (M3, V8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import INK, colour, marker, pyplot
from .margin_lines import draw_classes
from .regions import set_frame, two_features

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FINENESS = 200


def lifted(X: Any, y: Any, *, C: float = 1e3, figure: Figure | None = None) -> Figure:
    """Draw rows of two features with ``x1^2 + x2^2`` as a third, and the widest plane there.

    Two classes that form a ring and what is inside are lifted to different heights, so that a plane
    separates them. The plane is that of `LinearSVC` with the hinge loss; seen from above, on the
    right, it is a circle.

    Parameters
    ----------
    X, y : rows (n, 2) and their labels (n,), two classes.
    C : the price of a row inside the margin.
    figure : where to draw; a new one if None.

    Returns
    -------
    The figure drawn on.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from rosenblatt.plot import lifted
    >>> X, y = make_circles(60, factor=0.4, random_state=0)
    >>> [ax.get_title() for ax in lifted(X, y).axes]
    ['lifted: a plane separates 60 of 60 rows', 'from above: a circle']
    """
    from rosenblatt.svm import LinearSVC

    points, labels = two_features(X), np.asarray(y).ravel()
    high = np.column_stack([points, (points**2).sum(axis=1)])
    model = LinearSVC(loss="hinge", C=C, penalize_intercept=False).fit(high, labels)
    if len(model.classes_) != 2:
        raise ValueError(f"a plane is drawn between two classes; got {len(model.classes_)}.")
    if figure is None:
        figure = pyplot().figure(figsize=(9, 4), layout="constrained")
    space: Any = figure.add_subplot(1, 2, 1, projection="3d")
    above: Any = figure.add_subplot(1, 2, 2)
    set_frame(above, points, ("x1", "x2"))
    (w1, w2, w3), b = model.coef_[0], model.intercept_[0]
    (left, right), (low, top) = above.get_xlim(), above.get_ylim()
    across, up = np.meshgrid(np.linspace(left, right, FINENESS), np.linspace(low, top, FINENESS))
    scores = w1 * across + w2 * up + w3 * (across**2 + up**2) + b
    for k, label in enumerate(model.classes_):
        rows = high[labels == label]
        space.scatter(*rows.T, color=colour(k), marker=marker(k), depthshade=False)
    corners = np.ix_([0, -1], [0, -1])
    if w3 != 0:
        plane = -(b + w1 * across[corners] + w2 * up[corners]) / w3
        space.plot_surface(across[corners], up[corners], plane, color=INK, alpha=0.2)
    space.set(xlabel="x1", ylabel="x2", zlabel="x1² + x2²")
    space.locator_params(nbins=3)
    space.view_init(elev=12, azim=-60)
    n_right = int(np.count_nonzero(model.predict(high) == labels))
    space.set_title(f"lifted: a plane separates {n_right:,} of {len(labels):,} rows")
    above.contour(across, up, scores, levels=[0.0], colors=[INK])
    draw_classes(above, points, labels, model.classes_)
    above.set_title("from above: a circle")
    above.set_aspect("equal")
    return figure
