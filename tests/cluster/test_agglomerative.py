"""Q3, Q4: agglomerative clustering: agreement with SciPy and fastcluster, by every route."""

import warnings

import fastcluster
import numpy as np
import pytest
import sklearn.cluster
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist, pdist, squareform

import rosenblatt
from rosenblatt import AgglomerativeClustering, certify
from rosenblatt.cluster import agglomerative, centroid_linkage
from rosenblatt.cluster import linkage as trees
from tests.reference.linkage import slow_linkage

METHODS = ("single", "complete", "average", "ward")
each_method = pytest.mark.parametrize("method", METHODS)


def rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + (4 * rng.normal(size=(3, d)))[rng.integers(0, 3, n)]


def tree(X, method, **settings):
    return AgglomerativeClustering(linkage=method, **settings).fit(X).linkage_matrix_


@each_method
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (9, 1), (70, 3), (333, 7)])
def test_the_tree_is_that_of_the_slow_version_of_scipy_and_of_fastcluster(method, n, d):
    X = rows(n, d)
    found = tree(X, method)
    np.testing.assert_allclose(found, hierarchy.linkage(X, method), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found, fastcluster.linkage(X, method), rtol=1e-10, atol=1e-12)
    if n < 100:
        np.testing.assert_allclose(found[:, 2], slow_linkage(X, method), rtol=1e-10, atol=1e-12)


@each_method
def test_labels_and_children_are_scikit_learns(method):
    X = rows(150, 4)
    for settings in ({"n_clusters": 7}, {"n_clusters": None, "distance_threshold": 1.5}):
        own = AgglomerativeClustering(linkage=method, **settings).fit(X)
        peer = sklearn.cluster.AgglomerativeClustering(linkage=method, **settings).fit(X)
        if method != "single":  # whose numbers follow from where the spanning tree began
            np.testing.assert_array_equal(own.labels_, peer.labels_)
        assert len(set(zip(own.labels_, peer.labels_, strict=True))) == own.n_clusters_
        np.testing.assert_array_equal(np.sort(own.children_), np.sort(peer.children_))
        assert own.n_clusters_ == peer.n_clusters_
        assert hasattr(own, "distances_") == hasattr(peer, "distances_")


def many_points_from(n, monkeypatch):
    """Use the method for many rows from n rows on."""
    monkeypatch.setattr(agglomerative, "MANY_POINTS", n)


@pytest.mark.parametrize("method", ["complete", "average", "ward"])
@pytest.mark.parametrize("few", [0.5, 1e9], ids=["a chain alone", "rounds alone"])
def test_chains_and_rounds_give_one_tree(method, few, monkeypatch):
    monkeypatch.setattr(centroid_linkage, "FEW", few)
    many_points_from(50, monkeypatch)
    X = rows(300, 4)
    np.testing.assert_allclose(tree(X, method), hierarchy.linkage(X, method), rtol=1e-10)


@pytest.mark.parametrize("method", ["complete", "average"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_trees_of_many_rows_are_scipys(method, metric, monkeypatch):
    many_points_from(50, monkeypatch)
    X = rows(1_100, 3)  # three strips of distances
    D = pdist(X, "cityblock" if metric == "manhattan" else "euclidean")
    data = squareform(D) if metric == "precomputed" else X
    np.testing.assert_allclose(
        tree(data, method, metric=metric), hierarchy.linkage(D, method), rtol=1e-12
    )


@pytest.mark.parametrize("method", ["complete", "average"])
def test_the_first_rounds_need_no_matrix_and_break_near_ties_as_fastcluster_does(
    method, monkeypatch
):
    """Distances that differ in the eighth digit were equal in single precision."""
    many_points_from(50, monkeypatch)
    monkeypatch.delattr(trees.Euclidean, "rows")
    X = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), -1).reshape(-1, 3)
    X += 1e-8 * np.random.default_rng(0).normal(size=X.shape)
    np.testing.assert_allclose(tree(X, method), fastcluster.linkage(X, method), rtol=1e-12)


