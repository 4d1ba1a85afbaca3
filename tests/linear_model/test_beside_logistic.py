"""J11: the perceptron is logistic regression's update with a hard 0 or 1 for the probability."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import Perceptron

N_PASSES = 5


def learn(X, t, probability):
    """Passes of ``w += (t - p(x)) x`` from zero, in data order."""
    w = np.zeros(X.shape[1])
    for _ in range(N_PASSES):
        for x, target in zip(X, t, strict=True):
            w += (target - probability(w @ x)) * x
    return w


def overlapping():
    """Whole numbers, so that every sum is exact."""
    rng = np.random.RandomState(0)
    t = rng.randint(2, size=60)
    return rng.randint(-9, 10, size=(60, 3)) + 3.0 * (2 * t[:, np.newaxis] - 1), t


def test_a_hard_prediction_in_place_of_the_probability_gives_the_perceptron():
    X, t = overlapping()
    model = Perceptron(fit_intercept=False, shuffle=False, tol=None, boundary="negative")
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_iter=N_PASSES).fit(X, t)
    hard = learn(X, t, lambda score: float(score > 0))
    assert model.n_updates_ > N_PASSES
    assert model.coef_[0].tolist() == hard.tolist()


def test_a_steep_sigmoid_comes_as_near_to_it_as_one_likes():
    X, t = overlapping()
    X = X + [0.01, 0.02, 0.04]  # no score is zero, except before anything is learned
    hard = learn(X, t, lambda score: float(score > 0) if score else 0.5)
    steep = learn(X, t, lambda score: expit(1e6 * score))
    assert np.allclose(steep, hard)
    assert not np.allclose(learn(X, t, expit), hard)
