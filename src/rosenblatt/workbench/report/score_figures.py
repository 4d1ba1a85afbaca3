"""Figures of scores: the test score, the leaderboard, the search and the gaps between parts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from markupsafe import Markup

from rosenblatt.workbench.findings import Candidate, Contestant, Findings, LearningCurve
from rosenblatt.workbench.significance import ends_of, interval_of_mean
from rosenblatt.workbench.verdicts import is_of_use

from . import format as formats
from .svg import DASHES, Axis, Plot, element, line_key, round_numbers, shape

MOST_VALUES = 9  # labels beside an axis
MOST_MODELS = 8  # in the figure of gaps
LEAST_SPAN = 0.01  # of the best score: the width of the figure of gaps
GAP_WIDTH, GAP_HEIGHT, GAP_EDGE = 150, 18, 8  # of one row in the figure of gaps
LEGEND = [
    (line_key(0, dashes=DASHES[0], marked=True), "training rows"),
    (line_key(1, dashes=DASHES[1], marked=True), "development rows"),
]


def board_values(findings: Findings) -> dict[str, Any]:
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
        name = f"{interval.method}: {formats.score(interval.low)} to {formats.score(interval.high)}"
        rows.append((name, interval.low, interval.high))
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


# The search: learning curve, scores by parameter, training and development scores.


def search_values(findings: Findings) -> dict[str, Any]:
    """Return the figures of the search, the chosen model's apart from the others'."""
    metric, board = findings.protocol.metric, findings.contestants
    curve = findings.learning_curve
    learned = learning(curve, metric) if curve is not None and len(curve.rows) else None
    useful = [is_of_use(entry, findings.baseline) for entry in board]
    validations = [
        [validation(profile, metric, use) for profile in profiles(entry)]
        for entry, use in zip(board, useful, strict=True)
    ]
    own = validations[0] if board else []
    others = [
        {"entry": entry, "curves": curves}
        for entry, curves in list(zip(board, validations, strict=True))[1:]
        if curves
    ]
    found = gaps(findings)
    single = (
        [single_value(board[0], name, metric, useful[0]) for name in board[0].grid] if board else []
    )
    return {
        "learning": learned,
        "validations": own,
        "single_values": [value for value in single if value],
        "gaps": found,
        "others": others,
        "is_shown": bool(learned or own or found or others),
    }


def learning(curve: LearningCurve, metric: str) -> dict[str, Any]:
    """Return training and development scores by the number of training rows."""
    rows = [float(n) for n in curve.rows]
    scores = np.array([curve.train_scores, curve.dev_scores])
    y = Axis.of_scores(scores, metric, formats.metric(metric))
    plot = Plot(Axis.along(rows, "training rows"), y)
    for k, ((_, name), values) in enumerate(zip(LEGEND, scores, strict=True)):
        titles = [f"{name}, {formats.count(int(n))}: {formats.score(v)}"
                  for n, v in zip(rows, values, strict=True)]  # fmt: skip
        plot.line(rows, values, k, dashes=DASHES[k])
        plot.marks(rows, values, k, titles=titles)
    train, dev = (formats.score(float(v[-1])) for v in scores)
    picture = plot.draw(f"Learning curve: with all rows {train} on training, {dev} on development.")
    return {"picture": picture, "legend": LEGEND}


@dataclass(frozen=True, eq=False)
class Profile:
    """The best candidate for each value of one parameter."""

    name: str
    values: list[Any]
    best: list[Candidate]
    numeric: bool
    others: bool  # whether other parameters were searched as well
    dropped: list[Any] = field(default_factory=list)  # values that were not run on all folds


def profiles(contestant: Contestant) -> list[Profile]:
    """Return one profile for each parameter with more than one value."""
    tried = [c for c in contestant.candidates if math.isfinite(c.mean)]
    names = list(dict.fromkeys(name for c in tried for name in c.parameters))
    grouped = {name: _by_value(tried, name) for name in names}
    varied = {name: groups for name, groups in grouped.items() if len(groups) > 1}
    return [
        replace(_profile(name, groups, len(varied) > 1),
                dropped=[v for v in contestant.grid.get(name, []) if repr(v) not in groups])
        for name, groups in varied.items()
    ]  # fmt: skip


def _by_value(tried: Sequence[Candidate], name: str) -> dict[str, tuple[Any, list[Candidate]]]:
    """Group candidates by the text of a parameter's value, as values need not be hashable."""
    groups: dict[str, tuple[Any, list[Candidate]]] = {}
    for candidate in tried:
        if name in candidate.parameters:
            value = candidate.parameters[name]
            groups.setdefault(repr(value), (value, []))[1].append(candidate)
    return groups


def _profile(name: str, groups: dict[str, tuple[Any, list[Candidate]]], others: bool) -> Profile:
    pairs = [(value, max(group, key=lambda c: c.mean)) for value, group in groups.values()]
    numeric = all(_is_number(value) for value, _ in pairs)
    if numeric:
        pairs.sort(key=lambda pair: float(pair[0]))
    return Profile(name, [v for v, _ in pairs], [c for _, c in pairs], numeric, others)


def _is_number(value: Any) -> bool:
    plain = isinstance(value, int | float | np.integer | np.floating)
    return plain and not isinstance(value, bool) and math.isfinite(value)


