"""`rosenblatt predict`: what a model says of each row of a table, however long it is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import polars as pl

from rosenblatt.data import Table, TableError
from rosenblatt.data.files import place_for, whole_file
from rosenblatt.workbench.model_file.files import SavedModel
from rosenblatt.workbench.preparation import known_columns
from rosenblatt.workbench.preparation.row_view import first_of

from .errors import say, tell
from .model_files import load_model
from .tables import Reading

PREDICTION, CLUSTER = "prediction", "cluster"


def predict(
    model: str,
    table: str,
    out: str | None,
    proba: bool,
    keep: bool,
    score: bool,
    target: str | None,
    reading: Reading,
    large: bool,
) -> None:
    """Write a line of CSV for each row, batch by batch."""
    if out is not None:
        place_for(out, table, model)
    saved = load_model(model, large=large)
    if score and saved.task == "clustering":
        raise ValueError("Clusters have no right answer to be scored by: leave --score out.")
    if proba and not (hasattr(saved.model, "predict_proba") and hasattr(saved.model, "classes_")):
        raise ValueError(f"{saved.family} gives no probabilities: leave --proba out.")
    if score and table == "-":
        raise ValueError("--score reads the table twice, which standard input is not: give a file.")
    # Before anything is written: a test that cannot be scored leaves no file.
    scored = _scored(saved, table, target, reading) if score else ""
    n_rows = 0
    odd = known_columns.OddCells(known_columns.known_categories(saved.model))
    with _output(out) as file:
        for batch in reading.batches(table, saved, target):
            X = known_columns.rows_for(saved, batch, n_rows)
            odd.add(X)
            found = _predictions(saved, X, proba)
            if not n_rows and (extra := known_columns.unknown_columns(saved, batch)):
                say(f"The model does not read {first_of(extra)}.")
            file.write(_lines(batch, found, keep, header=not n_rows))
            n_rows += len(batch)
        if not n_rows:
            raise TableError(f"{'standard input' if table == '-' else table} has no rows.")
    for note in odd.notes(len(saved.columns)) if reading.verbose else odd.notes():
        say(f"note: {note}")
    if out is not None:
        tell(f"{n_rows:,} {'prediction' if n_rows == 1 else 'predictions'} written to {out}")
    if scored:
        say(scored)


def _scored(saved: SavedModel, table: str, target: str | None, reading: Reading) -> str:
    """How good predictions are, in words."""
    from .prediction_score import score_in_words  # what it needs takes as long as to predict

    return score_in_words(saved, table, target, reading)


def _predictions(saved: SavedModel, X: Any, proba: bool) -> pl.DataFrame:
    """A column of predictions; on request, one of probabilities for each class."""
    name = CLUSTER if saved.task == "clustering" else PREDICTION
    columns = [pl.Series(name, saved.model.predict(X))]
    if proba:
        probabilities = saved.model.predict_proba(X)
        columns += [
            pl.Series(f"P({label})", probabilities[:, k])
            for k, label in enumerate(saved.model.classes_)
        ]
    return pl.DataFrame(columns)


def _lines(batch: Table, found: pl.DataFrame, keep: bool, header: bool) -> bytes:
    if keep:
        taken = [name for name in found.columns if name in batch.frame.columns]
        if taken:
            raise TableError(
                f"{batch.name} has a column {taken[0]!r} already: rename it, or leave --keep out."
            )
        found = (batch.frame if batch.cells is None else batch.cells).hstack(found)
    return found.write_csv(include_header=header).encode()


@contextmanager
def _output(path: str | None) -> Iterator[IO[bytes]]:
    """Standard output, or a file that is there once it is whole."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as draft, draft.open("wb") as file:
        yield file
