"""X: what the page of comparisons states, on rows of its own."""

import numpy as np
import pytest

from rosenblatt import (
    GaussianMixture,
    GaussianNB,
    KMeans,
    KNeighborsClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
)
from rosenblatt.statistics import Moments


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    y = np.arange(120) % 2
    return rng.normal(size=(120, 2)) + 6 * y[:, None], y


def test_counts_do_not_depend_on_the_order_of_rows_and_mistakes_do(rows):
    X, y = rows
    X = X + np.random.default_rng(0).normal(size=X.shape) * 2  # classes that overlap
    counted = [GaussianNB().fit(X[o], y[o]).theta_ for o in (slice(None), slice(None, None, -1))]
    np.testing.assert_allclose(*counted)
    line = {"max_iter": 1, "tol": None, "shuffle": False}
    with pytest.warns(Warning, match="max_iter"):
        first = Perceptron(**line).fit(X, y).coef_
    with pytest.warns(Warning, match="max_iter"):
        second = Perceptron(**line).fit(X[::-1], y[::-1]).coef_
    assert not np.allclose(first, second)


def test_the_machine_has_the_widest_street_and_only_rows_at_it_count(rows):
    X, y = rows
    sign = 2.0 * y - 1

    def margin(model):
        return (sign * model.decision_function(X)).min() / np.linalg.norm(model.coef_)

    machine = LinearSVC(loss="hinge", C=1e3, tol=1e-8, max_iter=10**6).fit(X, y)
    assert margin(machine) > margin(Perceptron(max_iter=1000, tol=None).fit(X, y)) > 0
    near = np.argsort(sign * machine.decision_function(X))[:40]
    fewer = {"machine": LinearSVC(loss="hinge", C=1e3, tol=1e-8, max_iter=10**6)}
    fewer["logistic"] = LogisticRegression(tol=1e-10)
    whole = LogisticRegression(tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        fewer["machine"].fit(X[near], y[near]).coef_, machine.coef_, rtol=1e-3
    )
    assert not np.allclose(fewer["logistic"].fit(X[near], y[near]).coef_, whole.coef_, rtol=1e-3)


def test_neighbours_keep_all_rows(rows):
    X, y = rows
    assert KNeighborsClassifier(1).fit(X, y).score(X, y) == 1


def test_joint_densities_integrate_to_the_classes_and_posteriors_sum_to_one(rows):
    X, y = rows[0][:, :1], np.arange(120) % 4 == 1
    x = np.linspace(-20, 30, 5001)[:, None]
    model = GaussianNB().fit(X, y)
    areas = np.exp(model.predict_joint_log_proba(x)).sum(axis=0) * 0.01
    np.testing.assert_allclose(areas, [0.75, 0.25], rtol=1e-6)
    for given in (model, LogisticRegression().fit(X, y)):
        np.testing.assert_allclose(given.predict_proba(x).sum(axis=1), 1)


def test_a_diagonal_mixture_with_labels_is_gaussian_naive_bayes(rows):
    X, y = rows
    bayes = GaussianNB(var_smoothing=0).fit(X, y)
    known = GaussianMixture.from_statistics(Moments.of(X, y), covariance_type="diag", reg_covar=0.0)
    np.testing.assert_allclose(known.means_, bayes.theta_)
    np.testing.assert_allclose(known.covariances_, bayes.var_)
    np.testing.assert_allclose(known.predict_proba(X), bayes.predict_proba(X), atol=1e-12)


def test_shares_are_soft_and_clusters_hard(rows):
    X, _ = rows
    shares = GaussianMixture(2, random_state=0).fit(X / 3).predict_proba(X / 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert set(KMeans(2, random_state=0).fit_predict(X)) == {0, 1}
    assert ((shares > 0) & (shares < 1)).any()
