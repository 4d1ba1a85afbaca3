"""DC11, I3, I4: Fisher's direction, least squares on six points, and a far point that does harm."""

import numpy as np
import pytest

from rosenblatt import FisherDiscriminant, LeastSquaresClassifier, LinearDiscriminantAnalysis

X = np.array([[1, 2], [2, 3], [3, 3], [6, 5], [7, 8], [8, 7]])
Y = np.array([1, 1, 1, 2, 2, 2])
WITHIN = np.array([[4, 3], [3, 16 / 3]])  # class 1: squares 2, 2/3, products 1; class 2: 2, 14/3, 2
APART = np.array([5, 4])  # (7, 20/3) - (2, 8/3)


def criterion(w):
    return (w @ APART) ** 2 / (w @ WITHIN @ w)


def test_fishers_direction():
    model = FisherDiscriminant().fit(X, Y)
    np.testing.assert_allclose(model.direction_, [1.189189, 0.081081], atol=1e-6)
    np.testing.assert_allclose(WITHIN @ model.direction_, APART)
    assert model.criterion_ == pytest.approx(6.270270, abs=1e-6)
    assert criterion(APART) == pytest.approx(5.505459, abs=1e-6), "the mean difference is worse"
    assert model.threshold_ == pytest.approx(5.729730, abs=1e-6)
    assert model.score(X, Y) == 1


def test_least_squares_is_parallel_to_it():
    model = LeastSquaresClassifier().fit(X, Y)
    np.testing.assert_allclose(model.intercept_, [-1.651948], atol=1e-6)
    np.testing.assert_allclose(model.coef_, [[0.342857, 0.023377]], atol=1e-6)
    factor = model.coef_[0] / FisherDiscriminant().fit(X, Y).direction_
    np.testing.assert_allclose(factor, 0.288312, atol=1e-6)


def test_a_far_and_easy_point_spoils_least_squares():
    far, label = np.vstack([X, [60, 50]]), np.append(Y, 2)
    model = LeastSquaresClassifier().fit(far, label)
    np.testing.assert_allclose(model.intercept_, [-0.073157], atol=1e-6)
    np.testing.assert_allclose(model.coef_, [[0.084028, -0.074338]], atol=1e-6)
    assert model.decision_function([[7, 8]]) == pytest.approx(-0.079662, abs=1e-6)
    assert model.predict([[7, 8]]) == [1], "it was right before"
    # Taking it out again gives the first plane back.
    model.forget([[60, 50]], [2])
    np.testing.assert_allclose(model.coef_, [[0.342857, 0.023377]], atol=1e-6)


def test_linear_discriminant_analysis_has_the_same_direction():
    model = LinearDiscriminantAnalysis().fit(X, Y)
    # Its covariance is S_W / 6.
    np.testing.assert_allclose(model.coef_, 6 * np.array([[1.189189, 0.081081]]), atol=1e-5)
