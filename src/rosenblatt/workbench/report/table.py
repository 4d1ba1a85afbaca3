"""The data's own page: its columns, what is missing, and how the target is spread."""

from collections import Counter

import numpy as np

from rosenblatt.data import Column
from rosenblatt.workbench.hints import listed_hints
from rosenblatt.workbench.results import Findings

from . import numbers
from .axes import Axis, histogram
from .markup import Markup, joined, tag
from .svg import Plot, bar, figure

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
    beside = len(findings.columns) <= MOST_COLUMNS  # a long table wants the whole width
    return tag(
        "section", tag("h2", "The data"), tag("p", words), _hints(findings),
        tag("div", *parts, class_="halves" if beside else None), id="data",
    )  # fmt: skip


def _hints(findings: Findings) -> Markup | None:
    hints = listed_hints(findings)
    if not hints:
        return None
    lines = [tag("li", numbers.clipped(hint, 600)) for hint in hints]
    return tag("aside", tag("h3", "Hints of leakage"), tag("ul", *lines), class_="warnings")


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
    heads = (tag("th", "class", scope="col"), tag("td"), tag("th", "rows", scope="col"),
             tag("th", "share", scope="col"))  # fmt: skip
    rest = pairs[MOST_CLASSES:]
    left = sum(n for _, n in rest)
    more = tag("p", f"{numbers.plural(len(rest), 'rarer class', 'rarer classes')} share "
               f"{numbers.plural(left, 'row')}.") if rest else None  # fmt: skip
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="bars")
    return joined(table, more)


def _columns(findings: Findings) -> Markup | None:
    if not findings.columns:
        return None
    n = max(findings.protocol.n_train, 1)
    noted = any(column.note or not column.used for column in findings.columns)
    heads = ["column", "kind", "missing", "different"] + ["note"] * noted
    rows = [_column(column, n, noted) for column in findings.columns]
    table = tag(
        "table", tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", *rows), class_="plain columns",
    )  # fmt: skip
    box = tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="columns")
    aside = [c for c in findings.columns if not c.used]
    if len(rows) <= MOST_COLUMNS:
        return joined(tag("h3", "Columns"), box)
    names = numbers.clipped(", ".join(numbers.clipped(c.name, 40) for c in aside), 300)
    left = tag("p", f"Left out: {names}.") if aside else None
    folded = tag("details", tag("summary", f"All {numbers.count(len(rows))} columns"), box)
    return joined(tag("h3", "Columns"), left, folded)


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
