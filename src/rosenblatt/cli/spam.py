"""`rosenblatt spam`: learn from mail, judge it, and say why.

What judges one message imports neither NumPy nor anything that does.
"""

import sys
from typing import Annotated, Any

import typer

from .errors import PlainGroup, plain_errors, refusal
from .mail import judge_mail, learn_mail, watched
from .sentences import on_one_line, print_line, print_note, print_text

app = typer.Typer(
    cls=PlainGroup,
    help="Train and run a spam filter for e-mail.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
StoreOption = Annotated[
    str | None,
    typer.Option(help="Database of the filter; default: in your data folder."),
]
ModelOption = Annotated[str, typer.Option("--model", "-m", help="Scoring model; see docs/spam.md.")]
OTHERS = "with other models"
Above = Annotated[
    float | None,
    typer.Option("--spam-above", help=f"Lowest probability of spam; default: 0.55, {OTHERS} 0.9."),
]
Below = Annotated[
    float | None,
    typer.Option("--ham-below", help=f"Highest probability of ham; default: 0.4, {OTHERS} 0.1."),
]
Label = Annotated[bool | None, typer.Option("--spam/--ham", help="Correct label of the message.")]
MessageArgument = Annotated[str, typer.Argument(help="Message file, or - for standard input.")]


@app.callback()
def store_of(context: typer.Context, store: StoreOption = None) -> None:
    """Train and run a spam filter for e-mail."""
    context.obj = store


def command(function: Any) -> Any:
    """A sub-command whose errors are sentences."""
    return app.command(function.__name__.replace("_", "-").rstrip("-"))(plain_errors(function))


def _open(context: typer.Context, **options: Any) -> Any:
    from rosenblatt.spam import SpamFilter

    return SpamFilter(context.obj, **options)


def _one(path: str) -> bytes:
    """The one message of a file."""
    from rosenblatt.spam import mails

    found = list(mails(path))
    if len(found) != 1:
        raise ValueError(f"{path} holds {len(found)} messages; this command takes one.")
    return found[0].raw


@command
def learn(
    context: typer.Context,
    ham: Annotated[list[str] | None, typer.Option(help="Legitimate mail.")] = None,
    spam: Annotated[list[str] | None, typer.Option(help="Spam.")] = None,
    table: Annotated[
        list[str] | None, typer.Option(help="CSV or TSV file with a text and a label in each row.")
    ] = None,
    history: Annotated[
        bool,
        typer.Option(
            "--history/--no-history",
            help="Store the counts of each message, so that `forget --digest` can remove it.",
        ),
    ] = True,
) -> None:
    """Learn from mbox files, Maildirs, folders or messages.

    \b
    Example:
      rosenblatt spam learn --ham Mail/inbox --spam Mail/junk.mbox
    """
    raise typer.Exit(learn_mail(context.obj, ham=ham, spam=spam, table=table, history=history))


@command
def classify(
    context: typer.Context,
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files or folders; default: standard input.")
    ] = None,
    format: Annotated[
        str, typer.Option(help="text, or jsonl with one object per message.")
    ] = "text",
    filter: Annotated[
        bool,
        typer.Option(
            "--filter", help="Copy one message to standard output and add X-Rosenblatt headers."
        ),
    ] = False,
    tempfail: Annotated[
        bool, typer.Option("--tempfail", help="With --filter: exit 75 if anything fails.")
    ] = False,
    model: ModelOption = "chi-square",
    spam_above: Above = None,
    ham_below: Below = None,
) -> None:
    """Classify messages as ham, spam or unsure.

    Exit code for one message: 0 for ham, 1 for spam, 3 for unsure, 2 for an error. With --filter
    the exit code is always 0 and the message is always written.

    \b
    Examples:
      rosenblatt spam classify Mail/inbox
      rosenblatt spam classify --filter < message > judged
    """
    code = judge_mail(
        context.obj,
        paths=paths,
        format=format,
        filter=filter,
        tempfail=tempfail,
        model=model,
        spam_above=spam_above,
        ham_below=ham_below,
    )
    raise typer.Exit(code)


@command
def explain(
    context: typer.Context,
    message: MessageArgument = "-",
    model: ModelOption = "chi-square",
    most: Annotated[int, typer.Option("--most", help="Number of tokens to print.")] = 20,
) -> None:
    """Print the tokens with the largest weights for one message."""
    with _open(context, read_only=True, model=model) as spam_filter:
        verdict = spam_filter.explain(_one(message))
        judged = spam_filter.judgement(verdict.probability)
    print_line(f"{judged.band}: probability of spam {judged.probability:.4f}")
    for evidence in verdict.evidence[:most]:
        side, colour = ("spam", "red") if evidence.weight > 0 else ("ham", "green")
        ham, spam, *_ = evidence.counts
        form = "" if evidence.counted_as == evidence.token else f", as {evidence.counted_as}"
        words = f"{evidence.token} (in {ham:,} ham, {spam:,} spam{form})"
        typer.secho(on_one_line(f"{evidence.weight:+8.2f} {side:<4} {words}"), fg=colour)
    rest = len(verdict.evidence) - most
    if rest > 0:
        print_line(f"and {rest:,} more; --most {len(verdict.evidence)} shows all.")
    if model != "chi-square":
        print_line(f"{verdict.prior:+8.2f}      before any token")
        print_line(f"{verdict.log_odds:+8.2f}      log-odds in all")


