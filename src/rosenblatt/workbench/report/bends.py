"""Curves that were learned of single columns: what each adds to the prediction over its range."""

import numpy as np

from rosenblatt.workbench.results import Bend, Findings

from . import numbers
from .axes import Axis
from .markup import Markup, joined, tag
from .svg import Plot, figure

MOST_CURVES = 12
WIDTH, HEIGHT = 300, 190


def bends(findings: Findings) -> Markup | None:
    """A small picture for each column, those that matter most first, on one scale."""
    shown = findings.bends[:MOST_CURVES]
    if not shown:
        return None
    y = Axis.around([*np.concatenate([bend.effect for bend in shown]), 0.0], "adds")
    left = len(findings.bends) - len(shown)
    more = numbers.plural(left, "column that matters less is", "columns that matter less are")
    word = f" {more} not drawn." if left else ""
    words = (
        "The column whose curve reaches farthest comes first. All have one scale, in units of "
        f"{numbers.clipped(findings.protocol.target, 40)}; each covers the range of the middle "
        f"98% of the rows.{word}"
    )
    pictures = tag("div", *(_curve(bend, y) for bend in shown), class_="figures curves")
    return joined(tag("h3", "What each column adds"), tag("p", words), pictures)


def _curve(bend: Bend, y: Axis) -> Markup:
    name = numbers.clipped(bend.name, 40)
    plot = Plot(Axis.around(bend.x, "", margin=0.02), y, WIDTH, HEIGHT)
    plot.rule([plot.x.low, plot.x.high], [0, 0])
    plot.line(bend.x, bend.effect)
    low, high = int(bend.effect.argmin()), int(bend.effect.argmax())
    least, most = (
        f"{numbers.weight(float(bend.effect[i]))} (at {numbers.plain(float(bend.x[i]))})"
        for i in (low, high)
    )
    said = f"adds from {least} to {most}"
    return figure(name, plot.draw(f"{name} {said}."), f"{numbers.title(said)}.")
