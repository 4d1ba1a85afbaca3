"""Areas under ROC curves of many draws of the same rows at once.

Rows are sorted by their scores once. A draw then is how often each row was drawn, and its area a
sum: of each positive row the negative ones below it, and half of those beside it, over all pairs.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .results import Opening

Array = NDArray[np.float64]

WEIGHTED = ("roc_auc_ovr_weighted", "roc_auc_ovo_weighted")
METRICS = ("roc_auc", "roc_auc_ovr", "roc_auc_ovo", *WEIGHTED)


def areas(opening: Opening, metric: str, counts: Array) -> Array | None:
    """The score (draws,) of each draw of test rows, from how often (draws, n) it has each row.

    It is what scikit-learn's scorer of that name gives for the rows drawn, NaN where a class is not
    among them; None if the metric is no such area, or the test rows have other classes than the
    model.
    """
    classes = opening.classes
    if metric not in METRICS or classes is None:
        return None
    if not np.array_equal(np.unique(opening.y), np.sort(classes)):
        return None
    y = np.searchsorted(np.sort(classes), opening.y)
    scores = opening.probabilities
    if metric == "roc_auc":
        scores = opening.decisions if scores is None else scores[:, 1]
        if len(classes) != 2 or scores is None or np.ndim(scores) != 1:
            return None
        return area(y == 1, scores, counts)
    if scores is None or len(classes) < 3 or not np.array_equal(np.sort(classes), classes):
        return None
    parts = _pairs(y, scores, counts) if "ovo" in metric else _each(y, scores, counts)
    found, shares = map(np.array, zip(*parts, strict=True))
    if metric not in WEIGHTED:
        shares = np.ones_like(shares)
    with np.errstate(invalid="ignore"):
        return np.asarray((found * shares).sum(axis=0) / shares.sum(axis=0))


def area(positive: NDArray[np.bool_], scores: Array, counts: Array) -> Array:
    """The area (draws,) under the curve of rows (n,) by their scores; NaN if one side is empty.

    >>> area(np.array([False, True, True]), np.array([0.1, 0.1, 0.9]), np.array([[1.0, 1.0, 1.0]]))
    array([0.75])
    """
    order = np.argsort(scores, kind="stable")
    steps = np.flatnonzero(np.diff(scores[order], prepend=-np.inf))  # where a new score begins
    drawn = counts[:, order]
    # How many there are at each score: (draws, scores).
    right = np.add.reduceat(drawn * positive[order], steps, axis=1)
    wrong = np.add.reduceat(drawn * ~positive[order], steps, axis=1)
    below = np.cumsum(wrong, axis=1) - wrong / 2
    with np.errstate(invalid="ignore"):
        return np.asarray((right * below).sum(axis=1) / (right.sum(axis=1) * wrong.sum(axis=1)))


def _each(y: Any, scores: Array, counts: Array) -> Iterator[tuple[Array, Array]]:
    """Each class beside all others: the area, and the rows (draws,) of the class."""
    for k in range(scores.shape[1]):
        yield area(y == k, scores[:, k], counts), counts[:, y == k].sum(axis=1)


def _pairs(y: Any, scores: Array, counts: Array) -> Iterator[tuple[Array, Array]]:
    """Each pair of classes among its rows: the mean of its two areas, and the rows (draws,)."""
    for a, b in combinations(range(scores.shape[1]), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        some = counts[:, rows]
        two = [area(y[rows] == k, scores[rows, k], some) for k in (a, b)]
        yield (two[0] + two[1]) / 2, some.sum(axis=1)
