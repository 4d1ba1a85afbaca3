"""Nearest centroid: the obvious version, scikit-learn's numbers, streams, weights, extremes."""

import math
import statistics

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_val_score as their_cross_val_score
from sklearn.neighbors import NearestCentroid as Theirs

from rosenblatt import GridSearchCV, NearestCentroid, certify, cross_val_score
from rosenblatt.statistics import Moments

LEARNED = ["centroids_", "deviations_", "within_class_std_dev_", "class_prior_"]
SETTINGS = [
    {},
    {"shrink_threshold": 0.5},
    {"priors": "empirical"},
    {"priors": [0.2, 0.3, 0.5], "shrink_threshold": 0.1},
    {"metric": "manhattan"},
    {"metric": "manhattan", "shrink_threshold": 0.3, "priors": "empirical"},
]
ADDITIVE = [setting for setting in SETTINGS if "metric" not in setting]
each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=repr)
each_additive = pytest.mark.parametrize("setting", ADDITIVE, ids=repr)
storage = pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])


def problem(n=60, d=4, K=3, seed=0, far=0.0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 3, d) + y[:, None] + far
    X[rng.uniform(size=X.shape) < 0.3] = far
    return X, np.array(["a", "b", "c", "d"])[y]


def obvious(X, y, metric="euclidean", shrink_threshold=None, priors="uniform"):
    """Centroids, deviations, spread and shares, one number at a time."""
    classes, (n, d) = sorted(set(y)), X.shape
    of = {k: [row for row, label in zip(X.tolist(), y, strict=True) if label == k] for k in classes}
    middle = statistics.fmean if metric == "euclidean" else statistics.median
    c = {k: [middle(column) for column in zip(*of[k], strict=True)] for k in classes}
    squares = [sum((row[j] - c[k][j]) ** 2 for k in classes for row in of[k]) for j in range(d)]
    s = [math.sqrt(square / (n - len(classes))) for square in squares]
    overall = [statistics.fmean(column) for column in X.T.tolist()]
    deviations = {}
    for k in classes:
        m = math.sqrt(1 / len(of[k]) - 1 / n)
        units = [m * (s[j] + statistics.median(s)) for j in range(d)]
        away = [(c[k][j] - overall[j]) / units[j] for j in range(d)]
        if shrink_threshold:
            away = [math.copysign(max(abs(a) - shrink_threshold, 0.0), a) for a in away]
            c[k] = [overall[j] + units[j] * away[j] for j in range(d)]
        deviations[k] = away
    shares = priors
    if isinstance(priors, str):
        counts = [len(of[k]) if priors == "empirical" else 1 for k in classes]
        shares = [count / sum(counts) for count in counts]
    return [c[k] for k in classes], [deviations[k] for k in classes], s, shares


def nearest(X, classes, centroids, spread, shares, metric="euclidean"):
    """The label of each row, one distance at a time."""
    power = 2 if metric == "euclidean" else 1
    plain = len({round(share, 9) for share in shares}) == 1
    labels = []
    for row in X.tolist():
        scores = []
        for c, share in zip(centroids, shares, strict=True):
            units = [1.0] * len(row) if plain else spread
            parts = zip(row, c, units, strict=True)
            distance = sum(abs((x - m) / unit) ** power for x, m, unit in parts) ** (1 / power)
            scores.append(2 * math.log(share) - distance**2)
        labels.append(classes[scores.index(max(scores))])
    return labels


def assert_same(a, b, rtol=1e-9, atol=1e-12):
    assert np.array_equal(a.classes_, b.classes_)
    for name in LEARNED:
        ours, theirs = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, err_msg=name)


@each_setting
@storage
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_the_obvious_algorithm(setting, store, dtype):
    X, y = problem()
    X = X.astype(dtype)
    model = NearestCentroid(**setting).fit(store(X), y)
    expected = obvious(X, y, **setting)
    rtol, atol = (1e-9, 1e-12) if dtype == np.float64 else (1e-5, 1e-5)
    for name, numbers in zip(LEARNED, expected, strict=True):
        assert getattr(model, name).dtype == dtype
        np.testing.assert_allclose(getattr(model, name), numbers, rtol=rtol, atol=atol)
    published = [getattr(model, name).tolist() for name in (LEARNED[0], *LEARNED[2:])]
    labels = nearest(X, model.classes_, *published, model.metric)
    assert np.array_equal(model.predict(store(X)), labels)


