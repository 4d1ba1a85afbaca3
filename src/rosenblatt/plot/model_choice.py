"""Curves to choose a model by: error against a parameter, and against rows."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import learning_curve as measured_learning_curve

from rosenblatt.model_selection import BiasVariance, GridSearchCV
from rosenblatt.model_selection import bias_variance as decompose

from .drawing import COLOURS, INK, labelled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 20  # a parameter whose values span more than this gets a logarithmic axis


def validation_curve(
    model: Any,
    X: Any,
    y: Any,
    name: str,
    values: Sequence[Any],
    *,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error on training and on held-out rows over values of a parameter.

    Too simple on one side, too complex on the other: the held-out curve is U-shaped, and its bottom
    is marked. Bands are one standard deviation over the folds to either side. Models with an
    additive statistic or a path pay for one fit per fold.

    Parameters
    ----------
    model : an estimator.
    X, y : the rows and their targets.
    name : the parameter, as in ``model.set_params``.
    values : what to set it to.
    cv : folds, as `rosenblatt.model_selection.GridSearchCV` takes them.
    scoring : a scorer; the error is its negative, or one less it for shares. None for squared error
        in regression and the share of wrong labels in classification.
    n_jobs : how many fits at a time.
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from rosenblatt.plot import validation_curve
    >>> rng = np.random.RandomState(0)
    >>> X = rng.standard_normal((40, 20))
    >>> t = X[:, 0] + rng.standard_normal(40)
    >>> ax = validation_curve(Ridge(), X, t, "alpha", [0.1, 1, 10, 100], ax=plt.figure().gca())
    >>> ax.get_xlabel()
    'alpha'
    """
    scoring, error_of, label = _error(model, scoring)
    search = GridSearchCV(
        model, {name: list(values)}, cv=cv, scoring=scoring, n_jobs=n_jobs, return_train_score=True,
        refit=False,
    ).fit(X, y)  # fmt: skip
    values, results = list(values), search.cv_results_
    folds = range(search.n_splits_)
    held = error_of(np.array([results[f"split{k}_test_score"] for k in folds]))
    train = error_of(np.array([results[f"split{k}_train_score"] for k in folds]))
    ax = labelled_axes(ax, name, label)
    places = scale(ax, values)
    _draw(ax, places, train, held)
    best = int(np.nanargmin(held.mean(axis=0)))
    _mark(ax, places, best, held.mean(axis=0)[best], values)
    return ax


def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = None,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error on training and on held-out rows over the number of rows learned from.

    Two curves that have met say that more rows will not help; a gap says that they may. Bands are
    one standard deviation over the folds to either side.

    Parameters
    ----------
    model : an estimator.
    X, y : the rows and their targets.
    sizes : how many rows, or which shares of them; None for eight sizes from 1/20 to all.
    cv, scoring, n_jobs : as in `validation_curve`.
    random_state : int, RandomState instance or None
        The rows are shuffled before the first are taken.
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import GaussianNB
    >>> from rosenblatt.plot import learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plt.figure().gca()
    >>> ax = learning_curve(GaussianNB(), X, y, sizes=[0.3, 1.0], random_state=0, ax=ax)
    >>> ax.get_ylabel()
    'share of wrong labels'
    """
    scoring, error_of, label = _error(model, scoring)
    shares = np.geomspace(0.05, 1, 8) if sizes is None else sizes
    n_rows, train, held = measured_learning_curve(
        model, X, y, train_sizes=shares, cv=cv, scoring=scoring, shuffle=True,
        n_jobs=n_jobs, random_state=random_state, error_score=np.nan,
    )[:3]  # fmt: skip
    ax = labelled_axes(ax, "rows learned from", label)
    _logarithmic(ax, n_rows)
    _draw(ax, n_rows, error_of(train.T), error_of(held.T))
    return ax


def _error(model: Any, scoring: Any) -> tuple[Any, Any, str]:
    """The scorer, how an error follows from it, and what that is called."""
    if scoring is None and is_classifier(model):
        return "accuracy", lambda score: 1 - score, "share of wrong labels"
    if scoring is None:
        return "neg_mean_squared_error", lambda score: -score, "mean squared error"
    if isinstance(scoring, str) and scoring.startswith("neg_"):
        return scoring, lambda score: -score, scoring[4:].replace("_", " ")
    return scoring, lambda score: 1 - score, f"1 - {scoring}"


def scale(ax: Axes, values: list[Any]) -> Any:
    """An axis for the values, and their places on it.

    Orders of magnitude are logarithmic, with zero at its own place; what are no numbers stand side
    by side.
    """
    from matplotlib.ticker import MaxNLocator

    if not all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in values):
        ax.set_xticks(range(len(values)), [str(value) for value in values])
        ax.margins(x=0.1)
        return np.arange(len(values))
    numbers = np.asarray(values, np.float64)
    positive = numbers[numbers > 0]
    spans = len(positive) and positive.max() > WIDE * positive.min()
    if spans and numbers.min() > 0:
        ax.set_xscale("log")
    elif spans and numbers.min() == 0:
        ax.set_xscale("symlog", linthresh=float(positive.min()))
        ax.set_xlim(-0.15 * positive.min(), 1.6 * positive.max())
    elif all(isinstance(value, Integral) for value in values):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return numbers


def _logarithmic(ax: Axes, counts: Any) -> None:
    """A logarithmic axis whose numbers are written out, few enough to be read."""
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    ax.set_xscale("log")
    few = max(counts) > 50 * min(counts)
    ax.xaxis.set_major_locator(LogLocator(subs=(1,) if few else (1, 2, 5)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(ScalarFormatter())


def _draw(ax: Axes, x: Any, train: NDArray[np.float64], held: NDArray[np.float64]) -> None:
    """Means over folds, and bands of one deviation, which are not below zero if no error is."""
    for errors, label, colour in zip(
        (train, held), ("training", "held out"), COLOURS, strict=False
    ):
        mean, deviation = errors.mean(axis=0), errors.std(axis=0)
        low = mean - deviation
        low = low if np.nanmin(errors) < 0 else np.maximum(low, 0.0)
        ax.fill_between(x, low, mean + deviation, color=colour, alpha=0.15, linewidth=0)
        ax.plot(x, mean, color=colour, marker="o", markersize=4, label=label)
    ax.legend(frameon=False, title="band: one deviation over folds", title_fontsize="small")


def _mark(ax: Axes, places: Any, best: int, error: float, values: list[Any]) -> None:
    """The bottom of a curve, with its place; and a word if that is an end of what was tried."""
    place, value = places[best], values[best]
    words = str(value) if isinstance(value, str | bool | np.bool_) else f"{value:.3g}"
    side = "center"
    if len(places) > 2 and not isinstance(value, str | bool | np.bool_):
        for end, extreme in (("smallest", min(values)), ("largest", max(values))):
            if value == extreme:
                words += f", the {end} tried"
                side = "left" if end == "smallest" else "right"
    ax.plot(place, error, "o", color=INK, markersize=8, fillstyle="none", zorder=3)
    ax.annotate(
        words, (place, error), xytext=(0, 12), textcoords="offset points", ha=side, zorder=4,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none",
              "alpha": 0.7},
    )  # fmt: skip


# What an error is made of: of one model in bars, over a parameter in curves.


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
    ax : where to draw; by default the current axes if they are empty, else a new figure.
        The axes drawn on are returned.

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
