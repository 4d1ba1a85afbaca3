"""The votes of bagged trees: where they agree in the plane, and how they settle (V9)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .drawing import DASHES, INK, axes_for, clipped, colour, labelled_axes
from .regions import FINENESS, draw_legend, draw_points, note, set_frame, two_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRONGEST = 0.4  # tint, where all votes agree
MOST_LINES = 60  # rows whose votes are drawn


def votes(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw data with two features, tinted by the share of the trees that vote for each class.

    The line is where the majority changes; the dashed one is the boundary of the first tree alone.
    Each tree has a boundary of steps, and many of them vote for a smooth one.

    Parameters
    ----------
    model : a fitted forest or bagging of classifiers, ours or scikit-learn's.
    X, y : the points (n, 2) and their labels (n,).
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import RandomForestClassifier
    >>> from rosenblatt.plot import votes
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> votes(forest, X, y, ax=plt.figure().gca()).get_xlabel()
    'x1'
    """
    ax = axes_for(ax)
    points, labels = two_features(X), np.asarray(y).ravel()
    set_frame(ax, points, getattr(model, "feature_names_in_", ("x1", "x2")))
    (left, end), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    across, up = np.linspace(left, end, FINENESS), np.linspace(bottom, top, FINENESS)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(across, up)])
    cast = votes_cast(model, grid)
    K = len(model.classes_)
    shares = np.stack([(cast == k).mean(axis=1) for k in range(K)], axis=1)
    shape = (FINENESS, FINENESS)
    ax.imshow(
        _tints(shares).reshape(*shape, 3), origin="lower", aspect=ax.get_aspect(), zorder=0,
        extent=(left, end, bottom, top), interpolation="nearest",
    )  # fmt: skip
    for codes, width, style in ((cast[:, 0], 0.9, [DASHES]), (shares.argmax(axis=1), 1.8, "solid")):
        for k in range(K if K > 2 else 1):
            layer = (codes == k).reshape(shape).astype(float)
            if 0 < layer.mean() < 1:
                ax.contour(across, up, layer, [0.5], colors=INK, linewidths=width, linestyles=style)
    majority = _majority(votes_cast(model, points), K)
    wrong = np.asarray(model.classes_)[majority] != labels
    draw_points(ax, points, labels, model.classes_, wrong)
    ax.plot([], [], color=INK, linewidth=1.8, label="majority")
    ax.plot([], [], color=INK, linewidth=0.9, linestyle=DASHES, label="first alone")
    draw_legend(ax, points)
    note(ax, f"{cast.shape[1]} votes: the deeper the tint, the more of them agree")
    return ax


def vote_curves(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw how votes settle: the share of the first trees that votes for the class of each row.

    Thin lines are single rows, in the colour of their class; the bold one is the share of all rows
    whose majority is wrong. On rows that the fit has not seen this is about new data.

    Parameters
    ----------
    model : a fitted forest or bagging of classifiers, ours or scikit-learn's.
    X, y : rows (n, d) and their labels (n,).
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import RandomForestClassifier
    >>> from rosenblatt.plot import vote_curves
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> vote_curves(forest, X, y, ax=plt.figure().gca()).get_xlabel()
    'models'
    """
    ax = labelled_axes(ax, "models", "share of the votes for the own class")
    cast, classes = votes_cast(model, X), np.asarray(model.classes_)
    codes = np.searchsorted(classes, np.asarray(y).ravel())
    n, most = cast.shape
    models = np.arange(1, most + 1)
    right = np.cumsum(cast == codes[:, np.newaxis], axis=1) / models
    shown = np.unique(np.linspace(0, n - 1, min(n, MOST_LINES)).astype(int))
    for i in shown:
        ax.plot(models, right[i], color=colour(codes[i]), alpha=0.35, linewidth=0.7)
    error = [(_majority(cast[:, :m], len(classes)) != codes).mean() for m in models]
    ax.plot(models, error, color=INK, linewidth=2.0, label="error of the majority")
    for k, name in enumerate(classes):
        ax.plot([], [], color=colour(k), linewidth=0.9, label=clipped(name, 20))
    ax.set(xlim=(1, most), ylim=(-0.02, 1.02))
    ax.legend(loc="center right", fontsize="small")  # between shares near 1 and errors near 0
    return ax


def votes_cast(model: Any, X: Any) -> NDArray[np.int64]:
    """Return the class that each member votes for, by its place in ``classes_``: (n, members).

    Parameters
    ----------
    model : a fitted forest or bagging of classifiers.
    X : rows (n, d).
    """
    if not (hasattr(model, "estimators_") and hasattr(model, "classes_")):
        raise TypeError(
            "Votes are those of a fitted forest or bagging of classifiers; got "
            f"{type(model).__name__}, which has no estimators_ with classes_."
        )
    X, d = np.asarray(X), len(np.asarray(X)[0])
    columns = getattr(model, "estimators_features_", None) or [range(d)] * len(model.estimators_)
    cast = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        for member, some in zip(model.estimators_, columns, strict=True):
            best = np.asarray(member.predict_proba(X[:, list(some)])).argmax(axis=1)
            # scikit-learn's members have the places for classes, and may lack one.
            same = np.array_equal(member.classes_, model.classes_)
            cast.append(best if same else np.asarray(member.classes_)[best].astype(np.int64))
    return np.stack(cast, axis=1)


def _majority(cast: NDArray[np.int64], K: int) -> NDArray[np.int64]:
    """The class with most votes in each row (n,), the first if equal."""
    counts = np.stack([(cast == k).sum(axis=1) for k in range(K)], axis=1)
    return np.asarray(counts.argmax(axis=1))


def _tints(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The colour (n, 3) of the winner, the paler the fewer votes it has beyond an even share."""
    from matplotlib.colors import to_rgb

    K = shares.shape[1]
    colours = np.array([to_rgb(colour(k)) for k in range(K)])
    lead = (shares.max(axis=1) - 1 / K) / (1 - 1 / K)
    strength = (STRONGEST * lead)[:, np.newaxis]
    return np.asarray(1 - strength + strength * colours[shares.argmax(axis=1)])