@pytest.mark.parametrize("method", ["complete", "average"])
@pytest.mark.parametrize("measured", [0.0, 0.02])
def test_rounds_that_measure_too_many_pairs_end_early(method, measured, monkeypatch):
    many_points_from(50, monkeypatch)
    monkeypatch.setattr(centroid_linkage, "MEASURED", measured)
    X = rows(240, 20)
    np.testing.assert_allclose(tree(X, method), hierarchy.linkage(X, method), rtol=1e-10)


@each_method
def test_hubs_that_all_others_are_nearest_to_take_no_cubic_time(method):
    """Points on a sphere about a dense middle: each round finds one pair of clusters."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 60))
    X *= (1 + np.arange(800) / 800)[:, None] / np.linalg.norm(X, axis=1)[:, None]
    np.testing.assert_allclose(tree(X, method), hierarchy.linkage(X, method), rtol=1e-9)


@each_method
def test_ties_give_a_tree_whose_joins_are_of_the_closest_pairs(method):
    from rosenblatt import certify

    X = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), -1).reshape(-1, 3)
    for data in (X, np.repeat(X[:9], 5, axis=0), np.ones((20, 2))):
        model = AgglomerativeClustering(linkage=method).fit(data)
        assert certify(model, data).holds


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "l1", "seuclidean"])
@pytest.mark.parametrize("method", ["single", "complete", "average"])
def test_other_metrics_are_scipys(method, metric):
    X = rows(60, 3)
    name = {"manhattan": "cityblock", "l1": "cityblock"}.get(metric, metric)
    if metric in ("chebyshev", "seuclidean"):  # beyond scikit-learn's list for vectors

        def metric(X):
            return squareform(pdist(X, name))

    found = tree(X, method, metric=metric)
    np.testing.assert_allclose(found, hierarchy.linkage(X, method, name), rtol=1e-9, atol=1e-12)


@each_method
def test_one_tree_is_cut_at_any_number_and_height(method):
    X = rows(80, 2)
    model = AgglomerativeClustering(linkage=method).fit(X)
    Z = model.linkage_matrix_
    assert set(model.cut(80)) == set(range(80))
    assert set(model.cut(height=np.inf)) == {0}
    assert len(set(model.cut(height=0.0))) == 80
    for k in (2, 5, 17):
        labels = model.cut(k)
        other = hierarchy.fcluster(Z, k, "maxclust")
        assert len(set(zip(labels, other, strict=True))) == k
        np.testing.assert_array_equal(labels, model.cut(height=Z[len(Z) - k + 1, 2]))
    with pytest.raises(ValueError, match="between 1 and 80"):
        model.cut(81)
    with pytest.raises(ValueError, match="exactly one of n_clusters and height"):
        model.cut()


@pytest.mark.parametrize("data", ["far", "tiny", "constant column", "wide"])
@each_method
def test_columns_far_from_zero_or_constant_change_nothing(method, data):
    X = rows(90, 3)
    other = {
        "far": X + 1e6, "tiny": X * 1e-9, "wide": np.hstack([X, np.zeros((90, 300))]),
        "constant column": np.hstack([X, np.full((90, 1), 7.0)]),
    }[data]  # fmt: skip
    expected = hierarchy.linkage(other, method)
    np.testing.assert_allclose(tree(other, method)[:, 2], expected[:, 2], rtol=1e-7)


def test_what_cannot_be_a_matrix_of_distances_is_refused():
    D = squareform(pdist(rows(6, 2)))
    model = AgglomerativeClustering(metric="precomputed", linkage="average")
    bad = D.copy()
    bad[1, 2] += 1
    with pytest.raises(ValueError, match=r"must be symmetric; got X\["):
        model.fit(bad)
    bad = D.copy()
    bad[1, 2] = bad[2, 1] = -1
    with pytest.raises(ValueError, match="must not be negative; rows 1 and 2 have -1"):
        model.fit(bad)
    with pytest.raises(ValueError, match="Convert similarities to distances"):
        model.fit(np.exp(-D))
    with pytest.raises(ValueError, match="should be square"):
        model.fit(D[:4])


def test_bad_settings_and_rows_are_refused():
    X = rows(6, 2)
    with pytest.raises(ValueError, match="more clusters than samples: 7"):
        AgglomerativeClustering(7).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        AgglomerativeClustering().fit([[0.0], [np.nan]])
    with pytest.raises(ValueError, match="minimum of 2"):
        AgglomerativeClustering().fit([[0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="not finite"):
            AgglomerativeClustering(linkage="single").fit([[0.0], [1e200], [3e200]])


def test_connectivity_and_memory_are_left_to_scikit_learn(tmp_path):
    X = rows(40, 2)
    graph = np.eye(40, k=1) + np.eye(40, k=-1)
    for settings in ({"connectivity": graph}, {"memory": str(tmp_path)}):
        own = AgglomerativeClustering(3, **settings).fit(X)
        peer = sklearn.cluster.AgglomerativeClustering(3, **settings).fit(X)
        np.testing.assert_array_equal(own.labels_, peer.labels_)
        assert not hasattr(own, "linkage_matrix_")


@pytest.mark.parametrize("method", ["complete", "average"])
@pytest.mark.parametrize("seed", range(6))
def test_trees_with_ties_are_scipys(method, seed):
    """On wingnut, rows on a grid, complete linkage found other clusters than scikit-learn's."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 300))
    X = rng.integers(0, 6, (n, 2)) / 10 if seed % 2 else np.round(rng.normal(size=(n, 3)), 1)
    Z = AgglomerativeClustering(2, linkage=method).fit(X).linkage_matrix_
    np.testing.assert_array_equal(Z[:, :2], hierarchy.linkage(X, method)[:, :2])


