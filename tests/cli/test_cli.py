"""The command line, as users type it."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rosenblatt

COMMAND = str(Path(sys.executable).parent / "rosenblatt")


def run(*arguments, **environment):
    return subprocess.run(
        [COMMAND, *arguments],
        env={**os.environ, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_names_every_command():
    done = run("--help")
    assert done.returncode == 0
    names = "compare fit predict explain certify trace split models warm doctor"
    for command in names.split():
        assert command in done.stdout


def test_help_imports_nothing_heavy():
    script = (
        "import sys\n"
        "sys.argv = ['rosenblatt', '--help']\n"
        "from rosenblatt.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'rich.progress'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_version():
    assert run("--version").stdout.strip() == f"rosenblatt {rosenblatt.__version__}"


def test_an_unknown_command_is_an_error():
    done = run("wram")
    assert done.returncode == 2
    assert "No such command 'wram'" in done.stderr


def test_doctor_finds_everything_here():
    done = run("doctor", ROSENBLATT_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout
    for word in (
        "numpy",
        "scikit-learn",
        "extra: plot",
        "ROSENBLATT_NUM_THREADS=1",
        "All required packages",
    ):
        assert word in done.stdout


def test_doctor_says_when_nothing_can_be_kept(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    done = run("doctor", ROSENBLATT_CACHE_DIR=str(in_the_way))
    assert "is not writable" in done.stdout
    assert "ROSENBLATT_CACHE_DIR" in done.stdout


def test_without_the_cli_extra_it_says_what_to_install(tmp_path):
    (tmp_path / "rich.py").write_text("raise ModuleNotFoundError('rich', name='rich')")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = run("doctor", PYTHONPATH=path)
    assert done.returncode == 2
    assert 'pip install "rosenblatt[cli]"' in done.stderr


@pytest.mark.needs_compiler
def test_after_warm_no_fit_compiles_anything():
    """The suite runs after `rosenblatt warm`, so a second one finds all loops in the cache.

    A rehearsal in five is repeated: of every kind of model, type, storage and width some.
    """
    script = (
        "from rosenblatt.cli.warm import rehearsals, rehearse\n"
        "for job in list(rehearsals())[::5]:\n"
        "    rehearse(job) or rehearse(job._replace(n_classes=2))\n"
        "from rosenblatt.loops.compiler import compiled_loops\n"
        "assert not compiled_loops(), compiled_loops()\n"
    )
    assert run("warm", "--jobs", "2").returncode == 0
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.needs_compiler
def test_after_warm_large_jobs_and_streams_compile_nothing():
    """What a statistic needs depends on storage, precision, weights and size."""
    script = (
        "import itertools, warnings\n"
        "import numpy as np, scipy.sparse as sp\n"
        "import rosenblatt as r\n"
        "warnings.simplefilter('ignore')\n"
        "rng, many = np.random.RandomState(1), 110_000\n"
        "whole, y = rng.poisson(1.0, (many, 10)), rng.randint(3, size=many)\n"
        "models = r.GaussianNB, r.MultinomialNB, r.BernoulliNB, r.QuadraticDiscriminantAnalysis\n"
        "stores = np.asarray, sp.csr_matrix\n"
        "for model, kind, store in itertools.product(models, ('f8', 'f4', 'i8'), stores):\n"
        "    for w, n in ((None, many), (rng.uniform(1, 2, many), many), (None, 200)):\n"
        "        X = store(whole[:n].astype(kind))\n"
        "        fitted = model().fit(X, y[:n], w).partial_fit(X, y[:n])\n"
        "        fitted.predict(X), fitted.predict_proba(X)\n"
        "for method, kind in itertools.product(('z-score', 'min-max', 'l1', 'l2'), ('f8', 'f4')):\n"
        "    X = whole.astype(kind)\n"
        "    r.Standardizer(method).fit(X).transform(X)\n"
        "from rosenblatt.loops.compiler import compiled_loops\n"
        "assert not compiled_loops(), compiled_loops()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.needs_compiler
def test_after_warm_the_first_fit_of_every_model_compiles_nothing():
    """On rows that no plane separates, tall or wide; and the lasso for thousands of weights."""
    script = (
        "import itertools, warnings\n"
        "import numpy as np, scipy.sparse as sp\n"
        "import rosenblatt as r\n"
        "from rosenblatt.linear_model import coordinate_descent\n"
        "warnings.simplefilter('ignore')\n"
        "rng = np.random.RandomState(1)\n"
        "models = [getattr(r, name) for name in r.__all__]\n"
        "models = [m for m in models if hasattr(m, 'predict') and m is not r.GridSearchCV]\n"
        "assert len(models) > 15\n"
        "shapes, stores = ((40, 4), (30, 60)), (np.asarray, sp.csr_matrix)\n"
        "kinds = zip((*shapes, *shapes), ('f8', 'f4', 'f4', 'f8'), (*stores, *stores[::-1]))\n"
        "for model, (shape, kind, store) in itertools.product(models, list(kinds)):\n"
        "    X, y = rng.poisson(1.0, shape).astype(kind), np.arange(shape[0]) % 2\n"
        "    try:\n"
        "        model().fit(store(X), y).predict(store(X))\n"
        "    except (TypeError, ValueError):  # sparse rows, or too few of them\n"
        "        pass\n"
        "coordinate_descent.LARGEST = 5\n"
        "for store in (np.asarray, sp.csr_matrix):\n"
        "    r.Lasso(0.01).fit(store(rng.standard_normal((30, 60))), rng.standard_normal(30))\n"
        "from rosenblatt.loops.compiler import compiled_loops\n"
        "assert not compiled_loops(), compiled_loops()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_package_runs_as_the_command_does():
    done = subprocess.run(
        [sys.executable, "-m", "rosenblatt", "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "warm" in done.stdout
    assert "doctor" in done.stdout


def test_a_second_warm_only_looks_at_its_note(monkeypatch, tmp_path, capsys):
    module = importlib.import_module("rosenblatt.cli.warm")
    monkeypatch.setattr(module, "folder", lambda: tmp_path)
    monkeypatch.setattr(module, "rehearsals", lambda: iter(()))
    assert not module.is_warm()
    (tmp_path / "loop.nbc").touch()
    module.warm(1)
    assert module.is_warm()
    monkeypatch.setattr(module, "rehearsals", lambda: pytest.fail("nothing is to be rehearsed"))
    module.warm(1)
    assert "Nothing to do" in capsys.readouterr().out
    (tmp_path / "loop.nbc").unlink()  # what was compiled then is gone
    assert not module.is_warm()
    (tmp_path / "loop.nbc").touch()
    monkeypatch.setattr(module, "_source", lambda: "other code")
    assert not module.is_warm()


def test_nothing_is_looked_through_at_the_end():
    """Which took half a second, beyond any budget."""
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print('frozen', gc.get_freeze_count() > 0))\n"
        "sys.argv = ['rosenblatt', '--help']\n"
        "from rosenblatt.cli import main\n"
        "main()\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.endswith("frozen True\n")


def test_a_forest_read_from_a_file_predicts_a_few_rows_without_numba_or_other_ensembles(tmp_path):
    script = (
        "import sys, rosenblatt\n"
        "saved = rosenblatt.load_model(sys.argv[1])\n"
        "saved.model.predict([[0.0], [5.0]])\n"
        "found = {'numba', 'rosenblatt.ensemble.adaboost'} & set(sys.modules)\n"
        "assert not found, found"
    )
    model = rosenblatt.RandomForestClassifier(n_estimators=3, random_state=0)
    model.fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    rosenblatt.save_model(model, tmp_path / "m.skops")
    subprocess.run([sys.executable, "-c", script, tmp_path / "m.skops"], check=True)
