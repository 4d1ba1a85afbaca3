"""`rosenblatt predict`: predict each row of a table of any length."""

import sys
from argparse import Namespace
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

import polars as pl

from rosenblatt.data import Table, TableError
from rosenblatt.data.columns import free_name
from rosenblatt.data.files import place_for, whole_file
from rosenblatt.data.source import files_of, is_many
from rosenblatt.workbench import known_columns
from rosenblatt.workbench.model_file import SavedModel
from rosenblatt.workbench.row_view import first_of

from .model_files import load_model
from .output import print_line, print_note
from .tables import Reading

PREDICTION, CLUSTER = "prediction", "cluster"


def run(args: Namespace) -> None:
    """Write the prediction of each row, batch by batch."""
    table, target, out, reading = args.table, args.target, args.out, Reading.of(args)
    proba, keep, score = args.proba, args.keep, args.score
    if out is not None:
        place_for(out, table, args.model)
    saved = load_model(args.model, large=args.large)
    if score and saved.task == "clustering":
        raise ValueError("--score needs a target column; a clustering does not have one.")
    if proba and not (hasattr(saved.model, "predict_proba") and hasattr(saved.model, "classes_")):
        raise ValueError(f"{saved.family} does not give probabilities; omit --proba.")
    if score and table == "-":
        raise ValueError("--score reads the table twice and needs a file, not standard input.")
    scored = ""
    if score:  # before anything is written: no file is left if the table cannot be scored
        from .prediction_score import score_in_words  # slow

        scored = score_in_words(saved, table, target, reading)
    n_rows = 0
    odd = known_columns.OddCells(known_columns.known_categories(saved.model))
    with _output(out) as written:
        for batch in _batches(table, saved, target, reading):
            X = known_columns.rows_for(saved, batch, n_rows)
            odd.add(X)
            found = _predictions(saved, X, proba, batch.frame.columns if keep else ())
            if not n_rows and (extra := known_columns.unknown_columns(saved, batch)):
                print_note(f"Columns not used by the model: {first_of(extra)}.")
            written.add(_kept(batch, found) if keep else found)
            n_rows += len(batch)
        if not n_rows:
            raise TableError(f"{'standard input' if table == '-' else table} has no rows.")
    for note in odd.notes(len(saved.columns)) if reading.verbose else odd.notes():
        print_note(f"note: {note}")
    if out is not None:
        print_line(f"{n_rows:,} {'prediction' if n_rows == 1 else 'predictions'} written to {out}")
    if scored:
        print_note(scored)


def _predictions(
    saved: SavedModel, X: Any, proba: bool, taken: Collection[str] = ()
) -> pl.DataFrame:
    """Return a column of predictions and, on request, the probability of each class."""
    name = free_name(CLUSTER, taken) if saved.task == "clustering" else PREDICTION
    columns = [pl.Series(name, saved.model.predict(X))]
    if proba:
        probabilities = saved.model.predict_proba(X)
        columns += [
            pl.Series(f"P({label})", probabilities[:, k])
            for k, label in enumerate(saved.model.classes_)
        ]
    return pl.DataFrame(columns)


def _batches(
    table: str, saved: SavedModel, target: str | None, reading: Reading
) -> Iterator[Table]:
    """Yield the batches of a table, or of every file of a folder or pattern."""
    for path in files_of(table) if is_many(table) else [table]:
        yield from reading.batches(path, saved, target)


def _kept(batch: Table, found: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of the table with the predictions."""
    taken = [name for name in found.columns if name in batch.frame.columns]
    if taken:
        raise TableError(
            f"{batch.name} already has a column {taken[0]!r}; rename it or omit --keep."
        )
    return (batch.frame if batch.cells is None else batch.cells).hstack(found)


class Csv:
    """Writer of CSV with a header."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.header = file, True

    def add(self, frame: pl.DataFrame) -> None:
        """Write some rows."""
        self.file.write(frame.write_csv(include_header=self.header).encode())
        self.header = False

    def close(self) -> None:
        """Flush the file."""
        self.file.flush()


class Parquet:
    """Writer of row groups of one Parquet file."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.writer: Any = None

    def add(self, frame: pl.DataFrame) -> None:
        """Write some rows."""
        table = frame.to_arrow()
        if self.writer is None:
            self.writer = import_module("pyarrow.parquet").ParquetWriter(self.file, table.schema)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self) -> None:
        """Write the footer of the file."""
        if self.writer is not None:
            self.writer.close()


@contextmanager
def _output(path: str | None) -> Iterator[Csv | Parquet]:
    """Yield a writer to standard output or to a file, which is written atomically."""
    if path is None:
        written: Csv | Parquet = Csv(sys.stdout.buffer)
        yield written
        written.close()
        return
    kind = Parquet if path.endswith((".parquet", ".pq")) else Csv
    with whole_file(path) as draft, draft.open("wb") as file:
        written = kind(file)
        yield written
        written.close()
