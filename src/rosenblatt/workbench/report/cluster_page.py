"""What a clustering of a table found, as one self-contained page: the answer first, then why."""

import os

from rosenblatt.data.files import whole_file
from rosenblatt.workbench.cluster_findings import SMALLEST, ClusterFindings
from rosenblatt.workbench.cluster_profiles import ClusterProfile, Difference, day, figure

from . import numbers
from .numbers import Markup, joined, table, tag
from .page import assembled
from .pictures import MANY, Axis, Plot, bar, dash, entry, mark_entry
from .pictures import figure as drawn

NAMES = {
    "answer": "answer", "map": "map", "clusters": "clusters", "number": "which number",
    "stability": "how sure", "data": "data", "repeat": "repeat",
}  # fmt: skip
MOST_COLUMNS = 30


def page(findings: ClusterFindings) -> str:
    """Return the report as HTML that needs nothing else: no network, no font, no script."""
    sections = {
        "answer": _answer(findings),
        "map": _map(findings),
        "clusters": _clusters(findings),
        "number": _number(findings),
        "stability": _stability(findings),
        "data": _data(findings),
        "repeat": _repeat(findings),
    }
    shown = {name: section for name, section in sections.items() if section}
    title = f"Clusters of {numbers.clipped(findings.source, 60)}"
    return assembled(title, joined(_header(findings, list(shown)), *shown.values()))


def save(findings: ClusterFindings, path: str | os.PathLike[str]) -> None:
    """Write the report whole or not at all."""
    with whole_file(path) as draft:
        draft.write_bytes(page(findings).encode("utf-8", "replace"))


def _header(findings: ClusterFindings, sections: list[str]) -> Markup:
    used = sum(column.used for column in findings.columns)
    words = (
        f"{numbers.plural(findings.n_rows, 'row')}, {numbers.plural(used, 'column')} used, "
        f"{numbers.plural(len(findings.trials), 'clustering')} tried in "
        f"{numbers.seconds(findings.seconds)}"
    )
    links = [tag("li", tag("a", NAMES[name], href=f"#{name}")) for name in sections]
    source = tag("span", numbers.clipped(findings.source, 60), class_="source")
    return tag(
        "header", tag("h1", "Clusters of ", source), tag("p", words),
        tag("nav", tag("ul", *links), aria_label="sections"),
    )  # fmt: skip


def _answer(findings: ClusterFindings) -> Markup:
    return tag(
        "section", tag("h2", findings.answer), *(tag("p", reason) for reason in findings.reasons),
        numbers.warnings("To know", findings.notes), id="answer",
    )  # fmt: skip


def _map(findings: ClusterFindings) -> Markup | None:
    """Rows in the plane of the first two principal components."""
    if findings.map is None:
        return None
    shown = findings.map
    names = [
        f"{word} axis ({numbers.share(share)} of the variance)"
        for word, share in zip(("first", "second"), shown["shares"], strict=False)
    ]
    names += [""] * (2 - len(names))
    plot = Plot(Axis.around(shown["x"], names[0]), Axis.around(shown["y"], names[1]), 640, 420)
    for k in range(findings.best.k):
        inside = shown["labels"] == k
        plot.points(shown["x"][inside], shown["y"][inside], k, dense=len(inside) > MANY)
    legend = [mark_entry(f"cluster {k}", k) for k in range(findings.best.k)]
    axes = "; ".join(
        f"{word}: {', '.join(numbers.clipped(name, 40) for name in columns)}"
        for word, columns in zip(("first", "second"), shown["axes"], strict=False)
    )
    words = (
        f"{numbers.plural(len(shown['x']), 'row')} on the two principal components. The columns "
        f"that weigh most in each, {axes}."
    )
    picture = plot.draw(f"Map of the rows, coloured by cluster. {words}")
    return tag(
        "section", tag("h2", "A map of the rows"), drawn("", picture, words, legend=legend),
        id="map",
    )  # fmt: skip


