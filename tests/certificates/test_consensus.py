"""The certificate of consensus: against graphs and cuts that are tried out, and tampered ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import ConsensusClustering, KMeans, certify
from rosenblatt.certificates import consensus
from rosenblatt.cluster import consensus as fits
from rosenblatt.cluster.consensus import exact_cut, two_way_cut


@given(
    seed=st.integers(0, 2**31), n=st.integers(2, 20), R=st.integers(1, 6),
    threshold=st.sampled_from([0.0, 0.3, 0.5, 0.9]), k=st.sampled_from([None, 1, 2, 3]),
)  # fmt: skip
def test_it_holds_for_every_consensus(seed, n, R, threshold, k):
    rng = np.random.default_rng(seed)
    runs = rng.integers(0, 3, (n, R))
    n_groups = len(np.unique(runs, axis=0))
    model = ConsensusClustering(n_clusters=k and min(k, n_groups), threshold=threshold)
    certificate = certify(model.fit_labels(runs), np.zeros((n, 1)))
    assert certificate.holds, str(certificate)


@given(seed=st.integers(0, 2**31), k=st.sampled_from([2, 3]))
def test_the_fewest_votes_across_are_those_of_the_best_cut(seed, k):
    runs = np.random.default_rng(seed).integers(0, 3, (9, 3))
    votes = consensus.Votes(runs)
    found = consensus.fewest_votes_across(votes, k)
    if found is None or len(votes) < k:
        return
    weights = votes.of(np.arange(len(votes))) * votes.sizes[:, None] * votes.sizes
    cut = exact_cut(weights.astype(float), k)
    assert found == votes.across(cut)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("groups_", lambda a: np.minimum(a, a.max() - 1), "groups"),
        ("runs_", lambda a: np.roll(a, 1, axis=0), "components"),
        ("labels_", lambda a: np.where(np.arange(len(a)) == 0, (a + 1) % 3, a), "components"),
        ("stability_", lambda a: a - 1e-6, "stability"),
        ("cluster_stability_", lambda a: a[::-1] + 1e-6, "cluster stability"),
    ],
)
def test_a_number_that_was_changed_is_found(name, change, claim):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + 8 * np.eye(3)[np.arange(90) // 30][:, :2]
    model = ConsensusClustering(KMeans(4), n_runs=9, random_state=0).fit(X)
    assert certify(model, X).holds
    setattr(model, name, change(getattr(model, name)))
    assert not certify(model, X)[claim].holds


def test_a_cut_that_is_not_the_best_is_found():
    runs = np.random.default_rng(1).integers(0, 3, (40, 3))
    model = ConsensusClustering(n_clusters=2).fit_labels(runs)
    assert certify(model, runs)["optimum"].grade == "proved"
    model.labels_ = (np.unique(runs, axis=0, return_inverse=True)[1] % 2).ravel()
    model.stability_, model.cut_votes_ = fits._agreement(runs, model.labels_)
    certificate = certify(model, runs)
    assert certificate["votes across"].holds
    assert not certificate["optimum"].holds


def test_votes_that_are_miscounted_are_found(monkeypatch):
    runs = np.random.default_rng(2).integers(0, 3, (12, 4))
    model = ConsensusClustering().fit_labels(runs)
    monkeypatch.setattr(ConsensusClustering, "votes", lambda self, rows: np.ones((12, 12)))
    assert not certify(model, runs)["votes"].holds


def test_many_groups_are_sampled_and_a_link_that_was_cut_is_found(monkeypatch):
    monkeypatch.setattr(consensus, "MOST_GROUPS", (20, 20))
    runs = np.random.default_rng(3).integers(0, 5, (300, 8))
    model = ConsensusClustering(threshold=0.3).fit_labels(runs)
    certificate = certify(model, runs)
    assert certificate.holds
    assert "20 of the" in certificate["components"].statement
    model.labels_ = np.arange(300) % 2
    assert not certify(model, runs)["components"].holds


def test_other_rows_are_refused():
    runs = np.random.default_rng(4).integers(0, 2, (10, 3))
    with pytest.raises(ValueError, match="of 10 rows, and 9 were given"):
        certify(ConsensusClustering().fit_labels(runs), runs[1:])


def test_two_way_cuts_are_proved_by_flows():
    runs = np.random.default_rng(5).integers(0, 4, (30, 3))
    votes = consensus.Votes(runs)
    weights = votes.of(np.arange(len(votes))) * votes.sizes[:, None] * votes.sizes
    assert 8 < len(votes) <= 40
    cut = two_way_cut(weights.astype(float))
    assert consensus.fewest_votes_across(votes, 2) == votes.across(cut)
