"""How sure any test score is: what was said of the test rows, scored on rows drawn again."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from .areas import METRICS, areas
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
