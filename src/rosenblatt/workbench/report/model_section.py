"""What the chosen model learned, what can be proved of it, and what to think of it."""

import math

import numpy as np

from rosenblatt.certificates import Claim
from rosenblatt.workbench.protocol.results import Bend, Findings

from . import numbers
from .numbers import Markup, joined, table, tag
from .pictures import Axis, Plot, bar, figure

MOST_SHOWN = 15  # features in sight; the others are folded
FEW_MORE = 3  # that are not worth a fold
MOST_FOLDED = 200
MOST_CLAIMS = 8  # in sight, unless one fails


def learned(findings: Findings) -> Markup | None:
    """The section; None if nothing is known."""
    parts = [_weights(findings), joined(_overfitting(findings), _certificate(findings))]
    halves = [tag("div", part) for part in parts if part]
    if not halves:
        return None
    body = tag("div", *halves, class_="halves")
    heading = tag("h2", "The chosen model")
    rest = bends(findings), _lighter(findings), _tree(findings)
    return tag("section", heading, body, *rest, id="model")


def _known(findings: Findings) -> list[tuple[str, float]]:
    """Features by weight, the heaviest first."""
    known = [(str(name), float(w)) for name, w in findings.learned if math.isfinite(w)]
    return sorted(known, key=lambda pair: -abs(pair[1]))


def _weights(findings: Findings) -> Markup | None:
    """The heaviest features as bars."""
    known, note = _known(findings), findings.learned_note
    if not known and not note:
        return None
    shown = _table(known[: _n_shown(known)], known, findings.learned_as) if known else None
    said = tag("pre", note, tabindex=0) if "\n" in note else tag("p", note) if note else None
    return joined(tag("h3", "What it learned"), said, shown)


def _n_shown(known: list[tuple[str, float]]) -> int:
    return len(known) if len(known) <= MOST_SHOWN + FEW_MORE else MOST_SHOWN


def _lighter(findings: Findings) -> Markup | None:
    """The features after these, folded, in as many columns as the page has room for."""
    known = _known(findings)
    rest = known[_n_shown(known) : MOST_SHOWN + MOST_FOLDED]
    if not rest:
        return None
    n_lighter = max(findings.n_weights, len(known)) - MOST_SHOWN
    some = f"the next {len(rest)} of " if n_lighter > len(rest) else ""
    what = "more column" if findings.learned_as == "worth" else "lighter feature"
    words = numbers.title(f"{some}{numbers.plural(n_lighter, what)}")
    box = tag("div", _table(rest, known, findings.learned_as), class_="lighter")
    return tag("details", tag("summary", words), box)


def _tree(findings: Findings) -> Markup | None:
    """The tree among the contestants, in words: in sight if it was chosen, else folded."""
    place = next((i for i, entry in enumerate(findings.contestants) if entry.tree), None)
    if place is None:
        return None
    entry = findings.contestants[place]
    lines = tag("pre", entry.tree, tabindex=0)
    score = f"{numbers.metric(findings.protocol.metric)} {numbers.score(entry.mean)}"
    words = f"The {entry.family} in words, fitted to the training part ({score})"
    if place == 0:
        return joined(tag("h3", words), lines)
    return tag("details", tag("summary", words), lines)


def _table(pairs: list[tuple[str, float]], known: list[tuple[str, float]], what: str) -> Markup:
    """Some of the known features; bars are as long as they are beside the heaviest of all."""
    most, both = abs(known[0][1]), any(weight < 0 for _, weight in known)
    # What a column is worth is a difference of scores; weights have a unit each.
    is_worth = what == "worth"
    heads = ("column" if is_worth else "feature", "", what)
    written = numbers.difference if is_worth else numbers.weight
    rows = []
    for name, weight in pairs:
        k = 1 if weight < 0 else 0
        text = ("+" if both and weight > 0 and not is_worth else "") + written(weight)
        drawn = bar(weight, most, f"{numbers.clipped(name, 60)}: {text}", k, both=both)
        rows.append(
            tag("tr", tag("th", numbers.clipped(name, 60), scope="row"),
                tag("td", drawn, class_="drawn"), tag("td", text, class_="figure"))
        )  # fmt: skip
    return table(heads, rows, "bars")


