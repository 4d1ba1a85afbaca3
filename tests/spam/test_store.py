"""Counts are exact: what is forgotten was never learned, and a kill loses nothing reported."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import zlib
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.spam import Mail, SpamFilter, StoreError, schema
from rosenblatt.spam import store as store_module
from rosenblatt.spam.export import export_lines, import_lines
from rosenblatt.spam.message import MOST_BYTES
from rosenblatt.spam.schema import SCHEMA
from rosenblatt.spam.store import HAM, SPAM, Lesson, Store, digest_of
from tests.spam.messages import ham, spam

LESSONS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.dictionaries(st.text("abc:", min_size=1), st.integers(1, 9), max_size=6),
    ),
    min_size=1,
    max_size=8,
)


def state(store):
    return store.all_counts(), store.totals()[:4]


@given(LESSONS, st.randoms(use_true_random=False))
def test_forgetting_is_never_having_learned(lessons, chance):
    with Store.open(f"{fresh()}/s.db") as store, Store.open(f"{fresh()}/s.db") as other:
        batch = [Lesson(bytes([k]), label, t) for k, (label, t) in enumerate(lessons)]
        store.learn(batch)
        kept = [lesson for lesson in batch if chance.random() < 0.5]
        for lesson in batch:
            if lesson not in kept:
                assert store.forget(lesson.digest) == lesson.label
        other.learn(kept)
        assert state(store) == state(other)


FOLDERS = []


@pytest.fixture(autouse=True)
def _folders(tmp_path_factory):
    FOLDERS.append(tmp_path_factory)
    yield
    FOLDERS.pop()


def fresh():
    return FOLDERS[-1].mktemp("store")


def test_learning_twice_is_noticed_and_correcting_moves_the_counts(tmp_path):
    with Store.open(tmp_path / "a.db") as store, Store.open(tmp_path / "b.db") as other:
        lesson = Lesson(b"1", HAM, {"free": 3})
        assert store.learn([lesson, lesson]) == [True, False]
        assert store.learn([lesson]) == [False]
        assert store.correct(lesson._replace(label=SPAM)) == HAM
        other.learn([lesson._replace(label=SPAM)])
        assert state(store) == state(other)
        with pytest.raises(StoreError, match="never learned"):
            store.forget(b"2")


def test_the_digest_leaves_out_headers_of_ours():
    raw = b"Subject: hi\n\nX-Rosenblatt: body\n"
    assert digest_of(b"X-Rosenblatt: spam\nX-Rosenblatt-Probability: 1\n" + raw) != digest_of(
        raw + b"!"
    )
    assert digest_of(b"X-Rosenblatt: spam\nSubject: hi\n\nbye") == digest_of(b"Subject: hi\n\nbye")
    # A line of the body counts, wherever it stands, and the headers of a long message do not.
    for body in (b"x" * 30_000 + b"\nX-Rosenblatt: body\n", b"y" * 2_000_000):
        raw = b"Subject: hi\r\n\r\n" + body
        long = b"X-ROSENBLATT-Probability: 1\r\n\t2\r\n" + raw
        assert digest_of(long[: MOST_BYTES + 1]) == digest_of(raw[: MOST_BYTES + 1])
    assert digest_of(b"A: b\n\nX-Rosenblatt: 1\n") != digest_of(b"A: b\n\nX-Rosenblatt: 2\n")


def test_a_store_is_its_owners_alone(tmp_path):
    Store.open(tmp_path / "deep" / "s.db").close()
    assert stat.S_IMODE(os.stat(tmp_path / "deep" / "s.db").st_mode) == 0o600
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["s.db"]


def test_stores_that_cannot_be_used_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="learn some ham and spam first"):
        Store.open(tmp_path / "none.db", read_only=True)
    (tmp_path / "text.db").write_text("hello" * 100)
    with pytest.raises(StoreError, match="cannot be read as a store"):
        Store.open(tmp_path / "text.db")
    for name in ("schema", "tokens"):
        path = tmp_path / f"{name}.db"
        Store.open(path).close()
        with sqlite3.connect(path) as file:
            file.execute("UPDATE facts SET value = 99 WHERE name = ?", (name,))
        file.close()
        with pytest.raises(StoreError, match="install a newer rosenblatt"):
            Store.open(path)
    with Store.open(tmp_path / "schema2.db") as store:
        store.read_only = True
        with pytest.raises(StoreError, match="cannot be written"):
            store.learn([Lesson(b"1", HAM, {"a": 1})])


def test_without_history_counts_remain_and_what_needs_more_is_refused(tmp_path):
    with SpamFilter(tmp_path / "s.db", history=False) as counts_only:
        counts_only.learn([Mail("", raw) for raw in ham(12)], "ham")
        counts_only.learn([Mail("", raw) for raw in spam(12)], "spam")
        with pytest.raises(StoreError, match="--no-history"):
            counts_only.forget(digest=digest_of(ham(1)[0]))
        with pytest.raises(StoreError, match="--no-history"):
            list(counts_only.store.messages())
        assert counts_only.forget(ham(1)[0]) == "ham"  # the message itself is enough
        assert counts_only.classify(spam(13)[-1]).label == "spam"


@pytest.mark.parametrize("history", [True, False])
def test_exports_carry_everything_and_are_not_counted_twice(tmp_path, history):
    with Store.open(tmp_path / "a.db", history=history) as store:
        store.learn([Lesson(bytes([k]), k % 2, {"é\n": k + 1, "b": 1}) for k in range(5)])
        before, lines = state(store), list(export_lines(store))
    opened = lambda kept: Store.open(tmp_path / "b.db", history=None if kept else False)  # noqa: E731
    assert import_lines(lines, opened) == 5
    if history:
        assert import_lines(lines, opened) == 0
    else:
        with pytest.raises(StoreError, match="nothing added"):
            import_lines(lines, opened)
    with Store.open(tmp_path / "b.db") as copy:
        assert state(copy) == before
    with pytest.raises(StoreError, match="no export"):
        import_lines(["{}"], opened)


def test_a_store_that_cannot_be_made_is_reported(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="cannot be made"):
        Store.open(tmp_path / "file" / "s.db")
    monkeypatch.setattr(schema, "TABLES", "no SQL")
    with pytest.raises(StoreError, match="cannot be made"):
        Store.open(tmp_path / "s.db")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_store_is_read_where_no_lock_can_be_written(tmp_path, monkeypatch):
    """On a full disk, or one that is mounted read-only, SQLite cannot open it as it is."""
    with Store.open(tmp_path / "s.db") as store:
        store.learn([Lesson(b"1", HAM, {"a": 1})])
    connected = store_module._connected

    def without_locks(path, how):
        return connected(tmp_path / "nowhere" if how == "mode=ro" else path, how)

    monkeypatch.setattr(store_module, "_connected", without_locks)
    with Store.open(tmp_path / "s.db", read_only=True) as store:
        assert store.totals().messages == (1, 0)
        with pytest.raises(StoreError, match="cannot be written"):
            store.learn([Lesson(b"2", HAM, {"a": 1})])
    # With changes in the log that are not in the file yet, it would be read as it was before.
    (tmp_path / "s.db-wal").write_bytes(b"changes")
    with pytest.raises(StoreError, match="cannot be read as a store"):
        Store.open(tmp_path / "s.db", read_only=True)


OLD_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, ham INTEGER NOT NULL,
    spam INTEGER NOT NULL, ham_total INTEGER NOT NULL, spam_total INTEGER NOT NULL
);
CREATE TABLE messages (
    digest BLOB PRIMARY KEY, label INTEGER NOT NULL, sent REAL, name TEXT, tokens BLOB
) WITHOUT ROWID;
CREATE TABLE weights (model TEXT PRIMARY KEY, revision INTEGER NOT NULL, value BLOB) WITHOUT ROWID;
"""


