"""Whose fault it is if a model that was read from a file fails on rows that suit it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dis import opmap

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
    """Whether our code raised it, rather than met it in what others do with odd numbers."""
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    where, code = trace.tb_frame.f_globals.get("__name__", ""), trace.tb_frame.f_code.co_code
    return where.startswith("rosenblatt.") and code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
