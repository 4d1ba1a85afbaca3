"""DC07, K4: the points of GC21 with a penalty 1/2 |w|^2, the bias free."""

import numpy as np
import pytest

from rosenblatt import LogisticRegression

X = np.array([[3.0, -3.0], [-2.0, 2.0]])
Y = [1, 0]


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient", "coordinate"])
def test_the_maximum_of_the_posterior(solver):
    model = LogisticRegression(solver=solver, tol=1e-7, max_iter=5000).fit(X, Y)
    np.testing.assert_allclose(model.coef_, [[0.458575, -0.458575]], atol=1e-6)
    np.testing.assert_allclose(model.intercept_, [-0.458575], atol=3e-6)
    assert model.objective_ == pytest.approx(0.402685, abs=1e-6)


def test_a_penalised_bias_is_a_column_of_ones():
    Z = np.hstack([np.ones((2, 1)), X])
    model = LogisticRegression(fit_intercept=False, tol=1e-9).fit(Z, Y)
    np.testing.assert_allclose(model.coef_, [[-0.066386, 0.456257, -0.456257]], atol=1e-6)
    assert model.objective_ == pytest.approx(0.417767, abs=1e-6)


@pytest.mark.usefixtures("unconverged")
def test_one_step_with_the_penalty():
    model = LogisticRegression(solver="gradient", eta0=0.1, max_iter=1, warm_start=True)
    model.fit(X, Y)
    np.testing.assert_allclose(model.coef_, [[0.25, -0.25]])
    model.fit(X, Y)
    np.testing.assert_allclose(model.coef_, [[0.333516, -0.333516]], atol=5e-7)
    np.testing.assert_allclose(model.intercept_, [-0.008652], atol=5e-7)
