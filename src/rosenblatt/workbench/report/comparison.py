"""The report of a comparison: values and figures that the templates show, section by section."""

import math
import os
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rosenblatt.workbench.findings import Bend, Findings, Protocol
from rosenblatt.workbench.verdicts import left_by_budget, warnings_of_scores

from . import format as formats
from . import prediction_figures, score_figures
from .page import render, write
from .svg import MANY_STEPS, Axis, Plot, bar, element, histogram

SECTIONS = {
    "answer": "answer", "leaderboard": "leaderboard", "test": "test set", "model": "model",
    "search": "more rows, other settings", "data": "data", "repeat": "reproduce",
}  # fmt: skip
COLUMNS = (  # of the leaderboard: heading, and how it is sorted if it is
    ("rank", "number"), ("model", "text"), ("score", "number"), ("interval", ""),
    ("compared with the best", "number"), ("fit", "number"), ("predict", "number"),
    ("size", "number"), ("best settings", ""),
)  # fmt: skip
PARTS = (
    ("train", 0, "search and fit"), ("dev", 2, "model assessment"), ("test", 1, "evaluated once"),
)  # fmt: skip
CONSTANTS = {  # that templates read
    "COLUMNS": COLUMNS,
    "FEW_REPEATED": 0.05,  # fraction of the test rows from which duplicates are stressed
    "MOST_REPEATED": 0.5,  # fraction from which the test score says little
    "MOST_NAMED": 4,  # models in a sentence
    "MOST_CLAIMS": 8,  # shown, unless one fails
    "MOST_COLUMNS": 25,  # shown; a longer table is folded
    "MANY_STEPS": MANY_STEPS,
    "STANDARD_INPUT": "standard input",
}
MOST_WEIGHTS = 15  # shown; the others are folded
FEW_MORE = 3  # weights beyond MOST_WEIGHTS that are shown rather than folded
MOST_FOLDED = 200
MOST_CURVES = 12  # effects of single columns
CURVE_SIZE = 300, 190
MOST_CLASSES = 30
MOST_BARS = 40


def page(findings: Findings) -> str:
    """Return the report as a self-contained HTML page."""
    if findings.nothing_fitted:  # the baseline stands in for a model
        findings = replace(findings, contestants=[])
    model, search = _model(findings), score_figures.search_values(findings)
    shown = {
        "test": findings.opening is not None and len(findings.opening.y) > 0,
        "model": model.pop("is_shown"),
        "search": search.pop("is_shown"),
    }
    return render(
        "comparison.html",
        f=findings,
        how=findings.protocol,
        opening=findings.opening,
        sections=[(id, name) for id, name in SECTIONS.items() if shown.get(id, True)],
        hints=findings.listed_hints,
        n_repeated=findings.n_repeated,
        in_words=partial(score_in_words, findings=findings),
        **CONSTANTS,
        **score_figures.board_values(findings),
        **(prediction_figures.values(findings) if shown["test"] else {}),
        **_verdicts(findings),
        **model,
        **search,
        **_data(findings),
        **_protocol(findings.protocol),
    )


def save(findings: Findings, path: str | os.PathLike[str]) -> None:
    """Write the report atomically."""
    write(page(findings), path)


def score_in_words(value: float, findings: Findings) -> str:
    """Format a score: fractions as percentages, errors without their negative sign.

    R² is a percentage unless the test score is negative.
    """
    metric = findings.protocol.metric
    shown = findings.opening.score if findings.opening else findings.board[0].mean
    if metric == "accuracy" or (metric == "r2" and shown >= 0):
        return formats.share(value).replace("-", formats.MINUS)
    return formats.score(-value if metric.startswith("neg_") else value)


def _verdicts(findings: Findings) -> dict[str, Any]:
    stopped = findings.protocol.stopped
    cut = [] if stopped == "interrupt" else left_by_budget(findings)
    return {
        "verdicts": warnings_of_scores(findings) + cut,
        "assessment": findings.notes + findings.verdicts,
    }


def _model(findings: Findings) -> dict[str, Any]:
    """Return weights, effects of columns and the tree of the report's section on the model."""
    known = [(str(name), float(w)) for name, w in findings.learned if math.isfinite(w)]
    known.sort(key=lambda pair: -abs(pair[1]))
    n = len(known) if len(known) <= MOST_WEIGHTS + FEW_MORE else MOST_WEIGHTS
    is_importance = findings.learned_as == "worth"
    rows = [_weight_row(name, weight, known, is_importance) for name, weight in known]
    y = Axis.around([*(v for bend in findings.bends for v in bend.effect), 0.0], "effect")
    trees = [entry for entry in findings.contestants if entry.tree]
    certified = findings.certificate or findings.why_no_certificate
    return {
        "is_importance": is_importance,
        "weights": rows[:n],
        "more_weights": rows[n : MOST_WEIGHTS + MOST_FOLDED],
        "n_more": max(findings.n_weights, len(known)) - MOST_WEIGHTS,
        "curves": [_effect(bend, y) for bend in findings.bends[:MOST_CURVES]],
        "tree": trees[0] if trees else None,
        "is_shown": bool(
            known or findings.learned_note or findings.notes or findings.verdicts or certified
        ),
    }


