"""GC30, GC29, P4, O13: AdaBoost on three points, and alpha against the error of a learner."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt import AdaBoostClassifier, certify

X, Y = np.array([[-1.0], [0.0], [1.0]]), np.array([1, -1, 1])

ERRORS = [1 / 3, 1 / 4, 1 / 6]
ALPHAS = [0.346574, 0.549306, 0.804719]  # 1/2 ln 2, 1/2 ln 3, 1/2 ln 5
PRODUCTS = [0.942809, 0.816497, 0.608581]  # of Z = 2 sqrt(e (1 - e))
EDGE_BOUNDS = [0.945959, 0.834806, 0.668461]
TRAIN_ERRORS = [1 / 3, 1 / 3, 0]


class Lecture(ClassifierMixin, BaseEstimator):
    """h1: + iff x > 0.5; h2: + iff x < 1.5; h3: + iff x < -0.5, told apart by the weights."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.array([-1, 1])
        self.round_ = int(np.argmin([abs(sample_weight[0] - w) for w in (0.32, 0.5, 0.34)]))
        if np.allclose(sample_weight, 1 / 3):
            self.round_ = 0
        return self

    def predict(self, X):
        x = np.ravel(X)
        return np.where([x > 0.5, x < 1.5, x < -0.5][self.round_], 1, -1)


@pytest.mark.parametrize("learner", [None, Lecture()], ids=["free search", "the stumps given"])
def test_gc30_three_rounds(learner):
    model = AdaBoostClassifier(learner, n_estimators=3).fit(X, Y)
    assert model.estimator_errors_ == pytest.approx(ERRORS)
    assert model.alphas_ == pytest.approx(ALPHAS, abs=1e-6)
    assert model.error_bounds_ == pytest.approx(PRODUCTS, abs=1e-6)
    assert model.edge_bounds_ == pytest.approx(EDGE_BOUNDS, abs=1e-6)
    assert model.train_errors_ == pytest.approx(TRAIN_ERRORS)
    assert certify(model, X, Y).holds


def test_gc30_the_scores_of_the_stumps_given():
    model = AdaBoostClassifier(Lecture(), n_estimators=3).fit(X, Y)
    # f = 1.007452, -0.601986, 0.091161; the vote is divided by sum alpha, of both classes
    f = model.decision_function(X) * model.alphas_.sum() / 2
    assert f == pytest.approx([1.007452, -0.601986, 0.091161], abs=1e-6)
    assert np.exp(-Y * f).mean() == pytest.approx(PRODUCTS[-1], abs=1e-6)


@pytest.mark.parametrize(
    ("error", "alpha"), [(0.9, -1.098612), (0.38, 0.244774), (0.017986, 2.0), (0.002473, 3.0)]
)
def test_gc29_alpha_of_an_error(error, alpha):
    model = AdaBoostClassifier(flip=True)
    model.n_classes_ = 2
    assert model._weight(error) / 2 == pytest.approx(alpha, abs=2e-4)


def test_gc29_the_ends():
    model = AdaBoostClassifier(flip=True, alpha_cap=2)
    model.n_classes_ = 2
    assert [model._weight(e) / 2 for e in (0.0, 0.01, 0.5, 0.99, 1.0)] == [2, 2, 0, -2, -2]
