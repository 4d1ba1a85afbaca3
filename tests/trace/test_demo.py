"""Output and files of `make demo`."""

import re
import runpy
from pathlib import Path

import pytest

from tests.trace.test_page import data_of

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.mark.filterwarnings("error")
def test_what_was_merged_forgotten_and_searched_is_what_a_refit_finds():
    merge, forget, search = runpy.run_path(str(DEMO))["merge_and_forget"]()
    assert float(merge.split()[-1].rstrip(".")) < 1e-12
    assert float(forget.split()[-1].rstrip(".")) < 1e-12
    assert "the same scores" in search
    assert len(re.findall(r"[\d.]+ s\b", search)) == 2  # the time of each search


@pytest.mark.filterwarnings("error")
def test_the_page_of_the_demo_names_the_sepals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert runpy.run_path(str(DEMO))["record_run"]() > 0
    features = data_of(tmp_path / "run.html")["features"]
    assert features == ["sepal length (cm)", "sepal width (cm)"]


@pytest.mark.filterwarnings("error")
def test_the_demo_compares_all_models_and_writes_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo = runpy.run_path(str(DEMO))
    found = demo["compare_models"]()
    assert re.search(
        r"^Best model: .*\nAccuracy on 114 test rows: [\d.]+ \(95% interval", demo["answer"](found)
    )
    lines = demo["leaderboard"](found)
    assert any("logistic regression" in line for line in lines)
    assert lines[1].endswith("best")
    assert lines[-1].startswith("always the largest class")
    assert "<html" in (tmp_path / "report.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