@each_setting
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_it_agrees_with_scikit_learn_on_real_data(setting, load):
    X, y = load(return_X_y=True)
    if not isinstance(setting.get("priors", ""), str) and len(set(y)) == 2:
        setting = {**setting, "priors": [0.4, 0.6]}
    ours, theirs = NearestCentroid(**setting).fit(X, y), Theirs(**setting).fit(X, y)
    assert_same(ours, theirs)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        assert hasattr(ours, method) == hasattr(theirs, method)
        if hasattr(ours, method):
            answers = getattr(ours, method)(X)
            np.testing.assert_allclose(answers, getattr(theirs, method)(X), rtol=1e-7, atol=1e-7)


@each_setting
def test_sparse_rows_get_the_scores_of_dense_ones(setting):
    X, y = problem()
    model = NearestCentroid(**setting).fit(X, y)
    assert np.array_equal(model.predict(sp.csr_matrix(X)), model.predict(X))
    if model.metric == "euclidean":
        scores = model.decision_function(sp.csr_matrix(X))
        np.testing.assert_allclose(scores, model.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_places_that_are_stored_twice_count_as_their_sum(metric):
    X, y = problem()
    whole = sp.coo_matrix(X)
    twice = (np.r_[whole.data / 2, whole.data / 2], np.r_[whole.col, whole.col])
    order = np.argsort(np.r_[whole.row, whole.row], kind="stable")
    indptr = np.r_[0, np.cumsum(np.bincount(whole.row, minlength=len(X)) * 2)]
    parts = sp.csr_matrix((twice[0][order], twice[1][order], indptr), shape=X.shape)
    assert not parts.has_canonical_format
    model = NearestCentroid(metric=metric).fit(X, y)
    assert np.array_equal(model.predict(parts), model.predict(X))
    assert_same(NearestCentroid(metric=metric).fit(parts, y), model)


@each_setting
@storage
def test_a_weight_of_two_is_a_row_twice_and_of_zero_is_none(setting, store):
    X, y = problem()
    weight = np.arange(len(y)) % 4
    weighted = NearestCentroid(**setting).fit(store(X), y, weight)
    repeated = NearestCentroid(**setting).fit(store(np.repeat(X, weight, axis=0)), y.repeat(weight))
    assert_same(weighted, repeated)


def test_a_median_does_not_depend_on_the_unit_of_weights():
    X, y = np.array([[1.0], [2.0], [5.0], [9.0], [3.0], [8.0]]), [0, 0, 0, 0, 1, 1]
    model = NearestCentroid(metric="manhattan")
    for unit in (1.0, 0.1, 0.3, 1e-5):
        with pytest.warns(UserWarning, match="zero") if unit < 0.34 else np.errstate():
            model.fit(X, y, np.full(6, unit))
        assert model.centroids_.ravel().tolist() == [3.5, 5.5]


@each_additive
@storage
def test_batches_merges_and_forgetting_give_what_one_fit_gives(setting, store):
    X, y = problem()
    whole = NearestCentroid(**setting).fit(store(X), y)
    stream = NearestCentroid(**setting)
    for rows in np.split(np.arange(len(y)), 6):
        stream.partial_fit(store(X[rows]), y[rows], classes=["a", "b", "c"])
    assert_same(stream, whole)
    half, rest = (NearestCentroid(**setting).fit(store(X[r::2]), y[r::2]) for r in (0, 1))
    assert_same(half.merge(rest), whole)
    whole.forget(store(X[40:]), y[40:])
    assert_same(whole, NearestCentroid(**setting).fit(X[:40], y[:40]))
    moments = Moments.of(X[:40], y[:40])
    assert_same(whole, NearestCentroid.from_statistics(moments, **setting))


def test_single_rows_of_a_stream_are_learned():
    X, y = problem()
    stream = NearestCentroid().fit(X[:30], y[:30])
    for i in range(30, 60):
        stream.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(stream, NearestCentroid().fit(X, y))


def test_medians_refuse_what_needs_sums():
    X, y = problem()
    model = NearestCentroid(metric="manhattan").fit(X, y)
    other = NearestCentroid(metric="manhattan").fit(X[::-1], y[::-1])
    calls = [
        lambda: model.partial_fit(X, y),
        lambda: model.merge(other),
        lambda: model.forget(X[:2], y[:2]),
        lambda: NearestCentroid.from_statistics(model.statistics_, metric="manhattan"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"metric='manhattan' must read the rows .* fit alone"):
            call()
    assert_same(model, other)


def test_a_class_that_is_promised_is_not_predicted_before_it_has_rows():
    X, y = problem(K=2)
    stream = NearestCentroid().partial_fit(X, y, classes=["a", "b", "z"])
    assert stream.class_prior_.tolist() == [0.5, 0.5, 0.0]
    assert np.array_equal(stream.predict(X), NearestCentroid().fit(X, y).predict(X))
    assert (stream.predict_proba(X)[:, 2] == 0).all()
    assert certify(stream, X, y).holds


def test_a_stream_may_begin_with_one_class():
    stream = NearestCentroid().partial_fit([[1.0, 2.0]], ["a"])
    assert stream.predict([[0.0, 0.0]]).tolist() == ["a"]
    assert stream.predict_proba([[0.0, 0.0]]).tolist() == [[1.0]]
    stream.partial_fit([[3.0, 2.5], [4.0, 5.0]], ["b", "b"])
    assert stream.predict([[0.0, 0.0], [9.0, 9.0]]).tolist() == ["a", "b"]


def test_far_from_the_origin_classes_are_told_apart():
    X, y = problem(far=0.0)
    near = NearestCentroid(priors="empirical").fit(X, y)
    away = NearestCentroid(priors="empirical").fit(X + 2.0**26, y)
    assert np.array_equal(away.predict(X + 2.0**26), near.predict(X))
    np.testing.assert_allclose(away.predict_proba(X + 2.0**26), near.predict_proba(X), atol=1e-5)


def test_features_that_do_not_vary_within_classes_are_named_and_not_shrunk():
    X = np.array([[0.0, 0.1], [0.0, 0.1], [1.0, 0.1], [1.0, 0.1]])
    with pytest.warns(UserWarning, match=r"zero standard deviation: 2 feature\(s\) do not vary"):
        model = NearestCentroid(shrink_threshold=0.5).fit(X, [0, 0, 1, 1])
    assert model.centroids_.tolist() == [[0.0, 0.1], [1.0, 0.1]]
    assert model.deviations_.tolist() == [[-np.inf, 0.0], [np.inf, 0.0]]
    assert certify(model, X, [0, 0, 1, 1]).holds


@pytest.mark.parametrize(
    ("settings", "y", "message"),
    [
        ({}, [0, 0, 0, 0], "The number of classes has to be greater than one; y has 1 class"),
        ({"priors": [1.0]}, [0, 0, 1, 1], "must match number of classes; got 1 and 2"),
        ({"priors": [-1.0, 2.0]}, [0, 0, 1, 1], "priors must be non-negative"),
        ({"priors": [0.0, 0.0]}, [0, 0, 1, 1], "priors must not be zero for all"),
        ({"shrink_threshold": 0}, [0, 0, 1, 1], "'shrink_threshold' parameter"),
    ],
)
def test_what_says_nothing_is_refused(settings, y, message):
    X = [[0.0, 1.0], [2.0, 0.0], [1.0, 5.0], [7.0, 3.0]]
    with pytest.raises(ValueError, match=message):
        NearestCentroid(**settings).fit(X, y)


def test_cross_validation_scores_as_scikit_learn_does():
    X, y = load_wine(return_X_y=True)
    for setting in SETTINGS:
        ours = cross_val_score(NearestCentroid(**setting), X, y, cv=4)
        assert np.array_equal(ours, their_cross_val_score(Theirs(**setting), X, y, cv=4))
    grid = {"shrink_threshold": [None, 0.5, 5.0], "metric": ["euclidean", "manhattan"]}
    assert GridSearchCV(NearestCentroid(), grid, cv=3).fit(X, y).best_score_ > 0.7


@each_setting
@pytest.mark.parametrize("kind", [NearestCentroid, Theirs], ids=["ours", "theirs"])
def test_a_certificate_holds_and_finds_a_nudged_number(setting, kind):
    X, y = load_iris(return_X_y=True)
    model = kind(**setting).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    assert certificate["training error"].value == np.count_nonzero(model.predict(X) != y)
    for name in LEARNED:
        before = getattr(model, name)
        nudged = before.copy()
        nudged.flat[0] += 1e-4
        setattr(model, name, nudged)
        assert not certify(model, X, y).holds, name
        setattr(model, name, before)


def test_weights_are_certified():
    X, y = problem()
    weight = np.random.default_rng(0).uniform(0.5, 3, len(y))
    for metric in ("euclidean", "manhattan"):
        model = NearestCentroid(metric=metric).fit(X, y, weight)
        assert certify(model, X, y, sample_weight=weight).holds
        assert not certify(model, X, y).holds
