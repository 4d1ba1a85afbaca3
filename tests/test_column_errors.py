"""Errors about values that no model can use name the columns they are in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from rosenblatt import (
    BasisExpansion,
    DecisionTreeClassifier,
    ElasticNetCV,
    GaussianNB,
    HistGradientBoostingClassifier,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeCV,
    Standardizer,
    checks,
)

MODELS = [
    LinearRegression(), Ridge(), RidgeCV(), Lasso(), ElasticNetCV(), LogisticRegression(),
    Perceptron(), GaussianNB(), LinearDiscriminantAnalysis(), BasisExpansion("powers"),
]  # fmt: skip


def frame():
    rng = np.random.RandomState(0)
    names = ["weight", "horsepower", "origin"]
    return pd.DataFrame(rng.standard_normal((20, 3)), columns=names), np.arange(20) % 2


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_columns_with_missing_values_and_words_are_named(model):
    X, y = frame()
    X.loc[3:5, "horsepower"] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN.*Column 'horsepower' has 3 missing values"):
        model.fit(X, y)
    X["horsepower"] = "many"
    with pytest.raises(ValueError, match="Column 'horsepower' has 20 words: encode"):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The best penalty is the")
@pytest.mark.parametrize("model", MODELS[:-1], ids=lambda model: type(model).__name__)
def test_so_are_those_of_rows_to_predict(model):
    X, y = frame()
    with np.errstate(all="ignore"):
        model = model.fit(X, y)
    X.loc[3, "origin"] = np.nan
    with pytest.raises(ValueError, match=r"Column .* has 1 missing value"):
        model.predict(X)


def test_tables_of_all_kinds():
    dense = np.ones((4, 3))
    dense[1:3, 2] = np.nan
    for X, name in (
        (dense, "2"), (dense.tolist(), "2"), (sp.csr_matrix(dense), "2"),
        (pd.DataFrame(dense.astype(object)), "'2'"),
    ):  # fmt: skip
        with (
            pytest.raises(ValueError, match=rf"NaN\. Column {name} has 2 missing values: impute"),
            checks.naming_columns(X),
        ):
            raise ValueError("Input X contains NaN.\nAnd so on.")


def test_other_errors_pass_through_and_infinity_is_named():
    with (
        pytest.raises(ValueError, match=r"^alpha must be positive$"),
        checks.naming_columns(np.ones(3)),
    ):
        raise ValueError("alpha must be positive")
    X, y = frame()
    X.iloc[0, 0] = np.inf
    with pytest.raises(ValueError, match="Column 'weight' has 1 infinite or too large value"):
        Standardizer().fit(X)
    with pytest.raises(ValueError, match="Column 'weight' has 1 infinite or too large value"):
        Ridge().fit(X, y)


@pytest.mark.parametrize(
    "model", [GaussianNB(), DecisionTreeClassifier(), HistGradientBoostingClassifier()], ids=repr
)
def test_dates_alone_are_not_read_as_numbers(model):
    # scikit-learn's check reads them as microseconds, and NaT as a number far below all others.
    X = pd.DataFrame({"sold": pd.date_range("2020-01-01", periods=20)})
    y = np.arange(20) % 2
    for dates in (X, pl.from_pandas(X)):
        with pytest.raises(TypeError, match=r"Column 'sold' holds dates or times \([dD]atetime"):
            model.fit(dates, y)
    with pytest.raises(TypeError, match=r"Column 0 holds dates or times"):
        model.fit(X.to_numpy(), y)


@pytest.mark.parametrize("model", [*MODELS[:1], GaussianNB(), DecisionTreeClassifier()], ids=repr)
def test_columns_of_dates_are_named(model):
    X, y = frame()
    X["sold"] = pd.date_range("2020-01-01", periods=20)
    with pytest.raises(TypeError, match=r"Column 'sold' holds dates or times \(datetime64"):
        model.fit(X, y)
    X = X.drop(columns="sold").assign(took=pd.to_timedelta(y, unit="D"))
    with pytest.raises(TypeError, match=r"Column 'took' holds dates or times \(timedelta64"):
        model.fit(X, y)
