"""rosenblatt compare: every family of models on one table."""

import shlex
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table as Grid

from rosenblatt import cli
from rosenblatt.data import Column, read_table
from rosenblatt.data.files import place_for
from rosenblatt.workbench.arguments import checked_budget
from rosenblatt.workbench.comparison import Comparison
from rosenblatt.workbench.comparison import compare as run
from rosenblatt.workbench.preparation.leakage import listed_hints
from rosenblatt.workbench.protocol import verdicts
from rosenblatt.workbench.protocol.clock import Clock, age_of_process
from rosenblatt.workbench.protocol.results import Contestant, figure

from .errors import Stages, on_one_line

NO_REPORT = "Stopped before the report was written."
MOST_NAMED = 5  # columns that were left out
# Seconds: for the page and the end of the process, and for a model file.
TO_END, TO_SAVE, TO_SAVE_A_COLUMN = 0.4, 0.4, 0.0002


class Screen(Console):
    """A terminal that shows what names of columns and classes hold, and obeys none of it."""

    def print(self, *objects: Any, **settings: Any) -> None:
        super().print(*(on_one_line(o) if isinstance(o, str) else o for o in objects), **settings)


def compare(
    table: str,
    target: str,
    *,
    stages: Stages,
    out: str,
    save: str | None,
    format: str | None,
    header: bool,
    families: list[str] | None,
    **options: Any,
) -> int:
    """Compare, show the table as it fills, and write the report; return 1 if nothing was fitted."""
    place_for(out, table)  # better said now than after all the work
    if save is not None:
        place_for(save, table, out)
        import_module("skops")  # which may not be there
    # Starting and reading take their part of the time.
    already = age_of_process() if cli.is_the_process else 0.0
    clock = options["budget"] = Clock(checked_budget(options.get("budget")), already)
    if families:
        options["families"] = [
            name.strip() for some in families for name in some.split(",") if name.strip()
        ]
    console = Screen(markup=False, highlight=False)  # names are no markup
    source = read_table(table, format, header=header)
    to_save = TO_SAVE + TO_SAVE_A_COLUMN * source.frame.width
    clock.after = TO_END + (0.0 if save is None else to_save)
    options |= {"target": target, "command": shlex.join(["rosenblatt", *sys.argv[1:]])}
    # Where there is no screen, a line for each contestant is all that helps.
    if console.is_terminal:
        with Live(console=console, refresh_per_second=8, transient=True) as live:

            def show(found: list[Contestant], trying: str, clock: Clock) -> None:
                stages.word = NO_REPORT
                live.update(_grid(found, trying, clock))

            found = run(source, progress=show, **options)
    else:
        found = run(source, progress=_say(console, stages), **options)
    _conclude(console, found, out)
    stages.word = "" if save is None else f"Stopped before the model was written to {save}."
    if save is not None and found.findings.nothing_fitted:
        console.print(f"There is no model to write to {save}.", style="yellow")
    elif save is not None:
        found.save(save)
        console.print(f"Model: {save}")
    return int(found.findings.nothing_fitted)


def _say(console: Console, stages: Stages) -> Any:
    """What prints each contestant as it is done."""
    said = 0

    def say(found: list[Contestant], trying: str, clock: Clock) -> None:
        nonlocal said
        stages.word = NO_REPORT
        for entry in found[said:]:
            console.print(f"{clock.seconds:6.1f} s  {figure(entry.mean)}  {entry.family}")
        said = len(found)

    return say


def _grid(found: list[Contestant], trying: str, clock: Clock) -> Grid:
    """The contestants so far, best first."""
    of = "" if clock.budget is None else f" of {clock.budget:.0f}"
    grid = Grid(title=f"{clock.seconds:.0f}{of} s, trying {trying}", title_justify="left")
    for name in ("family", "score", "±", "fit"):
        grid.add_column(name, justify="left" if name == "family" else "right")
    for entry in sorted(found, key=lambda entry: -entry.mean):
        grid.add_row(*_cells(entry))
    return grid


def _cells(entry: Contestant, name: str = "") -> tuple[str, ...]:
    seconds = f"{entry.fit_seconds:.3f} s"
    return name or entry.family, figure(entry.mean), figure(entry.deviation), seconds


def _conclude(console: Console, comparison: Comparison, out: str) -> None:
    """The leaderboard, the test score, hints, and where the report is."""
    findings = comparison.findings
    protocol = findings.protocol
    metric = f"{protocol.metric} {protocol.positive_words}".strip()
    about = f"{protocol.target}, {metric}, {protocol.n_folds} folds"
    grid = Grid(title=on_one_line(f"{findings.source}: {about}"), title_justify="left")
    for name in ("", "family", "score", "±", "fit"):
        grid.add_column(name, justify="left" if name in ("", "family") else "right")
    for entry in findings.board:
        alike = entry.not_worse() and not findings.nothing_fitted
        grid.add_row("=" if alike else "", *_cells(entry, verdicts.name_on_board(entry, findings)))
    console.print(grid)
    if findings.nothing_fitted:
        early = "Interrupted before any model was fitted: nothing is known but the baseline."
        word = early if protocol.stopped == "interrupt" else verdicts.NOTHING_FITTED
        console.print(f"! {word}", style="yellow")
    else:
        console.print(
            "= is not worse than the best, as far as the folds can tell; "
            "± is the deviation over folds."
        )
    chosen = findings.contestants[0]
    if word := verdicts.against_baseline(chosen, findings.baseline, protocol.stopped):
        console.print(f"! {word}", style="yellow")
    if word := _columns(findings.columns):
        console.print(word, style="dim")
    if protocol.split_words:
        console.print(f"Split: {protocol.split_words}.", style="dim")
    if protocol.folds_words:
        console.print(f"Folds: {protocol.n_folds}, {protocol.folds_words}.", style="dim")
    for entry in findings.contestants:
        if entry.note:
            console.print(f"{entry.family}: {entry.note}", style="dim")
    for drop in findings.dropped:
        console.print(f"without {drop.family}: {drop.reason}", style="dim")
    for verdict in findings.verdicts:
        console.print(verdict, style="dim")
    for hint in listed_hints(findings):
        console.print(f"! {hint}", style="yellow")
    if protocol.stopped:
        why = {"budget": "The time was over", "interrupt": "Interrupted"}[protocol.stopped]
        console.print(f"{why}: this is what was found by then.", style="yellow")
    if said := verdicts.sentence_of_test(findings):
        console.print(said)
    far = verdicts.far_from_folds(chosen, findings.opening, protocol.metric)
    for word in (far, verdicts.flattered_by_repeats(findings.opening, protocol.metric)):
        if word:
            console.print(f"! {word}", style="yellow")
    path = comparison.report(Path(out))
    console.print(f"Report: {path}")


def _columns(columns: list[Column]) -> str:
    """One line: the kinds of the columns, and what was left out and why."""
    kinds = Counter(column.kind for column in columns if column.used)
    used = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
    gone = [
        f"{column.name} ({column.kind}{column.note and f': {column.note}'})"
        for column in columns
        if not column.used
    ]
    more = f" and {len(gone) - MOST_NAMED:,} others" if len(gone) > MOST_NAMED else ""
    left = f"; left out: {', '.join(gone[:MOST_NAMED])}{more}" if gone else ""
    return f"Columns: {used}{left}." if columns else ""
