"""`rosenblatt spam`: learn from mail, classify it, and explain why.

A mail server starts a process for each message: `classify` imports neither NumPy nor anything that
imports it.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from .output import (
    BAD_INPUT,
    TRY_AGAIN,
    on_one_line,
    print_line,
    print_note,
    print_text,
    with_progress,
)
from .parser import TOGGLE, Parser, add, add_command, any_number, number, one_of

EXIT_CODES = {"ham": 0, "spam": 1, "unsure": 3}  # of a single message


def add_arguments(commands: Any) -> Parser:
    """Add `rosenblatt spam` with its subcommands; return its parser."""
    help = "Train and run a spam filter for e-mail."
    usage = "rosenblatt spam [--store FILE] COMMAND [options]"
    spam: Parser = commands.add_parser("spam", help=help, description=help, usage=usage)
    add(spam, "--store FILE", "Database; default: in your data folder.")
    parts = spam.add_subparsers(
        title="commands", metavar="COMMAND", dest="subcommand", parser_class=Parser,
        prog="rosenblatt spam",
    )  # fmt: skip

    def command(name: str, help: str, values: str = "", **settings: Any) -> Parser:
        function = f"run_{name}"
        return add_command(parts, name, help, values, module="spam", function=function, **settings)

    parser = command(
        "learn",
        "Learn from mbox files, Maildirs, folders or messages.",
        example="rosenblatt spam learn --ham Mail/inbox --spam Mail/junk.mbox",
    )
    _mail(parser)
    add(parser, "--history",
        "Store the counts of each message, so that `forget --digest` can remove it (default).",
        **TOGGLE)  # fmt: skip

    parser = command(
        "classify",
        "Classify messages as ham, spam or unsure.",
        "[path ...]",
        more="Exit code for one message: 0 for ham, 1 for spam, 3 for unsure, 2 for an error. With"
        "\n--filter the exit code is always 0 and the message is always written.",
        example="rosenblatt spam classify Mail/inbox\n"
        "  rosenblatt spam classify --filter < message > judged",
    )
    add(parser, "paths", "Files or folders; default: standard input.", nargs="*")
    add(parser, "--format FORMAT", "text, or jsonl with one object per message.",
        type=one_of("text", "jsonl"), default="text")  # fmt: skip
    add(parser, "--filter", "Copy one message to standard output and add X-Rosenblatt headers.")
    add(parser, "--tempfail", "With --filter: exit 75 if anything fails.")
    _scoring_model(parser)
    add(parser, "--spam-above SPAM_ABOVE",
        "Lowest probability of spam; default: 0.55, with other models 0.9.",
        type=any_number)  # fmt: skip
    add(parser, "--ham-below HAM_BELOW",
        "Highest probability of ham; default: 0.4, with other models 0.1.",
        type=any_number)  # fmt: skip

    help = "Print the tokens with the largest weights for one message."
    parser = command("explain", help, "[message]")
    _message(parser)
    _scoring_model(parser)
    add(parser, "--most MOST", "Number of tokens to print; default: 20.",
        type=number(0), default=20)  # fmt: skip

    help = "Learn a message again with the label --ham or --spam."
    parser = command("correct", help, "[message]")
    _message(parser)
    label = parser.add_mutually_exclusive_group(required=True)
    for name in ("ham", "spam"):
        add(label, f"--{name}", f"It is {name}.", dest="label", action="store_const", const=name)

    parser = command("forget", "Remove a learned message.", "[message]")
    _message(parser)
    add(parser, "--digest DIGEST", "Digest of the message, instead of the message.")

    command("status", "Print the number of learned messages and tokens.")
    parser = command("export", "Export the database as JSON lines.")
    add(parser, "-o --out FILE", "Output file; default: standard output.", default="-")
    parser = command("import", "Add an exported database to this one.", "[file]")
    add(parser, "file", "File written by `export`; - for standard input.", nargs="?", default="-")

    parser = command(
        "evaluate",
        "Evaluate the filter on held-out messages.",
        more="Without --ham and --spam, the messages of the database are used.",
    )
    _mail(parser)
    add(parser, "--protocol PROTOCOL",
        "time: test on later messages (default); folds: ten random folds.",
        default="time")  # fmt: skip
    _scoring_model(parser)
    add(parser, "-o --out FILE", "HTML report to write.")

    parser = command("serve", "Serve the filter on a Unix socket or a local HTTP port.")
    place = parser.add_mutually_exclusive_group(required=True)
    add(place, "--socket PATH", "Unix socket to listen on.")
    add(place, "--port PORT", "Port on 127.0.0.1 to listen on.", type=number(0, 65535))
    add(parser, "--token-file FILE",
        "File with the token required for changes; created if missing.")  # fmt: skip
    _scoring_model(parser)
    return spam


def _mail(parser: Parser) -> None:
    more: Any = {"action": "append", "default": []}
    add(parser, "--ham PATH", "Legitimate mail.", **more)
    add(parser, "--spam PATH", "Spam.", **more)
    add(parser, "--table PATH", "CSV or TSV file with a text and a label in each row.", **more)


def _message(parser: Parser) -> None:
    help = "Message file; default: - for standard input."
    add(parser, "message", help, nargs="?", default="-")


def _scoring_model(parser: Parser) -> None:
    help = "Scoring model; default: chi-square. See docs/spam.md."
    add(parser, "-m --model MODEL", help, default="chi-square")


# The commands.


def _open(args: Namespace, **options: Any) -> Any:
    from rosenblatt.spam import SpamFilter

    return SpamFilter(args.store, **options)


def _one(path: str) -> bytes:
    """Return the only message of a file."""
    from rosenblatt.spam import mails

    found = list(mails(path))
    if len(found) != 1:
        raise ValueError(f"{path} has {len(found)} messages; this command takes one.")
    return found[0].raw


def _mails(paths: Iterable[str]) -> Iterator[Any]:
    from rosenblatt.spam import mails

    return chain.from_iterable(map(mails, paths))


def _print_refused(refused: list[tuple[str, str]]) -> None:
    for name, why in refused[:5]:
        print_note(f"Not read: {name}: {why}")
    if len(refused) > 5:
        print_note(f"and {len(refused) - 5:,} more.")


def run_learn(args: Namespace) -> int:
    """Learn messages and print their number."""
    from rosenblatt.spam import mails
    from rosenblatt.spam.store import LABELS

    if not (args.ham or args.spam or args.table):
        raise ValueError("Give the mail to learn from: --ham PATH, --spam PATH or --table FILE.")
    sources = [
        (label, [mails(path) for path in paths])
        for label, paths in (("ham", args.ham), ("spam", args.spam), (None, args.table))
    ]
    with _open(args, history=None if args.history else False) as spam_filter:
        total = spam_filter.learn(
            mail if label is None else mail._replace(label=LABELS.index(label))
            for label, found in sources
            for mail in with_progress(chain.from_iterable(found))
        )
        warning = spam_filter.balance_warning()
    print_line(
        f"Learned {total.ham:,} ham and {total.spam:,} spam."
        + (f" {total.repeated:,} had been learned before." if total.repeated else "")
    )
    _print_refused(total.refused)
    if warning:
        print_note(warning)
    return BAD_INPUT if total.refused and not total.ham + total.spam + total.repeated else 0


def run_classify(args: Namespace) -> int:
    """Classify messages, or copy one through with its classification."""
    from rosenblatt.spam.spam_filter import OTHER_THRESHOLDS, THRESHOLDS

    low, high = THRESHOLDS.get(args.model, OTHER_THRESHOLDS)
    low = low if args.ham_below is None else args.ham_below
    high = high if args.spam_above is None else args.spam_above
    options = {"model": args.model, "thresholds": (low, high)}
    if args.filter:
        return _filter_message(args, options)
    return _print_classes(args, args.paths or ["-"], options)


def _print_classes(args: Namespace, paths: list[str], options: dict[str, Any]) -> int:
    """Print a line for each message; return the exit code of the last, if there was one."""
    n, code, refused = 0, 0, []
    with _open(args, read_only=True, **options) as spam_filter:
        mails = _mails(paths)
        first = [mail for _, mail in zip(range(2), mails, strict=False)]
        for mail, judged, why in _classified(spam_filter, first, mails):
            n += 1
            if judged is None:
                refused.append((mail.name, why))
                code = 2
                continue
            code = EXIT_CODES[judged.band]
            if args.format == "jsonl":
                print_line(json.dumps({"path": mail.name, **judged._asdict()}))
            else:
                print_line(f"{judged.band:<6} {judged.probability:.4f}  {mail.name}")
    _print_refused(refused)
    if n == 0:
        raise ValueError(f"There is no message in {', '.join(paths)}.")
    return code if n == 1 else 2 if n == len(refused) else 0


def _classified(spam_filter: Any, first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    """Classify messages: a single one by its own tokens, many with all counts in memory."""
    if len(first) == 1:
        spam_filter.scorer()  # raises if the database is unusable
        try:
            yield first[0], spam_filter.classify(first[0].raw), ""
        except ValueError as error:
            yield first[0], None, str(error)
    else:
        yield from spam_filter.classify_all(chain(first, rest))


def _filter_message(args: Namespace, options: dict[str, Any]) -> int:
    """Copy a message through with its classification; if that fails, unchanged."""
    raw, path = None, args.paths[0] if args.paths else "-"
    try:
        raw = _whole(path)
        out = _marked(args, raw, options)
    except BaseException as error:
        if args.tempfail or raw is None:  # nothing was read that could be copied
            print_note(f"{type(error).__name__}: {error}")
            return TRY_AGAIN
        print_note(f"The message passes unclassified: {error}")
        out = raw
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
    except OSError:
        return TRY_AGAIN  # half a message may have been written: the server must keep its copy
    return 0


def _whole(path: str) -> bytes:
    """Return a message of any length: all of it must be copied."""
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def _marked(args: Namespace, raw: bytes, options: dict[str, Any]) -> bytes:
    from rosenblatt.spam import marked

    with _open(args, read_only=True, **options) as spam_filter:
        judged = spam_filter.classify(raw)
        probability = f"{judged.probability:.6f}"
        return marked(raw, {"X-Rosenblatt": judged.band, "X-Rosenblatt-Probability": probability})


def run_explain(args: Namespace) -> None:
    """Print the tokens of a message with the largest weights."""
    with _open(args, read_only=True, model=args.model) as spam_filter:
        verdict = spam_filter.explain(_one(args.message))
        judged = spam_filter.judgement(verdict.probability)
    print_line(f"{judged.band}: probability of spam {judged.probability:.4f}")
    for evidence in verdict.evidence[: args.most]:
        side, color = ("spam", 31) if evidence.weight > 0 else ("ham", 32)
        ham, spam, *_ = evidence.counts
        form = "" if evidence.counted_as == evidence.token else f", as {evidence.counted_as}"
        counts = f"{evidence.token} (in {ham:,} ham, {spam:,} spam{form})"
        line = on_one_line(f"{evidence.weight:+8.2f} {side:<4} {counts}")
        sys.stdout.write(f"\033[{color}m{line}\033[0m\n" if sys.stdout.isatty() else f"{line}\n")
    rest = len(verdict.evidence) - args.most
    if rest > 0:
        print_line(f"and {rest:,} more; --most {len(verdict.evidence)} shows all.")
    if args.model != "chi-square":
        print_line(f"{verdict.prior:+8.2f}      before any token")
        print_line(f"{verdict.log_odds:+8.2f}      log-odds in all")


def run_correct(args: Namespace) -> None:
    """Learn a message again with another label."""
    with _open(args) as spam_filter:
        old = spam_filter.correct(_one(args.message), args.label)
    if old == args.label:
        print_line(f"It was learned as {old} before; nothing has changed.")
    else:
        print_line(f"Learned as {args.label}" + (f", forgotten as {old}." if old else "."))


def run_forget(args: Namespace) -> None:
    """Remove a learned message."""
    with _open(args) as spam_filter:
        if args.digest is not None:
            old = spam_filter.forget(digest=_digest(args.digest))
        else:
            old = spam_filter.forget(_one(args.message))
    print_line(f"Forgotten; it was learned as {old}.")


def _digest(word: str) -> bytes:
    try:
        return bytes.fromhex(word)
    except ValueError:
        raise ValueError(
            f"--digest must be hexadecimal, as `export` writes it; got {word!r}."
        ) from None


def run_status(args: Namespace) -> None:
    """Print the number of learned messages and tokens."""
    with _open(args, read_only=True) as spam_filter:
        n_ham, n_spam = spam_filter.store.n_messages()
        n_tokens = spam_filter.store.totals().n_tokens
        history = "with" if spam_filter.store.fact("history") else "without"
        print_line(
            f"{n_ham:,} ham and {n_spam:,} spam, {n_tokens:,} "
            f"tokens, {history} history, in {spam_filter.store.path}"
        )
        if warning := spam_filter.balance_warning():
            print_note(warning)


def run_export(args: Namespace) -> None:
    """Write the database as JSON lines."""
    from rosenblatt.spam.export import export_lines

    with _open(args, read_only=True) as spam_filter:
        lines = export_lines(spam_filter.store)
        if args.out == "-":
            for line in lines:
                print_line(line)
        else:
            from rosenblatt.data.files import whole_file

            with whole_file(args.out) as draft, draft.open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)


def run_import(args: Namespace) -> None:
    """Add an exported database to this one."""
    from rosenblatt.spam.export import import_lines

    source = sys.stdin if args.file == "-" else open(args.file, encoding="utf-8")  # noqa: SIM115
    with source:
        n = import_lines(source, lambda history: _open(args, history=history).store)
    print_line(f"Added {n:,} messages.")


def run_evaluate(args: Namespace) -> None:
    """Evaluate the filter on held-out messages."""
    from rosenblatt.spam.evaluation import (
        evaluate_filter,
        examples_of_mails,
        examples_of_store,
        summary,
    )

    if args.ham or args.spam or args.table:
        examples = examples_of_mails(
            [
                (mail, mail.label if label is None else label)
                for label, paths in ((0, args.ham), (1, args.spam), (None, args.table))
                for mail in with_progress(_mails(paths))
            ]
        )
    else:
        with _open(args, read_only=True) as spam_filter:
            examples = examples_of_store(spam_filter.store)
    found = evaluate_filter(examples, model=args.model, protocol=args.protocol)
    print_text(summary(found))
    if args.out is not None:
        from rosenblatt.spam.evaluation_page import save

        save(found, args.out)
        print_line(f"Report: {args.out}")


def run_serve(args: Namespace) -> None:
    """Serve the filter until it is stopped."""
    from rosenblatt.spam.service import run

    run(
        args.store,
        model=args.model,
        socket=args.socket,
        port=args.port,
        token_file=args.token_file,
        print_note=print_note,
    )