def _clusters(findings: ClusterFindings) -> Markup:
    """Sizes, a sentence for each cluster, and the columns in their own units."""
    most = max(profile.size for profile in findings.profiles)
    rows = [_cluster(profile, most) for profile in findings.profiles]
    said = [
        tag(
            "p",
            tag("strong", f"Cluster {profile.number}. "),
            numbers.clipped(profile.sentence, 400),
        )
        for profile in findings.profiles
    ]
    return tag(
        "section", tag("h2", "The clusters"), table(("cluster", "", "rows", "share"), rows, "bars"),
        tag("h3", "What makes each different"), *said,
        tag("h3", "Means and shares"), _columns(findings), id="clusters",
    )  # fmt: skip


def _cluster(profile: ClusterProfile, most: int) -> Markup:
    words = f"cluster {profile.number}: {numbers.plural(profile.size, 'row')}"
    return tag(
        "tr", tag("th", f"cluster {profile.number}", scope="row"),
        tag("td", bar(profile.size, most, words, profile.number), class_="drawn"),
        tag("td", numbers.count(profile.size), class_="figure"),
        tag("td", numbers.share(profile.share), class_="figure"),
    )  # fmt: skip


def _columns(findings: ClusterFindings) -> Markup:
    """Each column's mean, or the share of a category, in each cluster and in all rows."""
    by_cluster = [{d.column: d for d in p.differences} for p in findings.profiles]
    names = sorted(
        {name for differences in by_cluster for name in differences},
        key=lambda name: -max(abs(d[name].effect) for d in by_cluster if name in d),
    )
    heads = ["column", "all rows", *(f"cluster {p.number}" for p in findings.profiles)]
    rows = [_column(name, [d.get(name) for d in by_cluster]) for name in names[:MOST_COLUMNS]]
    words = (
        "Of numbers and dates the mean; of categories the most common one and its share. Where "
        "the line names a value, the share of that value."
    )
    more = len(names) - MOST_COLUMNS
    rest = tag("p", f"{numbers.plural(more, 'column')} that differ less.") if more > 0 else None
    shown = _scrolled(table(heads, rows, "plain profile"), "columns by cluster")
    return joined(tag("p", words, class_="caption"), shown, rest)


def _column(name: str, differences: list[Difference | None]) -> Markup:
    """The line of a column; a category that all its cells would name is named once, in front."""
    known = [d for d in differences if d is not None]
    categories = {d.common: d.common_overall for d in known if d.kind == "categorical"}
    head = numbers.clipped(name, 50)
    if not categories:
        cells = [joined(_value(known[0].kind, known[0].overall))]
        cells += [joined(_value(d.kind, d.inside) if d else numbers.DASH) for d in differences]
    elif len(categories) == 1:
        head += f" is {numbers.clipped(known[0].common, 20)}"
        shares = [known[0].common_overall, *(d.common_inside for d in known)]
        cells = [joined(numbers.share(share)) for share in shares]
    else:
        most_first = sorted(categories.items(), key=lambda category: -category[1])
        cells = [joined(*(_share(word, share) for word, share in most_first))]
        cells += [_share(d.common, d.common_inside) for d in known]
    return tag("tr", tag("th", head, scope="row"), *(tag("td", cell) for cell in cells))


def _share(word: str, share: float) -> Markup:
    """A category and its share, which may be on two lines."""
    return tag("div", numbers.clipped(word, 20), " ", tag("span", numbers.share(share)))


def _value(kind: str, value: float) -> str:
    return day(value) if kind == "date" else figure(value)


