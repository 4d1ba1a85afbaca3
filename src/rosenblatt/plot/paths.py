"""Coefficients over penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plot.curves import labelled_axes
from rosenblatt.plot.palette import COLOURS, DASHES, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("solid", DASHES, ":")  # each with every colour


def path(
    alphas: Any,
    coefs: Any,
    names: Sequence[str] | None = None,
    *,
    most_names: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw how coefficients leave zero as a penalty falls, from left to right.

    Parameters
    ----------
    alphas : the penalties, shape (m,).
    coefs : the coefficients, shape (d, m), as `lasso_path` and `ridge_path` return them.
    names : of the columns, shape (d,); x0, x1, ... if None.
    most_names : how many of the largest are named at the end of their lines.
    ax : where to draw; the current axes if None.

    Returns
    -------
    The axes drawn on.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import lasso_path
    >>> from rosenblatt.plot import path
    >>> X, t = load_diabetes(return_X_y=True)
    >>> alphas, coefs, _ = lasso_path(X, t)
    >>> ax = path(alphas, coefs, ax=plt.figure().gca())
    >>> ax.get_xscale()
    'log'
    """
    alphas, coefs = np.asarray(alphas, np.float64), np.asarray(coefs, np.float64)
    if coefs.ndim != 2 or alphas.shape != coefs.shape[1:]:
        raise ValueError(
            f"coefs must have one column for each penalty, shape (d, {len(alphas)}); "
            f"got {coefs.shape}."
        )
    names = [f"x{j}" for j in range(len(coefs))] if names is None else [str(n) for n in names]
    ax = labelled_axes(ax, "penalty, falling to the right", "coefficient")
    ax.set_xscale("log")
    end = int(np.argmin(alphas))
    largest = np.argsort(-np.abs(coefs[:, end]), kind="stable")[:most_names]
    heights = _apart(coefs[largest, end], 0.045 * max(np.ptp(coefs), 1e-300))
    ax.axhline(0, color=INK, linewidth=0.6)
    room = _room(ax, [names[j] for j in largest])
    for rank, j in enumerate(largest):
        ink, style = COLOURS[rank % len(COLOURS)], STYLES[rank // len(COLOURS) % len(STYLES)]
        ax.plot(alphas, coefs[j], color=ink, linewidth=1.4, linestyle=style)
        ax.annotate(
            names[j], (alphas[end], coefs[j, end]), xytext=(1 - room + 0.03, heights[rank]),
            textcoords=ax.get_yaxis_transform(), ha="left", va="center", fontsize="small",
            color=ink, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": ink, "linewidth": 0.5, "shrinkA": 1,
                        "shrinkB": 0},
        )  # fmt: skip
    for j in np.setdiff1d(np.arange(len(coefs)), largest):
        ax.plot(alphas, coefs[j], color=INK, linewidth=0.5, alpha=0.4, zorder=1)
    ax.invert_xaxis()
    low, high = alphas.min(), alphas.max()
    ax.set_xlim(high * 1.1, low / (high / low) ** (room / (1 - room)))
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


def _apart(heights: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Heights for labels that are at least so far apart, in the same order."""
    order = np.argsort(heights)
    moved = heights[order].astype(np.float64)
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + least)
    moved -= np.mean(moved - heights[order])
    result = np.empty_like(moved)
    result[order] = moved
    return result
