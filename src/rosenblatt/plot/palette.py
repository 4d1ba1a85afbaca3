"""Inks, colours and markers that stay apart for every kind of colour vision, and in print."""

from __future__ import annotations

from types import ModuleType

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
