"""Figures of scores: the test score with its intervals, and the intervals of the leaderboard."""

import math
from typing import Any

import numpy as np
from markupsafe import Markup

from rosenblatt.workbench.findings import Contestant, Findings
from rosenblatt.workbench.significance import interval_of_mean

from . import format as formats
from .svg import Axis, Plot, element, round_numbers


def values(findings: Findings) -> dict[str, Any]:
    """Return the test score's figure and the lines of the leaderboard."""
    axis = _board_axis(findings)
    others = findings.contestants[1:]
    return {
        "scale": _scale(findings),
        "ruler": _ruler(axis),
        "lines": [_line(entry, findings, axis) for entry in findings.board],
        "alike": findings.alike[1:],
        "compared": [entry for entry in others if math.isfinite(entry.p_value)],
    }


# The test score, its confidence intervals and the baseline, a row each.

SCALE_WIDTH, ROW = 440, 36


def _scale(findings: Findings) -> Markup | None:
    opening = findings.opening
    if opening is None or not np.isfinite([opening.score, opening.baseline_score]).all():
        return None
    score, baseline = opening.score, opening.baseline_score
    rows = [(f"test: {formats.score(score)}", score, score)]
    for interval in opening.intervals:
        ends = f"{formats.score(interval.low)} to {formats.score(interval.high)}"
        rows.append((f"{interval.method}: {ends}", interval.low, interval.high))
    rows.append((f"baseline: {formats.score(baseline)}", baseline, baseline))
    places = tuple((float(-i), name) for i, (name, *_) in enumerate(rows))
    ends = [end for _, low, high in rows for end in (low, high)]
    x = Axis.of_scores(ends, findings.protocol.metric, "", margin=0.08)
    y = Axis(0.5 - len(rows), 0.5, "", places=places)
    plot = Plot(x, y, SCALE_WIDTH, 54 + ROW * len(rows))
    plot.rule([baseline] * 2, [y.low, y.high])
    plot.line([score] * 2, [y.low, y.high])
    for i, (_, low, high) in enumerate(rows[1:-1], 1):
        plot.line([low, high], [-i, -i], class_="line interval")
    plot.marks([score] * (len(rows) - 1), [-i for i in range(len(rows) - 1)])
    plot.marks([baseline], [1 - len(rows)], class_="mark hollow")
    names = "; ".join(name for name, *_ in rows)
    return plot.draw(f"{formats.metric(findings.protocol.metric)}, {names}.")


# Lines of the leaderboard: mean, interval and folds of each model on one axis.

LINE_WIDTH, LINE_HEIGHT, EDGE = 190, 24, 8
SMALL_LETTER, APART = 6.5, 14  # width of a letter above the lines; gap between two numbers


def _line(entry: Contestant, findings: Findings, axis: Axis) -> dict[str, Any]:
    is_alike, is_baseline = entry in findings.alike, entry is findings.baseline
    has_spread = len(entry.scores) > 1 and math.isfinite(entry.mean)
    return {
        "entry": entry,
        "is_baseline": is_baseline,
        "is_first": entry in findings.contestants[:1],
        "kind": "alike" if is_alike else "simple" if is_baseline else "",
        "spread": formats.deviation(entry.deviation, entry.mean) if has_spread else "",
        "picture": _line_picture(entry, findings, axis, is_alike),
    }


def _line_picture(
    entry: Contestant, findings: Findings, axis: Axis, is_alike: bool
) -> Markup | str:
    """Return mean, interval and fold scores as one small figure."""
    mean, (low, high) = entry.mean, _range(entry, findings)
    if not math.isfinite(mean):
        return formats.DASH
    label, parts = f"mean {formats.score(mean)}", []
    if math.isfinite(low):
        label += f", interval {formats.score(low)} to {formats.score(high)}"
    if findings.contestants and math.isfinite(findings.contestants[0].mean):
        best = _line_x(axis, findings.contestants[0].mean)
        parts.append(element("path", d=f"M{best} 0V{LINE_HEIGHT}", class_="best"))
    if mean < axis.low:
        parts.append(element("path", d="M10 7l-7 5l7 5", class_="beyond"))
        label += ", below the scale"
    else:
        parts += _marks(entry, axis, low, high, is_alike)
    return element("svg", *parts, viewBox=f"0 0 {LINE_WIDTH} {LINE_HEIGHT}", class_="interval",
                   role="img", aria_label=label)  # fmt: skip


def _marks(entry: Contestant, axis: Axis, low: float, high: float, is_alike: bool) -> list[Markup]:
    scores = entry.scores[entry.scores >= axis.low]
    folds = "".join(f"M{_line_x(axis, value)} 8v8" for value in scores)
    parts = [element("path", d=folds, class_="fold")] if folds else []
    if math.isfinite(low):
        start, end = _line_x(axis, max(low, axis.low)), _line_x(axis, min(high, axis.high))
        parts.append(element("path", d=f"M{start} 12H{end}", class_="reach"))
    look = "mean" if is_alike else "mean hollow"
    parts.append(element("circle", cx=_line_x(axis, entry.mean), cy=12, r=4.5, class_=look))
    return parts


def _ruler(axis: Axis) -> Markup:
    ticks = []
    for value in ruler_values(axis):
        x = _line_x(axis, value)
        anchor = "start" if x < 20 else "end" if x > LINE_WIDTH - 20 else "middle"
        ticks.append(element("path", d=f"M{x} 18v6", class_="tick"))
        ticks.append(element("text", formats.plain(value), x=x, y=13, text_anchor=anchor))
    size = f"0 0 {LINE_WIDTH} {LINE_HEIGHT}"
    return element("svg", *ticks, viewBox=size, class_="interval", aria_hidden="true")


def ruler_values(axis: Axis) -> list[float]:
    """Return round numbers along the axis, no more than fit beside one another."""
    values = round_numbers(axis.low, axis.high, 4)
    if len(values) < 2:
        return values
    width = SMALL_LETTER * max(len(formats.plain(value)) for value in values) + APART
    return values[:: math.ceil(width / (_line_x(axis, values[1]) - _line_x(axis, values[0])))]


def _board_axis(findings: Findings) -> Axis:
    """Return an axis for intervals and folds; a model far behind does not widen it."""
    simple = findings.baseline
    board = [entry for entry in findings.contestants if math.isfinite(entry.mean)]
    board += [simple] * (not board or any(entry.mean < simple.mean for entry in board))
    ends = np.array([end for c in board for end in (c.scores.min(), c.mean, c.scores.max())])
    ranges = np.array([_range(entry, findings) for entry in board])
    everything = np.concatenate([ends, ranges[np.isfinite(ranges)]])
    high = float(everything.max())
    lows = np.fmin(ranges[:, 0], [entry.mean for entry in board])
    spread = high - float(np.median(lows))
    low = max(float(everything.min()), high - 3 * spread) if spread > 0 else high
    return Axis.of_scores([low, high], findings.protocol.metric, "", margin=0.04)


def _range(entry: Contestant, findings: Findings) -> tuple[float, float]:
    protocol = findings.protocol
    interval = interval_of_mean(entry.scores, protocol.metric, protocol.fold_ratio)
    return interval.low, interval.high


def _line_x(axis: Axis, value: float) -> float:
    return round(EDGE + (LINE_WIDTH - 2 * EDGE) * float(axis.share(value)), 1)
