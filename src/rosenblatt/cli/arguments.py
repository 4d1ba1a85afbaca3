"""The command line: every command with its options.

The modules of the commands are imported when they run, so that `--help` answers at once.
"""

import argparse
import difflib
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

TABLES = (
    "Table file (CSV, TSV, Parquet, Arrow, JSON lines, LIBSVM, xlsx, ods), - for standard input, "
    "or iris, digits, wine, breast_cancer, diabetes."
)
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl", "libsvm", "xlsx", "ods")
NOTHING_WRITTEN = "Stopped before the first fit; nothing was written."


class UsageError(ValueError):
    """A command line that cannot be parsed."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Plain help: the value of an option is named once."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        names = ", ".join(action.option_strings)
        if not names or action.nargs == 0:
            return names or super()._format_action_invocation(action)
        return f"{names} {self._format_args(action, action.dest.upper())}"


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` with one sentence, and prints plain help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            allow_abbrev=False, add_help=False, formatter_class=HelpFormatter, **settings
        )
        self.add_argument("-h", "--help", action="help", help="Print this help.")

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"^argument (.+?): ", r"\1 ", message)
        message = message.replace("the following arguments are required", "missing arguments")
        if one := re.match("one of the arguments (.+) is required", message):
            message = f"give {' or '.join(one[1].split())}"
        end = "" if message.endswith("?") else "."
        more = "" if "; got " in message else f" See {self.prog} --help."
        raise UsageError(f"{message[:1].upper()}{message[1:]}{end}{more}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and report an unknown option with the name of the command that lacks it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = difflib.get_close_matches(unknown[0], self._option_string_actions, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            kind = "No such option" if unknown[0].startswith("-") else "Unexpected argument"
            self.error(f"{kind}: {unknown[0]}{hint}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            near = difflib.get_close_matches(str(value), action.choices, 1)
            self.error(
                f"No such command {value!r}" + (f"; did you mean {near[0]!r}?" if near else "")
            )
        super()._check_value(action, value)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command; without a command print the help and end the process."""
    parser, spam = _parser()
    arguments = parser.parse_args(words)
    for name, parent in (("command", parser), ("subcommand", spam)):
        if getattr(arguments, name, "") is None:
            parent.print_help()
            parent.exit()
    return arguments


def _parser() -> tuple[Parser, Parser]:
    """Return the parser of all commands and the parser of `rosenblatt spam`."""
    parser = Parser(
        prog="rosenblatt",
        usage="rosenblatt COMMAND [options]",
        description="Compare, fit, check and apply machine-learning models on tables.",
    )
    parser.add_argument("--version", action=_PrintVersion, help="Print the version.")
    parser.add_argument(
        "--print-completion",
        action=_PrintCompletion,
        choices=("bash", "zsh", "tcsh"),
        help="Print a completion script for a shell.",
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=Parser, prog="rosenblatt"
    )
    _add_compare(commands)
    _add_cluster(commands)
    _add_fit(commands)
    _add_predict(commands)
    _add_explain(commands)
    _add_certify(commands)
    _add_trace(commands)
    _add_split(commands)
    _add_others(commands)
    return parser, _add_spam(commands)


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


# Types of values.


def number(
    least: float, most: float = math.inf, *, kind: type[int] | type[float] = int
) -> Callable[[str], Any]:
    """Return a function that reads a number between two bounds."""
    wanted = f"at least {least}" if most == math.inf else f"from {least} to {most}"
    name = "a whole number" if kind is int else "a number"

    def read(word: str) -> Any:
        try:
            value = kind(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {name}; got {word!r}") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be {wanted}; got {word}")
        return value

    return read


def any_number(word: str) -> float:
    """Read a number."""
    value: float = number(-math.inf, kind=float)(word)
    return value


def one_of(*words: str) -> Callable[[str], str]:
    """Return a function that accepts only the given words."""

    def read(word: str) -> str:
        if word not in words:
            wanted = f"{', '.join(words[:-1])} or {words[-1]}"
            raise argparse.ArgumentTypeError(f"must be {wanted}; got {word!r}")
        return word

    return read


