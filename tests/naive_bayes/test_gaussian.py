"""Gaussian naive Bayes: scikit-learn's numbers, four kinds of variance, streams, gaps, extremes."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from rosenblatt import GaussianNB
from rosenblatt.naive_bayes import base, gaussian
from rosenblatt.runtime import threads
from tests.reference import gaussian as reference

VARIANCES = ["class-feature", "feature", "class", "single"]
LEARNED = ["theta_", "var_", "class_count_", "class_prior_"]


def problem(n=60, d=4, K=3, seed=0, far=0.0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 3, d) + y[:, None] + far
    return X, np.array(["a", "b", "c", "d"])[y]


def assert_same(a, b, rtol=1e-9):
    assert np.array_equal(a.classes_, b.classes_)
    for name in (*LEARNED, "epsilon_", "n_parameters_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, err_msg=name)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_it_agrees_with_scikit_learn_on_real_data(load):
    X, y = load(return_X_y=True)
    ours, theirs = GaussianNB().fit(X, y), TheirGaussianNB().fit(X, y)
    for name in (*LEARNED, "epsilon_", "classes_", "n_features_in_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    for method in ("predict_proba", "predict_joint_log_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), atol=1e-7)


@given(seed=st.integers(0, 10**6), K=st.integers(1, 4), smoothing=st.sampled_from([0, 1e-9, 0.1]))
def test_it_agrees_with_scikit_learn_on_random_data(seed, K, smoothing):
    X, y = problem(n=12 * K, K=K, seed=seed)
    ours = GaussianNB(var_smoothing=smoothing).fit(X, y)
    theirs = TheirGaussianNB(var_smoothing=smoothing).fit(X, y)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("ddof", [0, 1])
def test_variances_are_shared_as_the_textbook_says(variance, ddof):
    # F5: Gaussian features and four ways to share a variance
    X, y = problem()
    alike = {
        "class-feature": lambda k, j: (k, j),
        "feature": lambda k, j: j,
        "class": lambda k, j: k,
        "single": lambda k, j: None,
    }[variance]
    model = GaussianNB(variance=variance, ddof=ddof, var_smoothing=0).fit(X, y)
    expected = reference.variances(X.tolist(), y.tolist(), alike, ddof)
    np.testing.assert_allclose(model.var_, expected, rtol=1e-12)
    joint = reference.joint(X, model.class_prior_, model.theta_, model.var_)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)


@pytest.mark.parametrize("variance", VARIANCES)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 40), max_size=4))
def test_any_batches_give_one_fit(variance, seed, cuts):
    X, y = problem(n=40, seed=seed, far=1e6)
    model, bounds = GaussianNB(variance=variance), [0, *sorted(cuts), 40]
    for start, stop in itertools.pairwise(bounds):
        if stop > start:
            model.partial_fit(X[start:stop], y[start:stop])
    assert_same(model, GaussianNB(variance=variance).fit(X, y))


# Two rows of a class may be left that nearly coincide: the bound is on the safe side of what it is.
@pytest.mark.filterwarnings("ignore:What is left may be off")
@pytest.mark.parametrize("variance", VARIANCES)
@given(seed=st.integers(0, 10**6), cut=st.integers(3, 37))
def test_merging_and_forgetting_equal_a_refit(variance, seed, cut):
    X, y = problem(n=40, seed=seed, far=1e6)
    X[cut:, 0] += 100  # what goes is larger than what stays
    make = lambda: GaussianNB(variance=variance)  # noqa: E731
    first, second = make().fit(X[:cut], y[:cut]), make().fit(X[cut:], y[cut:])
    whole = make().fit(X, y)
    assert_same(make().fit(X[:cut], y[:cut]).merge(second), whole)
    left = whole.forget(X[cut:], y[cut:])
    assert_same(left, first, rtol=max(1e-9, left.forget_bound_))
    assert_same(GaussianNB.from_statistics(first.statistics_, variance=variance), first, rtol=0)


@given(seed=st.integers(0, 10**6))
def test_whole_weights_are_repetition(seed):
    # F7: weighted counts
    X, y = problem(seed=seed)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:3] = 1
    weighted = GaussianNB().fit(X, y, times)
    assert_same(weighted, GaussianNB().fit(np.repeat(X, times, axis=0), np.repeat(y, times)))


def test_any_weights_are_those_of_a_weighted_mean_and_variance():
    X, y = problem(K=1)
    w = np.random.default_rng(1).uniform(0.1, 2, len(y))
    model = GaussianNB(var_smoothing=0).fit(X, y, w)
    mean = np.average(X, axis=0, weights=w)
    np.testing.assert_allclose(model.theta_[0], mean, rtol=1e-13)
    np.testing.assert_allclose(model.var_[0], np.average((X - mean) ** 2, axis=0, weights=w))


def test_smoothing_comes_from_all_the_data_also_in_a_stream():
    X, y = problem()
    order = np.argsort(X[:, 0])  # the first batches vary little
    stream, theirs = GaussianNB(var_smoothing=0.1), TheirGaussianNB(var_smoothing=0.1)
    for rows in np.array_split(order, 6):
        stream.partial_fit(X[rows], y[rows])
        theirs.partial_fit(X[rows], y[rows], classes=np.unique(y))
    fit = GaussianNB(var_smoothing=0.1).fit(X, y)
    assert stream.epsilon_ == pytest.approx(0.1 * X.var(axis=0).max(), rel=1e-12)
    np.testing.assert_allclose(stream.var_, fit.var_, rtol=1e-12)
    assert abs(theirs.var_ / fit.var_ - 1).max() > 0.01


def test_parameters_are_counted():
    n, X = 7, np.random.default_rng(0).standard_normal((30, 7))
    y = np.arange(30) % 2
    counts = {v: GaussianNB(variance=v).fit(X, y).n_parameters_ for v in VARIANCES}
    # 2n means, 1 prior, and 2n, n, 2 or 1 variances
    assert counts == {
        "class-feature": 4 * n + 1,
        "feature": 3 * n + 1,
        "class": 2 * n + 3,
        "single": 2 * n + 2,
    }
    assert GaussianNB(priors=[0.5, 0.5]).fit(X, y).n_parameters_ == 4 * n


@pytest.mark.parametrize("variance", ["feature", "single"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_shared_variances_are_logistic(variance, K, far):
    # F11, T8: shared variances make it exactly logistic
    X, y = problem(K=K, far=far)
    model = GaussianNB(variance=variance).fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    if K == 2:
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(scores[:, 0]), atol=1e-9)
    else:
        np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), atol=1e-9)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
    model.set_params(variance="class").fit(X, y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")


def test_explanations_add_up():
    X, y = problem()
    model = GaussianNB().fit(pd.DataFrame(X, columns=list("pqrs")), y)
    explanation = model.explain(pd.DataFrame(X[:1], columns=list("pqrs")))
    joint = np.sort(model.predict_joint_log_proba(pd.DataFrame(X[:1], columns=list("pqrs")))[0])
    assert explanation.log_odds == pytest.approx(joint[-1] - joint[-2], rel=1e-12)
    total = explanation.start + explanation.contributions.sum()
    assert explanation.log_odds == pytest.approx(total, rel=1e-12)
    assert explanation.names == tuple("pqrs")


@pytest.mark.needs_compiler  # large
@pytest.mark.parametrize("variance", VARIANCES)
def test_a_sample_has_the_moments_of_the_model(variance):
    X, y = problem()
    model = GaussianNB(variance=variance).fit(X, y)
    rows, labels = model.sample(60_000, random_state=0)
    again = GaussianNB(variance=variance).fit(rows, labels)
    np.testing.assert_allclose(again.theta_, model.theta_, atol=0.06)
    np.testing.assert_allclose(again.var_, model.var_, rtol=0.06)
    np.testing.assert_allclose(again.class_prior_, model.class_prior_, atol=0.01)
    assert np.array_equal(model.sample(5, random_state=3)[0], model.sample(5, random_state=3)[0])


def test_the_density_is_that_of_the_mixture():
    X, y = problem()
    model = GaussianNB().fit(X, y)
    within = norm.pdf(X[:, None, :], model.theta_, np.sqrt(model.var_)).prod(axis=2)
    np.testing.assert_allclose(model.score_samples(X), np.log(within @ model.class_prior_))


@pytest.mark.parametrize("missing", ["refuse", "ignore"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_small_large_and_sparse_jobs_agree(monkeypatch, missing, dtype):
    X, y = problem(n=203)
    X[np.abs(X) < 0.4] = 0
    if missing == "ignore":
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    X = X.astype(dtype)
    model = GaussianNB(missing=missing).fit(X, y)
    small, labels = model.predict_joint_log_proba(X), model.predict(X)
    tight = {"rtol": 1e-6 if dtype == np.float32 else 1e-12}
    sparse = sp.csr_matrix(X)
    np.testing.assert_allclose(model.predict_joint_log_proba(sparse), small, **tight)
    assert np.array_equal(model.predict(sparse), labels)
    monkeypatch.setattr(gaussian, "FEW_DISTANCES", 0)
    monkeypatch.setattr(base, "CELLS_PER_CHUNK", 100)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), small, **tight)
    assert np.array_equal(model.predict(X), labels)
    assert small.dtype == model.theta_.dtype == model.var_.dtype == dtype


def test_rows_far_from_the_origin_keep_their_digits(monkeypatch):
    X, y = problem(n=300)
    X = np.round(X * 2**10) / 2**10  # so that shifting is exact
    near, shift = GaussianNB().fit(X, y), 2.0**32
    far = GaussianNB().fit(X + shift, y)
    np.testing.assert_allclose(far.var_, near.var_, rtol=1e-9)
    for few in (gaussian.FEW_DISTANCES, 0):
        monkeypatch.setattr(gaussian, "FEW_DISTANCES", few)
        np.testing.assert_allclose(far.predict_proba(X + shift), near.predict_proba(X), atol=1e-5)
        assert np.array_equal(far.predict(X + shift), near.predict(X))


def test_a_missing_value_is_left_out_of_the_product():
    X, y = problem()
    gaps = X.copy()
    gaps[::3, 1] = np.nan
    model = GaussianNB(missing="ignore").fit(gaps, y)
    known = gaps[~np.isnan(gaps[:, 1]) & (y == "a"), 1]
    assert model.theta_[0, 1] == pytest.approx(known.mean(), rel=1e-12)
    part = GaussianNB().fit(X[:, [0, 2, 3]], y)
    np.testing.assert_allclose(model.theta_[:, [0, 2, 3]], part.theta_, rtol=1e-12)
    hidden = X.copy()
    hidden[:, 1] = np.nan
    model.set_params(var_smoothing=0).fit(gaps, y)
    part = GaussianNB(var_smoothing=0).fit(X[:, [0, 2, 3]], y)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(hidden), part.predict_joint_log_proba(X[:, [0, 2, 3]])
    )


def test_a_feature_that_a_class_never_showed_is_as_in_all_the_data():
    X = np.array([[1.0, 5.0], [2.0, 7.0], [8.0, np.nan], [9.0, np.nan]])
    model = GaussianNB(missing="ignore", var_smoothing=0).fit(X, [0, 0, 1, 1])
    assert model.theta_[:, 1].tolist() == [6, 6]
    assert model.var_[:, 1].tolist() == [1, 1]
    nobody = GaussianNB(missing="ignore").fit(np.c_[X[:, 0], np.full(4, np.nan)], [0, 0, 1, 1])
    assert np.isfinite(nobody.predict_proba(X)).all()


def test_features_that_do_not_vary_have_a_floor():
    X, y = np.array([[1.0, 5.0], [1.0, 6.0], [3.0, 9.0], [3.0, 7.0]]), [0, 0, 1, 1]
    model = GaussianNB().fit(X, y)
    assert model.var_[0, 0] == model.epsilon_ > 0
    bare = GaussianNB(var_smoothing=0).fit(X, y)
    assert bare.var_[0, 0] == 2.0**-100
    constant = GaussianNB().fit(np.ones((4, 2)), y)
    assert (constant.var_ == 2.0**-100).all()
    for fitted in (model, bare, constant):
        assert np.isfinite(fitted.predict_proba([[1.0, 1.0], [1.0, 6.0]])).all()


def test_a_class_of_one_row_has_the_floor_and_a_word_with_ddof():
    X, y = [[1.0], [2.0], [9.0]], [0, 0, 1]
    with pytest.warns(UserWarning, match="1 of 2 variances cannot be estimated with ddof=1"):
        model = GaussianNB(ddof=1).fit(X, y)
    assert model.var_[1, 0] == model.epsilon_
    assert model.predict([[1.5], [9.0]]).tolist() == [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianNB(ddof=1, variance="feature").fit(X, y)


@pytest.mark.parametrize("few", [gaussian.FEW_DISTANCES, 0])
def test_rows_that_nothing_explains_get_the_prior_with_a_word(monkeypatch, few):
    monkeypatch.setattr(gaussian, "FEW_DISTANCES", few)
    X, y = problem()
    y[y == "c"] = "b"  # the most
    model = GaussianNB().fit(X, y)
    strange = X[:6].copy()
    strange[2] = 1e200
    with pytest.warns(UserWarning, match="1 of 6 rows have probability zero"):
        assert model.predict(strange)[2] == "b"
    with pytest.warns(UserWarning, match="probability zero"):
        np.testing.assert_allclose(model.predict_proba(strange)[2], model.class_prior_)


@pytest.mark.parametrize("few", [gaussian.FEW_DISTANCES, 0])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "score_samples"])
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_values_that_are_not_numbers_are_refused(monkeypatch, few, method, bad, word):
    monkeypatch.setattr(gaussian, "FEW_DISTANCES", few)
    X, y = problem()
    model = GaussianNB().fit(X, y)
    X[7, 2] = bad
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        getattr(model, method)(X)
    with pytest.raises(ValueError, match=f"Input X contains {word}"):
        model.fit(X, y)


def test_classes_may_be_promised_and_come_later():
    X, y = problem(K=2)
    model = GaussianNB().partial_fit(X, y, classes=["a", "b", "c"])
    assert model.predict_proba(X)[:, 2].max() == 0
    assert model.class_count_[2] == 0
    assert_same(
        GaussianNB().partial_fit(X, y).partial_fit(X + 9, np.full(len(X), "c")),
        model.partial_fit(X + 9, np.full(len(X), "c")),
    )


def test_bad_priors_are_refused():
    X, y = problem()
    for priors, word in (([0.5, 0.5], "must match"), ([0.9, 0.9, 0.9], "sum"), ([2, -1, 0], "neg")):
        with pytest.raises(ValueError, match=word):
            GaussianNB(priors=priors).fit(X, y)
    given = GaussianNB(priors=[0.1, 0.2, 0.7]).fit(X, y)
    assert given.class_prior_.tolist() == [0.1, 0.2, 0.7]


def test_models_of_other_parameters_or_rows_are_not_merged_and_nothing_changes():
    X, y = problem()
    model = GaussianNB().fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="ddof is 0 here and 1 there"):
        model.merge(GaussianNB(ddof=1).fit(X, y))
    with pytest.raises(ValueError, match="n_features"):
        model.merge(GaussianNB().fit(X[:, :2], y))
    with pytest.raises(ValueError, match="Cannot remove"):
        model.forget(np.vstack([X, X]), np.concatenate([y, y]))
    assert vars(model) == before


@pytest.mark.needs_compiler  # large
def test_same_bits_on_any_number_of_threads():
    X, y = problem(n=60_000, d=30)
    results = []
    for n_threads in (1, 2, 4):
        with threads.limit(n_threads):
            model = GaussianNB().fit(X, y)
            results.append((model.theta_, model.var_, model.predict_joint_log_proba(X)))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.needs_compiler  # large
def test_no_classifier_beats_bayes_on_data_from_the_model():
    """T4: the true model's error is the smallest, and is E[1 - max P(y | x)]."""
    truth = GaussianNB().fit(*problem())
    X, y = truth.sample(40_000, random_state=0)
    bayes = 1 - truth.score(X, y)
    expected = 1 - truth.predict_proba(X).max(axis=1).mean()
    assert bayes == pytest.approx(expected, abs=0.01)
    for rival in (GaussianNB(variance=v).fit(X[:2000], y[:2000]) for v in VARIANCES):
        assert 1 - rival.score(X, y) >= bayes - 0.005


