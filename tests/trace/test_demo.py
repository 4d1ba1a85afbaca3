"""What `make demo` prints and writes."""

import re
import runpy
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.trace.test_page import data_of

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_a_long_claim_goes_on_below_its_last_column():
    demo, out = runpy.run_path(str(DEMO)), StringIO()
    claim = "  yes  margin              proved    " + "every row is on its own side " * 3
    demo["print_hanging"](Console(file=out, width=80), claim)
    first, *rest = out.getvalue().splitlines()
    assert first.startswith("  yes  margin")
    assert rest
    assert all(line.startswith(" " * 37) and line[37] != " " for line in rest)
    assert all(len(line) <= 80 for line in [first, *rest])


@pytest.mark.filterwarnings("error")
def test_what_was_merged_forgotten_and_searched_is_what_a_refit_finds():
    merge, forget, search = runpy.run_path(str(DEMO))["add_and_forget"]()
    assert float(merge.split()[-1]) < 1e-12
    assert float(forget.split()[-1]) < 1e-12
    assert "the same scores" in search
    assert len(re.findall(r"in [\d.]+ s", search)) == 2  # the time of each search, and no verdict


@pytest.mark.filterwarnings("error")
def test_the_page_of_the_demo_names_the_sepals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert runpy.run_path(str(DEMO))["replay"]() > 0
    features = data_of(tmp_path / "run.html")["features"]
    assert features == ["sepal length (cm)", "sepal width (cm)"]


@pytest.mark.filterwarnings("error")
def test_the_demo_compares_all_models_and_writes_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = runpy.run_path(str(DEMO))["compare_all"]()
    assert any("logistic regression" in line for line in lines)
    assert "rows to test on" in lines[-1]
    assert "<html" in (tmp_path / "report.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
