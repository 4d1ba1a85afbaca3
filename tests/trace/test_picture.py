"""The figure of a run."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import Perceptron, Trace


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def titles(figure):
    return [ax.get_title(loc="left") for ax in figure.axes]


def test_two_features_show_the_boundary_and_the_curves(watch):
    trace, _ = watch()
    figure = trace.plot()
    assert titles(figure) == ["", "training error", "objective"]
    error = figure.axes[1].lines[0]
    np.testing.assert_array_equal(error.get_ydata(), trace.to_frame().error)
    np.testing.assert_array_equal(error.get_xdata(), trace.to_frame().step)
    figure.canvas.draw()


def test_the_last_boundary_is_where_the_score_is_zero(watch):
    trace, model = watch()
    ax = trace.plot().axes[0]
    lines = [c for c in ax.collections if c.get_linewidth()[0] == 1.6]
    ends = lines[-1].get_paths()[0].vertices
    np.testing.assert_allclose(model.decision_function(ends), 0, atol=1e-9)


def test_more_features_show_the_curves_alone():
    X = np.random.default_rng(0).normal(size=(20, 3))
    trace = Trace()
    Perceptron(tol=None).set_callbacks(trace).fit(X, X[:, 0] > 0)
    assert titles(trace.plot()) == ["training error", "objective"]


def test_three_classes_are_drawn(three_classes):
    trace = Trace("update")
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=3, tol=None).set_callbacks(trace).fit(*three_classes)
    figure = trace.plot()
    assert [text.get_text() for text in figure.axes[0].get_legend().texts] == [
        "ash", "elm", "oak", "earlier",
    ]  # fmt: skip
    assert figure.axes[-1].get_xlabel() == "update"
    figure.canvas.draw()


def test_names_of_features_can_be_given(watch):
    trace, _ = watch()
    ax = trace.plot(feature_names=["length", "width"]).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    said = r"feature_names must have 2 names, one per column of X; got 1\."
    with pytest.raises(ValueError, match=said):
        trace.plot(feature_names=["length"])


def test_earlier_lines_have_a_key_where_there_are_any(watch):
    keys = [t.get_text() for t in watch()[0].plot().axes[0].get_legend().texts]
    assert keys == ["-1", "1", "earlier"]
    # One pass from w = 0: the only earlier model has no line.
    keys = [t.get_text() for t in watch(max_iter=1)[0].plot().axes[0].get_legend().texts]
    assert keys == ["-1", "1"]


def test_a_line_beside_the_picture_is_said_to_be_there(watch):
    # One update, to [0, 3, 2]: all five points are far on one side.
    assert words(watch(max_updates=1)[0].plot().axes[0]).startswith("no line in this picture")


def words(ax):
    return ax.get_legend().get_title().get_text()


def test_wrong_points_are_hollow_and_those_on_the_line_half_filled(watch, five):
    # After 13 updates from zero the line runs through (2, 3), a "-", and two points are wrong.
    trace = Trace()
    with pytest.warns(ConvergenceWarning):
        Perceptron(shuffle=False, tol=None, max_updates=13).set_callbacks(trace).fit(*five)
    ax = trace.plot().axes[0]
    white = [c for c in ax.collections if len(c.get_offsets()) and c.get_zorder() == 3]
    hollow = sum((c.get_facecolor() == 1).all(axis=1).sum() for c in white)
    halves = [c for c in ax.collections if c.get_zorder() == 3.1]
    assert hollow == 3
    assert [c.get_offsets().tolist() for c in halves] == [[[2, 3]]]
    assert words(ax) == "hollow: predicted wrongly; half filled: on the line, still a mistake"


def test_without_weights_there_is_no_line_and_the_picture_says_so(five):
    trace = Trace()
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=1, tol=None).set_callbacks(trace).fit(five[0] * 0, five[1])
    assert words(trace.plot().axes[0]).startswith("w = 0: no line yet; hollow")
