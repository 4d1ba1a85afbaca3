"""Errors on held-out rows that cross-validated lassos publish: derived again for each fold."""

import numpy as np
import pytest
import sklearn.linear_model as theirs
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

import rosenblatt as rb
from rosenblatt import certify
from rosenblatt.certificates.fold_lassos import Fold, best_coefficients
from tests.attacks import optima

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


@pytest.mark.parametrize("package", [rb, theirs])
@pytest.mark.parametrize("kind", ["LassoCV", "ElasticNetCV"])
def test_weights_are_those_of_the_fits_and_of_the_errors(package, kind):
    weight = np.random.RandomState(0).uniform(0, 3, 90)
    weight[::7] = 0
    model = getattr(package, kind)(cv=3).fit(X, y, sample_weight=weight)
    assert certify(model, X, y, sample_weight=weight)["path errors"].holds
    model.mse_path_ = model.mse_path_ * 1.05
    assert not certify(model, X, y, sample_weight=weight).holds


def wide(n=60, d=200):
    rng = np.random.RandomState(0)
    rows = rng.standard_normal((n, d))
    return rows, rows[:, :5].sum(axis=1) + rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore:The best alpha")
@pytest.mark.parametrize("package", [rb, theirs])
@pytest.mark.parametrize("kind", ["LassoCV", "ElasticNetCV"])
def test_with_fewer_rows_than_columns_errors_are_known_where_few_columns_count(package, kind):
    rows, t = wide()
    model = getattr(package, kind)(cv=3, alphas=20, eps=1e-2).fit(rows, t)
    certificate, errors = certify(model, rows, t), model.mse_path_.copy()
    assert certificate.holds, certificate
    model.mse_path_ = errors * 1.02
    assert not certify(model, rows, t).holds
    model.mse_path_ = errors.copy()
    model.mse_path_[2, 1] *= 1.2  # one number, of a penalty that is not small
    assert not certify(model, rows, t).holds


def test_what_is_not_checked_is_stated():
    # Numbers of small penalties with few rows, of folds without a seed, of splitters that ask for
    # more than the rows, and of tables too large: they could be changed and every claim held.
    rows, t = wide()
    wide_model = theirs.LassoCV(cv=3, tol=1e-3).fit(rows, t)
    unseeded = theirs.LassoCV(cv=ShuffleSplit(3)).fit(X, y)
    grouped = rb.LassoCV(cv=KFold(3)).fit(X, y).set_params(cv=GroupKFold(3))
    cases = [(wide_model, rows, t, "of 300 numbers are uncertain by more than half"),
             (unseeded, X, y, "ShuffleSplit draws its folds without a seed"),
             (grouped, X, y, "GroupKFold does not give its folds again")]  # fmt: skip
    for model, table, target, words in cases:
        certificate = certify(model, table, target)
        assert certificate.verdict.endswith("claims hold; not checked: mse_path_")
        assert words in certificate["not checked"].statement
        assert certificate.grade == "observed"
        assert certificate.holds
    assert "not checked" not in certify(rb.LassoCV().fit(X, y), X, y).verdict


def test_folds_that_were_not_drawn_are_counted(monkeypatch):
    monkeypatch.setattr("rosenblatt.certificates.path_errors.WORK", (1e4, 1e9))
    model = rb.LassoCV(cv=4).fit(X, y)
    assert "not checked" not in str(certify(model, X, y))
    said = certify(model, X, y, effort=0)["not checked"].statement
    assert said == "mse_path_: its folds are too large to be fitted again"
    monkeypatch.setattr("rosenblatt.certificates.path_errors.WORK", (1e6, 1e9))
    said = certify(model, X, y, effort=0)["not checked"].statement
    assert said == "mse_path_: 200 of 400 numbers are of folds not drawn"


@pytest.mark.filterwarnings("ignore:The best alpha")
@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=np.random.RandomState(0)), 3])
def test_penalties_and_shares_that_were_not_tried_or_not_chosen_are_found_out(cv):
    def nudged(alphas, k, factor):
        alphas = alphas.copy()
        alphas[..., k] *= factor
        return alphas

    model = rb.ElasticNetCV(l1_ratio=[0.3, 0.8], cv=cv, alphas=10).fit(X, y)
    assert certify(model, X, y).holds
    changes = {
        "alphas_": nudged(model.alphas_, -1, 0.99),
        "mse_path_": model.mse_path_[:, :-1],
        "l1_ratio_": 1.1 - model.l1_ratio_,
        "alpha_": model.alphas_[0, 5],
    }
    for name, value in changes.items():
        honest = getattr(model, name)
        setattr(model, name, value)
        failed = [claim.name for claim in certify(model, X, y) if not claim.holds]
        assert {"path", "penalties tried"} & set(failed), name
        setattr(model, name, honest)


@pytest.mark.filterwarnings("ignore:The best alpha")
@pytest.mark.parametrize("given", [[1.0, 0.1, 0.5], [0.1]])
@pytest.mark.parametrize("package", [rb, theirs])
def test_axes_of_length_one_are_no_fault(package, given):
    one_fold = [(np.arange(60), np.arange(60, 90))]
    for model in (package.LassoCV(cv=one_fold, alphas=given),
                  package.ElasticNetCV(cv=one_fold, alphas=given, l1_ratio=[0.3, 0.8]),
                  package.ElasticNetCV(cv=3, alphas=given, l1_ratio=[0.3, 0.8])):  # fmt: skip
        certificate = certify(model.fit(X, y), X, y)
        assert certificate["path"].holds
        assert certificate["penalties tried"].holds


@pytest.mark.parametrize("n", [90, 5])
@pytest.mark.parametrize("positive", [False, True])
def test_coefficients_of_all_penalties_are_those_of_a_solver(positive, n):
    rows, t = X[:n], y[:n]
    fold = Fold(rows, t, np.ones(n), (np.arange(n), np.arange(n)), centred=True)
    alphas = np.array([1.0, 0.1, 0.01])
    W, gap, _ = best_coefficients(fold, 0.5 * alphas, 0.5 * alphas, positive, 1e-12)
    assert (gap <= 1e-12 * max(fold.size, 1)).all()
    for alpha, w in zip(alphas, W, strict=True):
        solver = theirs.ElasticNet(alpha=alpha, tol=1e-12, positive=positive, max_iter=100_000)
        assert np.allclose(w, solver.fit(rows, t).coef_, atol=1e-6)


@pytest.mark.parametrize("number", [4743, 5010])
def test_an_error_of_rounding_alone_may_be_none(number):
    """Fits that are exact in fractions leave 1e-63 here."""
    assert optima.path_errors(np.random.RandomState([249010, number])) == []
