"""Targets that are no numbers: every regression says that it is y, and which value."""

import numpy as np
import pandas as pd
import pytest

from rosenblatt import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    Ridge,
    RidgeCV,
    enet_path,
    lasso_path,
    ridge_path,
)

X = np.random.RandomState(0).standard_normal((20, 3))
WORDS = np.array(["a", "b"] * 10)
FITS = [
    *(kind().fit for kind in (LinearRegression, Ridge, RidgeCV)),
    *(kind().fit for kind in (Lasso, ElasticNet, LassoCV, ElasticNetCV)),
    *(ridge_path, lasso_path, enet_path),
]


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: getattr(fit, "__self__", fit.__name__))
class TestWords:
    @pytest.mark.parametrize(
        "y",
        [WORDS, WORDS.astype(object), pd.Series(WORDS), pd.Series(WORDS).astype("category")],
        ids=["str", "object", "series", "category"],
    )
    def test_are_refused_as_y(self, fit, y):
        with pytest.raises(ValueError, match=r"y must hold numbers; got .*such as 'a'.*classifier"):
            fit(X, y)

    def test_the_one_among_numbers_is_named(self, fit):
        y = np.array([1.0] * 19 + ["n/a"], dtype=object)
        with pytest.raises(ValueError, match=r"y must hold numbers.*such as 'n/a'"):
            fit(X, y)


@pytest.mark.parametrize("kind", [LinearRegression, Ridge, Lasso])
def test_numbers_kept_as_objects_are_numbers(kind):
    y = X[:, 0] + 1
    given = kind().fit(X, y.astype(object))
    np.testing.assert_array_equal(given.coef_, kind().fit(X, y).coef_)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), Lasso(), ElasticNet()], ids=str)
def test_targets_beyond_single_precision_are_refused_with_rows_in_it(model):
    """The coefficients were infinite, without a word."""
    with pytest.raises(ValueError, match=r"beyond the range of float32: give X as float64"):
        model.fit(X.astype(np.float32), 1e100 * X[:, 0])
    assert not hasattr(model, "coef_")
    assert np.isfinite(model.fit(X, 1e100 * X[:, 0]).coef_).all()


def test_a_metric_of_classes_is_refused_by_ridge_cv_in_a_sentence():
    """The error showed the name of a private class."""
    for cv in (None, 3):
        with pytest.raises(ValueError, match=r"scoring must be a metric of predicted numbers"):
            RidgeCV(scoring="neg_log_loss", cv=cv).fit(X, X[:, 0])
