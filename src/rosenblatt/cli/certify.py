"""`rosenblatt certify`: what a model achieved, derived again from a table and its numbers."""

import typer

from rosenblatt.certificates import certify as certificate_of
from rosenblatt.data import read_table
from rosenblatt.workbench.known_columns import rows_for, targets_of
from rosenblatt.workbench.model_file import load_model

from .errors import say


def certify(model: str, table: str, tol: float, format: str | None, header: bool) -> int:
    """Print the certificate; return 0 if it holds, else 1."""
    saved = load_model(model)
    rows, y = targets_of(saved, read_table(table, format, header=header))
    if len(y) != saved.n_rows:
        say(
            f"The model was fitted to {saved.n_rows:,} rows of {saved.source}, and these are "
            f"{len(y):,}: the certificate speaks of these."
        )
    found = certificate_of(saved.model, rows_for(saved, rows), y, tol=tol)
    typer.echo(found)
    return 0 if found.holds else 1
