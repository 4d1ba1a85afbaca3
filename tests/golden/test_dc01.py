"""DC01: x = 0, 1, 2, 3 and t = 1, 2, 2, 4 by least squares and ridge."""

import numpy as np

from rosenblatt import LinearRegression

X, T = np.arange(4.0)[:, None], np.array([1.0, 2.0, 2.0, 4.0])


def test_least_squares():
    # mean x 1.5, mean t 2.25; sum of squares 5, of products 4.5: w = 0.9, b = 2.25 - 1.35
    model = LinearRegression().fit(X, T)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [0.9, 0.9], rtol=1e-12)
    left = T - model.predict(X)
    np.testing.assert_allclose([(left**2).sum(), (left**2).mean()], [0.7, 0.175], rtol=1e-12)
    np.testing.assert_allclose(np.hstack([X, np.ones((4, 1))]).T @ left, 0, atol=1e-12)
    np.testing.assert_allclose((left**2).sum() / (4 - 2), 0.35, rtol=1e-12)
