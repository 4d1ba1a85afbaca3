"""DC12, D8, E4, G2, R6: the Gaussian of one class of three points."""

import numpy as np
import pytest

from rosenblatt import (
    GaussianMixture,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
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


def test_the_same_gaussian_as_a_class_of_a_discriminant():
    # The other class is the same cloud, far away: shares of one half, equal covariances.
    rows = np.vstack([POINTS, np.add(POINTS, 100)])
    labels = [0, 0, 0, 1, 1, 1]
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(rows, labels)
    np.testing.assert_allclose(model.means_[0], [1, 1])
    np.testing.assert_allclose(model.covariance_[0], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    assert np.exp(model.score_samples([[1, 1]])) == pytest.approx(0.275664 / 2, abs=1e-6)
    assert model.score_samples(POINTS).sum() == pytest.approx(-6.865713 + 3 * np.log(0.5), abs=1e-6)
    shared = LinearDiscriminantAnalysis(store_covariance=True).fit(rows, labels)
    np.testing.assert_allclose(shared.covariance_, model.covariance_[0])
    np.testing.assert_allclose(shared.score_samples(POINTS), model.score_samples(POINTS))


def test_a_mixture_of_one_component_is_the_class_gaussian():
    # R6, R1: one component needs no iteration: mean and covariance of the rows.
    X = np.array([[0.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
    model = GaussianMixture(1, reg_covar=0.0).fit(X)
    np.testing.assert_allclose(model.means_, [[1.0, 1.0]], rtol=1e-14)
    np.testing.assert_allclose(model.covariances_[0], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], rtol=1e-13)
    assert np.exp(model.score_samples([[1.0, 1.0]])) == pytest.approx(0.275664, abs=1e-6)
    assert model.score_samples(X).sum() == pytest.approx(-6.865713, abs=1e-6)
