"""Missing values in naive Bayes of presence and counts: left out of counts and of products."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from sklearn.base import clone

import rosenblatt.naive_bayes as ours
from rosenblatt.naive_bayes import linear_scores
from tests.reference import naive_bayes as reference

MODELS = ("BernoulliNB", "ComplementNB", "MultinomialNB")
each_model = pytest.mark.parametrize("name", MODELS)
GAP = -1


def make(name, **parameters):
    return getattr(ours, name)(missing="ignore", **parameters)


def with_gaps(X):
    """Doubles, NaN in the place of -1."""
    return np.where(X == GAP, np.nan, X)


def stored(X):
    """CSR in which NaN is stored."""
    return sp.csr_matrix(np.asarray(X, float))


def listed(X):
    """Lists, None in the place of -1."""
    return [[None if v == GAP else int(v) for v in row] for row in np.atleast_2d(X)]


@st.composite
def tables(draw, largest):
    n = draw(st.integers(2, 10))
    X = draw(nps.arrays(np.int64, (n, 3), elements=st.integers(GAP, largest)))
    y = draw(nps.arrays(np.int64, n, elements=st.integers(0, 2)))
    x = draw(nps.arrays(np.int64, 3, elements=st.integers(GAP, largest)))
    return X, y, x


def expected(joint):
    total = sum(joint.values())
    return [float(value / total) for value in joint.values()] if total else None


@pytest.mark.parametrize("storage", [np.asarray, stored])
@given(table=tables(1), alpha=st.sampled_from([0, 0.25, 1, math.inf]))
def test_bernoulli_equals_the_product_of_the_fractions_that_are_known(storage, table, alpha):
    X, y, x = table
    wanted = expected(reference.bernoulli(listed(X), y.tolist(), listed(x)[0], alpha))
    model = make("BernoulliNB", alpha=alpha).fit(storage(with_gaps(X)), y)
    if wanted is not None:
        found = model.predict_proba(storage(with_gaps(x[None])))[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("storage", [np.asarray, stored])
@given(table=tables(2), alpha=st.sampled_from([0, 0.25, 1, math.inf]))
def test_multinomial_equals_the_product_of_the_tokens_that_are_known(storage, table, alpha):
    X, y, x = table
    wanted = expected(reference.multinomial(listed(X), y.tolist(), listed(x)[0], alpha))
    model = make("MultinomialNB", alpha=alpha).fit(storage(with_gaps(X)), y)
    if wanted is not None:
        found = model.predict_proba(storage(with_gaps(x[None])))[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-300)


@pytest.fixture
def table():
    rng = np.random.RandomState(0)
    X = rng.poisson(0.7, (200, 6)).astype(float)
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    return X, rng.randint(3, size=200)


@each_model
@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stored_gaps_by_the_loop_and_by_scipy_score_as_dense_ones(
    name, alpha, n_classes, table, monkeypatch
):
    X, y = table[0], table[1] % n_classes
    model, sparse = make(name, alpha=alpha).fit(X, y), stored(X)
    assert make(name, alpha=alpha).fit(sparse, y).statistics_ == model.statistics_
    wanted = model.predict_joint_log_proba(X)
    for small in (linear_scores.SMALL_PRODUCT, 0):
        monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", small)
        np.testing.assert_allclose(model.predict_joint_log_proba(sparse), wanted, rtol=1e-9)
        assert np.array_equal(model.predict(sparse), model.predict(X))


@each_model
def test_without_gaps_it_is_the_same_model(name, table):
    X, y = np.nan_to_num(table[0]), table[1]
    plain, other = getattr(ours, name)().fit(X, y), make(name).fit(X, y)
    assert np.array_equal(plain.feature_log_prob_, other.feature_log_prob_)
    assert np.array_equal(plain.predict_proba(X), other.predict_proba(X))


@each_model
@pytest.mark.parametrize("weighted", [False, True])
def test_gaps_stream_merge_and_are_forgotten(name, weighted, table):
    X, y = table
    w = np.arange(len(y)) % 3 + 1 if weighted else np.ones(len(y))
    whole, model = make(name).fit(X, y, w), make(name)
    first = clone(model).fit(X[:90], y[:90], w[:90])
    second = clone(model).fit(X[90:], y[90:], w[90:])
    assert clone(model).fit(X[:90], y[:90], w[:90]).merge(second).statistics_ == whole.statistics_
    assert whole.forget(X[90:], y[90:], w[90:]).statistics_ == first.statistics_
    known = make(name).fit([[1.0], [1.0]], [0, 0])
    with pytest.raises(ValueError, match="would be left with -1 rows where it is missing"):
        known.forget([[np.nan]], [0])


@each_model
def test_a_row_of_gaps_is_judged_by_the_shares_alone(name, table):
    model = make(name).fit(*table)
    found = model.predict_proba(np.full((1, 6), np.nan))[0]
    shares = [1 / 3] * 3 if name == "ComplementNB" else np.exp(model.class_log_prior_)
    np.testing.assert_allclose(found, shares)
    explanation = model.explain(np.full(6, np.nan))
    assert not explanation.contributions.any()


@each_model
def test_an_explanation_with_gaps_adds_up(name, table):
    X, y = table
    model = make(name).fit(X, y)
    row = X[np.isnan(X).any(axis=1)][0]
    told = model.explain(row)
    odds = dict(zip(model.classes_, model.predict_log_proba([row])[0], strict=True))
    assert told.log_odds == pytest.approx(odds[told.winner] - odds[told.rival])
    assert not told.contributions[np.isnan(row)].any()


@each_model
@pytest.mark.parametrize("storage", [np.asarray, stored])
def test_by_default_a_gap_is_refused_and_the_parameter_named(name, storage, table):
    X, y = table
    model = getattr(ours, name)()
    with pytest.raises(ValueError, match="Input X contains NaN; missing='ignore' leaves"):
        model.fit(storage(X), y)
    model.fit(storage(np.nan_to_num(X)), y)
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match="Input X contains NaN; missing='ignore' leaves"):
            ask(storage(X))
    with pytest.raises(ValueError, match="contains infinity"):
        make(name).fit(storage(np.nan_to_num(X)), y).predict(storage(np.full((1, 6), np.inf)))
    with pytest.raises(ValueError, match="infinity"):
        make(name).fit(storage(np.where(X == 1, np.inf, X)), y)


@each_model
def test_a_number_and_a_gap_in_one_place_are_missing(name):
    twice = sp.csr_matrix((np.array([1.0, np.nan, 1.0]), [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    model = make(name).fit(twice, [0, 1])
    assert model.feature_count_.tolist() == [[0, 0], [0, 1]]
    assert model.statistics_.feature_weight.tolist() == [[0, 1], [1, 1]]
    dense = [[np.nan, 0], [0, 1]]
    assert np.array_equal(model.predict_proba(twice), model.predict_proba(dense))


def test_partly_present_features_may_be_missing_too():
    X, y = np.array([[0.5, np.nan], [1.0, 1.0], [np.nan, 0.25]]), [0, 0, 1]
    model = make("BernoulliNB", binarize=None).fit(X, y)
    assert model.feature_count_.tolist() == [[1.5, 1.0], [0.0, 0.25]]
    with pytest.raises(ValueError, match="0 and 1 when binarize is None; got 2"):
        make("BernoulliNB", binarize=None).fit(2 * X, y)