def validation(profile: Profile, metric: str, of_use: bool = True) -> dict[str, Any]:
    """Return held-out and training scores by the value of one parameter.

    Other values are not suggested for a model that is no better than the baseline.
    """
    held = np.array([c.mean for c in profile.best])
    best = int(held.argmax())
    texts = [formats.value_of(value) for value in profile.values]
    ties = [t for t, v in zip(texts, held, strict=True) if math.isclose(v, held[best])]
    could_gain = of_use and len(ties) == 1 and held[best] < ends_of(metric)[1]
    picture, has_train = _validation_plot(profile, metric, held, texts)
    legend = [(line_key(1, dashes=DASHES[1], marked=True), "held-out rows ± deviation")]
    if has_train:
        legend.append((line_key(0, marked=True), "training rows"))
    return {
        "name": formats.short(profile.name),
        "picture": picture,
        "legend": legend,
        "best": ties,
        "score": float(held[best]),
        "at_edge": _edge(profile, best) if could_gain else "",
        "dropped": _listed(profile.dropped),
        "has_others": profile.others,
    }


def _validation_plot(
    profile: Profile, metric: str, held: np.ndarray[Any, Any], texts: list[str]
) -> tuple[Markup, bool]:
    name = formats.short(profile.name)
    if profile.numeric:
        places = [float(value) for value in profile.values]
        x = Axis.along(places, name)
    else:
        places = [float(i) for i in range(len(profile.values))]
        x = Axis(-0.5, len(places) - 0.5, name, places=_tick_labels(profile.values))
    spread = np.array([c.deviation for c in profile.best])
    train = np.array([c.train_scores.mean() if len(c.train_scores) else np.nan
                      for c in profile.best])  # fmt: skip
    low, high = np.clip([held - spread, held + spread], *ends_of(metric))
    plot = Plot(x, Axis.of_scores([low, high, train], metric, formats.metric(metric)))
    plot.band(places, low, high, 1)
    has_train = bool(np.isfinite(train).any())
    if has_train:
        plot.line(places, train, 0)
        plot.marks(places, train, 0)
    plot.line(places, held, 1, dashes=DASHES[1])
    titles = [f"{name} = {t}: {formats.score(v)}" for t, v in zip(texts, held, strict=True)]
    plot.marks(places, held, 1, titles=titles)
    best = int(held.argmax())
    plot.marks([places[best]], [held[best]], 0, class_="ring")
    return plot.draw(f"Validation curve; best: {titles[best]}."), has_train


def single_value(
    contestant: Contestant, name: str, metric: str, of_use: bool
) -> dict[str, Any] | None:
    """Return a parameter of which only one value was run on all folds; None for others."""
    value, grid = contestant.parameters.get(name), contestant.grid[name]
    others = [other for other in grid if other != value]
    reached = {repr(c.parameters.get(name)) for c in contestant.candidates}
    if contestant.note or not others or len(reached) > 1:
        return None
    could_gain = of_use and contestant.mean < ends_of(metric)[1]
    edge = _edge(Profile(name, [value], [], True, False, others), 0) if could_gain else ""
    return {
        "name": formats.short(name),
        "best": [formats.value_of(value)],
        "at_edge": edge,
        "dropped": _listed(others),
    }


def _edge(profile: Profile, best: int) -> str:
    """Return "smallest" or "largest" if the best value is at that end of the grid."""
    grid = [*profile.values, *profile.dropped]
    if not all(map(_is_number, grid)):
        return ""
    value = profile.values[best]
    return "smallest" if value == min(grid) else "largest" if value == max(grid) else ""


def _listed(values: list[Any]) -> str:
    return formats.clipped(", ".join(map(formats.value_of, values)), 60)


def _tick_labels(values: list[Any]) -> tuple[tuple[float, str], ...]:
    """Return as many labels as can be read, each as long as there is space."""
    stride = math.ceil(len(values) / MOST_VALUES)
    width = max(3, 44 // min(len(values), MOST_VALUES))
    return tuple(
        (float(i), formats.value_of(value, width)) for i, value in enumerate(values)
    )[::stride]  # fmt: skip


def gaps(findings: Findings) -> dict[str, Any] | None:
    """Return training and development scores of each model; None if none were taken."""
    known = [c for c in findings.contestants if math.isfinite(c.dev_score + c.dev_train_score)]
    if not known:
        return None
    shown = known[:MOST_MODELS]
    scores = [score for c in shown for score in (c.dev_score, c.dev_train_score)]
    low = min(*scores, max(scores) - LEAST_SPAN * abs(max(scores)))
    axis = Axis.around([low, max(scores)], "", margin=0.02)
    return {
        "rows": [_gap_row(contestant, axis) for contestant in shown],
        "n": len(known),
        "any_negative": any(c.dev_train_score < c.dev_score for c in shown),
        "legend": LEGEND,
    }


def _gap_row(contestant: Contestant, axis: Axis) -> tuple[str, Markup, str]:
    train, dev = contestant.dev_train_score, contestant.dev_score
    a, b = (
        round(GAP_EDGE + (GAP_WIDTH - 2 * GAP_EDGE) * float(axis.share(v)), 1) for v in (train, dev)
    )
    middle = GAP_HEIGHT / 2
    label = f"training {formats.score(train)}, development {formats.score(dev)}"
    picture = element(
        "svg",
        element("title", label),
        element("path", d=f"M{a} {middle}H{b}", class_="between"),
        element("path", d=f"M{a} {middle}{shape(0)}", class_="mark c0"),
        element("path", d=f"M{b} {middle}{shape(1)}", class_="mark c1"),
        viewBox=f"0 0 {GAP_WIDTH} {GAP_HEIGHT}", class_="gap", role="img", aria_label=label,
    )  # fmt: skip
    return formats.named(contestant), picture, formats.difference(train - dev)
