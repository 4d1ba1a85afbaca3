"""The commands and their options; the work is in the file of the same name."""

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from .errors import PlainGroup, Stages, plain_errors
from .options import (
    Budget,
    CleanLabels,
    Engine,
    Families,
    Format,
    Group,
    Header,
    Jobs,
    KeptIn,
    KnownTarget,
    Large,
    Ledger,
    Metric,
    ModelArgument,
    ModelName,
    OutText,
    Positive,
    Row,
    Save,
    Scheduler,
    Seed,
    Settings,
    Sheet,
    TableArgument,
    Target,
    Task,
    Time,
    Verbose,
    Workers,
)
from .spam import app as spam

# Plain help: drawing boxes would triple the time it takes to answer.
app = typer.Typer(
    name="rosenblatt",
    cls=PlainGroup,
    help="Classical machine learning that is fast, shows its work and proves its answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
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


def command(declared: Callable[..., None]) -> Callable[..., None]:
    """A command with the options that are declared; the function of its name in its file runs.

    How the table is read comes as one `Reading`.
    """

    @functools.wraps(declared)
    def run(**options: Any) -> None:
        from .tables import Reading

        taken = {name: options.pop(name) for name in ("format", "header", "sheet", "verbose")}
        options["reading"] = Reading(**taken)
        module = import_module(f".{declared.__name__}", __package__)
        raise typer.Exit(getattr(module, declared.__name__)(**options) or 0)

    return app.command()(plain_errors(run))


@command
def fit(
    table: TableArgument,
    model: ModelName,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The model file to write.", show_default=False)
    ],
    target: Target = None,
    settings: Settings = None,
    task: Task = None,
    clean_labels: CleanLabels = False,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    certificate: Annotated[bool, typer.Option(help="Prove what can be proved of the fit.")] = True,
    engine: Engine = None,
    workers: Workers = 2,
    scheduler: Scheduler = None,
    checkpoint: KeptIn = None,
) -> None:
    """Fit one model to all rows of a table, and keep it in a file.

    A folder, or a pattern such as 'data/*.parquet', may be larger than memory: it is fitted part by
    part, here or on many workers (--engine dask --workers 2, or --scheduler tcp://...).

    \b
    Example:
      rosenblatt fit iris --target species --model "logistic regression" --set C=10 -o iris.skops
    """


@command
def predict(
    model: ModelArgument,
    table: TableArgument,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="The file to write, CSV or .parquet; standard output if not given.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Put predictions beside the columns of the table.")
    ] = False,
    score: Annotated[
        bool,
        typer.Option("--score", help="Say how many are right; opens a test that `split` sealed."),
    ] = False,
    target: KnownTarget = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    large: Large = False,
) -> None:
    """Predict each row of a table, which may be larger than memory.

    \b
    Example:
      rosenblatt predict iris.skops iris --proba -o predictions.csv
    """


@command
def explain(
    model: ModelArgument,
    table: TableArgument,
    row: Row = 0,
    target: KnownTarget = None,
    out: OutText = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    large: Large = False,
) -> None:
    """Print what each column adds to what a model predicts for one row, the first unless named.

    \b
    Example:
      rosenblatt explain iris.skops iris --row 70
    """


@command
def certify(
    model: ModelArgument,
    table: TableArgument,
    tol: Annotated[
        float, typer.Option(help="How near the best possible counts as reached.")
    ] = 1e-4,
    target: KnownTarget = None,
    out: OutText = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    large: Large = False,
) -> None:
    """Derive again, from a table and a model's numbers, what the fit achieved.

    The exit code is 1 if a claim does not hold.

    \b
    Example:
      rosenblatt certify iris.skops iris
    """


@command
def trace(
    table: TableArgument,
    model: ModelName,
    out: Annotated[str, typer.Option("--out", "-o", help="The page to write.", show_default=False)],
    target: Target = None,
    settings: Settings = None,
    every: Annotated[str, typer.Option(help="What is a step: pass, update or visit.")] = "pass",
    task: Task = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
) -> None:
    """Fit one model step by step, and write a page that replays it.

    \b
    Example:
      rosenblatt trace iris --target species --model Perceptron --set max_iter=20 -o run.html
    """


