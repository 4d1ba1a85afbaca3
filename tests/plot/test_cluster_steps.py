"""B10, V10, V11: k-means and EM step by step, and a mixture in one dimension."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rosenblatt import GaussianMixture, KMeans, Trace
from rosenblatt.plot import cluster_steps, loss_curves, mixture_density
from rosenblatt.plot.cluster_steps import ellipse


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def rows():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 0.5, (30, 2)) for c in ((0, 0), (3, 0), (0, 3))])


@pytest.mark.parametrize(
    "model",
    [KMeans(3, init=[[0.0, 0], [0.1, 0], [0.2, 0]], tol=0), GaussianMixture(3, random_state=0)],
    ids=["k-means", "mixture"],
)
def test_each_step_has_its_rows_centres_way_and_objective(model):
    X, trace = rows(), Trace()
    model.set_callbacks(trace).fit(X)
    figure = cluster_steps(trace, X)
    figure.canvas.draw()
    assert figure.axes[-1].get_title(loc="left").startswith(f"step {len(trace) - 1}: ")
    drawn = sum(len(dots.get_offsets()) for dots in figure.axes[-1].collections)
    assert drawn == len(X)
    losses = [float(ax.get_title(loc="left").split(": ")[1]) for ax in figure.axes]
    assert losses == sorted(losses, reverse=True)
    with pytest.raises(ValueError, match="two columns"):
        cluster_steps(trace, X[:, :1])


def test_an_ellipse_lies_two_standard_deviations_away():
    spread = np.array([[2.0, 0.5], [0.5, 1.0]])
    away = ellipse(np.array([1.0, -1.0]), spread) - np.array([[1.0], [-1.0]])
    np.testing.assert_allclose(np.sum(away * np.linalg.solve(spread, away), axis=0), 4.0)


def test_a_mixture_of_one_column_is_the_sum_of_its_components():
    X = rows()[:, :1]
    model = GaussianMixture(2, random_state=0).fit(X)
    ax = mixture_density(model, X)
    parts = [line.get_ydata() for line in ax.lines[:2]]
    np.testing.assert_allclose(parts[0] + parts[1], ax.lines[2].get_ydata(), rtol=1e-9)
    with pytest.raises(ValueError, match="one column"):
        mixture_density(model, rows())


def test_losses_fall_and_likelihoods_rise_from_iteration_to_iteration():
    X = rows()
    starts = {"good": [[0.0, 0], [3, 0], [0, 3]], "close": [[0.0, 0], [0.1, 0], [3, 3]]}
    fits = {name: KMeans(3, init=start, n_init=1).fit(X) for name, start in starts.items()}
    ax = loss_curves(fits)
    assert ax.get_ylabel() == "loss"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["good", "close"]
    for line, model in zip(ax.lines, fits.values(), strict=True):
        assert (np.diff(line.get_ydata()) <= 0).all()
        assert line.get_ydata()[-1] == pytest.approx(model.inertia_, rel=1e-2)
    mixture = GaussianMixture(3, random_state=0).fit(X)
    (line,) = loss_curves({"mixture": mixture}, plt.figure().add_subplot()).lines
    assert (np.diff(line.get_ydata()) >= 0).all()
    with pytest.raises(ValueError, match="got KMeans, GaussianMixture"):
        loss_curves({"k-means": fits["good"], "mixture": mixture})
    with pytest.raises(ValueError, match="got none"):
        loss_curves({})


def test_rows_of_a_frame_are_drawn_without_a_warning():
    frame = pd.DataFrame({"a": [0.0, 1, 8, 9, 0, 9], "b": [0.0, 0, 8, 8, 1, 9]})
    trace = Trace()
    GaussianMixture(2, random_state=0).set_callbacks(trace).fit(frame)
    assert cluster_steps(trace, frame, steps=[1]).axes
