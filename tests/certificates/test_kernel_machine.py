"""Certificates of kernel machines bound the true excess, of ours and of LIBSVM's."""

import copy

import numpy as np
import pytest
import sklearn.svm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from rosenblatt import SVC, SVR, certify
from rosenblatt.kernels import Gaussian

pytestmark = pytest.mark.usefixtures("unconverged")


def objective(model, X, y, C):
    """The objective in long doubles, from the published numbers alone."""
    K = np.exp(
        -np.longdouble(model.gamma) * ((X[:, None] - X[None]) ** 2).sum(axis=2, dtype=np.longdouble)
    )
    b = np.zeros(len(X), np.longdouble)
    b[model.support_] = model.dual_coef_[0]
    f = K @ b + np.longdouble(model.intercept_[0])
    if hasattr(model, "epsilon") and not hasattr(model, "classes_"):
        loss = np.maximum(np.abs(y - f) - np.longdouble(model.epsilon), 0)
    else:
        loss = np.maximum(1 - np.where(y > 0, 1, -1) * f, 0)
    return float(b @ K @ b / 2 + C * loss.sum())


@given(
    seed=st.integers(0, 10_000),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    max_iter=st.sampled_from([1, 3, 10, 100, -1]),
    kind=st.sampled_from(["SVC", "SVR"]),
    ours=st.booleans(),
)
def test_the_gap_is_never_below_the_true_excess(seed, C, max_iter, kind, ours):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    X = rng.normal(size=(n, 3)).round(int(rng.integers(0, 3)))
    y = (rng.uniform(size=n) < 0.5).astype(int) if kind == "SVC" else rng.normal(size=n)
    if kind == "SVC":
        y[:2] = [0, 1]
    settings = {"gamma": 0.4, "C": C}
    library = {"SVC": SVC, "SVR": SVR} if ours else vars(sklearn.svm)
    model = library[kind](**settings, max_iter=max_iter).fit(X, y)
    best = min(
        objective(
            getattr(sklearn.svm, kind)(**settings, tol=1e-11, max_iter=10_000).fit(X, y), X, y, C
        ),
        objective(model, X, y, C),
    )
    gap = certify(model, X, y)["gap"]
    excess = objective(model, X, y, C) - best
    assert gap.value >= excess - 1e-12 * best, (gap, excess)


def problem(n_classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=90), [0.0, 0.7][: n_classes - 1])


@pytest.mark.parametrize("library", [SVC, sklearn.svm.SVC])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["dual_coef_", "intercept_", "support_vectors_"])
def test_it_fails_when_a_number_is_changed(library, n_classes, name):
    X, y = problem(n_classes)
    model = library(tol=1e-6).fit(X, y)
    assert certify(model, X, y).holds
    changed = copy.deepcopy(model)
    table = np.array(getattr(model, name))
    table.flat[0] += 0.5
    setattr(changed, name, table)
    if name == "support_vectors_":
        with pytest.raises(ValueError, match="not the rows of support_"):
            certify(changed, X, y)
    else:
        assert not certify(changed, X, y).holds


@pytest.mark.parametrize("name", ["objective_", "margin_"])
def test_published_numbers_are_computed_again(name):
    X, y = problem(3)
    model = SVC().fit(X, y)
    setattr(model, name, getattr(model, name) * 1.1)
    assert not certify(model, X, y)["published numbers"].holds


def test_a_kernel_that_is_none_has_no_gap():
    X, y = problem()
    certificate = certify(SVC(kernel="sigmoid", gamma=1.0).fit(X, y), X, y)
    assert certificate["gap"].value == np.inf
    assert certificate["feature space"].value < 0


def test_matrices_functions_and_storages_have_one():
    X, y = problem(3)
    K = Gaussian(0.3)(X)
    for model, rows in (
        (SVC(kernel="precomputed"), K),
        (SVC(kernel=Gaussian(0.3)), X),
        (SVC(kernel="laplacian"), X),
        (SVC(), X.astype(np.float32)),
    ):
        certificate = certify(model.fit(rows, y), rows, y)
        assert certificate.holds, str(certificate)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("name", ["_dual_coef_", "_intercept_", "_gamma"])
def test_numbers_that_scikit_learn_predicts_by_are_those_it_publishes(n_classes, shape, name):
    X, y = problem(n_classes)
    model = sklearn.svm.SVC(tol=1e-6, decision_function_shape=shape).fit(X, y)
    assert certify(model, X, y)["scores"].holds
    setattr(model, name, getattr(model, name) * 1.01)
    assert not certify(model, X, y).holds


@pytest.mark.parametrize("name", ["_dual_coef_", "_intercept_"])
def test_a_regression_of_scikit_learn_predicts_by_what_it_publishes(name):
    X, _ = problem()
    model = sklearn.svm.SVR(tol=1e-6).fit(X, X[:, 0])
    assert certify(model, X, X[:, 0]).holds
    setattr(model, name, getattr(model, name) + 0.01)
    assert not certify(model, X, X[:, 0]).holds


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_slack_and_gap_are_computed_again(multi_class, n_classes):
    X, y = problem(n_classes)
    weight = np.arange(len(y)) % 3.0
    model = SVC(multi_class=multi_class).fit(X, y, weight)
    assert certify(model, X, y, sample_weight=weight).holds
    slack = model.slack_.copy()
    slack[slack > 0] *= 1.01
    changed = copy.deepcopy(model)
    changed.slack_ = slack
    assert not certify(changed, X, y, sample_weight=weight)["published numbers"].holds
    model.dual_gap_ = model.dual_gap_ - 1.0
    assert not certify(model, X, y, sample_weight=weight)["published numbers"].holds


def test_other_columns_and_labels_are_named():
    X, y = problem()
    model = SVC().fit(X, np.array(["no", "yes"])[(y > 0).astype(int)])
    with pytest.raises(ValueError, match=r"X has 1 columns, and the model was fitted to \d+\."):
        certify(model, X[:, :1], y)
    with pytest.raises(ValueError, match=r"a label .*, which is none of classes_: \['no', 'yes'\]"):
        certify(model, X, y)


@pytest.mark.parametrize("kind", [sklearn.svm.SVC, sklearn.svm.SVR])
def test_scikit_learns_fits_with_rows_of_zero_weight_are_read(kind):
    """LIBSVM drops such rows, and `support_` then counts the others alone; this was refused."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int) if kind is sklearn.svm.SVC else X[:, 0]
    weight = np.ones(60)
    weight[[3, 7, 20]] = 0
    model = kind().fit(X, y, sample_weight=weight)
    assert certify(model, X, y, sample_weight=weight).holds
    model.support_vectors_ = model.support_vectors_ + 1e-3
    with pytest.raises(ValueError, match="support_vectors_ are not the rows of support_"):
        certify(model, X, y, sample_weight=weight)


def test_an_indefinite_kernel_has_no_margin():
    """It was said to be inf."""
    X, y = make_moons(80, noise=0.3, random_state=0)
    claim = certify(SVC(kernel="sigmoid").fit(X, y), X, y)["margin"]
    assert claim.statement.startswith("there is no margin: by this kernel, which is indefinite")
