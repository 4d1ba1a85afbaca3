"""Q1, Q2, T11: the plain method's answer, ties, empty clusters, weights, starts and pieces."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import KMeans, Trace, certify, kmeans_plusplus
from tests.reference.kmeans import lloyd

kinds = pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
types = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def blobs(n=300, d=3, k=5, seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + spread * rng.normal(size=(k, d))[rng.integers(k, size=n)]
    return X, X[rng.choice(n, k, replace=False)]


@kinds
@types
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_plain_method(kind, dtype, seed):
    X, start = blobs(seed=seed, d=seed + 2)
    X, start = X.astype(dtype), start.astype(dtype)
    weights = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    model = KMeans(5, init=start, tol=0).fit(kind(X), sample_weight=weights)
    centres, labels, losses = lloyd(X.astype(float), start.astype(float), weights)
    assert np.array_equal(model.labels_, labels)
    np.testing.assert_allclose(
        model.cluster_centers_, centres, rtol=1e-6 if dtype == np.float32 else 1e-12
    )
    np.testing.assert_allclose(model.loss_curve_, losses, rtol=1e-9)
    assert model.n_iter_ == len(losses)


@given(st.integers(0, 10**6))
def test_on_a_grid_full_of_ties_it_is_the_plain_method(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (60, 2)).astype(float)
    start = rng.integers(-2, 3, (4, 2)) + rng.choice([0.0, 0.5], (4, 2))
    model = KMeans(4, init=start, tol=0)
    _, labels, losses = lloyd(X, start, np.ones(60))
    fewer = pytest.warns(ConvergenceWarning) if len(set(labels)) < 4 else nullcontext()
    with fewer:
        model.fit(X)
    assert np.array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.loss_curve_, losses, rtol=1e-9, atol=1e-9)


@types
@pytest.mark.parametrize("seed", range(4))
def test_with_many_centres_it_is_the_plain_method(dtype, seed):
    """Rows beyond their limits are measured against their own centre, and packed into panels."""
    X, start = blobs(1_007, 3 + seed, 80, seed=seed, spread=4.0)
    X, start = np.round(X, seed).astype(dtype) + 50, np.round(start, seed).astype(dtype) + 50
    start[0] = 1e6  # so far away that bounds are forgotten
    model = KMeans(80, init=start, tol=0).fit(X)
    _, labels, losses = lloyd(X.astype(float), start.astype(float), np.ones(len(X)))
    assert np.array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.loss_curve_, losses, rtol=1e-9)
    assert model.n_iter_ > 5


@kinds
@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize("tol", [0.0, 1e-3])
def test_from_the_same_start_it_ends_where_scikit_learn_does(kind, algorithm, tol):
    X, start = blobs(2_000, 6, 8)
    X, start = X + 100, start + 100
    how = {"n_clusters": 8, "init": start, "tol": tol, "algorithm": algorithm, "n_init": 1}
    ours, theirs = KMeans(**how).fit(kind(X)), sklearn.cluster.KMeans(**how).fit(kind(X))
    assert ours.n_iter_ == theirs.n_iter_
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert np.array_equal(ours.labels_, ours.predict(kind(X)))
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    assert -ours.score(kind(X)) == pytest.approx(ours.inertia_, rel=1e-12)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)


def test_the_loss_never_rises_and_ends_at_the_inertia():
    for seed in range(5):
        X, start = blobs(seed=seed, spread=0.5)
        model = KMeans(5, init=start, tol=0).fit(X + 1e6)
        assert (np.diff(model.loss_curve_) <= 0).all()
        assert model.loss_curve_[-1] == model.inertia_


@kinds
@given(seed=st.integers(0, 10**6), grid=st.booleans(), tol=st.sampled_from([0.0, 1e-4, 0.1]))
def test_an_integer_weight_is_repetition(kind, seed, grid, tol):
    """Also where starts are far away, so that clusters are empty, and where rows are equal."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(8, 40), rng.integers(1, 4), rng.integers(2, 8)
    X = rng.integers(0, 5, (n, d)).astype(float) if grid else rng.normal(size=(n, d))
    weights = rng.integers(0, 4, n)
    weights[:k] = 1
    model = KMeans(k, init=rng.normal(size=(k, d)) * rng.choice([1, 5]), tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of fewer different rows than clusters
        weighted = clone(model).fit(kind(X), sample_weight=weights)
        repeated = clone(model).fit(kind(np.repeat(X, weights, axis=0)))
    assert np.array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
    np.testing.assert_allclose(
        weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-12, atol=1e-14
    )
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12, abs=1e-13)


def test_a_row_without_weight_does_not_widen_the_tolerance():
    X, start = blobs(80)
    plain = KMeans(5, init=start, tol=1e-3).fit(X)
    outlier = np.vstack([X, np.full(3, 1e5)])
    weighted = KMeans(5, init=start, tol=1e-3).fit(outlier, sample_weight=[1] * 80 + [0])
    assert plain.n_iter_ > 1
    assert weighted.n_iter_ == plain.n_iter_


@kinds
def test_an_empty_cluster_gets_the_farthest_row(kind):
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]])
    model = KMeans(3, init=[[1.0], [11.0], [1000.0]], tol=0, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model.fit(kind(X))
    assert model.cluster_centers_.ravel().tolist() == [1.0, 10.5, 30.0]


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_restarts_report_their_spread_and_keep_the_best(init):
    X, _ = blobs(spread=3.0)
    model = KMeans(5, init=init, n_init=8, random_state=0).fit(X)
    assert model.inertias_.shape == (8,)
    assert model.inertia_ == model.inertias_.min()
    again = KMeans(5, init=init, n_init=8, random_state=0).fit(X)
    assert np.array_equal(model.inertias_, again.inertias_)


@kinds
def test_pieces_train_together(kind):
    X, start = blobs()
    whole = KMeans(5, init=start, tol=0).fit(X)
    model = KMeans(5, init=start, tol=1e9).fit(X)
    for _ in range(whole.n_iter_ - 1):
        pieces = [model.measure(kind(piece)) for piece in np.array_split(X, 3)]
        model = KMeans.from_statistics(sum(pieces[1:], pieces[0]))
    np.testing.assert_allclose(model.cluster_centers_, whole.cluster_centers_, rtol=1e-13)
    assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-12)