def _overfitting(findings: Findings) -> Markup | None:
    """Sentences of the protocol on the chosen model."""
    said = findings.notes + findings.verdicts
    if not said:
        return None
    lines = [tag("li", numbers.clipped(verdict, 600)) for verdict in said]
    return joined(tag("h3", "What to think of it"), tag("ul", *lines))


def _certificate(findings: Findings) -> Markup | None:
    """Claims re-derived from data and published numbers, each with whether it holds."""
    certificate = findings.certificate
    if certificate is None:
        why = findings.why_no_certificate
        words = tag("p", numbers.clipped(why, 400))
        return joined(tag("h3", "No certificate"), words) if why else None
    rows = [
        tag("tr", _mark(claim), tag("th", claim.name, scope="row"), tag("td", claim.grade),
            tag("td", numbers.clipped(claim.statement, 600), class_="words"))
        for claim in sorted(certificate.claims, key=lambda claim: claim.holds)  # failing ones first
    ]  # fmt: skip
    claims = table(("holds", "claim", "grade", "in words"), rows, "plain claims")
    about = tag(
        "p", tag("strong", f"{certificate.verdict.capitalize()}."), f" {certificate.model} on ",
        f"{numbers.clipped(certificate.data, 200)}; the problem: "
        f"{numbers.clipped(certificate.problem, 300)}. Re-derived from the data and the model's "
        "published numbers alone, by code that shares nothing with the fit.",
    )  # fmt: skip
    if certificate.holds and len(rows) > MOST_CLAIMS:
        claims = tag("details", tag("summary", "The claims and measurements"), claims)
    return joined(tag("h3", "Its certificate"), about, claims)


def _mark(claim: Claim) -> Markup:
    """Whether a claim holds; what only measures holds nothing, here as on the terminal."""
    if claim.is_measurement:
        return tag("td", numbers.DASH, title="a measurement, compared with nothing")
    if claim.holds:
        return tag("td", "\u2713 yes", class_="yes")
    return tag("td", "\u2717 no", class_="no")


# Curves that were learned of single columns: what each adds to the prediction over its range.


MOST_CURVES = 12
WIDTH, HEIGHT = 300, 190


def bends(findings: Findings) -> Markup | None:
    """A small picture for each column, those that matter most first, on one scale."""
    shown = findings.bends[:MOST_CURVES]
    if not shown:
        return None
    y = Axis.around([*np.concatenate([bend.effect for bend in shown]), 0.0], "adds")
    left = len(findings.bends) - len(shown)
    more = numbers.plural(left, "column that matters less is", "columns that matter less are")
    word = f" {more} not drawn." if left else ""
    words = (
        "The column whose curve reaches farthest comes first. All have one scale, in units of "
        f"{numbers.clipped(findings.protocol.target, 40)}; each covers the range of the middle "
        f"98% of the rows.{word}"
    )
    pictures = tag("div", *(_curve(bend, y) for bend in shown), class_="figures curves")
    return joined(tag("h3", "What each column adds"), tag("p", words), pictures)


def _curve(bend: Bend, y: Axis) -> Markup:
    name = numbers.clipped(bend.name, 40)
    plot = Plot(Axis.around(bend.x, "", margin=0.02), y, WIDTH, HEIGHT)
    plot.rule([plot.x.low, plot.x.high], [0, 0])
    plot.line(bend.x, bend.effect)
    least, most = (
        f"{numbers.weight(float(bend.effect[i]))} (at {numbers.plain(float(bend.x[i]))})"
        for i in (bend.effect.argmin(), bend.effect.argmax())
    )
    said = f"adds from {least} to {most}"
    return figure(name, plot.draw(f"{name} {said}."), f"{numbers.title(said)}.")
