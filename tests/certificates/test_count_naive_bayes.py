"""Certificates of naive Bayes by counts, on scikit-learn's models and ours alike."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import naive_bayes as theirs
from sklearn.datasets import load_digits

from rosenblatt import CategoricalNB, certify

MODELS = [
    theirs.MultinomialNB(),
    theirs.MultinomialNB(alpha=0.1, fit_prior=False),
    theirs.BernoulliNB(binarize=7),
    theirs.BernoulliNB(alpha=0.3, binarize=7, class_prior=[0.1] * 10),
    theirs.ComplementNB(),
    theirs.ComplementNB(norm=True),
    theirs.CategoricalNB(min_categories=17),
    theirs.GaussianNB(),
    theirs.GaussianNB(priors=[0.1] * 10),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


@pytest.fixture
def digits():
    X, y = load_digits(return_X_y=True)
    weight = np.random.RandomState(0).randint(0, 3, len(y)).astype(float)
    return X, y, weight


@each_model
def test_honest_fits_hold_and_agree_with_predict(model, digits):
    X, y, weight = digits
    model = copy.deepcopy(model).fit(X, y, sample_weight=weight)
    certificate = certify(model, X, y, sample_weight=weight)
    assert certificate.holds, str(certificate)
    kept = weight > 0
    wrong = np.count_nonzero(model.predict(X[kept]) != y[kept])
    assert certificate["training error"].value == wrong


@each_model
@pytest.mark.parametrize("nudge", [0.1, 1e-4])
def test_a_nudged_parameter_is_found_out(model, digits, nudge):
    X, y, weight = digits
    model = copy.deepcopy(model).fit(X, y, sample_weight=weight)
    if hasattr(model, "theta_"):
        names = [
            ("theta_", model.theta_),
            ("var_", model.var_),
            ("class_prior_", model.class_prior_),
        ]
    else:
        tables = model.feature_log_prob_
        table = tables[5] if isinstance(tables, list) else tables
        names = [("feature_log_prob_", table), ("class_count_", model.class_count_)]
    for name, table in names:
        before = table.copy()
        table.flat[3] += nudge * max(1.0, abs(table.flat[3]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert not certify(model, X, y, sample_weight=weight).holds, name
        table[...] = before


@pytest.mark.parametrize("model", [theirs.MultinomialNB(), theirs.BernoulliNB(binarize=7)])
def test_sparse_rows(model, digits):
    X, y, _ = digits
    model.fit(sp.csr_matrix(X), y)
    assert certify(model, sp.csr_matrix(X), y).holds


def test_the_shortfall_is_that_of_the_log_likelihood(digits):
    X, y, _ = digits
    fitted = theirs.MultinomialNB().fit(X, y)
    other = copy.deepcopy(fitted)
    table = np.random.RandomState(0).dirichlet(np.ones(64), size=10)
    other.feature_log_prob_ = np.log(table)
    counts = fitted.feature_count_ + 1.0

    def log_likelihood(model):
        return float((counts * model.feature_log_prob_).sum())

    gap = certify(other, X, y)["likelihood"].value
    assert gap == pytest.approx(log_likelihood(fitted) - log_likelihood(other), rel=1e-9)


def test_counts_of_whole_numbers_are_proved(digits):
    X, y, _ = digits
    certificate = certify(theirs.MultinomialNB().fit(X, y), X, y)
    assert certificate["counts"].grade == "proved"
    assert certificate["likelihood"].grade == "checked"


def test_a_smoothing_from_the_last_batch_is_possible_and_a_larger_one_is_not(digits):
    X, y, _ = digits
    model = theirs.GaussianNB()
    model.partial_fit(X[:900], y[:900], classes=np.arange(10)).partial_fit(X[900:], y[900:])
    assert certify(model, X, y)["smoothing"].holds
    model.fit(X, y)
    model.epsilon_, model.var_ = 1e6, model.var_ + 1e6
    assert not certify(model, X, y)["smoothing"].holds


def test_it_must_be_fitted_on_as_many_columns_and_those_classes(digits):
    X, y, _ = digits
    with pytest.raises(ValueError, match="This GaussianNB is not fitted yet"):
        certify(theirs.GaussianNB(), X, y)
    model = theirs.GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 columns, but the model has 64"):
        certify(model, X[:, :3], y)
    with pytest.raises(ValueError, match=r"y has labels \[10\] that the model does not know"):
        certify(model, X[:2], [1, 10])


def test_categories_that_are_words():
    X = [["red", "s"], ["blue", "m"], ["red", "m"], ["blue", "s"]]
    y = ["a", "b", "a", "b"]
    model = CategoricalNB().fit(X, y)
    assert certify(model, X, y).holds
    model.feature_log_prob_[1][0, 1] += 0.1
    assert not certify(model, X, y).holds
