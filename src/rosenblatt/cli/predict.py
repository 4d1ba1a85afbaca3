"""`rosenblatt predict`: what a model says of each row of a table, however long it is."""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import polars as pl
from sklearn.metrics import accuracy_score, r2_score

from rosenblatt.data import Table, TableError
from rosenblatt.data.files import place_for, whole_file
from rosenblatt.model_selection import SealedTest
from rosenblatt.workbench.fitting import digest_of, learned_rows
from rosenblatt.workbench.model_file.files import SavedModel, load_model
from rosenblatt.workbench.preparation import known_columns
from rosenblatt.workbench.preparation.row_view import first_of
from rosenblatt.workbench.protocol.results import figure, rows_counted
from rosenblatt.workbench.protocol.scoring import USUAL, positive_class, score_of

from .errors import say, tell
from .split import ledger_of_test
from .tables import Reading

PREDICTION = "prediction"
METRICS = {"classification": ("accuracy", accuracy_score), "regression": ("R²", r2_score)}


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
    if proba and not hasattr(saved.model, "predict_proba"):
        raise ValueError(f"{saved.family} gives no probabilities: leave --proba out.")
    if score and table == "-":
        raise ValueError("--score reads the table twice, which standard input is not: give a file.")
    # Before anything is written: a test that cannot be scored leaves no file.
    scored = _score(saved, table, target, reading) if score else ""
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


def _predictions(saved: SavedModel, X: Any, proba: bool) -> pl.DataFrame:
    """A column of predictions; on request, one of probabilities for each class."""
    columns = [pl.Series(PREDICTION, saved.model.predict(X))]
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


def _score(saved: SavedModel, path: str, target: str | None, reading: Reading) -> str:
    """How good predictions are; of a test set that was sealed, its opening is written down."""
    table = reading.for_model(path, saved, target)
    rows, y = known_columns.targets_of(saved, table)

    def scores(model: Any, _: Any = None) -> dict[str, float]:
        return _scores(saved, model, known_columns.rows_for(saved, rows), y)

    told = f"on {rows_counted(len(y))} of {table.name}{_learned_from(saved, table, y)}"
    ledger = ledger_of_test(table.name)
    if ledger is None:
        return f"{_in_words(scores(saved.model))} {told}"
    sealed = reading._replace(verbose=False).table(path)  # as it was when it was sealed
    seal = SealedTest(sealed.frame if sealed.sparse is None else sealed.sparse, ledger=ledger)
    found = seal.open(saved.model, scores, reason="rosenblatt predict --score")
    return f"{_in_words(found)} {told}, which were sealed: {ledger.name} has written it down"


def _scores(saved: SavedModel, model: Any, X: Any, y: Any) -> dict[str, float]:
    """The score that the model was chosen by, and the usual one, by name."""
    name, usual = METRICS[saved.task]
    found = {name: float(usual(y, model.predict(X)))}
    if saved.metric in (None, USUAL[saved.task]):
        return found
    try:
        own = score_of(saved.metric)(model, X, y)
    except ValueError:  # rows of one class, say, or a scorer that is not there in this version
        own = math.nan
    positive = positive_class(getattr(model, "classes_", []), saved.metric)
    of = "" if positive is None else f" of the class {positive}"
    return {f"{saved.metric}{of}": own} | found


def _in_words(scores: dict[str, float]) -> str:
    return ", ".join(
        f"{name} {figure(value)}" if math.isfinite(value) else f"{name} undefined"
        for name, value in scores.items()
    )


def _learned_from(saved: SavedModel, table: Table, y: Any) -> str:
    """A word if the model has seen the rows that it is scored on."""
    if saved.digest is not None and saved.digest == digest_of(y):
        return ", which the model was fitted to: that flatters it"
    if learned_rows(saved, table) is not None:
        return f", {saved.n_rows:,} of which the model was fitted to: that flatters it"
    return ""


@contextmanager
def _output(path: str | None) -> Iterator[IO[bytes]]:
    """Standard output, or a file that is there once it is whole."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as draft, draft.open("wb") as file:
        yield file
