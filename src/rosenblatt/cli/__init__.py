"""The `rosenblatt` command: `arguments` parses the command line; each command has a module."""

import atexit
import gc
import os
import sys
from importlib import import_module

from .output import BAD_INPUT, TRY_AGAIN, about_input, print_note, sentence_of, warnings_as_notes

__all__ = ["execute", "main"]

INTERRUPTED = 130  # the exit code that shells use after Ctrl-C
is_the_process = False  # True if the process does nothing but this command


def main() -> None:
    """Run the command line and end the process."""
    global is_the_process
    is_the_process = True
    atexit.register(gc.freeze)  # a last garbage collection of all modules takes half a second
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # characters that the terminal lacks must not abort a run
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    words = sys.argv[1:]
    is_mail_filter = words[:1] == ["spam"] and "--filter" in words
    try:
        code = execute(words)
    except Exception:  # a broken installation or a bug
        if not is_mail_filter:
            raise
        sys.excepthook(*sys.exc_info())
        code = BAD_INPUT
    if is_mail_filter and code not in (0, TRY_AGAIN):  # such as an unknown option
        code = _pass_message_on(words)
    sys.exit(code)


def execute(words: list[str]) -> int:
    """Run a command and return its exit code; errors of the user are printed as one sentence."""
    arguments = None
    try:
        from .arguments import parse
        from .parser import UsageError

        try:
            arguments = parse(words)
            with warnings_as_notes():
                module = import_module(f".{arguments.module}", __package__)
                return getattr(module, arguments.function)(arguments) or 0
        except UsageError as error:
            print_note(f"Error: {error}")
            return BAD_INPUT
    except KeyboardInterrupt:
        note = "Stopped." if arguments is None else arguments.if_stopped
        if note:
            print_note(note)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if getattr(arguments, "debug", False) or not about_input(error):
            raise
        print_note(f"Error: {sentence_of(error)}")
        return BAD_INPUT


def _pass_message_on(words: list[str]) -> int:
    """Copy a message through as it came, after an error; return the exit code."""
    raw = b"" if "--tempfail" in words else sys.stdin.buffer.read()
    try:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except OSError:
        raw = b""
    return 0 if raw else TRY_AGAIN  # nothing is left of a message that was read before
