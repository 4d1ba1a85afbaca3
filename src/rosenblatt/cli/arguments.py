"""The commands and their options.

The modules of the commands take a second to import, so they are imported when they run.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from . import spam
from .parser import (
    TOGGLE,
    Parser,
    add,
    add_command,
    number,
    one_of,
)

TABLES = (
    "Table file (CSV, TSV, Parquet, Arrow, JSON lines, LIBSVM, xlsx, ods), - for standard input, "
    "or iris, digits, wine, breast_cancer, diabetes."
)
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl", "libsvm", "xlsx", "ods")
NOTHING_WRITTEN = "Stopped before the first fit; nothing was written."


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command; without a command print the help and end the process."""
    parser = Parser(
        prog="rosenblatt",
        usage="rosenblatt COMMAND [options]",
        description="Compare, fit, check and apply machine-learning models on tables.",
    )
    add(parser, "--version", "Print the version.", action=_PrintVersion)
    add(parser, "--print-completion", "Print a completion script for a shell.",
        action=_PrintCompletion, choices=("bash", "zsh", "tcsh"))  # fmt: skip
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=Parser, prog="rosenblatt"
    )
    for declare in (
        _compare, _cluster, _fit, _predict, _explain, _certify, _trace, _split, _models, _warm,
        _doctor,
    ):  # fmt: skip
        declare(commands)
    spam_parser = spam.add_arguments(commands)
    arguments = parser.parse_args(words)
    for name, parent in (("command", parser), ("subcommand", spam_parser)):
        if getattr(arguments, name, "") is None:
            parent.print_help()
            parent.exit()
    return arguments


class _PrintVersion(argparse.Action):
    """Print the version and exit."""

    def __init__(self, option_strings: Any, dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: Any, *_: Any) -> None:
        from rosenblatt import __version__

        print(f"rosenblatt {__version__}")
        parser.exit()


