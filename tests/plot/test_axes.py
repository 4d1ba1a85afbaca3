"""Where pictures are drawn without `ax`, and what is refused before anything is drawn."""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier

import rosenblatt as rb
from rosenblatt import plot

X, y = make_moons(40, noise=0.2, random_state=0)
APART, SIDES = X + 5 * y[:, None], y
T = X @ [1.0, -2.0] + 0.1 * np.arange(40)
PARTS = rb.bias_variance(rb.Ridge(), X, T, n_models=9, random_state=0)


def forest():
    return rb.RandomForestClassifier(3, random_state=0).fit(X, y)


# How each function that takes `ax` is called.
PICTURES = {
    "alpha_curve": lambda **at: plot.alpha_curve(**at),
    "bias_variance": lambda **at: plot.bias_variance(
        rb.Ridge(), X, T, n_models=9, random_state=0, **at
    ),
    "boosting_curves": lambda **at: plot.boosting_curves(
        rb.AdaBoostClassifier(n_estimators=3).fit(X, y), X, y, **at
    ),
    "boundary": lambda **at: plot.boundary(rb.GaussianNB().fit(X, y), X, y, **at),
    "cluster_numbers": lambda **at: plot.cluster_numbers(
        rb.choose_k(rb.AgglomerativeClustering(), X, [2, 3]), **at
    ),
    "constraint": lambda **at: plot.constraint(rb.Lasso(alpha=0.1), X, T, **at),
    "decision_tree": lambda **at: plot.decision_tree(
        rb.DecisionTreeClassifier(max_depth=2).fit(X, y), **at
    ),
    "dendrogram": lambda **at: plot.dendrogram(rb.AgglomerativeClustering().fit(X), **at),
    "distance_concentration": lambda **at: plot.distance_concentration(X, **at),
    "error_parts": lambda **at: plot.error_parts({"moons": {"ridge": PARTS}}, **at),
    "learning_curve": lambda **at: plot.learning_curve(
        rb.GaussianNB(), X, y, sizes=[10, 20], cv=3, **at
    ),
    "loss_curves": lambda **at: plot.loss_curves(
        {"one": rb.KMeans(2, random_state=0).fit(X)}, **at
    ),
    "margin_losses": lambda **at: plot.margin_losses(**at),
    "margins": lambda **at: plot.margins(rb.LinearSVC().fit(APART, SIDES), APART, SIDES, **at),
    "mixture_density": lambda **at: plot.mixture_density(
        rb.GaussianMixture(2, random_state=0).fit(X[:, :1]), X[:, :1], **at
    ),
    "neighbours": lambda **at: plot.neighbours(
        KNeighborsClassifier(3).fit(X, y), X, y, [0.0, 0.0], **at
    ),
    "path": lambda **at: plot.path(rb.Lasso(), X, T, **at),
    "separating_lines": lambda **at: plot.separating_lines(APART, SIDES, 2, **at),
    "split_sizes": lambda **at: plot.split_sizes(rb.GaussianNB(), X, y, [0.3, 0.6], **at),
    "validation_curve": lambda **at: plot.validation_curve(
        rb.Ridge(), X, T, "alpha", [0.1, 1.0], cv=3, **at
    ),
    "vote_curves": lambda **at: plot.vote_curves(forest(), X, y, **at),
    "vote_map": lambda **at: plot.vote_map(
        rb.ConsensusClustering().fit_labels(np.column_stack([y, y])), **at
    ),
    "voronoi": lambda **at: plot.voronoi(X, y, **at),
    "votes": lambda **at: plot.votes(forest(), X, y, **at),
}
each_picture = pytest.mark.parametrize("name", PICTURES)


@pytest.fixture(autouse=True)
def closed():
    plt.close("all")
    yield
    plt.close("all")


def test_every_function_that_takes_axes_is_tried():
    taking = {
        name for name in plot.__all__ if "ax" in inspect.signature(getattr(plot, name)).parameters
    }
    assert taking == set(PICTURES)


@each_picture
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_empty_current_axes_are_taken_and_drawn_ones_left_alone(name):
    """Dendrograms covered each other, and curves landed in the last panel of the figure before."""
    _, (left, right) = plt.subplots(1, 2)
    plt.sca(left)
    assert PICTURES[name]() is left
    before = len(left.get_children())
    second = PICTURES[name]()
    assert second.figure is not left.figure
    assert len(left.get_children()) == before
    assert PICTURES[name](ax=right) is right
    plt.figure(left.figure.number)
    plt.sca(left)
    left.figure.canvas.draw()
    assert PICTURES[name]().figure is not left.figure


def test_a_number_of_clusters_after_a_dendrogram_has_axes_of_its_own():
    """The ticks of the dendrogram made `cluster_numbers` crash."""
    tree = PICTURES["dendrogram"]()
    assert PICTURES["cluster_numbers"]() is not tree


K_MEANS = rb.KMeans(2, random_state=0)


@pytest.mark.parametrize(
    ("draw", "error", "said"),
    [
        (lambda: plot.boundary(rb.SVR().fit(X, T), X, T), TypeError, "SVR has no classes_"),
        (lambda: plot.boundary(K_MEANS.fit(X), X, y), TypeError, "KMeans has no classes_.*steps"),
        (
            lambda: plot.boundary(rb.GaussianMixture(2).fit(X), X, y),
            TypeError,
            "GaussianMixture has no classes_",
        ),
        (
            lambda: plot.dendrogram(K_MEANS.fit(X)),
            TypeError,
            "from a fitted AgglomerativeClustering .* got KMeans without children_",
        ),
        (
            lambda: plot.dendrogram(rb.AgglomerativeClustering()),
            TypeError,
            "a fitted AgglomerativeClustering",
        ),
        (lambda: plot.dendrogram(["a", "b"]), ValueError, r"SciPy's matrix \(n - 1, 4\)"),
        (lambda: plot.loss_curves(K_MEANS.fit(X)), TypeError, "dict of fitted models by name"),
        (lambda: plot.vote_map(K_MEANS.fit(X)), TypeError, "fitted ConsensusClustering; got KM"),
        (lambda: plot.votes(K_MEANS.fit(X), X, y), TypeError, "forest or bagging .* got KMeans"),
        (lambda: plot.cluster_numbers(3), TypeError, "what choose_k returned; got int"),
        (lambda: plot.cluster_steps(K_MEANS.fit(X), X), TypeError, "draws a trace.* got KMeans"),
        (lambda: plot.cluster_steps(rb.Trace(), X), ValueError, "This trace is empty"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(draw, error, said):
    with pytest.raises(error, match=said):
        draw()


def test_steps_of_another_model_are_refused():
    trace = rb.Trace()
    rb.Perceptron().set_callbacks(trace).fit(APART, SIDES)
    with pytest.raises(ValueError, match="of KMeans or GaussianMixture; got one of Perceptron"):
        plot.cluster_steps(trace, APART)
