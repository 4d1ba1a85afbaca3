"""The commands and their options; the work is in the file of the same name."""

from typing import Annotated

import typer

# Plain help: drawing boxes would triple the time it takes to answer.
app = typer.Typer(
    name="rosenblatt",
    help="Classical machine learning that is fast, shows its work and proves its answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _version(asked: bool) -> None:
    if asked:
        from rosenblatt import __version__

        typer.echo(f"rosenblatt {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Classical machine learning that is fast, shows its work and proves its answers."""


@app.command()
def warm(
    jobs: Annotated[
        int | None, typer.Option(help="Processes to compile in; all cores if not given.", min=1)
    ] = None,
) -> None:
    """Compile all loops now: no first call waits."""
    from .warm import warm as run

    run(jobs)


@app.command()
def doctor() -> None:
    """Say what is here, and what is missing."""
    from .doctor import doctor as run

    raise typer.Exit(run())
