"""DC01, H1, H2, H4: x = 0, 1, 2, 3 and t = 1, 2, 2, 4 by least squares and ridge."""

import numpy as np
import pytest

from rosenblatt import LinearRegression, Ridge

X, T = np.arange(4.0)[:, None], np.array([1.0, 2.0, 2.0, 4.0])


def test_least_squares():
    # mean x 1.5, mean t 2.25; sum of squares 5, of products 4.5: w = 0.9, b = 2.25 - 1.35
    model = LinearRegression().fit(X, T)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [0.9, 0.9], rtol=1e-12)
    left = T - model.predict(X)
    np.testing.assert_allclose([(left**2).sum(), (left**2).mean()], [0.7, 0.175], rtol=1e-12)
    np.testing.assert_allclose(np.hstack([X, np.ones((4, 1))]).T @ left, 0, atol=1e-12)
    np.testing.assert_allclose((left**2).sum() / (4 - 2), 0.35, rtol=1e-12)


@pytest.mark.parametrize(
    ("penalty", "intercept", "w", "error"),
    # w = 4.5 / (5 + penalty), b = 2.25 - 1.5 w
    [(1, 1.125, 0.75, 0.203125), (10, 1.8, 0.3, 0.625), (1e12, 2.25, 0.0, 4.75 / 4)],
)
def test_ridge_with_a_free_intercept(penalty, intercept, w, error):
    model = Ridge(penalty).fit(X, T)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [intercept, w], atol=1e-10)
    np.testing.assert_allclose(((T - model.predict(X)) ** 2).mean(), error, rtol=1e-9)


def test_a_penalty_on_the_intercept_too_would_be_another_answer():
    # the wrong one of the notes' summary line: a column of ones without an intercept
    ones = np.hstack([np.ones((4, 1)), X])
    model = Ridge(1.0, fit_intercept=False).fit(ones, T)
    np.testing.assert_allclose(model.coef_, [0.692308, 0.923077], atol=1e-6)
