"""How sure any test score is: what was said of the test rows, scored on rows drawn again."""

import warnings
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
    model = (_Regressor if opening.classes is None else _Classifier)(opening)
    score, rng, n = score_of(metric), np.random.default_rng(0), len(opening.y)
    m = min(n, MOST_TO_DRAW)
    many = opening.classes is not None and len(opening.classes) > MANY_CLASSES
    draws = FEWER_DRAWS if many else DRAWS
    found = np.empty(draws)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of draws that a class is not among
        for i in range(draws):
            rows = rng.integers(0, n, m)
            found[i] = score(model, rows, opening.y[rows])
    found = found[np.isfinite(found)]
    if len(found) < LEAST_KNOWN * draws or not np.isfinite(opening.score):
        return []
    if m < n:
        found = opening.score + (found - found.mean()) * np.sqrt(m / n)
    low, high = np.quantile(found, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return [Interval(float(low), float(high), "bootstrap", confidence)]
