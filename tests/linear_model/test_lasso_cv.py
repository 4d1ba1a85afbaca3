"""Paths of penalties, and penalties chosen by cross-validation."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ShuffleSplit

from rosenblatt import ElasticNetCV, Lasso, LassoCV, RidgeCV, enet_path, lasso_path, ridge_path
from rosenblatt.linear_model.gram_problem import Squares
from rosenblatt.linear_model.lasso_paths import alpha_grid, follow

TIGHT = 1e-11


def problem(n=80, d=6, seed=0):
    rng = np.random.RandomState(seed)
    X = np.round(rng.standard_normal((n, d)), 1)
    return X, X[:, : min(d, 4)].sum(axis=1) + rng.standard_normal(n), rng.randint(1, 4, n) * 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coef_init": [1.0, 2.0]}, r"coef_init must be 6 finite numbers.*got shape \(2,\)"),
        ({"coef_init": np.full(6, np.nan)}, "with NaN or infinity"),
        ({"alphas": [-1.0, 2.0]}, r"alphas\[0\] == -1.0, must be >= 0"),
        ({"alphas": [1.0, np.nan]}, r"alphas\[1\] == nan, must be finite"),
        ({"alphas": []}, "alphas must be at least one"),
        ({"alphas": 0}, "'alphas' parameter of enet_path"),
        ({"tol": -1.0}, "'tol' parameter of enet_path"),
        ({"max_iter": 0}, "'max_iter' parameter of enet_path"),
        ({"l1_ratio": 2.0}, "'l1_ratio' parameter of enet_path"),
        ({"eps": 0.0}, "'eps' parameter of enet_path"),
    ],
)
def test_a_path_refuses_parameters_that_mean_nothing(parameters, message):
    """A start of the wrong length would have been written to beyond its end."""
    X, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        enet_path(X, y, **parameters)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(80, 6), (20, 50)])
@pytest.mark.parametrize("positive", [False, True])
def test_paths_are_scikit_learns(storage, shape, positive):
    # H8: coefficients along the penalty, and the picture that explains zeros
    X, y, _ = problem(*shape)
    setting = {"alphas": 12, "eps": 0.02, "positive": positive}
    for ours, other, more in (
        (lasso_path, theirs.lasso_path, {}),
        (enet_path, theirs.enet_path, {"l1_ratio": 0.3}),
    ):
        alphas, coefs, gaps, n_iters = ours(
            storage(X), y, **setting, **more, tol=TIGHT, return_n_iter=True
        )
        expected = other(X, y, **setting, **more, tol=1e-12, max_iter=100_000)
        np.testing.assert_allclose(alphas, expected[0])
        np.testing.assert_allclose(coefs, expected[1], atol=2e-5)
        assert gaps.shape == (12,)
        assert len(n_iters) == 12
        assert (gaps <= TIGHT * y @ y / len(y)).all()
        assert not coefs[:, 0].any()


def test_penalties_given_come_back_falling_and_a_start_is_taken():
    X, y, weights = problem()
    alphas, coefs, _ = lasso_path(X, y, alphas=[0.1, 1.0, 0.5], tol=TIGHT)
    assert alphas.tolist() == [1.0, 0.5, 0.1]
    again = lasso_path(X, y, alphas=[0.1], coef_init=coefs[:, -1], return_n_iter=True)
    assert again[3] == [1]
    weighted = lasso_path(X, y, alphas=[0.1], sample_weight=weights, tol=TIGHT)[1][:, 0]
    expected = Lasso(0.1, fit_intercept=False, tol=TIGHT).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted, expected.coef_, atol=1e-7)
    assert lasso_path(X, y, alphas=7)[0].shape == (7,)


def test_old_ways_to_ask_for_penalties_work_with_a_warning():
    X, y, _ = problem()
    with pytest.warns(FutureWarning, match="'n_alphas' was deprecated in 1.9"):
        assert lasso_path(X, y, n_alphas=7)[0].shape == (7,)
    with pytest.warns(FutureWarning, match="'n_alphas' was deprecated in 1.9"):
        assert lasso_path(X, y, n_alphas=7, alphas=[0.1])[0].tolist() == [0.1]
    with pytest.warns(FutureWarning, match="'alphas=None' is deprecated") as told:
        assert enet_path(X, y, alphas=None)[0].shape == (100,)
    assert told[0].filename == __file__


def test_targets_without_any_variation_have_a_grid_of_one_penalty():
    X, _, _ = problem()
    for Model in (LassoCV, ElasticNetCV):
        model = Model(alphas=3).fit(X, np.full(80, 5.0))
        assert model.alphas_.tolist() == [1e-15] * 3
        assert (model.predict(X) == 5.0).all()


def test_paths_refuse_what_they_do_not_do():
    X, y, _ = problem()
    with pytest.raises(ValueError, match="y must be one target; got 2"):
        lasso_path(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="'selection' parameter of enet_path must be"):
        lasso_path(X, y, selection="greedy")
    with pytest.raises(ValueError, match="appropriate `alphas=` argument"):
        enet_path(X, y, l1_ratio=0)
    with pytest.warns(
        ConvergenceWarning, match=r"^Objective did not converge. . of 5 fits stopped short of"
    ):
        lasso_path(X, y, alphas=5, tol=1e-13, max_iter=1)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(80, 6), (25, 40)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "setting",
    [
        ("LassoCV", {}),
        ("LassoCV", {"alphas": [0.02, 0.1, 0.5], "fit_intercept": False, "cv": 3}),
        ("ElasticNetCV", {"l1_ratio": [0.2, 0.9], "alphas": 8, "eps": 0.05, "cv": KFold(4)}),
        ("ElasticNetCV", {"alphas": [0.1, 0.02, 0.3, 1], "positive": True, "selection": "random"}),
        ("LassoCV", {"alphas": 9, "eps": 0.05, "cv": ShuffleSplit(3, random_state=0)}),
    ],
    ids=str,
)
def test_searches_are_scikit_learns(storage, shape, weighted, setting):
    X, y, weights = problem(*shape)
    name, parameters = setting
    weights = weights if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = {"LassoCV": LassoCV, "ElasticNetCV": ElasticNetCV}[name](**parameters, tol=1e-9)
        ours.fit(storage(X), y, sample_weight=weights)
        other = getattr(theirs, name)(**parameters, tol=1e-9, max_iter=20_000)
        other.fit(X, y, sample_weight=weights)
    assert ours.alpha_ == pytest.approx(other.alpha_)
    np.testing.assert_allclose(ours.alphas_, other.alphas_)
    assert ours.mse_path_.shape == other.mse_path_.shape
    np.testing.assert_allclose(ours.mse_path_, other.mse_path_, rtol=2e-3)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-3)
    assert getattr(ours, "l1_ratio_", None) == getattr(other, "l1_ratio_", None)
    assert ours.stop_reason_ == "converged"
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-2)


def test_decades_come_first_and_then_a_closer_look():
    # B5: searching for a penalty: decades first, then around the best
    X, y = load_diabetes(return_X_y=True)
    tried = LassoCV(alphas="decades", eps=1e-5).fit(X, y).alphas_
    decades = 10.0 ** np.arange(-5, 2)  # all weights are zero from 2.1 on
    powers = LassoCV(alphas=decades).fit(X, y)
    assert np.isin(decades, tried).all()
    between = np.setdiff1d(tried, decades)
    assert ((between > powers.alpha_ / 10) & (between < powers.alpha_ * 10)).all()
    assert (between < powers.alpha_).any()
    assert (between > powers.alpha_).any()


def test_a_search_by_decades_ends_near_the_best_of_a_fine_grid():
    X, y = load_diabetes(return_X_y=True)
    by_decades = LassoCV(alphas="decades").fit(X, y)
    fine = LassoCV(alphas=200).fit(X, y)
    least = fine.mse_path_.mean(axis=1).min()
    assert by_decades.mse_path_.mean(axis=1).min() <= 1.001 * least
    assert len(by_decades.alphas_) < 25
    assert (np.diff(by_decades.alphas_) < 0).all()
    assert by_decades.mse_path_.shape == (len(by_decades.alphas_), 5)
    both = ElasticNetCV(alphas="decades", l1_ratio=[0.3, 1.0]).fit(X, y)
    assert both.l1_ratio_ in (0.3, 1.0)


def test_a_winner_on_the_edge_of_the_grid_is_reported():
    X, y, _ = problem(400)
    with pytest.warns(UserWarning, match="is the smallest that was tried. Try smaller"):
        LassoCV(alphas=[0.5, 0.7, 1.0]).fit(X, y)
    noise = np.random.RandomState(3).standard_normal(400)
    with pytest.warns(UserWarning, match="is the largest that was tried. Try larger"):
        LassoCV(alphas=[1e-5, 1e-4, 1e-3]).fit(X, noise)
    # Above the largest of an automatic grid nothing changes, so that nothing is to be tried.
    noise -= X @ np.linalg.lstsq(X, noise)[0]
    assert LassoCV(cv=2).fit(X - X.mean(0), noise - noise.mean()).alpha_ > 0


def test_several_targets_and_bad_penalties_are_refused():
    X, y, _ = problem()
    with pytest.raises(ValueError, match="y must be one target; got 2"):
        LassoCV().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"alphas\[1\] == -1, must be >= 0"):
        LassoCV(alphas=[1, -1]).fit(X, y)
    with pytest.raises(TypeError, match=r"alphas\[0\] must be an instance of float, not str"):
        LassoCV(alphas=["much"]).fit(X, y)
    with pytest.raises(ValueError, match="alphas must be at least one penalty"):
        LassoCV(alphas=[]).fit(X, y)
    with pytest.raises(ValueError, match=r"alphas\[0\] == inf, must be finite"):
        LassoCV(alphas=[np.inf, 1]).fit(X, y)
    model = LassoCV()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(np.full((9, 2), np.nan), y[:9])
    assert not any(name.endswith("_") for name in vars(model))


def test_decades_go_on_where_the_best_is_the_smallest():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((200, 4))
    y = X @ [3.0, -2.0, 1.0, 0.001] + 1e-3 * rng.standard_normal(200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = LassoCV(alphas="decades").fit(X, y)
        fine = LassoCV(alphas=np.logspace(-7, 0, 60)).fit(X, y)
    assert found.alpha_ < 1e-3 * np.abs(X.T @ y).max() / 200
    assert found.mse_path_.mean(axis=1).min() <= 1.01 * fine.mse_path_.mean(axis=1).min()


def test_advice_on_an_end_is_about_what_was_given():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((100, 3))
    y = X.sum(axis=1) + 1e-6 * rng.standard_normal(100)
    with pytest.warns(UserWarning, match="Try smaller ones: give alphas that reach further"):
        LassoCV(alphas=[0.1, 0.2, 0.3]).fit(X, y)
    with pytest.warns(UserWarning, match="Try smaller ones: lower eps"):
        LassoCV(alphas=5).fit(X, y)
    with pytest.warns(UserWarning, match="Try smaller ones too, alphas='decades' or Linear"):
        RidgeCV(alphas=[0.1, 0.2, 0.3]).fit(X, y)


def test_paths_of_ridge_and_lasso_take_a_number_of_penalties_alike_and_know_their_parameters():
    X, y, _ = problem()
    assert len(lasso_path(X, y, alphas=5)[0]) == len(ridge_path(X, y, 5)[0]) == 5
    with pytest.raises(ValueError, match="got 0 of them"):
        ridge_path(X, y, 0)
    with pytest.raises(ValueError, match=r"Unexpected parameters in params: 'alfas', 'tool'\."):
        lasso_path(X, y, alfas=[1.0], tool=1)
    with_it = lasso_path(X, y, alphas=5, do_screening=False)  # scikit-learn takes it
    np.testing.assert_array_equal(with_it[1], lasso_path(X, y, alphas=5)[1])


def test_a_fold_without_weight_is_named():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    weight = np.r_[np.zeros(60), np.ones(140)]
    with pytest.raises(ValueError, match="all test rows of fold 0 have weight zero"):
        LassoCV().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("storage", [sp.csr_matrix, sp.csc_array])
def test_sparse_rows_take_the_same_way_as_dense_ones(storage):
    """Narrow sparse tables were swept column by column, and ended elsewhere within `tol`."""
    X, y, weights = problem()
    dense, sparse = (ElasticNetCV(cv=3).fit(rows, y, weights) for rows in (X, storage(X)))
    np.testing.assert_allclose(sparse.mse_path_, dense.mse_path_, rtol=1e-9)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9, atol=1e-12)
    paths = [enet_path(rows, y, alphas=20, sample_weight=weights)[1] for rows in (X, storage(X))]
    np.testing.assert_allclose(*paths, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 2e8])
def test_a_sparse_path_of_columns_far_from_zero_takes_no_more_sweeps_than_a_dense_one(offset):
    """Variances were differences of squares of 4e16: every fit of the path went to `max_iter`."""
    rng = np.random.RandomState(0)
    Z = rng.standard_normal((10, 59))
    y = (Z @ rng.standard_normal(59))[:, None]
    paths = []
    for X in (Z + offset, sp.csr_array(Z + offset)):
        squares = Squares.of(X, y, None, fit_intercept=True, path=True)
        alphas = alpha_grid(squares, 1.0, True, 1e-6, 20)
        paths.append(follow(squares.descents[0], alphas, 1.0, positive=True, tol=1e-8))
    dense, sparse = paths
    assert sparse.n_iters == dense.n_iters
    assert not sparse.shortfall()
    np.testing.assert_allclose(sparse.coefs, dense.coefs, rtol=1e-6, atol=1e-9)
