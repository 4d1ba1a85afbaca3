"""Sources of messages: a file, a folder of files, a Maildir, an mbox, or a table of texts."""

import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from .message import MOST_BYTES

FROM_LINE = re.compile(rb"^From \S+ .*\d{4}", re.M)
MAILDIR = ("cur", "new")
TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
TEXT_COLUMNS = ("text", "message", "body", "sms", "email", "content", "v2")
LABEL_COLUMNS = ("label", "class", "category", "spam", "target", "type", "v1")
SPAM_WORDS, HAM_WORDS = ("spam", "1", "true", "yes", "junk"), ("ham", "0", "false", "no", "good")


class EmailMessage(Protocol):
    """An `email.message.Message`, without an import of that package."""

    def as_bytes(self) -> bytes:
        """Return the message as it is sent."""


class Mail(NamedTuple):
    """A message with the name of its source.

    >>> Mail("inbox/1", b"Subject: Hi\\n\\nHello").name
    'inbox/1'
    """

    name: str
    raw: bytes  # at most a little more than is ever read
    label: int | None = None  # 1 is spam; tables have labels


AnyMessage = bytes | str | EmailMessage | Mail


def is_message(value: object) -> bool:
    """Return whether a value is one message in any of the forms that the filter reads."""
    return isinstance(value, bytes | str | Mail) or hasattr(value, "as_bytes")


def mail_of(message: AnyMessage) -> Mail:
    """Return a message in any form as a `Mail`.

    >>> mail_of("Subject: Hi\\n\\nHello").raw
    b'Subject: Hi\\n\\nHello'
    """
    if isinstance(message, Mail):
        return message
    if isinstance(message, bytes):
        return Mail("", message)
    if isinstance(message, str):
        return Mail("", message.encode(errors="replace"))
    if is_message(message):
        return Mail("", message.as_bytes())
    raise TypeError(
        "A message must be bytes, text, an email.message.Message or a Mail; "
        f"got {type(message).__name__}."
    )


def mails_of(messages: Any) -> Iterator[Mail]:
    """Yield one or more messages in any form as `Mail`."""
    yield from [mail_of(messages)] if is_message(messages) else map(mail_of, messages)


def mails(path: str) -> Iterator[Mail]:
    """Return an iterator over all messages below a path, which must exist; `-` is standard input.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1").write_text("Subject: Hi\\n\\nHello")
    ...     [mail.raw for mail in mails(folder)]
    [b'Subject: Hi\\n\\nHello']
    """
    if path == "-":
        return (Mail("-", file.read(MOST_BYTES + 1)) for file in [sys.stdin.buffer])
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"There is no file or folder {path}.") from None
    if stat.S_ISDIR(mode):
        return _folder(Path(path))
    return _table(Path(path)) if path.lower().endswith(TABLES) else _file(path)


def _folder(place: Path) -> Iterator[Mail]:
    """Yield the messages of a Maildir or of all files below a folder, except hidden ones."""
    if all((place / name).is_dir() for name in MAILDIR):
        folders = [place / name for name in MAILDIR]
    else:
        folders = [place]
    for folder in folders:
        yield from _files(folder)


def _files(folder: str | Path) -> Iterator[Mail]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if not entry.name.startswith("."):
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.is_file():
                yield from _file(entry.path)


def _file(place: str) -> Iterator[Mail]:
    """Yield one message, or all of an mbox, in which `From ` lines begin messages."""
    start = _start_of(place)
    if start.startswith(b"From ") and b"\nFrom " in start and _n_from_lines(start) > 1:
        with open(place, "rb") as file:
            yield from _mbox(file, place)
    else:
        yield Mail(place, start)


def _start_of(place: str) -> bytes:
    """Return the start of a file, one byte more than the limit; faster than `open`."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size  # asking for more would make room for it
        start = os.read(descriptor, min(size, MOST_BYTES) + 1)
        if len(start) != size:  # a pipe, or a file that changes
            while len(start) <= MOST_BYTES and (more := os.read(descriptor, MOST_BYTES)):
                start += more
        return start[: MOST_BYTES + 1]
    finally:
        os.close(descriptor)


def _n_from_lines(start: bytes) -> int:
    """Return the number of `From ` lines that follow an empty line and precede a header."""
    return sum(
        1
        for match in FROM_LINE.finditer(start)
        if (match.start() == 0 or start.endswith((b"\n\n", b"\r\n\r\n"), 0, match.start()))
        and re.match(rb"\r?\n[!-9;-~]+:", start[match.end() : match.end() + 200])
    )


def _mbox(file: io.BufferedReader, name: str) -> Iterator[Mail]:
    """Yield the messages of an mbox, read line by line; the last one may be cut off."""
    lines: list[bytes] = []
    size, n, empty = 0, 0, True
    for line in file:
        if empty and line.startswith(b"From ") and FROM_LINE.match(line):
            if lines:
                n += 1
                yield Mail(f"{name}:{n}", b"".join(lines))
            lines, size = [], 0
        if size <= MOST_BYTES:
            lines.append(line[1:] if line.startswith(b">From ") else line)
            size += len(line)
        empty = line in (b"\n", b"\r\n")
    if lines:
        yield Mail(f"{name}:{n + 1}", b"".join(lines))


def _table(place: Path) -> Iterator[Mail]:
    """Yield the rows of a table with a text and a label, with or without a header."""
    import csv
    import gzip

    opener = gzip.open if place.suffix == ".gz" else open
    tabs = ".tsv" in place.name.lower()
    with opener(place, "rt", encoding="utf-8", errors="replace", newline="") as file:
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        if tabs:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        else:
            rows = csv.reader(file)
        first = next(rows, [])
        names = [cell.strip().lower().lstrip("\ufeff") for cell in first]
        text = next((names.index(name) for name in TEXT_COLUMNS if name in names), None)
        label = next((names.index(name) for name in LABEL_COLUMNS if name in names), None)
        if not names:
            raise ValueError(f"{place} is empty.")
        if text is None:
            if label_of(names[0]) is None:
                raise ValueError(
                    f"{place} needs a column called {', '.join(TEXT_COLUMNS[:3])} or the like; "
                    f"it has {', '.join(first[:8])}."
                )
            text, label = 1, 0
            yield _row(place, 1, first, text, label)
        for n, row in enumerate(rows, 2):
            if len(row) > text:
                yield _row(place, n, row, text, label)


def _row(place: Path, n: int, row: list[str], text: int, label: int | None) -> Mail:
    known = label_of(row[label]) if label is not None and len(row) > label else None
    return Mail(f"{place}:{n}", b"\n" + row[text].encode()[: MOST_BYTES + 1], known)


def label_of(word: str) -> int | None:
    """Return 1 for spam, 0 for ham, None for anything else.

    >>> label_of("Spam"), label_of("ham"), label_of("perhaps")
    (1, 0, None)
    """
    word = word.strip().lower()
    return 1 if word in SPAM_WORDS else 0 if word in HAM_WORDS else None
