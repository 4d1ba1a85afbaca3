"""RidgeCV: scikit-learn's choice and numbers, rows left out one by one, and the search."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import RidgeCV as Theirs
from sklearn.model_selection import KFold, ShuffleSplit

from rosenblatt import Ridge, RidgeCV
from rosenblatt.linear_model import least_squares, penalty_search
from tests.linear_model.test_linear_regression import table
from tests.pairwise import pairwise

ALPHAS = np.geomspace(1e-3, 1e3, 13)
pytestmark = pytest.mark.filterwarnings("ignore:The best penalty is the")


def same(ours, theirs, close=1e-9):
    np.testing.assert_allclose(ours.alpha_, theirs.alpha_, rtol=1e-12)
    # Of wide rows ours was checked in rationals: it is theirs that is 1e-10 off.
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=close, atol=1e-9)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=close, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=close, atol=1e-12)


@pytest.mark.parametrize("shape", [(60, 8), (15, 40)])
@pytest.mark.parametrize("t", [None, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
def test_rows_left_out_one_by_one(shape, t, weighted, scoring):
    X, y = table(*shape, t=t)
    weights = np.random.default_rng(1).uniform(0.1, 2, len(X)) if weighted else None
    settings = {"alphas": ALPHAS, "scoring": scoring, "store_cv_results": True}
    ours, theirs = (C(**settings).fit(X, y, weights) for C in (RidgeCV, Theirs))
    same(ours, theirs)
    assert ours.cv_results_.shape == theirs.cv_results_.shape
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [(30, 4), (10, 14)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leaving_out_is_what_fits_without_the_row_say(shape, fit_intercept):
    X, y = table(*shape)
    model = RidgeCV([0.5, 5.0], fit_intercept=fit_intercept, store_cv_results=True).fit(X, y)
    for a, alpha in enumerate([0.5, 5.0]):
        for i in range(len(X)):
            others = np.arange(len(X)) != i
            one = Ridge(alpha, fit_intercept=fit_intercept).fit(X[others], y[others])
            error = (y[i] - one.predict(X[i : i + 1])[0]) ** 2
            np.testing.assert_allclose(model.cv_results_[i, a], error, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("scoring", [None, "r2"])
def test_each_target_with_a_penalty_of_its_own(scoring):
    X, y = table(t=3)
    y[:, 1] += 30 * np.random.default_rng(0).normal(size=len(y))
    settings = {"alphas": ALPHAS, "alpha_per_target": True, "scoring": scoring}
    ours, theirs = (C(**settings).fit(X, y) for C in (RidgeCV, Theirs))
    assert len(set(ours.alpha_)) > 1
    same(ours, theirs)


@pairwise(
    cv=[3, KFold(4, shuffle=True, random_state=0), ShuffleSplit(5)],
    t=[None, 2],
    weighted=[False, True],
    scoring=[None, "neg_mean_squared_error", "neg_median_absolute_error"],
)
def test_splits(cv, t, weighted, scoring):
    if isinstance(cv, ShuffleSplit):
        cv.random_state = 1
    if t and scoring == "neg_median_absolute_error":
        t = None
    X, y = table(t=t)
    weights = np.random.default_rng(1).uniform(0.1, 2, len(X)) if weighted else None
    settings = {"alphas": ALPHAS, "cv": cv, "scoring": scoring}
    same(*(C(**settings).fit(X, y, weights) for C in (RidgeCV, Theirs)))


def test_sparse_rows_and_single_precision():
    X, y = table()
    X[np.abs(X) < 2] = 0
    for cv in (None, 4):
        dense = RidgeCV(ALPHAS, cv=cv).fit(X, y)
        sparse = RidgeCV(ALPHAS, cv=cv).fit(sp.csr_matrix(X), y)
        same(sparse, dense)
        narrow = RidgeCV(ALPHAS, cv=cv).fit(X.astype(np.float32), y)
        assert narrow.coef_.dtype == np.float32
        np.testing.assert_allclose(narrow.coef_, dense.coef_, rtol=1e-3)


def test_a_perfect_fit_and_badly_scaled_columns_are_scored_by_their_rows():
    X, _ = table()
    y = X @ [1.0, 2.0, 3.0, 4.0]
    settings = {"alphas": [1e-6, 1e-3], "scoring": "neg_mean_squared_error", "cv": 3}
    same(*(C(**settings).fit(X, y) for C in (RidgeCV, Theirs)), close=1e-4)
    X, y = table()
    X = X * [1, 1e-4, 1, 1e1]
    settings = {"alphas": [1e-12, 1e-9], "cv": 3}
    ours = RidgeCV(**settings).fit(X, y)
    np.testing.assert_allclose(ours.best_score_, Theirs(**settings).fit(X, y).best_score_)


def test_wide_rows(monkeypatch):
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    X, y = table(n=24, d=50)
    for cv in (None, 3):
        same(*(C(ALPHAS, cv=cv).fit(X, y) for C in (RidgeCV, Theirs)), close=1e-7)
        RidgeCV("decades", cv=cv).fit(sp.csr_matrix(X), y)


def test_decades_then_closer():
    """B5, GC20: 1, 10, 100, 1000; of these 100 is best; then 200 and neighbours."""
    grid = np.array([1.0, 10.0, 100.0, 1000.0])
    asked = []

    def score(penalties):
        asked.append(penalties)
        return -np.abs(np.log10(penalties) - np.log10(200))

    found = penalty_search.search(score, grid, closer=1, grow=False)
    (closer,) = asked[1:]
    assert ((closer > 10) & (closer < 1000)).all()
    assert (closer < 100).any()
    assert (closer > 100).any()
    best = found.penalties[found.scores.argmax()]
    assert abs(np.log10(best / 200)) < 0.11
    assert found.edge is None


def test_decades_find_what_a_fine_grid_finds():
    X, y = table(n=40, d=20, seed=3)
    y = y + 5 * np.random.default_rng(0).normal(size=40)
    for cv in (None, 5):
        found = RidgeCV("decades", cv=cv).fit(X, y)
        fine = RidgeCV(np.geomspace(1e-6, 1e8, 2000), cv=cv).fit(X, y)
        np.testing.assert_allclose(found.best_score_, fine.best_score_, rtol=1e-3)
        assert len(found.alphas_) == len(found.scores_) < 60


@pytest.mark.filterwarnings("default:The best penalty is the")
@pytest.mark.parametrize(
    ("alphas", "end"), [([1e3, 1e4, 1e5], "smallest"), ([1e-9, 1e-8, 1e-7], "largest")]
)
def test_a_best_penalty_at_the_end_of_the_grid_is_told(alphas, end):
    X, y = table(n=40, d=20, seed=3)
    y = y + 5 * np.random.default_rng(0).normal(size=40)
    with pytest.warns(UserWarning, match=f"is the {end} that was tried.*'decades'"):
        RidgeCV(alphas).fit(X, y)


@pytest.mark.parametrize("cv", [None, 3])
def test_where_no_penalty_makes_a_difference_no_end_is_reported(cv):
    X, y = table()
    scoring = "neg_mean_squared_error"
    RidgeCV([0.1, 1, 10], cv=cv, scoring=scoring).fit(X, np.full(len(y), 3.0))
    RidgeCV([0.1, 1, 10], cv=cv, scoring=scoring).fit(np.zeros_like(X), y)


def test_bad_settings_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match=r"alphas\[0\] == 0.0, must be > 0"):
        RidgeCV([0.0, 1.0]).fit(X, y)
    RidgeCV([0.0, 1.0], cv=3).fit(X, y)
    with pytest.raises(ValueError, match=r"alphas\[1\] == -0.5, must be >= 0"):
        RidgeCV([1.0, -0.5], cv=3).fit(X, y)
    with pytest.raises(ValueError, match=r"alphas\[0\] == inf, must be finite"):
        RidgeCV([np.inf, 1.0]).fit(X, y)
    with pytest.raises(TypeError, match=r"alphas\[1\] must be an instance of float, not str"):
        RidgeCV([1.0, "1"]).fit(X, y)
    with pytest.raises(ValueError, match=r"cv!=None and store_cv_results=True .* need cv=None"):
        RidgeCV(cv=3, store_cv_results=True).fit(X, y)
    with pytest.raises(ValueError, match=r"cv!=None and alpha_per_target=True .* need cv=None"):
        RidgeCV(cv=3, alpha_per_target=True).fit(X, y)
    with pytest.raises(ValueError, match="'alphas' parameter of RidgeCV"):
        RidgeCV("centuries").fit(X, y)


@pytest.mark.parametrize("n_rows", [2, 5])
def test_one_row_with_a_weight_is_refused_in_words(n_rows):
    """Of two rows the other was an array of no size that could not be reshaped."""
    weight = np.r_[1.0, np.zeros(n_rows - 1)]
    with pytest.raises(ValueError, match=f"and 1 of {n_rows} rows have a weight: give two"):
        RidgeCV().fit(np.eye(5)[:n_rows], np.arange(n_rows), weight)


@pytest.mark.parametrize("cv", [None, 3])
def test_columns_of_other_scales_are_told_once_and_by_name(cv):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 3)) * [1, 1e-9, 1e12], columns=["a", "tiny", "huge"])
    X["constant"], X["sum"] = 3.0, 2 * X["a"]
    with pytest.warns(LinAlgWarning, match=r"'tiny'.*'huge'") as told:
        RidgeCV(ALPHAS, cv=cv).fit(X, X["a"] + rng.standard_normal(60))
    assert len([one for one in told if "scales" in str(one.message)]) == 1


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
@pytest.mark.parametrize("alphas", [[1.0, 0.1, 10.0], "decades"])
def test_scores_that_are_not_defined_leave_the_first_penalty_and_a_warning(alphas):
    """R² of a single row is none; numpy's "All-NaN slice encountered" was all there was."""
    X, y = table(n=5)
    with pytest.warns(UndefinedMetricWarning, match="R² needs two test rows") as told:
        model = RidgeCV(alphas, cv=KFold(5)).fit(X, y)
    assert told[-1].filename == __file__
    assert model.alpha_ == (1.0 if isinstance(alphas, list) else model.alphas_[0])
    assert np.isnan(model.best_score_)
    assert np.isfinite(model.coef_).all()


def test_a_mode_that_sparse_rows_will_not_have_is_accepted_with_a_warning():
    X, y = table()
    with pytest.warns(FutureWarning, match="The 'svd' mode is not supported for sparse X"):
        model = RidgeCV(gcv_mode="svd").fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(model.coef_, RidgeCV(gcv_mode="svd").fit(X, y).coef_, rtol=1e-9)
