"""The `rosenblatt` command: one file per sub-command, each imported when it is called for."""

import atexit
import gc
import sys

__all__ = ["main"]

is_the_process = False  # whether all that the process does is this command


def main() -> None:
    """Run the command line."""
    global is_the_process
    is_the_process = True
    # Else Python looks at all that was ever imported, three times, to end half a second later.
    atexit.register(gc.freeze)
    try:
        _run()
    except KeyboardInterrupt:  # before a command has begun, or after its end
        sys.stderr.write("Stopped.\n")  # what prints elsewhere may not be loaded yet
        sys.exit(130)


def _run() -> None:
    try:
        import typer  # noqa: F401
    except ModuleNotFoundError:
        sys.exit('The rosenblatt command needs two more packages: pip install "rosenblatt[cli]"')
    from .app import app

    app()
