"""DC02, F5, F11, T8: Gaussian naive Bayes with variances shared between classes is logistic."""

import numpy as np
import pytest
from scipy.special import expit

from rosenblatt import GaussianNB

HAM = [(0, 0), (2, 1), (1, 2)]


def fitted(spam, **settings):
    y = [0] * len(HAM) + [1] * len(spam)
    return GaussianNB(variance="feature", var_smoothing=0, **settings).fit(HAM + spam, y)


@pytest.mark.parametrize(
    ("spam", "ddof", "variance", "weight", "bias", "probability"),
    [
        # means (1, 1) and (4, 4); scatter 2 + 2 over 5; ln(0.4 / 0.6) - 2 x 15 / (2 x 0.8)
        ([(3, 3), (5, 5)], 0, 0.8, 3.75, np.log(2 / 3) - 18.75, 0.015436),
        # scatter 2 + 2 over 6, and over 6 less two means
        ([(3, 3), (5, 4), (4, 5)], 0, 2 / 3, 4.5, -22.5, 0.010987),
        ([(3, 3), (5, 4), (4, 5)], 1, 1.0, 3.0, -15.0, 0.047426),
    ],
)
def test_both_routes_give_the_same_probability(spam, ddof, variance, weight, bias, probability):
    model = fitted(spam, ddof=ddof)
    assert model.theta_.tolist() == [[1, 1], [4, 4]]
    np.testing.assert_allclose(model.var_, variance, rtol=1e-15)
    np.testing.assert_allclose(model.coef_, [[weight, weight]], rtol=1e-14)
    np.testing.assert_allclose(model.intercept_, [bias], rtol=1e-14)
    generative = model.predict_proba([[2, 2]])[0, 1]
    logistic = expit(model.coef_ @ [2, 2] + model.intercept_)[0]
    assert generative == pytest.approx(probability, abs=1e-6)
    assert generative == pytest.approx(logistic, rel=1e-12)


def test_the_bias_as_printed():
    assert fitted([(3, 3), (5, 5)]).intercept_[0] == pytest.approx(-19.155465, abs=1e-6)
