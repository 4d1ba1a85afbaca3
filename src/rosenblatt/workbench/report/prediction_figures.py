"""Figures of test predictions: confusion matrix, ROC curves, calibration, residuals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from rosenblatt.trace.run import sampled
from rosenblatt.workbench.findings import Findings, Opening
from rosenblatt.workbench.significance import wilson

from . import format as formats
from .svg import Axis, Plot, dash, histogram

MOST_CLASSES = 40  # of a matrix that can be read
WIDE = 12  # classes from which on cells are small and zeros become dots
MOST_ERRORS = 5
MOST_CURVES = 10  # more would hide one another
N_BINS = 10
MOST_POINTS = 2000
MOST_BARS = 30

Array = NDArray[np.float64]


def values(findings: Findings) -> dict[str, Any]:
    """Return the figures of the test set."""
    opening = findings.opening
    assert opening is not None
    if findings.protocol.task == "regression":
        return {"residuals": residuals(opening)}
    return class_values(opening, findings.protocol.positive)


def class_values(opening: Opening, positive: Any = None) -> dict[str, Any]:
    """Return the figures of a classifier; `positive` is the class that the metric is of."""
    everything = rankings_of(opening, positive)
    hardest = sorted(everything, key=lambda ranking: ranking.area)[:MOST_CURVES]
    shown = [ranking for ranking in everything if ranking in hardest]
    return {
        "matrix": confusion(opening),
        "rankings": shown,
        "n_rankings": len(everything),
        "roc": _roc(shown) if shown else None,
        "precision_recall": _precision_recall(shown) if shown else None,
        "calibration": calibration(opening, positive),
    }


def confusion(opening: Opening) -> dict[str, Any]:
    """Return the confusion matrix with precision and recall, and the most frequent errors."""
    counts = counts_of(opening)
    names = [formats.clipped(name, 30) for name in _classes(opening)]
    K, totals = len(names), counts.sum(axis=1)
    wrong = counts - np.diag(np.diag(counts))
    pairs = [divmod(int(i), K) for i in np.argsort(-wrong, axis=None, kind="stable")[:MOST_ERRORS]]
    return {
        "names": names,
        "is_wide": K > WIDE,
        "rows": [
            {"name": names[k], "cells": _cells(counts, k), "recall": _percent(counts[k, k], n)}
            for k, n in enumerate(totals)
            if K <= MOST_CLASSES
        ],
        "precision": [_percent(counts[k, k], counts[:, k].sum()) for k in range(K)],
        "accuracy": counts.trace() / max(counts.sum(), 1),
        "n": int(counts.sum()),
        "n_errors": int(wrong.sum()),
        "errors": [
            {"actual": names[i], "predicted": names[j], "n": int(wrong[i, j]), "total": totals[i]}
            for i, j in pairs
            if wrong[i, j]
        ],
    }


def counts_of(opening: Opening) -> NDArray[np.int64]:
    """Return the number of rows of each class (row) that are predicted as each class (column)."""
    place = {label: k for k, label in enumerate(_classes(opening))}
    actual = [place.get(label, -1) for label in opening.y.tolist()]
    predicted = [place.get(label, -1) for label in opening.predicted.tolist()]
    pairs = np.array([actual, predicted]).reshape(2, -1)
    pairs = pairs[:, (pairs >= 0).all(axis=0)]  # without classes that no training row has
    K = len(place)
    return np.bincount(pairs[0] * K + pairs[1], minlength=K * K).reshape(K, K)


def _classes(opening: Opening) -> list[Any]:
    return list(opening.classes) if opening.classes is not None else []


def _cells(counts: NDArray[np.int64], k: int) -> list[dict[str, Any]]:
    """Return the cells of a class; colors of errors darken faster."""
    total = max(counts[k].sum(), 1)
    cells = []
    for j, n in enumerate(counts[k]):
        share = float(n / total)
        dark = share if j == k else share**0.5
        cells.append({"n": int(n), "is_right": j == k, "dark": round(dark, 2)})
    return cells


def _percent(part: int, whole: int) -> str:
    """Format whole percents; only 0 and 1 become 0% and 100%."""
    if not whole:
        return formats.DASH
    if 0 < part < whole:
        return f"{min(max(round(100 * part / whole), 1), 99)}%"
    return f"{part / whole:.0%}"


@dataclass(frozen=True, eq=False)
class Ranking:
    """ROC and precision-recall curves of one class against all others."""

    name: str
    share: float  # of the class among the rows
    false_positive_rate: Array
    true_positive_rate: Array
    area: float
    precision: Array
    recall: Array
    average_precision: float


def scores_of(opening: Opening) -> Array | None:
    """Return scores (n, K), or (n,) of the second of two classes; None if there are none."""
    scores = opening.probabilities if opening.probabilities is not None else opening.decisions
    if scores is None or opening.classes is None or not np.isfinite(scores).all():
        return None
    if len(opening.classes) == 2 and scores.ndim == 2:
        return np.asarray(scores[:, -1])
    return scores


def rankings_of(opening: Opening, positive: Any = None) -> list[Ranking]:
    """Return the curves of each class that some but not all rows have.

    Of two classes only one is returned: the positive class, or else the second.
    """
    scores = scores_of(opening)
    if scores is None or opening.classes is None:
        return []
    if scores.ndim == 1 and positive is not None and positive == opening.classes[0]:
        columns = [(opening.classes[0], -scores)]
    elif scores.ndim == 1:
        columns = [(opening.classes[-1], scores)]
    else:
        columns = list(zip(opening.classes, scores.T, strict=True))
    hits = [(name, opening.y == name, column) for name, column in columns]
    return [_ranking(str(name), hit, column) for name, hit, column in hits if 0 < hit.mean() < 1]


def _ranking(name: str, hit: NDArray[np.bool_], scores: Array) -> Ranking:
    false_positive_rate, true_positive_rate, _ = roc_curve(hit, scores)
    precision, recall, _ = precision_recall_curve(hit, scores)
    return Ranking(
        formats.clipped(name, 30), float(hit.mean()), false_positive_rate, true_positive_rate,
        float(auc(false_positive_rate, true_positive_rate)), precision, recall,
        float(average_precision_score(hit, scores)),
    )  # fmt: skip


def _roc(rankings: list[Ranking]) -> Markup:
    plot = Plot(Axis(0, 1, "false positive rate"), Axis(0, 1, "true positive rate (recall)"))
    plot.rule([0, 1], [0, 1])
    for k, ranking in enumerate(rankings):
        plot.line(ranking.false_positive_rate, ranking.true_positive_rate, k, dashes=dash(k))
    areas = ", ".join(f"{r.name} {formats.score(r.area)}" for r in rankings)
    return plot.draw(f"ROC curves; areas: {areas}.")


def _precision_recall(rankings: list[Ranking]) -> Markup:
    plot = Plot(Axis(0, 1, "recall"), Axis(0, 1, "precision"))
    for k, ranking in enumerate(rankings):
        plot.line(ranking.recall, ranking.precision, k, dashes=dash(k), steps=True)
    if len(rankings) == 1:
        plot.rule([0, 1], [rankings[0].share] * 2)
    areas = ", ".join(f"{r.name} {formats.score(r.average_precision)}" for r in rankings)
    return plot.draw(f"Precision against recall; average precision: {areas}.")


def calibration(opening: Opening, positive: Any = None) -> dict[str, Any] | None:
    """Return the calibration curve and error; None without probabilities."""
    found = predicted_and_observed(opening, positive)
    if found is None:
        return None
    predicted, observed, name = found
    bins = np.clip((predicted * N_BINS).astype(np.int64), 0, N_BINS - 1)
    n_all = np.bincount(bins, minlength=N_BINS)
    full = n_all > 0
    n, n_right = n_all[full], np.bincount(bins, observed, N_BINS)[full]
    mean, share = np.bincount(bins, predicted, N_BINS)[full] / n, n_right / n
    intervals = [wilson(*counts) for counts in zip(n_right, n, strict=True)]
    plot = Plot(Axis(0, 1, f"predicted probability of {name}"), Axis(0, 1, "observed frequency"))
    plot.bars(np.linspace(0, 1, N_BINS + 1), 0.22 * n_all / n.max(), 6)
    plot.rule([0, 1], [0, 1])
    plot.whiskers(mean, [i.low for i in intervals], [i.high for i in intervals])
    plot.line(mean, share, 0)
    titles = [
        f"predicted {formats.share(m)}, observed {formats.share(s)} of {formats.plural(k, 'row')}"
        for m, s, k in zip(mean, share, n.tolist(), strict=True)
    ]
    plot.marks(mean, share, 0, titles=titles)
    return {
        "picture": plot.draw("Calibration: " + "; ".join(titles) + "."),
        "error": float(np.sum(np.abs(mean - share) * n) / n.sum()),
    }


def predicted_and_observed(
    opening: Opening, positive: Any = None
) -> tuple[Array, NDArray[np.bool_], str] | None:
    """Return a predicted probability and the outcome for each row, and the name of the class.

    Of two classes the positive one is taken, or the second; of more the likeliest of each row.
    """
    given = opening.probabilities
    if given is None or opening.classes is None or not np.isfinite(given).all():
        return None
    if len(opening.classes) == 2:
        k = 0 if positive is not None and positive == opening.classes[0] else 1
        label = opening.classes[k]
        return given[:, k], opening.y == label, formats.clipped(label, 24)
    likeliest = given.argmax(axis=1)
    return given.max(axis=1), opening.classes[likeliest] == opening.y, "the predicted class"


def residuals(opening: Opening) -> dict[str, Any] | None:
    """Return figures and summaries of the residuals; None if no prediction is finite."""
    actual = np.asarray(opening.y, np.float64)
    predicted = np.asarray(opening.predicted, np.float64)
    known = np.isfinite(actual) & np.isfinite(predicted)
    if not known.any():
        return None
    actual, predicted = actual[known], predicted[known]
    left = actual - predicted
    some = sampled(len(actual), MOST_POINTS)
    low, median, high = np.quantile(left, [0.1, 0.5, 0.9]).tolist()
    return {
        "against_truth": _against_truth(actual[some], predicted[some]),
        "against_predicted": _against_predicted(predicted[some], left[some]),
        "histogram": _spread(left),
        "rmse": float(np.sqrt(np.mean(left**2))),
        "mae": float(np.mean(np.abs(left))),
        "low": low,
        "median": median,
        "high": high,
        "n": len(actual),
        "n_drawn": min(len(actual), MOST_POINTS),
    }


def _against_truth(actual: Array, predicted: Array) -> Markup:
    ends = Axis.around([actual, predicted], "")
    plot = Plot(Axis(ends.low, ends.high, "actual"), Axis(ends.low, ends.high, "predicted"))
    plot.rule([ends.low, ends.high], [ends.low, ends.high])
    plot.cloud(actual, predicted)
    return plot.draw("Predicted against actual values.")


def _against_predicted(predicted: Array, left: Array) -> Markup:
    y = Axis.around([*left, 0], "actual \u2212 predicted")
    plot = Plot(Axis.around(predicted, "predicted"), y)
    plot.rule([plot.x.low, plot.x.high], [0, 0])
    plot.cloud(predicted, left, 1)
    return plot.draw("Residuals against predicted values.")


def _spread(left: Array) -> Markup:
    heights, edges = histogram(left, MOST_BARS)
    plot = Plot(Axis.around([edges[0], edges[-1]], "actual \u2212 predicted"),
                Axis(0, max(1, int(heights.max())) * 1.05, "rows"))  # fmt: skip
    plot.bars(edges, heights, 1)
    plot.rule([0, 0], [0, plot.y.high])
    return plot.draw("Histogram of residuals.")