@each_method
def test_distances_beyond_the_range_of_doubles_are_refused(method):
    """Ward's chain went on for ever where all increases were infinite."""
    X = np.random.default_rng(0).normal(size=(50, 3)) * 1e200
    with pytest.raises(ValueError, match="not finite: scale the columns down"):
        AgglomerativeClustering(2, linkage=method).fit(X)


@pytest.mark.parametrize("how", ["euclidean", "precomputed"])
@pytest.mark.parametrize("method", ["complete", "average"])
def test_trees_of_small_numbers_are_the_same(method, how, monkeypatch):
    many_points_from(50, monkeypatch)
    X = np.random.default_rng(0).standard_normal((120, 2))
    rows = cdist(X, X) if how == "precomputed" else X
    tree, small = (
        AgglomerativeClustering(linkage=method, metric=how).fit(rows * scale)
        for scale in (1.0, 2.0**-100)
    )
    np.testing.assert_array_equal(small.children_, tree.children_)
    np.testing.assert_allclose(
        small.linkage_matrix_[:, 2] * 2.0**100, tree.linkage_matrix_[:, 2], rtol=1e-12
    )


@pytest.mark.parametrize("method", ["single", "complete"])
def test_distances_that_are_no_numbers_are_refused(method):
    rows = [[0.0, 0], [0, 0], [1, 2], [5, 1]]
    for metric in ("braycurtis", lambda X: np.full((4, 4), np.nan)):
        with pytest.raises(ValueError, match="not finite"):
            AgglomerativeClustering(2, linkage=method, metric=metric).fit(rows)


@pytest.mark.parametrize("package", [rosenblatt, sklearn.cluster])
def test_a_changed_cut_fails_its_certificate(package):
    X = np.random.default_rng(0).standard_normal((30, 2))
    for change in ({"labels_": np.zeros(30, int)}, {"labels_": np.arange(30)}, {"n_clusters_": 7},
                   {"n_leaves_": 7}, {"n_clusters": 4}):  # fmt: skip
        model = package.AgglomerativeClustering(3, compute_distances=True).fit(X)
        assert certify(model, X).holds
        vars(model).update(change)
        assert not certify(model, X).holds


def test_a_metric_of_all_rows_is_certified():
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = AgglomerativeClustering(3, linkage="average", metric="mahalanobis").fit(X)
    assert certify(model, X).holds
