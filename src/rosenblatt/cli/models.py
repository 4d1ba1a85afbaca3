"""`rosenblatt models`: what there is, with parameters, and when to use which."""

from rosenblatt.workbench.model_catalogue import family_named, model_text, models_text

from .errors import tell_lines


def models(name: str | None) -> None:
    """Print the list, or one entry in full."""
    tell_lines(models_text() if name is None else model_text(family_named(name)))
