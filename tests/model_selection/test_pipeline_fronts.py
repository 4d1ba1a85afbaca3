"""Models behind the same steps: the steps are fitted once for each split, with equal results."""

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as theirs
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rosenblatt import GaussianNB, KNeighborsClassifier, Lasso, LogisticRegression, Ridge
from rosenblatt.model_selection import GridSearchCV

RNG = np.random.RandomState(0)
TABLE = pd.DataFrame(RNG.standard_normal((120, 3)), columns=["a", "b", "c"])
TABLE.loc[::9, "a"] = np.nan
TABLE["word"] = RNG.choice(["x", "y", "z"], 120)
TARGET = 2 * TABLE["b"].to_numpy() + (TABLE["word"] == "x") + RNG.standard_normal(120)
LABELS = np.where(TARGET > 0, "yes", "no")

CASES = [
    (Ridge(), "alpha", [0.1, 1.0, 10.0], "r2", True),
    (Lasso(), "alpha", [0.01, 0.1], "neg_mean_absolute_error", False),
    (LogisticRegression(), "C", [0.1, 1.0], ["accuracy", "roc_auc"], True),
    (GaussianNB(), "var_smoothing", [1e-9, 1e-3, 1e-1], "neg_log_loss", False),
    (KNeighborsClassifier(), "n_neighbors", [1, 5], None, False),
]


class Counted(TransformerMixin, BaseEstimator):
    """Passes rows on, and counts its fits."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        return self

    def transform(self, X):
        return X


def pipeline(model, sparse, *steps):
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b", "c"]),
            ("words", OneHotEncoder(sparse_output=sparse), ["word"]),
        ],
        sparse_threshold=1.0 if sparse else 0.0,
    )
    return Pipeline([("columns", columns), *steps, ("model", model)])


@pytest.mark.parametrize(
    ("model", "name", "values", "scoring", "sparse"), CASES, ids=lambda v: type(v).__name__
)
def test_results_are_those_of_scikit_learn(model, name, values, scoring, sparse):
    y = TARGET if model.__sklearn_tags__().regressor_tags else LABELS
    grid = {
        f"model__{name}": values,
        "columns__numbers__simpleimputer__strategy": ["mean", "median"],
    }
    how = {"scoring": scoring, "cv": 3, "return_train_score": name == "alpha"}
    how["refit"] = "roc_auc" if isinstance(scoring, list) else True
    ours = GridSearchCV(pipeline(model, sparse), grid, **how).fit(TABLE, y)
    expected = theirs.GridSearchCV(pipeline(model, sparse), grid, **how).fit(TABLE, y)
    assert ours.cv_results_.keys() == expected.cv_results_.keys()
    for key, found in expected.cv_results_.items():
        if "_score" in key and "time" not in key and "rank" not in key:
            np.testing.assert_allclose(ours.cv_results_[key], found, rtol=1e-9, atol=1e-9)
    assert ours.best_params_ == expected.best_params_
    np.testing.assert_array_equal(ours.predict(TABLE), ours.best_estimator_.predict(TABLE))


def test_the_steps_before_the_model_are_fitted_once_for_each_split():
    Counted.fits = 0
    search = GridSearchCV(
        pipeline(GaussianNB(), False, ("counted", Counted())),
        {"model__var_smoothing": [1e-9, 1e-6, 1e-3]}, cv=3,
    ).fit(TABLE, LABELS)  # fmt: skip
    assert Counted.fits == 3 + 1  # and once more for the best of all
    assert list(search.best_estimator_.named_steps) == ["columns", "counted", "model"]


def test_a_scorer_of_the_users_own_sees_the_rows_as_they_are():
    def columns_seen(estimator, X, y):
        return float(X.shape[1])

    grid = {"model__alpha": [0.1, 1.0]}
    search = GridSearchCV(pipeline(Ridge(), False), grid, scoring=columns_seen, cv=3)
    assert search.fit(TABLE, TARGET).best_score_ == TABLE.shape[1]


def test_weights_of_the_model_go_with_their_rows():
    weights, grid = RNG.uniform(0, 2, 120), {"model__alpha": [0.1, 10.0]}
    given = {"model__sample_weight": weights}
    ours = GridSearchCV(pipeline(Ridge(), False), grid, cv=3).fit(TABLE, TARGET, **given)
    expected = theirs.GridSearchCV(pipeline(Ridge(), False), grid, cv=3)
    expected.fit(TABLE, TARGET, **given)
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours.cv_results_[key], expected.cv_results_[key], rtol=1e-9)


def test_steps_that_fail_on_a_split_fail_as_in_scikit_learn():
    table = TABLE.assign(word=["only here", *TABLE["word"][1:]])
    grid = {"model__alpha": [0.1, 1.0]}
    with pytest.warns(Warning, match="unknown categories|non-finite"):
        ours = GridSearchCV(pipeline(Ridge(), False), grid, cv=3).fit(table, TARGET)
    assert np.isnan(ours.cv_results_["split0_test_score"]).all()
    assert not np.isnan(ours.cv_results_["split1_test_score"]).any()
