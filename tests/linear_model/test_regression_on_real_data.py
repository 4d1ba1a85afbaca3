"""Least squares and ridge on real tables: certified digits, and scikit-learn's answers."""

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model as theirs
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import LinearRegression, Ridge, RidgeCV, cross_validate


def test_longley_has_the_certified_coefficients(data_folder):
    """NIST's certified values, in the units of this table: 1/1000 of employment, and so on."""
    table = pd.read_csv(data_folder / "longley" / "longley.csv")
    X, y = table.drop(columns="Employed"), table["Employed"]
    certified = [0.0150618722713733, -0.035819179292591, -0.0202022980381683, -0.0103322686717359,
                 -0.0511041056535807, 1.82915146461355]  # fmt: skip
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, certified, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, -3482.25863459582, rtol=1e-10)
    stream = LinearRegression.from_statistics(model.statistics_)
    np.testing.assert_allclose(stream.coef_, certified, rtol=1e-9)


@pytest.mark.parametrize("name", ["california_housing", "wine_quality"])
def test_tables_as_scikit_learn_has_them(name, data_folder):
    if name == "california_housing":
        table = pd.read_parquet(data_folder / name / "california_housing.parquet")
    else:
        table = pd.read_csv(data_folder / name / "wine_quality.csv.gz")
    table = table.select_dtypes("number").dropna().astype(np.float64)
    X, y = table.iloc[:, :-1], table.iloc[:, -1]
    for ours, others in (
        (LinearRegression(), theirs.LinearRegression(tol=0)),
        (Ridge(10.0), theirs.Ridge(10.0, solver="svd")),
    ):
        a, b = ours.fit(X, y), others.fit(X, y)
        np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-7, atol=1e-7 * y.std())
        scores = cross_validate(ours, X, y, cv=5)["test_score"]
        np.testing.assert_allclose(scores, cross_val_score(others, X, y, cv=5), rtol=1e-8)
    scaled = StandardScaler().fit_transform(X)
    alphas = np.geomspace(1e-2, 1e4, 13)
    for cv in (None, 5):
        a, b = RidgeCV(alphas, cv=cv).fit(scaled, y), theirs.RidgeCV(alphas, cv=cv).fit(scaled, y)
        assert a.alpha_ == b.alpha_
        np.testing.assert_allclose(a.best_score_, b.best_score_, rtol=1e-9)
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8, atol=1e-10)
    assert make_pipeline(StandardScaler(), RidgeCV("decades")).fit(X, y).score(X, y) > 0.1
