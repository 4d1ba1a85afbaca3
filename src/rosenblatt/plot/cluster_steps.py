"""k-means and mixtures at work: centres moving, rows changing sides, ellipses settling."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.capabilities import trace_view

from .drawing import INK, colour, labelled_axes, marker, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ELLIPSE_POINTS = 100


def cluster_steps(trace: Any, X: Any, steps: Sequence[int] | None = None) -> Figure:
    """Draw some steps of a clustering of two columns side by side.

    Rows have the colour of their nearest centre or likeliest component, centres trail the way they
    came, and components have an ellipse of two standard deviations.

    Parameters
    ----------
    trace : a `Trace` of one fit of `KMeans` or `GaussianMixture`.
    X : the rows, shape (n, 2).
    steps : which steps; by default four from the first to the last.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import KMeans, Trace, plot
    >>> X = np.array([[0.0, 0], [1, 0], [8, 8], [9, 8]])
    >>> trace = Trace()
    >>> _ = KMeans(2, n_init=1, random_state=0).set_callbacks(trace).fit(X)
    >>> len(plot.cluster_steps(trace, X, steps=[1]).axes)
    1
    """
    X = np.asarray(X, np.float64)
    if not hasattr(trace, "runs"):
        raise TypeError(
            "cluster_steps draws a trace: trace = Trace(); model.set_callbacks(trace).fit(X); got "
            f"{type(trace).__name__}."
        )
    last = len(trace.steps()) - 1
    if "centres" not in trace_view(trace[-1].estimator):
        name = type(trace[-1].estimator).__name__
        raise ValueError(f"trace must be of KMeans or GaussianMixture; got one of {name}.")
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn; got shape {X.shape}.")
    if steps is None:
        steps = sorted({1, min(2, last), (last + 2) // 3, last})
    figure: Figure
    figure, axes = pyplot().subplots(
        1, len(steps), figsize=(3.2 * len(steps), 3.2), squeeze=False, sharex=True, sharey=True,
        layout="constrained",
    )  # fmt: skip
    way = [trace_view(trace[s].estimator)["centres"] for s in range(1, last + 1)]
    for ax, step in zip(axes[0], steps, strict=True):
        with warnings.catch_warnings():  # rows have lost the names of their columns
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            draw_step(ax, trace[step].estimator, X, np.array(way[:step]), step)
    return figure


def draw_step(ax: Axes, model: Any, X: NDArray[Any], way: NDArray[Any], step: int) -> None:
    """One step: rows, centres (steps, K, 2) on their way, ellipses, and the objective."""
    view, labels = trace_view(model), np.asarray(model.predict(X))
    for k in range(way.shape[1]):
        mine = X[labels == k]
        ax.scatter(mine[:, 0], mine[:, 1], s=12, color=colour(k), marker=marker(k), alpha=0.6)
        ax.plot(way[:, k, 0], way[:, k, 1], color=INK, linewidth=1)
        ax.plot(*way[-1, k], "X", color=INK, markersize=9, markeredgecolor="white")
        if "spreads" in view:
            ax.plot(*ellipse(view["centres"][k], view["spreads"][k]), color=colour(k), linewidth=2)
    ax.set_title(f"step {step}: {model.objective(X):.4g}", loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)


def ellipse(centre: NDArray[Any], spread: NDArray[Any], deviations: float = 2.0) -> NDArray[Any]:
    """The points (2, m) at so many standard deviations from a centre."""
    values, axes = np.linalg.eigh(np.asarray(spread, np.float64))
    angles = np.linspace(0, 2 * np.pi, ELLIPSE_POINTS)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(
        centre[:, None] + deviations * axes @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)
    )


def loss_curves(models: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw what each iteration reached: the loss of k-means, or the log-likelihood of a mixture.

    Parameters
    ----------
    models : fitted models of `KMeans`, or of `GaussianMixture`, by the names they get.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Examples
    --------
    >>> from rosenblatt import KMeans, plot
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> starts = {"spread": [[0.0], [9.0]], "together": [[0.0], [1.0]]}
    >>> fits = {name: KMeans(2, init=start, n_init=1).fit(X) for name, start in starts.items()}
    >>> plot.loss_curves(fits).get_ylabel()
    'loss'
    """
    if not isinstance(models, Mapping):
        raise TypeError(
            f'models must be a dict of fitted models by name, as in {{"fit": model}}; got '
            f"{type(models).__name__}."
        )
    of_mixtures = all(hasattr(model, "lower_bounds_") for model in models.values())
    attribute = "lower_bounds_" if of_mixtures else "loss_curve_"
    if not models or not all(hasattr(model, attribute) for model in models.values()):
        names = ", ".join(type(model).__name__ for model in models.values()) or "none"
        raise ValueError(f"models must be fits of KMeans, or of GaussianMixture; got {names}.")
    ax = labelled_axes(ax, "iteration", "log-likelihood of a row" if of_mixtures else "loss")
    for k, (name, model) in enumerate(models.items()):
        curve = getattr(model, attribute)
        steps = np.arange(1, len(curve) + 1)
        ax.plot(steps, curve, color=colour(k), marker="o", markersize=3, label=name)
    ax.locator_params(axis="x", integer=True)
    ax.legend(frameon=False)
    return ax


def mixture_density(model: Any, X: Any, ax: Axes | None = None) -> Axes:
    """Draw the density of a mixture of one column, its components, and the rows below.

    Parameters
    ----------
    model : a fitted `GaussianMixture` of one column.
    X : the rows, shape (n, 1).
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import GaussianMixture, plot
    >>> X = np.array([[0.0], [0.5], [1.0], [5.0], [6.0], [7.0]])
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> plot.mixture_density(model, X).get_ylabel()
    'density'
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or X.shape[1] != 1:
        raise ValueError(f"X must have one column to be drawn; got shape {X.shape}.")
    ax = labelled_axes(ax, "x", "density")
    room = 0.25 * float(np.ptp(X)) or 1.0
    grid = np.linspace(X.min() - room, X.max() + room, 400)[:, None]
    density, shares = np.exp(model.score_samples(grid)), model.predict_proba(grid)
    for k in range(shares.shape[1]):
        ax.fill_between(grid[:, 0], density * shares[:, k], color=colour(k), alpha=0.25)
        ax.plot(grid[:, 0], density * shares[:, k], color=colour(k), linewidth=1)
    ax.plot(grid[:, 0], density, color=INK, linewidth=1.6)
    owner = np.asarray(model.predict(X))
    for k in range(shares.shape[1]):
        mine = X[owner == k, 0]
        ax.plot(mine, np.full(len(mine), -0.02 * density.max()), "|", color=colour(k))
    return ax
