"""Output of commands: errors as sentences, and text with control characters escaped."""

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

BAD_INPUT = 2
TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h: the mail server keeps the message and tries later
INPUT_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError, OverflowError)
LONGEST = 2000  # characters of a sentence, which names of columns may make long
EXTRAS = {  # optional packages
    "tables": ("polars", "pyarrow", "pandas", "fastexcel", "jinja2"),
    "plot": ("matplotlib",),
    "cli": ("rich", "shtab"),
    "files": ("skops",),
    "dask": ("distributed",),
    "service": ("starlette", "uvicorn"),
}


def about_input(error: BaseException) -> bool:
    """Return True if an error is about the input; polars has its own exception classes."""
    return isinstance(error, INPUT_ERRORS) or type(error).__module__.startswith("polars.")


def sentence_of(error: BaseException) -> str:
    """Return the message of an error on one line.

    >>> sentence_of(ValueError("There is no column 'a'.\\n\\nDetails."))
    "There is no column 'a'."
    """
    if isinstance(error, ImportError):
        for extra, names in EXTRAS.items():
            if error.name in names:
                return f'{error.name} is not installed: pip install "rosenblatt[{extra}]"'
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:  # such as a full disk or a closed stream
            return f"Cannot write the output: {error.strerror.lower()}."
        return f"{error.filename}: {error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return "There is not enough memory."
    paragraph = str(error).strip().partition("\n\n")[0]
    line = " ".join(printable(paragraph[:LONGEST]).split()) or type(error).__name__
    return line if len(paragraph) <= LONGEST else f"{line}…"


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print user warnings, one line each, and no others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = _print_warning
        yield


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    print_note(f"Warning: {' '.join(str(message).split())}")


# All output of commands passes here, so that names and cells cannot control the terminal.
# The tables that `predict` and `split` write keep every character.


def printable(text: str) -> str:
    """Return text with control characters escaped.

    >>> print(printable("clear: " + chr(27) + "[2J"))
    clear: \\x1b[2J
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def on_one_line(text: Any) -> str:
    """Return text with control characters and line breaks escaped.

    >>> print(on_one_line("one" + chr(10) + "two"))
    one\\ntwo
    """
    return printable(str(text)).replace("\n", "\\n")


def print_line(line: Any) -> None:
    """Print a line to standard output."""
    _print(on_one_line(line), sys.stdout)


def print_text(text: Any) -> None:
    """Print lines to standard output."""
    _print(printable(str(text)), sys.stdout)


def print_note(note: str) -> None:
    """Print a line to standard error."""
    _print(on_one_line(note), sys.stderr)


def _print(text: str, stream: TextIO | None) -> None:
    if stream is None:  # a process without a terminal
        return
    stream.write(f"{text}\n")
    stream.flush()  # detects a closed pipe


def with_progress(items: Iterable[Any]) -> Iterable[Any]:
    """Yield items; a terminal shows their number."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track  # slow

    return track(items, "messages", console=Console(stderr=True), transient=True)
