"""Kernel logistic regression: the linear model where the kernel is linear, curves elsewhere."""

import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles, make_classification
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import LogisticRegression
from rosenblatt.kernels import Gaussian, KernelLogisticRegression, space


def noisy(n_classes=2):
    return make_classification(
        120, 5, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.1, random_state=0
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_linear_kernel_is_logistic_regression(n_classes, softmax, C):
    # K9, M7: logistic regression in kernel form
    X, y = noisy(n_classes)
    plain = LogisticRegression(C=C, softmax=softmax, tol=1e-8).fit(X, y)
    model = KernelLogisticRegression("linear", C=C, softmax=softmax, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_ @ X, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-8)


def test_at_the_optimum_each_row_adds_what_is_left_of_it():
    """The gradient by a is K (lambda a - (y - p)): zero where a = C (y - p)."""
    X, y = noisy()
    model = KernelLogisticRegression("rbf", C=2.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(
        model.dual_coef_[0], 2.0 * (y - model.predict_proba(X)[:, 1]), atol=1e-5
    )
    K = Gaussian(model.gamma_)(X)
    a = model.dual_coef_[0]
    loss = np.logaddexp(0, -(2 * y - 1) * model.decision_function(X)).sum()
    assert model.objective_ == pytest.approx(0.5 * a @ K @ a + 2.0 * loss, rel=1e-9)


def test_a_ring_is_no_line():
    X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
    assert KernelLogisticRegression().fit(X, y).score(X, y) > 0.97
    assert LogisticRegression().fit(X, y).score(X, y) < 0.7


def test_a_precomputed_matrix_and_a_function_are_the_same_model():
    X, y = noisy()
    named = KernelLogisticRegression("rbf", gamma=0.3).fit(X, y)
    K = Gaussian(0.3)(X)
    given = KernelLogisticRegression("precomputed").fit(K, y)
    function = KernelLogisticRegression(Gaussian(0.3)).fit(X, y)
    np.testing.assert_allclose(given.predict_proba(K), named.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(function.predict_proba(X), named.predict_proba(X), atol=1e-8)


def test_sparse_rows_and_single_precision():
    X, y = noisy()
    dense = KernelLogisticRegression().fit(X, y)
    sparse = KernelLogisticRegression().fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(X), atol=1e-8)
    assert KernelLogisticRegression().fit(X.astype(np.float32), y).dual_coef_.dtype == np.float32


@pytest.mark.parametrize(
    ("of", "name", "kernel"), [(np.linalg, "eigh", "sigmoid"), (space, "qr", "linear")]
)
def test_decompositions_of_many_rows_can_be_interrupted(of, name, kernel, monkeypatch):
    def slow(*arrays, **options):
        time.sleep(5)  # as thousands of rows would take, and as deaf
        raise AssertionError("nobody waits for it")

    X, y = noisy()
    model = KernelLogisticRegression(kernel).fit(X, y)
    before = dict(vars(model))
    monkeypatch.setattr(space, "ROWS_AT_ONCE", 10)
    same = KernelLogisticRegression(kernel).fit(X, y)
    assert np.array_equal(same.dual_coef_, model.dual_coef_)
    monkeypatch.setattr(of, name, slow)
    started = time.monotonic()
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - started < 3
    assert vars(model) == before


def test_a_class_without_weight_is_spoken_of():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    with pytest.warns(ConvergenceWarning, match="All rows of class 1 have weight zero"):
        KernelLogisticRegression().fit(X, y, sample_weight=1.0 - y)
