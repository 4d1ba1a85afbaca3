"""Arguments and options shared by several commands."""

from typing import Annotated

import typer

from .errors import within

TableArgument = Annotated[
    str,
    typer.Argument(
        help="Table file (CSV, TSV, Parquet, Arrow, JSON lines, LIBSVM, xlsx, ods), - for standard "
        "input, or iris, digits, wine, breast_cancer, diabetes.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    str,
    typer.Argument(help="Model file written by fit, compare or cluster.", show_default=False),
]
Row = Annotated[int, typer.Option("--row", help="Row number, starting at 0.", callback=within(0))]
Jobs = Annotated[
    int | None,
    typer.Option(help="Number of processes; default: all cores.", callback=within(1)),
]
Large = Annotated[
    bool,
    typer.Option("--large", help="Load files that expand to much more memory."),
]
Budget = Annotated[
    float | None,
    typer.Option(help="Time limit in seconds (30 or more).", callback=within(1)),
]
Seed = Annotated[
    int,
    typer.Option(help="Random seed.", callback=within(0, 2**32 - 1)),
]
Group = Annotated[
    str | None,
    typer.Option("--groups", "--group", help="Group column: rows of a group stay in one part."),
]
Time = Annotated[
    str | None,
    typer.Option(help="Time column: the latest rows become the test set."),
]
Ledger = Annotated[
    str | None,
    typer.Option(help="File that records each evaluation on the test set."),
]
Header = Annotated[
    bool, typer.Option("--header/--no-header", help="The first line has the column names.")
]
Sheet = Annotated[str | None, typer.Option(help="Sheet name or number; default: the first.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print details.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Target column; omit it to list the columns.",
        show_default=False,
    ),
]
KnownTarget = Annotated[
    str | None,
    typer.Option("--target", "-t", help="Target column, if its name differs from the model's."),
]
CleanLabels = Annotated[
    bool,
    typer.Option("--clean-labels", help="Merge labels that differ in case or spaces."),
]
Positive = Annotated[
    str | None,
    typer.Option(help="Positive class for f1, precision, recall and average_precision."),
]
OutText = Annotated[
    str | None,
    typer.Option("--out", "-o", help="Output file; default: standard output."),
]
ModelName = Annotated[
    str,
    typer.Option("--model", "-m", help="Model name; see `rosenblatt models`.", show_default=False),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Model parameters, such as C=1,tol=0.01."),
]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--families",
        "--family",
        "--models",
        help="Models to compare, separated by commas, such as rf,lda,logreg; default: all.",
    ),
]
Metric = Annotated[str | None, typer.Option(help="scikit-learn metric; default: accuracy or r2.")]
Save = Annotated[str | None, typer.Option(help="Model file to write, for `predict`.")]
Task = Annotated[
    str | None,
    typer.Option(help="classification or regression; default: inferred."),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="csv, tsv, parquet, arrow, jsonl, libsvm, xlsx or ods; default: by file name."
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(help="Fit in parts with bounded memory: here, processes or dask."),
]
Workers = Annotated[
    int,
    typer.Option(help="Number of processes for --engine processes or dask.", callback=within(1)),
]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
]
KeptIn = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        help="Folder for checkpoints; a repeated command resumes from the last one.",
    ),
]