def test_characters_in_grey():
    """W3: the class means are pictures, and pixels are bell curves."""
    X, y = load_digits(return_X_y=True)
    model = GaussianNB(var_smoothing=0.01).fit(X[:1000], y[:1000])
    assert model.theta_.shape == (10, 64)
    assert model.score(X[1000:], y[1000:]) > 0.8


@pytest.mark.needs_compiler  # large
def test_real_digits_in_grey(data_folder):
    with np.load(data_folder / "mnist10k" / "mnist10k.npz") as file:
        X, y = file["X"].reshape(10_000, -1).astype(np.float32), file["y"]
    ours, theirs = GaussianNB().fit(X[:5000], y[:5000]), TheirGaussianNB().fit(X[:5000], y[:5000])
    assert (ours.predict(X[5000:]) == theirs.predict(X[5000:])).mean() > 0.999
    assert (
        ours.set_params(var_smoothing=0.1).fit(X[:5000], y[:5000]).score(X[5000:], y[5000:]) > 0.75
    )


def test_probabilities_sum_to_one_however_far_a_row():
    """Scores beyond 1e16 swallowed log 2, and two classes had probability one each."""
    x = np.random.default_rng(0).standard_normal((50, 1))
    model = GaussianNB().fit(np.r_[x, x], np.repeat([0, 1], 50))
    np.testing.assert_array_equal(model.predict_proba([[1e9], [0.0]]), np.full((2, 2), 0.5))
    X, y = [[0, 1.0], [0, 2.0], [0, 8.0], [0, 9.0]], [0, 0, 1, 1]
    constant = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(constant.predict_proba([[1, 1.0]]).sum(axis=1), 1.0)
    with pytest.warns(UserWarning, match="probability zero in every class"):
        np.testing.assert_array_equal(model.predict_proba([[1e200]]), [[0.5, 0.5]])


