"""R2, T11: what is certified of a mixture is so, of ours and scikit-learn's."""

import copy

import numpy as np
import pytest
import sklearn.mixture
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from rosenblatt import GaussianMixture, certify
from tests.attacks import clusters

KINDS = ["full", "tied", "diag", "spherical"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(n=150, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4 * rng.integers(2, size=(n, 1))


def likelihood(X, model):
    """The mean log-density by SciPy."""
    S = model.covariances_
    K, d = model.means_.shape
    if model.covariance_type == "tied":
        S = [S] * K
    elif model.covariance_type != "full":
        S = [np.eye(d) * s for s in S]
    parts = [
        p * multivariate_normal(m, s).pdf(X)
        for p, m, s in zip(model.weights_, model.means_, S, strict=True)
    ]
    return np.mean(np.log(np.sum(parts, axis=0)))


@pytest.mark.parametrize("Model", [GaussianMixture, sklearn.mixture.GaussianMixture])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fit_holds_and_changed_numbers_do_not(Model, kind, dtype):
    X = rows().astype(dtype)
    model = Model(2, covariance_type=kind, random_state=0).fit(X)
    certificate = certify(model, X)
    assert certificate.holds, str(certificate)
    names = ["weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"]
    for name in names:
        other = copy.deepcopy(model)
        setattr(other, name, 1.2 * np.asarray(getattr(other, name)))
        assert not certify(other, X).holds, name
    other = copy.deepcopy(model)
    other.lower_bounds_ = [0.0, -1.0]
    assert not certify(other, X)["never fell"].holds


@given(st.integers(0, 10**6))
def test_the_numbers_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    kind, n_iter = KINDS[rng.integers(4)], int(rng.integers(1, 6))
    X = rows(60, int(rng.integers(1, 4)), seed) * 10.0 ** rng.integers(-1, 3) + rng.choice([0, 1e3])
    for Model in (GaussianMixture, sklearn.mixture.GaussianMixture):
        model = Model(2, covariance_type=kind, random_state=0, max_iter=n_iter, tol=0.0).fit(X)
        certificate = certify(model, X)
        for name in ("weights", "likelihood", "sums", "shares", "mean of means", "never fell"):
            assert certificate[name].holds, str(certificate)
        longer = Model(2, covariance_type=kind, random_state=0, max_iter=n_iter + 1, tol=0.0).fit(X)
        gain = likelihood(X, longer) - likelihood(X, model)
        assert certificate["next step"].value == pytest.approx(gain, abs=1e-6)


def test_weights_and_hard_assignments_are_read():
    X = rows()
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    for how in (
        {},
        {"assignment": "hard"},
        {"covariance_type": "spherical", "known_variance": 1.0},
    ):
        model = GaussianMixture(2, random_state=0, tol=1e-6, **how).fit(X, sample_weight=weight)
        certificate = certify(model, X, sample_weight=weight)
        assert certificate.holds, str(certificate)


def test_a_large_tol_of_the_model_excuses_no_useless_fit():
    X = rows()
    model = GaussianMixture(2, tol=1e3, random_state=0).fit(X)
    model.means_ = model.means_ + [[0.5], [0.5]]
    assert not certify(model, X)["next step"].holds


def test_a_step_that_rounding_hides_from_means_is_seen():
    X = 2.0**52 + np.array([[0.0], [1.0], [3.0]])  # whose mean, 2**52 + 4 / 3, is no double
    model = GaussianMixture(1, covariance_type="diag").fit(X)
    near = GaussianMixture(1, covariance_type="diag").fit(X - 2.0**52)
    model.means_, model.covariances_ = near.means_ * 0 + 2.0**52 + 1, near.covariances_
    gain = (4 / 3 - 1) ** 2 / (2 * near.covariances_[0, 0])  # of a mean in the right place
    assert certify(model, X)["next step"].value >= gain / 2


def test_a_covariance_that_is_not_positive_is_refused_in_words():
    X = rows()
    model = GaussianMixture(2, random_state=0).fit(X)
    model.covariances_ = -model.covariances_
    with pytest.raises(ValueError, match="covariances_ must be positive definite"):
        certify(model, X)


@pytest.mark.parametrize("seed", [(1794990935, 1950), (1794990935, 2579), (249005, 2023)])
@pytest.mark.filterwarnings("ignore")
def test_what_attacks_once_found_is_found_no_more(seed):
    """Shares without digits, twice, and a likelihood without digits that had not fallen."""
    with np.errstate(all="ignore"):
        assert clusters.mixture(np.random.RandomState(seed)) == []
