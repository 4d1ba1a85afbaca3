"""Small additive classifiers: what model selection needs, and nothing else."""

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from rosenblatt.additive import Additive, AdditiveClassifier
from rosenblatt.statistics import FeatureCounts, Moments


class Scores(AdditiveClassifier):
    """A classifier whose scores are logarithms of joint probabilities."""

    def predict(self, X):
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X):
        scores = self._scores(X)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def _scores(self, X):
        check_is_fitted(self)
        X = self._check_X(X, first=False)
        return X @ self.coef_.T + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class NearestMean(Scores):
    """The class whose mean, drawn towards the mean of all, is the nearest in units of spread."""

    measured_by = ("full",)
    simpler_when_larger = ("shrinkage",)
    _parameter_constraints: ClassVar[dict] = {"shrinkage": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, shrinkage=0.0, full=False, n_classes=None):
        self.shrinkage = shrinkage
        self.full = full
        self.n_classes = n_classes

    def _measure(self, X, y, sample_weight):
        return Moments.of(X, y, sample_weight, full=self.full)

    def _measure_groups(self, X, y, sample_weight, groups, n_groups):
        return Moments.by_group(X, y, groups, n_groups, sample_weight, full=self.full)

    def _conclude(self, rows, final):
        moments = self.statistics_.diagonal()
        if self.n_classes not in (None, len(moments.classes)):
            raise ValueError(f"{self.n_classes} classes were expected; got {moments.classes}.")
        every = moments.total()
        spread = every.scatter[0] / every.weight[0] + 1e-3
        self.means_ = moments.mean + self.shrinkage * (every.mean - moments.mean)
        self.coef_ = self.means_ / spread
        share = np.log(self.statistics_.weight / self.statistics_.weight.sum())
        self.intercept_ = share - (self.means_**2 / spread).sum(axis=1) / 2
        self.n_parameters_ = self.means_.size


class RowByRow(NearestMean):
    """The same without a way of its own to measure groups."""

    def _measure_groups(self, *rows):
        return Additive._measure_groups(self, *rows)


class WordCounts(Scores):
    """The class in which such words are the most frequent."""

    measured_by = ("binarize",)
    simpler_when_larger = ("alpha",)
    _parameter_constraints: ClassVar[dict] = {"alpha": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, alpha=1.0, binarize=None):
        self.alpha = alpha
        self.binarize = binarize

    def _measure(self, X, y, sample_weight):
        return FeatureCounts.of(X, y, sample_weight, binarize=self.binarize)

    def _measure_groups(self, X, y, sample_weight, groups, n_groups):
        return FeatureCounts.by_group(X, y, groups, n_groups, sample_weight, binarize=self.binarize)

    def _conclude(self, rows, final):
        counts = self.statistics_
        smooth = counts.sums + self.alpha
        self.coef_ = np.log(smooth / smooth.sum(axis=1, keepdims=True))
        self.intercept_ = np.log(counts.weight / counts.weight.sum())
