"""Ridge: scikit-learn's answer by every solver, optimality, the algebra, and wide rows."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge as Theirs

from rosenblatt import LinearRegression, Ridge, certify, ridge_path
from rosenblatt.linear_model import least_squares, linear_regression
from rosenblatt.linear_model.ridge import SOLVERS
from tests.linear_model.test_linear_regression import table
from tests.reference.ridge import ridge_coefficients


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("t", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_answer_of_scikit_learn(fit_intercept, positive, t, weighted):
    X, y = table(t=t)
    weights = np.random.default_rng(1).uniform(0, 2, len(X)) if weighted else None
    settings = {"alpha": 3.0, "fit_intercept": fit_intercept, "positive": positive}
    ours = Ridge(**settings).fit(X, y, weights)
    theirs = Theirs(**settings, tol=1e-12).fit(X, y, weights)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    close = 1e-4 if positive else 1e-9  # theirs is iterated then
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=close, atol=close / 10)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=close)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_every_name_of_a_solver_gives_the_same_answer(solver, storage):
    X, y = table()
    expected = Theirs(alpha=2.0, solver="svd").fit(X, y)
    model = Ridge(alpha=2.0, solver=solver).fit(storage(X), y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    assert model.solver_ == ("svd" if solver == "svd" else "cholesky")


def test_one_penalty_for_each_target():
    X, y = table(t=3)
    alphas = [0.1, 10.0, 0.1]
    expected = Theirs(alpha=alphas).fit(X, y)
    np.testing.assert_allclose(Ridge(alphas).fit(X, y).coef_, expected.coef_, rtol=1e-9)
    with pytest.raises(ValueError, match=r"correspond: 2 != 3\. .*one for each of 3 targets"):
        Ridge([1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="alpha must be finite and >= 0"):
        Ridge([1.0, -2.0, 1.0]).fit(X, y)


@given(seed=st.integers(0, 30), fit_intercept=st.booleans())
def test_the_conditions_of_optimality_and_what_a_larger_penalty_does(seed, fit_intercept):
    # H4, H9: squared weights are penalised, the intercept is free
    X, y = table(n=25, d=5, seed=seed)
    alphas = np.geomspace(1e-3, 1e4, 12)
    lengths, errors = [], []
    for alpha in alphas:
        model = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y)
        left = y - model.predict(X)
        centred = X - X.mean(axis=0) if fit_intercept else X
        np.testing.assert_allclose(centred.T @ left, alpha * model.coef_, rtol=1e-6, atol=1e-6)
        if fit_intercept:
            assert abs(left.mean()) < 1e-9
        lengths.append(np.linalg.norm(model.coef_))
        errors.append((left**2).mean())
    assert (np.diff(lengths) < 0).all()
    assert (np.diff(errors) > 0).all()


def test_the_two_ends_are_least_squares_and_the_mean():
    X, y = table()
    none, best = Ridge(alpha=0).fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(none.coef_, best.coef_, rtol=1e-12)
    all_of_it = Ridge(alpha=1e15).fit(X, y)
    np.testing.assert_allclose(all_of_it.coef_, 0, atol=1e-9)
    np.testing.assert_allclose(all_of_it.predict(X), y.mean(), rtol=1e-9)


@given(cut=st.integers(1, 119), seed=st.integers(0, 20), alpha=st.sampled_from([0.01, 1.0, 50.0]))
def test_merge_forget_and_batches_equal_a_refit(cut, seed, alpha):
    X, y = table(seed=seed)
    whole, stream = Ridge(alpha).fit(X, y), Ridge(alpha)
    for rows in np.split(np.arange(len(X)), [1, cut]):
        if len(rows):
            stream.partial_fit(X[rows], y[rows])
    pieces = [Ridge(alpha).fit(X[s], y[s]) for s in (slice(cut), slice(cut, None))]
    for model in (stream, pieces[0].merge(pieces[1])):
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_, whole.intercept_, rtol=1e-9, atol=1e-12)
    left = stream.forget(X[:5], y[:5])
    expected = Ridge(alpha).fit(X[5:], y[5:])
    np.testing.assert_allclose(left.coef_, expected.coef_, rtol=1e-9, atol=1e-12)


def test_rows_that_were_never_there_cannot_be_forgotten_and_no_class_is_spoken_of():
    X, y = table(n=20)
    with pytest.raises(ValueError, match=r"^Cannot remove 40 rows: it has 20"):
        Ridge().fit(X, y).forget(np.vstack([X, X]), np.append(y, y))
    with pytest.raises(ValueError, match="Cannot remove these rows: target 0 has a scatter of"):
        Ridge().fit(X, y).forget(X[:10], 100 * y[:10])


@given(weights=st.lists(st.integers(0, 3), min_size=30, max_size=30).filter(any))
def test_an_integer_weight_equals_repetition_and_order_does_not_matter(weights):
    X, y = table(n=30, d=3)
    model = Ridge().fit(X, y, weights)
    rows = np.random.default_rng(sum(weights)).permutation(np.repeat(np.arange(30), weights))
    again = Ridge().fit(X[rows], y[rows])
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("t", [None, 2])
@pytest.mark.parametrize("alpha", [1e-9, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_wider_than_long_go_by_the_products_of_rows(
    storage, t, alpha, fit_intercept, monkeypatch
):
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    X, y = table(n=20, d=60, t=t)
    weights = np.arange(20.0)
    settings = {"alpha": alpha, "fit_intercept": fit_intercept}
    model = Ridge(**settings).fit(storage(X), y, weights)
    theirs = Theirs(**settings, solver="svd").fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    assert model.solution_ == "unique"


def test_a_hundred_rows_of_a_hundred_thousand_columns():
    # W9: prices, and more columns than rows
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 100_000))
    y = 3 * X[:, 0] + rng.normal(size=100)
    model = Ridge(alpha=1000.0).fit(X, y)
    left = y - model.predict(X)
    np.testing.assert_allclose((X - X.mean(axis=0)).T @ left, 1000 * model.coef_, atol=1e-6)


def test_sparse_rows_with_too_many_of_both_are_taken_step_by_step(monkeypatch):
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    monkeypatch.setattr(least_squares, "ROWS_WITH_DUAL", 10)
    X = sp.random(300, 60, 0.05, format="csr", random_state=0)
    y = np.stack([np.arange(300.0) % 7, np.arange(300.0) % 3], axis=1)
    model = Ridge(alpha=[0.5, 2.0], tol=1e-12).fit(X, y)
    assert model.solver_ == "lsmr"
    assert (model.n_iter_ > 1).all()
    expected = Theirs(alpha=[0.5, 2.0]).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    with pytest.warns(
        ConvergenceWarning, match="After 2 iterations the gradient is .* not yet tol"
    ):
        Ridge(max_iter=2, tol=1e-9).fit(X, y)
    assert Ridge().fit(X.toarray()[:, :5], y).stop_reason_ == "converged"
    positive = Ridge(alpha=0.5, tol=1e-10, positive=True).fit(X, y[:, 0])
    expected = Ridge(alpha=0.5, positive=True).fit(X.toarray(), y[:, 0])
    np.testing.assert_allclose(positive.coef_, expected.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("unconverged")
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("max_iter", [1, 3, 10, None])
def test_steps_say_how_far_they_came(positive, max_iter, monkeypatch):
    """The gap is never below the true excess, and the reason of the end is the true one."""
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    monkeypatch.setattr(least_squares, "ROWS_WITH_DUAL", 10)
    X = sp.random(300, 60, 0.05, format="csr", random_state=0)
    y = np.stack([np.arange(300.0) % 7, np.arange(300.0) % 3], axis=1)
    alphas = np.array([0.5, 2.0])
    model = Ridge(alphas, tol=1e-9, max_iter=max_iter, positive=positive).fit(X, y)
    monkeypatch.undo()
    best = Ridge(alphas, positive=positive).fit(X, y)

    def objective(model):
        return ((y - model.predict(X)) ** 2).sum(axis=0) + alphas * (model.coef_**2).sum(axis=1)

    np.testing.assert_allclose(model.objective_, objective(model), rtol=1e-10)
    excess = model.objective_ - objective(best)
    assert (excess <= model.dual_gap_ + 1e-9 * model.objective_).all()
    assert model.stop_reason_ == ("converged" if max_iter is None else "max_iter")
    if max_iter is None:
        assert (model.dual_gap_ <= 1e-9 * model.objective_).all()
    one = Ridge(0.5, positive=positive).fit(X, y[:, 0])
    assert one.stop_reason_ == "converged"
    assert not hasattr(one, "dual_gap_")  # a closed form
    model.fit(X.toarray(), y)
    assert not hasattr(model, "dual_gap_"), "nothing of the earlier fit is left"


def test_columns_of_very_different_scales_are_named():
    X, y = table()
    with pytest.warns(LinAlgWarning, match=r"\(column 1\) to .* \(column 3\).*Standardise 1, 3"):
        model = Ridge().fit(X * [1, 1e-6, 1, 1e5], y)
    # scikit-learn's own answers are off by up to 1e-6 in the column of small numbers.
    exact = ridge_coefficients(X * [1, 1e-6, 1, 1e5], y, 1)
    np.testing.assert_allclose(model.coef_, exact, rtol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ridge().fit(X * [1, 1e-3, 1, 1e2], y)


def test_a_penalty_determines_dependent_columns():
    X, y = table()
    X = np.hstack([X, X[:, :1], np.ones((len(X), 1))])
    model = Ridge().fit(X, y)
    assert (model.solution_, model.rank_) == ("unique", 6)
    np.testing.assert_allclose(model.coef_[0], model.coef_[4], rtol=1e-9)
    assert model.coef_[5] == 0
    with pytest.warns(LinAlgWarning, match="constant: 5; linearly dependent: 0, 4"):
        Ridge(alpha=0).fit(X, y)


@pytest.mark.parametrize("t", [None, 2])
@pytest.mark.parametrize("shape", [(50, 6), (12, 30), (200, 2)])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_a_path_is_all_fits_at_once(t, shape, storage):
    # H8: coefficients along the penalty, and the picture that explains zeros
    X, y = table(*shape, t=t)
    weights = np.arange(len(X)) % 3.0
    alphas = [10.0, 0.1, 1e-3]
    found, coefs, intercepts = ridge_path(storage(X), y, alphas, sample_weight=weights)
    assert found.tolist() == alphas
    for a, alpha in enumerate(alphas):
        model = Theirs(alpha, solver="svd").fit(X, y, weights)
        np.testing.assert_allclose(coefs[..., a], model.coef_, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(intercepts[..., a], model.intercept_, rtol=1e-7)


def test_a_path_of_penalties_of_its_own_and_of_badly_scaled_columns():
    X, y = table()
    alphas, coefs, _ = ridge_path(X, y, n_alphas=30)
    assert len(alphas) == 30
    assert (np.diff(alphas) < 0).all()
    assert (np.diff(np.linalg.norm(coefs, axis=0)) > 0).all()
    scaled = X * [1, 1e-6, 1, 1e5]
    _, coefs, _ = ridge_path(scaled, y, [1e-8, 1.0])
    for coef, alpha in zip(coefs.T, [1e-8, 1.0], strict=True):
        exact = ridge_coefficients(scaled, y, Fraction(alpha))
        np.testing.assert_allclose(coef, exact, rtol=1e-12)
    with pytest.raises(ValueError, match=r"alphas\[1\] == -1.0, must be > 0"):
        ridge_path(X, y, [1.0, -1.0])


def test_a_column_that_is_constant_but_for_rounding_is_on_no_scale_of_its_own():
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.standard_normal(60), np.full(60, 0.3)])
    X[::2, 1] = np.nextafter(0.3, 1)
    assert Ridge().fit(X, X[:, 0]).rank_ == 2  # without a warning


def test_rows_that_were_never_there_are_refused_by_the_names_of_columns():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.standard_normal((40, 2)), columns=["speed", "weight"])
    model = Ridge().fit(frame[:20], np.arange(20.0))
    with pytest.raises(ValueError, match=r"Cannot remove 40 rows: it has 20\.$"):
        model.forget(frame, np.arange(40.0))
    with pytest.raises(ValueError, match="rows: feature speed has a scatter"):
        model.forget(frame[20:30] * [100, 1], np.arange(10.0))


class TestSparseRowsWiderThanLong:
    X = sp.random(400, 2500, 0.004, format="csr", random_state=0)
    y = np.asarray(X @ np.random.RandomState(0).standard_normal(2500))

    def test_few_are_solved_by_their_products(self):
        assert Ridge(alpha=0.1).fit(self.X, self.y).solver_ == "cholesky"

    def test_lsmr_comes_as_near_as_tol_asks_for(self, monkeypatch):
        monkeypatch.setattr(linear_regression, "ROWS_SOLVED_EXACTLY", 399)
        model = Ridge(alpha=0.1).fit(self.X, self.y)
        exact = Ridge(alpha=0.1, solver="cholesky").fit(self.X, self.y)
        assert (model.solver_, exact.solver_) == ("lsmr", "cholesky")
        assert model.stop_reason_ == "converged"
        off = np.linalg.norm(model.coef_ - exact.coef_) / np.linalg.norm(exact.coef_)
        assert off < 1e-4
        assert certify(model, self.X, self.y).holds
