"""The leaderboard: families of models ranked by their cross-validated training scores alone."""

import math

import numpy as np

from rosenblatt.workbench.protocol.results import Contestant, Findings
from rosenblatt.workbench.protocol.significance import interval_of_mean

from . import numbers
from .numbers import Markup, joined, tag
from .pictures import Axis, round_numbers

WIDTH, HEIGHT, EDGE = 190, 24, 8  # of the picture of one row
LETTER, APART = 6.5, 14  # the width of a letter above it, and the least between two numbers
COLUMNS = (  # heading, what it is sorted by: "number", "text", or "" for not at all
    ("rank", "number"), ("family", "text"), ("score", "number"), ("interval", ""),
    ("against the best", "number"), ("fit", "number"), ("predict", "number"), ("size", "number"),
    ("best setting", ""),
)  # fmt: skip
MOST_NAMED = 4  # families in a sentence
LEGEND = (
    "Scores are means over folds ± their standard deviation. Points are means, strokes the "
    "folds, lines 95% intervals that allow for folds sharing their rows; the dotted line is "
    "the best mean, and an arrow points to what is left of the scale. Filled: the best, and those "
    "next to it that the folds cannot tell apart from it (at the 5% level, p corrected for many "
    "comparisons); hollow: the others, and the baseline. Times are of one fit to the training "
    "part and of predicting the development part."
)


def leaderboard(findings: Findings) -> Markup:
    """The section."""
    axis = _axis(findings)
    rows = [_row(c, i + 1, findings, axis) for i, c in enumerate(findings.board)]
    table = tag(
        "table",
        tag("thead", tag("tr", *(_heading(*column, axis) for column in COLUMNS), role="row")),
        tag("tbody", *rows),
        class_="board", role="table",
    )  # fmt: skip
    return tag(
        "section", tag("h2", "Leaderboard"), tag("p", _summary(findings)), table,
        tag("p", LEGEND, class_="note"), _dropped(findings), id="leaderboard",
    )  # fmt: skip


def _range(contestant: Contestant, findings: Findings) -> tuple[float, float]:
    protocol = findings.protocol
    interval = interval_of_mean(contestant.scores, protocol.metric, protocol.fold_ratio)
    return interval.low, interval.high


def _summary(findings: Findings) -> str:
    board = findings.contestants
    if not board:
        return "No family has a score; the baseline is all there is."
    protocol = findings.protocol
    how = (
        f"Ranked by {numbers.metric(protocol.metric)}, the mean over {protocol.n_folds} folds of "
        "the training part. The test set has no say here."
    )
    alike = findings.alike[1:]
    compared = [c for c in board[1:] if math.isfinite(c.p_value)]
    base = ""
    if findings.baseline.may_equal_best():
        base = " By the folds, the best cannot be told apart from the baseline."
    if not compared:
        return how + base
    if not alike:
        return f"{how} The next family is worse than the best, beyond chance.{base}"
    *names, last = map(numbers.named, alike)
    who = f"{', '.join(names)} and {last}" if names else last
    if len(alike) > MOST_NAMED:
        who = f"of the others, {len(alike)}"
    return f"{how} {numbers.title(who)} cannot be told apart from the best.{base}"


def _heading(name: str, kind: str, axis: Axis) -> Markup:
    if name != "interval":
        return tag("th", name, scope="col", role="columnheader", data_sort=kind or None)
    ticks = []
    for value in _round_places(axis):
        x = _x(axis, value)
        ticks.append(tag("path", d=f"M{x} 18v6", class_="tick"))
        anchor = "start" if x < 20 else "end" if x > WIDTH - 20 else "middle"
        ticks.append(tag("text", numbers.plain(value), x=x, y=13, text_anchor=anchor))
    size = f"0 0 {WIDTH} {HEIGHT}"
    drawn = tag("svg", *ticks, viewBox=size, class_="interval", aria_hidden="true")
    unseen = tag("span", "confidence interval", class_="unseen")
    return tag("th", unseen, drawn, scope="col", role="columnheader", class_="ruler")


def _round_places(axis: Axis) -> list[float]:
    """Round numbers along the axis, no more than can be read beside one another."""
    values = round_numbers(axis.low, axis.high, 4)
    if len(values) < 2:
        return values
    room = LETTER * max(len(numbers.plain(value)) for value in values) + APART
    return values[:: math.ceil(room / (_x(axis, values[1]) - _x(axis, values[0])))]


def _row(contestant: Contestant, rank: int, findings: Findings, axis: Axis) -> Markup:
    """One line; that of the baseline is marked."""
    alike = contestant in findings.alike
    is_baseline = contestant is findings.baseline
    kinds = [name for name, so in (("alike", alike), ("simple", is_baseline)) if so]
    cells = [
        _cell("rank", rank, rank),
        _family(contestant, is_baseline),
        _cell("score", _score(contestant), contestant.mean),
        _cell("interval", _picture(contestant, findings, axis, alike)),
        _cell("against the best", _against(contestant, findings), contestant.p_value),
        _cell("fit", numbers.seconds(contestant.fit_seconds), contestant.fit_seconds),
        _cell("predict", numbers.seconds(contestant.predict_seconds), contestant.predict_seconds),
        _cell("size", numbers.size(contestant.size), contestant.size),
        _cell("best setting", _settings(contestant)),
    ]
    return tag("tr", *cells, class_=" ".join(kinds) or None, role="row")


