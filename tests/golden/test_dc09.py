"""DC09, J7: the averaged perceptron on the three points of GC22."""

import numpy as np
import pytest

from rosenblatt import AveragedPerceptron

X = np.array([[3.0, 2], [-2, 2], [-2, -3]])
Y = np.array([1, -1, 1])


def test_the_mean_over_six_visits():
    # w after each visit: (3,2) (3,2) (1,-1) (1,-1) (1,-1) (1,-1); sum (10, 0), mean (5/3, 0).
    model = AveragedPerceptron(fit_intercept=False, shuffle=False, tol=None, boundary="negative")
    model.fit(X, Y)
    np.testing.assert_allclose(model.coef_, [[10 / 6, 0]], atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), [5, -10 / 3, -10 / 3])
    assert model.last_coef_.tolist() == [[1, -1]]
    assert model.predict(X).tolist() == [1, -1, -1], "the third is wrong, though w is perfect"


@pytest.mark.usefixtures("unconverged")
def test_the_mean_after_one_pass():
    model = AveragedPerceptron(fit_intercept=False, shuffle=False, max_iter=1, boundary="negative")
    np.testing.assert_allclose(model.fit(X, Y).coef_, [[7 / 3, 1]])
