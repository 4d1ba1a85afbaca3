"""Least squares: scikit-learn's answer, the normal equations, the algebra, and bad columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression as Theirs

from rosenblatt import LinearRegression
from rosenblatt.linear_model import least_squares
from rosenblatt.statistics import Gram


def table(n=120, d=4, t=None, seed=0):
    rng = np.random.default_rng([n, d, seed])
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3
    y = X @ rng.normal(size=(d, t or 1)) + rng.normal(size=(n, t or 1)) + 5
    return X, y if t else y[:, 0]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("t", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_answer_of_scikit_learn(fit_intercept, positive, t, weighted):
    X, y = table(t=t)
    weights = np.random.default_rng(1).uniform(0, 2, len(X)) if weighted else None
    settings = {"fit_intercept": fit_intercept, "positive": positive}
    ours = LinearRegression(**settings).fit(X, y, weights)
    theirs = Theirs(**settings).fit(X, y, weights)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    if not positive:
        assert ours.rank_ == theirs.rank_
        np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-9)


def test_what_is_left_has_no_product_with_any_column():
    # H1: least squares
    X, y = table()
    model = LinearRegression().fit(X, y)
    left = y - model.predict(X)
    np.testing.assert_allclose(X.T @ left, 0, atol=1e-9)
    assert abs(left.mean()) < 1e-12
    assert (model.solution_, model.solver_, model.n_parameters_) == ("unique", "cholesky", 5)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_of_many_answers_the_shortest_and_the_columns_are_named(storage):
    X, y = table()
    X = np.hstack([X, X[:, :1] + 1e3 * X[:, 1:2], np.full((len(X), 1), 7.0)])
    frame = pd.DataFrame(X, columns=list("abcdef"))
    with pytest.warns(LinAlgWarning, match=r"constant: 'f'; linearly dependent.*: 'a', 'b', 'e'\."):
        LinearRegression().fit(frame, y)
    with pytest.warns(LinAlgWarning, match=r"4 of 6 coefficients; constant: 5; .*: 0, 1, 4\."):
        model = LinearRegression().fit(storage(X), y)
    assert (model.rank_, model.solution_) == (4, "minimum norm")
    best = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=1e-10)[0]
    np.testing.assert_allclose(model.coef_, best, rtol=1e-6, atol=1e-9)
    with pytest.warns(LinAlgWarning, match="minimum norm"):
        streamed = LinearRegression.from_statistics(model.statistics_)
    np.testing.assert_allclose(streamed.coef_, best, rtol=1e-6, atol=1e-9)


def test_two_groups_of_dependent_columns_are_told_apart():
    X, y = table(d=6)
    X = np.hstack([X, X[:, :1] - X[:, 1:2], X[:, 2:3] + X[:, 3:4]])
    with pytest.warns(LinAlgWarning, match=r": 0, 1, 6; 2, 3, 7\."):
        LinearRegression().fit(X, y)


def test_rows_are_read_again_where_products_have_lost_the_digits():
    """Powers of x up to the ninth: the products know less than half of the coefficients' digits."""
    x = np.linspace(0, 1, 60)
    X = x[:, None] ** np.arange(1, 10)
    truth = (-1.0) ** np.arange(9)
    y = X @ truth + 2
    model = LinearRegression(tol=0).fit(X, y)
    assert model.solver_ == "svd"
    np.testing.assert_allclose(model.coef_, truth, rtol=1e-7)
    with pytest.warns(LinAlgWarning, match="a statistic alone cannot tell more digits"):
        streamed = LinearRegression.from_statistics(model.statistics_, tol=0)
    assert np.abs(streamed.coef_ - truth).max() > 100 * np.abs(model.coef_ - truth).max()
    with pytest.warns(LinAlgWarning, match="to within tol=0.001"):
        coarse = LinearRegression(tol=1e-3).fit(X, y)
    assert coarse.rank_ < 9


