"""How many rows to train on, and how many to keep for the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, cross_val_score

from .drawing import COLOURS, labelled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def split_sizes(
    model: Any,
    X: Any,
    y: Any,
    shares: Sequence[float] = SHARES,
    *,
    repeats: int = 20,
    random_state: int | None = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the score over the share of rows that a model is trained on; the rest give the score.

    More rows to train on make the model better, and leave fewer to score it on: the mean rises
    while scores of single splits scatter more. The band holds nine in ten of them.

    Parameters
    ----------
    model : an estimator.
    X, y : the rows and their targets.
    shares : of the rows to train on, each between 0 and 1.
    repeats : how many splits for each share.
    random_state : seed of the splits.
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import KNeighborsClassifier
    >>> from rosenblatt.plot import split_sizes
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = split_sizes(KNeighborsClassifier(), X, y, [0.2, 0.5, 0.8], ax=plt.figure().gca())
    >>> ax.get_xlabel()
    'share of the rows to train on'
    """
    if not all(0 < share < 1 for share in shares):
        raise ValueError(f"shares must lie between 0 and 1; got {list(shares)}.")
    scores = np.array([_scores(model, X, y, s, repeats, random_state) for s in shares])
    label = "accuracy on the other rows" if is_classifier(model) else "R² on the other rows"
    ax = labelled_axes(ax, "share of the rows to train on", label)
    low, high = np.quantile(scores, [0.05, 0.95], axis=1)
    ax.fill_between(shares, low, high, color=COLOURS[0], alpha=0.15, linewidth=0,
                    label="nine in ten splits")  # fmt: skip
    ax.plot(shares, scores.mean(axis=1), "o-", color=COLOURS[0], markersize=3.5, label="mean")
    spread = int(np.argmin(high - low))
    ax.axvline(shares[spread], color=COLOURS[1], linewidth=1, linestyle="dashed",
               label=f"scores scatter least: {shares[spread]:g}")  # fmt: skip
    ax.legend(frameon=False, loc="lower center")
    return ax


def _scores(
    model: Any, X: Any, y: Any, share: float, repeats: int, random_state: int | None
) -> NDArray[np.float64]:
    """The scores (repeats,) of models trained on a share of the rows."""
    kind = StratifiedShuffleSplit if is_classifier(model) else ShuffleSplit
    splits = kind(n_splits=repeats, train_size=share, random_state=random_state)
    return np.asarray(cross_val_score(clone(model), X, y, cv=splits))
