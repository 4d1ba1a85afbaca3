"""V7, V8, V14, L1, L3: the street and its slacks, lines beside the widest one, traces of a fit."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_circles, make_classification
from sklearn.multiclass import OneVsRestClassifier

from rosenblatt import SVC, LinearSVC, LinearSVR, Trace
from rosenblatt.model_selection import GridSearchCV
from rosenblatt.plot import lifted, margins, separating_lines

X, Y = make_blobs(40, centers=[[0, 0], [3, 3]], cluster_std=1.0, random_state=3)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_a_slack_is_drawn_for_each_row_inside_its_margin_as_long_as_it_is(ax):
    model = LinearSVC(loss="hinge", C=0.05, penalize_intercept=False).fit(X, Y)
    margins(model, X, Y, ax)
    slack = np.maximum(0, 1 - np.where(Y == 1, 1, -1) * model.decision_function(X))
    drawn = [np.diff(line.get_xydata(), axis=0)[0] for line in ax.get_lines()]
    lengths = np.sort(np.linalg.norm(drawn, axis=1))
    expected = np.sort(slack[slack > 1e-6]) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(lengths, expected)
    assert "support vectors" in ax.get_title()


def test_no_perceptron_has_a_wider_margin_than_the_widest_line(ax):
    A, b = make_blobs(30, centers=[[0, 0], [6, 6]], cluster_std=1.0, random_state=0)
    separating_lines(A, b, n_lines=4, ax=ax)
    widths = {
        line.get_label().split(": ")[0]: float(line.get_label().split(": ")[1])
        for line in ax.get_lines()
    }
    assert len(widths) == 5
    assert widths["widest"] == max(widths.values())
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1  # covers no line


def test_a_lifted_ring_is_cut_by_a_plane_and_the_boundary_is_a_circle():
    # V8, M3
    A, b = make_circles(80, factor=0.4, noise=0.03, random_state=0)
    figure = lifted(A, b)
    space, above = figure.axes
    assert space.get_title() == "lifted: a plane separates 80 of 80 rows"
    circle = above.collections[0].get_paths()[0].vertices
    radius = np.linalg.norm(circle - circle.mean(axis=0), axis=1)
    assert np.ptp(radius) < 0.02 * radius.mean()
    assert np.linalg.norm(A[b == 1], axis=1).max() < radius.min()
    assert radius.max() < np.linalg.norm(A[b == 0], axis=1).min()
    plt.close(figure)


def test_more_than_two_classes_or_features_are_refused(ax):
    A, b = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="two classes; got 3"):
        margins(LinearSVC().fit(A[:, :2], b), A[:, :2], b, ax)
    with pytest.raises(ValueError, match="two classes; got 3"):
        separating_lines(A[:, :2], b, ax=ax)
    with pytest.raises(ValueError, match="two classes; got LinearSVR, which has none"):
        margins(LinearSVR().fit(A[:, :2], b), A[:, :2], b, ax)
    with pytest.raises(ValueError, match="two features"):
        margins(LinearSVC().fit(A[:100], b[:100]), A[:100], b[:100], ax)


def test_a_trace_has_objective_gap_and_supports_of_each_pass():
    A, b = make_classification(100, 5, random_state=0)
    trace = Trace()
    model = LinearSVC(loss="hinge", dual=True, C=0.1, random_state=0).set_callbacks(trace)
    model.fit(A, b)
    frame = trace.to_frame()
    assert len(frame) == model.n_iter_ + 1
    assert frame["dual_gap"].iloc[-1] == pytest.approx(model.dual_gap_.sum())
    assert frame["objective"].iloc[-1] == pytest.approx(model.objective_.sum())
    assert frame["n_support"].iloc[-1] == len(model.support_)
    best = frame["objective"] - frame["dual_gap"]  # from below
    assert (best.dropna() <= model.objective_.sum() + 1e-9).all()


def test_traces_see_the_parts_of_a_meta_estimator():
    A, b = load_iris(return_X_y=True)
    trace = Trace()
    machine = LinearSVC(loss="hinge", C=0.1).set_callbacks(trace)
    OneVsRestClassifier(machine).fit(A, b)
    assert trace.to_frame()["run"].nunique() == 3


def test_a_search_over_C_gives_the_scores_of_separate_fits():
    A, b = load_iris(return_X_y=True)
    grid = {"C": [0.01, 0.1, 1.0]}
    by_path = GridSearchCV(LinearSVC(), grid, cv=3).fit(A, b)
    alone = [GridSearchCV(LinearSVC(), {"C": [C]}, cv=3).fit(A, b).best_score_ for C in grid["C"]]
    np.testing.assert_allclose(by_path.cv_results_["mean_test_score"], alone)


def test_regression_has_a_path_too():
    A = load_iris().data
    path = LinearSVR(epsilon=0.1).fit_path((A[:, :3], A[:, 3]), "C", [0.1, 1.0])
    for model in path:
        alone = LinearSVR(epsilon=0.1, C=model.C).fit(A[:, :3], A[:, 3])
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-5, atol=1e-6)
    assert path.predict(A[:5, :3]).shape == (2, 5)


def test_a_curved_street_has_its_margin_and_supports_in_the_title(ax):
    X, y = make_circles(60, noise=0.05, factor=0.4, random_state=0)
    model = SVC(C=10, tol=1e-6).fit(X, y)
    margins(model, X, y, ax=ax)
    assert ax.get_title() == f"margin {model.margin_[0]:.4g}, {len(model.support_)} support vectors"


def test_lines_of_classes_that_touch_are_refused_by_their_own_names(ax):
    with pytest.raises(ValueError, match="all rows of cat on one side and all of dog") as found:
        separating_lines([[0, 0], [1, 0], [2, 0]], ["cat", "dog", "cat"], ax=ax)
    assert "C=inf" not in str(found.value)
