"""Arguments and options that several commands share, or that take a few words to say."""

from typing import Annotated

import typer

from .errors import within

TableArgument = Annotated[
    str,
    typer.Argument(
        help="A file (CSV, TSV, Parquet, Arrow, JSON lines, LIBSVM, a spreadsheet), - for standard "
        "input, or one of iris, digits, wine, breast_cancer, diabetes.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    str,
    typer.Argument(
        help="A model file, as `rosenblatt fit`, `compare` and `cluster` write.", show_default=False
    ),
]
Row = Annotated[int, typer.Option("--row", help="Counted from 0.", callback=within(0))]
Jobs = Annotated[
    int | None,
    typer.Option(help="Processes to compile in; all cores if not given.", callback=within(1)),
]
Large = Annotated[
    bool,
    typer.Option(
        "--large", help="Load a model file that takes much more memory than its size says."
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        help="Seconds that it may take, 30 or more: below, the start alone may take longer.",
        callback=within(1),
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        help="Of all that is drawn at random: splits, samples and starts.",
        callback=within(0, 2**32 - 1),
    ),
]
Group = Annotated[
    str | None,
    typer.Option("--groups", "--group", help="A column whose equal values stay together."),
]
Time = Annotated[
    str | None,
    typer.Option(help="Dates or numbers to split by: what came last is tested on."),
]
Ledger = Annotated[
    str | None,
    typer.Option(
        help="Where the opening of the test set is recorded; among your own files if not given."
    ),
]
Header = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
]
Sheet = Annotated[
    str | None, typer.Option(help="The sheet of a spreadsheet, by name or number; or the first.")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print more.")]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="The column to be predicted; that of a LIBSVM file is called target, without a header "
        "columns are called column_0, column_1, ... Without it the columns are listed.",
        show_default=False,
    ),
]
KnownTarget = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="The column of the truth, if the model knows it by another name."
    ),
]
CleanLabels = Annotated[
    bool,
    typer.Option("--clean-labels", help="Merge labels that differ in case or blanks alone."),
]
Positive = Annotated[
    str | None,
    typer.Option(help="The label that f1, precision, recall and average_precision are of."),
]
OutText = Annotated[
    str | None,
    typer.Option("--out", "-o", help="A file for what is printed; standard output if not given."),
]
ModelName = Annotated[
    str,
    typer.Option("--model", "-m", help="A name or class that `models` lists.", show_default=False),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Parameters, such as alpha=0.1 or C=1,tol=0.01."),
]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--families",
        "--family",
        "--models",
        help="Those to be tried, by name, class or short name (rf, xgboost, lda, nb, logreg), with "
        "commas between them or one at a time; all that suit if not given.",
    ),
]
Metric = Annotated[
    str | None, typer.Option(help="A scorer of scikit-learn; accuracy or r2 if not given.")
]
Save = Annotated[
    str | None, typer.Option(help="A file for the chosen model, which `predict` reads.")
]
Task = Annotated[
    str | None,
    typer.Option(help="classification or regression; told from the target if not given."),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="csv, tsv, parquet, arrow, jsonl, libsvm, xlsx or ods; by its name if not given."
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Fit part by part, in bounded memory: here, on processes, or on dask (a cluster on "
        "this machine). A folder or a pattern such as 'data/*.parquet' is fitted here if not given."
    ),
]
Workers = Annotated[
    int, typer.Option(help="Processes of --engine processes or dask.", callback=within(1))
]
Scheduler = Annotated[
    str | None, typer.Option(help="A Dask scheduler to fit on, such as tcp://10.0.0.1:8786.")
]
KeptIn = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        help="A folder for what a long fit has done so far; started again, it goes on from there.",
    ),
]