def store_of_schema_1(path):
    """Two messages as the first version kept them: `free` three times and `win` in a spam."""
    facts = {"schema": 1, "tokens": 1, "history": 1, "revision": 2, "n_tokens": 3}
    facts |= {"ham_messages": 1, "ham_occurrences": 1, "ham_presences": 1}
    facts |= {"spam_messages": 1, "spam_occurrences": 4, "spam_presences": 2}
    rows = [(1, "free", 0, 1, 0, 3), (2, "win", 0, 1, 0, 1), (3, "hello", 1, 0, 1, 0)]
    with sqlite3.connect(path) as file:
        file.executescript(OLD_TABLES)
        file.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        file.executemany("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)", rows)
        for digest, label, ids in ((b"s", SPAM, [1, 2, 1, 3, 1]), (b"h", HAM, [3, 0])):
            data = zlib.compress(array("I", ids).tobytes(), 1)
            file.execute("INSERT INTO messages VALUES (?, ?, 1.0, 'm', ?)", (digest, label, data))
    file.close()


def test_a_store_of_the_first_schema_is_migrated(tmp_path):
    path = tmp_path / "old.db"
    store_of_schema_1(path)
    wanted = {b"s": {1: 3, 2: 1}, b"h": {3: 1}}
    with Store.open(path, read_only=True) as store:  # read as it is
        assert {m.digest: m.tokens for m in store.messages()} == wanted
        assert store.fact("schema") == 1
    with Store.open(path) as store:
        assert store.fact("schema") == SCHEMA
        assert {m.digest: m.tokens for m in store.messages()} == wanted
        layout = "SELECT sql FROM sqlite_master WHERE tbl_name = 'tokens' ORDER BY name"
        with Store.open(tmp_path / "new.db") as new:
            assert [*store.connection.execute(layout)] == [*new.connection.execute(layout)]
            new.learn([Lesson(b"s", SPAM, {"free": 3, "win": 1}), Lesson(b"h", HAM, {"hello": 1})])
            assert state(store) == state(new)
        assert store.forget(b"s") == SPAM
        assert store.all_counts() == {"hello": (1, 0, 1, 0)}
        assert store.learn([Lesson(b"t", SPAM, {"free": 1})]) == [True]
        assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "old.db"
    store_of_schema_1(path)
    monkeypatch.setattr(schema, "TABLES", "a;\nno SQL;\n")
    with pytest.raises(StoreError, match="left as it was"):
        Store.open(path)
    monkeypatch.undo()
    with Store.open(path) as store:
        assert store.all_counts()["free"] == (0, 1, 0, 3)


