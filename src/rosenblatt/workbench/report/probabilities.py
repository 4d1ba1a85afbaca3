"""How well scores put the rows of a class before all others: ROC and precision-recall curves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from rosenblatt.workbench.protocol.results import Opening
from rosenblatt.workbench.protocol.significance import wilson

from . import numbers
from .numbers import Markup, joined, table, tag
from .pictures import Axis, Plot, dash, figure, swatch

MOST_CURVES = 10  # more would hide one another

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The curves of one class against the rest."""

    name: str
    share: float  # of the class among the rows
    false_positives: Array
    found: Array
    area: float
    precision: Array
    recall: Array
    average_precision: float


def ranking(opening: Opening, positive: Any = None) -> tuple[Markup, Markup | None] | None:
    """The two pictures, and a table of several classes; None where there is nothing to rank by."""
    rankings = rankings_of(opening, positive)
    if not rankings:
        return None
    hardest = sorted(rankings, key=lambda r: r.area)[:MOST_CURVES]
    shown = [r for r in rankings if r in hardest]
    one = len(rankings) == 1
    pictures = joined(_roc(shown, one), _precision_recall(shown, one))
    return pictures, None if one else _areas(shown, len(rankings))


def scores_of(opening: Opening) -> Array | None:
    """Scores (n, K), or (n,) of the second of two classes; None if there are none."""
    scores = opening.probabilities if opening.probabilities is not None else opening.decisions
    if scores is None or opening.classes is None or not np.isfinite(scores).all():
        return None
    if len(opening.classes) == 2 and scores.ndim == 2:
        return np.asarray(scores[:, -1])
    return scores


def rankings_of(opening: Opening, positive: Any = None) -> list[Ranking]:
    """One for each class that some rows have and some have not.

    Of two classes it is that of the positive one, or of the second if none is.
    """
    scores = scores_of(opening)
    if scores is None or opening.classes is None:
        return []
    if scores.ndim == 1 and positive is not None and positive == opening.classes[0]:
        columns = [(opening.classes[0], -scores)]  # what ranks one class first ranks the other last
    elif scores.ndim == 1:
        columns = [(opening.classes[-1], scores)]
    else:
        columns = list(zip(opening.classes, scores.T, strict=True))
    hits = [(name, opening.y == name, column) for name, column in columns]
    return [_ranking(str(name), hit, column) for name, hit, column in hits if 0 < hit.mean() < 1]


def _ranking(name: str, hit: NDArray[np.bool_], scores: Array) -> Ranking:
    false_positives, found, _ = roc_curve(hit, scores)
    precision, recall, _ = precision_recall_curve(hit, scores)
    return Ranking(
        numbers.clipped(name, 30), float(hit.mean()), false_positives, found,
        float(auc(false_positives, found)), precision, recall,
        float(average_precision_score(hit, scores)),
    )  # fmt: skip


def _roc(rankings: list[Ranking], one: bool) -> Markup:
    plot = Plot(Axis(0, 1, "share of the others called so"), Axis(0, 1, "share found"))
    plot.rule([0, 1], [0, 1])
    for k, r in enumerate(rankings):
        plot.line(r.false_positives, r.found, k, dashes=dash(k))
    areas = ", ".join(f"{r.name} {numbers.score(r.area)}" for r in rankings)
    name = rankings[0].name
    words = (
        f"The area under the curve for {name} is {numbers.score(rankings[0].area)}: the chance "
        "that a row of the class gets a higher score than another row. Dotted: by chance, 0.5."
        if one
        else "Each class against the rest. Dotted: by chance."
    )
    return figure("ROC", plot.draw(f"ROC curves; areas: {areas}."), words)


def _precision_recall(rankings: list[Ranking], one: bool) -> Markup:
    plot = Plot(Axis(0, 1, "recall: share found"), Axis(0, 1, "precision"))
    for k, r in enumerate(rankings):
        plot.line(r.recall, r.precision, k, dashes=dash(k), steps=True)
    if one:
        plot.rule([0, 1], [rankings[0].share] * 2)
    areas = ", ".join(f"{r.name} {numbers.score(r.average_precision)}" for r in rankings)
    words = (
        f"The average precision is {numbers.score(rankings[0].average_precision)}. Dotted: by "
        f"chance, {numbers.score(rankings[0].share)}, the share of {rankings[0].name}."
        if one
        else "Precision is the share of rows called so that are so."
    )
    drawn = plot.draw(f"Precision against recall; average precision: {areas}.")
    return figure("Precision and recall", drawn, words)


def _areas(shown: list[Ranking], n_classes: int) -> Markup:
    """The legend of both pictures, with their numbers."""
    rows = [
        tag("tr", tag("th", swatch(k, dashes=dash(k)), " ", tag("span", r.name), scope="row"),
            tag("td", numbers.score(r.area)), tag("td", numbers.score(r.average_precision)))
        for k, r in enumerate(shown)
    ]  # fmt: skip
    words = tag("p", f"The {len(shown)} of {n_classes} classes that are hardest to tell.")
    areas = table(("class", "area under ROC", "average precision"), rows, "plain")
    return joined(areas, words if len(shown) < n_classes else None)


# Whether probabilities are what they say: of rows given 80%, do 80% turn out so.


N_BINS = 10


def calibration(opening: Opening, positive: Any = None) -> Markup | None:
    """The reliability picture; None where there are no probabilities."""
    found = said_and_right(opening, positive)
    if found is None:
        return None
    said, right, what = found
    place = np.clip((said * N_BINS).astype(np.int64), 0, N_BINS - 1)
    n_all = np.bincount(place, minlength=N_BINS)
    full = n_all > 0
    n, n_right = n_all[full], np.bincount(place, right, N_BINS)[full]
    mean, share = np.bincount(place, said, N_BINS)[full] / n, n_right / n
    sure = [wilson(*counts) for counts in zip(n_right, n, strict=True)]
    off = float(np.sum(np.abs(mean - share) * n) / n.sum())
    plot = Plot(Axis(0, 1, f"probability given to {what}"), Axis(0, 1, "share it is true of"))
    plot.bars(np.linspace(0, 1, N_BINS + 1), 0.22 * n_all / n.max(), 6)
    plot.rule([0, 1], [0, 1])
    plot.whiskers(mean, [i.low for i in sure], [i.high for i in sure])
    plot.line(mean, share, 0)
    pairs = [
        f"said {numbers.share(m)}, true of {numbers.share(s)} of {numbers.plural(int(k), 'row')}"
        for m, s, k in zip(mean, share, n, strict=True)
    ]
    plot.marks(mean, share, 0, words=pairs)
    words = (
        f"On the dotted line, probabilities mean what they say; on average they are "
        f"{numbers.share(off)} off. Upright lines: 95% intervals. Grey: how many rows have them."
    )
    return figure("Calibration", plot.draw("Reliability: " + "; ".join(pairs) + "."), words)


def said_and_right(
    opening: Opening, positive: Any = None
) -> tuple[Array, NDArray[np.bool_], str] | None:
    """A probability and whether it came true for each row, and of what it is.

    Of two classes the positive one is taken, or the second if none is; of more the likeliest of
    each row.
    """
    given = opening.probabilities
    if given is None or opening.classes is None or not np.isfinite(given).all():
        return None
    if len(opening.classes) == 2:
        k = 0 if positive is not None and positive == opening.classes[0] else 1
        label = opening.classes[k]
        return given[:, k], opening.y == label, numbers.clipped(label, 24)
    likeliest = given.argmax(axis=1)
    return given.max(axis=1), opening.classes[likeliest] == opening.y, "the likeliest class"