@pytest.mark.parametrize("powers", [(-8, 0, 4, 8), (-170, 0, 0, 0), (-150, -140, 0, 100)])
def test_units_of_columns_do_not_matter(powers):
    X, y = table()
    scale = 10.0 ** np.array(powers)
    plain, model = LinearRegression().fit(X, y), LinearRegression().fit(X * scale, y)
    assert model.solution_ == "unique"
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-7)


def test_rows_far_from_the_origin():
    X, y = table()
    model = LinearRegression().fit(X + 1e9, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-5)


def test_more_columns_than_rows():
    X, y = table(n=12, d=30)
    theirs = Theirs().fit(X, y)
    with pytest.warns(LinAlgWarning, match="determine 11 of 30 coefficients"):
        model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*minimum norm:scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("t", [None, 2])
def test_very_many_columns_need_no_table_of_their_products(storage, t, monkeypatch):
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    X, y = table(n=20, d=60, t=t)
    weights = np.arange(20.0)
    model = LinearRegression().fit(storage(X), y, weights)
    theirs = Theirs().fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-6)
    assert not hasattr(model, "statistics_")
    with pytest.raises(ValueError, match="60 columns, too many for a table"):
        model.partial_fit(X, y)
    for act in (lambda: model.merge(model), lambda: model.forget(X, y)):
        with pytest.raises(AttributeError, match="keeps no statistic"):
            act()


def test_sparse_rows_with_too_many_of_both_are_taken_step_by_step(monkeypatch):
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    monkeypatch.setattr(least_squares, "ROWS_WITH_DUAL", 10)
    X = sp.random(300, 60, 0.05, format="csr", random_state=0)
    y = np.arange(300.0) % 7
    model = LinearRegression(tol=1e-12).fit(X, y)
    assert model.solver_ == "lsmr"
    expected = LinearRegression().fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    with pytest.warns(ConvergenceWarning, match=r"iterations the gradient is .* use Ridge"):
        positive = LinearRegression(tol=1e-12, positive=True).fit(X, y)
    assert positive.stop_reason_ == "no_progress"
    expected = LinearRegression(positive=True).fit(X.toarray(), y)
    np.testing.assert_allclose(positive.coef_, expected.coef_, rtol=1e-5, atol=1e-6)


@given(cut=st.integers(6, 119), seed=st.integers(0, 20), fit_intercept=st.booleans())
def test_merge_forget_and_batches_equal_a_refit(cut, seed, fit_intercept):
    X, y = table(seed=seed)
    fresh = lambda: LinearRegression(fit_intercept=fit_intercept)  # noqa: E731
    whole = fresh().fit(X, y)
    stream = fresh()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # there are few rows at first
        for rows in np.split(np.arange(len(X)), [1, cut]):
            stream.partial_fit(X[rows], y[rows])
        pieces = [fresh().fit(X[s], y[s]) for s in (slice(cut), slice(cut, None))]
        together = pieces[0].merge(pieces[1])
    for model in (stream, together):
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_, whole.intercept_, rtol=1e-9, atol=1e-12)
    left = stream.forget(X[:5], y[:5])
    expected = fresh().fit(X[5:], y[5:])
    np.testing.assert_allclose(left.coef_, expected.coef_, rtol=1e-8, atol=1e-12)


@given(weights=st.lists(st.integers(0, 3), min_size=30, max_size=30).filter(lambda w: sum(w) > 15))
def test_an_integer_weight_equals_repetition_and_order_does_not_matter(weights):
    X, y = table(n=30, d=3)
    model = LinearRegression().fit(X, y, weights)
    rows = np.random.default_rng(sum(weights)).permutation(np.repeat(np.arange(30), weights))
    again = LinearRegression().fit(X[rows], y[rows])
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-8, atol=1e-10)
    assert model.solution_ == again.solution_


def test_float32_in_and_out_with_sums_in_doubles():
    X, y = table()
    model = LinearRegression().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    exact = LinearRegression().fit(X.astype(np.float32).astype(np.float64), y)
    np.testing.assert_array_equal(model.coef_, exact.coef_.astype(np.float32))


