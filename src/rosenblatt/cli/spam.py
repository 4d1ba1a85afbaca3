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
    help="A spam filter: learn from ham and spam, classify, explain, correct, forget.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
StoreOption = Annotated[
    str | None,
    typer.Option(help="The file of what was learned; among your own files if not given."),
]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="How tokens become a probability; see docs/spam.md.")
]
OTHERS = "other models than chi-square"
Above = Annotated[
    float | None,
    typer.Option("--spam-above", help=f"From where on it is spam: 0.55, {OTHERS} 0.9."),
]
Below = Annotated[
    float | None, typer.Option("--ham-below", help=f"Up to where it is ham: 0.4, {OTHERS} 0.1.")
]
Label = Annotated[bool | None, typer.Option("--spam/--ham", help="What the message is.")]
MessageArgument = Annotated[
    str, typer.Argument(help="A file with the message, or - for standard input.")
]


@app.callback()
def store_of(context: typer.Context, store: StoreOption = None) -> None:
    """A spam filter: learn from ham and spam, classify, explain, correct, forget."""
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
    ham: Annotated[list[str] | None, typer.Option(help="Mail that is wanted.")] = None,
    spam: Annotated[list[str] | None, typer.Option(help="Mail that is not.")] = None,
    table: Annotated[
        list[str] | None, typer.Option(help="A CSV or TSV file with a text and a label per row.")
    ] = None,
    history: Annotated[
        bool,
        typer.Option(
            "--history/--no-history",
            help="Keep the counts of each message, so that it can be forgotten by its digest.",
        ),
    ] = True,
) -> None:
    """Learn from messages: an mbox, a Maildir, a folder of messages, or single files.

    \b
    Example:
      rosenblatt spam learn --ham Mail/inbox --spam Mail/junk.mbox
    """
    raise typer.Exit(learn_mail(context.obj, ham=ham, spam=spam, table=table, history=history))


@command
def classify(
    context: typer.Context,
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files or folders; standard input if none.")
    ] = None,
    format: Annotated[str, typer.Option(help="text or jsonl, an object a message.")] = "text",
    filter: Annotated[
        bool,
        typer.Option("--filter", help="Copy one message through, with X-Rosenblatt headers."),
    ] = False,
    tempfail: Annotated[
        bool, typer.Option("--tempfail", help="With --filter: exit 75 if anything fails.")
    ] = False,
    model: ModelOption = "chi-square",
    spam_above: Above = None,
    ham_below: Below = None,
) -> None:
    """Judge messages: label, probability of spam, band (ham, spam, unsure).

    Of one message the exit code is 0 for ham, 1 for spam, 3 for unsure; 2 is an error. With
    --filter it is 0 whatever happens, and the message always comes out.

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
    most: Annotated[int, typer.Option("--most", help="How many tokens to show.")] = 20,
) -> None:
    """Show the tokens that decided, with their weights, the strongest first."""
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
    """Learn a message as --ham or --spam and forget what it was learned as before."""
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
        str | None, typer.Option(help="The digest of the message in place of the message.")
    ] = None,
) -> None:
    """Forget a message, as if it had never been learned."""
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
    """Show what the store holds."""
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
    out: Annotated[str, typer.Option("--out", "-o", help="The file; standard output if -.")] = "-",
) -> None:
    """Write all that was learned as plain text, an object a line."""
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
    file: Annotated[str, typer.Argument(help="What `export` wrote; - for standard input.")] = "-",
) -> None:
    """Add what another store exported to this one."""
    from rosenblatt.spam.export import import_lines

    source = sys.stdin if file == "-" else open(file, encoding="utf-8")  # noqa: SIM115
    with source:
        n = import_lines(source, lambda history: _open(context, history=history).store)
    print_line(f"Added {n:,} messages.")


@command
def evaluate(
    context: typer.Context,
    ham: Annotated[list[str] | None, typer.Option(help="Mail that is wanted.")] = None,
    spam: Annotated[list[str] | None, typer.Option(help="Mail that is not.")] = None,
    table: Annotated[
        list[str] | None, typer.Option(help="A CSV or TSV file with a text and a label per row.")
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="time: learn what came before; folds: ten folds at random.")
    ] = "time",
    model: ModelOption = "chi-square",
    out: Annotated[str | None, typer.Option("--out", "-o", help="A page with curves.")] = None,
) -> None:
    """Measure the filter on messages it has not learned, in the order in which they came.

    Without --ham and --spam the messages of the store's history are used.
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
    socket: Annotated[str | None, typer.Option(help="A unix socket to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="A port on 127.0.0.1 to listen on.")] = None,
    token_file: Annotated[
        str | None, typer.Option(help="A file with the token that writes need; made if need be.")
    ] = None,
    model: ModelOption = "chi-square",
) -> None:
    """Keep the model in memory and answer over a unix socket or HTTP on this machine."""
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
