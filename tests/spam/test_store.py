"""Counts are exact: what is forgotten was never learned, and a kill loses nothing reported."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.spam import Mail, SpamFilter, StoreError
from rosenblatt.spam import store as store_module
from rosenblatt.spam.export import export_lines, import_lines
from rosenblatt.spam.message import MOST_BYTES
from rosenblatt.spam.store import HAM, SPAM, Lesson, Store, count_rows, digest_of
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
    return store.all_counts(), store.n_messages(), store.totals()


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
        for value, why in ((0, "learn the messages again"), ("one", "cannot be read as a store")):
            with sqlite3.connect(path) as file:
                file.execute("UPDATE facts SET value = ? WHERE name = ?", (value, name))
            file.close()
            with pytest.raises(StoreError, match=why):
                Store.open(path)
    with sqlite3.connect(tmp_path / "foreign.db") as file:
        file.execute("CREATE TABLE facts (other)")
    file.close()
    with pytest.raises(StoreError, match="cannot be read as a store"):
        Store.open(tmp_path / "foreign.db")
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
    monkeypatch.setattr(store_module, "TABLES", "no SQL")
    with pytest.raises(StoreError, match="cannot be made"):
        Store.open(tmp_path / "s.db")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_store_is_read_where_no_lock_can_be_written(tmp_path, monkeypatch):
    """On a full disk, or one that is mounted read-only, SQLite cannot open it as it is."""
    with Store.open(tmp_path / "s.db") as store:
        store.learn([Lesson(b"1", HAM, {"a": 1})])
    connect = store_module._connect

    def without_locks(path, how):
        return connect(tmp_path / "nowhere" if how == "mode=ro" else path, how)

    monkeypatch.setattr(store_module, "_connect", without_locks)
    with Store.open(tmp_path / "s.db", read_only=True) as store:
        assert store.n_messages() == (1, 0)
        with pytest.raises(StoreError, match="cannot be written"):
            store.learn([Lesson(b"2", HAM, {"a": 1})])
    # With changes in the log that are not in the file yet, it would be read as it was before.
    (tmp_path / "s.db-wal").write_bytes(b"changes")
    with pytest.raises(StoreError, match="cannot be read as a store"):
        Store.open(tmp_path / "s.db", read_only=True)


@pytest.mark.parametrize("damage", ["tokens = 'a'", "tokens = X'61'", "counts = 'abc'"])
def test_a_damaged_history_is_named(damage, tmp_path):
    with Store.open(tmp_path / "s.db") as store:
        store.learn([Lesson(b"1", HAM, {"a": 1, "b": 2})])
        store.connection.execute(f"UPDATE messages SET {damage}")
        for read in (lambda: list(store.messages()), lambda: store.forget(b"1")):
            with pytest.raises(StoreError, match="its history is damaged"):
                read()
        assert store.counts(["a"]) == {"a": (1, 0, 1, 0)}


def test_readers_of_one_state_do_not_see_what_others_write(tmp_path):
    with Store.open(tmp_path / "s.db") as store, Store.open(tmp_path / "s.db") as other:
        with store.snapshot():
            assert store.n_messages() == (0, 0)
            other.learn([Lesson(b"1", HAM, {"a": 1})])
            assert (store.n_messages(), store.all_counts()) == ((0, 0), {})
        assert store.n_messages() == (1, 0)


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
from rosenblatt.spam.spam_filter import lesson_of
from rosenblatt.spam.store import Store
with Store.open(sys.argv[1]) as store:
    learner = BatchLearner(store)
    for k in range(100_000):
        word = "".join(chr(97 + int(digit)) for digit in str(k))
        raw = b"a: b\\n\\nxa x%s" % word.encode()
        learner.learn([lesson_of(raw, k % 2)])
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
            n = sum(store.n_messages())
            assert n >= last + 1
            assert store.all_counts()[token][:2] == store.n_messages()
            sums = {name: tuple(counts) for name, *counts in count_rows(store.messages())}
            assert store.all_counts() == sums
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
            assert counts[:2] == reader.n_messages()
            reader.connection.execute("COMMIT")
        for thread in threads:
            thread.join()
        assert reader.n_messages() == (30, 30)


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
        {"tokens": {"": 1}},
        {"tokens": {"a\0b": 1}},
    ],
)
def test_exports_that_were_changed_are_refused_with_their_line(tmp_path, change):
    lines = [json.dumps(HEAD), json.dumps(MESSAGE | change)]
    with pytest.raises(StoreError, match="Line 2 of the export is no message as"):
        import_lines(lines, lambda history: Store.open(tmp_path / "s.db", history=history))
    with Store.open(tmp_path / "s.db") as store:
        assert store.n_messages() == (0, 0)


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