@command
def correct(context: typer.Context, message: MessageArgument = "-", spam: Label = None) -> None:
    """Learn a message again with the label --ham or --spam."""
    if spam is None:
        raise refusal("say what the message is: --ham or --spam.")
    label = "spam" if spam else "ham"
    with _open(context) as spam_filter:
        old = spam_filter.correct(_one(message), label)
    if old == label:
        print_line(f"It was learned as {label} before; nothing has changed.")
    else:
        print_line(f"Learned as {label}" + (f", forgotten as {old}." if old else "."))


@command
def forget(
    context: typer.Context,
    message: MessageArgument = "-",
    digest: Annotated[
        str | None, typer.Option(help="Digest of the message, instead of the message.")
    ] = None,
) -> None:
    """Remove a learned message."""
    with _open(context) as spam_filter:
        if digest is not None:
            old = spam_filter.forget(digest=_digest(digest))
        else:
            old = spam_filter.forget(_one(message))
    print_line(f"Forgotten; it was learned as {old}.")


def _digest(word: str) -> bytes:
    try:
        return bytes.fromhex(word)
    except ValueError:
        raise ValueError(
            f"--digest must be hexadecimal, as `export` writes it; got {word!r}."
        ) from None


@command
def status(context: typer.Context) -> None:
    """Print the number of learned messages and tokens."""
    with _open(context, read_only=True) as spam_filter:
        totals = spam_filter.store.totals()
        history = "with" if spam_filter.store.fact("history") else "without"
        print_line(
            f"{totals.messages[0]:,} ham and {totals.messages[1]:,} spam, {totals.n_tokens:,} "
            f"tokens, {history} history, in {spam_filter.store.path}"
        )
        if warning := spam_filter.balance_warning():
            print_note(warning)


@command
def export(
    context: typer.Context,
    out: Annotated[
        str, typer.Option("--out", "-o", help="Output file; - for standard output.")
    ] = "-",
) -> None:
    """Export the database as JSON lines."""
    from rosenblatt.spam.export import export_lines

    with _open(context, read_only=True) as spam_filter:
        lines = export_lines(spam_filter.store)
        if out == "-":
            for line in lines:
                print_line(line)
        else:
            from rosenblatt.data.files import whole_file

            with whole_file(out) as draft, draft.open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)


@command
def import_(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="File written by `export`; - for standard input.")
    ] = "-",
) -> None:
    """Add an exported database to this one."""
    from rosenblatt.spam.export import import_lines

    source = sys.stdin if file == "-" else open(file, encoding="utf-8")  # noqa: SIM115
    with source:
        n = import_lines(source, lambda history: _open(context, history=history).store)
    print_line(f"Added {n:,} messages.")


@command
def evaluate(
    context: typer.Context,
    ham: Annotated[list[str] | None, typer.Option(help="Legitimate mail.")] = None,
    spam: Annotated[list[str] | None, typer.Option(help="Spam.")] = None,
    table: Annotated[
        list[str] | None, typer.Option(help="CSV or TSV file with a text and a label in each row.")
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="time: test on later messages; folds: ten random folds.")
    ] = "time",
    model: ModelOption = "chi-square",
    out: Annotated[str | None, typer.Option("--out", "-o", help="HTML report to write.")] = None,
) -> None:
    """Evaluate the filter on held-out messages.

    Without --ham and --spam, the messages of the database are used.
    """
    from rosenblatt.spam import Mail
    from rosenblatt.spam.evaluation import (
        evaluate_filter,
        examples_of_mails,
        examples_of_store,
        summary,
    )

    if ham or spam or table:
        mails: list[tuple[Mail, int | None]] = []
        for number, paths in ((0, ham), (1, spam), (None, table)):
            mails += [
                (mail, mail.label if number is None else number)
                for mail in watched(paths or [], "messages")
            ]
        examples = examples_of_mails(mails)
    else:
        with _open(context, read_only=True) as spam_filter:
            examples = examples_of_store(spam_filter.store)
    found = evaluate_filter(examples, model=model, protocol=protocol)
    print_text(summary(found))
    if out is not None:
        from rosenblatt.spam.evaluation_page import save

        save(found, out)
        print_line(f"Report: {out}")


@command
def serve(
    context: typer.Context,
    socket: Annotated[str | None, typer.Option(help="Unix socket to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port on 127.0.0.1 to listen on.")] = None,
    token_file: Annotated[
        str | None,
        typer.Option(help="File with the token required for changes; created if missing."),
    ] = None,
    model: ModelOption = "chi-square",
) -> None:
    """Serve the filter on a Unix socket or a local HTTP port."""
    from rosenblatt.spam.service import run

    if (socket is None) == (port is None):
        raise refusal("say where to listen: --socket FILE or --port NUMBER.")
    run(
        context.obj,
        model=model,
        socket=socket,
        port=port,
        token_file=token_file,
        print_note=print_note,
    )
