"""Compiled loops are kept, found again, and never served stale."""

import ast
import os
import shutil
import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt.loops import cache

pytestmark = pytest.mark.needs_compiler

# A process reports how often its loop was found, how often compiled, and the loop's answer.
PASS = """
import numpy as np
from rosenblatt.linear_model.perceptron_loops import perceptron_pass as loop
w, b = np.zeros(1), np.zeros(1)
X, labels = np.array([[2.0], [-3.0]]), (np.array([-1.0, 1.0]),)
loop(X, labels, np.arange(2), 0, 9, 1.0, w, b, None, None)
stats = loop.dispatcher.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), w[0])
"""
# A loop that compiles in no time, for rows of the types that are named.
ADD = """
import sys
import numpy as np
from rosenblatt.loops import rows
for kind in sys.argv[1:] or ["f8"]:
    w = np.zeros(2)
    rows.add(np.ones((3, 2), kind), 1, 0.5, w)
    assert w.tolist() == [0.5, 0.5]
stats = rows.add.dispatcher.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), w[0])
"""


def run(script, cache, path=None, **environment):
    """Run a script in a fresh interpreter; the words that it prints."""
    env = {**os.environ, "ROSENBLATT_CACHE_DIR": str(cache), **environment}
    if path is not None:
        env["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.split()


@pytest.fixture
def package(tmp_path):
    """A copy of the package."""
    source, copy = Path(rosenblatt.__file__).parent, tmp_path / "copy" / "rosenblatt"
    return shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))


def test_a_second_process_finds_what_the_first_compiled_and_plain_python_agrees(tmp_path):
    first = run(PASS, tmp_path)
    assert first[:2] == ["0", "1"]
    assert run(PASS, tmp_path) == ["1", "0", first[2]]
    script = PASS.splitlines()[:-2] + ["print(w[0])"]
    assert run("\n".join(script), tmp_path, NUMBA_DISABLE_JIT="1") == [first[2]]


def test_a_process_that_finds_its_loops_does_not_set_up_the_compiler(tmp_path):
    """Numba imports and registers all that it can compile, which took half of a first fit."""
    script = PASS + "import sys; print('numba.np.npyimpl' in sys.modules)"
    assert run(script, tmp_path)[-1] == "True"
    assert run(script, tmp_path)[-1] == "False"


def test_a_change_in_a_helper_is_noticed(tmp_path, package):
    """Numba alone would serve the old machine code: the helper is in another file."""
    before = run(PASS, tmp_path / "cache", package.parent)
    helper = package / "loops" / "rows.py"
    source = helper.read_text(encoding="utf-8")
    changed = source.replace("w[j] += step * X[i, j]", "w[j] += 10 * step * X[i, j]")
    assert changed != source
    helper.write_text(changed, encoding="utf-8")
    after = run(PASS, tmp_path / "cache", package.parent)
    assert float(after[2]) == 10 * float(before[2])


def test_without_a_folder_to_write_to_it_works_all_the_same(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    assert run(ADD, in_the_way)[2] == "0.5"


def test_damaged_files_are_compiled_anew(tmp_path):
    run(ADD, tmp_path)
    (file,) = tmp_path.rglob("*.nbc")
    whole = file.read_bytes()
    assert len(whole) > 2000
    for size in (20, 2000):
        file.write_bytes(whole[:size])
        assert run(ADD, tmp_path) == ["0", "1", "0.5"]
    assert run(ADD, tmp_path) == ["1", "0", "0.5"]


def test_processes_that_compile_at_once_do_not_take_each_others_place(tmp_path):
    """With one index for all forms, some were lost, or served for others."""
    kinds = ["f8", "f4", "i8", "i4"]
    environment = {**os.environ, "ROSENBLATT_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", ADD]
    at_once = [subprocess.Popen([*command, kind], env=environment) for kind in kinds]
    assert [process.wait() for process in at_once] == [0] * 4
    said = subprocess.run([*command, *kinds], env=environment, capture_output=True, text=True)
    assert said.stdout.split() == ["4", "0", "0.5"], said.stderr


def test_the_installed_package_is_never_written_to(tmp_path, package):
    files = sorted(package.rglob("*"))
    run(PASS, tmp_path / "cache", package.parent, PYTHONDONTWRITEBYTECODE="1")
    assert sorted(package.rglob("*")) == files


@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")
def test_a_full_disk_is_no_reason_to_fail(tmp_path):
    script = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    script += "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
    assert run(script + ADD, tmp_path)[1] == "1"


def test_the_digest_of_a_loop_contains_every_module_that_it_imports():
    """Numbers imported from elsewhere would be compiled in, and stay after a change."""
    root = Path(rosenblatt.__file__).parent
    for path in sorted(root.rglob("*_loops.py")):
        package = ".".join(("rosenblatt", *path.relative_to(root).parts[:-1]))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                home = resolve_name("." * node.level + (node.module or ""), package)
                names = [home, *(f"{home}.{alias.name}" for alias in node.names)]
                is_ours = home.partition(".")[0] == "rosenblatt"
                assert not is_ours or any(map(cache._file, names)), (path.name, home)
