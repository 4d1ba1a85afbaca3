"""Checks of tables and weights that models share."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import rosenblatt
from rosenblatt import (
    BasisExpansion,
    DecisionTreeClassifier,
    Discretizer,
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
    certify,
    checks,
)

X, Y = np.arange(6.0)[:, np.newaxis], np.array([0, 0, 0, 1, 1, 1])
OF_TREES = ["DecisionTreeRegressor", "DecisionTreeClassifier", "HistGradientBoostingRegressor",
            "HistGradientBoostingClassifier", "AdaBoostClassifier", "ConjunctionClassifier",
            "MofNClassifier", "ExtraTreesClassifier", "RandomForestClassifier",
            "RandomForestRegressor", "BaggingClassifier", "BaggingRegressor"]  # fmt: skip


def fitted(name, weight, **settings):
    model = getattr(rosenblatt, name)()
    settings = {"min_samples_leaf": 1, "n_estimators": 5, "random_state": 0} | settings
    known = {key: value for key, value in settings.items() if key in model.get_params()}
    return model.set_params(**known).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("name", OF_TREES)
@pytest.mark.parametrize("size", [2.0**1023, 2.0**-1000])
def test_weights_whose_sums_or_products_leave_the_range_give_the_model_of_small_ones(name, size):
    if size < 1 and name.startswith("Hist"):
        pytest.skip("leaves of histogram boosting need a hessian of 0.001")
    weight = np.array([1.0, 1, 1, 0.5, 0.5, 1])
    model = fitted(name, size * weight)
    assert np.allclose(model.predict(X), fitted(name, weight).predict(X), rtol=1e-12)
    assert certify(model, X, Y, sample_weight=size * weight).holds


@pytest.mark.parametrize("size", [2.0**1020, 2.0**-1000])
def test_extreme_weights_do_not_move_the_cuts_of_a_column(size):
    x, y = np.repeat(X, 3, axis=0), np.repeat(Y, 3)
    model = Discretizer(max_bins=2, strategy="quantile")
    expected = model.fit(x, y).cuts_[0]
    assert np.array_equal(model.fit(x, y, sample_weight=np.full(18, size)).cuts_[0], expected)


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor",
    "RandomForestClassifier", "ExtraTreesClassifier",
    "HistGradientBoostingRegressor"])  # fmt: skip
def test_missing_values_of_new_rows_go_to_the_heavier_side(name):
    x, y, weight = np.array([[0.0], [1], [1], [1]]), np.array([0, 1, 1, 1]), np.array([10, 1, 1, 1])
    settings = {"min_samples_leaf": 1, "n_estimators": 2, "bootstrap": False, "max_iter": 2}
    model = getattr(rosenblatt, name)()
    model.set_params(**{key: v for key, v in settings.items() if key in model.get_params()})
    repeated = np.repeat(np.arange(4), weight)
    expected = model.fit(x[repeated], y[repeated]).predict([[np.nan]])
    assert np.allclose(model.fit(x, y, sample_weight=weight).predict([[np.nan]]), expected)


@pytest.mark.parametrize(("name", "settings"), [
    ("DecisionTreeClassifier", {}),
    ("DecisionTreeRegressor", {"criterion": "absolute_error"}),
    ("RandomForestRegressor", {"n_estimators": 1, "bootstrap": False}),
])  # fmt: skip
def test_the_larger_side_has_more_weight_than_the_other(name, settings):
    rng = np.random.default_rng(0)
    for _ in range(8):
        x = rng.integers(0, 6, (15, 3)).astype(float)
        x[rng.random(x.shape) < 0.2] = np.nan
        y, weight = rng.integers(0, 2, 15), rng.integers(1, 9, 15)
        repeated = np.repeat(np.arange(15), weight)
        model = getattr(rosenblatt, name)(missing="majority", random_state=0, **settings)
        expected = model.fit(x[repeated], y[repeated]).predict(x)
        assert np.allclose(model.fit(x, y, sample_weight=weight).predict(x), expected)
        assert certify(model, x, y, sample_weight=weight).holds


@pytest.mark.parametrize("name", [*OF_TREES, "Perceptron"])
def test_equal_names_of_columns_and_dates_are_refused_by_name(name):
    model = getattr(rosenblatt, name)()
    frame = pd.DataFrame(np.hstack([X, X]), columns=["a", "a"])
    with pytest.raises(ValueError, match="2 columns of X are called 'a'"):
        model.fit(frame, Y)
    dates = pd.DataFrame({"a": X[:, 0], "day": pd.date_range("2020-01-01", periods=6)})
    with pytest.raises(TypeError, match="Column 'day' holds dates"):
        model.fit(dates, Y)


@pytest.mark.parametrize("kind", ["Float64", "Int8", "boolean", "string"])
@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "RandomForestClassifier",
    "HistGradientBoostingClassifier"])  # fmt: skip
def test_missing_values_of_nullable_columns_are_certified(name, kind):
    values = ["a", None, "b"] * 2 if kind == "string" else [1, None, 0] * 2
    frame = pd.DataFrame({"a": pd.array(values, dtype=kind), "c": list("ababab")})
    model = getattr(rosenblatt, name)()
    assert certify(model.fit(frame, Y), frame, Y).holds


@pytest.mark.parametrize("name", ["RandomForestClassifier", "HistGradientBoostingClassifier"])
@pytest.mark.parametrize("other", [[0, 0, 1, 1, 2, 2], ["a", "a", "a", "b", "b", "b"]])
def test_a_fit_that_goes_on_refuses_other_classes(name, other):
    model = getattr(rosenblatt, name)(warm_start=True, random_state=0).fit(X, Y)
    more = "n_estimators" if "n_estimators" in model.get_params() else "max_iter"
    model.set_params(**{more: 110})
    with pytest.raises(ValueError, match=r"continues the previous fit with classes \[0, 1\]"):
        model.fit(X, other)
    assert model.classes_.tolist() == [0, 1]
    assert set(model.fit(X, Y).predict(X)) <= {0, 1}


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "RandomForestClassifier",
    "HistGradientBoostingClassifier"])  # fmt: skip
def test_leaves_of_more_rows_than_there_can_be_allow_no_split(name):
    model = getattr(rosenblatt, name)(min_samples_leaf=10**20, random_state=0).fit(X, Y)
    assert len(np.unique(model.predict_proba(X), axis=0)) == 1


def test_one_number_is_the_weight_of_each_row():
    model = rosenblatt.DecisionTreeClassifier().fit(X, Y, sample_weight=2.0)
    assert certify(model, X, Y, sample_weight=2.0).holds


def test_bagging_refuses_negative_weights():
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        rosenblatt.BaggingClassifier().fit(X, Y, sample_weight=-np.ones(6))


OF_ALL_KINDS = ["GaussianNB", "Ridge", "LogisticRegression", "Perceptron", "KNeighborsClassifier",
                "DecisionTreeClassifier", "LinearDiscriminantAnalysis"]  # fmt: skip


@pytest.mark.parametrize("name", OF_ALL_KINDS)
def test_infinity_of_both_signs_is_refused_without_a_warning_of_numpy(name):
    rows = np.array([[1.0, 2.0], [np.inf, 1.0], [-np.inf, 3.0], [4.0, 0.0]])
    with pytest.raises(ValueError, match="infinity"):
        getattr(rosenblatt, name)().fit(rows, [0, 1, 0, 1])


# Errors about values that no model can use name the columns they are in.


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


# Plain tables skip scikit-learn's checks.


def test_a_plain_table_is_returned_itself_and_others_are_converted():
    model, table = GaussianNB(), np.ones((4, 2))
    assert checks.rows(model, table, reset=True) is table
    assert model.n_features_in_ == 2
    assert checks.rows(model, table) is table
    csr = sp.csr_array(table)
    assert checks.rows(model, csr) is csr
    assert checks.rows(model, table.astype(int)).dtype == np.float64
    assert checks.rows(model, np.asfortranarray(table), order="C").flags.c_contiguous
    with pytest.raises(TypeError, match="Sparse data was passed"):
        checks.rows(model, csr, accept_sparse=False)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_plain_table_that_is_not_finite_or_too_narrow_is_refused(make):
    model, table = GaussianNB(), np.array([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(ValueError, match="Column 1 has 1 missing value"):
        checks.rows(model, make(table), reset=True)
    assert checks.rows(model, make(table), reset=True, finite=False).shape == (2, 2)
    with pytest.raises(ValueError, match="X has 1 features, but GaussianNB is expecting 2"):
        checks.rows(model, make(table[1:, :1]))
    table[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        checks.rows(model, make(table), finite="allow-nan")


def test_names_of_columns_are_stored_and_dropped_with_the_table_that_has_none():
    model, named = GaussianNB(), frame()[0]
    checks.rows(model, named, reset=True)
    assert list(model.feature_names_in_) == list(named.columns)
    checks.rows(model, named.to_numpy(), reset=True)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("value", [-1, 2.5, "2", None])
def test_an_integer_that_is_none_is_named_with_its_limits(value):
    with pytest.raises(ValueError, match=r"^k must be an integer >= 0; got "):
        checks.integer("k", value, 0)
    with pytest.raises(ValueError, match=r"^k must be an integer from 0 to 3; got 4\.$"):
        checks.integer("k", 4, 0, 3)


def test_numbers_that_overflowed_are_named_with_the_advice():
    assert checks.in_range(2.0, "The sum is") == 2.0
    with pytest.raises(ValueError, match=r"^The sum is too large for 64 bits; rescale y\.$"):
        checks.in_range(np.array([1.0, np.inf]), "The sum is", "rescale y")


def test_a_matrix_that_is_not_symmetric_is_named_with_the_place():
    K = np.eye(1200)
    checks.symmetric(K, "A kernel", 0.0)
    K[700, 3] = 0.5
    with pytest.raises(ValueError, match=r"X\[700, 3\] = 0\.5 and X\[3, 700\] = 0"):
        checks.symmetric(K, "A kernel", 1e-9)