def test_statistics_know_whether_targets_stood_in_a_column():
    X, y = table(t=1)
    model = LinearRegression().fit(X, y)
    again = LinearRegression.from_statistics(Gram.from_arrays(model.statistics_.arrays()))
    assert again.coef_.shape == model.coef_.shape == (1, 4)
    assert LinearRegression.from_statistics(Gram.of(X, y[:, 0])).coef_.shape == (4,)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (["a"] * 120, ValueError, r"y must hold numbers; got <U1, such as .*'a'.*classifier"),
        (np.full(120, np.nan), ValueError, "Input y contains NaN"),
        (np.zeros((120, 2, 2)), ValueError, "dim"),
        (np.zeros(7), ValueError, r"inconsistent numbers of samples: X has 120 rows and y has 7"),
        (None, ValueError, "requires y to be passed"),
        (sp.csr_matrix(np.ones((120, 1))), TypeError, "y must be dense"),
    ],
)
def test_targets_of_another_kind_are_refused(y, error, message):
    with pytest.raises(error, match=message):
        LinearRegression().fit(table()[0], y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(value, monkeypatch):
    X, y = table()
    X[3, 2] = value
    with pytest.raises(ValueError, match="Input X contains"):
        LinearRegression().fit(X, y)
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 1)
    with pytest.raises(ValueError, match="Input X contains"):
        LinearRegression().fit(X[:4].T[:3], y[:3])


def test_numbers_too_large_to_be_squared_and_weights_of_zero_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match=r"Feature 2 holds .* squares are too large"):
        LinearRegression().fit(X * [1, 1, 1e160, 1], y)
    with pytest.raises(ValueError, match=r"Target 1 holds .* too large for 64 bits; rescale it"):
        LinearRegression().fit(X, np.column_stack([y, y * 1e160]))
    with pytest.raises(ValueError, match="at least one non-zero"):
        LinearRegression().fit(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="statistic of no rows"):
        LinearRegression.from_statistics(Gram.zero(3))


@pytest.mark.filterwarnings("ignore:.*minimum norm:scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("degree", [7, 9, 12, 15])
def test_powers_of_a_column_fit_as_well_in_any_units(degree):
    x = np.linspace(68, 455, 300)
    y = np.sin(x / 60) + x / 200
    raw = x[:, None] ** np.arange(1, degree + 1)
    scaled = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    in_units, in_deviations = LinearRegression().fit(raw, y), LinearRegression().fit(scaled, y)
    assert in_units.rank_ == in_deviations.rank_
    assert in_units.score(raw, y) == pytest.approx(in_deviations.score(scaled, y), abs=1e-9)
    fewer = LinearRegression().fit(raw[:, :5], y).score(raw[:, :5], y)
    assert in_units.score(raw, y) >= fewer - 1e-3


def test_what_tol_leaves_out_is_told():
    x = np.linspace(0, 1, 200)
    X = np.column_stack([x, x + 1e-7 * np.sin(40 * x)])
    with pytest.warns(LinAlgWarning, match=r"tol=1e-06 leaves out would explain .*% more"):
        LinearRegression().fit(X, x + np.sin(40 * x))
    assert LinearRegression(tol=1e-12).fit(X, x + np.sin(40 * x)).rank_ == 2


@pytest.mark.filterwarnings("ignore:.*minimum norm:scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("narrow", [1.0, 1e-9])
def test_a_few_wide_rows_are_solved_by_their_products_unless_these_lose_digits(narrow):
    rng = np.random.RandomState(3)
    X, y = rng.standard_normal((20, 3000)), rng.standard_normal(20)
    X[1] = X[0] + narrow * X[1]
    model = LinearRegression(tol=1e-12).fit(X, y)
    expected = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=1e-13)[0]
    np.testing.assert_allclose(model.coef_, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    assert (model.solver_, model.rank_) == ("eigen" if narrow == 1 else "svd", 19)
