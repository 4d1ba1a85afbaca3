"""Coefficients over penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names

from rosenblatt.base import GroupedWarnings

from .drawing import COLOURS, DASHES, INK, labelled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

STYLES = ("solid", DASHES, ":")  # each with every colour


def path(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    values: Any = None,
    names: Sequence[str] | None = None,
    most_names: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw how coefficients leave zero as a penalty falls, from left to right.

    Called as ``path(model, X, y)``, which fits the model at many penalties, or with what is known
    already: ``path(alphas, coefs)``.

    Parameters
    ----------
    model : an estimator with a penalty `alpha` or `C`, such as `Lasso`, `ElasticNet`, `Ridge` or
        `LogisticRegression`, or a pipeline that ends in one; it stays as it is. Or the penalties,
        shape (m,): of logistic regressions ``1 / C``.
    X : the rows, shape (n, d). Or the coefficients, shape (d, m), as `lasso_path` and `ridge_path`
        return them.
    y : the targets or labels of the rows. Or the names of the columns.
    values : of `alpha` or `C` to fit at; if None, sixty from hardly any coefficient to hardly any
        penalty.
    names : of the coefficients; those of the columns if None, or x0, x1, ...
    most_names : how many of the largest are named at the end of their lines.
    ax : where to draw; by default the current axes if they are empty, else a new figure.

    Returns
    -------
    The axes drawn on. That of a `C`, which is one over the penalty, rises to the right.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import Lasso
    >>> from rosenblatt.plot import path
    >>> X, t = load_diabetes(return_X_y=True, as_frame=True)
    >>> ax = path(Lasso(), X, t, ax=plt.figure().gca())
    >>> ax.get_xlabel()
    'penalty alpha, falling to the right'
    """
    if hasattr(model, "get_params"):
        if y is None:
            raise ValueError("path(model, X, y) fits the model: pass y as well.")
        found = followed(model, X, y, values)
        names = found.names if names is None else names
        rising = found.parameter == "C"
        label = "C = 1 / penalty, rising" if rising else "penalty alpha, falling"
        return _draw(
            found.values, found.coefs, names, f"{label} to the right", rising, most_names, ax
        )
    if values is not None:
        raise ValueError(
            "values are for path(model, X, y); here the penalties are the first argument."
        )
    alphas, coefs = np.asarray(model, np.float64), np.asarray(X, np.float64)
    if coefs.ndim != 2 or alphas.shape != coefs.shape[1:]:
        raise ValueError(
            f"coefs must have one column for each penalty, shape (d, {alphas.size}); "
            f"got {coefs.shape}."
        )
    names = y if names is None else names
    names = [f"x{j}" for j in range(len(coefs))] if names is None else names
    return _draw(alphas, coefs, names, "penalty, falling to the right", False, most_names, ax)


def _draw(
    values: Array,
    coefs: Array,
    names: Sequence[str],
    label: str,
    rising: bool,
    most_names: int,
    ax: Axes | None,
) -> Axes:
    """Lines of coefficients (d, m), the weakest penalty at the right, where the largest are named.

    Values (m,) are penalties, or with `rising` one over them.
    """
    names = [str(name) for name in names]
    ax = labelled_axes(ax, label, "coefficient")
    ax.set_xscale("log")
    end = int(np.argmax(values) if rising else np.argmin(values))
    largest = np.argsort(-np.abs(coefs[:, end]), kind="stable")[:most_names]
    heights = _apart(coefs[largest, end], 0.045 * max(np.ptp(coefs), 1e-300))
    ax.axhline(0, color=INK, linewidth=0.6)
    room = _room(ax, [names[j] for j in largest])
    for rank, j in enumerate(largest):
        ink, style = COLOURS[rank % len(COLOURS)], STYLES[rank // len(COLOURS) % len(STYLES)]
        ax.plot(values, coefs[j], color=ink, linewidth=1.4, linestyle=style)
        ax.annotate(
            names[j], (values[end], coefs[j, end]), xytext=(1 - room + 0.03, heights[rank]),
            textcoords=ax.get_yaxis_transform(), ha="left", va="center", fontsize="small",
            color=ink, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": ink, "linewidth": 0.5, "shrinkA": 1,
                        "shrinkB": 0},
        )  # fmt: skip
    for j in np.setdiff1d(np.arange(len(coefs)), largest):
        ax.plot(values, coefs[j], color=INK, linewidth=0.5, alpha=0.4, zorder=1)
    low, high = values.min(), values.max()
    beyond = (high / low) ** (room / (1 - room))
    ax.set_xlim((low / 1.1, high * beyond) if rising else (high * 1.1, low / beyond))
    return ax


