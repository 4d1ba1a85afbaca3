"""Q6: votes of many clusterings, and the graph of votes cut into pieces."""

from itertools import product

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering as Peer
from sklearn.metrics import adjusted_rand_score

from rosenblatt import AgglomerativeClustering, ConsensusClustering, KMeans
from rosenblatt.cluster import consensus
from rosenblatt.cluster.consensus import exact_cut, partitions, two_way_cut


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 8 * np.eye(3)[truth][:, :2], truth


def test_runs_agree_on_clusters_that_are_there():
    X, truth = blobs()
    model = ConsensusClustering(KMeans(3), n_runs=15, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert model.runs_.shape == (90, 15)
    assert (model.stability_ > 0.5).all()
    assert model.cluster_stability_.shape == (3,)


@pytest.mark.parametrize("k", [None, 2, 3])
def test_votes_do_not_depend_on_the_names_of_clusters(k):
    rng = np.random.default_rng(1)
    runs = rng.integers(0, 3, (20, 6))
    first = ConsensusClustering(n_clusters=k).fit_labels(runs)
    other = ConsensusClustering(n_clusters=k).fit_labels((runs + np.arange(6)) % 3)
    np.testing.assert_array_equal(first.labels_, other.labels_)
    votes = first.votes()
    np.testing.assert_array_equal(votes, other.votes())
    np.testing.assert_array_equal(votes, votes.T)
    assert (votes.diagonal() == 1).all()
    np.testing.assert_allclose(votes, (runs[:, None] == runs).mean(axis=2))


def test_components_and_stability_follow_from_the_matrix_of_votes():
    from scipy.sparse.csgraph import connected_components

    rng = np.random.default_rng(2)
    runs = np.repeat(rng.integers(0, 4, (25, 5)), 2, axis=0)
    model = ConsensusClustering(threshold=0.4).fit_labels(runs)
    votes = model.votes()
    n, labels = connected_components(votes > 0.4)
    assert model.n_clusters_ == n
    assert adjusted_rand_score(labels, model.labels_) == 1
    together = model.labels_[:, None] == model.labels_
    np.fill_diagonal(together, False)
    alone = ~together.any(axis=1)
    mean = (votes * together).sum(axis=1) / np.maximum(together.sum(axis=1), 1)
    np.testing.assert_allclose(model.stability_, np.where(alone, 1, mean))
    across = votes[model.labels_[:, None] != model.labels_].sum() / 2
    assert model.cut_votes_ == pytest.approx(5 * across)


def test_minimum_cuts_are_those_of_all_cuts():
    rng = np.random.default_rng(3)
    for n in (3, 6):
        W = rng.integers(0, 9, (n, n)).astype(float)
        W = W + W.T

        def across(labels, W=W):
            labels = np.asarray(labels)
            return W[labels[:, None] != labels].sum()

        every = [labels for labels in product(range(2), repeat=n) if len(set(labels)) == 2]
        least = min(map(across, every))
        assert across(two_way_cut(W)) == across(exact_cut(W, 2)) == least
    assert len(list(partitions(6, 3))) == 90  # Stirling's number of the second kind


def test_many_groups_are_cut_by_average_linkage_in_which_groups_count_by_size(monkeypatch):
    monkeypatch.setattr(consensus, "SMALL_CUT", 0)
    rng = np.random.default_rng(4)
    runs = rng.integers(0, 3, (30, 7))
    runs = runs[rng.integers(0, 30, 80)]
    model = ConsensusClustering(n_clusters=4).fit_labels(runs)
    peer = Peer(4, metric="precomputed", linkage="average").fit(1 - model.votes())
    assert adjusted_rand_score(peer.labels_, model.labels_) > 0.5  # ties leave some freedom
    assert model.n_clusters_ == 4
    assert "average" in model.cut_


def test_clusterers_without_seed_or_predict_run_on_parts_of_the_rows():
    X, truth = blobs()
    model = ConsensusClustering(
        AgglomerativeClustering(3), n_runs=6, max_samples=0.6, random_state=0
    ).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert len({tuple(run) for run in model.runs_.T}) > 1


def test_fifty_thousand_rows_need_no_matrix_of_all():
    rng = np.random.default_rng(5)
    runs = rng.integers(0, 4, 50_000)[:, None] + np.zeros((1, 8), int)
    runs[rng.random(runs.shape) < 0.02] = 9
    model = ConsensusClustering().fit_labels(runs)
    assert model.n_clusters_ == 4
    assert model.groups_.max() < 2_000


def test_more_pieces_than_groups_are_refused():
    with pytest.raises(ValueError, match="at most 2, the number of groups"):
        ConsensusClustering(n_clusters=3).fit_labels([[0], [0], [1]])
    with pytest.raises(ValueError, match="n_runs"):
        ConsensusClustering(n_runs=0).fit(np.eye(4))


def test_labels_that_are_no_table_are_refused():
    with pytest.raises(ValueError, match="rows with 2 and with 3 labels"):
        ConsensusClustering().fit_labels([[0, 1], [0, 1, 2]])