def _number(findings: ClusterFindings) -> Markup | None:
    """The silhouette of each family at each number of clusters."""
    families = list(dict.fromkeys(trial.family for trial in findings.trials))
    ks = sorted({trial.k for trial in findings.trials})
    scores = [trial.silhouette for trial in findings.trials]
    if len(ks) < 2:
        return None
    places = tuple((float(k), str(k)) for k in ks)
    x = Axis(ks[0] - 0.3, ks[-1] + 0.3, "number of clusters", places=places)
    plot = Plot(x, Axis.around([*scores, 0], "mean silhouette"), 560, 340)
    for j, family in enumerate(families):
        own = [trial for trial in findings.trials if trial.family == family]
        at, values = [t.k for t in own], [t.silhouette for t in own]
        plot.line(at, values, j, dashes=dash(j))
        for trial in own:
            words = f"{family}, {trial.k} clusters: {numbers.score(trial.silhouette)}"
            words += f" ({trial.flaw})" if trial.flaw else ""
            look = "mark hollow" if trial.flaw else "mark"
            plot.marks([trial.k], [trial.silhouette], j, words=[words], class_=look)
    if findings.references:
        plot.rule([ks[0] - 0.3, ks[-1] + 0.3], [max(findings.references)] * 2)
    said = (
        "The silhouette of a row compares its mean distance from its own cluster with that from "
        "the nearest other one: 1 is far from all others, 0 on the border."
    )
    if any(trial.flaw for trial in findings.trials):
        said += f" Hollow marks are left aside: a cluster has under {SMALLEST:.0%} of the rows."
    if findings.references:
        said += " The dotted line is the largest one with shuffled columns."
    legend = [entry(f, j, dashes=dash(j), marked=True) for j, f in enumerate(families)]
    picture = drawn("", plot.draw("Mean silhouette by number of clusters."), said, legend=legend)
    tiny = [t for t in findings.trials if t.silhouette > findings.best.silhouette]
    note = None
    if tiny:
        best = max(tiny, key=lambda t: t.silhouette)
        note = tag(
            "p", f"{best.family} with {best.k} clusters scores {numbers.score(best.silhouette)}, "
            f"but its smallest cluster has {numbers.plural(best.sizes[-1], 'row')}: outliers, not "
            "a "
            "group.",
        )  # fmt: skip
    return tag("section", tag("h2", "Which number, and why"), picture, note, id="number")


def _stability(findings: ClusterFindings) -> Markup | None:
    """How well clusterings of parts of the rows agree."""
    stability = findings.stability
    if stability is None:
        return None
    rows = [
        tag("tr", tag("th", f"cluster {k}", scope="row"),
            tag("td", bar(value, 1, f"{value:.2f}", k), class_="drawn"),
            tag("td", f"{value:.2f}", class_="figure"))
        for k, value in enumerate(stability.overlaps)
    ]  # fmt: skip
    words = (
        f"The same method was fitted to {stability.n_resamples} random parts of "
        f"{stability.share:.0%} of the rows. For each cluster, how much of it comes out again: "
        "rows in both, of all rows in either. Above 0.75 a cluster can be relied on; below 0.5 it "
        "cannot."
    )
    return tag(
        "section", tag("h2", "How sure"), tag("p", words),
        table(("cluster", "", "comes out again"), rows, "bars"), id="stability",
    )  # fmt: skip


def _data(findings: ClusterFindings) -> Markup:
    rows = [
        tag("tr", tag("th", numbers.clipped(column.name, 60), scope="row"), tag("td", column.kind),
            tag("td", numbers.count(column.n_missing), class_="figure"),
            tag("td", numbers.count(column.n_different), class_="figure"),
            tag("td", numbers.clipped(column.note, 200)),
            class_=None if column.used else "unused")
        for column in findings.columns
    ]  # fmt: skip
    words = (
        "Numbers are centred and divided by their standard deviation, categories become columns of "
        "zeros and ones, and missing numbers are put at the mean and marked."
    )
    heads = ("column", "kind", "missing", "different", "note")
    return tag(
        "section", tag("h2", "The data"), tag("p", words),
        _scrolled(table(heads, rows, "plain columns"), "columns"), id="data",
    )  # fmt: skip


def _repeat(findings: ClusterFindings) -> Markup:
    pairs = [
        ("rows", numbers.count(findings.n_rows)),
        ("seed", str(findings.random_state)),
        ("budget", "none" if findings.budget is None else numbers.seconds(findings.budget)),
        ("took", numbers.seconds(findings.seconds)),
        *findings.versions.items(),
    ]
    lines = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag(
        "section", tag("h2", "To repeat it"),
        tag("pre", tag("code", findings.command), class_="command", tabindex=0,
            aria_label="command"),
        tag("dl", *lines, class_="facts"), id="repeat",
    )  # fmt: skip


def _scrolled(content: Markup, label: str) -> Markup:
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=label)
