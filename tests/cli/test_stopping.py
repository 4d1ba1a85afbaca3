"""Ctrl-C before there is anything to report: a sentence says what there is; the code is 130."""

import os
import signal
import subprocess
import sys
import time

import pytest

from rosenblatt.cli import compare as compare_module
from rosenblatt.cli import tables as tables_module
from rosenblatt.workbench import clustering
from rosenblatt.workbench.comparison import Comparison
from tests.cli.commands import run

STOPPED = 130


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def interrupted(*_, **__):
    raise KeyboardInterrupt


def compared(*more):
    result = run("compare", "iris", "--target", "species", *more)
    assert result.exit_code == STOPPED
    return result.stderr


def test_while_the_table_is_read(here, monkeypatch):
    monkeypatch.setattr(tables_module, "read_table", interrupted)
    assert compared() == "Stopped before the first fit; nothing was written.\n"
    assert list(here.iterdir()) == []


def test_once_families_are_tried(here, monkeypatch):
    def tried(*_, progress, **__):
        progress([], "ridge regression", None)
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_module, "compare", tried)
    assert compared() == "Stopped before the report was written.\n"


def test_while_the_report_is_written_it_is_written_all_the_same(here, monkeypatch):
    """The test set was open, and its score was lost."""
    write, times = Comparison.report, []

    def interrupted_once(self, path):
        times.append(path)
        return write(self, path) if len(times) > 1 else interrupted()

    monkeypatch.setattr(Comparison, "report", interrupted_once)
    said = run("compare", "iris", "--target", "species", "--families", "GaussianNB")
    assert said.exit_code == 0
    assert (here / "report.html").exists()
    assert "Report: report.html" in said.stdout


def test_the_report_is_written_before_anything_is_printed_of_it(here, monkeypatch):
    monkeypatch.setattr(compare_module, "_answer", interrupted)
    compared("--families", "GaussianNB")
    assert (here / "report.html").exists()


def test_a_terminal_without_the_characters_does_not_end_a_run(here):
    words = [sys.executable, "-m", "rosenblatt", "compare", "iris", "--target", "species"]
    words += ["--families", "GaussianNB"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert (here / "report.html").exists()


def test_while_the_model_is_saved(here, monkeypatch):
    monkeypatch.setattr(Comparison, "save", interrupted)
    said = compared("--save", "m.skops", "--families", "GaussianNB")
    assert said == "Stopped before the model was written to m.skops.\n"
    assert (here / "report.html").exists()


@pytest.mark.parametrize(
    ("module", "word"),
    [
        ("argparse", "Stopped."),
        ("rosenblatt.cli.arguments", "Stopped."),
        ("rosenblatt.cli.compare", "Stopped before the first fit; nothing was written."),
        ("polars", "Stopped before the first fit; nothing was written."),
    ],
)
def test_while_modules_are_loaded(here, module, word):
    code = f"""
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
from rosenblatt.cli import main
main()
"""
    words = [sys.executable, "-c", code, "compare", "iris", "--target", "species"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (STOPPED, f"{word}\n")
    assert list(here.iterdir()) == []


def test_other_commands_say_a_word_too(here, monkeypatch):
    monkeypatch.setattr(tables_module, "read_table", interrupted)
    result = run("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    assert (result.exit_code, result.stderr) == (STOPPED, "Stopped.\n")


def test_before_the_first_clustering(here, monkeypatch):
    monkeypatch.setattr(clustering, "_tried", interrupted)
    result = run("cluster", "iris")
    assert (result.exit_code, result.stderr) == (
        STOPPED,
        "Stopped before the report was written.\n",
    )
    assert list(here.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")
def test_ctrl_c_ends_warm_and_its_workers(tmp_path):
    """Ctrl-C reaches the whole group; no worker goes on compiling."""
    done = subprocess.Popen(
        [sys.executable, "-m", "rosenblatt", "warm", "--jobs", "2"],
        env={**os.environ, "ROSENBLATT_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.stdout.readline().startswith("Compiling the inner loops")
    time.sleep(5)  # the workers are compiling
    os.killpg(done.pid, signal.SIGINT)
    output, _ = done.communicate(timeout=30)
    assert done.returncode == STOPPED
    assert "Compiled loops are kept" in output
    deadline = time.monotonic() + 10
    while has_processes(done.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def has_processes(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_report_of_many_columns_has_its_time_within_the_budget(here, monkeypatch):
    """A page that lists 50,000 columns took most of a second longer than the budget."""
    kept = []

    def tried(*_, budget, **__):
        kept.append(budget.after)
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_module, "compare", tried)
    for n in (10, 20_000):
        names = ",".join(f"c{j}" for j in range(n))
        (here / "wide.csv").write_text(f"{names}\n" + f"{','.join(['1'] * n)}\n" * 2)
        run("compare", "wide.csv", "--target", "c0", "--budget", "30")
    assert kept[1] >= kept[0] + 0.3
