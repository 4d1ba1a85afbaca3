"""What a comparison found, as one self-contained page: the answer first, then why."""

import os
import re
from dataclasses import replace
from importlib import resources
from typing import Any

from rosenblatt.data.files import whole_file
from rosenblatt.workbench.preparation.leakage import n_repeated
from rosenblatt.workbench.protocol.results import Findings, Opening

from . import numbers
from .data_section import data, protocol
from .leaderboard import leaderboard
from .mistakes import confusion, residuals
from .model_section import learned
from .numbers import Markup, joined, tag
from .pictures import MANY_STEPS
from .probabilities import calibration, ranking
from .search_curves import searches
from .verdict import verdict

NAMES = {
    "answer": "answer", "leaderboard": "leaderboard", "test": "test set", "model": "model",
    "search": "more rows, other settings", "data": "data", "repeat": "repeat",
}  # fmt: skip


def page(findings: Findings) -> str:
    """Return the report as HTML that needs nothing else: no network, no font, no script."""
    if findings.nothing_fitted:  # the baseline alone is no contestant
        findings = replace(findings, contestants=[])
    sections = {
        "answer": verdict(findings),
        "leaderboard": leaderboard(findings),
        "test": _test_set(findings),
        "model": learned(findings),
        "search": searches(findings),
        "data": data(findings),
        "repeat": protocol(findings),
    }
    shown = {name: section for name, section in sections.items() if section}
    return assembled(_title(findings), joined(_header(findings, list(shown)), *shown.values()))


def assembled(title: str, body: Markup) -> str:
    """Return a page with the style and the script of reports."""
    parts = {
        "title": joined(title),
        "style": _source("style.css"),
        "script": _source("page.js"),
        "body": body,
    }
    # In one go: a part may contain anything, another's place among it.
    return re.sub(r"%(\w+)%", lambda place: parts[place[1]], _source("page.html"))


def save(findings: Findings, path: str | os.PathLike[str]) -> None:
    """Write the report whole or not at all: what was there stays until the page is complete."""
    with whole_file(path) as draft:
        draft.write_bytes(page(findings).encode("utf-8", "replace"))


def _title(findings: Findings) -> str:
    source, target = numbers.clipped(findings.source, 60), findings.protocol.target
    return f"{numbers.clipped(target, 40)} from {source}"


def _header(findings: Findings, sections: list[str]) -> Markup:
    how = findings.protocol
    rows = numbers.plural(how.n_used, "row")
    if how.n_table > how.n_used:
        rows = f"{numbers.count(how.n_used)} of {numbers.plural(how.n_table, 'row')}"
    families = numbers.plural(len(findings.contestants), "family", "families")
    compared = f"{families} of models compared" if findings.contestants else "no model fitted"
    columns = numbers.plural(len(findings.columns), "column")
    words = (
        f"{numbers.title(how.task)}, {rows}, {columns}, "
        f"{compared} in {numbers.seconds(how.seconds)}"
    )
    links = [tag("li", tag("a", NAMES[name], href=f"#{name}")) for name in sections]
    source = tag("span", numbers.clipped(findings.source, 60), class_="source")
    target = tag("span", numbers.clipped(how.target, 40), class_="column")
    return tag(
        "header", tag("h1", "Predicting ", target, " from ", source), tag("p", words),
        tag("nav", tag("ul", *links), aria_label="sections"),
    )  # fmt: skip


def _test_set(findings: Findings) -> Markup | None:
    """What was seen when the test set was opened."""
    opening = findings.opening
    if opening is None or not len(opening.y):
        return None
    if findings.protocol.task == "regression":
        body = tag("div", residuals(opening), class_="figures")
    elif opening.classes is not None:
        body = _classes(opening, findings.protocol.positive)
    else:
        return None
    n = numbers.plural(len(opening.y), "row")
    words = f"The chosen model on the {n} of the test set, opened for it and the baseline alone."
    if len(opening.y) > MANY_STEPS and findings.protocol.task != "regression":
        words += " Curves are thinned to as many points as can be told apart."
    title = "On the test set" if n_repeated(findings.hints) else "On rows never seen"
    return tag("section", tag("h2", title), tag("p", words), body, id="test")


def _classes(opening: Opening, positive: Any) -> Markup:
    """The matrix, the curves, and the table that belongs to both."""
    curves, areas = ranking(opening, positive) or (None, None)
    pictures = [picture for picture in (curves, calibration(opening, positive)) if picture]
    row = tag("div", *pictures, class_="figures") if pictures else None
    return joined(confusion(opening, areas), row)


def _source(name: str) -> Markup:
    folder = resources.files("rosenblatt.workbench.report").joinpath("view")
    return Markup(folder.joinpath(name).read_text(encoding="utf-8"))
