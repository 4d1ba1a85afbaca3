"""`rosenblatt cluster`: cluster the rows of one table."""

from argparse import Namespace
from importlib import import_module
from pathlib import Path

from rosenblatt import cli
from rosenblatt.data.files import check_places
from rosenblatt.workbench.arguments import checked_budget, numbers_of
from rosenblatt.workbench.clock import Clock, age_of_process
from rosenblatt.workbench.cluster_findings import Trial
from rosenblatt.workbench.clustering import cluster_table
from rosenblatt.workbench.clustering_result import Clustering

from .compare import (
    TO_END,
    TO_SAVE,
    Screen,
    command_line,
    names_in,
    print_each,
    print_left_out,
)
from .tables import Reading


def run(args: Namespace) -> int:
    """Cluster, show what was tried, and write the report, the labels and the model."""
    out, labels, save = args.out, args.labels, args.save
    check_places([path for path in (out, labels, save) if path is not None], args.table)
    if save is not None:
        import_module("skops")  # which may not be there
    already = age_of_process() if cli.is_the_process else 0.0
    clock = Clock(
        checked_budget(args.budget), already, TO_END + (TO_SAVE if save is not None else 0.0)
    )
    console = Screen(markup=False, highlight=False)
    numbers = numbers_of(args.k)
    source = Reading.of(args)._replace(verbose=False).table(args.table)
    found = cluster_table(
        source, k=numbers, without=names_in(args.without), budget=clock, random_state=args.seed,
        progress=print_each(console, args, _line), command=command_line(),
    )  # fmt: skip
    _answer(console, found)
    found.report(Path(out))
    console.print(f"Report: {out}")
    if labels is not None:
        column = found.write_labels(labels)
        console.print(f"Rows with their cluster (column {column}): {labels}")
    if save is not None:
        found.save(save)
        console.print(f"Model: {save}")
    args.if_stopped = ""
    return 0


def _line(trial: Trial) -> str:
    flaw = trial.flaw and f" ({trial.flaw})"
    return f"{trial.silhouette:6.3f}  {trial.family}, {trial.k} clusters{flaw}"


def _answer(console: Screen, found: Clustering) -> None:
    findings = found.findings
    console.print(findings.answer, style="bold")
    for reason in findings.reasons:
        console.print(reason)
    for profile in findings.profiles:
        rows = f"{profile.size:,} rows, {profile.share:.0%}"
        console.print(f"cluster {profile.number} ({rows}): {profile.sentence}")
    for note in findings.notes:
        console.print(f"note: {note}")
    print_left_out(console, findings.columns)