def _cell(name: str, inside: object, key: float | None = None) -> Markup:
    """A cell with what it is sorted by; what is not a number has no key, and comes last."""
    key = key if key is not None and math.isfinite(key) else None
    return tag("td", inside, class_=name.split()[0], role="cell", data_name=name, data_key=key)


def _family(contestant: Contestant, baseline: bool) -> Markup:
    name = numbers.clipped(contestant.family)
    outside = not baseline and contestant.package not in ("", "rosenblatt")
    of = tag("small", f"of {numbers.clipped(contestant.package)}") if outside else None
    base = tag("small", "baseline") if baseline else None
    note = tag("small", contestant.note, class_="remark") if contestant.note else None
    return tag(
        "th", name, base, of, note, scope="row", role="rowheader", class_="family", data_key=name
    )


def _score(contestant: Contestant) -> Markup:
    mean = tag("strong", numbers.score(contestant.mean))
    if len(contestant.scores) < 2 or not math.isfinite(contestant.mean):
        return mean
    spread = numbers.deviation(contestant.deviation, contestant.mean)
    return joined(mean, tag("span", f" ± {spread}", class_="pm"))


def _against(contestant: Contestant, findings: Findings) -> Markup:
    if contestant in findings.contestants[:1]:
        beaten = findings.baseline.beats(contestant)
        first = "the best" if contestant is findings.board[0] else "as the baseline"
        return tag("strong", "below the baseline" if beaten else first)
    if not math.isfinite(contestant.p_value) or not findings.contestants:
        return tag("span", numbers.DASH)
    word = "not told apart" if contestant.may_equal_best() else "worse"
    return joined(tag("span", word), tag("small", f"p = {numbers.p_value(contestant.p_value)}"
                                         .replace("= <", "<")))  # fmt: skip


def _settings(contestant: Contestant) -> Markup:
    pairs = [
        tag("span", f"{numbers.short(name)} = {numbers.value_of(value, 24)}")
        for name, value in contestant.parameters.items()
    ]
    return tag("code", *pairs) if pairs else tag("span", numbers.DASH)


def _axis(findings: Findings) -> Axis:
    """Room for the contestants' intervals and folds; one far behind does not squeeze the rest."""
    simple = findings.baseline
    board = [c for c in findings.contestants if math.isfinite(c.mean)]
    board += [simple] * (not board or any(c.mean < simple.mean for c in board))
    ends = np.array([end for c in board for end in (c.scores.min(), c.mean, c.scores.max())])
    ranges = np.array([_range(c, findings) for c in board])
    everything = np.concatenate([ends, ranges[np.isfinite(ranges)]])
    high = float(everything.max())
    lows = np.fmin(ranges[:, 0], [c.mean for c in board])
    spread = high - float(np.median(lows))
    low = max(float(everything.min()), high - 3 * spread) if spread > 0 else high
    return Axis.of_scores([low, high], findings.protocol.metric, "", margin=0.04)


def _x(axis: Axis, value: float) -> float:
    return round(EDGE + (WIDTH - 2 * EDGE) * float(axis.share(value)), 1)


def _picture(contestant: Contestant, findings: Findings, axis: Axis, alike: bool) -> Markup | str:
    """The interval as a line, the folds as small strokes, the mean as a point."""
    mean, (low, high) = contestant.mean, _range(contestant, findings)
    if not math.isfinite(mean):
        return numbers.DASH
    said = f"mean {numbers.score(mean)}"
    if math.isfinite(low):
        said += f", interval {numbers.score(low)} to {numbers.score(high)}"
    parts = []
    if findings.contestants and math.isfinite(findings.contestants[0].mean):
        best = _x(axis, findings.contestants[0].mean)
        parts.append(tag("path", d=f"M{best} 0V{HEIGHT}", class_="best"))
    if mean < axis.low:
        parts.append(tag("path", d="M10 7l-7 5l7 5", class_="beyond"))
        said += ", left of the scale"
    else:
        parts.extend(_marks(contestant, axis, low, high, alike))
    size = f"0 0 {WIDTH} {HEIGHT}"
    return tag("svg", *parts, viewBox=size, class_="interval", role="img", aria_label=said)


def _marks(
    contestant: Contestant, axis: Axis, low: float, high: float, alike: bool
) -> list[Markup]:
    seen = contestant.scores[contestant.scores >= axis.low]
    folds = "".join(f"M{_x(axis, value)} 8v8" for value in seen)
    parts = [tag("path", d=folds, class_="fold")] if folds else []
    if math.isfinite(low):
        start, end = _x(axis, max(low, axis.low)), _x(axis, min(high, axis.high))
        parts.append(tag("path", d=f"M{start} 12H{end}", class_="reach"))
    place = _x(axis, contestant.mean)
    parts.append(tag("circle", cx=place, cy=12, r=4.5, class_="mean" if alike else "mean hollow"))
    return parts


def _dropped(findings: Findings) -> Markup | None:
    if not findings.dropped:
        return None
    lines = [
        joined(tag("dt", numbers.clipped(d.family)), tag("dd", numbers.clipped(d.reason, 300)))
        for d in findings.dropped
    ]
    return joined(tag("h3", "Not on the board"), tag("dl", *lines, class_="pairs"))
