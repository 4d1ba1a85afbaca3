"""Boosting in curves: its errors and bounds over the rounds (V9), votes and losses (V7)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import losses

from .drawing import DASHES, INK, PALE, colour, labelled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = (
    "training error", "test error", "error of the newest learner", "bound on the training error",
)  # fmt: skip
CAPS = {2.0: 0.017986, 3.0: 0.002473}  # of alpha, and the errors from which on they hold


def boosting_curves(
    model: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw the four curves of AdaBoost over its rounds.

    The error of the vote on the training rows and on the test rows, the weighted error of the
    newest learner, and the bound on the training error: the product of the Z.

    Parameters
    ----------
    model : a fitted `AdaBoostClassifier`, ours or scikit-learn's.
    X, y : the training rows (n, d) and their labels (n,).
    X_test, y_test : other rows and their labels; None leaves that curve out.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import AdaBoostClassifier
    >>> from rosenblatt.plot import boosting_curves
    >>> X, y = [[-1], [0], [1]], [1, -1, 1]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> boosting_curves(model, X, y, ax=plt.figure().gca()).get_xlabel()
    'round'
    """
    ax = labelled_axes(ax, "round", "error")
    T = len(model.estimators_)
    errors = np.asarray(model.estimator_errors_)[:T]
    bound = np.cumprod(_normalisers(errors, np.asarray(model.estimator_weights_)[:T]))
    curves = [_staged_errors(model, X, y), None, errors, np.minimum(bound, 1.0)]
    if X_test is not None:
        curves[1] = _staged_errors(model, X_test, y_test)
    styles: list[dict[str, Any]] = [
        {"color": INK, "linewidth": 1.8},
        {"color": colour(1), "linewidth": 1.8},
        {"color": colour(0), "linewidth": 0.9},
        {"color": INK, "linewidth": 1.2, "linestyle": DASHES},
    ]
    for name, curve, style in zip(NAMES, curves, styles, strict=True):
        if curve is not None:
            ax.plot(np.arange(1, T + 1), curve, label=name, **style)
    ax.axhline(0.5, color=PALE, linewidth=0.8, zorder=0)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.locator_params(axis="x", integer=True)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    return ax


def _staged_errors(model: Any, X: Any, y: Any) -> list[float]:
    labels = np.asarray(y).ravel()
    with warnings.catch_warnings():  # scikit-learn's checks X twice, once without its names
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return [float(np.mean(stage != labels)) for stage in model.staged_predict(X)]


def _normalisers(errors: NDArray[np.float64], weights: NDArray[np.float64]) -> Any:
    """Z of each round: (1 - e) exp(-a/2) + e exp(a/2)."""
    return (1 - errors) * np.exp(-weights / 2) + errors * np.exp(weights / 2)


def alpha_curve(ax: Axes | None = None) -> Axes:
    """Draw what a learner's vote weighs against its error: ``alpha = 1/2 ln((1 - e) / e)``.

    At one half the vote weighs nothing; beyond it the opposite of the learner votes, with the
    dashed weight. Dots are the errors at which a cap of 2 or 3 begins to hold.

    Parameters
    ----------
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt.plot import alpha_curve
    >>> alpha_curve(ax=plt.figure().gca()).get_ylabel()
    'alpha'
    """
    ax = labelled_axes(ax, "error of the learner", "alpha")
    e = np.linspace(0.0005, 0.9995, 1_999)
    alpha = 0.5 * np.log((1 - e) / e)
    ax.axhline(0, color=PALE, linewidth=0.8, zorder=0)
    ax.axvline(0.5, color=PALE, linewidth=0.8, zorder=0)
    ax.plot(e, alpha, color=INK, linewidth=1.8, label="alpha")
    beyond = e > 0.5
    ax.plot(e[beyond], -alpha[beyond], color=INK, linewidth=1.2, linestyle=DASHES, label="flipped")
    for cap, error in CAPS.items():
        ax.plot(error, cap, "o", color=colour(1), markersize=5)
        ax.annotate(
            f"alpha = {cap:g} at error {error:.4f}", (error, cap), xytext=(8, 0),
            textcoords="offset points", va="center", fontsize="small",
        )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(-4, 4))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    return ax


def margin_losses(ax: Axes | None = None) -> Axes:
    """Draw losses against the margin ``m = y f(x)``: what learners make small instead of mistakes.

    The exponential loss, AdaBoost's, is above the mistakes everywhere, and so are the hinge loss,
    its square, which `LinearSVC` makes small, and the logistic loss in bits.

    Parameters
    ----------
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt.plot import margin_losses
    >>> margin_losses(ax=plt.figure().gca()).get_xlabel()
    'margin y f(x)'
    """
    ax = labelled_axes(ax, "margin y f(x)", "loss")
    m = np.linspace(-2, 3, 1_001)
    logistic = np.asarray(losses.logistic(m)) / np.log(2)
    curves = {
        "mistake": (np.asarray(losses.zero_one(m), np.float64), INK, 1.8),
        "hinge": (losses.hinge(m), colour(2), 1.4),
        "squared hinge": (np.square(losses.hinge(m)), colour(3), 1.4),
        "logistic, in bits": (logistic, colour(0), 1.4),
        "exponential": (losses.exponential(m), colour(1), 1.4),
    }
    for name, (values, ink, width) in curves.items():
        ax.plot(m, values, color=ink, linewidth=width, label=name)
    ax.set(xlim=(-2, 3), ylim=(0, 4))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    return ax


def error_parts(found: dict[str, dict[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw what the errors of several models on several tables are made of: bias and variance.

    A bar is the error of a model. Its dark part is the bias, the error of the models' common
    answer; the pale part is what variance adds to it. Where straying from a wrong common answer
    helps more than it hurts, the error ends within the dark part, at the line.

    Parameters
    ----------
    found : dict of dicts
        By table and by model, the `BiasVariance` that `rosenblatt.bias_variance` returned.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from rosenblatt import DecisionTreeClassifier, bias_variance
    >>> from rosenblatt.plot import error_parts
    >>> X, y = [[i] for i in range(12)], [0] * 6 + [1] * 6
    >>> parts = bias_variance(DecisionTreeClassifier(), X, y, n_models=5, random_state=0)
    >>> error_parts({"steps": {"tree": parts}}, ax=plt.figure().gca()).get_xlabel()
    'error'
    """
    ax = labelled_axes(ax, "error", "")
    places, names, place = [], [], 0.0
    for table, models in found.items():
        ax.text(0, place - 0.75, table, fontsize="small", fontweight="bold", va="center")
        for name, parts in models.items():
            ax.barh(place, parts.bias, color=colour(0), height=0.7)
            ax.barh(
                place, max(parts.error - parts.bias, 0.0), left=parts.bias, color=colour(4),
                height=0.7,
            )  # fmt: skip
            ax.plot([parts.error] * 2, [place - 0.4, place + 0.4], color=INK, linewidth=1.6)
            places.append(place)
            names.append(name)
            place += 1.0
        place += 1.2
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.fill_between([], [], color=colour(0), label="bias")
    ax.fill_between([], [], color=colour(4), label="added by variance")
    ax.plot([], [], color=INK, linewidth=1.6, label="error")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    return ax
