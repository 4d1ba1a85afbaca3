"""The layout of a store: its tables, and the steps from older layouts to this one."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .history import packed, unpacked_1
from .tokens import VERSION

SCHEMA = 2
LABELS = ("ham", "spam")
TOKEN_INDEX = "CREATE UNIQUE INDEX token_names ON tokens (token)"

TABLES = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY, token TEXT NOT NULL,
    ham INTEGER NOT NULL, spam INTEGER NOT NULL,             -- messages that contain it
    ham_total INTEGER NOT NULL, spam_total INTEGER NOT NULL  -- occurrences
);
{TOKEN_INDEX};
CREATE TABLE messages (
    digest BLOB PRIMARY KEY, label INTEGER NOT NULL, sent REAL, name TEXT,
    tokens BLOB                                              -- see `history`; NULL: none is kept
) WITHOUT ROWID;
CREATE TABLE weights (model TEXT PRIMARY KEY, revision INTEGER NOT NULL, value BLOB) WITHOUT ROWID;
"""


def make_store(path: Path, history: bool) -> None:
    """Make an empty store, whole or not at all, that only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(TABLES)
            facts = {"schema": SCHEMA, "tokens": VERSION, "history": int(history), "revision": 0}
            for label in LABELS:
                facts |= {f"{label}_{what}": 0 for what in ("messages", "occurrences", "presences")}
            facts["n_tokens"] = 0
            connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        finally:
            connection.close()
        with suppress(FileExistsError):
            os.link(draft, path)  # unlike a rename, this never replaces another's store
    finally:
        for name in (draft, *draft.parent.glob(f"{draft.name}-*")):
            name.unlink(missing_ok=True)


def _from_schema_1(connection: sqlite3.Connection) -> None:
    """Histories were ids and counts of four bytes, compressed; they are shorter now."""
    rows = connection.execute("SELECT digest, tokens FROM messages WHERE tokens IS NOT NULL")
    connection.executemany(
        "UPDATE messages SET tokens = ? WHERE digest = ?",
        [(packed(unpacked_1(data)), digest) for digest, data in rows],
    )
    # The index belonged to the table, and could not be made anew on its own.
    connection.execute("ALTER TABLE tokens RENAME TO tokens_1")
    for statement in TABLES.split(";\n")[1:3]:
        connection.execute(statement)
    connection.execute("INSERT INTO tokens SELECT * FROM tokens_1")
    connection.execute("DROP TABLE tokens_1")


# From each older schema to the next.
STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _from_schema_1}


def migrate(connection: sqlite3.Connection, schema: int) -> None:
    """Take a store from an older schema to this one, within the transaction that is open."""
    for step in range(schema, SCHEMA):
        STEPS[step](connection)
    connection.execute("UPDATE facts SET value = ? WHERE name = 'schema'", (SCHEMA,))
