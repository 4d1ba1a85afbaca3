"""Bad input is answered in one sentence, with exit code 2; `--debug` shows where it came from."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Self

import typer
from typer.core import TyperGroup

from .sentences import BAD_INPUT, about_input, print_note, sentence_of, warnings_as_notes

INTERRUPTED = 130  # as shells count it
# Words that make no command; typer has the class from click, or has a copy of its own.
UsageError: Any = typer.BadParameter.__base__

Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]


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
            with warnings_as_notes():
                command(**options)
        except BrokenPipeError:  # whoever read our output has seen enough
            raise
        except Exception as error:
            if debug or not about_input(error):
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