# Groups of options that several commands share.


def _command(
    commands: Any,
    name: str,
    help: str,
    values: str = "",
    *,
    more: str = "",
    example: str = "",
    module: str | None = None,
    function: str = "run",
    if_stopped: str = "Stopped.",
) -> Parser:
    """Add a command: `function` of `cli/<module>.py` gets the parsed arguments."""
    parser: Parser = commands.add_parser(
        name,
        help=help,
        usage=f"{commands._prog_prefix} {name} [options] {values}".rstrip(),
        description="\n\n".join(filter(None, (help, more))),
        epilog=f"example:\n  {example}" if example else None,
    )
    parser.set_defaults(module=module or name, function=function, if_stopped=if_stopped)
    parser.add_argument("--debug", action="store_true", help="Print the traceback of an error.")
    return parser


def _add_table(parser: Parser) -> None:
    """Add the table and the options for reading it."""
    parser.add_argument("table", help=TABLES)
    add = parser.add_argument_group("reading the table").add_argument
    add("--format", type=one_of(*FORMATS),
        help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}; default: by file name.")  # fmt: skip
    add("--header", action=argparse.BooleanOptionalAction, default=True,
        help="The first line has the column names (default).")  # fmt: skip
    add("--sheet", help="Sheet name or number; default: the first.")
    add("-v", "--verbose", action="store_true", help="Print details.")


def _add_saved_model(parser: Parser) -> None:
    """Add a model file, the table to apply it to, and the name of the target there."""
    parser.add_argument("model", help="Model file written by fit, compare or cluster.")
    _add_table(parser)
    add = parser.add_argument
    add("-t", "--target", metavar="COLUMN",
        help="Target column, if its name differs from the model's.")  # fmt: skip
    add("--large", action="store_true",
        help="Load a model file even if it is unusually large when unpacked.")  # fmt: skip


def _add_target(parser: Parser) -> None:
    parser.add_argument(
        "-t", "--target", metavar="COLUMN", help="Target column; omit it to list the columns."
    )
    parser.add_argument("--task", help="classification or regression; default: inferred.")


def _add_model_name(parser: Parser) -> None:
    add = parser.add_argument
    add("-m", "--model", required=True, metavar="NAME", help="Model name; see `rosenblatt models`.")
    add("--set", dest="settings", action="append", metavar="NAME=VALUE",
        help="Model parameters, such as C=1,tol=0.01.")  # fmt: skip


def _add_clean_labels(parser: Parser) -> None:
    parser.add_argument(
        "--clean-labels", action="store_true", help="Merge labels that differ in case or spaces."
    )


def _add_order(parser: Parser) -> None:
    """Add the columns that decide which rows are test rows."""
    add = parser.add_argument
    add("--time", metavar="COLUMN", help="Time column: the latest rows become the test set.")
    add("--groups", "--group", metavar="COLUMN",
        help="Group column: rows of a group stay in one part.")  # fmt: skip
    _add_seed(parser)


def _add_seed(parser: Parser) -> None:
    parser.add_argument(
        "--seed", type=number(0, 2**32 - 1), default=0, help="Random seed; default: 0."
    )


def _add_budget(parser: Parser) -> None:
    parser.add_argument(
        "--budget",
        type=number(1, kind=float),
        metavar="SECONDS",
        help="Time limit in seconds; 30 or more is recommended.",
    )


def _add_save(parser: Parser) -> None:
    parser.add_argument("--save", metavar="FILE", help="Model file to write, for `predict`.")


def _add_out_text(parser: Parser) -> None:
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="Output file; default: standard output."
    )


# The commands.


