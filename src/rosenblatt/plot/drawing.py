"""Inks, colours and markers that stay apart for every kind of colour vision, and in print."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#22252a"
PALE = "#c9ccd1"
DASHES = (0, (4, 2.5))  # of what belongs to a run's current weights, on and off in line widths
# Okabe and Ito's colours, the two that differ most first.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f5f5f")
# Six shapes and seven colours: a pair comes again after 42 classes.
MARKERS = ("o", "^", "s", "D", "v", "P")


def colour(k: int) -> str:
    """The colour of class k."""
    return COLOURS[k % len(COLOURS)]


def marker(k: int) -> str:
    """The marker of class k."""
    return MARKERS[k % len(MARKERS)]


def clipped(name: object, most: int = 80) -> str:
    """A name to print, cut where it is so long that nobody would read on."""
    text = str(name)
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def pyplot() -> ModuleType:
    """matplotlib.pyplot, or a word on how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Pictures are drawn by matplotlib: pip install "rosenblatt[plot]".'
        ) from error
    return plt


def axes_for(ax: Axes | None) -> Axes:
    """The axes given; else the current ones if they are empty, or those of a new figure."""
    if ax is None:
        current: Axes = pyplot().gca()
        drawn = (current.lines, current.collections, current.patches, current.images, current.texts)
        ax = pyplot().figure().gca() if any(len(artists) for artists in drawn) else current
    return ax


# Curves over the steps of a fit.


def labelled_axes(ax: Axes | None, x: str, y: str) -> Axes:
    """Axes with names and two spines; those of `axes_for` if None."""
    ax = axes_for(ax)
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
    log: bool = False,
) -> None:
    """One quantity over the steps, its name above and its last value at the end of the line.

    That of a run's current weights is dashed, where there is something else to show as well. What
    shrinks by factors has a logarithmic scale.
    """
    from matplotlib.ticker import LogLocator, NullLocator

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
    if log and np.nanmin(values) > 0:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(numticks=4))
        ax.yaxis.set_minor_locator(NullLocator())
    elif np.nanmin(values) >= 0:
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
