"""Q5: how many clusters, by four criteria."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from rosenblatt import AgglomerativeClustering, GaussianMixture, KMeans, choose_k

CENTRES = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 2)) + CENTRES[np.arange(160) % 4]
K_MEANS = KMeans(n_init=5, random_state=0)
MIXTURE = GaussianMixture(n_init=3, random_state=0)


@pytest.mark.parametrize(
    ("estimator", "criterion"),
    [
        (K_MEANS, "silhouette"),
        (K_MEANS, "gap"),
        (AgglomerativeClustering(), "auto"),
        (AgglomerativeClustering(linkage="average"), "gap"),
        (MIXTURE, "auto"),
        (MIXTURE, "likelihood"),
    ],
)
def test_four_blobs_are_four(estimator, criterion):
    numbers = range(2, 7) if criterion in ("silhouette", "auto") else range(1, 7)
    choice = choose_k(estimator, X, numbers, criterion=criterion, n_references=5)
    assert choice.k == 4
    assert choice.why.startswith("4 clusters: ")
    assert len(choice.scores) == len(choice.models) == len(numbers)


def test_the_gap_finds_no_clusters_where_there_are_none():
    even = np.random.default_rng(1).uniform(size=(150, 2))
    assert choose_k(K_MEANS, even, range(1, 6), criterion="gap").k == 1


def test_silhouettes_of_one_tree_are_those_of_trees_of_their_own():
    choice = choose_k(AgglomerativeClustering(linkage="complete"), X, [3, 5, 8])
    for model, k, score in zip(choice.models, (3, 5, 8), choice.scores, strict=True):
        own = AgglomerativeClustering(k, linkage="complete").fit(X)
        np.testing.assert_array_equal(model.labels_, own.labels_)
        assert score == pytest.approx(silhouette_score(X, own.labels_))
    assert choice.model.n_clusters_ == choice.k


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="needs a model with `bic`"):
        choose_k(K_MEANS, X, criterion="bic")
    with pytest.raises(ValueError, match="criterion must be"):
        choose_k(K_MEANS, X, criterion="elbow")
    with pytest.raises(ValueError, match="numbers from 2 to 159"):
        choose_k(K_MEANS, X, [1, 160])


def test_a_tree_that_scikit_learn_builds_is_tried_at_each_number(tmp_path):
    X = np.random.RandomState(0).standard_normal((20, 2))
    model = AgglomerativeClustering(memory=str(tmp_path))
    assert choose_k(model, X, k=[2, 3]).k in (2, 3)