def _add_compare(commands: Any) -> None:
    parser = _command(
        commands,
        "compare",
        "Compare models on a table and write a report.",
        "table",
        more="The models are cross-validated on the training rows; the best one is scored on the\n"
        "test rows. The exit code is 1 if no model was fitted within the time limit.",
        example="rosenblatt compare iris --target species --out report.html",
        if_stopped=NOTHING_WRITTEN,
    )
    _add_table(parser)
    _add_target(parser)
    add = parser.add_argument
    add("--metric", help="scikit-learn metric; default: accuracy or r2.")
    add("--positive", metavar="CLASS",
        help="Positive class of metrics such as f1, precision and recall.")  # fmt: skip
    _add_order(parser)
    add("--families", "--family", "--models", dest="families", action="append", metavar="NAMES",
        help="Models to compare, separated by commas, such as rf,lda,logreg; "
        "default: all.")  # fmt: skip
    _add_budget(parser)
    add("--peers", action="store_true", help="Also compare models of scikit-learn and LightGBM.")
    add("-o", "--out", metavar="FILE", default="report.html",
        help="HTML report to write; default: %(default)s.")  # fmt: skip
    _add_save(parser)
    _add_clean_labels(parser)
    add("--ledger", metavar="FILE", help="File that records each evaluation on the test set.")


def _add_cluster(commands: Any) -> None:
    parser = _command(
        commands,
        "cluster",
        "Cluster the rows of a table and write a report.",
        "table",
        example="rosenblatt cluster iris --out clusters.html --labels iris_clusters.csv",
        if_stopped=NOTHING_WRITTEN,
    )
    _add_table(parser)
    add = parser.add_argument
    add("--k", help="Number of clusters, such as 4, or a range, such as 2-8.")
    add("--without", action="append", metavar="COLUMN",
        help="Column to ignore, such as a known label.")  # fmt: skip
    _add_budget(parser)
    _add_seed(parser)
    add("-o", "--out", metavar="FILE", default="clusters.html",
        help="HTML report to write; default: %(default)s.")  # fmt: skip
    add("--labels", metavar="FILE", help="CSV file to write, with the cluster of each row.")
    _add_save(parser)


