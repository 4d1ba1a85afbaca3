"""Trees as people draw them, and the votes of many."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble

from rosenblatt import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from rosenblatt.plot import decision_tree, vote_curves, votes
from rosenblatt.plot.tree_votes import votes_cast


@pytest.fixture
def ax():
    figure = plt.figure(layout="constrained")
    yield figure.gca()
    figure.canvas.draw()  # warns where the layout fails
    plt.close(figure)


@pytest.fixture(scope="module")
def circle():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (150, 2))
    return X, np.where((X**2).sum(axis=1) < 0.5, "in", "out")


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_a_node_has_its_question_rows_and_a_bar_of_class_shares(ax):
    model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "a", "b"])
    decision_tree(model, feature_names=["size"], ax=ax)
    assert {"size <= 2.5?", "yes", "no", "4 rows", "3 rows", "1 rows", "a", "b"} == {*written(ax)}
    bars = [p for p in ax.patches if p.get_fill() and p.get_y() == -0.1]
    assert [bar.get_width() / 0.84 for bar in bars] == pytest.approx([0.75, 0.25])


def test_thresholds_are_those_of_the_text(ax):
    X = [[206, 42.3], [207, 42.4], [206, 42.4], [207, 42.3]]
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    decision_tree(model, ax=ax)
    assert {"x1 <= 206.5?", "x2 <= 42.35?"} <= {*written(ax)}


def test_a_figure_of_its_own_has_room_for_the_leaves():
    X = np.arange(20.0)[:, np.newaxis]
    small, large = plt.figure(), None
    try:
        decision_tree(DecisionTreeClassifier().fit(X, X[:, 0] > 9))
        assert small.get_size_inches().tolist() == plt.rcParams["figure.figsize"]
        large = plt.figure()
        decision_tree(DecisionTreeClassifier().fit(X, X[:, 0]), max_depth=None)
        assert large.get_size_inches()[0] >= 20
    finally:
        plt.close("all")


def test_the_legend_of_vote_curves_is_inside_the_figure(circle):
    model = RandomForestClassifier(5, random_state=0).fit(circle[0], np.arange(150) % 6)
    figure = plt.figure()
    legend = vote_curves(model, circle[0], np.arange(150) % 6).get_legend()
    figure.canvas.draw()
    box, page = legend.get_window_extent(), figure.bbox
    assert box.x1 <= page.x1
    assert box.y1 <= page.y1
    plt.close(figure)


def test_branches_of_categories_bear_their_names(ax):
    days = pd.DataFrame({"outlook": ["sun", "rain", "fog"] * 2})
    decision_tree(DecisionTreeClassifier().fit(days, ["a", "b", "c"] * 2), ax=ax)
    assert {"outlook?", "sun", "rain", "fog"} <= {*written(ax)}


def test_levels_below_the_last_drawn_are_dots(circle, ax):
    decision_tree(DecisionTreeClassifier().fit(*circle), max_depth=1, ax=ax)
    assert sum(text.endswith("\u2026") for text in written(ax)) == 2


def test_numbers_are_drawn_as_how_far_a_bar_is_filled(ax):
    model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 5.0, 10.0])
    decision_tree(model, ax=ax)
    filled = {round(p.get_width() / 0.84, 3) for p in ax.patches if p.get_fill()}
    assert filled == {0.0, 0.5, 0.75, 1.0}  # 0, the mean 5, the mean 7.5 of the last two, 10


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(15, random_state=0),
        BaggingClassifier(n_estimators=15, max_features=1, random_state=0),
        ensemble.RandomForestClassifier(15, random_state=0),
        ensemble.BaggingClassifier(n_estimators=15, random_state=0),
    ],
)
def test_votes_are_those_of_each_member(model, circle, ax):
    """V9: the tint is the share of the members that vote for a class."""
    X, y = circle
    cast = votes_cast(model.fit(X, y), X)
    assert cast.shape == (150, 15)
    share_of_out = cast.mean(axis=1)
    if isinstance(model, RandomForestClassifier):
        np.testing.assert_allclose(model.vote_shares(X)[:, 1], share_of_out)
    votes(model, X, y, ax=ax)
    assert ax.get_legend().get_title().get_text().startswith("15 votes")
    [image] = ax.images
    tints = image.get_array()
    sure = tints[120, 120]  # in the middle all agree: the colour of the first class
    np.testing.assert_allclose(sure, 0.6 + 0.4 * np.array([0, 0x72, 0xB2]) / 255, atol=0.1)


def test_many_trees_smooth_the_staircase_of_one(circle):
    """P2: a hundred bagged trees come nearer to the circle than one tree."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (2_000, 2))
    y = np.where((X**2).sum(axis=1) < 0.5, "in", "out")
    bagged = BaggingClassifier(n_estimators=100, random_state=0).fit(*circle)
    alone = np.mean([tree.predict(X) != (y == "out") for tree in bagged.estimators_])
    assert (bagged.predict(X) != y).mean() < 0.9 * alone


def test_vote_curves_end_at_the_vote_shares(circle, ax):
    """V9: how votes settle, model by model."""
    X, y = circle
    model = RandomForestClassifier(30, random_state=0).fit(X, y)
    vote_curves(model, X, y, ax=ax)
    *rows, error = [line for line in ax.lines if len(line.get_xdata()) == 30]
    assert len(rows) == 60
    own = model.vote_shares(X)[np.arange(150), (y == "out").astype(int)]
    assert {round(line.get_ydata()[-1], 6) for line in rows} <= {round(v, 6) for v in own}
    majority = model.classes_[model.vote_shares(X).argmax(axis=1)]
    assert error.get_ydata()[-1] == pytest.approx((majority != y).mean())
