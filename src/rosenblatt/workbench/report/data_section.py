"""The data's own page: its columns, what is missing, and how the target is spread."""

from collections import Counter

import numpy as np

from rosenblatt.data import Column
from rosenblatt.workbench.preparation.leakage import listed_hints
from rosenblatt.workbench.protocol.results import Findings, Protocol

from . import numbers
from .numbers import Markup, joined, table, tag
from .pictures import Axis, Plot, bar, figure, histogram

MOST_CLASSES = 30
MOST_COLUMNS = 25  # in sight; a longer table is folded
MOST_BARS = 40


def data(findings: Findings) -> Markup:
    """The section."""
    used = sum(column.used for column in findings.columns)
    kinds = Counter(column.kind for column in findings.columns)
    listed = ", ".join(f"{numbers.count(n)} {kind}" for kind, n in kinds.most_common())
    rows = numbers.plural(findings.protocol.n_train, "row")
    n_left = len(findings.columns) - used
    left = f", {numbers.count(n_left)} left out" if n_left else ""
    words = (
        f"{numbers.plural(len(findings.columns), 'column')} beside the target ({listed}); "
        f"{numbers.count(used)} used{left}. Counted in {rows} of the training part."
    )
    parts = [tag("div", part) for part in (_target(findings), _columns(findings)) if part]
    # A long table wants the whole width, and so do notes.
    beside = len(findings.columns) <= MOST_COLUMNS and not _noted(findings.columns)
    hints = [numbers.clipped(hint, 600) for hint in listed_hints(findings)]
    return tag(
        "section", tag("h2", "The data"), tag("p", words),
        numbers.warnings("Hints of leakage", hints),
        tag("div", *parts, class_="halves" if beside else None), id="data",
    )  # fmt: skip


