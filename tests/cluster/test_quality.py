"""Q5: scores of clusterings, against scikit-learn's and the definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_samples

from rosenblatt import KMeans, choose_k, cluster_quality
from rosenblatt.cluster import quality as module


def clusters(n=200, d=3, k=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(k, d))[labels], labels


def test_scores_follow_their_definitions():
    X, labels = clusters()
    found = cluster_quality(X, labels)
    groups = [X[labels == k] for k in range(4)]
    centres = np.array([group.mean(axis=0) for group in groups])
    within = [((group - centre) ** 2).sum() for group, centre in zip(groups, centres, strict=True)]
    np.testing.assert_allclose(found.within, within)
    np.testing.assert_allclose(found.centroid_distances, cdist(centres, centres), atol=1e-12)
    nearest = [[cdist(a, b).min() for b in groups] for a in groups]
    np.testing.assert_allclose(found.nearest_pairs, nearest)
    apart = cdist(centres, centres)[np.triu_indices(4, 1)]
    assert found.spread_between == pytest.approx(apart.std())
    assert found.closest_pair == pytest.approx(np.min(np.array(nearest)[np.triu_indices(4, 1)]))
    assert found.to_dict()["sizes"] == np.bincount(labels).tolist()


def test_silhouettes_are_scikit_learns():
    X, labels = clusters(n=501)
    labels[0] = 9  # alone in its cluster
    found = cluster_quality(X, labels)
    expected = silhouette_samples(X, labels)
    np.testing.assert_allclose(found.silhouettes, expected, atol=1e-12)


def test_silhouettes_of_many_rows_are_those_of_a_sample(monkeypatch):
    X, labels = clusters(n=400)
    exact = cluster_quality(X, labels).silhouettes
    monkeypatch.setattr(module, "MOST_ROWS", 300)
    monkeypatch.setattr(module, "SAMPLE", 50)
    found = cluster_quality(X, labels)
    assert len(found.silhouettes) == 50
    assert set(found.silhouettes.round(12)) <= set(exact.round(12))


def test_labels_may_be_words_and_equal_rows_have_no_silhouette():
    found = cluster_quality([[1.0], [1.0], [1.0]], ["a", "b", "a"])
    assert found.silhouette == 0
    assert found.labels.tolist() == ["a", "b"]


def test_one_cluster_and_missing_labels_are_refused():
    with pytest.raises(ValueError, match="at least two clusters; got one"):
        cluster_quality([[1.0], [2.0]], [1, 1])
    with pytest.raises(ValueError, match="inconsistent"):
        cluster_quality([[1.0], [2.0]], [1, 0, 1])
    for score in (cluster_quality, lambda X, _: choose_k(KMeans(), X, [2])):
        with pytest.raises(ValueError, match=r"NaN.* Column 1 has 1 missing value"):
            score([[1.0, 1.0], [2.0, np.nan], [3.0, 3.0]], [1, 0, 1])


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_numbers_whose_squares_are_out_of_range_are_refused(scale):
    X = np.array([[0.0], [1.0], [5.0]]) * scale
    with pytest.raises(ValueError, match="rescale the columns"):
        cluster_quality(X, [0, 0, 1])
