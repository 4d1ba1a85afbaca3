"""Curves over the steps of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.plot.palette import DASHES, INK, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def labelled_axes(ax: Axes | None, x: str, y: str) -> Axes:
    """Axes with names and two spines; the current ones if None."""
    ax = pyplot().gca() if ax is None else ax
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_curve(
    ax: Axes,
    steps: ArrayLike,
    values: ArrayLike,
    name: str,
    label: str | None = None,
    current: bool = False,
) -> None:
    """One quantity over the steps, its name above and its last value at the end of the line.

    That of a run's current weights is dashed, where there is something else to show as well.
    """
    steps, values = np.asarray(steps), np.asarray(values, dtype=np.float64)
    width = 1.4 if len(steps) < 300 else 0.8
    width, style = (0.7 * width, DASHES) if current else (width, "solid")
    ax.plot(
        steps, values, color=INK, linewidth=width, linestyle=style, solid_joinstyle="round",
        label=label,
    )  # fmt: skip
    ax.plot(steps[-1], values[-1], "o", color=INK, markersize=4, clip_on=False)
    ax.annotate(
        f"{values[-1]:.4g}", (steps[-1], values[-1]), xytext=(6, 0),
        textcoords="offset points", va="center", annotation_clip=False,
    )  # fmt: skip
    ax.set_title(name, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0)
    if np.nanmin(values) >= 0:
        ax.set_ylim(bottom=0)
    ax.locator_params(axis="x", integer=True, nbins=6)


def draw_beside(ax: Axes, steps: ArrayLike, values: ArrayLike, label: str) -> None:
    """Another curve behind the one drawn, thin and dashed, and a legend that tells them apart."""
    width = 1.0 if len(np.asarray(steps)) < 300 else 0.5
    ax.plot(steps, values, color=INK, linewidth=width, linestyle=DASHES, zorder=1.5, label=label)
    ax.set_ylim(top=1.05 * max(ax.get_ylim()[1] / 1.05, float(np.nanmax(values))))
    ax.legend(
        loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize="small",
        borderaxespad=0.2, handlelength=2, columnspacing=1.2,
    )  # fmt: skip