def _target(findings: Findings) -> Markup | None:
    """Class balance, or a histogram of the target."""
    name = numbers.clipped(findings.protocol.target, 60)
    if "counts" in findings.target:
        return joined(tag("h3", f"Classes of {name}"), _balance(findings.target["counts"]))
    values = np.asarray(findings.target.get("values", []), np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    heights, edges = histogram(values, MOST_BARS)
    plot = Plot(Axis.around([edges[0], edges[-1]], name, margin=0.01),
                Axis(0, 1.05 * int(heights.max()), "rows"))  # fmt: skip
    plot.bars(edges, heights, 2)
    low, middle, high = (numbers.plain(float(v)) for v in np.quantile(values, [0, 0.5, 1]))
    words = f"From {low} to {high}; half of the rows are below {middle}."
    return figure(f"The target {name}", plot.draw(f"Histogram of {name}. {words}"), words)


def _balance(counts: dict[object, int]) -> Markup:
    pairs = sorted(counts.items(), key=lambda pair: -pair[1])
    total, most = max(sum(counts.values()), 1), max(counts.values(), default=1)
    rows = [
        tag("tr", tag("th", numbers.clipped(label, 60), scope="row"),
            tag("td", bar(n, most, f"{numbers.clipped(label, 60)}: {numbers.plural(n, 'row')}", 2),
                class_="drawn"),
            tag("td", numbers.count(n), class_="figure"),
            tag("td", numbers.share(n / total), class_="figure"))
        for label, n in pairs[:MOST_CLASSES]
    ]  # fmt: skip
    rest = pairs[MOST_CLASSES:]
    left = sum(n for _, n in rest)
    more = tag("p", f"{numbers.plural(len(rest), 'rarer class', 'rarer classes')} share "
               f"{numbers.plural(left, 'row')}.") if rest else None  # fmt: skip
    return joined(table(("class", "", "rows", "share"), rows, "bars"), more)


def _columns(findings: Findings) -> Markup | None:
    if not findings.columns:
        return None
    n = max(findings.protocol.n_train, 1)
    noted = _noted(findings.columns)
    heads = ["column", "kind", "missing", "different"] + ["note"] * noted
    rows = [_column(column, n, noted) for column in findings.columns]
    box = tag("div", table(heads, rows, "plain columns"), class_="scroll", tabindex=0,
              role="region", aria_label="columns")  # fmt: skip
    if len(rows) <= MOST_COLUMNS:
        return joined(tag("h3", "Columns"), box)
    aside = [numbers.clipped(column.name, 40) for column in findings.columns if not column.used]
    left = tag("p", f"Left out: {numbers.clipped(', '.join(aside), 300)}.") if aside else None
    folded = tag("details", tag("summary", f"All {numbers.count(len(rows))} columns"), box)
    return joined(tag("h3", "Columns"), left, folded)


def _noted(columns: list[Column]) -> bool:
    return any(column.note or not column.used for column in columns)


def _column(column: Column, n: int, noted: bool) -> Markup:
    gone = column.n_missing / n
    missing: object = "none"
    if column.n_missing:
        n_missing = numbers.count(column.n_missing)
        text = tag("span", f"{n_missing} ({numbers.share(gone)})", class_="count")
        missing = joined(text, bar(gone, 1, f"{n_missing} missing", 1))
    note = column.note if column.used else f"left out: {column.note}" if column.note else "left out"
    return tag(
        "tr", tag("th", numbers.clipped(column.name, 60), scope="row"), tag("td", column.kind),
        tag("td", missing), tag("td", numbers.count(column.n_different), class_="figure"),
        tag("td", numbers.clipped(note, 200)) if noted else None,
        class_=None if column.used else "unused",
    )  # fmt: skip


# How it was done, and how to do it again.


STANDARD_INPUT = "standard input"  # what a table read from there is called
PARTS = (("train", 0, "search and fit"), ("dev", 2, "judge"), ("test", 1, "open once"))


def protocol(findings: Findings) -> Markup:
    """The section."""
    how = findings.protocol
    score = f"{numbers.metric(how.metric)} {how.positive_words}".strip()
    pairs = [
        ("task", f"{how.task} of {numbers.clipped(how.target)}"),
        ("score", numbers.clipped(score, 80)),
        ("split", _how_split(how)),
        ("folds", _folds(how)),
        ("budget", "none" if how.budget is None else numbers.seconds(how.budget)),
        ("took", numbers.seconds(how.seconds)),
        ("ended", {"": "all done", "budget": "out of time"}.get(how.stopped, "interrupted")),
    ]
    pairs += how.versions.items()
    lines = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag(
        "section", tag("h2", "To repeat it"),
        tag("pre", tag("code", how.command), class_="command", tabindex=0, aria_label="command"),
        _piped(findings), _split(how), _fewer(how), tag("dl", *lines, class_="facts"), id="repeat",
    )  # fmt: skip


def _piped(findings: Findings) -> Markup | None:
    """A word on a table that came from nowhere that could be named."""
    if findings.source != STANDARD_INPUT:
        return None
    how = findings.protocol
    rows = numbers.plural(how.n_table or how.n_used, "row")
    columns = numbers.plural(len(findings.columns) + 1, "column")
    return tag(
        "p", f"The table came from standard input ({rows}, {columns}), and this page does not know "
        "what wrote it: the command repeats this if it is given the same rows again.",
    )  # fmt: skip


def _fewer(how: Protocol) -> Markup | None:
    """A word on rows that the search did not see, and on those that the chosen model did."""
    if not how.fewer_words:
        return None
    fitted = f"; the chosen model was fitted to {numbers.plural(how.n_fitted, 'row')}"
    return tag("p", f"{how.fewer_words}{fitted if how.n_fitted else ''}.")


def _folds(how: Protocol) -> str:
    """How many, and why, if not as many as usual."""
    why = numbers.clipped(how.folds_words, 300)
    return f"{numbers.count(how.n_folds)}, {why}" if why else numbers.count(how.n_folds)


def _how_split(how: Protocol) -> str:
    """How rows came into their parts; where nothing is left to chance, without a seed."""
    words = numbers.clipped(how.split_words, 300) or how.split
    return words if how.split == "by time" else f"{words}, seed {how.random_state}"


def _split(how: Protocol) -> Markup | None:
    """The three parts of the rows as one bar, in proportion."""
    sizes = {"train": how.n_train, "dev": how.n_dev, "test": how.n_test}
    total = sum(sizes.values())
    if not total:
        return None
    start, shapes, words = 0.0, [], []
    for name, k, use in PARTS:
        width = 100 * sizes[name] / total
        shapes.append(
            tag("rect", x=round(start, 2), y=0, width=round(max(width - 0.4, 0), 2), height=10,
                class_=f"bar c{k}")
        )  # fmt: skip
        text = f"{name}: {numbers.plural(sizes[name], 'row')} ({use})"
        words.append(tag("li", tag("span", class_=f"dot c{k}", aria_hidden="true"), text))
        start += width
    said = ", ".join(f"{name} {numbers.count(sizes[name])}" for name, _, _ in PARTS)
    bar = tag("svg", *shapes, viewBox="0 0 100 10", preserveAspectRatio="none", class_="split",
              role="img", aria_label=f"Rows: {said}.")  # fmt: skip
    return tag("figure", bar, tag("ul", *words, class_="legend"), class_="wide")
