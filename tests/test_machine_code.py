"""Machine code that was kept answers as the loop it came from, and Numba stays unloaded."""

import os
import subprocess
import sys

import numpy as np
import pytest

from rosenblatt import machine_code
from rosenblatt.machine_code import MachineCode, form_of
from rosenblatt.term_table import TermTable, joined
from rosenblatt.term_table_loops import add_to_row, place_terms

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="there is no machine code"
)
TERMS = ["one", "two", "three", "a term of more than sixteen bytes"]


def arguments():
    held, limits = joined(TERMS)
    table = TermTable(len(TERMS), len(held))
    table.arena[: len(held)], table.limits[: len(limits)] = held, limits
    return table.arrays, np.arange(len(TERMS))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_code, "folder", lambda: tmp_path)
    return tmp_path


def test_kept_code_does_what_the_loop_does(folder):
    first, loaded, expected = arguments(), arguments(), arguments()
    place_terms(*expected)
    assert not MachineCode(place_terms).is_kept()
    MachineCode(place_terms)(*first)  # through Numba, and kept
    assert MachineCode(place_terms).is_kept()
    loop = MachineCode(place_terms)
    loop(*loaded)
    assert hasattr(loop._calls[form_of(loaded)], "engine")
    for found in (first, loaded):
        np.testing.assert_array_equal(found[0][0], expected[0][0])


def test_answers_are_returned(folder):
    for _ in range(2):
        loop = MachineCode(add_to_row)
        row = np.zeros(3, np.int32), np.zeros(3, np.int32)
        place = np.zeros(9, np.int32)
        assert loop(row, 0, 7, 1, place) == 1
        assert loop(row, 1, 7, 1, place) == 1
        assert loop(row, 1, 5, 1, place) == 2
        assert (row[0].tolist(), row[1].tolist()) == ([7, 5, 0], [2, 1, 0])


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-9], lambda data: b"", lambda data: b"x" * 99]
)
def test_damaged_code_is_compiled_again(folder, spoil):
    MachineCode(place_terms)(*arguments())
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))
    found = arguments()
    MachineCode(place_terms)(*found)
    assert file.read_bytes() == whole


def test_arrays_with_gaps_go_through_numba(folder):
    """Machine code is made for arrays without gaps; others have no file."""
    assert form_of((np.zeros(6)[::2],)) == ""
    (slots, arena, limits), order = arguments()
    MachineCode(place_terms)((slots, arena, np.repeat(limits, 2)[::2]), order)
    assert not list(folder.iterdir())


def test_what_cannot_be_kept_is_still_computed(monkeypatch):
    monkeypatch.setattr(machine_code, "folder", lambda: None)
    found = arguments()
    MachineCode(place_terms)(*found)
    assert np.count_nonzero(found[0][0][:, 1]) == len(TERMS)


LEARN = """
import sys, tempfile
from rosenblatt.spam import Mail, SpamFilter, spam_filter

spam_filter.MANY_TO_LEARN = 20
mails = [Mail("", b"Subject: hello\\n\\nthis is %d" % k, k % 2) for k in range(30)]
with tempfile.TemporaryDirectory() as folder, SpamFilter(folder + "/s") as found:
    found.learn(mails)
    assert found._learner is not None
"""


def test_many_messages_are_read_without_numba(monkeypatch):
    from rosenblatt.spam import spam_filter

    monkeypatch.setattr(spam_filter, "MANY_TO_LEARN", 20)
    monkeypatch.setattr(spam_filter, "MANY_TO_COMPILE", 0)
    exec(LEARN, {})  # keeps the machine code, if it was not
    code = f"{LEARN}\nprint(sorted({{'numba', 'scipy', 'sklearn'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
