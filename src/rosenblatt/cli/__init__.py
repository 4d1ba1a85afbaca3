"""The `rosenblatt` command: one file per sub-command, each imported when it is called for."""

import atexit
import gc
import sys

from .sentences import TRY_AGAIN

__all__ = ["main"]

is_the_process = False  # whether all that the process does is this command


def main() -> None:
    """Run the command line."""
    global is_the_process
    is_the_process = True
    # Else Python looks at all that was ever imported, three times, to end half a second later.
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # which characters a terminal has must not end a run
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        _run()
    except SystemExit as ending:
        if ending.code not in (0, TRY_AGAIN) and _filters_mail():  # an option that it does not have
            _pass_on()
        raise
    except Exception:  # an installation that is broken
        if _filters_mail():
            sys.excepthook(*sys.exc_info())
            _pass_on()
        raise
    except KeyboardInterrupt:  # before a command has begun, or after its end
        sys.stderr.write("Stopped.\n")  # what prints elsewhere may not be loaded yet
        sys.exit(130)


def _filters_mail() -> bool:
    """Whether a message passes through this process, which must come out whatever happens."""
    return sys.argv[1:2] == ["spam"] and "--filter" in sys.argv


def _pass_on() -> None:
    """Copy the message through as it came; if that is not wanted or fails, it is tried again."""
    raw = b"" if "--tempfail" in sys.argv else sys.stdin.buffer.read()
    try:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except OSError:
        raw = b""
    sys.exit(0 if raw else TRY_AGAIN)  # nothing is left of a message that was read before


def _run() -> None:
    if sys.argv[1:2] == ["spam"]:
        from .mail import plain_command, run_plain

        if command := plain_command(sys.argv[1:]):
            gc.disable()  # messages make no cycles; looking for them took 7% of the time
            sys.exit(run_plain(command))
    try:
        import typer  # noqa: F401
    except ModuleNotFoundError:
        sys.exit('The rosenblatt command needs two more packages: pip install "rosenblatt[cli]"')
    from .app import app

    app()