def _room(ax: Axes, names: list[str]) -> float:
    """The share of the axes' width that names need at the end of their lines, at most half."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(size="small")
    points = [TextPath((0, 0), name, prop=font).get_extents().width for name in names if name]
    figure = ax.get_figure(root=True)
    assert figure is not None
    width = ax.get_window_extent().width / figure.dpi * 72
    return float(min(0.5, 0.05 + max(points, default=0.0) / width))


def _apart(heights: Array, least: float) -> Array:
    """Heights for labels that are at least so far apart, in the same order."""
    order = np.argsort(heights)
    moved = heights[order].astype(np.float64)
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + least)
    moved -= np.mean(moved - heights[order])
    result = np.empty_like(moved)
    result[order] = moved
    return result


# The coefficients of a model at many penalties, each fit begun where the last ended.


N_PENALTIES = 60
# In units of the largest variation of a column, and of the largest slope without coefficients: from
# hardly any coefficient to hardly any penalty.
SQUARED, ABSOLUTE = (1e2, 1e-6), (1.0, 1e-4)


@dataclass(frozen=True, eq=False)
class Followed:
    """Values (m,) of a model's penalty, the strongest first, and its coefficients (k, m)."""

    parameter: str  # "alpha", or "C", which is one over the penalty
    values: Array
    coefs: Array
    names: list[str]  # (k,)


def followed(model: Any, X: Any, y: Any, values: Any = None) -> Followed:
    """Fit a model at many penalties; those values, or as many as show where coefficients come in.

    The steps of a pipeline before the model are fitted once.
    """
    columns = _get_feature_names(X)
    if isinstance(model, Pipeline):
        if len(model.steps) > 1:
            front = clone(model[:-1])
            X = front.fit_transform(X, y)
            columns = _names_out(front)
        model = model.steps[-1][1]
    model = clone(model)
    settings = model.get_params()
    parameter = next((name for name in ("alpha", "C") if name in settings), None)
    if parameter is None:
        raise ValueError(
            "A path is drawn over a penalty, alpha or C, and "
            f"{type(model).__name__} has neither. Pass Lasso, ElasticNet, Ridge or "
            "LogisticRegression, or penalties and their coefficients."
        )
    if values is None:
        penalties = _usual_penalties(model, np.shape(X)[0], *_sizes(model, X, y))
        values = 1 / penalties if parameter == "C" else penalties
    values = np.unique(np.asarray(values, np.float64))
    if not len(values) or not (values[0] > 0 and values[-1] < np.inf):
        raise ValueError(f"values of {parameter} must be finite and above 0; got {values}.")
    values = values if parameter == "C" else values[::-1]
    if "warm_start" in settings:
        model.set_params(warm_start=True)
    coefs, warned = [], GroupedWarnings()
    for value in values:
        with warned.collecting():
            model.set_params(**{parameter: float(value)}).fit(X, y)
        coefs.append(np.atleast_2d(_coefficients(model)).copy())
    warned.report()
    table = np.moveaxis(np.array(coefs), 0, -1)  # (outputs, d, m)
    return Followed(parameter, values, np.concatenate(table), _names(model, table.shape, columns))


def _coefficients(model: Any) -> Any:
    if not hasattr(model, "coef_"):
        raise ValueError(f"{type(model).__name__} has no coefficients (coef_) to draw.")
    return model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_


def _sizes(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """The largest sum of squares of a centred column, and the largest product with a target."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    if is_classifier(model):
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        targets = np.eye(len(classes))[codes]
    else:
        targets = np.asarray(y, np.float64).reshape(len(y), -1)
    slopes = X.T @ (targets - targets.mean(axis=0))
    mean = np.asarray(X.mean(axis=0)).ravel()
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel() - len(targets) * mean**2
    else:
        squares = ((X - mean) ** 2).sum(axis=0)
    return float(squares.max()) or 1.0, float(np.abs(slopes).max()) or 1.0


def _usual_penalties(model: Any, n: int, variation: float, slope: float) -> Array:
    """Penalties from hardly any coefficient to hardly any effect, in the units of the objective."""
    share = float(getattr(model, "l1_ratio", None) or 0.0)
    share = {"l1": 1.0, "l2": 0.0}.get(str(getattr(model, "penalty", None)), share)
    strongest, weakest = ABSOLUTE if share else SQUARED
    size = slope / share if share else variation
    # A lasso's objective is a mean over the rows, those of ridge and logistic regression are sums.
    per_row = hasattr(model, "l1_ratio") and not is_classifier(model)
    return np.geomspace(strongest, weakest, N_PENALTIES) * (size / n if per_row else size)


def _names_out(front: Any) -> Any:
    """The names of the columns that steps make, if they can say."""
    try:
        return front.get_feature_names_out()
    except (AttributeError, ValueError):
        return None


def _names(model: Any, shape: Sequence[int], columns: Any) -> list[str]:
    """What to call the coefficients: by column, and by class or target if there are several."""
    outputs, d = shape[:2]
    by_column = [f"x{j}" for j in range(d)] if columns is None else [str(c) for c in columns]
    if outputs == 1:
        return by_column
    whose = model.classes_ if is_classifier(model) else [f"target {k}" for k in range(outputs)]
    return [f"{column}, {one}" for one in whose for column in by_column]
