"""N3, V12: cells, votes, boundaries as k grows, sizes of splits, distances that become alike."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.path import Path
from sklearn.datasets import make_moons

from rosenblatt import KNeighborsClassifier, NearestNeighbors
from rosenblatt.plot import (
    boundaries_by_k,
    distance_concentration,
    neighbours,
    split_sizes,
    voronoi,
)

X, Y = make_moons(60, noise=0.3, random_state=0)


@pytest.fixture
def ax():
    figure = plt.figure(layout="constrained")
    yield figure.gca()
    figure.canvas.draw()  # warns where the layout fails
    plt.close(figure)


def test_of_two_points_the_boundary_is_the_perpendicular_bisector(ax):
    """DC19: (0, 0) and (4, 2), 2x + y = 5."""
    [line] = voronoi([[0.0, 0.0], [4.0, 2.0]], ["a", "b"], ax).lines
    x, y = line.get_data()
    np.testing.assert_allclose(2 * x + y, 5.0)


def test_each_place_lies_in_the_cell_of_its_nearest_point_and_cells_cover_the_plane(ax):
    voronoi(X, Y, ax)
    cells = [Path(cell.get_xy()) for cell in ax.patches]
    assert len(cells) == len(X)
    places = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (200, 2))
    nearest = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(places)[1].ravel()
    inside = np.array([cell.contains_points(places) for cell in cells])
    np.testing.assert_array_equal(inside.argmax(axis=0), nearest)
    np.testing.assert_array_equal(inside.sum(axis=0), 1)


def test_bold_edges_are_where_one_nearest_neighbour_changes_its_mind(ax):
    voronoi(X, Y, ax)
    model = KNeighborsClassifier(1).fit(X, Y)
    for line in ax.lines:
        ends = np.transpose(line.get_data())
        along = ends[1] - ends[0]
        if np.linalg.norm(along) < 1e-3 or np.abs(ends).max() > 5:
            continue
        side = 1e-5 * np.array([-along[1], along[0]]) / np.linalg.norm(along)
        labels = model.predict([ends.mean(axis=0) + side, ends.mean(axis=0) - side])
        assert (labels[0] != labels[1]) == (line.get_linewidth() > 1)


def test_equal_points_are_drawn_once_and_all_equal_ones_refused(ax):
    voronoi([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]], [0, 1, 1], ax)
    assert len(ax.patches) == 2
    with pytest.raises(ValueError, match="two different points"):
        voronoi([[1.0, 1.0], [1.0, 1.0]], [0, 1], ax)


def test_the_votes_on_a_point_are_counted(ax):
    model = KNeighborsClassifier(7).fit(X, Y)
    neighbours(model, X, Y, [0.5, 0.3], ax)
    share = model.predict_proba([[0.5, 0.3]])[0]
    votes = f"7 nearest: {7 * share[0]:.0f} 0, {7 * share[1]:.0f} 1"
    assert ax.get_legend().get_title().get_text() == f"{votes}; hollow: predicted wrongly"


def test_boundaries_are_drawn_for_each_k():
    axes = boundaries_by_k(X, Y, (1, 9))
    assert [ax.get_title("right") for ax in axes] == ["k = 1", "k = 9"]
    plt.close(axes[0].figure)


def test_noise_concentrates_more_than_columns_that_depend_on_each_other(ax):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 40))
    distance_concentration(rows, ax)
    noise, own = (line.get_ydata()[-1] for line in ax.lines)
    assert own < noise / 2


def test_few_rows_to_score_on_scatter_the_score(ax):
    split_sizes(KNeighborsClassifier(), X, Y, [0.5, 0.95], repeats=30, ax=ax)
    [band] = ax.collections
    corners = band.get_paths()[0].vertices
    widths = [np.ptp(corners[np.isclose(corners[:, 0], share), 1]) for share in (0.5, 0.95)]
    assert widths[1] > widths[0]
    with pytest.raises(ValueError, match="between 0 and 1"):
        split_sizes(KNeighborsClassifier(), X, Y, [1.0], ax=ax)


def test_a_place_has_two_numbers_and_lies_on_top():
    rows = np.array([[0.0, 1], [1, 0], [2, 3], [3, 2]] * 80)
    y = ["ham", "ham", "spam", "spam"] * 80
    model = KNeighborsClassifier(3).fit(rows, y)
    with pytest.raises(ValueError, match="two numbers of a place; got 3"):
        neighbours(model, rows, y, [1, 2, 3])
    ax = neighbours(model, rows, y, [2, 2], ax=plt.figure().gca())
    star = ax.collections[-1]
    assert star.get_zorder() == max(one.get_zorder() for one in ax.collections)
    assert star.get_sizes().max() >= 100
