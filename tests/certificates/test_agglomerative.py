"""The certificate of trees: against slow trees, on scikit-learn's class, and on tampered ones."""

import numpy as np
import pytest
import sklearn.cluster
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import AgglomerativeClustering, certify
from rosenblatt.certificates import agglomerative
from tests.reference.linkage import slow_linkage

METHODS = ("single", "complete", "average", "ward")


@given(
    seed=st.integers(0, 2**31), n=st.integers(2, 14), d=st.integers(1, 3),
    method=st.sampled_from(METHODS), whole=st.booleans(), scale=st.sampled_from([1e-3, 1.0, 1e6]),
)  # fmt: skip
def test_it_holds_for_the_slow_tree_and_no_other_heights(seed, n, d, method, whole, scale):
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, 4, (n, d)) if whole else rng.normal(size=(n, d))) * scale
    model = AgglomerativeClustering(linkage=method, n_clusters=min(2, n)).fit(X)
    assert certify(model, X).holds
    if not whole:  # without ties there is one tree
        exact = slow_linkage(X, method)
        np.testing.assert_allclose(model.linkage_matrix_[:, 2], exact, rtol=1e-9)
    k = int(rng.integers(n - 1))
    Z = model.linkage_matrix_.copy()
    Z[k, 2] = Z[k, 2] * 1.001 + 1e-3 * scale
    model.linkage_matrix_ = Z
    assert not certify(model, X)["heights"].holds


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("distances", [False, True])
def test_it_reads_scikit_learns_trees(method, distances):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = sklearn.cluster.AgglomerativeClustering(
        linkage=method, n_clusters=4, compute_distances=distances
    ).fit(X)
    certificate = certify(model, X)
    assert certificate.holds
    assert ("heights" in {claim.name for claim in certificate}) == distances
    model.labels_ = np.roll(model.labels_, 1)
    assert not certify(model, X)["labels"].holds


@pytest.mark.parametrize("method", METHODS)
def test_a_pair_that_was_not_the_closest_is_found(method):
    X = np.random.default_rng(1).normal(size=(30, 2))
    model = AgglomerativeClustering(linkage=method).fit(X)
    other = AgglomerativeClustering(linkage=method).fit(X[::-1] * [1.0, 3.0])
    model.linkage_matrix_, model.children_ = other.linkage_matrix_, other.children_
    model.labels_ = other.labels_
    certificate = certify(model, X)
    assert not certificate["closest"].holds
    assert not certificate["heights"].holds


@pytest.mark.parametrize("method", METHODS)
def test_large_trees_are_sampled(method, monkeypatch):
    monkeypatch.setattr(agglomerative, "MOST_ROWS", (10, 10))
    X = np.random.default_rng(2).normal(size=(120, 3))
    model = AgglomerativeClustering(linkage=method).fit(X)
    certificate = certify(model, X)
    assert certificate.holds
    assert "20 of 119 joins replayed" in certificate.data
    model.linkage_matrix_ = model.linkage_matrix_ * [1, 1, 1.01, 1]
    assert not certify(model, X).holds


def test_other_rows_and_limited_joins_are_refused():
    X = np.random.default_rng(3).normal(size=(20, 2))
    with pytest.raises(ValueError, match="of 20 rows, and 19 were given"):
        certify(AgglomerativeClustering().fit(X), X[1:])
    graph = np.eye(20, k=1) + np.eye(20, k=-1)
    with pytest.raises(ValueError, match="limited by connectivity"):
        certify(AgglomerativeClustering(connectivity=graph).fit(X), X)


def test_distances_that_were_given_are_read():
    X = np.random.default_rng(4).normal(size=(20, 2))
    D = np.abs(X[:, None] - X).sum(axis=2)
    model = AgglomerativeClustering(metric="precomputed", linkage="average").fit(D)
    assert certify(model, D).holds


@pytest.mark.parametrize("column", [0, 2, 3])
def test_other_numbers_in_the_linkage_matrix_or_distances_are_found(column):
    X = np.random.default_rng(0).normal(size=(30, 3))
    how = {"n_clusters": 3, "linkage": "single", "compute_distances": True}
    model = AgglomerativeClustering(**how).fit(X)
    assert certify(model, X).holds
    changed = model.linkage_matrix_.copy()
    changed[3, column] += 1
    model.linkage_matrix_ = changed
    assert not certify(model, X).holds
    model = AgglomerativeClustering(**how).fit(X)
    model.distances_ = model.distances_ * 100
    assert not certify(model, X).holds
