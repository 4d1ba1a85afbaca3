import errno
import os
from pathlib import Path
from tempfile import TemporaryFile

import pytest

import rosenblatt
from rosenblatt.data import TableError
from rosenblatt.workbench import comparison
from rosenblatt.workbench.comparison import ledger_for


@pytest.fixture
def closed(monkeypatch):
    """A set of folders in which no file can be made, whoever asks (root is never refused)."""
    folders = set()
    opened = Path.open

    def open_here(self, *args, **named):
        if self.parent in folders:
            raise PermissionError(13, "Permission denied")
        return opened(self, *args, **named)

    def make_there(dir):
        if dir in folders:
            raise PermissionError(13, "Permission denied")
        return TemporaryFile(dir=dir)

    monkeypatch.setattr(Path, "open", open_here)
    monkeypatch.setattr(comparison, "TemporaryFile", make_there)
    return folders


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data" / "table.csv"
    path.parent.mkdir()
    path.write_text("a,b\n1,2\n")
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


def test_the_ledger_is_among_ones_own_files_and_not_made_before_it_is_needed(table, here, tmp_path):
    path, word = ledger_for()
    assert path == tmp_path / "state" / "rosenblatt" / "test-openings.jsonl"
    assert not word
    assert not path.exists()


def test_else_it_is_in_the_working_folder(table, here, closed, tmp_path):
    closed.add(tmp_path / "state" / "rosenblatt")
    path, word = ledger_for()
    assert path == here / "test-openings.jsonl"
    assert word.startswith("No file can be written in")
    assert str(path) in word


def test_no_place_at_all_is_an_error_that_says_what_to_do(table, here, closed, tmp_path):
    closed |= {table.parent, here, tmp_path / "state" / "rosenblatt"}
    with pytest.raises(TableError, match=r"Permission denied.*a folder that can be written to"):
        ledger_for()


def test_a_ledger_that_cannot_be_written_shows_before_the_search(monkeypatch, tmp_path):
    monkeypatch.setattr(
        rosenblatt.workbench.comparison, "search_families", lambda *args: pytest.fail("searched")
    )
    with pytest.raises(TableError, match=r"cannot be written to .* \(No such file or directory\)"):
        rosenblatt.compare("iris", target="species", ledger=tmp_path / "no" / "such.jsonl")
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text("{}\n")
    with pytest.raises(ValueError, match=r"Line 1 of .* is not the record of an opening"):
        rosenblatt.compare("iris", target="species", ledger=damaged)


def test_the_same_comparison_again_is_no_second_look(here, tmp_path):
    path = tmp_path / "state" / "rosenblatt" / "test-openings.jsonl"
    for family, n_looks in (("GaussianNB", 1), ("GaussianNB", 1), ("Perceptron", 2)):
        found = rosenblatt.compare("iris", target="species", families=[family])
        assert found.findings.opening.times_opened == n_looks
        assert found.findings.opening.ledger == str(path)
    assert len(path.read_text().splitlines()) == 3


def test_the_folder_of_ones_own_files_follows_the_custom(monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert comparison._own_files() == Path(os.path.expanduser("~/.local/state/rosenblatt"))


def test_a_part_of_a_record_is_told_of_and_stops_no_comparison(here, capsys):
    for _ in range(2):
        found = rosenblatt.compare("iris", target="species", families=["Gaussian naive Bayes"])
    ledger = Path(found.findings.opening.ledger)
    ledger.write_bytes(ledger.read_bytes()[:-100])
    found = rosenblatt.compare("iris", target="species", families=["Gaussian naive Bayes"])
    assert found.findings.opening.times_opened == 2  # two of the three are the same
    [hint] = [hint.text for hint in found.findings.hints if hint.kind == "ledger"]
    assert hint.startswith(f"Line 2 of {ledger} holds a part of a record, and counts as an opening")


def test_to_ask_whether_a_ledger_can_be_written_makes_and_removes_none(table, here, monkeypatch):
    """Between both, another process may have written to it, and its record was lost."""
    removed = []
    monkeypatch.setattr(Path, "unlink", lambda path, **how: removed.append(path))
    ledger, _ = ledger_for()
    assert not ledger.exists()
    assert removed == []


@pytest.mark.parametrize("written", [0, 20])
def test_a_disk_that_fills_up_as_the_opening_is_recorded_loses_no_report(
    here, monkeypatch, tmp_path, written
):
    """The test set had been opened, and all that was found was thrown away with the error."""
    write = os.write

    def full(file, line):
        if b'{"test": "' not in line:
            return write(file, line)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, line[:written])

    monkeypatch.setattr(os, "write", full)
    found = rosenblatt.compare("iris", target="species", families=["GaussianNB"])
    opening = found.findings.opening
    assert opening.score > 0.8
    assert opening.times_opened == 1
    assert not opening.ledger
    assert any("could not be recorded in" in note for note in found.findings.notes)
    page = tmp_path / "report.html"
    found.report(page)
    assert "No space left on device" in page.read_text("utf-8")
