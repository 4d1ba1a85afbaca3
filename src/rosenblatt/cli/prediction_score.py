"""The score of predictions, as `rosenblatt predict --score` prints it."""

import math
from typing import Any

from sklearn.metrics import accuracy_score, r2_score

from rosenblatt.data import Table
from rosenblatt.model_selection import SealedTest
from rosenblatt.workbench import known_columns
from rosenblatt.workbench.findings import figure, rows_counted
from rosenblatt.workbench.fitting import digest_of, learned_rows
from rosenblatt.workbench.model_file import SavedModel
from rosenblatt.workbench.scoring import USUAL, positive_class, score_of

from .split import ledger_of_test
from .tables import Reading

METRICS = {"classification": ("accuracy", accuracy_score), "regression": ("R²", r2_score)}


def score_in_words(saved: SavedModel, path: str, target: str | None, reading: Reading) -> str:
    """Return the score as a sentence; record the evaluation if the table is a sealed test set."""
    table = reading.for_model(path, saved, target)
    rows, y = known_columns.targets_of(saved, table)

    def scores(model: Any, _: Any = None) -> dict[str, float]:
        return _scores(saved, model, known_columns.rows_for(saved, rows), y)

    of_what = f"on {rows_counted(len(y))} of {table.name}{_learned_from(saved, table, y)}"
    ledger = ledger_of_test(table.name)
    if ledger is None:
        return f"{_in_words(scores(saved.model))} {of_what}"
    sealed = reading._replace(verbose=False).table(path)  # read as `split` read it
    seal = SealedTest(sealed.rows, ledger=ledger)
    found = seal.open(saved.model, scores, reason="rosenblatt predict --score")
    return f"{_in_words(found)} {of_what}; this evaluation is recorded in {ledger.name}"


def _scores(saved: SavedModel, model: Any, X: Any, y: Any) -> dict[str, float]:
    """Return the score by the metric of the model selection and the default score, by name."""
    name, usual = METRICS[saved.task]
    found = {name: float(usual(y, model.predict(X)))}
    if saved.metric in (None, USUAL[saved.task]):
        return found
    try:
        own = score_of(saved.metric)(model, X, y)
    except ValueError:  # rows of one class, for example, or a scorer of another version
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
    """Return a clause if the model was fitted to some of the scored rows."""
    if saved.digest is not None and saved.digest == digest_of(y):
        return " (the training rows: this score is too optimistic)"
    if learned_rows(saved, table) is not None:
        return f" ({saved.n_rows:,} of them training rows: this score is too optimistic)"
    return ""
