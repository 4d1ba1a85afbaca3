"""Messages of logistic fits that cannot go well: which number is to blame, and what to do."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import KernelLogisticRegression, LogisticRegression, LogisticRegressionCV

X, Y = make_classification(
    150, 6, n_informative=4, n_redundant=0, flip_y=0.2, n_classes=2, random_state=0
)
THREE = np.array(["ham", "spam", "eggs"])[np.arange(150) % 3]


@pytest.mark.parametrize("factor", [np.nan, 1e200])
def test_a_start_that_is_no_number_is_blamed_on_the_start(factor):
    model = LogisticRegression(warm_start=True).fit(X, Y)
    model.coef_ = model.coef_ * factor
    with pytest.raises(ValueError, match="warm_start=True begins from coef_"):
        model.fit(X, Y)


def test_weights_and_c_that_are_too_large_are_blamed_on_themselves():
    with pytest.raises(ValueError, match=r"C times sample_weight is up to 1e\+300"):
        LogisticRegression(C=1e300).fit(X, Y)
    with pytest.raises(ValueError, match="C times sample_weight"):
        LogisticRegression().fit(X, Y, np.full(150, 1e300))
    with pytest.raises(ValueError, match=r"Numbers up to .* are too large for 64 bits"):
        LogisticRegression().fit(X * 1e200, Y)


def test_negative_class_weights_are_refused():
    with pytest.raises(ValueError, match=r"class_weight must not be negative; class 0 has -0.5"):
        LogisticRegression(class_weight={0: -0.5, 1: 1}).fit(X, Y)


@pytest.mark.parametrize("y", [np.array(["no", "yes"])[Y], THREE])
def test_a_class_without_weight_leaves_the_bias_no_best_value(y):
    label = y[0]
    words = f"All rows of class '{label}' have weight zero"
    with pytest.warns(ConvergenceWarning, match=words) as told:
        model = LogisticRegression().fit(X, y, (y != label) * 1.0)
    assert told[0].filename == __file__
    assert np.isfinite(model.intercept_).all()
    assert not (model.predict(X) == label).any()


@pytest.mark.parametrize("C", [1.0, 0.01, np.inf])
@pytest.mark.parametrize("y", [Y, THREE])
def test_a_diverged_fit_returns_the_best_it_met_and_names_a_step_that_will_do(C, y):
    model = LogisticRegression(solver="gradient", eta0=100.0, C=C)
    with pytest.warns(ConvergenceWarning, match=r"step eta0=100.0 is too large") as told:
        model.fit(X, y)
    assert model.stop_reason_ == "diverged"
    nothing = LogisticRegression(solver="gradient", C=C, max_iter=0)
    with pytest.warns(ConvergenceWarning):
        nothing.fit(X, y)
    assert model.objective_ <= nothing.objective_
    eta0 = float(re.search(r"use eta0=(\S+),", str(told[0].message))[1])
    calm = LogisticRegression(solver="gradient", eta0=eta0, C=C, max_iter=5000, tol=1e-3).fit(X, y)
    assert calm.stop_reason_ == "converged"


def test_a_kernel_that_is_zero_leaves_the_bias():
    y = np.array([0, 0, 0, 1])
    model = KernelLogisticRegression("linear", tol=1e-8).fit(np.zeros((4, 2)), y)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[0.75, 0.25]], atol=1e-6)


@pytest.mark.parametrize("Cs", [[], [0, 1], [-1.0]])
def test_values_of_c_are_positive(Cs):
    with pytest.raises(ValueError, match="Cs must hold one value or more, all above 0"):
        LogisticRegressionCV(Cs=Cs).fit(X, Y)


def test_steps_too_long_for_sgd_are_named_as_a_divergence():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((200, 5))
    y = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    model = LogisticRegression(solver="sgd", eta0=1e4, random_state=0)
    with pytest.warns(ConvergenceWarning, match="eta0=10000.0 is too large"):
        model.fit(X, y)
    assert model.stop_reason_ == "diverged"
    assert model.objective_ <= 200 * np.log(2) * (1 + 1e-12)


@pytest.mark.parametrize("C", [1.0, 1e-4, np.inf])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_first_step_named_for_sgd_will_do(C, storage, classes):
    rng = np.random.RandomState(0)
    raw = rng.standard_normal((300, 3)) * [1, 30, 1e4] + [0, 100, 3e4]
    y = np.digitize(raw[:, 0] + rng.standard_normal(300), [0, 1][: classes - 1])
    weight = rng.uniform(0.1, 5, 300)
    fit = {"solver": "sgd", "C": C, "random_state": 0, "max_iter": 30, "tol": None}
    with pytest.warns(ConvergenceWarning, match="is too large for these data") as told:
        LogisticRegression(eta0=1e6, **fit).fit(storage(raw), y, weight)
    said = [str(one.message) for one in told if "too large" in str(one.message)]
    eta0 = float(re.search(r"use eta0=(\S+),", said[0])[1])
    calm = LogisticRegression(eta0=eta0, **fit).fit(storage(raw), y, weight)
    assert calm.stop_reason_ == "max_iter"


def test_columns_without_squares_are_not_called_constant():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    with pytest.warns(LinAlgWarning, match="Columns 0, 1, 2 vary so little"):
        LogisticRegression(C=np.inf).fit(X * 1e-170, y)


@pytest.mark.parametrize("factor", [np.inf, 1e200])
def test_a_search_by_decades_refuses_huge_numbers_without_another_word(factor):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((50, 2)), np.arange(50) % 2
    with pytest.raises(ValueError, match=r"infinity|too large"):
        LogisticRegressionCV(
            Cs="decades", l1_ratios=(0,), scoring="accuracy", use_legacy_attributes=False
        ).fit(X * factor, y)


def test_no_step_is_advised_where_none_is_short_enough():
    rng = np.random.RandomState(0)
    X, y = (1e30 * rng.standard_normal((50, 2))).astype(np.float32), np.arange(50) % 2
    with pytest.warns(ConvergenceWarning, match="too large") as heard:
        LogisticRegression(solver="gradient", eta0=0.1).fit(X, y)
    assert "eta0=0," not in str(heard[0].message)


@pytest.mark.parametrize("exponent", [12, 30, 60, 145])
@pytest.mark.parametrize("K", [2, 3])
def test_scales_far_apart_are_no_foreign_warning(exponent, K):
    """From 1e30 on NumPy warned of overflow in steps that are not taken."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        scale = 10.0 ** rng.uniform(-exponent, exponent, 3)
        X, y = rng.normal(size=(30, 3)), np.arange(30) % K
        y = y if rng.random() < 0.5 else np.clip(np.round(X[:, 0]) + 1, 0, K - 1).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            model = LogisticRegression(C=np.inf).fit(X * scale, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