def _add_fit(commands: Any) -> None:
    parser = _command(
        commands,
        "fit",
        "Fit one model to a table and save it.",
        "table",
        more="A folder or a pattern such as 'data/*.parquet' may be larger than memory.",
        example='rosenblatt fit iris --target species --model "logistic regression" --set C=10 '
        "-o iris.skops",
    )
    _add_table(parser)
    _add_model_name(parser)
    add = parser.add_argument
    add("-o", "--out", metavar="FILE", required=True, help="Model file to write.")
    _add_target(parser)
    _add_clean_labels(parser)
    add("--certificate", action=argparse.BooleanOptionalAction, default=True,
        help="Certify the fit (default).")  # fmt: skip
    add = parser.add_argument_group("data larger than memory").add_argument
    add("--engine", type=one_of("here", "processes", "dask"),
        help="Fit in parts with bounded memory: here, processes or dask.")  # fmt: skip
    add("--workers", type=number(1), default=2, metavar="N",
        help="Number of processes for --engine processes or dask; default: 2.")  # fmt: skip
    add("--scheduler", metavar="ADDRESS",
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786.")  # fmt: skip
    add("--checkpoint", metavar="FOLDER",
        help="Folder for checkpoints; a repeated command resumes from the last one.")  # fmt: skip


def _add_predict(commands: Any) -> None:
    parser = _command(
        commands,
        "predict",
        "Predict each row of a table with a saved model.",
        "model table",
        more="The table may be larger than memory.",
        example="rosenblatt predict iris.skops iris --proba -o predictions.csv",
    )
    _add_saved_model(parser)
    add = parser.add_argument
    add("-o", "--out", metavar="FILE",
        help="Output file (.csv or .parquet); default: standard output.")  # fmt: skip
    add("--proba", action="store_true", help="Add the probability of each class.")
    add("--keep", action="store_true", help="Keep the columns of the table in the output.")
    add("--score", action="store_true",
        help="Print the score; evaluations on a test set of `split` are recorded.")  # fmt: skip


def _add_explain(commands: Any) -> None:
    parser = _command(
        commands,
        "explain",
        "Print what each column contributes to one prediction.",
        "model table",
        example="rosenblatt explain iris.skops iris --row 70",
    )
    _add_saved_model(parser)
    parser.add_argument(
        "--row", type=number(0), default=0, help="Row number, starting at 0; default: 0."
    )
    _add_out_text(parser)


def _add_certify(commands: Any) -> None:
    parser = _command(
        commands,
        "certify",
        "Check a fitted model against its training table.",
        "model table",
        more="The exit code is 1 if a claim does not hold.",
        example="rosenblatt certify iris.skops iris",
    )
    _add_saved_model(parser)
    parser.add_argument(
        "--tol",
        type=number(0, kind=float),
        default=1e-4,
        help="Relative optimality gap that counts as optimal; default: 0.0001.",
    )
    _add_out_text(parser)


def _add_trace(commands: Any) -> None:
    parser = _command(
        commands,
        "trace",
        "Fit one model and write a page that replays its steps.",
        "table",
        example="rosenblatt trace iris --target species --model Perceptron --set max_iter=20 "
        "-o run.html",
    )
    _add_table(parser)
    _add_model_name(parser)
    add = parser.add_argument
    add("-o", "--out", metavar="FILE", required=True, help="HTML file to write.")
    _add_target(parser)
    add("--every", type=one_of("pass", "update", "visit"), default="pass",
        help="Step to record: pass (default), update or visit.")  # fmt: skip


def _add_split(commands: Any) -> None:
    parser = _command(
        commands,
        "split",
        "Split a table into training, development and test files.",
        "table",
        example="rosenblatt split iris --target species --seed 1 --out parts",
    )
    _add_table(parser)
    add = parser.add_argument
    add("-t", "--target", metavar="COLUMN", help="Target column, to stratify by.")
    _add_order(parser)
    add("-o", "--out", metavar="FOLDER", help="Output folder; default: the table's folder.")
    add("--force", action="store_true", help="Overwrite existing files.")


def _add_others(commands: Any) -> None:
    parser = _command(
        commands,
        "models",
        "List the models, their parameters and when to use them.",
        "[name]",
        example='rosenblatt models "ridge regression"',
    )
    parser.add_argument("name", nargs="?", help="Model whose parameters to print.")
    _add_out_text(parser)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="Print the parameters of all models."
    )
    parser = _command(
        commands,
        "warm",
        "Compile all inner loops in advance.",
        example="rosenblatt warm --jobs 2",
    )
    parser.add_argument(
        "--jobs", type=number(1), metavar="N", help="Number of processes; default: all cores."
    )
    _command(
        commands,
        "doctor",
        "Print installed versions, cache state and missing extras.",
        example="rosenblatt doctor",
    )


