"""GC36, R1: sizes of a covariance, and soft membership."""

import numpy as np
import pytest

from rosenblatt import GaussianMixture

X = np.random.default_rng(0).normal(size=(210, 100))


@pytest.mark.parametrize(
    ("kind", "numbers"),
    # Means 100; entries on and below the diagonal 100 * 101 / 2 = 5050.
    [("full", 5050), ("tied", 5050), ("diag", 100), ("spherical", 1)],
)
def test_a_covariance_of_a_hundred_columns(kind, numbers):
    model = GaussianMixture(1, covariance_type=kind).fit(X)
    assert model.n_parameters_ == 100 + numbers
    assert GaussianMixture(1, covariance_type="full").fit(X).covariances_.size == 100 * 100


def test_soft_membership_sums_to_one():
    # Three equal components at equal distances: shares are the weights 0.1, 0.3, 0.6.
    how = {"weights_init": [0.1, 0.3, 0.6], "means_init": np.zeros((3, 1)), "max_iter": 0}
    how |= {"precisions_init": np.ones(3), "covariance_type": "spherical"}
    model = GaussianMixture(3, **how).fit(np.arange(4.0)[:, None])
    shares = model.predict_proba([[1.0]])[0]
    np.testing.assert_allclose(shares, [0.1, 0.3, 0.6], rtol=1e-12)
