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


@pytest.mark.parametrize("ending", ["*.nbi", "*.nbc"])
def test_damaged_files_are_compiled_anew(tmp_path, ending):
    answer = run(FIT, tmp_path)[2]
    for file in tmp_path.rglob(ending):
        file.write_bytes(file.read_bytes()[:20])
    assert run(FIT, tmp_path)[1:] == ["1", answer]
    assert run(FIT, tmp_path) == ["1", "0", answer]


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
