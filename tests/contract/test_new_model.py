"""A new estimator is its module, its test and its page; everything else follows from its row."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EVERYWHERE = """
import rosenblatt
from rosenblatt import registry
from rosenblatt.cli.warm import rehearsals
from rosenblatt.workbench.clustering import FAMILIES as CLUSTERINGS
from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.trusted_types import our_types
from sklearn.utils.estimator_checks import check_estimator
from tests.contract.estimators import instances

kind = rosenblatt.{home}.ToyModel
assert kind is rosenblatt.ToyModel and "ToyModel" in rosenblatt.__all__
assert rosenblatt.__file__.startswith({folder!r})
assert registry.row_of("ToyModel") in registry.ROWS
assert "toy model" in [*CLUSTERINGS, *(family.name for family in FAMILIES)]
assert "ToyModel" in [rehearsal.estimator for rehearsal in rehearsals()]
assert kind in map(type, instances())
assert f"{{kind.__module__}}.ToyModel" in our_types()
check_estimator(kind(), on_skip=None)
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of the sources, of the tools and of what the generator reads of the docs."""
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "index.md", tmp_path / "docs")
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "home"),
    [("classifier", "neighbors"), ("regressor", "linear_model"), ("clusterer", "cluster")],
)
def test_it_is_known_everywhere_by_its_row_alone(copy, kind, home):
    def run(*arguments):
        path = os.pathsep.join([str(copy / "src"), str(ROOT)])
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr

    (copy / "tests" / home).mkdir(parents=True)
    run("tools/new_model.py", "ToyModel", kind, home)
    run("-c", EVERYWHERE.format(home=home, folder=str(copy)))
    assert "\n   ToyModel\n" in (copy / "docs" / "api.md").read_text(encoding="utf-8")
    assert "\ntoy_model\n" in (copy / "docs" / "index.md").read_text(encoding="utf-8")
    stub = (copy / "src" / "rosenblatt" / home / "__init__.pyi").read_text(encoding="utf-8")
    assert "from .toy_model import ToyModel as ToyModel" in stub
    run("-m", "pytest", "-q", "-c", os.devnull, "--rootdir", ".", f"tests/{home}/test_toy_model.py")
