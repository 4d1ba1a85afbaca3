"""Bad input is answered in one sentence, with exit code 2; `--debug` shows where it came from."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Self

import typer
from typer.core import TyperGroup

BAD_INPUT = 2
INPUT_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError, OverflowError)
INTERRUPTED = 130  # as shells count it
LONGEST = 2000  # characters of a sentence, which names of columns may make long
# Words that make no command; typer has the class from click, or has a copy of its own.
UsageError: Any = typer.BadParameter.__base__
EXTRAS = dict.fromkeys(("polars", "pandas", "pyarrow", "fastexcel"), "tables") | {
    "skops": "files",
    "distributed": "dask",
}

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


class PlainGroup(TyperGroup):
    """Commands that answer options they do not understand in one sentence, too."""

    def make_context(self, *words: Any, **options: Any) -> Any:
        with _plain_usage():
            return super().make_context(*words, **options)

    def invoke(self, context: Any) -> Any:
        with _plain_usage():
            return super().invoke(context)


@contextmanager
def _plain_usage() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # no mistake: its message is the help
            raise
        raise refusal(sentence_of_usage(error)) from None
    except KeyboardInterrupt:
        print_note("Stopped.")
        raise typer.Exit(INTERRUPTED) from None


def sentence_of_usage(error: Any) -> str:
    """What is wrong with an option, an argument or the name of a command, and what to do."""
    message = error.format_message()
    command = "rosenblatt" if error.ctx is None else error.ctx.command_path
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {command} --help."


def within(low: float, high: float | None = None) -> Callable[..., Any]:
    """What checks the number of an option, as the callback that typer calls with it."""
    wanted = f"at least {low}" if high is None else f"from {low} to {high}"

    def checked(option: typer.CallbackParam, value: Any) -> Any:
        if value is None or (value >= low and (high is None or value <= high)):
            return value
        got = f"{value:g}" if isinstance(value, float) else value
        raise refusal(f"{option.opts[0]} must be {wanted}; got {got}.")

    return checked


def refusal(sentence: str) -> typer.Exit:
    """Print what is wrong; return the exception that ends the command."""
    print_note(f"Error: {sentence}")
    return typer.Exit(BAD_INPUT)


class Stages:
    """How far a command has come: the note that is printed after Ctrl-C; none if it is empty."""

    def __init__(self, note: str) -> None:
        self.note = note

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            if self.note:
                print_note(self.note)
            raise typer.Exit(INTERRUPTED) from None


def plain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the option `--debug`, whose errors and warnings are sentences."""

    @functools.wraps(command)
    def run(*, debug: bool = False, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = _print_warning
                command(**options)
        except BrokenPipeError:  # whoever read our output has seen enough
            raise
        except Exception as error:
            # About what was given; the errors of polars have a family of their own.
            bad = isinstance(error, INPUT_ERRORS) or type(error).__module__.startswith("polars.")
            if debug or not bad:
                raise
            raise refusal(sentence_of(error)) from None

    # What typer makes options of.
    signature = inspect.signature(command)
    extra = inspect.Parameter(
        "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug
    )
    parameters = [*signature.parameters.values(), extra]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, "debug": Debug}
    return run


def sentence_of(error: BaseException) -> str:
    """The message of an error, on one line.

    >>> sentence_of(ValueError("There is no such thing.\\n\\nA long story."))
    'There is no such thing.'
    """
    missing = getattr(error, "name", None)
    if isinstance(error, ImportError) and missing in EXTRAS:
        return f'this needs {missing}: pip install "rosenblatt[{EXTRAS[missing]}]"'
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:  # what was open already
            return f"the output cannot be written: {error.strerror.lower()}."
        return f"{error.filename}: {error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this."
    paragraph = str(error).strip().partition("\n\n")[0]
    line = " ".join(printable(paragraph[:LONGEST]).split()) or type(error).__name__
    return line if len(paragraph) <= LONGEST else f"{line}…"


def _print_warning(message: Any, *_: Any, **__: Any) -> None:
    print_note(f"Warning: {' '.join(str(message).split())}")


# All that commands print passes here: a terminal shows what names and cells hold, and obeys none.
#
# The tables that `predict` and `split` write are data, and keep every character.


def printable(text: str) -> str:
    """Text whose characters a terminal shows, and does not obey.

    >>> print(printable("no orders: " + chr(27) + "[2J"))
    no orders: \\x1b[2J
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def on_one_line(text: Any) -> str:
    """The same of what is to be a part of a line.

    >>> print(on_one_line("one" + chr(10) + "two"))
    one\\ntwo
    """
    return printable(str(text)).replace("\n", "\\n")


def print_line(line: Any) -> None:
    """Print a line to standard output."""
    typer.echo(on_one_line(line))


def print_text(text: Any) -> None:
    """Print lines to standard output."""
    typer.echo(printable(str(text)))


def print_note(note: str) -> None:
    """Print a line to standard error, beside the output."""
    typer.echo(on_one_line(note), err=True)
