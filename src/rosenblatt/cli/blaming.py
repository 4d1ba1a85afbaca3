"""Whose fault it is if a model that was read from a file fails on rows that suit it."""

from collections.abc import Iterator
from contextlib import contextmanager

from rosenblatt.data import TableError
from rosenblatt.workbench.model_file import in_short


@contextmanager
def blaming(model: str, table: str) -> Iterator[None]:
    """What fails in a way that no model of ours does is told as the fault of its file."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError | TypeError) and _is_our_sentence(error):
            raise
        raise TableError(
            f"{model} does not go with {table} ({in_short(error)}): it may be damaged; fit the "
            "model again."
        ) from error


def _is_our_sentence(error: Exception) -> bool:
    """Whether it comes from our code, rather than from libraries that met odd numbers."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or trace.tb_frame.f_globals.get("__name__", "").startswith("rosenblatt.")
