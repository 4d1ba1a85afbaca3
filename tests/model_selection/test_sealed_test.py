"""The sealed test set counts every look at it, also by other processes, and keeps its rows in."""

import copy
import json
import os
import pickle
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from rosenblatt import SealedTest, Standardizer
from rosenblatt.model_selection.ledger import digest_of

X = np.arange(20.0).reshape(10, 2)
y = np.arange(10) % 3 == 0
MODEL = DummyClassifier().fit(X, y)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.jsonl"


def test_the_first_opening_is_silent_and_the_second_says_when_and_by_whom(ledger):
    # B1: the test set is for one look
    test = SealedTest(X, y, ledger=ledger)
    assert test.n_openings == 0
    assert repr(test) == "<SealedTest of 10 rows, never opened>"
    assert test.open(MODEL, reason="final") == MODEL.score(X, y)  # warnings are errors here
    assert repr(test) == "<SealedTest of 10 rows, opened once>"
    when = test.openings[0].when
    with pytest.warns(UserWarning, match="opened before") as caught:
        test.open(LogisticRegression().fit(X, y))
    message = str(caught[0].message)
    assert f"opened before: {when} by DummyClassifier (final). This is opening number 2" in message
    assert caught[0].filename == __file__
    assert repr(test) == "<SealedTest of 10 rows, opened 2 times>"


def test_the_ledger_says_what_was_asked_and_by_which_model(ledger):
    test = SealedTest(X, y, ledger=ledger)
    model = make_pipeline(Standardizer(), LogisticRegression(C=3.0)).fit(X, y)
    scores = test.open(model, scoring=["accuracy", "neg_log_loss"], reason="the paper")
    assert set(scores) == {"accuracy", "neg_log_loss"}
    (line,) = ledger.read_text().splitlines()
    record = json.loads(line)
    assert record["model"] == "sklearn.pipeline.Pipeline"
    assert "C=3.0" in record["parameters"]["steps"]
    assert record["scoring"] == ["accuracy", "neg_log_loss"]
    assert record["score"] == scores
    assert record["reason"] == "the paper"
    assert record["rows"] == 10
    assert record["test"] == test.digest
    assert len(record["model_hash"]) == 40
    assert record["when"].endswith("+00:00")


def test_another_session_counts_on(ledger):
    SealedTest(X, y, ledger=ledger).open(MODEL)
    later = SealedTest(X, y, ledger=ledger)
    assert later.n_openings == 1
    with pytest.warns(UserWarning, match="This is opening number 2"):
        later.open(MODEL)


def test_other_rows_in_the_same_ledger_are_another_test_set(ledger):
    SealedTest(X, y, ledger=ledger).open(MODEL)
    other = SealedTest(X + 1, y, ledger=ledger)
    assert other.n_openings == 0
    other.open(MODEL)
    assert SealedTest(X, ~y, ledger=ledger).n_openings == 0


def test_the_same_rows_are_known_in_any_order_and_storage():
    known = digest_of(X, y)
    order = np.random.RandomState(0).permutation(10)
    assert digest_of(X[order], y[order]) == known
    assert digest_of(np.asfortranarray(X), y.astype(int)) == known
    assert digest_of(X.astype(np.float32), y) == known  # these numbers have few digits
    assert digest_of(sp.csc_array(X), y) == known
    assert digest_of(pd.DataFrame(X), pd.Series(y)) == known
    assert digest_of(pl.DataFrame(X), pl.Series(y)) == known
    assert digest_of(X[order], y) != known
    assert digest_of(X[:, ::-1], y) != known
    words = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    assert digest_of(words, ["ham", "spam"]) == digest_of(words[::-1], ["spam", "ham"])
    assert digest_of(["a text", "another"], [0, 1]) != digest_of(["a text", "another"], [1, 0])


OPEN_IN_ANOTHER = """
import sys, warnings
import numpy as np
from sklearn.dummy import DummyClassifier
from rosenblatt import SealedTest
X = np.arange(20.0).reshape(10, 2)
y = np.arange(10) % 3 == 0
test = SealedTest(X, y, ledger=sys.argv[1])
model = DummyClassifier().fit(X, y)
sys.stdin.readline()
silent = 0
for _ in range(25):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test.open(model)
    silent += not caught
print(silent)
"""