LEARNER = """
import sys
from rosenblatt.spam.store import Lesson, Store
with Store.open(sys.argv[1]) as store:
    for k in range(100_000):
        store.learn([Lesson(k.to_bytes(4, "big"), k % 2, {"a": 1, f"w{k}": 2})])
        print(k, flush=True)
"""
# The same from compiled loops, which large batches take.
BATCH_LEARNER = """
import sys
from rosenblatt.spam.batch_learning import BatchLearner
from rosenblatt.spam.spam_filter import parsed_message
from rosenblatt.spam.store import Store
with Store.open(sys.argv[1]) as store:
    learner = BatchLearner(store)
    for k in range(100_000):
        word = "".join(chr(97 + int(digit)) for digit in str(k))
        learner.take([parsed_message(b"a: b\\n\\nxa x%s" % word.encode(), k % 2)])
        learner.learn()
        print(k, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize(("learner", "token"), [(LEARNER, "a"), (BATCH_LEARNER, "header:a")])
def test_a_kill_loses_nothing_that_was_reported(tmp_path, learner, token):
    for after in (1, 7, 40):
        path = tmp_path / f"{after}.db"
        with subprocess.Popen([sys.executable, "-c", learner, path], stdout=subprocess.PIPE) as job:
            for _ in range(after):
                last = int(job.stdout.readline())
            job.send_signal(signal.SIGKILL)
        with Store.open(path) as store:
            n = sum(store.totals().messages)
            assert n >= last + 1
            assert store.all_counts()[token][:2] == store.totals().messages
            assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_two_learners_and_a_reader_at_once(tmp_path):
    path = tmp_path / "s.db"
    Store.open(path).close()

    def learn(first):
        with Store.open(path) as store:
            for k in range(first, 60, 2):
                store.learn([Lesson(bytes([k]), k % 2, {"a": 1, f"w{k % 7}": 1})])

    threads = [threading.Thread(target=learn, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    with Store.open(path, read_only=True) as reader:
        while any(thread.is_alive() for thread in threads):
            reader.connection.execute("BEGIN")
            counts = reader.counts(["a"]).get("a", (0, 0))
            assert counts[:2] == reader.totals().messages
            reader.connection.execute("COMMIT")
        for thread in threads:
            thread.join()
        assert reader.totals().messages == (30, 30)


HEAD = {"rosenblatt spam": 1, "tokens": 1, "history": True, "ham": 1, "spam": 0}
MESSAGE = {"message": "00ff", "label": "ham", "sent": None, "name": "x", "tokens": {"a": 1}}


@pytest.mark.parametrize(
    "change",
    [
        {"message": "zz"},
        {"label": "maybe"},
        {"sent": "soon"},
        {"sent": float("nan")},
        {"name": 7},
        {"name": "\ud800"},
        {"tokens": ["a"]},
        {"tokens": {"a": -5}},
        {"tokens": {"a": 1.5}},
        {"tokens": {"a": 10**30}},
    ],
)
def test_exports_that_were_changed_are_refused_with_their_line(tmp_path, change):
    lines = [json.dumps(HEAD), json.dumps(MESSAGE | change)]
    with pytest.raises(StoreError, match="Line 2 of the export is no message as"):
        import_lines(lines, lambda history: Store.open(tmp_path / "s.db", history=history))
    with Store.open(tmp_path / "s.db") as store:
        assert store.totals().messages == (0, 0)


def test_exports_of_other_versions_and_without_sense_are_refused(tmp_path):
    def imported(*rows):
        lines = [json.dumps(row) for row in rows]
        return import_lines(lines, lambda kept: Store.open(tmp_path / f"{kept}.db", history=kept))

    with pytest.raises(StoreError, match="format of version 99, not 1"):
        imported(HEAD | {"rosenblatt spam": 99})
    with pytest.raises(StoreError, match="Line 2 of the export is no object"):
        imported(HEAD, [1])
    counts = HEAD | {"history": False}
    for wrong in ([1, 0, 0, 0], [1, 0, 1], [-1, 0, 0, 0], None):
        with pytest.raises(StoreError, match="Line 2 of the export is no token as"):
            imported(counts, {"token": "a", "counts": wrong})
    assert imported(counts, MESSAGE | {"tokens": None}, {"token": "a", "counts": [1, 0, 2, 0]}) == 1
