"""A kernel density for each feature: as SciPy's, additive, and of any shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gaussian_kde

from rosenblatt import GaussianNB, MixedNB, certify
from rosenblatt.naive_bayes import column_kinds


def two_humps(n=200, seed=0):
    """A class with two humps around another in the middle, and a column that says nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    side = rng.choice([-3.0, 3.0], n)
    X = np.column_stack([rng.normal(np.where(y == 0, 0, side), 0.7), rng.normal(size=n)])
    return X.round(2), np.array(["mid", "out"])[y]


def model(**parameters):
    return MixedNB(kinds=["density"] * 2, **parameters)


def assert_same(a, b):
    np.testing.assert_allclose(a.bandwidth_, b.bandwidth_, rtol=1e-12)  # of moments
    np.testing.assert_array_equal(a.class_log_prior_, b.class_log_prior_)
    for name in ("points_", "point_weight_"):
        for mine, other in zip(getattr(a, name), getattr(b, name), strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_it_is_scipys_density_of_each_feature(rule):
    # F6: mixed kinds of column; densities per feature
    X, y = two_humps()
    fitted, rows = model(bandwidth=rule).fit(X, y), np.array([[0.1, -0.3], [5.0, 40.0]])
    for k, label in enumerate(fitted.classes_):
        expected = np.log(0.5)
        for j in range(2):
            expected = expected + gaussian_kde(X[y == label, j], rule).logpdf(rows[:, j])
        np.testing.assert_allclose(fitted.predict_joint_log_proba(rows)[:, k], expected, rtol=1e-9)


def test_it_sees_what_a_gaussian_cannot():
    X, y = two_humps(400)
    train, test = slice(0, 300), slice(300, None)
    assert model().fit(X[train], y[train]).score(X[test], y[test]) > 0.95
    shared = GaussianNB(variance="feature").fit(X[train], y[train])
    assert shared.score(X[test], y[test]) < 0.7  # the means are the same


def test_each_density_has_area_one():
    X, y = two_humps(20)
    fitted = MixedNB(kinds=["density"]).fit(X[:, :1], y)
    area, _ = quad(lambda v: np.exp(fitted.score_samples([[v]])[0]), -40, 40, limit=400)
    assert area == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 1000), st.integers(2, 28))
def test_batches_merging_and_forgetting_equal_a_refit_to_the_bit(seed, cut):
    X, y = two_humps(30, seed)
    whole, first = model().fit(X, y), model().fit(X[:cut], y[:cut])
    assert_same(model().fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:]), whole)
    assert_same(model().fit(X[:cut], y[:cut]).merge(model().fit(X[cut:], y[cut:])), whole)
    assert_same(model().fit(X, y).forget(X[cut:], y[cut:]), first)


def test_whole_weights_are_repetition():
    X, y = two_humps(40)
    w = np.arange(40) % 3
    assert_same(model().fit(X, y, w), model().fit(np.repeat(X, w, axis=0), np.repeat(y, w)))


def test_a_row_that_was_never_there_cannot_be_forgotten():
    X, y = two_humps(40)
    fitted = model().fit(X, y)
    before = fitted.statistics_
    with pytest.raises(ValueError, match="Cannot remove these rows"):
        fitted.forget([[0.123456, 0.0]], ["mid"])
    assert fitted.statistics_ is before


def test_a_sample_has_the_density_it_was_drawn_from():
    X, y = two_humps()
    rows, labels = model(bandwidth=0.3).fit(X, y).sample(20_000, random_state=0)
    out = rows[labels == "out", 0].astype(float)
    assert np.mean(np.abs(out) > 1.5) > 0.9
    np.testing.assert_allclose(out.mean(), X[y == "out", 0].mean(), atol=0.1)


def test_values_missing_and_values_that_do_not_vary():
    X = np.array([[1.0, np.nan], [1.0, np.nan], [2.0, 5.0], [4.0, 5.0]])
    fitted = model().fit(X, [0, 0, 1, 1])
    everyone = column_kinds.bandwidths(np.array([1.0, 2.0, 4.0]), np.array([[2.0, 1, 1]]), "scott")
    assert fitted.bandwidth_[0, 0] == everyone[0]  # the first class does not vary
    assert fitted.bandwidth_[:, 1].tolist() == [1, 1]  # nothing in that column does
    np.testing.assert_array_equal(fitted.point_weight_[1][0], [2.0])  # unknown: as all the data
    np.testing.assert_allclose(fitted.predict_proba([[np.nan, np.nan]]), [[0.5, 0.5]])
    told = fitted.explain([[1.2, np.nan]])
    assert told.contributions[1] == 0
    assert np.isfinite(fitted.predict_proba([[1e6, -1e6]])).all()


def test_many_rows_are_scored_in_pieces(monkeypatch):
    X, y = two_humps()
    fitted = model().fit(X, y)
    whole = fitted.predict_joint_log_proba(X)
    monkeypatch.setattr(column_kinds, "CELLS_AT_ONCE", 1000)
    assert np.array_equal(fitted.predict_joint_log_proba(X), whole)


def test_the_bandwidth_is_a_rule_or_a_positive_number():
    X, y = two_humps(40)
    assert (model(bandwidth=0.3).fit(X, y).bandwidth_ == 0.3).all()
    for wrong in (0, -1.0, "wide"):
        with pytest.raises(ValueError, match="'bandwidth' parameter"):
            model(bandwidth=wrong).fit(X, y)


def test_its_numbers_are_certified():
    X, y = two_humps(60)
    fitted = model().fit(X, y)
    assert certify(fitted, X, y).holds, str(certify(fitted, X, y))
