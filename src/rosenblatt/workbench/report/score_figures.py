"""Figures of scores: the test score with its intervals, and the intervals of the leaderboard."""

import math
from typing import Any

import numpy as np
from markupsafe import Markup

from rosenblatt.workbench.findings import Contestant, Findings, Interval, Opening
from rosenblatt.workbench.significance import interval_of_mean

from . import format as formats
from .svg import Axis, element, round_numbers, shape


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


# The test score and the baseline on one axis, with the confidence intervals below.

WIDTH, LEFT, RIGHT = 500, 12, 488  # of the figure, and the ends of its axis
TOP, ROW = 48, 40  # height above the intervals, and of one interval
BELOW = 32  # between the last interval and the axis
LETTER = 8.4  # width of a letter on a phone, where letters are largest


def _scale(findings: Findings) -> Markup | None:
    opening = findings.opening
    if opening is None or not np.isfinite([opening.score, opening.baseline_score]).all():
        return None
    ends = [end for interval in opening.intervals for end in (interval.low, interval.high)]
    axis = Axis.of_scores([opening.score, opening.baseline_score, *ends], findings.protocol.metric,
                          "", margin=0.08)  # fmt: skip
    rows = [TOP + ROW * (i + 0.5) for i in range(max(len(opening.intervals), 1))]
    base = rows[-1] + BELOW
    x, low = _scale_x(axis, opening.score), _scale_x(axis, opening.baseline_score)
    parts = [
        _scale_ticks(axis, base),
        element("path", d=f"M{low} 44V{base}", class_="baseline"),
        element("path", d=f"M{x} 22V{base}", class_="test"),
        _label(low, f"baseline {formats.score(opening.baseline_score)}", 38),
        _label(x, f"test {formats.score(opening.score)}", 15, class_="strong"),
    ]
    for interval, y in zip(opening.intervals, rows, strict=False):
        parts.extend(_interval(axis, interval, y, (x, low)))
    parts += [element("path", d=f"M{x} {y}{shape(0)}", class_="mark c0") for y in rows]
    return element(
        "svg", *parts, viewBox=f"0 0 {WIDTH} {base + 26}", class_="scale", role="img",
        aria_label=_description(opening, findings.protocol.metric),
    )  # fmt: skip


def _interval(
    axis: Axis, interval: Interval, y: float, verticals: tuple[float, float]
) -> tuple[Markup, Markup]:
    """Return an interval and its label, placed where no vertical line crosses the label."""
    low, high = _scale_x(axis, interval.low), _scale_x(axis, interval.high)
    text = f"{interval.method}: {formats.score(interval.low)} to {formats.score(interval.high)}"
    line = element(
        "path", d=f"M{low} {y - 5}v10M{low} {y}H{high}M{high} {y - 5}v10", class_="interval"
    )
    test = verticals[0]
    places = (  # beside the interval, or below it on one side of the test score
        (low - 9, y + 4, "end"), (high + 9, y + 4, "start"),
        (test - 8, y + 21, "end"), (test + 8, y + 21, "start"),
    )  # fmt: skip

    def obstacles(x: float, anchor: str) -> tuple[bool, bool]:
        start = x - LETTER * len(text) if anchor == "end" else x
        end = start + LETTER * len(text)
        return start < 0 or end > WIDTH, any(start < line < end for line in verticals)

    x, at, anchor = min(places, key=lambda place: obstacles(place[0], place[2]))
    return line, _label(x, text, at, anchor=anchor)


def _scale_ticks(axis: Axis, y: float) -> Markup:
    parts = [element("path", d=f"M{LEFT} {y}H{RIGHT}", class_="axis")]
    for value in round_numbers(axis.low, axis.high):
        x = _scale_x(axis, value)
        parts.append(element("path", d=f"M{x} {y}v5", class_="tick"))
        parts.append(element("text", formats.plain(value), x=x, y=y + 20, text_anchor="middle"))
    return element("g", *parts, class_="axes")


def _label(x: float, text: str, y: float, class_: str = "", anchor: str = "") -> Markup:
    """Return text above a position, moved inwards at the edges."""
    edge = "start" if x < 80 else "end" if x > WIDTH - 80 else "middle"
    class_ = f"halo {class_}".strip()
    return element("text", text, x=x, y=y, text_anchor=anchor or edge, class_=class_)


def _scale_x(axis: Axis, value: float) -> float:
    share = float(np.clip(axis.share(value), 0, 1))
    return round(LEFT + (RIGHT - LEFT) * share, 1)


def _description(opening: Opening, metric: str) -> str:
    ranges = "".join(
        f"; {i.method} interval {formats.score(i.low)} to {formats.score(i.high)}"
        for i in opening.intervals
    )
    return (
        f"Test {formats.metric(metric)} {formats.score(opening.score)}{ranges}; "
        f"baseline {formats.score(opening.baseline_score)}."
    )


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
