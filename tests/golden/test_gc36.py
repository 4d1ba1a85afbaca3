"""GC36: sizes, of support vector machines."""

import numpy as np
from sklearn.datasets import load_iris

from rosenblatt import LinearSVC


def test_one_slack_for_each_row_also_where_all_classes_share_a_problem():
    X, y = load_iris(return_X_y=True)
    N, K = len(X), 3
    machine = LinearSVC(multi_class="joint", C=0.1, random_state=0, tol=1e-3).fit(X, y)
    scores = machine.decision_function(X)
    own = np.arange(N), y
    leads = scores[own][:, np.newaxis] - scores
    leads[own] = np.inf
    shared = np.maximum(0, 1 - leads.min(axis=1))  # one for each row
    assert shared.shape == (N,)
    each = np.maximum(0, 1 - leads)  # one for each row and other class
    assert np.count_nonzero(np.isfinite(leads)) == N * (K - 1)
    assert (each.sum(axis=1) >= shared).all()
    objective = np.sum(machine.coef_**2) + 0.1 * shared.sum()
    np.testing.assert_allclose(machine.objective_, [objective], rtol=1e-9)


"""GC36, R1: sizes of a covariance, and soft membership."""
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
