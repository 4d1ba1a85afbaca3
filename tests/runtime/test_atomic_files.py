"""A file is there whole or not at all, and a process that was killed leaves no draft for ever."""

import os
import signal
import subprocess
import sys

import pytest

from rosenblatt.runtime import atomic_files
from rosenblatt.runtime.atomic_files import drafted, drafted_together


def write(path, content="all"):
    with drafted(path) as draft:
        draft.write_text(content)


def test_a_file_keeps_its_mode_and_is_whole(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(0o640)
    write(path, "after")
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_file_that_cannot_take_its_place_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")

    def fail(*_):
        raise OSError(28, "disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full") as raised:
        write(path)
    assert raised.value.filename == str(path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("when", [1, 2, 3])
def test_files_that_belong_together_change_together(when, tmp_path, monkeypatch):
    paths = [tmp_path / f"part {k}" for k in range(3)]
    for path in paths:
        path.write_text("before")
    synced, times = os.fsync, []

    def full(file):
        times.append(file)
        if len(times) == when:
            raise OSError(28, "disk full")
        synced(file)

    def write_all(word):
        with drafted_together(paths, ["a", "b", "c"]) as atomic_files:
            for draft in atomic_files:
                draft.write_text(word)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full") as raised:
        write_all("lost")
    assert raised.value.filename == "c"
    assert [path.read_text() for path in paths] == ["before"] * 3
    write_all("after")
    assert [path.read_text() for path in paths] == ["after"] * 3
    assert len(os.listdir(tmp_path)) == 3


WRITES_FOR_EVER = """
import sys, time
from pathlib import Path
from rosenblatt.runtime.atomic_files import drafted

with drafted(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    print("now", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def writer(tmp_path):
    """A process that has written half of a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES_FOR_EVER, str(tmp_path / "page.html")],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "now\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.skipif(not os.path.exists("/proc/self/ns/pid"), reason="nobody tells who lives")
def test_the_draft_of_a_killed_process_goes_with_the_next_writing_of_the_file(writer, tmp_path):
    [draft] = os.listdir(tmp_path)
    write(tmp_path / "page.html")
    assert sorted(os.listdir(tmp_path)) == [draft, "page.html"]  # its writer is at work
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    write(tmp_path / "other.html")
    assert draft in os.listdir(tmp_path)  # of another file
    write(tmp_path / "page.html")
    assert sorted(os.listdir(tmp_path)) == ["other.html", "page.html"]


def test_drafts_of_which_nobody_can_say_whether_they_are_written_stay(
    writer, tmp_path, monkeypatch
):
    writer.kill()
    writer.wait()
    [draft] = os.listdir(tmp_path)
    monkeypatch.setattr(
        atomic_files, "_home", lambda: "another!"
    )  # a machine that shares the folder
    write(tmp_path / "page.html")
    monkeypatch.setattr(atomic_files, "_home", lambda: atomic_files.NOWHERE)
    write(tmp_path / "page.html")
    assert sorted(os.listdir(tmp_path)) == [draft, "page.html"]


def test_a_process_of_another_user_lives(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert atomic_files._lives(1)


def test_a_system_that_says_nothing_of_its_processes_is_nowhere(monkeypatch):
    monkeypatch.setattr(os, "readlink", lambda path: (_ for _ in ()).throw(OSError()))
    assert atomic_files._home() == atomic_files.NOWHERE


def test_a_name_as_long_as_file_systems_allow_can_be_written(tmp_path):
    """The draft's name is longer than the file's, and was too long."""
    path = tmp_path / ("n" * 255)
    with drafted(path) as draft:
        draft.write_text("all of it")
    assert path.read_text() == "all of it"
    assert list(tmp_path.iterdir()) == [path]
