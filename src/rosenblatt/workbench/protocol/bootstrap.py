"""How sure any test score is: what was said of the test rows, scored on rows drawn again."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from .results import Interval, Opening
from .scoring import score_of
from .significance import MOST_TO_DRAW

DRAWS, FEWER_DRAWS = 500, 200  # fewer where a score is taken for each of many classes
MANY_CLASSES = 5
MOST_CELLS = 2**21  # rows times draws that are counted at a time
LEAST_KNOWN = 0.5  # of the draws: of fewer that have a score there is no interval


class _Remembered(BaseEstimator):  # type: ignore[misc]
    """A model whose answers are known: asked for row numbers, it says what it said of them."""

    def __init__(self, opening: Any) -> None:
        self.opening = opening
        if opening.classes is not None:
            self.classes_ = opening.classes

    def predict(self, rows: NDArray[np.int64]) -> Any:
        return self.opening.predicted[rows]

    # A scorer asks for what there is.
    @available_if(lambda self: self.opening.probabilities is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: NDArray[np.int64]) -> Any:
        return self.opening.probabilities[rows]

    @available_if(lambda self: self.opening.decisions is not None)  # type: ignore[untyped-decorator]
    def decision_function(self, rows: NDArray[np.int64]) -> Any:
        return self.opening.decisions[rows]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Classifier(ClassifierMixin, _Remembered):  # type: ignore[misc]
    pass


class _Regressor(RegressorMixin, _Remembered):  # type: ignore[misc]
    pass


def redrawn(opening: Opening, metric: str, confidence: float = 0.95) -> list[Interval]:
    """The bootstrap's interval of a test score; none if too few draws have a score.

    Of many rows fewer are drawn, and what scores vary by is shrunk as more rows would shrink it.
    """
    model = _remembered(opening)
    score, rng, n = score_of(metric), np.random.default_rng(0), len(opening.y)
    m = min(n, MOST_TO_DRAW)
    many = opening.classes is not None and len(opening.classes) > MANY_CLASSES
    draws = FEWER_DRAWS if many else DRAWS
    found = np.empty(draws)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of draws that a class is not among
        for some in np.array_split(np.arange(draws), -(-draws * m // MOST_CELLS)):
            drawn = [rng.integers(0, n, m) for _ in some]
            known = _areas(opening, metric, drawn)
            if known is None:
                known = [score(model, rows, opening.y[rows]) for rows in drawn]
            found[some] = known
    found = found[np.isfinite(found)]
    if len(found) < LEAST_KNOWN * draws or not np.isfinite(opening.score):
        return []
    if m < n:
        found = opening.score + (found - found.mean()) * np.sqrt(m / n)
    low, high = np.quantile(found, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return [Interval(float(low), float(high), "bootstrap", confidence)]


def with_intervals(opening: Opening, metric: str) -> Opening:
    """The same with the bootstrap's intervals of its scores."""
    some = opening.unrepeated
    return replace(
        opening,
        intervals=redrawn(opening, metric),
        unrepeated=None if some is None else replace(some, intervals=redrawn(some, metric)),
    )


def score_of_rows(opening: Opening, metric: str, rows: NDArray[np.int64]) -> float:
    """The score of what was said of some of the test rows; NaN if these do not suffice for one."""
    try:
        return score_of(metric)(_remembered(opening), rows, opening.y[rows])
    except ValueError:  # none of a class
        return np.nan


def _remembered(opening: Opening) -> Any:
    return (_Regressor if opening.classes is None else _Classifier)(opening)


def _areas(opening: Opening, metric: str, drawn: list[NDArray[np.int64]]) -> Any:
    """Areas under curves, of all draws together: rows are sorted once; None of other scores."""
    n, m = len(opening.y), len(drawn[0])
    if metric not in METRICS:
        return None
    if m == n:
        return areas(opening, metric, _counts(drawn, n))
    each = [areas(part_of(opening, rows), metric, np.ones((1, m))) for rows in drawn]
    known = [one for one in each if one is not None]
    return np.concatenate(known) if len(known) == len(drawn) else None


def part_of(opening: Opening, rows: NDArray[np.int64]) -> Opening:
    """What was seen of some of the test rows."""
    P, decisions = opening.probabilities, opening.decisions
    return replace(
        opening,
        y=opening.y[rows],
        predicted=opening.predicted[rows],
        probabilities=None if P is None else P[rows],
        decisions=None if decisions is None else decisions[rows],
    )


def _counts(drawn: list[NDArray[np.int64]], n: int) -> NDArray[np.float64]:
    """How often (draws, n) each row is among the rows of each draw."""
    return np.array([np.bincount(rows, minlength=n) for rows in drawn], np.float64)


# Areas under ROC curves of many draws of the same rows at once.
#
# Rows are sorted by their scores once. A draw then is how often each row was drawn, and its area a
# sum: of each positive row the negative ones below it, and half of those beside it, over all pairs.


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
