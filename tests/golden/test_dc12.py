"""DC12: the Gaussian of one class of three points."""

import numpy as np
import pytest

from rosenblatt.estimation import gaussian_log_likelihood, gaussian_mle

POINTS = [[0, 0], [2, 1], [1, 2]]


def test_the_most_likely_gaussian_of_three_points():
    # away from (1, 1): (-1, -1), (1, 0), (0, 1); squares 2, 2, products 1, over 3
    fitted = gaussian_mle(POINTS)
    np.testing.assert_allclose(fitted.mean, [1, 1])
    np.testing.assert_allclose(fitted.variance, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    assert np.linalg.det(fitted.variance) == pytest.approx(1 / 3)
    # 1 / (2 pi sqrt(1/3))
    assert fitted.density(fitted.mean) == pytest.approx(0.275664, abs=1e-6)
    # 3 ln 0.275664 - (the distances sum to n d = 6) / 2
    assert gaussian_log_likelihood(POINTS, *fitted) == pytest.approx(-6.865713, abs=1e-6)