def _weight_row(
    name: str, weight: float, known: list[tuple[str, float]], is_importance: bool
) -> tuple[str, Any, str]:
    """Return name, bar and figure; bars are relative to the largest weight."""
    most, has_signs = abs(known[0][1]), any(w < 0 for _, w in known)
    # Importances are differences of scores; weights have various units.
    text = formats.difference(weight) if is_importance else formats.weight(weight)
    if has_signs and weight > 0 and not is_importance:
        text = f"+{text}"
    shown = formats.clipped(name, 60)
    drawn = bar(weight, most, f"{shown}: {text}", int(weight < 0), both=has_signs)
    return shown, drawn, text


def _effect(bend: Bend, y: Axis) -> dict[str, Any]:
    """Return the curve of what one column adds to the prediction."""
    name = formats.clipped(bend.name, 40)
    plot = Plot(Axis.around(bend.x, "", margin=0.02), y, *CURVE_SIZE)
    plot.rule([plot.x.low, plot.x.high], [0, 0])
    plot.line(bend.x, bend.effect)
    least, most = (
        f"{formats.weight(float(bend.effect[i]))} (at {formats.plain(float(bend.x[i]))})"
        for i in (bend.effect.argmin(), bend.effect.argmax())
    )
    picture = plot.draw(f"{name}: effect from {least} to {most}.")
    return {"name": name, "picture": picture, "least": least, "most": most}


def _data(findings: Findings) -> dict[str, Any]:
    """Return counts of classes or a histogram of the target, and the kinds of columns."""
    found: dict[str, Any] = {"balance": None, "histogram": None}
    if "counts" in findings.target:
        counts = findings.target["counts"]
        pairs = sorted(counts.items(), key=lambda pair: -pair[1])
        rare = pairs[MOST_CLASSES:]
        found["balance"] = {
            "shown": [(str(label), n) for label, n in pairs[:MOST_CLASSES]],
            "most": max(counts.values(), default=1),
            "total": max(sum(counts.values()), 1),
            "n_rare": len(rare),
            "rows_rare": sum(n for _, n in rare),
        }
    values = np.asarray(findings.target.get("values", []), np.float64)
    values = values[np.isfinite(values)]
    if len(values):
        found["histogram"] = _histogram(values, formats.clipped(findings.protocol.target, 60))
    kinds = Counter(column.kind for column in findings.columns)
    return {
        **found,
        "kinds": kinds.most_common(),
        "n_rows": max(findings.protocol.n_train, 1),
    }


def _histogram(values: np.ndarray[Any, Any], name: str) -> dict[str, Any]:
    heights, edges = histogram(values, MOST_BARS)
    plot = Plot(Axis.around([edges[0], edges[-1]], name, margin=0.01),
                Axis(0, 1.05 * int(heights.max()), "rows"))  # fmt: skip
    plot.bars(edges, heights, 2)
    low, median, high = (float(v) for v in np.quantile(values, [0, 0.5, 1]))
    picture = plot.draw(f"Histogram of {name}, median {formats.plain(median)}.")
    return {"picture": picture, "low": low, "median": median, "high": high}


def _protocol(how: Protocol) -> dict[str, Any]:
    """Return the facts that are needed to repeat the comparison."""
    score = f"{formats.metric(how.metric)} {how.positive_words}".strip()
    split = formats.clipped(how.split_words, 300) or how.split
    folds = formats.count(how.n_folds)
    if how.folds_words:
        folds += f", {formats.clipped(how.folds_words, 300)}"
    facts = [
        ("task", f"{how.task} of {formats.clipped(how.target)}"),
        ("metric", formats.clipped(score, 80)),
        ("split", split if how.split == "by time" else f"{split}, seed {how.random_state}"),
        ("folds", folds),
        ("time limit", "none" if how.budget is None else formats.seconds(how.budget)),
        ("duration", formats.seconds(how.seconds)),
        ("ended", {"": "complete", "budget": "time limit"}.get(how.stopped, "interrupted")),
        *how.versions.items(),
    ]
    return {"protocol": facts, "parts": _parts(how)}


def _parts(how: Protocol) -> dict[str, Any] | None:
    """Return training, development and test rows as one bar, in proportion."""
    sizes = {"train": how.n_train, "dev": how.n_dev, "test": how.n_test}
    total = sum(sizes.values())
    if not total:
        return None
    start, shapes = 0.0, []
    for name, k, _ in PARTS:
        width = 100 * sizes[name] / total
        shapes.append(
            element("rect", x=round(start, 2), y=0, width=round(max(width - 0.4, 0), 2), height=10,
                    class_=f"bar c{k}")
        )  # fmt: skip
        start += width
    label = ", ".join(f"{name} {formats.count(sizes[name])}" for name, _, _ in PARTS)
    picture = element("svg", *shapes, viewBox="0 0 100 10", preserveAspectRatio="none",
                      class_="split", role="img", aria_label=f"Rows: {label}.")  # fmt: skip
    return {"picture": picture, "rows": [(name, sizes[name], use, k) for name, k, use in PARTS]}
