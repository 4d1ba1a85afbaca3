"""Regions and boundaries of classifiers with two features."""

import builtins

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from rosenblatt import Perceptron
from rosenblatt.plot import boundary

matplotlib.use("agg")
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0], [5.0, 0.0], [6.0, 1.0]])
Y2 = np.array(["ham", "ham", "spam", "spam", "spam", "spam"])
Y3 = np.array(["ham", "ham", "spam", "spam", "eggs", "eggs"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def line_of(ax):
    """The vertices of the boundaries drawn."""
    lines = [c for c in ax.collections if c.get_linewidth()[0] == 1.6]
    return np.concatenate([path.vertices for line in lines for path in line.get_paths()])


def test_a_linear_boundary_is_exact():
    model = Perceptron(tol=None).fit(X, Y2)
    np.testing.assert_allclose(
        model.decision_function(line_of(boundary(model, X, Y2))), 0, atol=1e-9
    )


@pytest.mark.parametrize("model", [GaussianNB(), DecisionTreeClassifier(), LogisticRegression()])
@pytest.mark.parametrize("y", [Y2, Y3])
def test_any_classifier_can_be_drawn(model, y):
    ax = boundary(model.fit(X, y), X, y)
    assert [text.get_text() for text in ax.get_legend().texts] == sorted(set(y))
    assert len(line_of(ax)) > 0
    ax.figure.canvas.draw()


def test_between_three_classes_two_scores_tie():
    model = LogisticRegression().fit(X, Y3)
    scores = np.sort(model.decision_function(line_of(boundary(model, X, Y3))), axis=1)
    assert np.median(scores[:, 2] - scores[:, 1]) < 1e-9


def test_sparse_data_and_given_axes_are_used():
    _, ax = plt.subplots()
    model = Perceptron(tol=None).fit(csr_array(X), Y2)
    assert boundary(model, csr_array(X), Y2, ax=ax) is ax


def test_points_differ_in_shape_as_well_as_colour():
    ax = boundary(Perceptron(tol=None).fit(X, Y2), X, Y2)
    points = [c for c in ax.collections if len(c.get_offsets()) > 1]
    shapes = {c.get_paths()[0].vertices.shape for c in points}
    assert len(points) == len(shapes) == 2


def test_wrong_points_are_hollow_and_the_legend_is_not():
    model = Perceptron(tol=None).fit(X, Y2)
    ax = boundary(model, X, Y2[::-1])
    wrong = model.predict(X) != Y2[::-1]
    points = [c for c in ax.collections if len(c.get_offsets()) > 1]
    hollow = [c.get_offsets()[(c.get_facecolor() == 1).all(axis=1)] for c in points]
    assert sorted(np.concatenate(hollow).tolist()) == sorted(X[wrong].tolist())
    assert not any((h.get_facecolor() == 1).all() for h in ax.get_legend().legend_handles)
    assert ax.get_legend().get_title().get_text() == "hollow: predicted wrongly"


def test_a_picture_without_a_line_says_why():
    model = Perceptron(tol=None).fit(X, Y2)
    model.coef_ = np.zeros((1, 2))
    title = boundary(model, X, Y2).get_legend().get_title()
    assert "w = 0: no line yet" in title.get_text()


def test_more_features_are_refused():
    model = Perceptron(tol=None).fit(np.eye(3), [0, 1, 1])
    with pytest.raises(
        ValueError, match=r"X must have two features to be drawn; got shape \(3, 3\)"
    ):
        boundary(model, np.eye(3), [0, 1, 1])


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    really = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return really(name, *rest)

    model = Perceptron(tol=None).fit(X, Y2)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'matplotlib: pip install "rosenblatt\[plot\]"'):
        boundary(model, X, Y2)
