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
