"""Learning and judging mail from the command line, without Typer.

A mail server starts a process for each message, and Typer takes longer to load than the message to
be judged. `plain_command` reads the usual words of `learn` and `classify`; whatever it does not
understand, Typer reads, and answers in a sentence.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from .sentences import (
    BAD_INPUT,
    TRY_AGAIN,
    about_input,
    print_line,
    print_note,
    sentence_of,
    warnings_as_notes,
)

# What a script sees of a single message.
EXIT = {"ham": 0, "spam": 1, "unsure": 3}
MANY = 200  # messages from which on progress is shown
BAR = 30  # characters of it

# Options by command: their names as arguments, and what their values are; None: they have none.
OPTIONS: dict[str, dict[str, tuple[str, Any]]] = {
    "learn": {
        "--ham": ("ham", list),
        "--spam": ("spam", list),
        "--table": ("table", list),
        "--history": ("history", True),
        "--no-history": ("history", False),
    },
    "classify": {
        "--format": ("format", str),
        "--filter": ("filter", True),
        "--tempfail": ("tempfail", True),
        "--model": ("model", str),
        "-m": ("model", str),
        "--spam-above": ("spam_above", float),
        "--ham-below": ("ham_below", float),
    },
}


def plain_command(words: list[str]) -> Callable[[], int] | None:
    """What `rosenblatt WORDS` does, if it is to learn or judge mail in usual words; else None.

    >>> plain_command(["spam", "classify", "--filter"]).keywords
    {'filter': True}
    >>> plain_command(["spam", "classify", "--help"])
    """
    store = None
    if words[:1] == ["spam"] and words[1:2] == ["--store"] and len(words) > 3:
        store, words = words[2], ["spam", *words[3:]]
    if words[:1] != ["spam"] or words[1:2] not in (["learn"], ["classify"]):
        return None
    options = _options(OPTIONS[words[1]], words[2:])
    if options is None or (words[1] == "learn" and "paths" in options):
        return None
    return partial(learn_mail if words[1] == "learn" else judge_mail, store, **options)


def _options(known: dict[str, tuple[str, Any]], words: list[str]) -> dict[str, Any] | None:
    """The arguments that words stand for; None if one of them is not usual."""
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            found.setdefault("paths", []).append(word)
            continue
        name, kind = known.get(word, ("", None))
        if isinstance(kind, bool):
            found[name] = kind
            continue
        value = next(rest, "--")
        if kind is None or (value.startswith("-") and value != "-"):
            return None
        if kind is list:
            found.setdefault(name, []).append(value)
        else:
            try:
                found[name] = kind(value)
            except ValueError:
                return None
    return found


def run_plain(command: Callable[[], int]) -> int:
    """Run a command; its errors are sentences."""
    try:
        with warnings_as_notes():
            return command()
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if not about_input(error):
            raise
        print_note(f"Error: {sentence_of(error)}")
        return BAD_INPUT


def learn_mail(
    store: str | None,
    *,
    ham: list[str] | None = None,
    spam: list[str] | None = None,
    table: list[str] | None = None,
    history: bool = True,
) -> int:
    """Learn messages and print how many; return the exit code."""
    from rosenblatt.spam import SpamFilter
    from rosenblatt.spam.schema import LABELS

    if not (ham or spam or table):
        raise ValueError(
            "say where there is mail to learn from: --ham PATH, --spam PATH or --table."
        )
    with SpamFilter(store, history=None if history else False) as spam_filter:
        total = spam_filter.learn(
            mail if label is None else mail._replace(label=LABELS.index(label))
            for label, paths in (("ham", ham), ("spam", spam), (None, table))
            for mail in watched(paths or [], label or "messages")
        )
        warning = spam_filter.balance_warning()
    print_line(
        f"Learned {total.ham:,} ham and {total.spam:,} spam."
        + (f" {total.repeated:,} were known already." if total.repeated else "")
    )
    _refused(total.refused)
    if warning:
        print_note(warning)
    return BAD_INPUT if total.refused and not total.ham + total.spam + total.repeated else 0


def watched(paths: Iterable[str], label: str) -> Iterator[Any]:
    """Messages of some places, with a bar on a terminal that shows how much has been read."""
    from rosenblatt.spam import mails

    paths = list(paths)
    if not sys.stderr.isatty():
        for path in paths:
            yield from mails(path)
        return
    total, n, size = max(_n_bytes(paths), 1), 0, 0
    for path in paths:
        for mail in mails(path):
            yield mail
            n, size = n + 1, size + len(mail.raw)
            if n % MANY == 0:
                done = min(BAR * size // total, BAR)
                sys.stderr.write(f"\r{label} [{'#' * done}{'.' * (BAR - done)}] {n:,} ")
                sys.stderr.flush()
    if n >= MANY:
        sys.stderr.write("\r\033[K")


def _n_bytes(paths: list[str]) -> int:
    """How many bytes there are to read, about."""
    found = 0
    for path in paths:
        for folder, _, files in os.walk(path):
            found += sum(os.path.getsize(os.path.join(folder, name)) for name in files)
        found += os.path.getsize(path) if os.path.isfile(path) else 0
    return found


def _refused(refused: list[tuple[str, str]]) -> None:
    for name, why in refused[:5]:
        print_note(f"Not read: {name}: {why}")
    if len(refused) > 5:
        print_note(f"and {len(refused) - 5:,} more.")


def judge_mail(
    store: str | None,
    *,
    paths: list[str] | None = None,
    format: str = "text",
    filter: bool = False,
    tempfail: bool = False,
    model: str = "chi-square",
    spam_above: float | None = None,
    ham_below: float | None = None,
) -> int:
    """Judge messages, or copy one through with its judgement; return the exit code."""
    options = {"model": model, "thresholds": _thresholds(model, ham_below, spam_above)}
    if filter:
        return _filtered(store, paths or ["-"], options, tempfail)
    if format not in ("text", "jsonl"):
        raise ValueError(f"--format must be text or jsonl; got {format!r}.")
    return _classified(store, paths or ["-"], options, format)


def _thresholds(model: str, below: float | None, above: float | None) -> tuple[float, float]:
    from rosenblatt.spam.spam_filter import OTHER_THRESHOLDS, THRESHOLDS

    low, high = THRESHOLDS.get(model, OTHER_THRESHOLDS)
    return low if below is None else below, high if above is None else above


def _classified(store: str | None, paths: list[str], options: Any, format: str) -> int:
    """Print a line for each message; the exit code of the last, if there was one."""
    from rosenblatt.spam import SpamFilter

    n, code, refused = 0, 0, []
    with SpamFilter(store, read_only=True, **options) as spam_filter:
        mails = watched(paths, "messages")
        first = [mail for _, mail in zip(range(2), mails, strict=False)]
        for mail, judged, why in _judged(spam_filter, first, mails):
            n += 1
            if judged is None:
                refused.append((mail.name, why))
                code = 2
                continue
            code = EXIT[judged.band]
            fields = {"path": mail.name, **judged._asdict()}
            if format == "jsonl":
                print_line(json.dumps(fields))
            else:
                print_line(f"{judged.band:<6} {judged.probability:.4f}  {mail.name}")
    _refused(refused)
    if n == 0:
        raise ValueError(f"There is no message in {', '.join(paths)}.")
    return code if n == 1 else 2 if n == len(refused) else 0


def _judged(spam_filter: Any, first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    """Judge messages: one alone by its own tokens, many with all counts in memory."""
    if len(first) == 1:
        spam_filter.scorer()  # a store that cannot be used is no fault of the message
        try:
            yield first[0], spam_filter.classify(first[0].raw), ""
        except ValueError as error:
            yield first[0], None, str(error)
    else:
        yield from spam_filter.classify_all(chain(first, rest))


def _filtered(store: str | None, paths: list[str], options: Any, tempfail: bool) -> int:
    """Copy a message through with its judgement; if that fails, as it came."""
    raw = None
    try:
        raw = _whole(paths[0])
        out = _marked(store, raw, options)
    except BaseException as error:
        if tempfail or raw is None:  # nothing was read that could come out
            print_note(f"{type(error).__name__}: {error}")
            return TRY_AGAIN
        print_note(f"The message passes unjudged: {error}")
        out = raw
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
    except OSError:
        return TRY_AGAIN  # half a message may have gone out: the server must keep its copy
    return 0


def _whole(path: str) -> bytes:
    """A message, however long: all of it must come out again."""
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def _marked(store: str | None, raw: bytes, options: Any) -> bytes:
    from rosenblatt.spam import SpamFilter, marked

    with SpamFilter(store, read_only=True, **options) as spam_filter:
        judged = spam_filter.classify(raw)
        probability = f"{judged.probability:.6f}"
        return marked(raw, {"X-Rosenblatt": judged.band, "X-Rosenblatt-Probability": probability})