def test_several_processes_at_once_lose_no_opening_and_one_of_them_is_first(ledger):
    command = [sys.executable, "-c", OPEN_IN_ANOTHER, str(ledger)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, **pipes) for _ in range(3)]
    silent = [worker.communicate("go\n")[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    assert sum(map(int, silent)) == 1
    assert SealedTest(X, y, ledger=ledger).n_openings == 75


def test_rows_do_not_leave_by_pickle_copy_or_attribute(ledger):
    test = SealedTest(X, y, ledger=ledger)
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied: its rows would lie open"):
            leave(test)
    assert not any(isinstance(value, np.ndarray) for value in vars(test).values())
    with pytest.raises(TypeError):
        test[0]
    with pytest.raises(TypeError):
        list(test)
    with pytest.raises(TypeError, match="scoring must give a number, or a dict of numbers; got nd"):
        test.open(MODEL, scoring=lambda model, X, y: X)
    assert test.n_openings == 0


def test_changing_the_given_rows_afterwards_changes_nothing(ledger):
    rows, labels = X.copy(), y.copy()
    test = SealedTest(rows, labels, ledger=ledger)
    labels[:] = ~labels
    assert test.open(MODEL) == MODEL.score(X, y)


def test_a_score_that_fails_is_no_opening_and_one_that_cannot_be_written_is_not_given(ledger):
    test = SealedTest(X, y, ledger=ledger)
    with pytest.raises(Exception, match="not fitted"):
        test.open(LogisticRegression())
    assert test.n_openings == 0
    assert not ledger.exists()
    ledger.mkdir()  # nothing can be written here
    with pytest.raises(OSError, match="ledger"):
        test.open(MODEL)


def test_a_ledger_that_cannot_be_read_is_reported_before_anything_is_seen(ledger):
    ledger.write_text('{"test": "not a record"}\n')
    test = SealedTest(X, y, ledger=ledger)
    with pytest.raises(ValueError, match=r"Line 1 of .*ledger.jsonl is not the record of an openi"):
        test.open(MODEL, scoring=lambda *_: pytest.fail("it was seen"))


def test_the_ledger_is_beside_the_data_or_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert SealedTest(X, y).ledger == tmp_path / "test-openings.jsonl"
    beside = SealedTest(X, y, data=tmp_path / "spam.csv").ledger
    assert beside == tmp_path / "spam.csv.openings.jsonl"
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert SealedTest(mapped, y).ledger == tmp_path / "rows.npy.openings.jsonl"
    test = SealedTest(X, y)
    os.chdir("/")
    test.open(MODEL)
    assert (tmp_path / "test-openings.jsonl").is_file()


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(ValueError, match="X has 10 and y has 3"):
        SealedTest(X, y[:3], ledger=tmp_path / "a")
    with pytest.raises(ValueError, match="not both"):
        SealedTest(X, y, ledger=tmp_path / "a", data=tmp_path / "b")
    with pytest.raises(FileNotFoundError, match="The folder of the ledger does not exist"):
        SealedTest(X, y, ledger=tmp_path / "nowhere" / "a")


def test_frames_texts_and_rows_without_labels_can_be_sealed(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = LogisticRegression().fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SealedTest(frame, y, ledger=tmp_path / "1").open(model) == model.score(frame, y)
        texts = SealedTest(["ham and eggs", "spam"], [0, 1], ledger=tmp_path / "2")
        assert texts.open(MODEL, scoring=lambda model, X, y: len(X[0])) == 12
        alone = SealedTest(X, ledger=tmp_path / "3")
        assert alone.open(MODEL, scoring=lambda model, X: X.sum()) == X.sum()


def test_a_table_of_dates_words_and_gaps_is_known_again(tmp_path):
    polars = pytest.importorskip("polars")
    from datetime import date

    frame = polars.DataFrame(
        {"when": [date(2020, 1, 2), date(2021, 3, 4)], "x": [1.5, None], "word": ["a", "b"]}
    )
    first = SealedTest(frame, ledger=tmp_path / "ledger")
    assert SealedTest(frame.reverse(), ledger=tmp_path / "ledger").digest == first.digest
    other = frame.with_columns(polars.lit(2.0).alias("x"))
    assert SealedTest(other, ledger=tmp_path / "ledger").digest != first.digest


def half_of(ledger):
    """The ledger with its last line cut in the middle, as if its writer had died."""
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])


@pytest.mark.filterwarnings("ignore:This test set")
def test_a_part_of_a_record_counts_and_blocks_nobody(ledger):
    test, other = SealedTest(X, y, ledger=ledger), SealedTest(X + 1, y, ledger=ledger)
    test.open(MODEL)
    test.open(MODEL)
    half_of(ledger)
    assert (test.n_openings, other.n_openings) == (2, 0)
    test.open(MODEL)  # begins a line of its own
    assert test.n_openings == 3
    assert ledger.read_text().count("\n") == 3
    with pytest.warns(UserWarning, match=r"opening number 4"):
        test.open(MODEL)


@pytest.mark.parametrize("left", ['{"te', '{"test": "', "\0\0\0"])
def test_one_that_tells_nothing_counts_for_every_test_set(ledger, left):
    ledger.write_text(left)
    test = SealedTest(X, y, ledger=ledger)
    assert test.n_openings == 1
    with pytest.warns(UserWarning, match=r"at a time that was not written down.*number 2"):
        test.open(MODEL)
    assert SealedTest(X + 1, y, ledger=ledger).n_openings == 1


def test_a_record_that_was_added_to_a_part_of_another_is_found(ledger):
    test = SealedTest(X, y, ledger=ledger)
    test.open(MODEL)
    line = ledger.read_text()
    ledger.write_text(line[:50] + line)
    assert test.n_openings == 2


@pytest.mark.parametrize("line", ["hello", "[1]", "{}", "[" * 100_000, "\ud800"])
def test_what_was_never_a_record_is_refused_with_what_to_do(ledger, line):
    ledger.write_bytes(line.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match=r"Line 1 of .* Take it out, or give another ledger"):
        SealedTest(X, y, ledger=ledger).open(MODEL)


def test_a_full_disk_gives_no_score_and_is_named(ledger, monkeypatch):
    test = SealedTest(X, y, ledger=ledger)
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:30]))
    with pytest.raises(OSError, match=r"No space left on device: .*ledger.jsonl"):
        test.open(MODEL)
    monkeypatch.undo()
    assert test.n_openings == 1  # it was looked at, though nobody was told


WRITE_UNTIL_KILLED = OPEN_IN_ANOTHER.replace("range(25)", "iter(int, 1)")


def test_processes_that_are_killed_as_they_write_spoil_nothing(ledger):
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, str(ledger)]
    workers = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(2)]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    deadline = time.monotonic() + 60
    while (not ledger.exists() or ledger.stat().st_size < 5000) and time.monotonic() < deadline:
        time.sleep(0.01)
    for worker in workers:
        worker.kill()
        worker.communicate()
    before = SealedTest(X, y, ledger=ledger).n_openings
    assert before > 2
    with pytest.warns(UserWarning, match=f"number {before + 1};"):
        SealedTest(X, y, ledger=ledger).open(MODEL)
