"""GC31, R3: EM for two means with a known variance."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import GaussianMixture

X = np.array([[-1.0], [0.0], [2.0]])


def em(max_iter, means=(-1.0, 0.0), tol=0.0):
    model = GaussianMixture(
        2, covariance_type="spherical", known_variance=1.0, means_init=np.reshape(means, (2, 1)),
        max_iter=max_iter, tol=tol, random_state=0,
    )  # fmt: skip
    if tol:
        return model.fit(X)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        return model.fit(X)


def likelihood(model):
    return float(model.score_samples(X).sum())


def test_the_shares_at_the_start():
    # Unnormalised exp(-(x - m)^2 / 2): 1, 0.606531; 0.606531, 1; 0.011109, 0.135335.
    model = GaussianMixture(
        2, covariance_type="spherical", known_variance=1.0, means_init=[[-1.0], [0.0]], max_iter=0,
        random_state=0,
    ).fit(X)  # fmt: skip
    wanted = [[0.622459, 0.377541], [0.377541, 0.622459], [0.075858, 0.924142]]
    np.testing.assert_allclose(model.predict_proba(X), wanted, atol=1e-6)
    assert likelihood(model) == pytest.approx(-5.809213, abs=1e-6)


@pytest.mark.parametrize(
    ("step", "means", "wanted"),
    [
        # (-0.622459 + 0 + 2 * 0.075858) / (0.622459 + 0.377541 + 0.075858) = -0.437551
        (1, (-0.437551, 0.764363), -4.928699),
        (2, (-0.416392, 1.034637), -4.843460),
        (3, (-0.456276, 1.187966), -4.814445),
        (4, (-0.481270, 1.281994), -4.804033),
        (5, (-0.491303, 1.338080), -4.800573),
    ],
)
def test_the_iterates(step, means, wanted):
    model = em(step)
    np.testing.assert_allclose(model.means_.ravel(), means, atol=1e-6)
    assert likelihood(model) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("start", [(-1, 0), (-1, 2), (0, 2), (0.3, 0.4)])
def test_the_fixed_point(start):
    model = em(10_000, np.array(start, float), tol=1e-14)
    np.testing.assert_allclose(model.means_.ravel(), [-0.495663, 1.415850], atol=1e-5)
    assert likelihood(model) == pytest.approx(-4.798872, abs=1e-6)
