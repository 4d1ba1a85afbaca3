"""Searches over the penalty of a lasso: scikit-learn's results, along one path for each split."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn import model_selection as theirs
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import ElasticNet, Lasso
from rosenblatt.model_selection import GridSearchCV, cross_validate, evaluation

ALPHAS = np.geomspace(0.5, 0.005, 6)
EXACT = {"tol": 1e-12}


def problem(n=90, d=7):
    rng = np.random.RandomState(0)
    X = np.round(rng.standard_normal((n, d)), 1)
    return X, X[:, : min(d, 4)].sum(axis=1) + rng.standard_normal(n), rng.randint(1, 4, n) * 1.0


def same_scores(ours, other, tol=1e-5):
    assert list(ours.cv_results_) == list(other.cv_results_)
    for key, value in other.cv_results_.items():
        if "score" in key and "time" not in key and "rank" not in key:
            np.testing.assert_allclose(ours.cv_results_[key], value, rtol=tol, atol=tol)
    assert ours.best_params_ == other.best_params_
    np.testing.assert_allclose(ours.best_estimator_.coef_, other.best_estimator_.coef_, atol=1e-4)


@pytest.fixture
def no_fits(monkeypatch):
    """Fail if a candidate is fitted by itself."""

    def refuse(*args, **kwargs):
        raise AssertionError("a candidate was fitted by itself")

    monkeypatch.setattr(evaluation, "_fit_in_full", refuse)


@pytest.mark.usefixtures("no_fits")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(90, 7), (30, 50)])
@pytest.mark.parametrize(
    "cv", [4, KFold(3, shuffle=True, random_state=0), ShuffleSplit(3, random_state=1)]
)
def test_the_results_are_those_of_scikit_learn(storage, shape, cv):
    X, y, _ = problem(*shape)
    how = {"cv": cv, "return_train_score": True}
    ours = GridSearchCV(Lasso(**EXACT), {"alpha": ALPHAS}, **how).fit(storage(X), y)
    other = theirs.GridSearchCV(
        sklearn.linear_model.Lasso(max_iter=100_000, **EXACT), {"alpha": ALPHAS}, **how
    ).fit(X, y)
    same_scores(ours, other)


@pytest.mark.usefixtures("no_fits")
def test_other_parameters_make_other_paths():
    X, y, weights = problem()
    grid = {"alpha": [0.01, 0.3, 0.1], "l1_ratio": [0.2, 0.9], "fit_intercept": [True, False]}
    scoring = ["r2", "neg_mean_absolute_error"]
    how = {"scoring": scoring, "refit": "r2", "cv": 3}
    ours = GridSearchCV(ElasticNet(**EXACT), grid, **how).fit(X, y, sample_weight=weights)
    other = theirs.GridSearchCV(
        sklearn.linear_model.ElasticNet(max_iter=100_000, **EXACT), grid, **how
    ).fit(X, y, sample_weight=weights)
    same_scores(ours, other)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_candidates_without_a_path_are_fitted_by_themselves():
    X, y, _ = problem()
    grid = [{"alpha": [0.1, 0.01]}, {"n_features": [2, 4]}, {"selection": ["random"]}]
    ours = GridSearchCV(Lasso(0.2, random_state=0, **EXACT), grid, cv=3).fit(X, y)
    other = theirs.GridSearchCV(Lasso(0.2, random_state=0, **EXACT), grid, cv=3).fit(X, y)
    same_scores(ours, other)
    with pytest.warns(FitFailedWarning):
        wrong = GridSearchCV(Lasso(), {"alpha": [0.1, -1.0]}, cv=3, refit=False).fit(X, y)
    assert np.isnan(wrong.cv_results_["mean_test_score"][1])
    assert np.isfinite(wrong.cv_results_["mean_test_score"][0])


@pytest.mark.usefixtures("no_fits")
def test_cross_validation_of_one_lasso_reads_the_rows_once():
    X, y, weights = problem()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    how = {"cv": 4, "return_estimator": True, "params": {"sample_weight": weights}}
    ours = cross_validate(Lasso(0.1, **EXACT), frame, y, **how)
    other = theirs.cross_validate(Lasso(0.1, **EXACT), frame, y, **how)
    np.testing.assert_allclose(ours["test_score"], other["test_score"], rtol=1e-6)
    for a, b in zip(ours["estimator"], other["estimator"], strict=True):
        np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-6)
        assert list(a.feature_names_in_) == list(frame.columns)
        assert {n for n in vars(a) if n.endswith("_")} == {n for n in vars(b) if n.endswith("_")}


@pytest.mark.filterwarnings("ignore:Scoring failed")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_several_processes_and_rows_that_do_not_pass_give_scikit_learns_results():
    X, y, _ = problem()
    ours = GridSearchCV(Lasso(**EXACT), {"alpha": ALPHAS}, cv=3, n_jobs=2).fit(X, y)
    alone = GridSearchCV(Lasso(**EXACT), {"alpha": ALPHAS}, cv=3).fit(X, y)
    assert np.array_equal(ours.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    X[0, 0] = np.nan
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="NaN"):
        GridSearchCV(Lasso(), {"alpha": ALPHAS}, cv=3).fit(X, y)


def test_of_candidates_that_score_alike_the_largest_penalty_is_taken():
    X, y, _ = problem()
    ours = GridSearchCV(Lasso(), {"alpha": [100.0, 300.0, 200.0]}, cv=3).fit(X, y)
    assert ours.best_params_ == {"alpha": 300.0}


def test_a_path_that_stops_short_says_so():
    X, y, _ = problem()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GridSearchCV(Lasso(max_iter=1, tol=1e-13), {"alpha": ALPHAS}, cv=3).fit(X, y)
    assert any(issubclass(w.category, ConvergenceWarning) for w in caught)


@pytest.mark.usefixtures("no_fits")
@pytest.mark.parametrize("weighted", [False, True])
def test_behind_other_steps_these_are_fitted_once_for_each_split(weighted):
    X, y, weights = problem()
    fitted = []

    class Counted(StandardScaler):
        def fit(self, X, y=None):
            fitted.append(len(X))
            return super().fit(X, y)

    grid = {"lasso__alpha": ALPHAS, "lasso__fit_intercept": [True, False]}
    how = {"scoring": "neg_mean_absolute_error", "cv": 3, "return_train_score": True}
    params = {"lasso__sample_weight": weights} if weighted else {}
    ours = GridSearchCV(make_pipeline(Counted(), Lasso(**EXACT)), grid, **how)
    ours.fit(X + 5, y, **params)
    assert fitted == [60, 60, 60, 90]
    model = sklearn.linear_model.Lasso(max_iter=100_000, **EXACT)
    other = theirs.GridSearchCV(make_pipeline(StandardScaler(), model), grid, **how)
    other.fit(X + 5, y, **params)
    for key in ("mean_test_score", "std_train_score", "split1_test_score"):
        np.testing.assert_allclose(ours.cv_results_[key], other.cv_results_[key], rtol=1e-5)
    assert ours.best_params_ == other.best_params_
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-4)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_steps_that_are_set_or_exchanged_by_the_grid():
    X, y, _ = problem()
    scaler = StandardScaler().set_output(transform="pandas")
    # Without an intercept, centering changes the scores, so that no two candidates are tied.
    pipeline = Pipeline([("scale", scaler), ("lasso", Lasso(fit_intercept=False, **EXACT))])
    grid = [
        {"lasso__alpha": [0.1, 0.01], "scale__with_std": [True, False]},
        {"lasso__alpha": [0.1, 0.01], "scale": ["passthrough"]},
        {"lasso__alpha": [-1.0]},
    ]
    with pytest.warns(FitFailedWarning, match="3 fits failed"):
        ours = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    with pytest.warns(FitFailedWarning, match="3 fits failed"):
        other = theirs.GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    scores = [search.cv_results_["mean_test_score"] for search in (ours, other)]
    np.testing.assert_allclose(*scores, rtol=1e-6)
    assert ours.best_params_ == other.best_params_
