"""A store as plain text, an object a line, to be read, moved and added to another store."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

from .store import BETWEEN, LABELS, Lesson, Store, StoreError, TokenCounts
from .tokens import VERSION

FORMAT = 1
BATCH = 2000
MOST = 1 << 48  # of one count
MOST_REPEATS = 1 << 31  # of a token in a message

Row = tuple[int, dict[str, Any]]  # of an export, with the number of its line


def export_lines(store: Store) -> Iterator[str]:
    """First what the file is, then messages with their tokens; without a history the counts."""
    history = bool(store.fact("history"))
    n_ham, n_spam = store.n_messages()
    head = {"rosenblatt spam": FORMAT, "tokens": VERSION, "history": history}
    yield json.dumps(head | {"ham": n_ham, "spam": n_spam})
    for message in store.messages(with_tokens=history):
        yield json.dumps(
            {
                "message": message.digest.hex(),
                "label": LABELS[message.label],
                "sent": message.sent,
                "name": message.name,
                "tokens": message.tokens if history else None,
            }
        )
    if not history:
        for token, counts in store.all_counts().items():
            yield json.dumps({"token": token, "counts": counts})


def import_lines(lines: Iterable[str], opened: Callable[[bool], Store]) -> int:
    """Add the lines of an export to a store, in transactions; return how many messages were new.

    `opened` opens the store, given whether the export has a history. What was imported before is
    not counted again.
    """
    rows = ((n, _object(line, n)) for n, line in enumerate(lines, 1) if line.strip())
    _, head = next(rows, (0, {}))
    if "rosenblatt spam" not in head:
        raise StoreError("This is no export of a spam store: its first line does not say so.")
    for name, key, known in (("format", "rosenblatt spam", FORMAT), ("tokens", "tokens", VERSION)):
        if head.get(key) != known:
            raise StoreError(f"The export has {name} of version {head.get(key)}, not {known}.")
    history = bool(head.get("history"))
    with opened(history) as store:
        return _learn_all(store, rows) if history else _add_counts(store, list(rows))


def _learn_all(store: Store, rows: Iterable[Row]) -> int:
    n, batch = 0, []
    for row in rows:
        batch.append(_lesson(*row))
        if len(batch) >= BATCH:
            n += sum(store.learn(batch))
            batch = []
    return n + sum(store.learn(batch))


def _add_counts(store: Store, rows: list[Row]) -> int:
    messages = [_lesson(n, row) for n, row in rows if "token" not in row]
    counts = dict(_counts(n, row) for n, row in rows if "token" in row)
    store.add_counts(messages, counts)
    return len(messages)


def _object(line: str, n: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise StoreError(f"Line {n} of the export is no JSON: {error}.") from None
    if not isinstance(row, dict):
        raise StoreError(f"Line {n} of the export is no object.")
    return row


def _lesson(n: int, row: dict[str, Any]) -> Lesson:
    with _line(n, "message"):
        tokens, sent = row["tokens"] or {}, row["sent"]
        digest, label = bytes.fromhex(row["message"]), LABELS.index(row["label"])
        counted = {_token(token): _count(times, 1, MOST_REPEATS) for token, times in tokens.items()}
        when = None if sent is None else float(sent)
        if when is not None and not isfinite(when):
            raise ValueError("no time")
        return Lesson(digest, label, counted, when, _text(row["name"]))


def _counts(n: int, row: dict[str, Any]) -> tuple[str, TokenCounts]:
    with _line(n, "token"):
        ham, spam, ham_total, spam_total = (_count(times, 0) for times in row["counts"])
        if ham > ham_total or spam > spam_total:
            raise ValueError("more messages than occurrences")
        return _token(row["token"]), (ham, spam, ham_total, spam_total)


@contextmanager
def _line(n: int, what: str) -> Iterator[None]:
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError):
        raise StoreError(f"Line {n} of the export is no {what} as `export` writes it.") from None


def _text(value: Any) -> str:
    text: str = value
    text.encode()  # fails for half a surrogate pair
    return text


def _token(value: Any) -> str:
    token = _text(value)
    if not token or BETWEEN in token:
        raise ValueError("no token")
    return token


def _count(value: Any, least: int, most: int = MOST) -> int:
    if type(value) is not int or not least <= value < most:
        raise ValueError("no count")
    return value
