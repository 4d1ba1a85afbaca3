"""Certificates of discriminants, on scikit-learn's models and ours alike."""

import copy
import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

import rosenblatt
from rosenblatt import certify

LDA, QDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
MODELS = [
    LDA(),
    LDA(solver="lsqr"),
    LDA(solver="eigen"),
    LDA(solver="lsqr", shrinkage=0.3),
    LDA(solver="lsqr", shrinkage="auto"),
    LDA(solver="eigen", priors=[0.2, 0.3, 0.5]),
    QDA(),
    QDA(reg_param=0.1),
    QDA(solver="eigen", shrinkage=0.2),
    QDA(priors=[0.2, 0.3, 0.5]),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


@each_model
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_honest_fits_hold_and_agree_with_predict(model, load):
    X, y = load(return_X_y=True)
    model = copy.deepcopy(model).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    assert certificate["training error"].value == np.count_nonzero(model.predict(X) != y)


def test_two_classes():
    X, y = load_iris(return_X_y=True)
    assert certify(LDA().fit(X[50:], y[50:]), X[50:], y[50:]).holds


@each_model
def test_a_nudged_parameter_is_found_out(model):
    X, y = load_iris(return_X_y=True)
    model = copy.deepcopy(model).fit(X, y)
    for name in ("means_", "priors_", "coef_", "intercept_", "scalings_"):
        value = getattr(model, name, None)
        if value is None or (name == "scalings_" and not isinstance(value, list)):
            continue
        changed = copy.deepcopy(model)
        table = getattr(changed, name)
        table = table[0] if isinstance(table, list) else table
        table.flat[0] += 0.01
        assert not certify(changed, X, y).holds, name


def test_a_singular_covariance_is_said_to_be_so():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 0]])
    certificate = certify(LDA().fit(X, y), X, y)
    assert certificate.holds, str(certificate)
    assert "singular" in certificate["planes"].statement


@pytest.mark.parametrize("kind", [LDA, rosenblatt.LinearDiscriminantAnalysis])
def test_of_several_planes_the_shortest_is_certified_by_columns_as_they_are_or_scaled(kind):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    island = np.eye(3)[rng.integers(0, 3, 120)]  # sums to one in every row
    X = np.column_stack([rng.normal(size=(120, 2)) * (1, 30) + y[:, None], island])
    model = kind(solver="lsqr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        model.fit(X, y)
    assert certify(model, X, y)["planes"].holds
    model.coef_ = model.coef_ + np.array([[0], [1e-3], [0]]) * (0, 0, 1, 1, 1)  # predicts alike
    model.intercept_ = model.intercept_ - np.array([0, 1e-3, 0])
    assert not certify(model, X, y)["planes"].holds


@pytest.mark.parametrize("kind", [LDA, rosenblatt.LinearDiscriminantAnalysis])
def test_planes_that_a_far_column_puts_off_by_a_twentieth_do_not_hold(kind):
    rng, y = np.random.RandomState(7), np.arange(12) % 2
    near = np.round(8 * rng.standard_normal(12) + 40 * y) / 8
    X = np.column_stack([near + 2.0**48, rng.standard_normal(12)])
    claim = certify(kind().fit(X, y), X, y)["planes"]
    assert claim.value > 0.05  # of a unit of log-odds; the classes are 6 deviations apart
    assert not claim.holds
    X[:, 0] = near
    assert certify(kind().fit(X, y), X, y).holds
