"""The `rosenblatt` command: one file per sub-command, each imported when it is called for."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        import typer  # noqa: F401
    except ModuleNotFoundError:
        sys.exit('The rosenblatt command needs two more packages: pip install "rosenblatt[cli]"')
    from .app import app

    app()
