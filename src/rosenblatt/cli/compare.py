"""`rosenblatt compare`: compare all model families on one table."""

import shlex
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table as Grid

from rosenblatt import cli
from rosenblatt.data import Column, Source, TableError
from rosenblatt.data.errors import listed
from rosenblatt.data.files import check_places
from rosenblatt.data.source import is_many
from rosenblatt.workbench import verdicts
from rosenblatt.workbench.arguments import checked_budget
from rosenblatt.workbench.clock import Clock, age_of_process
from rosenblatt.workbench.comparison import compare
from rosenblatt.workbench.findings import Contestant, Findings, figure

from .output import on_one_line
from .tables import Reading, named_target

NO_REPORT = "Stopped before the report was written."
MOST_NAMED = 5  # columns that were left out
# Seconds to write the page and end the process, and to write a model file; seconds per column.
TO_END, TO_END_A_COLUMN = 0.4, 0.00002
TO_SAVE, TO_SAVE_A_COLUMN = 0.4, 0.0002


class Screen(Console):
    """A console that escapes control characters in names of columns and classes."""

    def print(self, *objects: Any, **settings: Any) -> None:
        super().print(*(on_one_line(o) if isinstance(o, str) else o for o in objects), **settings)


def run(args: Namespace) -> int:
    """Compare, show the progress, and write the report; return 1 if nothing was fitted."""
    table, target, out, save, reading = (
        args.table, args.target, args.out, args.save, Reading.of(args),
    )  # fmt: skip
    check_places([out] if save is None else [out, save], table)
    if save is not None:
        import_module("skops")  # which may not be there
    # The time limit includes starting and reading.
    already = age_of_process() if cli.is_the_process else 0.0
    clock = Clock(checked_budget(args.budget), already)
    console = Screen(markup=False, highlight=False)  # names may look like markup
    source: Any
    if is_many(table):
        source = Source(table, target=target, format=reading.format)
        if target is None:
            columns = listed(source.columns, MOST_NAMED)
            raise TableError(f"Give the target column (--target); {table} has {columns}.")
        width = len(source.columns)
    else:
        source = reading._replace(verbose=False).table(table)
        target, width = named_target(source, target), source.frame.width
    to_save = TO_SAVE + TO_SAVE_A_COLUMN * width
    clock.after = TO_END + TO_END_A_COLUMN * width + (0.0 if save is None else to_save)
    options: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("task", "metric", "positive", "time", "groups", "peers", "ledger")
    }
    options |= {
        "target": target, "budget": clock, "families": names_in(args.families) or None,
        "random_state": args.seed, "clean_labels": args.clean_labels, "command": command_line(),
    }  # fmt: skip
    # Without a terminal, print a line for each family.
    if console.is_terminal:
        with Live(console=console, refresh_per_second=8, transient=True) as live:

            def show(found: list[Contestant], trying: str, clock: Clock) -> None:
                args.if_stopped = NO_REPORT
                live.update(_grid(found, trying, clock))

            found = compare(source, progress=show, **options)
    else:
        found = compare(source, progress=print_each(console, args, _line), **options)
    # First of all, because the test set may have been used: only a second Ctrl-C loses the report.
    try:
        found.report(Path(out))
    except KeyboardInterrupt:
        found.report(Path(out))
    _answer(console, found.findings)
    console.print(f"Report: {out}")
    args.if_stopped = "" if save is None else f"Stopped before the model was written to {save}."
    if save is not None and found.findings.nothing_fitted:
        console.print(f"No model was fitted, so {save} was not written.", style="yellow")
    elif save is not None:
        found.save(save)
        console.print(f"Model: {save}")
    if found.findings.opening is not None and found.findings.opening.ledger:
        console.print(f"Test set evaluation recorded in {found.findings.opening.ledger}")
    _leaderboard(console, found.findings)
    if reading.verbose:
        _details(console, found.findings)
    return int(found.findings.nothing_fitted)


def names_in(words: list[str] | None) -> list[str]:
    """Return the names given by an option, once or several times, separated by commas.

    >>> names_in(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [name.strip() for word in words or [] for name in word.split(",") if name.strip()]


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join(["rosenblatt", *sys.argv[1:]])


def print_each(console: Console, args: Namespace, line: Callable[[Any], str]) -> Any:
    """Return a function that prints the line of each result when it is done."""
    n_printed = 0

    def print_new(found: list[Any], trying: str, clock: Clock) -> None:
        nonlocal n_printed
        args.if_stopped = NO_REPORT
        for entry in found[n_printed:]:
            console.print(f"{clock.seconds:6.1f} s  {line(entry)}")
        n_printed = len(found)

    return print_new


def _line(entry: Contestant) -> str:
    return f"{figure(entry.mean)}  {entry.family}"


def _grid(found: list[Contestant], trying: str, clock: Clock) -> Grid:
    """Return the table of the families so far, best first."""
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


def _answer(console: Console, findings: Findings) -> None:
    """Print hints of leakage, the chosen model with its test score, and warnings."""
    if findings.nothing_fitted:
        early = "Interrupted before any model was fitted: the report has only the baseline."
        stopped = findings.protocol.stopped == "interrupt"
        console.print(f"! {early if stopped else verdicts.NOTHING_FITTED}", style="yellow")
    for line in verdicts.outcome(findings):
        console.print(line, style="yellow" if line.startswith("!") else "bold")
    for note in findings.notes:
        console.print(f"note: {note}")
    print_left_out(console, findings.columns)


def _leaderboard(console: Console, findings: Findings) -> None:
    """Print the families, best first."""
    protocol, alike = findings.protocol, findings.alike
    metric = f"{protocol.metric} {protocol.positive_words}".strip()
    grid = Grid(title=on_one_line(f"{findings.source}: {protocol.target}"), title_justify="left")
    for name in ("", "family", f"{metric}, {protocol.n_folds} folds", "±", "fit"):
        grid.add_column(name, justify="left" if name in ("", "family") else "right")
    for entry in findings.board:
        mark = "=" if len(alike) > 1 and entry in alike else ""
        grid.add_row(mark, *_cells(entry, verdicts.name_on_board(entry, findings)))
    console.print(grid)
    if len(alike) > 1:
        console.print("= no significant difference from the best", style="dim")


def _details(console: Console, findings: Findings) -> None:
    """Print details that are also on the page."""
    protocol = findings.protocol
    kinds = Counter(column.kind for column in findings.columns if column.used)
    lines = [f"Columns: {', '.join(f'{n:,} {kind}' for kind, n in kinds.most_common())}."]
    lines += [f"{column.name}: {column.note}" for column in findings.columns if column.note]
    if protocol.split_words:
        lines.append(f"Split: {protocol.split_words}.")
    if protocol.folds_words:
        lines.append(f"Folds: {protocol.n_folds}, {protocol.folds_words}.")
    lines += [f"{entry.family}: {entry.note}" for entry in findings.contestants if entry.note]
    lines += [f"skipped {drop.family}: {drop.reason}" for drop in findings.dropped]
    for line in lines + findings.verdicts:
        console.print(line, style="dim")


def print_left_out(console: Console, columns: list[Column]) -> None:
    """Print the columns that are not used, with reasons."""
    gone = [
        f"{column.name} ({column.kind}{column.note and f': {column.note}'})"
        for column in columns
        if not column.used
    ]
    if gone:
        console.print(f"Columns not used: {listed(gone, MOST_NAMED)}", style="dim")