def test_a_trace_has_the_centres_and_labels_of_every_iteration():
    X, start = blobs()
    trace = Trace()
    model = KMeans(5, init=start, tol=0).set_callbacks(trace).fit(X)
    losses = [step.estimator.inertia_ for step in list(trace)[1:]]
    assert losses == model.loss_curve_.tolist()
    frame = trace.to_frame()
    assert (np.diff(frame["objective"].iloc[1:]) <= 1e-9).all()


@pytest.mark.parametrize(
    ("X", "how", "weights", "match"),
    [
        ([[0.0], [np.nan]], {"n_clusters": 1}, None, "NaN"),
        ([[0.0], [1.0]], {"n_clusters": 3}, None, "should be >= n_clusters=3"),
        ([[0.0], [1.0]], {"n_clusters": 1}, [0, 0], "at least one non-zero"),
        ([[0.0], [1.0]], {"n_clusters": 1}, [-1, 1], "Negative"),
        ([[0.0], [1.0]], {"n_clusters": 2, "init": [[0.0]]}, None, "number of clusters 2"),
        ([[0.0], [1.0]], {"n_clusters": 1, "init": [[0.0, 1.0]]}, None, "number of features"),
        ([[1e200], [-1e200]], {"n_clusters": 1}, None, "too large for 64 bits"),
    ],
)
def test_bad_input_is_refused(X, how, weights, match):
    with pytest.raises(ValueError, match=match):
        KMeans(**how).fit(X, sample_weight=weights)


def test_more_clusters_than_different_rows_is_reported():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        model = KMeans(4, random_state=0).fit(X)
    assert model.inertia_ == 0


def test_constant_columns_and_a_single_cluster():
    X = np.column_stack([np.full(20, 3.0), np.arange(20.0)])
    model = KMeans(1, random_state=0).fit(X)
    assert model.cluster_centers_.tolist() == [[3.0, 9.5]]


@types
@pytest.mark.parametrize("shape", ["cloud", "one row far away", "far from zero", "grid"])
@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans_plusplus_draws_the_rows_that_scikit_learn_draws(dtype, shape, weighted):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100 * seed + 30, seed + 1))
        if shape == "one row far away":
            X[0] *= 1e6
        X = X + 1e4 if shape == "far from zero" else np.round(X) if shape == "grid" else X
        weights = rng.choice([0.0, 0.5, 2.0], len(X)) if weighted else None
        how = {"sample_weight": weights, "random_state": seed}
        _, theirs = sklearn.cluster.kmeans_plusplus(X.astype(dtype), 9, **how)
        centres, ours = kmeans_plusplus(X.astype(dtype), 9, **how)
        assert np.array_equal(ours, theirs)
        assert np.array_equal(centres, X.astype(dtype)[ours])


@kinds
def test_kmeans_plusplus_draws_again_where_all_rows_are_equal(kind):
    _, places = kmeans_plusplus(kind(np.ones((6, 2))), 3, random_state=0)
    assert len(places) == 3


def test_kmeans_plusplus_refuses_more_centres_than_rows():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        kmeans_plusplus([[0.0], [1.0]], 3)


def test_distances_from_centres_are_exact_far_from_the_origin():
    X = blobs(60, 3, 3)[0] + 1e8
    model = KMeans(3, random_state=0).fit(X)
    expected = np.sqrt(((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-12)
    assert np.array_equal(model.transform(X).argmin(axis=1), model.predict(X))


def test_fits_to_very_large_numbers_are_certified():
    X, _ = blobs(60, 3, 3)
    usual, large = (KMeans(3, random_state=0).fit(Z) for Z in (X, X * 2.0**490))
    claims = [certify(m, Z) for m, Z in ((usual, X), (large, X * 2.0**490))]
    assert all(c.holds for c in claims)
    assert claims[0]["optimum"].value == claims[1]["optimum"].value < 1


def test_starts_from_numbers_out_of_range_are_refused():
    X, _ = blobs(60, 3, 3)
    for scale in (1e-160, 1e200):
        with pytest.raises(ValueError, match="rescale the columns"):
            kmeans_plusplus(X * scale, 3, random_state=0)


def test_traces_see_how_every_start_ends():
    X = np.random.RandomState(0).standard_normal((60, 2))
    trace = Trace()
    model = KMeans(4, n_init=3, init="random", random_state=0).set_callbacks(trace).fit(X)
    ends = trace.to_frame().groupby("run")["objective"].last()
    np.testing.assert_allclose(ends[list(trace.runs)], model.inertias_)
    assert trace[-1].estimator.inertia_ == pytest.approx(model.inertia_)


@pytest.mark.parametrize("change", ["labels_", "inertias_", "loss_curve_"])
def test_what_is_published_beside_the_centres_is_certified(change):
    X = np.random.RandomState(0).standard_normal((60, 2))
    model = KMeans(3, n_init=2, random_state=0, tol=0).fit(X)
    assert certify(model, X).holds
    old = getattr(model, change)
    setattr(model, change, old[:-1] if change == "labels_" else old * 0.5)
    assert not certify(model, X).holds
