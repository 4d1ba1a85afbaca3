"""A generative model beside a discriminative one, on one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import DASHES, colour, labelled_axes, pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def two_views(generative: Any, discriminative: Any, X: Any, y: Any) -> Figure:
    """Draw what two classifiers of one column learn: p(x, class) on the left, P(class | x) right.

    On the left, the area under a curve is the probability of its class. On the right, the curves
    of a model sum to one at every x: solid by Bayes' rule from the left, dashed by the
    discriminative model, which learns nothing of where x lies.

    Parameters
    ----------
    generative : a fitted `GaussianNB`, or another classifier with `predict_joint_log_proba`.
    discriminative : a fitted classifier with `predict_proba`, such as `LogisticRegression`.
    X : the rows, shape (n, 1).
    y : their classes, shape (n,).

    Examples
    --------
    >>> from rosenblatt import GaussianNB, LogisticRegression, plot
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], ["horse"] * 3 + ["zebra"] * 3
    >>> figure = plot.two_views(GaussianNB().fit(X, y), LogisticRegression().fit(X, y), X, y)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['p(x, class)', 'P(class | x)']
    """
    X, y = np.asarray(X, np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 1:
        raise ValueError(f"X must have one column to be drawn; got shape {X.shape}.")
    if not np.array_equal(generative.classes_, discriminative.classes_):
        raise ValueError(
            f"The two models must have learned the same classes; got {generative.classes_} and "
            f"{discriminative.classes_}."
        )
    figure: Figure
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    joint_axes = labelled_axes(axes[0], "x", "p(x, class)")
    given_axes = labelled_axes(axes[1], "x", "P(class | x)")
    room = 0.25 * float(np.ptp(X)) or 1.0
    grid = np.linspace(X.min() - room, X.max() + room, 400)[:, None]
    joint = np.exp(generative.predict_joint_log_proba(grid))
    views = generative.predict_proba(grid), discriminative.predict_proba(grid)
    for k, label in enumerate(generative.classes_):
        joint_axes.fill_between(grid[:, 0], joint[:, k], color=colour(k), alpha=0.25)
        joint_axes.plot(grid[:, 0], joint[:, k], color=colour(k), label=str(label))
        mine = X[y == label, 0]
        joint_axes.plot(mine, np.full(len(mine), -0.03 * joint.max()), "|", color=colour(k))
        given_axes.plot(grid[:, 0], views[0][:, k], color=colour(k))
        given_axes.plot(grid[:, 0], views[1][:, k], color=colour(k), linestyle=DASHES)
    joint_axes.set_title(f"generative: {type(generative).__name__}", loc="left", fontsize="medium")
    joint_axes.legend(frameon=False)
    given_axes.set_title(
        f"solid: {type(generative).__name__}, dashed: {type(discriminative).__name__}",
        loc="left",
        fontsize="medium",
    )
    given_axes.set_ylim(-0.02, 1.02)
    return figure
