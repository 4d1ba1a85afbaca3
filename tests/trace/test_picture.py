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
    assert [text.get_text() for text in figure.axes[0].get_legend().texts] == ["ash", "elm", "oak"]
    assert figure.axes[-1].get_xlabel() == "update"
    figure.canvas.draw()
