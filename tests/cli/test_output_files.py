"""Output files are old or whole, whatever happens to who writes them."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rosenblatt.cli import split as split_module
from rosenblatt.data import read_table
from rosenblatt.workbench.model_file import load_model
from tests.cli.commands import done, refused, run

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    X = np.random.default_rng(0).normal(size=(4000, 4))
    frame = pl.DataFrame(X, schema=names).with_columns(species=pl.Series(["u", "v"] * 2000))
    frame.write_csv("rows.csv")
    frame.write_parquet("rows.parquet")
    done("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    return tmp_path


WRITERS = {
    "fit": "fit iris --target species --model GaussianNB -o out.skops",
    "predict": "predict m.skops rows.csv -o out.csv",
    "trace": "trace iris --target species --model AveragedPerceptron -o out.html",
    "split": "split rows.csv --out parts --force",
    "parquet": "split rows.parquet --out parts --force",
}


@pytest.fixture
def small_files():
    """A function that allows files of 2,000 bytes, until the test ends."""
    resource = pytest.importorskip("resource")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, usual[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, usual)


@pytest.mark.parametrize("command", ["predict", "trace", "parquet"])
def test_no_room_is_one_sentence_and_leaves_nothing(here, command, small_files):
    before = {path: path.read_bytes() for path in here.rglob("*")}
    small_files()
    last = refused(*WRITERS[command].split())
    assert last.endswith(": file too large.")
    assert "out." in last or "parts/rows.train." in last
    assert {path: path.read_bytes() for path in here.rglob("*")} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_an_output_that_takes_no_more_is_one_sentence(here):
    words = [sys.executable, "-m", "rosenblatt", "predict", "m.skops", "rows.csv"]
    with open("/dev/full", "wb") as full:
        result = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        "Error: Cannot write the output: no space left on device."
    ]


def test_a_reader_that_goes_away_leaves_no_traceback(here):
    words = [sys.executable, "-m", "rosenblatt", "predict", "m.skops", "rows.csv"]
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        result = subprocess.run(words, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) <= 1


# One process after the other writes all kinds of files, again and again.
WRITE_ON = """
import os, sys
from rosenblatt.cli import execute
sys.stdout = open(os.devnull, "w")
commands = sys.stdin.readline().split(";")
while True:
    for command in commands:
        assert execute(command.split()) == 0
    print("round", file=sys.__stdout__, flush=True)
"""


def writers_until_killed(n, seconds):
    """So many processes that write the same files; killed in the middle of it."""
    commands = ";".join(WRITERS[name] for name in ("fit", "predict", "trace", "split")) + "\n"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": ENVIRONMENT}
    workers = [subprocess.Popen([sys.executable, "-c", WRITE_ON], **pipes) for _ in range(n)]
    for worker in workers:
        worker.stdin.write(commands)
        worker.stdin.flush()
    for worker in workers:
        assert worker.stdout.readline() == "round\n"
    time.sleep(seconds)
    for worker in workers:
        worker.kill()
        worker.communicate()


def test_files_are_whole_though_two_write_them_and_both_are_killed(here):
    writers_until_killed(2, random.random())
    assert load_model("out.skops").n_rows == 150
    assert len(pl.read_csv("out.csv")) == 4000
    assert Path("out.html").read_text().rstrip().endswith("</html>")
    parts = [len(read_table(f"parts/rows.{part}.csv")) for part in ("train", "dev", "test")]
    assert parts == [2400, 800, 800]


PARTS = [f"parts/rows.{part}.csv" for part in ("train", "dev", "test")]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["write_table", "fsync"])
@pytest.mark.parametrize("when", [1, 2, 3])
def test_a_split_that_fails_half_way_leaves_all_old_parts(here, monkeypatch, error, step, when):
    done("split", "rows.csv", "--out", "parts")
    before = [Path(path).read_bytes() for path in PARTS]
    module = {"write_table": split_module, "fsync": os}[step]
    usual, calls = getattr(module, step), []

    def fails(*arguments):
        calls.append(step)
        if len(calls) == when:
            raise error
        return usual(*arguments)

    monkeypatch.setattr(module, step, fails)
    result = run("split", "rows.csv", "--out", "parts", "--force", "--seed", 1)
    assert result.exit_code in (2, 130)
    assert [Path(path).read_bytes() for path in PARTS] == before
    assert len(os.listdir("parts")) == 4
    done("split", "rows.csv", "--out", "parts", "--force", "--seed", 1)
    assert [Path(path).read_bytes() for path in PARTS] != before


def test_ctrl_c_after_the_parts_are_there_leaves_them_sealed(here, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(split_module, "SealedTest", interrupted)
    assert run("split", "rows.csv", "--out", "parts").exit_code == 130
    assert sorted(os.listdir("parts"))[2:] == ["rows.test.csv.openings.jsonl", "rows.train.csv"]


def test_a_folder_that_was_made_for_nothing_goes_again(here):
    assert "no column" in refused("split", "rows.csv", "--time", "when", "--out", "new/parts")
    assert not Path("new").exists()
    done("split", "rows.csv", "--out", "new/parts")
    assert len(os.listdir("new/parts")) == 4
