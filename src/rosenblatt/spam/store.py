"""What the filter has learned, in one SQLite file: how often each token came in ham and in spam.

Counts are additive: a message is learned by adding its counts and forgotten by taking them away
again, exactly. With its history the store keeps the counts of each message, so that a message can
be forgotten by its digest alone and every model can be refitted.

A batch of messages is one transaction. What `learn` has returned is on the disk; what was killed
before is not there at all. Readers see whole batches while a writer is at work (write-ahead log).
"""

import hashlib
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from .history import UNPACKED, packed
from .message import BYTE_ORDER_MARK, MOST_BYTES, Message, end_of_headers
from .schema import LABELS, SCHEMA, make_store, migrate
from .tokens import VERSION

HAM, SPAM = 0, 1
MOST_NAMES = 500  # of one query
MOST_OWN_BYTES = 4096  # of headers of ours, which push as many bytes over the limit
PATIENCE_SECONDS = 30.0  # to wait for another writer
OWN_HEADER = re.compile(rb"^x-rosenblatt[\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.I | re.M)


class StoreError(ValueError):
    """The store cannot do what was asked; nothing in it has changed.

    >>> from rosenblatt.spam import SpamFilter
    >>> SpamFilter("nowhere/spam.db", read_only=True)
    Traceback (most recent call last):
    rosenblatt.spam.store.StoreError: There is no store nowhere/spam.db: ...first.
    """


class Totals(NamedTuple):
    """What all messages add up to; pairs are (ham, spam)."""

    messages: tuple[int, int]
    occurrences: tuple[int, int]
    presences: tuple[int, int]  # distinct tokens of each message, added up
    n_tokens: int
    revision: int  # changes whenever the counts do


class Lesson(NamedTuple):
    """A message to be learned: its label, and how often it has each token."""

    digest: bytes
    label: int
    tokens: Mapping[str, int]
    sent: float | None = None
    name: str = ""


class ParsedMessage(NamedTuple):
    """A message to be learned, its tokens not counted yet."""

    digest: bytes
    label: int
    message: Message
    sent: float | None
    name: str


class StoredMessage(NamedTuple):
    """A message that was learned, as the file has it."""

    digest: bytes
    label: int
    sent: float | None
    name: str
    tokens: dict[int, int] | None  # by id


TokenCounts = tuple[int, int, int, int]  # ham, spam, ham_total, spam_total
NEVER: TokenCounts = (0, 0, 0, 0)


def digest_of(raw: bytes) -> bytes:
    """Sixteen bytes that name a message; headers of ours do not count, nor what is never read.

    Nor does what an mbox adds, so that a message has one name in an mbox and in a file of its own.

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


class Sums:
    """What some messages add up to, by label."""

    def __init__(self, messages: Iterable[tuple[int, Mapping[str, int]]]) -> None:
        self.messages = [0, 0]
        self.presences: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self.repeats: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for label, tokens in messages:
            self.messages[label] += 1
            self.presences[label].update(tokens.keys())
            repeats = self.repeats[label]
            for token, n in tokens.items():
                if n > 1:
                    repeats[token] += n - 1

    def tokens(self) -> list[str]:
        """All tokens, in the order in which the file keeps them."""
        return sorted(self.presences[HAM].keys() | self.presences[SPAM].keys())

    def of(self, token: str) -> TokenCounts:
        """The counts of a token."""
        ham, spam = self.presences[HAM][token], self.presences[SPAM][token]
        return ham, spam, ham + self.repeats[HAM][token], spam + self.repeats[SPAM][token]


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
        self._ids: dict[str, int] = {}
        self._unpacked = UNPACKED[SCHEMA]

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, history: bool | None = None, read_only: bool = False
    ) -> Self:
        """Open a store, or make one that only its owner can read; `history` is of a new one."""
        path = Path(path)
        if not path.exists():
            if read_only:
                raise StoreError(f"There is no store {path}: learn some ham and spam first.")
            try:
                make_store(path, history=history is not False)
            except (sqlite3.Error, OSError) as error:
                raise StoreError(f"The store {path} cannot be made: {error}.") from None
        read_only = read_only or not os.access(path, os.W_OK)
        try:
            store = cls(_connected(path, "mode=ro" if read_only else "mode=rw"), path, read_only)
            store._check_versions()
        except sqlite3.Error as error:
            wal = path.with_name(f"{path.name}-wal")
            if not read_only or (wal.exists() and wal.stat().st_size):
                raise StoreError(f"{path} cannot be read as a store: {error}.") from None
            store = cls._open_immutable(path)
        if history is False and store.fact("history"):
            raise StoreError(f"{path} keeps its history; --no-history is for a new store.")
        return store

    @classmethod
    def _open_immutable(cls, path: Path) -> Self:
        """Open a store in a folder that nothing can be written to, not even a lock.

        On a full disk or a read-only one no other can write to it either.
        """
        try:
            store = cls(_connected(path, "immutable=1"), path, read_only=True)
            store._check_versions()
        except sqlite3.Error as error:
            raise StoreError(f"{path} cannot be read as a store: {error}.") from None
        return store

    def _check_versions(self) -> None:
        schema, tokens = self.fact("schema"), self.fact("tokens")
        if schema is None:
            raise sqlite3.DatabaseError("it has no table of facts")
        for name, found, known in (("layout", schema, SCHEMA), ("tokens", tokens, VERSION)):
            if found > known:
                raise StoreError(
                    f"{self.path} has {name} of version {found} and this program reads up to "
                    f"{known}: install a newer rosenblatt."
                )
        if schema < SCHEMA:
            self._migrate(schema)
        if tokens < VERSION:
            raise StoreError(
                f"{self.path} counts tokens of version {tokens}, this program of {VERSION}: "
                "learn the messages again into a new store."
            )

    def _migrate(self, schema: int) -> None:
        """Bring an older store to this layout; one that is only read is read as it is."""
        if self.read_only:
            self._unpacked = UNPACKED[schema]
            return
        with self.writing():
            schema = self.fact("schema")  # another process may have been first
            if schema < SCHEMA:
                migrate(self.connection, schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    # Reading

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What a damaged file answers becomes an error that names the store."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be read: {error}.") from None

    def fact(self, name: str) -> Any:
        """One of the facts that are kept beside the counts; None if there is none."""
        try:
            row = self.connection.execute("SELECT value FROM facts WHERE name = ?", (name,))
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise
        return next((value for (value,) in row), None)

    def totals(self) -> Totals:
        """What all messages add up to."""
        with self.reading():
            facts = dict(self.connection.execute("SELECT name, value FROM facts"))
            pairs = [
                (facts.get(f"ham_{what}", 0), facts.get(f"spam_{what}", 0))
                for what in ("messages", "occurrences", "presences")
            ]
            return Totals(pairs[0], pairs[1], pairs[2], facts.get("n_tokens", 0), facts["revision"])

    def counts(self, tokens: Iterable[str]) -> dict[str, TokenCounts]:
        """The counts of those tokens that were ever seen."""
        with self.reading():
            found: dict[str, TokenCounts] = {}
            for some in _batches(list(tokens), MOST_NAMES):
                places = ",".join("?" * len(some))
                rows = self.connection.execute(
                    "SELECT token, ham, spam, ham_total, spam_total FROM tokens "
                    f"WHERE token IN ({places}) AND ham + spam > 0",
                    some,
                )
                found.update((token, (a, b, c, d)) for token, a, b, c, d in rows)
            return found

    def all_counts(self) -> dict[str, TokenCounts]:
        """The counts of all tokens."""
        with self.reading():
            rows = self.connection.execute(
                "SELECT token, ham, spam, ham_total, spam_total FROM tokens WHERE ham + spam > 0"
            )
            return {token: (a, b, c, d) for token, a, b, c, d in rows}

    def token_names(self) -> dict[int, str]:
        """The tokens by their ids."""
        with self.reading():
            return dict(self.connection.execute("SELECT id, token FROM tokens"))

    def label_of(self, digest: bytes) -> int | None:
        """How a message was learned; None if it was not."""
        with self.reading():
            row = self.connection.execute("SELECT label FROM messages WHERE digest = ?", (digest,))
            return next((label for (label,) in row), None)

    def messages(self) -> Iterator[StoredMessage]:
        """All messages that were learned, by the time they were sent."""
        with self.reading():
            self._need_history("this")
            rows = self.connection.execute(
                "SELECT digest, label, sent, name, tokens FROM messages "
                "ORDER BY sent IS NULL, sent, digest"
            )
            for digest, label, sent, name, data in rows:
                yield StoredMessage(digest, label, sent, name, self._unpacked(data))

    def digests(self) -> Iterator[StoredMessage]:
        """All messages that were learned, without their tokens."""
        with self.reading():
            rows = self.connection.execute("SELECT digest, label, sent, name FROM messages")
            for digest, label, sent, name in rows:
                yield StoredMessage(digest, label, sent, name, None)

    # Writing

    def learn(self, lessons: Sequence[Lesson]) -> list[bool]:
        """Learn a batch of messages in one transaction; return which of them were new."""
        with self.writing():
            new = self.which_new(lesson.digest for lesson in lessons)
            taken = [lesson for lesson, fresh in zip(lessons, new, strict=True) if fresh]
            self._add(Sums((lesson.label, lesson.tokens) for lesson in taken))
            keep = bool(self.fact("history"))
            self.insert_messages(
                (m.digest, m.label, m.sent, m.name, self._history(m.tokens) if keep else None)
                for m in taken
            )
        return new

    def forget(self, digest: bytes, tokens: Mapping[str, int] | None = None) -> int:
        """Forget a message; return what it was learned as. Without a history `tokens` is needed."""
        with self.writing():
            label, counted = self._stored(digest, tokens)
            self._add(Sums([(label, counted)]), sign=-1)
            self.connection.execute("DELETE FROM messages WHERE digest = ?", (digest,))
        return label

    def correct(self, lesson: Lesson, tokens: Mapping[str, int] | None = None) -> int | None:
        """Forget what a message was learned as and learn the right label; return the old one."""
        old = self.label_of(lesson.digest)
        if old == lesson.label:
            return old
        with self.writing():
            if old is not None:
                label, counted = self._stored(lesson.digest, tokens or lesson.tokens)
                self._add(Sums([(label, counted)]), sign=-1)
                self.connection.execute("DELETE FROM messages WHERE digest = ?", (lesson.digest,))
            self._add(Sums([(lesson.label, lesson.tokens)]))
            kept = self._history(lesson.tokens) if self.fact("history") else None
            self.insert_messages([(lesson.digest, lesson.label, lesson.sent, lesson.name, kept)])
        return old

    def add_counts(self, messages: Sequence[Lesson], counts: Mapping[str, TokenCounts]) -> None:
        """Add the counts of another store without a history; refused if a message is in both."""
        with self.writing():
            if shared := sum(1 for _ in self._known(message.digest for message in messages)):
                raise StoreError(f"{shared} of the messages were learned here, too: nothing added.")
            if self.fact("history"):
                raise StoreError(f"{self.path} keeps a history, and the counts to add have none.")
            sums = Sums((message.label, {}) for message in messages)
            for token, (ham, spam, ham_total, spam_total) in counts.items():
                for label, n, total in ((HAM, ham, ham_total), (SPAM, spam, spam_total)):
                    sums.presences[label][token] += n
                    sums.repeats[label][token] += total - n
            self._add(sums)
            self.insert_messages((m.digest, m.label, m.sent, m.name, None) for m in messages)

    def weights(self, model: str) -> tuple[int, bytes] | None:
        """The revision and the weights that were kept of a model; None if there are none."""
        with self.reading():
            rows = self.connection.execute(
                "SELECT revision, value FROM weights WHERE model = ?", (model,)
            )
            return next(((revision, value) for revision, value in rows), None)

    def keep_weights(self, model: str, revision: int, value: bytes) -> None:
        """Keep the weights of a model, fitted to the counts of a revision."""
        if not self.read_only:
            with suppress(sqlite3.Error):  # on a full disk they are fitted again
                self.connection.execute(
                    "INSERT OR REPLACE INTO weights VALUES (?, ?, ?)", (model, revision, value)
                )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it happens, or none."""
        if self.read_only:
            raise StoreError(f"{self.path} cannot be written to: check its permissions.")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._undo()
            raise StoreError(f"{self.path} was left as it was: {error}.") from None
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        self._ids.clear()  # some may not have been kept
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def _add(self, sums: Sums, sign: int = 1) -> None:
        """Add the sums of some messages to the counts, or take them away."""
        tokens = sums.tokens()
        self._give_ids(tokens)
        ids, of = self._ids, sums.of
        self.connection.executemany(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
            "ham = ham + excluded.ham, spam = spam + excluded.spam, "
            "ham_total = ham_total + excluded.ham_total, "
            "spam_total = spam_total + excluded.spam_total",
            [(ids[token], token, *[sign * n for n in of(token)]) for token in tokens],
        )
        presences = [sign * sum(sums.presences[k].values()) for k in (HAM, SPAM)]
        repeats = [sign * sum(sums.repeats[k].values()) for k in (HAM, SPAM)]
        occurrences = [presences[k] + repeats[k] for k in (HAM, SPAM)]
        self.change_totals([sign * n for n in sums.messages], presences, occurrences)

    def change_totals(
        self, messages: Sequence[int], presences: Sequence[int], occurrences: Sequence[int]
    ) -> None:
        """Add to what all messages add up to; pairs are (ham, spam)."""
        changes = {"revision": 1}
        for k, label in enumerate(LABELS):
            changes[f"{label}_messages"] = messages[k]
            changes[f"{label}_presences"] = presences[k]
            changes[f"{label}_occurrences"] = occurrences[k]
        self.connection.executemany(
            "UPDATE facts SET value = value + ? WHERE name = ?",
            [(change, name) for name, change in changes.items()],
        )
        self.connection.execute(
            "UPDATE facts SET value = (SELECT count(*) FROM tokens WHERE ham + spam > 0) "
            "WHERE name = 'n_tokens'"
        )

    def _give_ids(self, tokens: Iterable[str]) -> None:
        """Look up the ids of tokens; those that are new get the next ones."""
        unknown = [token for token in tokens if token not in self._ids]
        (last,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM tokens").fetchone()
        for some in _batches(unknown if last else [], MOST_NAMES):
            places = ",".join("?" * len(some))
            query = f"SELECT token, id FROM tokens WHERE token IN ({places})"
            self._ids.update(self.connection.execute(query, some))
        new = sorted(token for token in unknown if token not in self._ids)
        self._ids.update((token, last + k) for k, token in enumerate(new, 1))

    def _history(self, tokens: Mapping[str, int]) -> bytes:
        return packed({self._ids[token]: n for token, n in tokens.items()})

    def insert_messages(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Note messages: digest, label, when sent, name, tokens."""
        self.connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", rows)

    def which_new(self, digests: Iterable[bytes]) -> list[bool]:
        """Which messages were not learned before, here or earlier in the list."""
        digests = list(digests)
        known, new = set(self._known(digests)), []
        for digest in digests:
            new.append(digest not in known)
            known.add(digest)
        return new

    def _known(self, digests: Iterable[bytes]) -> Iterator[bytes]:
        for some in _batches(list(digests), MOST_NAMES):
            places = ",".join("?" * len(some))
            query = f"SELECT digest FROM messages WHERE digest IN ({places})"
            yield from (digest for (digest,) in self.connection.execute(query, some))

    def _stored(
        self, digest: bytes, tokens: Mapping[str, int] | None
    ) -> tuple[int, Mapping[str, int]]:
        """The label and the counts of a message that was learned."""
        row = self.connection.execute(
            "SELECT label, tokens FROM messages WHERE digest = ?", (digest,)
        ).fetchone()
        if row is None:
            raise StoreError("This message was never learned, so there is nothing to forget.")
        if row[1] is None:
            if tokens is None:
                self._need_history("forgetting by digest")
            return row[0], tokens or {}
        counted = self._unpacked(row[1])
        names = dict(
            self.connection.execute(
                f"SELECT id, token FROM tokens WHERE id IN ({','.join(map(str, counted))})"
            )
        )
        return row[0], {names[number]: n for number, n in counted.items()}

    def _need_history(self, what: str) -> None:
        if not self.fact("history"):
            raise StoreError(
                f"{self.path} keeps counts only (--no-history), and {what} needs the history of "
                "each message."
            )


def _connected(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}", uri=True, timeout=PATIENCE_SECONDS,
        isolation_level=None, check_same_thread=False,
    )  # fmt: skip


def _batches(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def tokens_by_name(message: StoredMessage, names: Mapping[int, str]) -> Counter[str]:
    """The tokens of a message that was learned."""
    return Counter({names[number]: n for number, n in (message.tokens or {}).items()})