def test_numbers_that_csr_stores_in_parts_are_numbers():
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    whole = sp.csr_matrix(X)
    parts = sp.csr_matrix(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), X.shape
    )
    model = GaussianNB().fit(parts, y)
    np.testing.assert_allclose(model.var_, GaussianNB().fit(X, y).var_, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(parts), model.predict_proba(X), rtol=1e-9)


def test_huge_weights_merge():
    """The product of two weights was infinite, and variances NaN."""
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) // 20
    heavy = [GaussianNB().fit(X[i::2], y[i::2], np.full(20, 1e160)) for i in (0, 1)]
    merged, whole = heavy[0].merge(heavy[1]), GaussianNB().fit(X, y)
    np.testing.assert_allclose(merged.var_, whole.var_, rtol=1e-12)
    np.testing.assert_allclose(merged.theta_, whole.theta_, rtol=1e-12)


def test_variances_beyond_float32_are_refused_and_no_model_is_left():
    model, X = GaussianNB(), np.ones((6, 2), np.float32)
    X[:, 1] = 1e25 * np.arange(6)
    with pytest.raises(ValueError, match=r"variance of column 1 .* float64"):
        model.fit(X, [0, 1] * 3)
    assert not hasattr(model, "statistics_")
    assert np.isfinite(model.fit(X.astype(np.float64), [0, 1] * 3).var_).all()
