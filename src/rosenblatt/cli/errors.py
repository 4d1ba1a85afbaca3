"""Bad input is answered in one sentence, with exit code 2; `--debug` shows where it came from."""

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .telling import printable, say

BAD_INPUT = 2
LONGEST = 2000  # characters of a sentence, which names of columns may make long
EXTRAS = {"polars": "tables", "pandas": "tables", "pyarrow": "tables", "skops": "files"}

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def plain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the option `--debug`, whose errors and warnings are sentences."""

    @functools.wraps(command)
    def run(*, debug: bool = False, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = _say_warning
                command(**options)
        except BrokenPipeError:  # whoever read our output has seen enough
            raise
        except Exception as error:
            if debug or not _is_bad_input(error):
                raise
            say(f"Error: {sentence_of(error)}")
            raise typer.Exit(BAD_INPUT) from None

    # What typer makes options of.
    signature = inspect.signature(command)
    extra = inspect.Parameter(
        "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug
    )
    parameters = [*signature.parameters.values(), extra]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, "debug": Debug}
    return run


def _is_bad_input(error: Exception) -> bool:
    """Whether an error is about what was given; those of polars have a family of their own."""
    usual = (ValueError, TypeError, OSError, ImportError, MemoryError, OverflowError)
    return isinstance(error, usual) or type(error).__module__.startswith("polars.")


def sentence_of(error: BaseException) -> str:
    """What an error says, on one line.

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


def _say_warning(message: Any, *_: Any, **__: Any) -> None:
    say(f"Warning: {' '.join(str(message).split())}")