class _PrintCompletion(argparse.Action):
    """Print a completion script and exit."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        import shtab

        print(shtab.complete(parser, shell=values))
        parser.exit()


# Options of several commands.


def _table(parser: Parser) -> None:
    """Add the table and the options for reading it."""
    add(parser, "table", TABLES)
    group = parser.add_argument_group("reading the table")
    listed = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    add(group, "--format FORMAT", f"{listed}; default: by file name.", type=one_of(*FORMATS))
    add(group, "--header", "The first line has the column names (default).", **TOGGLE)
    add(group, "--sheet SHEET", "Sheet name or number; default: the first.")
    add(group, "-v --verbose", "Print details.")


def _saved_model(parser: Parser) -> None:
    """Add a model file, the table to apply it to, and the name of the target there."""
    add(parser, "model", "Model file written by fit, compare or cluster.")
    _table(parser)
    add(parser, "-t --target COLUMN", "Target column, if its name differs from the model's.")
    add(parser, "--large", "Load a model file even if it is unusually large when unpacked.")


def _target(parser: Parser) -> None:
    add(parser, "-t --target COLUMN", "Target column; omit it to list the columns.")
    add(parser, "--task TASK", "classification or regression; default: inferred.")


def _model_name(parser: Parser) -> None:
    add(parser, "-m --model NAME", "Model name; see `rosenblatt models`.", required=True)
    add(parser, "--set NAME=VALUE", "Model parameters, such as C=1,tol=0.01.",
        dest="settings", action="append")  # fmt: skip


def _clean_labels(parser: Parser) -> None:
    add(parser, "--clean-labels", "Merge labels that differ in case or spaces.")


def _order(parser: Parser) -> None:
    """Add the columns that decide which rows are test rows."""
    add(parser, "--time COLUMN", "Time column: the latest rows become the test set.")
    add(parser, "--groups --group COLUMN", "Group column: rows of a group stay in one part.")
    _seed(parser)


def _seed(parser: Parser) -> None:
    add(parser, "--seed SEED", "Random seed; default: 0.", type=number(0, 2**32 - 1), default=0)


def _budget(parser: Parser) -> None:
    add(parser, "--budget SECONDS", "Time limit in seconds; 30 or more is recommended.",
        type=number(1, kind=float))  # fmt: skip


def _save(parser: Parser) -> None:
    add(parser, "--save FILE", "Model file to write, for `predict`.")


def _report(parser: Parser, default: str) -> None:
    add(parser, "-o --out FILE", "HTML report to write; default: %(default)s.", default=default)


def _out_text(parser: Parser) -> None:
    add(parser, "-o --out FILE", "Output file; default: standard output.")


# The commands.


def _compare(commands: Any) -> None:
    parser = add_command(
        commands,
        "compare",
        "Compare models on a table and write a report.",
        "table",
        more="The models are cross-validated on the training rows; the best one is scored on the\n"
        "test rows. The exit code is 1 if no model was fitted within the time limit.",
        example="rosenblatt compare iris --target species --out report.html",
        if_stopped=NOTHING_WRITTEN,
    )
    _table(parser)
    _target(parser)
    add(parser, "--metric METRIC", "scikit-learn metric; default: accuracy or r2.")
    add(parser, "--positive CLASS",
        "Positive class of metrics such as f1, precision and recall.")  # fmt: skip
    _order(parser)
    add(parser, "--families --family --models NAMES",
        "Models to compare, separated by commas, such as rf,lda,logreg; default: all.",
        dest="families", action="append")  # fmt: skip
    _budget(parser)
    add(parser, "--peers", "Also compare models of scikit-learn and LightGBM.")
    _report(parser, "report.html")
    _save(parser)
    _clean_labels(parser)
    add(parser, "--ledger FILE", "File that records each evaluation on the test set.")


def _cluster(commands: Any) -> None:
    parser = add_command(
        commands,
        "cluster",
        "Cluster the rows of a table and write a report.",
        "table",
        example="rosenblatt cluster iris --out clusters.html --labels iris_clusters.csv",
        if_stopped=NOTHING_WRITTEN,
    )
    _table(parser)
    add(parser, "--k K", "Number of clusters, such as 4, or a range, such as 2-8.")
    add(parser, "--without COLUMN", "Column to ignore, such as a known label.", action="append")
    _budget(parser)
    _seed(parser)
    _report(parser, "clusters.html")
    add(parser, "--labels FILE", "CSV file to write, with the cluster of each row.")
    _save(parser)


def _fit(commands: Any) -> None:
    parser = add_command(
        commands,
        "fit",
        "Fit one model to a table and save it.",
        "table",
        more="A folder or a pattern such as 'data/*.parquet' may be larger than memory.",
        example='rosenblatt fit iris --target species --model "logistic regression" --set C=10 '
        "-o iris.skops",
    )
    _table(parser)
    _model_name(parser)
    add(parser, "-o --out FILE", "Model file to write.", required=True)
    _target(parser)
    _clean_labels(parser)
    add(parser, "--certificate", "Certify the fit (default).", **TOGGLE)
    group = parser.add_argument_group("data larger than memory")
    add(group, "--engine ENGINE", "Fit in parts with bounded memory: here, processes or dask.",
        type=one_of("here", "processes", "dask"))  # fmt: skip
    add(group, "--workers N",
        "Number of processes for --engine processes or dask; default: 2.",
        type=number(1), default=2)  # fmt: skip
    add(group, "--scheduler ADDRESS",
        "Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")  # fmt: skip
    add(group, "--checkpoint FOLDER",
        "Folder for checkpoints; a repeated command resumes from the last one.")  # fmt: skip


def _predict(commands: Any) -> None:
    parser = add_command(
        commands,
        "predict",
        "Predict each row of a table with a saved model.",
        "model table",
        more="The table may be larger than memory.",
        example="rosenblatt predict iris.skops iris --proba -o predictions.csv",
    )
    _saved_model(parser)
    add(parser, "-o --out FILE", "Output file (.csv or .parquet); default: standard output.")
    add(parser, "--proba", "Add the probability of each class.")
    add(parser, "--keep", "Keep the columns of the table in the output.")
    add(parser, "--score",
        "Print the score; evaluations on a test set of `split` are recorded.")  # fmt: skip


def _explain(commands: Any) -> None:
    parser = add_command(
        commands,
        "explain",
        "Print what each column contributes to one prediction.",
        "model table",
        example="rosenblatt explain iris.skops iris --row 70",
    )
    _saved_model(parser)
    add(parser, "--row ROW", "Row number, starting at 0; default: 0.", type=number(0), default=0)
    _out_text(parser)


def _certify(commands: Any) -> None:
    parser = add_command(
        commands,
        "certify",
        "Check a fitted model against its training table.",
        "model table",
        more="The exit code is 1 if a claim does not hold.",
        example="rosenblatt certify iris.skops iris",
    )
    _saved_model(parser)
    add(parser, "--tol TOL", "Relative optimality gap that counts as optimal; default: 0.0001.",
        type=number(0, kind=float), default=1e-4)  # fmt: skip
    _out_text(parser)


def _trace(commands: Any) -> None:
    parser = add_command(
        commands,
        "trace",
        "Fit one model and write a page that replays its steps.",
        "table",
        example="rosenblatt trace iris --target species --model Perceptron --set max_iter=20 "
        "-o run.html",
    )
    _table(parser)
    _model_name(parser)
    add(parser, "-o --out FILE", "HTML file to write.", required=True)
    _target(parser)
    add(parser, "--every EVERY", "Step to record: pass (default), update or visit.",
        type=one_of("pass", "update", "visit"), default="pass")  # fmt: skip


def _split(commands: Any) -> None:
    parser = add_command(
        commands,
        "split",
        "Split a table into training, development and test files.",
        "table",
        example="rosenblatt split iris --target species --seed 1 --out parts",
    )
    _table(parser)
    add(parser, "-t --target COLUMN", "Target column, to stratify by.")
    _order(parser)
    add(parser, "-o --out FOLDER", "Output folder; default: the table's folder.")
    add(parser, "--force", "Overwrite existing files.")


def _models(commands: Any) -> None:
    help = "List the models, their parameters and when to use them."
    example = 'rosenblatt models "ridge regression"'
    parser = add_command(commands, "models", help, "[name]", example=example)
    add(parser, "name", "Model whose parameters to print.", nargs="?")
    _out_text(parser)
    add(parser, "-v --verbose", "Print the parameters of all models.")


def _warm(commands: Any) -> None:
    help = "Compile all inner loops in advance."
    parser = add_command(commands, "warm", help, example="rosenblatt warm --jobs 2")
    add(parser, "--jobs N", "Number of processes; default: all cores.", type=number(1))


def _doctor(commands: Any) -> None:
    help = "Print installed versions, cache state and missing extras."
    add_command(commands, "doctor", help, example="rosenblatt doctor")
