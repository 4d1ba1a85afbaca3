"""A store as plain text, an object a line, to be read, moved and added to another store."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .schema import LABELS
from .store import Lesson, Store, StoreError, tokens_by_name
from .tokens import VERSION

FORMAT = 1
BATCH = 2000


def export_lines(store: Store) -> Iterator[str]:
    """First what the file is, then messages with their tokens; without a history the counts."""
    history = bool(store.fact("history"))
    totals = store.totals()
    head = {"rosenblatt spam": FORMAT, "tokens": VERSION, "history": history}
    yield json.dumps(head | {"ham": totals.messages[0], "spam": totals.messages[1]})
    names = store.token_names() if history else {}
    for message in store.messages() if history else store.digests():
        yield json.dumps(
            {
                "message": message.digest.hex(),
                "label": LABELS[message.label],
                "sent": message.sent,
                "name": message.name,
                "tokens": dict(tokens_by_name(message, names)) if history else None,
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
    rows = (_object(line, n) for n, line in enumerate(lines, 1) if line.strip())
    head = next(rows, None)
    if head is None or "rosenblatt spam" not in head:
        raise StoreError("This is no export of a spam store: its first line does not say so.")
    if head["tokens"] != VERSION:
        raise StoreError(f"The export has tokens of version {head['tokens']}, not {VERSION}.")
    with opened(bool(head["history"])) as store:
        if head["history"]:
            return _learn_all(store, rows)
        return _add_counts(store, list(rows))


def _learn_all(store: Store, rows: Iterable[dict[str, Any]]) -> int:
    n, batch = 0, []
    for row in rows:
        batch.append(_lesson(row))
        if len(batch) >= BATCH:
            n += sum(store.learn(batch))
            batch = []
    return n + sum(store.learn(batch))


def _add_counts(store: Store, rows: list[dict[str, Any]]) -> int:
    messages = [_lesson(row) for row in rows if "message" in row]
    counts = {row["token"]: tuple(row["counts"]) for row in rows if "token" in row}
    store.add_counts(messages, counts)
    return len(messages)


def _lesson(row: dict[str, Any]) -> Lesson:
    digest = bytes.fromhex(row["message"])
    return Lesson(digest, LABELS.index(row["label"]), row["tokens"] or {}, row["sent"], row["name"])


def _object(line: str, n: int) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise StoreError(f"Line {n} of the export is no JSON: {error}.") from None
    return row
