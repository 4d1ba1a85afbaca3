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
def compare(
    table: Annotated[
        str, typer.Argument(help="A file, - for standard input, or the name of a bundled table.")
    ],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    task: Annotated[
        str | None, typer.Option(help="classification or regression; told from the target.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="A scorer of scikit-learn; accuracy or r2 if not given.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="A column of times: learn from the past, test on later.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="A column whose equal values stay together.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Seconds that it may take, 30 or more.", min=1)
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Try models of other libraries, for reference.")
    ] = False,
    out: Annotated[str, typer.Option(help="Where the report goes.")] = "report.html",
    format: Annotated[
        str | None, typer.Option(help="csv, tsv, parquet, arrow, jsonl or libsvm.")
    ] = None,
    header: Annotated[bool, typer.Option(help="Whether the first line names columns.")] = True,
    seed: Annotated[int, typer.Option(help="Of the split.")] = 0,
) -> None:
    """Compare every family of models on one table, honestly.

    Example: rosenblatt compare iris --target species
    """
    from .compare import compare as run

    run(
        table, target, out=out, format=format, header=header, task=task, metric=metric, time=time,
        groups=groups, budget=budget, peers=peers, random_state=seed,
    )  # fmt: skip


@app.command()
def doctor() -> None:
    """Say what is here, and what is missing."""
    from .doctor import doctor as run

    raise typer.Exit(run())
