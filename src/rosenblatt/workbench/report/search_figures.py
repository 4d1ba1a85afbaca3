"""Figures of the search: learning curve, scores by parameter, and gaps between parts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from markupsafe import Markup

from rosenblatt.workbench.findings import Candidate, Contestant, Findings, LearningCurve
from rosenblatt.workbench.significance import ends_of
from rosenblatt.workbench.verdicts import is_of_use

from . import format as formats
from .svg import DASHES, Axis, Plot, element, line_key, shape

MOST_VALUES = 9  # labels beside an axis
MOST_MODELS = 8  # in the figure of gaps
LEAST_SPAN = 0.01  # of the best score: the width of the figure of gaps
WIDTH, HEIGHT, EDGE = 150, 18, 8  # of one row in the figure of gaps
LEGEND = [
    (line_key(0, dashes=DASHES[0], marked=True), "training rows"),
    (line_key(1, dashes=DASHES[1], marked=True), "development rows"),
]


def values(findings: Findings) -> dict[str, Any]:
    """Return the figures of the section, the chosen model's apart from the others'."""
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
    a, b = (round(EDGE + (WIDTH - 2 * EDGE) * float(axis.share(v)), 1) for v in (train, dev))
    middle = HEIGHT / 2
    label = f"training {formats.score(train)}, development {formats.score(dev)}"
    picture = element(
        "svg",
        element("title", label),
        element("path", d=f"M{a} {middle}H{b}", class_="between"),
        element("path", d=f"M{a} {middle}{shape(0)}", class_="mark c0"),
        element("path", d=f"M{b} {middle}{shape(1)}", class_="mark c1"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="gap", role="img", aria_label=label,
    )  # fmt: skip
    return formats.named(contestant), picture, formats.difference(train - dev)
