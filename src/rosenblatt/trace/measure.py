"""What recorded models are worth on their training data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import validate_data

from rosenblatt import losses
from rosenblatt.base import LinearClassifier
from rosenblatt.mistake_driven.decision import (
    BoundaryClassifier,
    codes_among,
    decide,
    margins_of,
)
from rosenblatt.trace.data import Data
from rosenblatt.trace.guises import nameless, running
from rosenblatt.trace.scores import SupportScores, sums_over_supports


class Measures(NamedTuple):
    """Numbers of one model; what it does not offer is NaN."""

    objective: float
    error: float
    last_objective: float = math.nan  # of the run's own weights, where others are published
    last_error: float = math.nan
    dual_gap: float = math.nan  # as the model published them itself
    gradient_norm: float = math.nan


class Ruler:
    """Measures many models on the same data.

    Checking the data takes far longer than scoring a few hundred rows, so for our linear models
    it is done once: their scores are then one product each, by the operations of their own
    `decision_function`, and lead to the same bits. Of kernel models the kernel values are kept.
    Other models are asked themselves, those that judge by their scores once for everything.
    """

    def __init__(self, data: Data) -> None:
        self.data = data
        self._X: Any = None
        self._classes: Any = None
        self._codes: NDArray[np.intp] = np.empty(0, np.intp)
        self._supports: SupportScores | None = None
        self._latest: tuple[Any, NDArray[Any]] = (None, np.empty(0))

    def measure(self, estimator: Any) -> Measures:
        """The model's own objective, and its share of wrong answers; the same of its run."""
        if estimator is None or self.data.X is None:
            return Measures(math.nan, math.nan)
        run = running(estimator)
        both = Measures(*self._both(estimator), *(() if run is None else self._both(run)))
        return both._replace(
            # Several targets are problems of their own: what is minimised is the sum.
            dual_gap=float(np.sum(getattr(estimator, "dual_gap_", math.nan))),
            gradient_norm=float(np.linalg.norm(getattr(estimator, "gradient_norm_", math.nan))),
        )

    def _both(self, estimator: Any) -> tuple[float, float]:
        """Objective and error."""
        return self._objective(estimator), self._error(self.wrong(estimator))

    def wrong(self, estimator: Any) -> NDArray[np.bool_] | None:
        """Which rows (n,) get another class than their own; None unless the model classifies."""
        if self.data.X is None or self.data.y is None or not hasattr(estimator, "classes_"):
            return None
        if judges_by_scores(estimator):
            codes = self._codes_among(estimator.classes_)
            return np.asarray(decide(self._scores(estimator), estimator.boundary) != codes)
        model = nameless(estimator, self.data.X)
        return np.asarray(model.predict(self.data.X) != self.data.labels())

    def tied(self, estimator: Any) -> NDArray[np.bool_]:
        """Which rows (n,) are predicted right by a tie that learning counts as a mistake."""
        if not judges_by_scores(estimator) or estimator.boundary != "mistake":
            return np.zeros(len(self.data.labels()), np.bool_)
        scores, codes = self._scores(estimator), self._codes_among(estimator.classes_)
        right = decide(scores, estimator.boundary) == codes
        return np.asarray(right & (margins_of(scores, codes) == 0))

    def _scores(self, estimator: Any) -> NDArray[Any]:
        """The model's `decision_function`: (n,), or (n, K) for K > 2 classes."""
        if self._latest[0] is not estimator:
            self._latest = (estimator, self._fresh_scores(estimator))
        return self._latest[1]

    def _fresh_scores(self, estimator: Any) -> NDArray[Any]:
        model = nameless(estimator, self.data.X)
        if sums_over_supports(estimator):
            return self._kernel_scores(estimator)
        if not is_plainly_linear(estimator):
            return np.asarray(model.decision_function(self.data.X))
        if self._X is None:
            self._X = validate_data(model, self.data.X, accept_sparse="csr", reset=False)
        scores = safe_sparse_dot(self._X, estimator.coef_.T, dense_output=True)
        scores = scores + estimator.intercept_
        return np.asarray(scores.ravel() if scores.shape[1] == 1 else scores)

    def _kernel_scores(self, estimator: Any) -> NDArray[Any]:
        if self._supports is None:
            X = self.data.X
            self._supports = SupportScores(X if hasattr(X, "shape") else np.asarray(X))
        return self._supports.of(estimator)

    def _codes_among(self, classes: NDArray[Any]) -> NDArray[np.intp]:
        """The number of each row's class; the models of a run share their `classes`."""
        if self._classes is not classes:
            seen, places = np.unique(self.data.labels(), return_inverse=True)
            self._classes, self._codes = classes, codes_among(classes, seen)[places]
        return self._codes

    def _objective(self, estimator: Any) -> float:
        """``estimator.objective(X, y, sample_weight)``, or what it published as `objective_`."""
        if hasattr(estimator, "objective_"):
            return float(np.sum(estimator.objective_))
        if not hasattr(estimator, "objective"):
            return math.nan
        data, weight = self.data, self.data.weights()
        if judges_by_scores(estimator):
            codes = self._codes_among(estimator.classes_)
            loss = losses.perceptron(margins_of(self._scores(estimator), codes))
            return float((np.ones(len(loss)) if weight is None else weight) @ loss)
        y = None if data.y is None else data.labels()
        return float(nameless(estimator, data.X).objective(data.X, y, sample_weight=weight))

    def _error(self, wrong: NDArray[np.bool_] | None) -> float:
        """The weighted share of training rows whose class is predicted wrongly."""
        if wrong is None:
            return math.nan
        return float(np.average(wrong, weights=self.data.weights()))


def judges_by_scores(estimator: Any) -> bool:
    """Whether the model predicts and judges from its scores as our learners do, unaltered."""
    kind = type(estimator)
    return (
        isinstance(estimator, BoundaryClassifier)
        and kind.predict is BoundaryClassifier.predict
        and kind.objective is BoundaryClassifier.objective
        and hasattr(estimator, "classes_")
    )


def is_plainly_linear(estimator: Any) -> bool:
    """Whether the model scores as our linear models do, unaltered."""
    return (
        isinstance(estimator, LinearClassifier)
        and type(estimator).decision_function is LinearClassifier.decision_function
        and hasattr(estimator, "coef_")
        and not sp.issparse(estimator.coef_)
    )
