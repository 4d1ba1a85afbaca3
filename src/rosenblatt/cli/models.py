"""`rosenblatt models`: what there is, with parameters, and when to use which."""

import typer

from rosenblatt.workbench.choosing import model_text, models_text
from rosenblatt.workbench.naming import family_named


def models(name: str | None) -> None:
    """Print the list, or one entry in full."""
    typer.echo(models_text() if name is None else model_text(family_named(name)))
