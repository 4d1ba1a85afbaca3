"""What an error is made of: of one model in bars, over a parameter in curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from rosenblatt.model_selection import BiasVariance
from rosenblatt.model_selection import bias_variance as decompose

from .drawing import COLOURS, INK, labelled_axes
from .model_choice import scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOSSES = {"squared": "squared error", "zero-one": "share of wrong labels"}


def bias_variance(
    model: Any,
    X: Any = None,
    y: Any = None,
    name: str | None = None,
    values: Sequence[Any] | None = None,
    *,
    truth: Any = None,
    n_models: int = 100,
    n_jobs: int | None = None,
    random_state: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what an error is made of: bias, variance and, if it is known, noise.

    ``bias_variance(model, X, y)`` draws a bar for each part, begun where the last one ended, and
    one for the error they add up to; so does ``bias_variance(parts)`` of what
    `rosenblatt.bias_variance` returned. With a name and values, curves over a parameter.

    Parameters
    ----------
    model : an estimator, or a `BiasVariance`.
    X, y : the rows and their targets.
    name : a parameter, as in ``model.set_params``; None to take the model as it is.
    values : what to set it to.
    truth, n_models, n_jobs, random_state : as in `rosenblatt.bias_variance`.
    ax : where to draw; the current axes if None.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from rosenblatt.plot import bias_variance
    >>> rng = np.random.RandomState(0)
    >>> X = rng.standard_normal((40, 20))
    >>> t = X[:, 0] + rng.standard_normal(40)
    >>> ax = bias_variance(Ridge(), X, t, ax=plt.figure().gca(), random_state=0)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['bias² and noise', 'variance', 'error']
    >>> ax = bias_variance(Ridge(), X, t, "alpha", [1, 100], ax=plt.figure().gca(), random_state=0)
    >>> [line.get_label() for line in ax.get_lines()]
    ['error', 'bias² and noise', 'variance']
    """
    if isinstance(model, BiasVariance):
        return _bars(model, ax)
    if X is None or y is None or (name is None) != (values is None):
        raise ValueError(
            "Call bias_variance(model, X, y), or bias_variance(model, X, y, name, values) for "
            "curves over a parameter, or bias_variance(parts) of a decomposition."
        )
    given: dict[str, Any] = {
        "truth": truth, "n_models": n_models, "n_jobs": n_jobs, "random_state": random_state,
    }  # fmt: skip
    if name is None or values is None:
        return _bars(decompose(model, X, y, **given), ax)
    models = [clone(model).set_params(**{name: value}) for value in values]
    return _curves([decompose(one, X, y, **given) for one in models], name, values, ax)


def _bars(parts: BiasVariance, ax: Axes | None) -> Axes:
    """A bar for each part of an error, begun where the last ended, and the error below them."""
    ax = labelled_axes(ax, LOSSES[parts.loss], "")
    names = [name.replace("^2", "²") for name in parts.addends]
    amounts = np.array(list(parts.addends.values()))
    ends = np.cumsum(amounts)
    starts = ends - amounts
    rows = np.arange(len(amounts) + 1)
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(amounts))]
    ax.barh(rows[:-1], amounts, left=starts, color=colours, height=0.6)
    ax.barh(rows[-1], parts.error, color=INK, height=0.6)
    for row, end in zip(rows[:-1], ends, strict=True):  # down to the bar that begins here
        ax.plot([end, end], [row + 0.3, row + 0.7], color=INK, linewidth=0.8)
    right = np.append(np.maximum(starts, ends), parts.error)
    for row, place, amount in zip(rows, right, [*amounts, parts.error], strict=True):
        ax.annotate(
            f"{amount:.3g}", (place, row), xytext=(4, 0), textcoords="offset points", va="center",
            annotation_clip=False,
        )  # fmt: skip
    ax.set_yticks(rows, [*names, "error"])
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_xlim(min(0.0, float(ends.min())), 1.18 * float(right.max()) or 1.0)
    return ax


def _curves(parts: list[BiasVariance], name: str, values: Sequence[Any], ax: Axes | None) -> Axes:
    """Error, bias and variance over values of a parameter."""
    squared = parts[0].loss == "squared"
    ax = labelled_axes(ax, name, LOSSES[parts[0].loss])
    places = scale(ax, list(values))
    noise = parts[0].noise
    of_bias = "bias" if not squared else "bias² and noise" if noise is None else "bias²"
    ax.plot(places, [p.error for p in parts], color=INK, linewidth=1.8, label="error")
    ax.plot(places, [p.bias for p in parts], color=COLOURS[0], marker="o", label=of_bias)
    ax.plot(places, [p.variance for p in parts], color=COLOURS[1], marker="^", label="variance")
    if noise is not None:
        ax.axhline(noise, color=INK, linewidth=0.8, linestyle=":", label="noise")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax
