"""Coefficients of models at many penalties, and which way their axis goes."""

import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    ElasticNet,
    GaussianNB,
    Lasso,
    LassoCV,
    LogisticRegression,
    MultinomialNB,
    Ridge,
    Standardizer,
)
from rosenblatt.plot import path
from rosenblatt.plot.penalty_paths import followed

matplotlib.use("agg")
RNG = np.random.RandomState(0)
X = pd.DataFrame(RNG.standard_normal((80, 4)), columns=list("abcd"))
T = 3 * X["a"] - X["b"] + RNG.standard_normal(80)
Y = np.where(T > 0, "yes", "no")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("model", "y", "parameter"),
    [
        (Lasso(tol=1e-9), T, "alpha"),
        (ElasticNet(tol=1e-9), T, "alpha"),
        (ElasticNet(l1_ratio=0.0, tol=1e-9), T, "alpha"),
        (Ridge(), T, "alpha"),
        (TheirRidge(), T, "alpha"),
        (LogisticRegression(tol=1e-8), Y, "C"),
        (LogisticRegression(l1_ratio=1, tol=1e-8), Y, "C"),
        (TheirLogisticRegression(tol=1e-8), Y, "C"),
    ],
    ids=lambda value: type(value).__name__,
)
class TestModels:
    def test_coefficients_are_those_of_single_fits(self, model, y, parameter):
        found = followed(model, X, y)
        assert found.parameter == parameter
        assert found.names == list("abcd")
        for place in (5, 30, 59):
            model.set_params(**{parameter: found.values[place]})
            single = np.ravel(model.fit(X, y).coef_)
            np.testing.assert_allclose(found.coefs[:, place], single, rtol=1e-3, atol=1e-4)

    def test_the_path_begins_near_zero_and_ends_near_no_penalty(self, model, y, parameter):
        # H8: coefficients along the penalty, and the picture that explains zeros
        coefs = followed(model, X, y).coefs
        length = np.abs(coefs).sum(axis=0)
        assert length[0] < 0.05 * length[-1]
        assert length[-1] < 1.15 * length[-4]

    def test_the_axis_says_which_way_the_penalty_falls(self, model, y, parameter):
        ax = path(model, X, y)
        left, right = ax.get_xlim()
        if parameter == "C":
            assert left < right
            assert ax.get_xlabel() == "C = 1 / penalty, rising to the right"
        else:
            assert left > right
            assert ax.get_xlabel() == "penalty alpha, falling to the right"
        assert {text.get_text() for text in ax.texts} == set("abcd")
        ends = [line.get_xdata()[-1] for line in ax.get_lines() if len(line.get_xdata()) == 60]
        assert all(abs(np.log(end / right)) < abs(np.log(end / left)) for end in ends)

    def test_the_model_stays_as_it_is(self, model, y, parameter):
        before = model.get_params()
        path(model, X, y, values=[0.1, 1.0])
        assert model.get_params() == before


def test_steps_before_the_model_are_fitted_once():
    scaled = followed(make_pipeline(Standardizer(), Lasso()), 1000 * X, T, [0.01, 1.0])
    by_hand = followed(Lasso(), Standardizer().fit_transform(X), T, [0.01, 1.0])
    np.testing.assert_allclose(scaled.coefs, by_hand.coefs, rtol=1e-6)
    assert scaled.names == list("abcd")
    assert by_hand.names == ["x0", "x1", "x2", "x3"]


def test_sparse_rows_are_as_dense_ones():
    rows = np.where(np.abs(X) > 0.5, X, 0.0)
    for model, y in ((Lasso(tol=1e-9), T), (LogisticRegression(tol=1e-8), Y)):
        dense, sparse = followed(model, rows, y), followed(model, sp.csr_matrix(rows), y)
        np.testing.assert_allclose(sparse.values, dense.values)
        np.testing.assert_allclose(sparse.coefs, dense.coefs, rtol=1e-4, atol=1e-5)


def test_classes_and_targets_have_lines_of_their_own():
    three = np.digitize(T, [-1, 1])
    found = followed(LogisticRegression(), X, three, [0.1, 1.0])
    assert found.coefs.shape == (12, 2)
    assert found.names[:5] == ["a, 0", "b, 0", "c, 0", "d, 0", "a, 1"]
    found = followed(Ridge(), X, np.c_[T, -T], [1.0])
    np.testing.assert_allclose(found.coefs[:4], -found.coefs[4:])
    assert found.names[4] == "a, target 1"


def test_what_is_warned_of_is_said_once():
    with pytest.warns(match=r"In \d+ of 60 fits") as said:
        path(Lasso(max_iter=1, tol=1e-12), X, T)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: path(GaussianNB(), X, Y), "GaussianNB has neither"),
        (lambda: path(LassoCV(), X, T), "LassoCV has neither. Pass Lasso"),
        (lambda: path(MultinomialNB(), X.abs(), Y, values=[1.0]), "no coefficients"),
        (lambda: path(Lasso(), X), "pass y as well"),
        (lambda: path(Lasso(), X, T, values=[0.0, 1.0]), "above 0"),
        (lambda: path([1.0, 2.0], np.ones((3, 2)), values=[1.0]), "first argument"),
    ],
)
def test_what_cannot_be_drawn(call, message):
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        call()
