"""`rosenblatt certify`: what a model achieved, derived again from a table and its numbers."""

import math

from rosenblatt.certificates import certify as certificate_of
from rosenblatt.data import Table
from rosenblatt.workbench.fitting import learned_rows
from rosenblatt.workbench.model_file.files import SavedModel, blaming
from rosenblatt.workbench.preparation.known_columns import rows_for, targets_of

from .model_files import load_model
from .sentences import print_note
from .tables import Reading, printed_to


def certify(
    model: str,
    table: str,
    tol: float,
    target: str | None,
    out: str | None,
    reading: Reading,
    large: bool,
) -> int:
    """Print the certificate; return 0 if it holds, else 1."""
    if not 0 <= tol < math.inf:
        raise ValueError(f"tol must be a number >= 0; got {tol}.")
    saved = load_model(model, large=large)
    read = reading.for_model(table, saved, target)
    rows, y = targets_of(saved, read)
    whole = len(y)
    others = whole != saved.n_rows
    if others and (learned := learned_rows(saved, read)):
        rows, y = learned
        others = False
        print_note(
            f"The model was fitted to {saved.n_rows:,} of these {whole:,} rows ({_split(saved)}): "
            "the certificate speaks of those."
        )
    X = rows_for(saved, rows)
    with blaming(model, table):
        found = certificate_of(saved.model, X, y, tol=tol)
    with printed_to(out, table, model) as print_lines:
        print_lines(found)
    if others:
        print_note(
            f"The model was fitted to {saved.n_rows:,} rows of {saved.source} ({_split(saved)}), "
            f"and these are {whole:,} others: the certificate speaks of these, and claims of a fit "
            f"need the rows that were fitted to.{_to_find_them(saved, read)}"
        )
    return 0 if found.holds else 1


def _to_find_them(saved: SavedModel, table: Table) -> str:
    """What to do if the rows cannot be found again for want of the column they were split by."""
    if saved.split_by is None or saved.split_by in table.frame.columns:
        return ""
    return (
        f" They were split by {saved.split_by!r}, which {table.name} lacks: write its values, one "
        "for each row, into a column of that name, and certify again."
    )


def _split(saved: SavedModel) -> str:
    """How the rows were chosen that a model was fitted to."""
    if saved.split == "all rows":
        return saved.split
    by = f" ({saved.split_by})" if saved.split_by else ""
    return f"learned from, split {saved.split}{by}, seed {saved.seed}"
