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
    help="Compare, fit, check and apply machine-learning models on tables.",
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
    """Compare, fit, check and apply machine-learning models on tables."""


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
        str, typer.Option("--out", "-o", help="Model file to write.", show_default=False)
    ],
    target: Target = None,
    settings: Settings = None,
    task: Task = None,
    clean_labels: CleanLabels = False,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    certificate: Annotated[bool, typer.Option(help="Certify the fit.")] = True,
    engine: Engine = None,
    workers: Workers = 2,
    scheduler: Scheduler = None,
    checkpoint: KeptIn = None,
) -> None:
    """Fit one model to a table and save it.

    A folder or a pattern such as 'data/*.parquet' may be larger than memory.

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
            help="Output file (.csv or .parquet); default: standard output.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the columns of the table in the output.")
    ] = False,
    score: Annotated[
        bool,
        typer.Option("--score", help="Print the score; recorded for a test set made by `split`."),
    ] = False,
    target: KnownTarget = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    large: Large = False,
) -> None:
    """Predict each row of a table with a saved model.

    The table may be larger than memory.

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
    """Print what each column contributes to one prediction.

    \b
    Example:
      rosenblatt explain iris.skops iris --row 70
    """


@command
def certify(
    model: ModelArgument,
    table: TableArgument,
    tol: Annotated[
        float, typer.Option(help="Relative optimality gap that counts as optimal.")
    ] = 1e-4,
    target: KnownTarget = None,
    out: OutText = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    large: Large = False,
) -> None:
    """Check a fitted model against its training table.

    The exit code is 1 if a claim does not hold.

    \b
    Example:
      rosenblatt certify iris.skops iris
    """


@command
def trace(
    table: TableArgument,
    model: ModelName,
    out: Annotated[
        str, typer.Option("--out", "-o", help="HTML file to write.", show_default=False)
    ],
    target: Target = None,
    settings: Settings = None,
    every: Annotated[str, typer.Option(help="Step to record: pass, update or visit.")] = "pass",
    task: Task = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
) -> None:
    """Fit one model and write a page that replays its steps.

    \b
    Example:
      rosenblatt trace iris --target species --model Perceptron --set max_iter=20 -o run.html
    """


@command
def split(
    table: TableArgument,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Target column, to stratify by."),
    ] = None,
    group: Group = None,
    time: Time = None,
    seed: Seed = 0,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Output folder; default: the table's folder.")
    ] = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Split a table into training, development and test files.

    \b
    Example:
      rosenblatt split iris --target species --seed 1 --out parts
    """


@app.command()
@plain_errors
def models(
    name: Annotated[str | None, typer.Argument(help="Model whose parameters to print.")] = None,
    out: OutText = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print the parameters of all models.")
    ] = False,
) -> None:
    """List the models, their parameters and when to use them.

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
@plain_errors
def warm(jobs: Jobs = None) -> None:
    """Compile all inner loops ahead of use.

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
        bool, typer.Option("--peers", help="Also compare models of scikit-learn and LightGBM.")
    ] = False,
    out: Annotated[str, typer.Option("--out", "-o", help="HTML report to write.")] = "report.html",
    save: Save = None,
    clean_labels: CleanLabels = False,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    seed: Seed = 0,
    ledger: Ledger = None,
) -> None:
    """Compare models on a table and write a report.

    The models are cross-validated on the training rows; the best one is scored on the test rows.

    The exit code is 1 if no model was fitted within the time limit.

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
        str | None,
        typer.Option("--k", help="Number of clusters, such as 4, or a range, such as 2-8."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Column to ignore, such as a known label.")
    ] = None,
    budget: Budget = None,
    out: Annotated[
        str, typer.Option("--out", "-o", help="HTML report to write.")
    ] = "clusters.html",
    labels: Annotated[
        str | None, typer.Option(help="CSV file to write, with the cluster of each row.")
    ] = None,
    save: Save = None,
    format: Format = None,
    header: Header = True,
    sheet: Sheet = None,
    verbose: Verbose = False,
    seed: Seed = 0,
) -> None:
    """Cluster the rows of a table and write a report.

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
@plain_errors
def doctor() -> None:
    """Print installed versions, cache state and missing extras.

    \b
    Example:
      rosenblatt doctor
    """
    from .doctor import doctor as run

    raise typer.Exit(run())


app.add_typer(spam, name="spam")
