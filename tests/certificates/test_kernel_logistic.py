"""Certificates of kernel logistic regression bound the true excess, and see what was changed."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.preprocessing import StandardScaler

from rosenblatt import KernelLogisticRegression, LogisticRegression, certify
from rosenblatt.kernels import Gaussian

KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "poly", "coef0": 1.0, "degree": 2},
    {"kernel": "linear"},
    {"kernel": "laplacian", "fit_intercept": False},
    {"kernel": "sigmoid", "gamma": 0.2},
]


def noisy(n_classes=2):
    X, y = make_classification(
        90, 4, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("setting", KERNELS, ids=lambda setting: setting["kernel"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e5])
@pytest.mark.usefixtures("unconverged")
def test_the_gap_is_never_below_the_true_excess(setting, n_classes, C):
    # K9, M7: logistic regression in kernel form
    X, y = noisy(n_classes)
    weight = np.random.RandomState(0).randint(0, 3, len(y)) * 1.0
    common = {**setting, "C": C, "class_weight": "balanced"}
    best = KernelLogisticRegression(**common, tol=1e-12, max_iter=300).fit(X, y, weight)
    for max_iter in (1, 2, 4, 100):
        model = KernelLogisticRegression(**common, max_iter=max_iter).fit(X, y, weight)
        certificate = certify(model, X, y, sample_weight=weight)
        excess = model.objective_ - best.objective_
        assert certificate["gap"].value >= excess - 1e-10 * best.objective_
        assert certificate["gap"].value <= model.objective_ * (1 + 1e-9)
        if model.stop_reason_ == "converged":
            assert certificate.holds, str(certificate)
            assert certificate["gap"].value <= model.dual_gap_ + 1e-6 * C * len(y)
        # The square of the distance is twice the excess at most, for a penalty of 1/2 |w|^2.
        assert certificate["distance"].value >= np.sqrt(2 * max(excess, 0.0)) * (1 - 1e-6) - 1e-6


@pytest.mark.usefixtures("unconverged")
def test_the_linear_kernel_has_the_gap_of_the_linear_model():
    X, y = noisy()
    plain = certify(LogisticRegression(max_iter=2, tol=1e-12).fit(X, y), X, y, effort=0)
    model = KernelLogisticRegression("linear", max_iter=2, tol=1e-12).fit(X, y)
    assert certify(model, X, y)["gap"].value == pytest.approx(plain["gap"].value, rel=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["dual_coef_", "intercept_", "X_fit_", "gamma_"])
def test_it_fails_when_a_number_is_changed(n_classes, name):
    X, y = noisy(n_classes)
    model = KernelLogisticRegression(tol=1e-8).fit(X, y)
    assert certify(model, X, y, tol=1e-6).holds
    changed = copy.deepcopy(model)
    value = getattr(model, name)
    if name == "gamma_":
        changed.gamma_ = 1.2 * value
    else:
        table = value.copy()
        table.flat[0] += 0.3
        setattr(changed, name, table)
    assert not certify(changed, X, y, tol=1e-6).holds


def test_all_storages_and_precisions_have_one():
    X, y = noisy()
    K = Gaussian(0.3)(X)
    for table, model in (
        (sp.csr_matrix(X), KernelLogisticRegression()),
        (X.astype(np.float32), KernelLogisticRegression()),
        (K, KernelLogisticRegression("precomputed")),
        (X, KernelLogisticRegression(Gaussian(0.3))),
    ):
        certificate = certify(model.fit(table, y), table, y)
        assert certificate.holds, str(certificate)
    weight = (np.arange(len(y)) % 3 > 0) * 1.0
    model = KernelLogisticRegression("precomputed").fit(K, y, weight)
    assert certify(model, K, y, sample_weight=weight).holds
    assert not certify(model, K, y).holds  # another problem


def test_rows_that_the_fit_has_not_seen_are_another_problem():
    X, y = noisy()
    model = KernelLogisticRegression(tol=1e-8).fit(X[:60], y[:60])
    assert certify(model, X[:60], y[:60], tol=1e-7).holds
    assert not certify(model, X, y).holds
    indefinite = KernelLogisticRegression("sigmoid", gamma=0.2).fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="no feature space"):
        certify(indefinite, X, y)


def test_what_cannot_be_read_is_refused():
    X, y = noisy(3)
    model = KernelLogisticRegression(softmax="reference").fit(X, y)
    for name, value, words in (
        ("dual_coef_", model.dual_coef_[:, 1:], "do not belong"),
        ("dual_coef_", model.dual_coef_ + 1, "reference"),
    ):
        changed = copy.copy(model)
        setattr(changed, name, value)
        with pytest.raises(ValueError, match=words):
            certify(changed, X, y)
    with pytest.raises(ValueError, match="not fitted"):
        certify(KernelLogisticRegression(), X, y)


def test_on_a_real_table():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = KernelLogisticRegression(C=10.0).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    assert certificate["gap"].value == pytest.approx(model.dual_gap_, rel=1e-2, abs=1e-6)
