"""How much better each family is on rows it was fitted to than on others."""

import math

import numpy as np
from numpy.typing import NDArray

from rosenblatt.workbench.results import Contestant, Findings

from . import numbers
from .axes import Axis
from .markup import Markup, tag
from .svg import entry, figure, shape

MOST_FAMILIES = 8
LEAST_SPAN = 0.01  # of the best score, that the picture is wide
WIDTH, HEIGHT, EDGE = 150, 18, 8  # of the picture of one row


def gaps(findings: Findings) -> Markup | None:
    """The picture; None where nothing was scored on the development part."""
    known = [c for c in findings.contestants if math.isfinite(c.dev_score + c.dev_train_score)]
    if not known:
        return None
    shown = known[:MOST_FAMILIES]
    axis = _axis(np.array([(c.dev_score, c.dev_train_score) for c in shown]))
    heads = tag(
        "tr", tag("th", "family", scope="col"), tag("td"), tag("th", "gap", scope="col")
    )  # fmt: skip
    body = tag("tbody", *(_row(contestant, axis) for contestant in shown))
    table = tag("table", tag("thead", heads), body, class_="bars gaps")
    words = (
        f"The {numbers.metric(findings.protocol.metric)} of each family at its best setting, "
        "fitted to the training part. The further training rows are ahead, the more was learned "
        "by heart."
    )
    if any(c.dev_train_score < c.dev_score for c in shown):
        words += " A negative gap is chance: the development rows happened to be easier."
    more = f" {len(shown)} of {len(known)} families are shown." if len(shown) < len(known) else ""
    legend = [entry("training rows", 0, marked=True), entry("development rows", 1, marked=True)]
    return figure("Learned, or learned by heart?", table, words + more, legend=legend)


def _axis(scores: NDArray[np.float64]) -> Axis:
    """Room for all, and for a gap that is seen in the figures: smaller ones are not blown up."""
    high = float(scores.max())
    low = min(float(scores.min()), high - LEAST_SPAN * abs(high))
    return Axis.around([low, high], "", margin=0.02)


def _row(contestant: Contestant, axis: Axis) -> Markup:
    train, dev = contestant.dev_train_score, contestant.dev_score
    a, b = (round(EDGE + (WIDTH - 2 * EDGE) * float(axis.share(v)), 1) for v in (train, dev))
    middle = HEIGHT / 2
    said = f"training {numbers.score(train)}, development {numbers.score(dev)}"
    drawn = tag(
        "svg",
        tag("title", said),
        tag("path", d=f"M{a} {middle}H{b}", class_="between"),
        tag("path", d=f"M{a} {middle}{shape(0)}", class_="mark c0"),
        tag("path", d=f"M{b} {middle}{shape(1)}", class_="mark c1"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="gap", role="img", aria_label=said,
    )  # fmt: skip
    return tag(
        "tr", tag("th", numbers.named(contestant), scope="row"),
        tag("td", drawn, class_="drawn"),
        tag("td", numbers.difference(train - dev), class_="figure"),
    )  # fmt: skip
