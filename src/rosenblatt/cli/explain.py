"""`rosenblatt explain`: the contribution of each column to one prediction."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rosenblatt.data import Table, TableError
from rosenblatt.workbench.findings import rows_counted
from rosenblatt.workbench.importance import explain_row
from rosenblatt.workbench.known_columns import rows_for, target_of
from rosenblatt.workbench.model_file import SavedModel, blaming

from .model_files import load_model
from .output import on_one_line
from .tables import Reading, printed_to


def run(args: Namespace) -> None:
    """Print the contribution of each column."""
    model, table, row = args.model, args.table, args.row
    saved = load_model(model, large=args.large)
    there = _row(table, row, Reading.of(args).batches(table, saved, args.target))
    found = rows_for(saved, there, row)
    with blaming(model, table):
        explanation = explain_row(saved, found)  # before anything is printed, as it may raise
        prediction = saved.model.predict(found)[0]
    truth = _truth(saved, there, prediction)
    summary = f"predicted {saved.target} = {_in_words(saved, prediction)}{truth}"
    lines = replace(
        explanation,
        winner=on_one_line(explanation.winner),
        rival=None if explanation.rival is None else on_one_line(explanation.rival),
        names=tuple(map(on_one_line, explanation.names)),
        path=tuple(map(on_one_line, explanation.path)),
    )
    with printed_to(args.out, table, model) as print_lines:
        print_lines(on_one_line(f"Row {row} of {table}: {summary}"))
        print_lines(lines)


def _in_words(saved: SavedModel, value: Any) -> str:
    return f"{value:.6g}" if saved.task == "regression" else str(value)


def _truth(saved: SavedModel, row: Table, prediction: Any) -> str:
    """Return a clause with the true target; empty if the table does not have it."""
    truth = target_of(saved, row)
    if truth is None:
        return ""
    true, predicted = _in_words(saved, truth), _in_words(saved, prediction)
    return " (correct)" if true == predicted else f" (true value: {true})"


def _row(table: str, row: int, batches: Iterator[Table]) -> Table:
    """Return one row, counted from 0, without reading the rows after it."""
    start = 0
    for batch in batches:
        if row < start + len(batch):
            return batch.take(slice(row - start, row - start + 1))
        start += len(batch)
    raise TableError(
        f"{table} has {rows_counted(start)}, counted from 0; row {row} does not exist."
        if start
        else f"{table} has no rows."
    )
