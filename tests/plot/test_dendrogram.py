"""V10, Q4: trees of joins, four linkages side by side, votes, and the choice of a number."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.cluster
from matplotlib.text import Text
from scipy.cluster import hierarchy

from rosenblatt import AgglomerativeClustering, ConsensusClustering, choose_k
from rosenblatt.plot import cluster_numbers, dendrogram, linkages, vote_map

X = np.random.default_rng(0).normal(size=(40, 2))


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def brackets(ax):
    return [np.asarray(line) for line in ax.collections[0].get_segments()]


@pytest.mark.parametrize("linkage", ["single", "ward"])
def test_brackets_are_those_of_scipy(ax, linkage):
    model = AgglomerativeClustering(3, linkage=linkage).fit(X)
    drawn = sorted(float(line[1, 1]) for line in brackets(dendrogram(model, ax=ax)))
    theirs = hierarchy.dendrogram(model.linkage_matrix_, no_plot=True)
    np.testing.assert_allclose(drawn, sorted(d[1] for d in theirs["dcoord"]))
    assert sorted(int(tick.get_text()) for tick in ax.get_xticklabels()) == list(range(40))
    for line in brackets(ax):  # it stands on what it joins
        assert (line[[0, 3], 1] <= line[1, 1]).all()


def test_leaves_of_a_cluster_stand_next_to_each_other(ax):
    model = AgglomerativeClustering(5, linkage="average").fit(X)
    dendrogram(model, ax=ax)
    order = [int(tick.get_text()) for tick in ax.get_xticklabels()]
    assert np.count_nonzero(np.diff(model.labels_[order])) == 4


def test_a_thousand_leaves_have_sizes_and_no_names(ax):
    many = np.random.default_rng(1).normal(size=(1000, 2)) + 9 * np.eye(2)[np.arange(1000) % 2]
    dendrogram(AgglomerativeClustering(2).fit(many), ax=ax)
    assert not ax.get_xticklabels()
    assert ax.get_xlabel() == "1,000 rows"
    assert sorted(text.get_text() for text in ax.texts) == ["500", "500"]
    assert len(brackets(ax)) == 999


def test_a_cluster_of_one_row_of_many_is_named_by_its_row_beside_the_sizes(ax):
    """Clusters of few rows had neither name nor size."""
    many = np.vstack([np.random.default_rng(1).normal(size=(98, 2)), [[30, 0], [0, 40]]])
    model = AgglomerativeClustering(3, linkage="single").fit(many)
    names = [f"customer {i}" for i in range(100)]
    words = {text.get_text(): text for text in dendrogram(model, names=names, ax=ax).texts}
    assert set(words) == {"98", "customer 98", "customer 99"}
    assert words["customer 98"].get_rotation() == 90
    ax.figure.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in words.values()]  # without the line
    assert not any(a.overlaps(b) for a in boxes for b in boxes if a is not b)
    ax.clear()
    assert {text.get_text() for text in dendrogram(model, ax=ax).texts} == {"98", "99"}


def test_scikit_learns_trees_and_scipys_matrix_are_drawn(ax):
    peer = sklearn.cluster.AgglomerativeClustering(3, compute_distances=True).fit(X)
    own = AgglomerativeClustering(3).fit(X)
    first = brackets(dendrogram(peer, ax=ax))
    ax.clear()
    second = brackets(dendrogram(own.linkage_matrix_, n_clusters=3, names=list(range(40)), ax=ax))
    np.testing.assert_allclose(
        sorted(line[1, 1] for line in first), sorted(line[1, 1] for line in second)
    )
    with pytest.raises(ValueError, match="compute_distances=True"):
        dendrogram(sklearn.cluster.AgglomerativeClustering().fit(X), ax=ax)
    with pytest.raises(ValueError, match="between 1 and 40"):
        dendrogram(own, n_clusters=41, ax=ax)


def test_the_cut_is_drawn_where_it_is(ax):
    model = AgglomerativeClustering(3).fit(X)
    dendrogram(model, height=1.0, ax=ax)
    colours = {tuple(c) for c in ax.collections[0].get_colors()}
    assert len(colours) > 2


def test_four_linkages_stand_side_by_side():
    figure = linkages(X, 3)
    assert [ax.get_title(loc="left") for ax in figure.axes[:4]] == [
        "single", "complete", "average", "ward",
    ]  # fmt: skip
    plt.close(figure)


def test_votes_and_numbers_are_drawn(ax):
    model = ConsensusClustering().fit_labels(np.repeat(np.arange(4)[:, None], 3, axis=1))
    vote_map(model, ax)
    np.testing.assert_array_equal(ax.images[0].get_array(), np.eye(4))
    figure, other = plt.subplots()
    choice = choose_k(AgglomerativeClustering(), X, range(2, 6))
    cluster_numbers(choice, other)
    assert other.get_title(loc="left") == choice.why
    plt.close(figure)


@pytest.mark.parametrize("n", [12, 30, 60])
def test_names_of_leaves_do_not_run_together(n):
    """Of 40 rows the numbers read as one: 37141728332712."""
    rows = np.random.default_rng(0).normal(size=(n, 2))
    ax = dendrogram(AgglomerativeClustering(3).fit(rows))
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_xticklabels()]
    assert len(boxes) == n
    gaps = [right.x0 - left.x1 for left, right in pairwise(boxes)]
    # Boxes of upright words are those of a line, a third taller than its digits.
    allowed = 0.35 * boxes[0].width if ax.get_xticklabels()[0].get_rotation() else 0
    assert min(gaps) > -allowed
    plt.close(ax.figure)


def test_leaves_without_room_have_sizes_in_place_of_names():
    figure = plt.figure(figsize=(2, 2))
    ax = dendrogram(AgglomerativeClustering(3).fit(X), ax=figure.gca())
    assert not ax.get_xticklabels()
    assert len(ax.texts) == 3
    plt.close(figure)
