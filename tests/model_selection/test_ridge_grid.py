"""Grids of penalties: one decomposition a fold, scores from statistics, scikit-learn's numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from sklearn import linear_model as their_models
from sklearn import model_selection as theirs
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    BasisExpansion,
    GridSearchCV,
    LinearRegression,
    Ridge,
    Standardizer,
    cross_validate,
)
from rosenblatt.model_selection import evaluation
from tests.linear_model.test_linear_regression import table
from tests.model_selection.compare import assert_same
from tests.pairwise import pairwise

GRID = {"alpha": np.geomspace(1e-2, 1e4, 7)}


@pytest.fixture
def fits(monkeypatch):
    """Count the fits and the conclusions that a search makes one by one."""
    made = []
    for name in ("_fit_in_full", "_conclude"):
        real = getattr(evaluation, name)

        def counted(*args, name=name, real=real):
            result = real(*args)
            if result is not None:
                made.append(name)
            return result

        monkeypatch.setattr(evaluation, name, counted)
    return made


def both(ours, others, X, y, grid=GRID, **settings):
    fit = {"sample_weight": settings.pop("sample_weight")} if "sample_weight" in settings else {}
    a = GridSearchCV(ours, grid, **settings).fit(X, y, **fit)
    b = theirs.GridSearchCV(others, grid, **settings).fit(X, y, **fit)
    assert_same(a.cv_results_, b.cv_results_)
    assert a.best_params_ == b.best_params_
    np.testing.assert_allclose(a.best_score_, b.best_score_, rtol=1e-9)
    return a, b


@pairwise(
    t=[None, 2],
    weighted=[False, True],
    scoring=[None, "r2", "neg_mean_squared_error", "neg_root_mean_squared_error"],
    storage=[np.asarray, sp.csr_matrix],
)
def test_squared_errors_are_known_without_a_fit(t, weighted, scoring, storage, fits):
    X, y = table(t=t)
    more = {"sample_weight": np.arange(len(X)) % 3 + 0.5} if weighted else {}
    both(Ridge(), Ridge(), storage(X), y, scoring=scoring, **more)
    fits.clear()
    GridSearchCV(Ridge(), GRID, scoring=scoring).fit(storage(X), y, **more)
    assert not fits
    a, b = both(Ridge(), their_models.Ridge(solver="svd"), X, y, scoring=scoring, **more)
    np.testing.assert_allclose(a.best_estimator_.coef_, b.best_estimator_.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    "cv", [KFold(4, shuffle=True, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2,
           random_state=0), ShuffleSplit(4, random_state=0)]
)  # fmt: skip
def test_other_splits(cv):
    X, y = table()
    both(Ridge(), their_models.Ridge(solver="svd"), X, y, cv=cv)


@pytest.mark.parametrize("scaler", [StandardScaler(), Standardizer()])
def test_after_a_scaler(scaler, fits):
    X, y = table()
    grid = {"ridge__alpha": GRID["alpha"]}
    pair = (make_pipeline(scaler, m) for m in (Ridge(), their_models.Ridge(solver="svd")))
    both(*pair, X * [1, 10, 100, 1000] + 5, y, grid)
    assert not fits


def test_grids_of_more_than_a_penalty():
    X, y = table()
    grid = {"alpha": [0.1, 1.0, 10.0], "fit_intercept": [True, False], "positive": [False, True]}
    ours = GridSearchCV(Ridge(), grid).fit(X, y)
    exact = theirs.GridSearchCV(Ridge(), grid).fit(X, y)
    assert_same(ours.cv_results_, exact.cv_results_)


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", ["r2", "neg_max_error"]])
def test_other_scores_predict_the_rows(scoring, fits):
    X, y = table()
    refit = "r2" if isinstance(scoring, list) else True
    both(Ridge(), their_models.Ridge(solver="svd"), X, y, scoring=scoring, refit=refit)
    assert "_fit_in_full" not in fits


def test_a_perfect_fit_is_scored_by_its_rows(fits):
    X, _ = table()
    y = X @ [1.0, -1.0, 2.0, 0.5]
    grid = {"alpha": [1e-4, 1e-3]}
    a = GridSearchCV(Ridge(), grid, scoring="neg_mean_squared_error").fit(X, y)
    assert len(fits) == 10
    b = theirs.GridSearchCV(Ridge(), grid, scoring="neg_mean_squared_error").fit(X, y)
    np.testing.assert_allclose(a.best_score_, b.best_score_, rtol=1e-7)


def test_rows_are_read_again_where_products_have_lost_the_digits(fits):
    x = np.linspace(0, 1, 60)
    X = x[:, None] ** np.arange(1, 10)
    y = np.sin(6 * x) + 0.1 * np.cos(99 * x)
    grid = {"alpha": [1e-12, 1e-10]}
    cv = KFold(4, shuffle=True, random_state=0)
    a = GridSearchCV(Ridge(), grid, cv=cv).fit(X, y)
    assert "_fit_in_full" in fits
    b = theirs.GridSearchCV(their_models.Ridge(solver="svd"), grid, cv=cv).fit(X, y)
    np.testing.assert_allclose(
        a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"], rtol=1e-7
    )


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_cross_validation_of_least_squares_and_ridge(scoring):
    X, y = table()
    settings = {"scoring": scoring, "return_train_score": True, "return_indices": True}
    for ours, others in (
        (LinearRegression(), their_models.LinearRegression()),
        (Ridge(2.0), their_models.Ridge(2.0, solver="svd")),
    ):
        assert_same(
            cross_validate(ours, X, y, **settings), theirs.cross_validate(others, X, y, **settings)
        )
        assert_same(
            cross_validate(ours, X, y, return_estimator=True),
            theirs.cross_validate(ours, X, y, return_estimator=True),
        )


def test_columns_that_follow_from_others_need_no_fit_where_there_is_a_penalty(fits):
    """Indicators of all categories sum to one, and splines of a column too."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(3000, 3)), np.eye(4)[rng.integers(4, size=3000)]])
    y = np.sin(X[:, 0]) + X[:, 1] * 0.3 + X[:, 4] + 0.1 * rng.normal(size=3000)
    X = BasisExpansion("spline").fit_transform(X)
    grid = {"alpha": np.geomspace(1e-4, 1e4, 9)}
    ours = GridSearchCV(Ridge(), grid, refit=False, scoring="r2").fit(X, y)
    assert not fits
    other = their_models.Ridge(solver="svd")
    them = theirs.GridSearchCV(other, grid, refit=False, scoring="r2").fit(X, y)
    assert_same(ours.cv_results_, them.cv_results_)


def test_the_refit_says_what_a_fit_would_say():
    X, y = load_diabetes(return_X_y=True)
    X[:, -1] *= 1e9
    with pytest.warns(LinAlgWarning, match="very different scales"):
        GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}).fit(X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_rows_too_wide_for_a_statistic_are_decomposed_once_a_split(monkeypatch, storage, weighted):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((40, 3000)), rng.standard_normal(40)
    weights = {"sample_weight": rng.uniform(0.5, 2, 40)} if weighted else {}
    grid = {"alpha": np.geomspace(1e2, 1e5, 5), "fit_intercept": [True, False]}
    expected = theirs.GridSearchCV(their_models.Ridge(), grid).fit(X, y, **weights)

    def refuse(*args):
        raise AssertionError("a fit of its own")

    monkeypatch.setattr(evaluation, "_fit_in_full", refuse)
    found = GridSearchCV(Ridge(), grid).fit(storage(X), y, **weights)
    assert found.best_params_ == expected.best_params_
    scores = found.cv_results_["mean_test_score"]
    np.testing.assert_allclose(scores, expected.cv_results_["mean_test_score"], rtol=1e-8)
