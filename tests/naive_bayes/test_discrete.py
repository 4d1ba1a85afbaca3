"""Naive Bayes of presence, counts and categories: exact, additive, and as scikit-learn's."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as theirs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from sklearn.base import clone

import rosenblatt.naive_bayes as ours
from rosenblatt.naive_bayes import linear_scores
from tests.reference import naive_bayes as reference

MODELS = ("BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB")
GENERATIVE = ("BernoulliNB", "CategoricalNB", "MultinomialNB")
SPARSE = ("BernoulliNB", "ComplementNB", "MultinomialNB")
each_model = pytest.mark.parametrize("name", MODELS)
alphas = st.sampled_from([0, 0.25, 1, 100, math.inf])


@st.composite
def tables(draw, least=2, largest=2):
    n = draw(st.integers(least, 12))
    X = draw(nps.arrays(np.int64, (n, 3), elements=st.integers(0, largest)))
    y = draw(nps.arrays(np.int64, n, elements=st.integers(0, 2)))
    X[0] = largest  # all categories occur, and all classes have tokens
    return X, y


def same(a, b):
    """Whether two models hold the same bits."""
    names = ("class_log_prior_", "classes_", "feature_log_prob_", "n_parameters_")
    pairs = [(getattr(a, name), getattr(b, name)) for name in names]
    return a.statistics_ == b.statistics_ and all(
        len(p) == len(q) and all(map(np.array_equal, p, q))
        if isinstance(p, list)
        else np.array_equal(p, q)
        for p, q in pairs
    )


def posterior(joint):
    total = sum(joint.values())
    return [float(value / total) for value in joint.values()] if total else None


@given(tables(largest=1), nps.arrays(np.int64, 3, elements=st.integers(0, 1)), alphas)
def test_bernoulli_equals_the_product_of_fractions(table, x, alpha):
    # F2: on/off features
    X, y = table
    expected = posterior(reference.bernoulli(X.tolist(), y.tolist(), x.tolist(), alpha))
    if expected is not None:
        model = ours.BernoulliNB(alpha=alpha).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([x])[0], expected, rtol=1e-9, atol=1e-300)


@given(tables(), nps.arrays(np.int64, 3, elements=st.integers(0, 2)), alphas)
def test_multinomial_equals_the_product_of_fractions(table, x, alpha):
    # F4: word counts
    X, y = table
    expected = posterior(reference.multinomial(X.tolist(), y.tolist(), x.tolist(), alpha))
    if expected is not None:
        model = ours.MultinomialNB(alpha=alpha).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([x])[0], expected, rtol=1e-9, atol=1e-300)


@given(tables(), nps.arrays(np.int64, 3, elements=st.integers(0, 2)), alphas)
def test_categorical_equals_the_product_of_fractions(table, x, alpha):
    # F3: features with several values
    X, y = table
    joint = reference.categorical(X.tolist(), y.tolist(), x.tolist(), alpha, [3] * 3)
    expected = posterior(joint)
    if expected is not None:
        model = ours.CategoricalNB(alpha=alpha).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([x])[0], expected, rtol=1e-9, atol=1e-300)


@each_model
@given(table=tables(), alpha=st.sampled_from([0.25, 1, 3]), weighted=st.booleans())
def test_it_agrees_with_scikit_learn(name, table, alpha, weighted):
    X, y = table
    weight = np.linspace(0.5, 2, len(y)) if weighted else None
    mine = getattr(ours, name)(alpha=alpha).fit(X, y, weight)
    other = getattr(theirs, name)(alpha=alpha).fit(X, y, weight)
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(mine.class_count_, other.class_count_)
    for a, b in zip(mine.feature_log_prob_, other.feature_log_prob_, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    counts = "category_count_" if name == "CategoricalNB" else "feature_count_"
    for a, b in zip(getattr(mine, counts), getattr(other, counts), strict=True):
        np.testing.assert_allclose(a, b)


@each_model
@given(table=tables(least=4), cut=st.integers(1, 3), alpha=st.sampled_from([0, 1, math.inf]))
def test_merging_streaming_and_forgetting_equal_a_refit_to_the_bit(name, table, cut, alpha):
    # F8: counting as the data arrives
    X, y = table
    model = getattr(ours, name)(alpha=alpha)
    whole = clone(model).fit(X, y)
    first, second = clone(model).fit(X[:cut], y[:cut]), clone(model).fit(X[cut:], y[cut:])
    assert same(clone(first).fit(X[:cut], y[:cut]).merge(second), whole)
    assert same(clone(model).fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:]), whole)
    assert same(whole.forget(X[cut:], y[cut:]), first)
    assert same(type(model).from_statistics(first.statistics_, alpha=alpha), first)


@each_model
@given(table=tables())
def test_weights_equal_repetition(name, table):
    X, y = table
    weight = np.arange(len(y)) % 3
    weighted = getattr(ours, name)().fit(X, y, weight)
    repeated = getattr(ours, name)().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for a, b in zip(weighted.feature_log_prob_, repeated.feature_log_prob_, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(weighted.class_log_prior_, repeated.class_log_prior_)


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_sparse_rows_by_the_loop_and_by_scipy_score_as_dense_ones(
    name, alpha, n_classes, dtype, monkeypatch
):
    rng = np.random.RandomState(0)
    X = rng.poisson(0.4, (90, 12)).astype(dtype)
    y = rng.randint(n_classes, size=90)
    model = getattr(ours, name)(alpha=alpha).fit(X, y)
    sparse = sp.csr_matrix(X)
    assert same(getattr(ours, name)(alpha=alpha).fit(sparse, y), model)
    expected = model.predict_joint_log_proba(X)
    for small in (linear_scores.SMALL_PRODUCT, 0):
        monkeypatch.setattr(linear_scores, "SMALL_PRODUCT", small)
        np.testing.assert_allclose(model.predict_joint_log_proba(sparse), expected, rtol=1e-5)
        assert np.array_equal(model.predict(sparse), model.predict(X))
        np.testing.assert_allclose(
            model.predict_proba(sparse), model.predict_proba(X), rtol=1e-3, atol=1e-6
        )


@pytest.mark.parametrize("name", GENERATIVE)
def test_an_impossible_row_gets_the_shares_and_a_warning(name):
    # F1: where every joint is zero the posterior is undefined
    model = getattr(ours, name)(alpha=0).fit([[0, 1], [0, 1], [1, 0]], ["a", "a", "b"])
    row = [[1, 1]]
    with pytest.warns(UserWarning, match="1 of 1 rows have probability zero in every class"):
        np.testing.assert_allclose(model.predict_proba(row), [[2 / 3, 1 / 3]])
    with pytest.warns(UserWarning, match="probability zero"):
        assert model.predict(row) == ["a"]
    assert model.score_samples(row) == -np.inf
    explanation = model.explain(row)
    assert explanation.winner == "a"
    assert explanation.log_odds == explanation.start == pytest.approx(math.log(2))


@pytest.mark.parametrize("name", MODELS)
def test_an_explanation_adds_up_to_the_log_odds(name):
    rng = np.random.RandomState(0)
    X, y = rng.randint(3, size=(60, 5)), rng.randint(3, size=60)
    model = getattr(ours, name)().fit(X, y)
    explanation = model.explain(X[0])
    log_proba = dict(zip(model.classes_, model.predict_log_proba(X[:1])[0], strict=True))
    assert explanation.winner == model.predict(X[:1])[0]
    odds = log_proba[explanation.winner] - log_proba[explanation.rival]
    assert explanation.log_odds == pytest.approx(odds)
    assert explanation.start + explanation.contributions.sum() == pytest.approx(odds)


@pytest.mark.parametrize("name", GENERATIVE)
def test_samples_follow_the_model_they_are_drawn_from(name):
    rng = np.random.RandomState(0)
    X, y = rng.randint(3, size=(80, 3)), rng.randint(2, size=80)
    model = getattr(ours, name)().fit(X, y)
    rows, labels = model.sample(20_000, random_state=0)
    again = clone(model).fit(rows, labels)
    assert np.array_equal(rows, model.sample(20_000, random_state=0)[0])
    np.testing.assert_allclose(again.class_log_prior_, model.class_log_prior_, atol=0.05)
    for a, b in zip(again.feature_log_prob_, model.feature_log_prob_, strict=True):
        np.testing.assert_allclose(np.exp(a), np.exp(b), atol=0.02)


@pytest.mark.parametrize("name", GENERATIVE)
def test_probabilities_of_all_rows_sum_to_one(name):
    X, y = [[0, 1], [1, 1], [1, 0], [0, 1]], [0, 1, 1, 0]
    model = getattr(ours, name)().fit(X, y)
    # For counts, all sequences of two tokens: 11, 12, 21, 22.
    rows = [[2, 0], [1, 1], [1, 1], [0, 2]]
    rows = rows if name == "MultinomialNB" else [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert np.exp(model.score_samples(rows)).sum() == pytest.approx(1)


@pytest.mark.parametrize("name", MODELS)
def test_alpha_for_each_feature(name):
    X, y = np.array([[0, 1, 2], [2, 1, 0], [1, 2, 2]]), [0, 0, 1]
    one, each = (getattr(ours, name)(alpha=a).fit(X, y) for a in (2.0, [2.0, 2.0, 2.0]))
    for a, b in zip(one.feature_log_prob_, each.feature_log_prob_, strict=True):
        assert np.array_equal(a, b)
    with pytest.raises(ValueError, match="alpha is an array"):
        getattr(ours, name)(alpha=[1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match=r"must be >= 0; got -1.0"):
        getattr(ours, name)(alpha=[1.0, 2.0, -1.0]).fit(X, y)
    with pytest.warns(UserWarning, match="alpha too small"):
        getattr(ours, name)(alpha=0, force_alpha=False).fit(X, y)


def test_classes_promised_but_not_seen_are_impossible_and_then_learned():
    model = ours.MultinomialNB().partial_fit([[1, 0]], ["a"], classes=["a", "b"])
    assert model.predict_proba([[0, 1]]).tolist() == [[1, 0]]
    model.partial_fit([[0, 1]], ["b"]).partial_fit([[0, 1]], ["c"])
    assert model.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "GaussianNB"])
def test_labels_that_classes_given_with_them_lack_are_refused(name):
    model = getattr(ours, name)().fit([[1, 0], [0, 1]], ["a", "b"])
    with pytest.raises(ValueError, match=r"\['c'\] in y do not exist in the initial classes"):
        model.partial_fit([[1, 1]], ["c"], classes=["a", "b", "d"])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.partial_fit([[1, 1]], ["c"]).classes_.tolist() == ["a", "b", "c"]


def test_a_beta_prior_adds_flips_of_its_own_to_each_feature():
    X, y = [[1, 0], [1, 1], [1, 0], [0, 1], [0, 0]], [0] * 5
    prior = [[5, 2], [1, 2]]
    model = ours.BernoulliNB(beta_prior=prior).fit(X, y)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[7 / 9, 3 / 7]])  # DC05 and (2,2)
    flat = ours.BernoulliNB(beta_prior=(1, 1)).fit(X, y)
    np.testing.assert_allclose(np.exp(flat.feature_log_prob_), [[0.6, 0.4]])
    with pytest.raises(ValueError, match="beta_prior must be two numbers >= 1"):
        ours.BernoulliNB(beta_prior=(0.5, 1)).fit(X, y)


def test_presence_stored_in_two_parts_is_one_presence():
    twice = sp.csr_matrix((np.ones(3), [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    model = ours.BernoulliNB().fit(twice, [0, 1])
    assert np.array_equal(model.feature_count_, [[1, 0], [0, 1]])
    assert np.array_equal(model.predict_proba(twice), model.predict_proba(twice.toarray()))


def test_binarize_none_takes_zeros_and_ones_only():
    X, y = np.array([[0, 1], [1, 1]]), [0, 1]
    plain, given_ = ours.BernoulliNB(binarize=None).fit(X, y), ours.BernoulliNB().fit(X, y)
    assert np.array_equal(plain.feature_log_prob_, given_.feature_log_prob_)
    with pytest.raises(ValueError, match="0 and 1 when binarize is None; got 2"):
        ours.BernoulliNB(binarize=None).fit(2 * X, y)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_negative_counts_are_refused(name, storage):
    X = storage(np.array([[1.0, 2.0], [0.0, 1.0]]))
    model = getattr(ours, name)().fit(X, [0, 1])
    with pytest.raises(ValueError, match="Negative values in data"):
        model.predict(-X)
    before = model.statistics_
    with pytest.raises(ValueError, match="Negative values in data"):
        model.partial_fit(-X, [0, 1])
    assert model.statistics_ is before


def test_complement_without_smoothing_takes_the_limit():
    X, y = [[3, 0, 1], [0, 2, 1], [1, 1, 0]], ["a", "b", "c"]
    tiny, none = (ours.ComplementNB(alpha=a).fit(X[:2], y[:2]) for a in (1e-200, 0))
    rows = [[1, 0, 0], [0, 1, 0], [2, 1, 0], [0, 0, 3]]
    assert np.array_equal(tiny.predict(rows), none.predict(rows))
    assert np.isfinite(none.predict_proba(rows)).all()
    normed = [ours.ComplementNB(alpha=a, norm=True).fit(X[:2], y[:2]) for a in (1e-300, 0)]
    weights = [model.feature_log_prob_ for model in normed]
    np.testing.assert_allclose(*weights, atol=0.01)
    assert not hasattr(none, "score_samples")


def test_words_and_numbers_side_by_side():
    X = [["sun", 1], ["rain", 0], ["fog", 1]]
    model = ours.CategoricalNB(min_categories=[5, 2]).fit(X, ["go", "stay", "stay"])
    assert model.categories_[0].tolist() == ["fog", "rain", "sun"]
    assert model.categories_[1].tolist() == [0, 1]
    assert model.n_categories_.tolist() == [5, 2]
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]).sum(axis=1), 1)
    assert model.n_parameters_ == 2 * (4 + 1) + 1
    rows, _ = model.sample(5, random_state=0)
    assert set(rows[:, 0]) <= {"fog", "rain", "sun"}


def test_an_unknown_value_is_refused_by_name_or_scored_as_never_seen():
    model = ours.CategoricalNB().fit([["sun"], ["rain"], ["sun"]], [0, 1, 1])
    with pytest.raises(IndexError, match=r"Feature 0 has a value that no row had.*'snow'"):
        model.predict([["snow"]])
    model.set_params(unknown="smooth")
    # alpha / (n + alpha m), the values of a class never seen in it: 1/3 and 1/4
    np.testing.assert_allclose(
        np.exp(model.predict_joint_log_proba([["snow"]])), [[1 / 3 * 1 / 3, 2 / 3 * 1 / 4]]
    )


def test_missing_values_are_left_out_of_counts_and_products():
    X = [["sun", 1.0], [None, 0.0], ["rain", np.nan]]
    with pytest.raises(ValueError, match="missing='ignore'"):
        ours.CategoricalNB().fit(X, [0, 0, 1])
    model = ours.CategoricalNB(missing="ignore").fit(X, [0, 0, 1])
    assert model.category_count_[0].sum() == 2
    np.testing.assert_allclose(model.predict_proba([[None, None]]), [[2 / 3, 1 / 3]])
    numbers = ours.CategoricalNB(missing="ignore").fit([[0, np.nan], [1, 1], [1, 0]], [0, 0, 1])
    assert numbers.category_count_[1].tolist() == [[0, 1], [1, 0]]


def test_words_mixed_with_numbers_in_one_feature_are_refused():
    with pytest.raises(ValueError, match="Feature 0 holds words and numbers"):
        ours.CategoricalNB().fit([["sun"], [1]], [0, 1])


def test_decision_regions_of_counts_are_convex():
    """T13: what is decided at two points is decided between them, for linear discriminants."""
    rng = np.random.RandomState(0)
    X, y = rng.poisson(2.0, (200, 4)), rng.randint(5, size=200)
    model = ours.MultinomialNB().fit(X, y)
    a, b = rng.poisson(3.0, (2, 4000, 4))
    alike = model.predict(a) == model.predict(b)
    assert alike.any()
    for t in (0.25, 0.5, 0.75):
        between = model.predict(t * a[alike] + (1 - t) * b[alike])
        assert np.array_equal(between, model.predict(a[alike]))


def test_prediction_of_small_tables_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ours.BernoulliNB(alpha=0).fit(np.eye(4), [0, 0, 1, 1])
        model.predict_proba(np.eye(4))


@each_model
@pytest.mark.parametrize("alpha", [1e300, 1e308, 1.7e308])
def test_smoothing_near_the_end_of_doubles_is_as_infinite(name, alpha):
    """Sums of counts and smoothing were infinite, and probabilities NaN."""
    X, y = np.arange(24).reshape(8, 3) % 2, np.arange(8) % 2
    large, infinite = (
        getattr(ours, name)(alpha=a).fit(X, y).predict_proba(X) for a in (alpha, np.inf)
    )
    np.testing.assert_allclose(large, infinite, rtol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_explain_speaks_of_the_predicted_class(K):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(2, (60, 5)), np.arange(60) % K
    for name in MODELS:
        for settings in ({"norm": True}, {}) if name == "ComplementNB" else ({},):
            model = getattr(ours, name)(**settings).fit(X, y)
            explained = [model.explain(x).winner for x in X]
            np.testing.assert_array_equal(explained, model.predict(X))
