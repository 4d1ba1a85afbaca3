"""Coefficients over penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.plot.curves import labelled_axes
from rosenblatt.plot.palette import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def path(
    alphas: Any,
    coefs: Any,
    names: Sequence[str] | None = None,
    *,
    most_names: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw how coefficients leave zero as a penalty falls, from right to left.

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
    ax = labelled_axes(ax, "penalty", "coefficient")
    ax.set_xscale("log")
    end = int(np.argmin(alphas))
    largest = np.argsort(-np.abs(coefs[:, end]), kind="stable")[:most_names]
    heights = _apart(coefs[largest, end], 0.045 * max(np.ptp(coefs), 1e-300))
    ax.axhline(0, color=INK, linewidth=0.6)
    for rank, j in enumerate(largest):
        ax.plot(alphas, coefs[j], color=COLOURS[rank % len(COLOURS)], linewidth=1.4)
        ax.annotate(
            names[j], (alphas[end], coefs[j, end]), xytext=(0.985, heights[rank]),
            textcoords=ax.get_yaxis_transform(), ha="right", va="center", fontsize="small",
            color=COLOURS[rank % len(COLOURS)], annotation_clip=False,
        )  # fmt: skip
    for j in np.setdiff1d(np.arange(len(coefs)), largest):
        ax.plot(alphas, coefs[j], color=INK, linewidth=0.5, alpha=0.4, zorder=1)
    ax.invert_xaxis()
    low, high = alphas.min(), alphas.max()
    ax.set_xlim(high * 1.1, low / (high / low) ** 0.16)
    return ax


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
