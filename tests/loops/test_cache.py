"""Compiled loops are kept, found again, and never served stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rosenblatt

pytestmark = pytest.mark.needs_compiler

FIT = (
    "import warnings; warnings.simplefilter('ignore')\n"
    "from rosenblatt import Perceptron, loops\n"
    "model = Perceptron(max_iter=1).fit([[2.0], [-3.0]], [0, 1])\n"
    "stats = loops.perceptron.perceptron_pass.stats\n"
    "print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), model.coef_[0, 0])\n"
)


def run(script, cache, path=None, **environment):
    """Run a script in a fresh interpreter; its words."""
    env = {**os.environ, "ROSENBLATT_CACHE_DIR": str(cache), **environment}
    if path is not None:
        env["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def test_a_second_process_finds_what_the_first_compiled(tmp_path):
    assert run(FIT, tmp_path)[:2] == ["0", "1"]
    assert run(FIT, tmp_path)[:2] == ["1", "0"]


def test_a_change_in_a_helper_is_noticed(tmp_path):
    """Numba alone would serve the old machine code: the helper is in another file."""
    package = tmp_path / "copy" / "rosenblatt"
    shutil.copytree(Path(rosenblatt.__file__).parent, package)
    before = run(FIT, tmp_path / "cache", package.parent)
    helper = package / "loops" / "rows.py"
    source = helper.read_text(encoding="utf-8")
    changed = source.replace("w[j] += step * X[i, j]", "w[j] += 10 * step * X[i, j]")
    assert changed != source
    helper.write_text(changed, encoding="utf-8")
    after = run(FIT, tmp_path / "cache", package.parent)
    assert float(after[2]) == 10 * float(before[2])


def test_without_a_folder_to_write_to_it_works_all_the_same(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    assert run(FIT, in_the_way)[2] == run(FIT, tmp_path / "cache")[2]


@pytest.mark.parametrize("size", [20, 2000])
def test_damaged_files_are_compiled_anew(tmp_path, size):
    answer = run(FIT, tmp_path)[2]
    for file in tmp_path.rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:size])
    assert run(FIT, tmp_path)[1:] == ["1", answer]
    assert run(FIT, tmp_path) == ["1", "0", answer]


FORM = """
import sys
import numpy as np
from rosenblatt.loops import rows

kinds = [np.dtype(kind) for kind in sys.argv[1:]]
for kind in kinds:
    w = np.zeros(2)
    rows.add(np.ones((3, 2), kind), 1, 0.5, w)
    assert w.tolist() == [0.5, 0.5]
print(sum(rows.add.stats.cache_hits.values()), sum(rows.add.stats.cache_misses.values()))
"""


def test_processes_that_compile_at_once_do_not_take_each_others_place(tmp_path):
    """With one index for all forms, some were lost, or served for others."""
    kinds = ["f8", "f4", "i8", "i4"]
    environment = {**os.environ, "ROSENBLATT_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", FORM]
    at_once = [subprocess.Popen([*command, kind], env=environment) for kind in kinds]
    assert [process.wait() for process in at_once] == [0] * 4
    said = subprocess.run([*command, *kinds], env=environment, capture_output=True, text=True)
    assert said.stdout.split() == ["4", "0"], said.stderr


def test_the_installed_package_is_never_written_to(tmp_path):
    package = tmp_path / "copy" / "rosenblatt"
    shutil.copytree(
        Path(rosenblatt.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    files = sorted(package.rglob("*"))
    run(FIT, tmp_path / "cache", package.parent, PYTHONDONTWRITEBYTECODE="1")
    assert sorted(package.rglob("*")) == files


def test_plain_python_gives_the_same_answer(tmp_path):
    script = FIT.splitlines()[:-2] + ["print(model.coef_[0, 0])"]
    plain = run("\n".join(script), tmp_path, NUMBA_DISABLE_JIT="1")
    assert plain[0] == run(FIT, tmp_path)[2]


@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")
def test_a_full_disk_is_no_reason_to_fail(tmp_path):
    script = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    script += "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
    assert run(script + FIT, tmp_path)[1] == "1"
