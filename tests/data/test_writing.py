"""Files that are whole, or not there."""

import os
from pathlib import Path

import pytest

from rosenblatt.data import TableError
from rosenblatt.data.files import check_places, place_for, whole_file


def test_a_file_appears_once_it_is_whole(tmp_path):
    path = tmp_path / "out.txt"
    with whole_file(path) as draft:
        draft.write_text("half")
        assert not path.exists()
    assert path.read_text() == "half"


def interrupted(path):
    """Writing that ends half way."""
    with whole_file(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt


def test_a_failure_leaves_nothing_or_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    for before in (None, "old"):
        if before:
            path.write_text(before)
        with pytest.raises(KeyboardInterrupt):
            interrupted(path)
        assert os.listdir(tmp_path) == ([path.name] if before else [])
    assert path.read_text() == "old"


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to("there")
    with whole_file(tmp_path / "link") as draft:
        draft.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "new"


def test_places_that_cannot_be_written_to_are_refused(tmp_path):
    with pytest.raises(TableError, match="is a folder; name a file in it"):
        place_for(tmp_path)
    with pytest.raises(TableError, match="does not exist"):
        place_for(tmp_path / "no" / "out.txt")


def test_what_is_read_is_not_written_over_by_whatever_name(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(table)
    for name in (table, tmp_path / "link.csv", tmp_path / "." / "table.csv"):
        with pytest.raises(TableError, match="would be overwritten"):
            place_for(name, "other.csv", table)
        with pytest.raises(TableError, match="would be overwritten"):
            place_for(table, name)


def test_two_outputs_are_two_files(tmp_path):
    check_places([tmp_path / "a", tmp_path / "b", os.devnull, os.devnull])
    with pytest.raises(TableError, match="is given for two output files"):
        check_places([tmp_path / "a", tmp_path / "." / "a"])


def test_the_null_device_takes_any_output_and_stays_one():
    assert place_for(os.devnull) == Path(os.devnull)
    with whole_file(os.devnull) as draft:
        draft.write_text("nothing is kept")
    assert Path(os.devnull).is_char_device()


def test_a_pipe_stays_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TableError, match="is not a regular file"):
        place_for(tmp_path / "pipe")
