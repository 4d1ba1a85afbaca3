"""Certificates of kernel perceptrons: true of honest fits, false after tampering."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import KernelPerceptron, certify
from rosenblatt.kernels import Gaussian
from tests.contract.estimators import problem

pytestmark = pytest.mark.usefixtures("unconverged")

KERNELS = ["linear", "poly", "rbf", "laplacian", "sigmoid"]


def moons(**settings):
    X, y = make_moons(80, noise=0.1, random_state=0)
    return KernelPerceptron(gamma=2.0, tol=None, **settings).fit(X, y), X, y


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(KERNELS),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.sampled_from([np.asarray, sp.csr_matrix]),
    st.sampled_from([1.0, 0.1]),
)
def test_honest_fits_hold(seed, kernel, n_classes, fit_intercept, storage, eta0):
    rng = np.random.RandomState(seed)
    X, y = rng.standard_normal((25, 2)), np.arange(25) % n_classes
    weight = rng.randint(1, 4, 25).astype(float)
    model = KernelPerceptron(kernel, fit_intercept=fit_intercept, max_iter=30, eta0=eta0, coef0=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(storage(X), y, sample_weight=weight)
    certificate = certify(model, storage(X), y, sample_weight=weight)
    wrong = int(np.count_nonzero(model.predict(storage(X)) != y))
    if wrong <= len(y) - np.bincount(y).max():  # else one answer for all rows is better
        assert certificate.holds, str(certificate)
    assert certificate["training error"].value == wrong


def test_the_bound_is_about_the_feature_space():
    model, X, y = moons()
    assert model.converged_
    certificate = certify(model, X, y)
    assert certificate.holds
    # By the definition: |v|^2 = a'Ka + b^2, g the least y f(x) / |v| of any element, R^2 = 1 + 1.
    a, K = model.dual_coef_[0], Gaussian(2.0)(model.support_vectors_)
    length = np.sqrt(a @ K @ a + model.intercept_[0] ** 2)
    own = (np.where(y == 1, 1, -1) * model.decision_function(X)).min() / length
    assert certificate["margin"].value == pytest.approx(own, rel=1e-6)
    bound = certificate["mistake bound"]
    assert model.n_updates_ <= bound.bound <= 2 / own**2 * (1 + 1e-6)
    quick = certify(model, X, y, effort=0)
    assert quick["mistake bound"].bound == pytest.approx(2 / own**2, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_nudged_attribute_is_found_out(n_classes):
    X, y = problem(n_classes, n_rows=60)
    model = KernelPerceptron(tol=None, max_iter=100).fit(X, y)
    assert certify(model, X, y).holds
    for name, nudge in (
        ("dual_coef_", 1.0),
        ("dual_coef_", 0.25),
        ("intercept_", 1.0),
        ("intercept_", -1e-3),
    ):
        changed = copy.copy(model)
        array = getattr(model, name).copy()
        array.flat[0] += nudge
        setattr(changed, name, array)
        assert not certify(changed, X, y).holds, name
    fewer = copy.copy(model)
    fewer.n_updates_ = int(np.abs(model.dual_coef_).sum() / (n_classes - 1) / 2)
    assert not certify(fewer, X, y).holds


def test_a_support_that_was_moved_is_found_out():
    model, X, y = moons()
    changed = copy.copy(model)
    changed.support_vectors_ = model.support_vectors_ + 3.0
    assert not certify(changed, X, y).holds


def test_a_model_that_claims_to_be_clean_is_held_to_it():
    model, X, y = moons(max_updates=5)
    assert certify(model, X, y).holds
    changed = copy.copy(model)
    changed.converged_ = True
    assert not certify(changed, X, y).holds


def test_no_bound_without_a_feature_space():
    X, y = problem(n_rows=60)
    certificate = certify(KernelPerceptron("sigmoid", max_updates=30).fit(X, y), X, y)
    assert certificate["feature space"].value < -1
    assert "mistake bound" not in [claim.name for claim in certificate.claims]
    quick = certify(KernelPerceptron("sigmoid", max_updates=30).fit(X, y), X, y, effort=0)
    assert quick.holds


def test_matrices_functions_and_pipelines():
    X, y = make_moons(60, noise=0.1, random_state=1)
    K = Gaussian(2.0)(X)
    matrix = KernelPerceptron("precomputed", tol=None).fit(K, y)
    assert certify(matrix, K, y).holds
    assert "mistake bound" in [claim.name for claim in certify(matrix, K, y).claims]
    new = Gaussian(2.0)(X[:10], X)
    assert [c.name for c in certify(matrix, new, y[:10]).claims] == ["training error", "books"]
    function = KernelPerceptron(lambda U, V: Gaussian(2.0)(U, V), tol=None).fit(X, y)
    assert certify(function, X, y)["mistake bound"].holds
    pipeline = make_pipeline(StandardScaler(), KernelPerceptron(gamma=3.0, tol=None)).fit(X, y)
    assert "on the output of StandardScaler" in str(certify(pipeline, X, y))


def test_whole_numbers_are_proved():
    X, y = np.array([[1.0, 1], [-1, 1], [-1, -1], [1, -1]]), [1, -1, 1, -1]
    model = KernelPerceptron("poly", degree=2, gamma=1, fit_intercept=False).fit(X, y)
    assert certify(model, X, y)["training error"].grade == "proved"
    assert certify(moons()[0], *moons()[1:])["training error"].grade == "checked"


def test_it_must_be_fitted_and_fit_the_data():
    X, y = problem()
    with pytest.raises(ValueError, match="This KernelPerceptron is not fitted yet"):
        certify(KernelPerceptron(), X, y)
    model = KernelPerceptron(max_updates=10).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 columns, but the model has 5"):
        certify(model, X[:, :2], y)


class TestWhatOnceWasFalse:
    """Each was certified, or refused, wrongly."""

    def test_nothing_is_proved_where_a_shift_swallows_the_digits(self):
        X, y = np.array([[1.0], [2.0], [3.0]]), [0, 1, 1]
        model = KernelPerceptron(
            "poly", degree=1, gamma=1.0, coef0=-(2.0**60), fit_intercept=False, max_iter=3, tol=None
        ).fit(X, y)
        assert certify(model, X, y, effort=0)["training error"].grade == "checked"

    def test_the_supports_belong_to_the_feature_space(self):
        model = KernelPerceptron(
            "sigmoid", gamma=1.0, coef0=-1.0, fit_intercept=False, shuffle=False, max_updates=1
        ).fit([[1.05], [-1.05]], [1, 0])
        names = [claim.name for claim in certify(model, [[5.0]], [1]).claims]
        assert "margin" not in names

    def test_a_margin_is_no_longer_than_the_row(self):
        X = [[1.5322583483160743], [1.5322583831374177]]
        model = KernelPerceptron("linear", fit_intercept=False, shuffle=False, max_updates=2)
        model.fit(X, [0, 1])
        claims = {claim.name: claim for claim in certify(model, X[1:], [1], effort=0).claims}
        assert "margin" not in claims or claims["margin"].value <= X[1][0]

    def test_ties_that_the_rule_calls_right_are_not_wrong(self):
        X, y = [[2.0], [1], [0], [-1], [-1], [-2]], [0, 0, 0, 1, 1, 1]
        model = KernelPerceptron(gamma=1.0, boundary="positive", fit_intercept=False).fit(X, y)
        assert model.score(X, y) == 1
        assert certify(model, X, y).holds

    def test_one_mistake_more_does_not_add_up(self):
        model, X, y = moons(max_updates=20)
        model.n_updates_ += 1
        assert not certify(model, X, y).holds

    def test_rows_that_contradict_each_other_are_named(self):
        X, y = [[0.0, 0], [1, 1], [0, 0]], [0, 1, 1]
        claim = certify(KernelPerceptron(max_iter=20, tol=None).fit(X, y), X, y)["separability"]
        assert claim.grade == "proved"
        assert "0 and 2 are alike" in claim.statement

    def test_what_is_not_decided_says_so(self):
        X, y = problem(3, n_rows=60)
        claim = certify(KernelPerceptron(max_updates=5).fit(X, y), X, y)["separability"]
        assert claim.grade == "observed"
        assert "not decided" in claim.statement


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_rows_that_are_all_at_the_origin_have_a_certificate(kernel):
    X, y = np.zeros((4, 4)), [0, 1, 0, 1]
    model = KernelPerceptron(kernel, max_iter=3).fit(X, y)
    assert certify(model, X, y)["separability"].holds


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", [13, 24, 31, 48])
def test_rows_far_from_all_others_are_right_by_little_and_for_certain(seed, dtype):
    """Their scores are of the size of 1e-20, and so is what rounding may have done to them."""
    rng = np.random.RandomState(seed)
    n = rng.choice([100, 500])
    X, y = rng.standard_normal((n, 2)).astype(np.float32).astype(dtype), rng.randint(2, size=n)
    model = KernelPerceptron(gamma=float(rng.choice([20, 100])), tol=None).fit(X, y)
    assert model.converged_
    assert np.abs(model.decision_function(X)).min() < 1e-15
    assert certify(model, X, y).holds
    model.dual_coef_ = -model.dual_coef_
    assert not certify(model, X, y).holds
