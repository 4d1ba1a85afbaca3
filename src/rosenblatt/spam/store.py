"""Counts of tokens in ham and spam, in one SQLite file.

Counts are additive: a message is learned by adding its counts and forgotten by subtracting them,
exactly. With its history the store has the tokens of each message, so that a message can be
forgotten by its digest and every model can be fitted again.

A batch of messages is one transaction. After `learn` returns it is on the disk; a process that is
killed before leaves nothing of it. Readers see whole batches while another process writes
(write-ahead log).
"""

import hashlib
import os
import re
import sqlite3
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple, Self

from .message import BYTE_ORDER_MARK, MOST_BYTES, end_of_headers
from .tokens import VERSION

SCHEMA = 3
HAM, SPAM = 0, 1
LABELS = ("ham", "spam")
MOST_NAMES = 500  # in one query
MOST_OWN_BYTES = 4096  # of our headers, which move as many bytes beyond the limit
TIMEOUT_SECONDS = 30.0  # to wait for another writer
OWN_HEADER = re.compile(rb"^x-rosenblatt[\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.I | re.M)
BETWEEN = "\0"  # between the tokens of a message; never part of a token

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE tokens (
    token TEXT PRIMARY KEY,
    ham INTEGER NOT NULL, spam INTEGER NOT NULL,             -- messages that contain it
    ham_total INTEGER NOT NULL, spam_total INTEGER NOT NULL  -- occurrences
) WITHOUT ROWID;
CREATE TABLE messages (
    digest BLOB PRIMARY KEY, label INTEGER NOT NULL, sent REAL, name TEXT,
    tokens TEXT, counts BLOB                                 -- NULL without a history
);
CREATE INDEX message_labels ON messages (label);
CREATE TABLE weights (model TEXT PRIMARY KEY, revision INTEGER NOT NULL, value BLOB) WITHOUT ROWID;
"""
ROWS_AT_ONCE = 100  # one by one takes twice as long
ADD_COUNTS = (
    "INSERT INTO tokens VALUES {} ON CONFLICT (token) DO UPDATE SET "
    "ham = ham + excluded.ham, spam = spam + excluded.spam, "
    "ham_total = ham_total + excluded.ham_total, spam_total = spam_total + excluded.spam_total"
)


class StoreError(ValueError):
    """The store cannot do what was asked; nothing in it has changed.

    >>> from rosenblatt.spam import SpamFilter
    >>> SpamFilter("nowhere/spam.db", read_only=True)
    Traceback (most recent call last):
    rosenblatt.spam.store.StoreError: There is no store nowhere/spam.db: ...first.
    """


class Totals(NamedTuple):
    """Sums over all tokens; pairs are (ham, spam)."""

    presences: tuple[int, int]  # distinct tokens of each message, added up
    occurrences: tuple[int, int]
    n_tokens: int


class Lesson(NamedTuple):
    """A message to learn, or one that was learned; without a history it has no tokens."""

    digest: bytes
    label: int
    tokens: Mapping[str, int]
    sent: float | None = None
    name: str = ""


TokenCounts = tuple[int, int, int, int]  # ham, spam, ham_total, spam_total
NEVER: TokenCounts = (0, 0, 0, 0)
CountRow = tuple[str, int, int, int, int]  # a token and its counts


def digest_of(raw: bytes) -> bytes:
    """Return sixteen bytes that identify a message.

    They leave out our own headers, bytes beyond the limit, and lines that an mbox adds, so that a
    message has one digest in an mbox and in a file of its own.

    >>> digest_of(b"From x Mon Jul  1 2024\\nTo: a\\n\\nHi\\n\\n") == digest_of(b"To: a\\n\\nHi\\n")
    True
    """
    raw = raw.removeprefix(BYTE_ORDER_MARK)
    if raw.startswith(b"From "):
        raw = raw[raw.find(b"\n") + 1 :]
    limit = len(raw) if len(raw) <= MOST_BYTES else MOST_BYTES - MOST_OWN_BYTES
    if b"x-rosenblatt" in raw[: raw.find(b"\n\n")].lower():
        end = end_of_headers(raw)
        raw = OWN_HEADER.sub(b"", raw[:end]) + raw[end:]
    return hashlib.blake2b(raw[:limit].rstrip(b"\r\n"), digest_size=16).digest()


def count_rows(lessons: Iterable[Lesson]) -> list[CountRow]:
    """Return the sums of the counts of some messages, in the order of the tokens."""
    messages: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    repeats: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for lesson in lessons:
        messages[lesson.label].update(lesson.tokens.keys())
        for token, n in lesson.tokens.items():
            if n > 1:
                repeats[lesson.label][token] += n - 1
    names = sorted(messages[HAM].keys() | messages[SPAM].keys())
    columns = [map(counter.get, names, repeat(0)) for counter in (*messages, *repeats)]
    return [
        (token, ham, spam, ham + ham_repeats, spam + spam_repeats)
        for token, ham, spam, ham_repeats, spam_repeats in zip(names, *columns, strict=True)
    ]


class Store:
    """Counts of tokens in a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store.open(folder + "/spam.db") as store:
    ...     _ = store.learn([Lesson(b"1", SPAM, {"free": 2}), Lesson(b"2", HAM, {"hello": 1})])
    ...     store.counts(["free", "never"])
    {'free': (0, 1, 0, 2)}
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
        self.connection, self.path, self.read_only = connection, path, read_only

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, history: bool | None = None, read_only: bool = False
    ) -> Self:
        """Open a store, or create one that only its owner can read; `history` is of a new one."""
        path = Path(path)
        if not path.exists():
            if read_only:
                raise StoreError(f"There is no store {path}: learn some ham and spam first.")
            try:
                create_store(path, history=history is not False)
            except (sqlite3.Error, OSError) as error:
                raise StoreError(f"The store {path} cannot be made: {error}.") from None
        read_only = read_only or not os.access(path, os.W_OK)
        store = cls._opened(path, read_only)
        if history is False and store.fact("history"):
            store.close()
            raise StoreError(f"{path} keeps its history; --no-history is for a new store.")
        return store

    @classmethod
    def in_memory(cls, history: bool = True) -> Self:
        """Return an empty store that is not on the disk."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        create_tables(connection, history)
        return cls(connection, Path(":memory:"), read_only=False)

    @classmethod
    def _opened(cls, path: Path, read_only: bool) -> Self:
        """Open a file and check that it is a store.

        On a full or read-only disk SQLite cannot create the file of its lock. No other process
        can write there either, so the file is read without a lock, unless its log has changes.
        """
        modes = ["mode=ro", "immutable=1"] if read_only else ["mode=rw"]
        for mode in modes:
            try:
                store = cls(_connect(path, mode), path, read_only)
                store._check_versions()
                return store
            except sqlite3.Error as error:
                log = path.with_name(f"{path.name}-wal")
                if mode == modes[-1] or (log.exists() and log.stat().st_size):
                    raise StoreError(f"{path} cannot be read as a store: {error}.") from None
        raise AssertionError("unreachable")

    def _check_versions(self) -> None:
        for name, key, known in (("layout", "schema", SCHEMA), ("tokens", "tokens", VERSION)):
            found = self.fact(key)
            if not isinstance(found, int):
                raise sqlite3.DatabaseError(f"it has no version of its {name}")
            if found > known:
                raise StoreError(
                    f"{self.path} has {name} of version {found} and this program reads {known}: "
                    "install a newer rosenblatt."
                )
            if found < known:
                raise StoreError(
                    f"{self.path} has {name} of version {found} and this program reads {known}: "
                    "learn the messages again into a new store."
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    # Reading

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query; errors of a damaged file name the store."""
        try:
            return self.connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be read: {error}.") from None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the store, whatever other processes write meanwhile."""
        self._read("BEGIN")
        try:
            yield
        finally:
            for end in ("COMMIT", "ROLLBACK"):
                if self.connection.in_transaction:
                    with suppress(sqlite3.Error):  # of a damaged file, which was raised before
                        self.connection.execute(end)

    def fact(self, name: str) -> Any:
        """Return a value of the table of facts, or None."""
        rows = self.connection.execute("SELECT value FROM facts WHERE name = ?", (name,))
        return next((value for (value,) in rows), None)

    def n_messages(self) -> tuple[int, int]:
        """Return how many ham and spam have been learned."""
        n = dict(self._read("SELECT label, count(*) FROM messages GROUP BY label"))
        return n.get(HAM, 0), n.get(SPAM, 0)

    def revision(self) -> int:
        """Return a number that changes whenever the counts do."""
        ((revision,),) = self._read("SELECT value FROM facts WHERE name = 'revision'")
        return int(revision)

    def totals(self) -> Totals:
        """Return sums over all tokens."""
        ((ham, spam, ham_total, spam_total, n_tokens),) = self._read(
            "SELECT total(ham), total(spam), total(ham_total), total(spam_total), count(*) "
            "FROM tokens"
        )
        return Totals((int(ham), int(spam)), (int(ham_total), int(spam_total)), n_tokens)

    def counts(self, tokens: Iterable[str]) -> dict[str, TokenCounts]:
        """Return the counts of those tokens that the store has."""
        found: dict[str, TokenCounts] = {}
        for some in _batches(list(tokens), MOST_NAMES):
            rows = self._read(f"SELECT * FROM tokens WHERE token IN ({_places(some)})", some)
            found.update((token, tuple(counts)) for token, *counts in rows)
        return found

    def all_counts(self) -> dict[str, TokenCounts]:
        """Return the counts of all tokens, in the order of the tokens."""
        rows = self._read("SELECT * FROM tokens ORDER BY token")
        return {token: (a, b, c, d) for token, a, b, c, d in rows}

    def label_of(self, digest: bytes) -> int | None:
        """Return the label of a message; None if it was not learned."""
        rows = self._read("SELECT label FROM messages WHERE digest = ?", (digest,))
        return next((label for (label,) in rows), None)

    def messages(self, with_tokens: bool = True) -> Iterator[Lesson]:
        """Yield all messages that were learned, by the time they were sent."""
        try:
            if with_tokens:
                self.need_history("this")
            tokens = "tokens, counts" if with_tokens else "NULL, NULL"
            rows = self.connection.execute(
                f"SELECT digest, label, {tokens}, sent, name FROM messages "
                "ORDER BY sent IS NULL, sent, digest"
            )
            for digest, label, tokens, counts, sent, name in rows:
                yield Lesson(digest, label, self._unpacked(tokens, counts), sent, name)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be read: {error}.") from None

    def _unpacked(self, tokens: str | None, counts: bytes | None) -> dict[str, int]:
        """Return the tokens of a message from its row, none without a history."""
        try:
            names = tokens.split(BETWEEN) if tokens else []
            return dict(zip(names, array("i", counts or b""), strict=True))
        except (ValueError, TypeError):  # of another length, or type
            raise StoreError(f"{self.path} cannot be read: its history is damaged.") from None

    # Writing

    def learn(self, lessons: Sequence[Lesson]) -> list[bool]:
        """Learn a batch of messages in one transaction; return which of them were new."""
        with self.writing():
            new = self.which_new([lesson.digest for lesson in lessons])
            taken = [lesson for lesson, is_new in zip(lessons, new, strict=True) if is_new]
            self.add_rows(count_rows(taken))
            self._insert(taken)
        return new

    def forget(self, digest: bytes, tokens: Mapping[str, int] | None = None) -> int:
        """Forget a message; return its label. Without a history `tokens` is needed."""
        with self.writing():
            lesson = self._stored(digest, tokens)
            self._subtract(lesson)
        return lesson.label

    def correct(self, lesson: Lesson) -> int | None:
        """Learn a message with its right label; return the label that it had before."""
        if self.label_of(lesson.digest) == lesson.label:
            return lesson.label
        with self.writing():
            old = self.label_of(lesson.digest)
            if old is not None:
                self._subtract(self._stored(lesson.digest, lesson.tokens))
            self.add_rows(count_rows([lesson]))
            self._insert([lesson])
        return old

    def add_counts(self, messages: Sequence[Lesson], counts: Mapping[str, TokenCounts]) -> None:
        """Add the counts of another store without a history; refused if a message is in both."""
        with self.writing():
            known = self._known([message.digest for message in messages])
            if known:
                raise StoreError(
                    f"{len(known)} of the messages were learned here, too: nothing added."
                )
            if self.fact("history"):
                raise StoreError(f"{self.path} keeps a history, and the counts to add have none.")
            self.add_rows((token, *values) for token, values in sorted(counts.items()))
            self._insert(messages)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a transaction that changes the counts; an error undoes all of it."""
        if self.read_only:
            raise StoreError(f"{self.path} cannot be written to: check its permissions.")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            self.connection.execute("UPDATE facts SET value = value + 1 WHERE name = 'revision'")
            self.connection.execute("COMMIT")
        except BaseException as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise StoreError(f"{self.path} was left as it was: {error}.") from None
            raise

    def add_rows(self, rows: Iterable[CountRow]) -> None:
        """Add to the counts of tokens; rows in the order of the tokens are the fastest."""
        left = iter(rows)
        while some := list(islice(left, ROWS_AT_ONCE)):
            places = ",".join(["(?, ?, ?, ?, ?)"] * len(some))
            self.connection.execute(ADD_COUNTS.format(places), [*chain.from_iterable(some)])

    def _subtract(self, lesson: Lesson) -> None:
        """Take a message and its counts away."""
        rows = count_rows([lesson])
        self.add_rows((token, -a, -b, -c, -d) for token, a, b, c, d in rows)
        self.connection.executemany(
            "DELETE FROM tokens WHERE token = ? AND ham = 0 AND spam = 0",
            [(token,) for token, *_ in rows],
        )
        self.connection.execute("DELETE FROM messages WHERE digest = ?", (lesson.digest,))

    def _insert(self, lessons: Sequence[Lesson]) -> None:
        """Insert the rows of messages, with their tokens if a history is kept."""
        keep = bool(self.fact("history"))
        self.insert_messages(
            (
                *(one.digest, one.label, one.sent, one.name),
                BETWEEN.join(one.tokens) if keep else None,
                array("i", one.tokens.values()).tobytes() if keep else None,
            )
            for one in lessons
        )

    def insert_messages(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Insert messages: digest, label, time sent, name, tokens and their counts."""
        self.connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", rows)

    def which_new(self, digests: Sequence[bytes]) -> list[bool]:
        """Return which messages were not learned before, here or earlier in the list."""
        known, new = self._known(digests), []
        for digest in digests:
            new.append(digest not in known)
            known.add(digest)
        return new

    def _known(self, digests: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        for some in _batches(digests, MOST_NAMES):
            query = f"SELECT digest FROM messages WHERE digest IN ({_places(some)})"
            found.update(digest for (digest,) in self._read(query, some))
        return found

    def _stored(self, digest: bytes, tokens: Mapping[str, int] | None) -> Lesson:
        """Return a message that was learned, with the given tokens if there is no history."""
        query = "SELECT label, tokens, counts FROM messages WHERE digest = ?"
        rows = self._read(query, (digest,))
        if not rows:
            raise StoreError("This message was never learned, so there is nothing to forget.")
        ((label, names, counts),) = rows
        if names is not None:
            tokens = self._unpacked(names, counts)
        elif tokens is None:
            self.need_history("forgetting by digest")
        return Lesson(digest, label, tokens or {})

    def need_history(self, purpose: str) -> None:
        """Refuse a purpose that needs the history if there is none."""
        if not self.fact("history"):
            raise StoreError(
                f"{self.path} keeps counts only (--no-history), and {purpose} needs the history of "
                "each message."
            )

    def weights(self, model: str) -> tuple[int, bytes] | None:
        """Return the revision and the weights that were stored for a model, or None."""
        rows = self._read("SELECT revision, value FROM weights WHERE model = ?", (model,))
        return next(((revision, value) for revision, value in rows), None)

    def keep_weights(self, model: str, revision: int, value: bytes) -> None:
        """Store the weights of a model that was fitted to the counts of a revision."""
        if not self.read_only:
            with suppress(sqlite3.Error):  # on a full disk the model is fitted again
                self.connection.execute(
                    "INSERT OR REPLACE INTO weights VALUES (?, ?, ?)", (model, revision, value)
                )


def create_store(path: Path, history: bool) -> None:
    """Create an empty store atomically; only its owner can read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.execute("PRAGMA page_size = 8192")  # a third of the time of a large commit
            connection.execute("PRAGMA journal_mode = WAL")
            create_tables(connection, history)
        finally:
            connection.close()
        with suppress(FileExistsError):
            os.link(draft, path)  # unlike a rename, this never replaces another's store
    finally:
        for name in (draft, *draft.parent.glob(f"{draft.name}-*")):
            name.unlink(missing_ok=True)


def create_tables(connection: sqlite3.Connection, history: bool) -> None:
    """Create the tables of an empty store."""
    connection.executescript(TABLES)
    facts = {"schema": SCHEMA, "tokens": VERSION, "history": int(history), "revision": 0}
    connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _places(values: Sequence[Any]) -> str:
    """Return the placeholders of some values in a query."""
    return ",".join("?" * len(values))
