"""The list of what certificates cost ends with 1 if one is over its limit."""

import runpy
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "certify_costs.py"


@pytest.mark.parametrize(("limits", "code"), [("0,0", 1), ("inf,inf", 0)])
def test_the_exit_code_says_whether_a_family_is_over_its_limit(monkeypatch, capsys, limits, code):
    words = ["--rows", "600", "--only", "GaussianNB", "--limits", limits]
    monkeypatch.setattr(sys, "argv", [str(TOOL), *words])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(TOOL), run_name="__main__")
    assert end.value.code == code
    assert ("  over" in capsys.readouterr().out) == bool(code)
