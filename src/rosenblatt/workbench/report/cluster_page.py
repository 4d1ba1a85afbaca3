"""The report of a clustering: values and figures that the template shows."""

import os
from collections.abc import Sequence
from typing import Any

from rosenblatt.workbench.cluster_findings import (
    SMALLEST,
    ClusterFindings,
    Difference,
    day,
    figure,
)

from . import format as formats
from .page import render, write
from .svg import MANY, Axis, Plot, dash, line_key, mark_key

SECTIONS = {
    "answer": "answer", "map": "map", "clusters": "clusters", "number": "number of clusters",
    "stability": "stability", "data": "data", "repeat": "reproduce",
}  # fmt: skip
MOST_COLUMNS = 30
AXES = "first", "second"

Cell = list[tuple[str, str]]  # pairs of a category, or "", and a number


def page(findings: ClusterFindings) -> str:
    """Return the report as a self-contained HTML page."""
    plane, silhouettes = _map(findings), _silhouettes(findings)
    shown = {"map": plane, "number": silhouettes, "stability": findings.stability}
    return render(
        "clusters.html",
        f=findings,
        sections=[(id, name) for id, name in SECTIONS.items() if shown.get(id, True)],
        SMALLEST=SMALLEST,
        most=max(profile.size for profile in findings.profiles),
        map=plane,
        silhouettes=silhouettes,
        cluster_names=[f"cluster {profile.number}" for profile in findings.profiles],
        protocol=[
            ("rows", formats.count(findings.n_rows)),
            ("seed", str(findings.random_state)),
            ("time limit", "none" if findings.budget is None else formats.seconds(findings.budget)),
            ("duration", formats.seconds(findings.seconds)),
            *findings.versions.items(),
        ],
        **_columns(findings),
    )


def save(findings: ClusterFindings, path: str | os.PathLike[str]) -> None:
    """Write the report atomically."""
    write(page(findings), path)


def _map(findings: ClusterFindings) -> dict[str, Any] | None:
    """Return the rows in the plane of the first two principal components."""
    if findings.map is None:
        return None
    shown = findings.map
    names = [
        f"{name} axis ({formats.share(share)} of the variance)"
        for name, share in zip(AXES, shown["shares"], strict=False)
    ]
    names += [""] * (2 - len(names))
    plot = Plot(Axis.around(shown["x"], names[0]), Axis.around(shown["y"], names[1]), 640, 420)
    for k in range(findings.best.k):
        inside = shown["labels"] == k
        plot.points(shown["x"][inside], shown["y"][inside], k, dense=len(inside) > MANY)
    return {
        "picture": plot.draw("Map of the rows, colored by cluster."),
        "legend": [(mark_key(k), f"cluster {k}") for k in range(findings.best.k)],
        "n": len(shown["x"]),
        "axes": list(zip(AXES, shown["axes"], strict=False)),
    }


def _columns(findings: ClusterFindings) -> dict[str, Any]:
    """Return means or frequent categories of each column in all rows and in each cluster."""
    by_cluster = [{d.column: d for d in p.differences} for p in findings.profiles]
    names = sorted(
        {name for differences in by_cluster for name in differences},
        key=lambda name: -max(abs(d[name].effect) for d in by_cluster if name in d),
    )
    return {
        "columns": [
            _column(name, [d.get(name) for d in by_cluster]) for name in names[:MOST_COLUMNS]
        ],
        "n_more_columns": len(names) - MOST_COLUMNS,
    }


def _column(name: str, differences: Sequence[Difference | None]) -> dict[str, Any]:
    """Return the cells of a column; a category that all cells share is part of the name."""
    known = [d for d in differences if d is not None]
    categories = {d.common: d.common_overall for d in known if d.kind == "categorical"}
    head = formats.clipped(name, 50)
    if not categories:
        cells = [_number(known[0].kind, known[0].overall)]
        cells += [_number(d.kind, d.inside) if d else [("", formats.DASH)] for d in differences]
    elif len(categories) == 1:
        head += f" is {formats.clipped(known[0].common, 20)}"
        shares = [known[0].common_overall, *(d.common_inside for d in known)]
        cells = [[("", formats.share(share))] for share in shares]
    else:
        most_first = sorted(categories.items(), key=lambda category: -category[1])
        cells = [[_category(word, share) for word, share in most_first]]
        cells += [[_category(d.common, d.common_inside)] for d in known]
    return {"name": head, "cells": cells}


def _category(word: str, share: float) -> tuple[str, str]:
    return formats.clipped(word, 20), formats.share(share)


def _number(kind: str, value: float) -> Cell:
    return [("", day(value) if kind == "date" else figure(value))]


def _silhouettes(findings: ClusterFindings) -> dict[str, Any] | None:
    """Return the silhouette of each method by the number of clusters."""
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
        plot.line([t.k for t in own], [t.silhouette for t in own], j, dashes=dash(j))
        for trial in own:
            title = f"{family}, {trial.k} clusters: {formats.score(trial.silhouette)}"
            title += f" ({trial.flaw})" if trial.flaw else ""
            look = "mark hollow" if trial.flaw else "mark"
            plot.marks([trial.k], [trial.silhouette], j, titles=[title], class_=look)
    if findings.references:
        plot.rule([ks[0] - 0.3, ks[-1] + 0.3], [max(findings.references)] * 2)
    better = [t for t in findings.trials if t.silhouette > findings.best.silhouette]
    return {
        "picture": plot.draw("Mean silhouette by number of clusters."),
        "legend": [(line_key(j, dashes=dash(j), marked=True), f) for j, f in enumerate(families)],
        "excluded": max(better, key=lambda t: t.silhouette) if better else None,
    }