def _add_spam(commands: Any) -> Parser:
    """Add `rosenblatt spam` with its subcommands; return its parser."""
    help = "Train and run a spam filter for e-mail."
    usage = "rosenblatt spam [--store FILE] COMMAND [options]"
    spam: Parser = commands.add_parser("spam", help=help, description=help, usage=usage)
    spam.add_argument("--store", metavar="FILE", help="Database; default: in your data folder.")
    parts = spam.add_subparsers(
        title="commands", metavar="COMMAND", dest="subcommand", parser_class=Parser,
        prog="rosenblatt spam",
    )  # fmt: skip

    def command(name: str, help: str, values: str = "", **settings: Any) -> Parser:
        function = f"run_{name}"
        return _command(parts, name, help, values, module="spam", function=function, **settings)

    learn = command(
        "learn",
        "Learn from mbox files, Maildirs, folders or messages.",
        example="rosenblatt spam learn --ham Mail/inbox --spam Mail/junk.mbox",
    )
    _add_mail(learn)
    learn.add_argument(
        "--history",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="Store the counts of each message, so that `forget --digest` can remove it (default).",
    )

    classify = command(
        "classify",
        "Classify messages as ham, spam or unsure.",
        "[path ...]",
        more="Exit code for one message: 0 for ham, 1 for spam, 3 for unsure, 2 for an error. With"
        "\n--filter the exit code is always 0 and the message is always written.",
        example="rosenblatt spam classify Mail/inbox\n"
        "  rosenblatt spam classify --filter < message > judged",
    )
    add = classify.add_argument
    add("paths", nargs="*", help="Files or folders; default: standard input.")
    add("--format", type=one_of("text", "jsonl"), default="text",
        help="text, or jsonl with one object per message.")  # fmt: skip
    add("--filter", action="store_true",
        help="Copy one message to standard output and add X-Rosenblatt headers.")  # fmt: skip
    add("--tempfail", action="store_true", help="With --filter: exit 75 if anything fails.")
    _add_scoring_model(classify)
    add("--spam-above", type=any_number,
        help="Lowest probability of spam; default: 0.55, with other models 0.9.")  # fmt: skip
    add("--ham-below", type=any_number,
        help="Highest probability of ham; default: 0.4, with other models 0.1.")  # fmt: skip

    explain = command(
        "explain", "Print the tokens with the largest weights for one message.", "[message]"
    )
    _add_message(explain)
    _add_scoring_model(explain)
    explain.add_argument(
        "--most", type=number(0), default=20, help="Number of tokens to print; default: 20."
    )

    correct = command(
        "correct", "Learn a message again with the label --ham or --spam.", "[message]"
    )
    _add_message(correct)
    label = correct.add_mutually_exclusive_group(required=True)
    for name in ("ham", "spam"):
        label.add_argument(
            f"--{name}", dest="label", action="store_const", const=name, help=f"It is {name}."
        )

    forget = command("forget", "Remove a learned message.", "[message]")
    _add_message(forget)
    forget.add_argument("--digest", help="Digest of the message, instead of the message.")

    command("status", "Print the number of learned messages and tokens.")
    export = command("export", "Export the database as JSON lines.")
    export.add_argument(
        "-o", "--out", metavar="FILE", default="-", help="Output file; default: standard output."
    )
    load = command("import", "Add an exported database to this one.", "[file]")
    load.add_argument(
        "file", nargs="?", default="-", help="File written by `export`; - for standard input."
    )

    evaluate = command(
        "evaluate",
        "Evaluate the filter on held-out messages.",
        more="Without --ham and --spam, the messages of the database are used.",
    )
    _add_mail(evaluate)
    evaluate.add_argument(
        "--protocol",
        default="time",
        help="time: test on later messages (default); folds: ten random folds.",
    )
    _add_scoring_model(evaluate)
    evaluate.add_argument("-o", "--out", metavar="FILE", help="HTML report to write.")

    serve = command("serve", "Serve the filter on a Unix socket or a local HTTP port.")
    place = serve.add_mutually_exclusive_group(required=True)
    place.add_argument("--socket", metavar="PATH", help="Unix socket to listen on.")
    place.add_argument("--port", type=number(0, 65535), help="Port on 127.0.0.1 to listen on.")
    serve.add_argument(
        "--token-file",
        metavar="FILE",
        help="File with the token required for changes; created if missing.",
    )
    _add_scoring_model(serve)
    return spam


def _add_mail(parser: Parser) -> None:
    add = parser.add_argument
    add("--ham", action="append", metavar="PATH", default=[], help="Legitimate mail.")
    add("--spam", action="append", metavar="PATH", default=[], help="Spam.")
    add("--table", action="append", metavar="PATH", default=[],
        help="CSV or TSV file with a text and a label in each row.")  # fmt: skip


def _add_message(parser: Parser) -> None:
    parser.add_argument(
        "message", nargs="?", default="-", help="Message file; default: - for standard input."
    )


def _add_scoring_model(parser: Parser) -> None:
    parser.add_argument(
        "-m",
        "--model",
        default="chi-square",
        help="Scoring model; default: chi-square. See docs/spam.md.",
    )