@command
def split(
    table: TableArgument,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Classes that each part should have its share of."),
    ] = None,
    group: Group = None,
    time: Time = None,
    seed: Seed = 0,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="The folder; beside the table if not given.")
    ] = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write a table as three: to fit to, to choose by, and to test on once, under seal.

    \b
    Example:
      rosenblatt split iris --target species --seed 1 --out parts
    """


@app.command()
@plain_errors
def models(
    name: Annotated[
        str | None, typer.Argument(help="One model, to see all its parameters.")
    ] = None,
    out: OutText = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print the parameters of every model.")
    ] = False,
) -> None:
    """List the models, with their parameters and when to use which.

    \b
    Example:
      rosenblatt models "ridge regression"
    """
    from rosenblatt.workbench.model_catalogue import (
        families_named,
        model_text,
        models_text,
        named_families,
    )

    from .tables import printed_to

    if name is None and not verbose:
        texts = [models_text()]
    else:
        texts = list(map(model_text, named_families() if name is None else families_named(name)))
    with printed_to(out) as print_lines:
        print_lines("\n\n".join(texts))


@app.command()
def warm(jobs: Jobs = None) -> None:
    """Compile all loops now: no first call waits.

    \b
    Example:
      rosenblatt warm --jobs 2
    """
    from .warm import warm as run

    run(jobs)


@app.command()
@plain_errors
def compare(
    table: TableArgument,
    target: Target = None,
    task: Task = None,
    metric: Metric = None,
    positive: Positive = None,
    time: Time = None,
    groups: Group = None,
    families: Families = None,
    budget: Budget = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Try models of other libraries, for reference.")
    ] = False,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The page of the report.")
    ] = "report.html",
    save: Save = None,
    clean_labels: CleanLabels = False,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    seed: Seed = 0,
    ledger: Ledger = None,
) -> None:
    """Compare every family of models on one table, honestly.

    The exit code is 1 if no model could be fitted in the time.

    \b
    Example:
      rosenblatt compare iris --target species --out report.html
    """
    with Stages("Stopped before anything was tried; nothing was written.") as stages:
        from .compare import compare as run  # which takes a second
        from .tables import Reading

        code = run(
            table, target, Reading(format, header, sheet, verbose), stages=stages, out=out,
            save=save, task=task, metric=metric, positive=positive, time=time, groups=groups,
            families=families, budget=budget, peers=peers, random_state=seed, ledger=ledger,
            clean_labels=clean_labels,
        )  # fmt: skip
    raise typer.Exit(code)


@app.command()
@plain_errors
def cluster(
    table: TableArgument,
    k: Annotated[
        str | None, typer.Option("--k", help="How many clusters: 4, or 2-8 to try several.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Columns to leave out, such as labels that are known.")
    ] = None,
    budget: Budget = None,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The page of the report.")
    ] = "clusters.html",
    labels: Annotated[
        str | None, typer.Option(help="A CSV file for the rows with the cluster of each.")
    ] = None,
    save: Save = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    seed: Seed = 0,
) -> None:
    """Find groups of rows in one table, and say what makes them different.

    \b
    Example:
      rosenblatt cluster iris --out clusters.html --labels iris_clusters.csv
    """
    with Stages("Stopped before anything was tried; nothing was written.") as stages:
        from .cluster import cluster as run
        from .tables import Reading

        code = run(
            table, Reading(format, header, sheet, verbose), stages=stages, k=k, without=without,
            out=out, labels=labels, save=save, budget=budget, random_state=seed,
        )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def doctor() -> None:
    """Say what is here, and what is missing.

    \b
    Example:
      rosenblatt doctor
    """
    from .doctor import doctor as run

    raise typer.Exit(run())


app.add_typer(spam, name="spam")
