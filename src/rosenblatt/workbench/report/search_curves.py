"""Scores against rows learned from, and against the parameters that were searched."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rosenblatt.workbench.protocol.results import Candidate, Contestant, Findings, LearningCurve
from rosenblatt.workbench.protocol.significance import ends_of
from rosenblatt.workbench.protocol.verdicts import is_of_use

from . import numbers
from .numbers import Markup, table, tag
from .pictures import DASHES, Axis, Plot, entry, figure, shape

MOST_VALUES = 9  # written beside an axis


def learning(curve: LearningCurve, metric: str) -> Markup:
    """Training and development scores of the chosen model over the rows it learned from."""
    rows = [float(n) for n in curve.rows]
    scores = np.array([curve.train_scores, curve.dev_scores])
    y = Axis.of_scores(scores, metric, numbers.metric(metric))
    plot = Plot(Axis.along(rows, "rows learned from"), y)
    names = ("training rows", "development rows")
    for k, (name, values) in enumerate(zip(names, scores, strict=True)):
        words = [f"{name}, {numbers.count(int(n))}: {numbers.score(v)}"
                 for n, v in zip(rows, values, strict=True)]  # fmt: skip
        plot.line(rows, values, k, dashes=DASHES[k])
        plot.marks(rows, values, k, words=words)
    last = [numbers.score(float(v[-1])) for v in scores]
    said = f"Learning curve: with all rows {last[0]} on training and {last[1]} on development rows."
    legend = [entry(name, k, dashes=DASHES[k], marked=True) for k, name in enumerate(names)]
    return figure("Learning curve", plot.draw(said), tag("strong", curve.verdict), legend=legend)


@dataclass(frozen=True, eq=False)
class Profile:
    """The best candidate for each value of one parameter."""

    name: str
    values: list[Any]
    best: list[Candidate]
    numeric: bool
    others: bool  # whether other parameters were searched as well
    sorted_out: list[Any] = field(default_factory=list)  # values that did not reach the folds


def profiles(contestant: Contestant) -> list[Profile]:
    """One for each parameter that took more than one value."""
    tried = [c for c in contestant.candidates if math.isfinite(c.mean)]
    names = list(dict.fromkeys(name for c in tried for name in c.parameters))
    grouped = {name: _by_value(tried, name) for name in names}
    varied = {name: groups for name, groups in grouped.items() if len(groups) > 1}
    return [
        replace(_profile(name, groups, len(varied) > 1),
                sorted_out=[v for v in contestant.grid.get(name, []) if repr(v) not in groups])
        for name, groups in varied.items()
    ]  # fmt: skip


def _by_value(tried: Sequence[Candidate], name: str) -> dict[str, tuple[Any, list[Candidate]]]:
    """Candidates by the value of a parameter; by its text, since values need not have a hash."""
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


def validation(profile: Profile, metric: str, of_use: bool = True) -> Markup:
    """Held-out and training scores over the values of one parameter.

    Of a family that is no better than the baseline nothing is expected beyond the grid.
    """
    name = numbers.short(profile.name)
    if profile.numeric:
        places = [float(value) for value in profile.values]
        x = Axis.along(places, name)
    else:
        places = [float(i) for i in range(len(profile.values))]
        x = Axis(-0.5, len(places) - 0.5, name, places=_written(profile.values))
    held = np.array([c.mean for c in profile.best])
    spread = np.array([c.deviation for c in profile.best])
    train = np.array([c.train_scores.mean() if len(c.train_scores) else np.nan
                      for c in profile.best])  # fmt: skip
    low, high = np.clip([held - spread, held + spread], *ends_of(metric))
    plot = Plot(x, Axis.of_scores([low, high, train], metric, numbers.metric(metric)))
    plot.band(places, low, high, 1)
    has_train = bool(np.isfinite(train).any())
    if has_train:
        plot.line(places, train, 0)
        plot.marks(places, train, 0)
    plot.line(places, held, 1, dashes=DASHES[1])
    texts = [numbers.value_of(value) for value in profile.values]
    words = [f"{name} = {t}: {numbers.score(v)}" for t, v in zip(texts, held, strict=True)]
    plot.marks(places, held, 1, words=words)
    best = int(held.argmax())
    plot.marks([places[best]], [held[best]], 0, class_="ring")
    legend = [entry("held-out rows ± deviation", 1, dashes=DASHES[1], marked=True)]
    if has_train:
        legend.append(entry("training rows", 0, marked=True))
    alike = [t for t, v in zip(texts, held, strict=True) if math.isclose(v, held[best])]
    where = texts[best] if len(alike) == 1 else f"{', '.join(alike[:-1])} and {alike[-1]} alike"
    said = f"Best at {name} = {where}: {numbers.score(float(held[best]))}."
    more = ""
    gains = of_use and held[best] < ends_of(metric)[1]
    if len(alike) == 1 and _is_end(profile, best) and gains:
        more = " That is an end of the grid: the best may lie beyond."
    if profile.sorted_out:
        more += _sorted_out(profile.sorted_out)
    of = " Each point is the best over the other parameters." if profile.others else ""
    return figure(f"Score against {name}", plot.draw(f"Validation curve of {name}. {said}"),
                  said + more + of, legend=legend)  # fmt: skip


def _sorted_out(values: list[Any]) -> str:
    gone = numbers.clipped(", ".join(map(numbers.value_of, values)), 60)
    return f" Sorted out early, on fewer rows: {gone}."


def _is_end(profile: Profile, best: int) -> bool:
    """Whether a value is the least or the greatest of the whole grid."""
    grid = [*profile.values, *profile.sorted_out]
    if not all(map(_is_number, grid)):
        return False
    return profile.values[best] in (min(grid), max(grid))


def _written(values: list[Any]) -> tuple[tuple[float, str], ...]:
    """The texts beside the axis: as many as can be read, each as long as there is room."""
    stride = math.ceil(len(values) / MOST_VALUES)
    room = max(3, 44 // min(len(values), MOST_VALUES))
    return tuple(
        (float(i), numbers.value_of(value, room)) for i, value in enumerate(values)
    )[::stride]  # fmt: skip


def searches(findings: Findings) -> Markup | None:
    """The section: the chosen family's curves in sight, the others' folded."""
    metric, board = findings.protocol.metric, findings.contestants
    curve = findings.learning_curve
    pictures = [learning(curve, metric)] if curve is not None and len(curve.rows) else []
    useful = [is_of_use(contestant, findings.baseline) for contestant in board]
    pictures += [validation(p, metric, useful[0]) for p in profiles(board[0])] if board else []
    pictures += [picture] if (picture := gaps(findings)) else []
    others = [(entry, profiles(entry), use) for entry, use in zip(board, useful, strict=True)][1:]
    folds = [_folded(entry, found, metric, use) for entry, found, use in others if found]
    if not pictures and not folds:
        return None
    row = tag("div", *pictures, class_="figures") if pictures else None
    words = (
        "Settings were judged by their mean scores over the folds of the training part. In sight "
        f"is the chosen family, {numbers.named(board[0])}."
    )
    for name in board[0].grid if board else ():
        words += _one_value(board[0], name, metric, useful[0])
    if curve is None and findings.protocol.stopped:
        words += " There was no time left for its learning curve."
    return tag(
        "section", tag("h2", "Would more rows, or other settings, help?"), tag("p", words), row,
        tag("h3", "The other families") if folds else None, *folds, id="search",
    )  # fmt: skip


def _one_value(contestant: Contestant, name: str, metric: str, of_use: bool) -> str:
    """A sentence on a parameter of which one value alone reached the folds, so without a curve."""
    value, grid = contestant.parameters.get(name), contestant.grid[name]
    others = [other for other in grid if other != value]
    reached = {repr(c.parameters.get(name)) for c in contestant.candidates}
    if contestant.note or not others or len(reached) > 1:
        return ""
    one = Profile(name, [value], [], True, False, others)
    more = of_use and contestant.mean < ends_of(metric)[1] and _is_end(one, 0)
    end = ", an end of the grid: the best may lie beyond" if more else ""
    only = f" Only {numbers.short(name)} = {numbers.value_of(value)} reached the folds{end}."
    return only + _sorted_out(others)


def _folded(contestant: Contestant, found: list[Profile], metric: str, of_use: bool) -> Markup:
    names = ", ".join(numbers.short(p.name) for p in found)
    tried = numbers.plural(len(contestant.candidates), "setting")
    summary = tag(
        "summary", tag("b", numbers.title(numbers.named(contestant))),
        f": {numbers.clipped(names, 80)} ({tried})",
    )  # fmt: skip
    pictures = tag("div", *(validation(p, metric, of_use) for p in found), class_="figures")
    return tag("details", summary, pictures)


# How much better each family is on rows it was fitted to than on others.


MOST_FAMILIES = 8
LEAST_SPAN = 0.01  # of the best score, that the picture is wide
WIDTH, HEIGHT, EDGE = 150, 18, 8  # of the picture of one row


def gaps(findings: Findings) -> Markup | None:
    """The picture; None where nothing was scored on the development part."""
    known = [c for c in findings.contestants if math.isfinite(c.dev_score + c.dev_train_score)]
    if not known:
        return None
    shown = known[:MOST_FAMILIES]
    # Room for all, and for a gap that is seen in the figures: smaller ones are not blown up.
    scores = [score for c in shown for score in (c.dev_score, c.dev_train_score)]
    low = min(*scores, max(scores) - LEAST_SPAN * abs(max(scores)))
    axis = Axis.around([low, max(scores)], "", margin=0.02)
    rows = table(("family", "", "gap"), (_row(c, axis) for c in shown), "bars gaps")
    words = (
        f"The {numbers.metric(findings.protocol.metric)} of each family at its best setting, "
        "fitted to the training part. The further training rows are ahead, the more was learned "
        "by heart."
    )
    if any(c.dev_train_score < c.dev_score for c in shown):
        words += " A negative gap is chance: the development rows happened to be easier."
    more = f" {len(shown)} of {len(known)} families are shown." if len(shown) < len(known) else ""
    legend = [entry("training rows", 0, marked=True), entry("development rows", 1, marked=True)]
    return figure("Learned, or learned by heart?", rows, words + more, legend=legend)


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
