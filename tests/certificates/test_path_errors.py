"""Errors on held-out rows that cross-validated lassos publish: derived again for each fold."""

import numpy as np
import pytest
import sklearn.linear_model as theirs
from sklearn.model_selection import KFold, ShuffleSplit

import rosenblatt as rb
from rosenblatt import certify
from rosenblatt.certificates.path_errors import Moments, best_coefficients

RNG = np.random.RandomState(3)
X = RNG.standard_normal((90, 6)) * [1, 2, 4, 1, 0.5, 1] + 10
y = X @ [1.0, 0.5, 0.0, 0.0, -1.0, 0.0] + RNG.standard_normal(90)
MODELS = {
    "lasso": rb.LassoCV(cv=3),
    "their lasso": theirs.LassoCV(cv=3),
    "positive": rb.LassoCV(positive=True, fit_intercept=False, tol=1e-6),
    "two shares": rb.ElasticNetCV(l1_ratio=[0.2, 0.9]),
    "two shares of theirs": theirs.ElasticNetCV(l1_ratio=[0.2, 0.9]),
    "folds drawn by a seed": theirs.LassoCV(cv=KFold(4, shuffle=True, random_state=1)),
    "folds given": rb.LassoCV(cv=[(np.arange(60), np.arange(60, 90))]),
}


@pytest.mark.parametrize("name", MODELS)
def test_honest_errors_hold_and_others_do_not(name):
    model = MODELS[name].fit(X, y)
    honest, errors = certify(model, X, y)["path errors"], model.mse_path_
    assert honest.holds, honest.statement
    for factor in (1.2, 0.8):  # alpha_ still has the least mean
        model.mse_path_ = errors * factor
        assert not certify(model, X, y)["path errors"].holds, factor
    model.mse_path_ = errors.copy()
    model.mse_path_.flat[-1] *= 1.2
    assert not certify(model, X, y)["path errors"].holds
    model.mse_path_.flat[-1] = np.nan
    assert not certify(model, X, y).holds


def test_a_smaller_tol_allows_less():
    model = rb.LassoCV(cv=3, tol=1e-9).fit(X, y)
    assert certify(model, X, y)["path errors"].holds
    model.mse_path_ = model.mse_path_ * 1.001
    assert not certify(model, X, y)["path errors"].holds


def test_of_folds_that_cannot_be_drawn_again_and_of_too_few_rows_nothing_is_claimed():
    by_chance = theirs.LassoCV(cv=ShuffleSplit(3)).fit(X, y)
    wide = theirs.LassoCV(cv=3).fit(X[:9], y[:9])
    for model, n in ((by_chance, 90), (wide, 9)):
        assert "path errors" not in [claim.name for claim in certify(model, X[:n], y[:n])]


@pytest.mark.parametrize("positive", [False, True])
def test_coefficients_of_all_penalties_are_those_of_a_solver(positive):
    rows, t = X - X.mean(axis=0), y - y.mean()
    moments = Moments(rows.T @ rows / 90, rows.T @ t / 90, float(t @ t) / 90)
    alphas = np.array([1.0, 0.1, 0.01])
    W, gap = best_coefficients(moments, 0.5 * alphas, 0.5 * alphas, positive, 1e-12)
    assert (gap <= 1e-12).all()
    for alpha, w in zip(alphas, W, strict=True):
        solver = theirs.ElasticNet(alpha=alpha, tol=1e-12, positive=positive, max_iter=100_000)
        assert np.allclose(w, solver.fit(X, y).coef_, atol=1e-6)
