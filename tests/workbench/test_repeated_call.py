"""A report of a comparison in Python shows its call, and the call says the same again."""

from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from rosenblatt.workbench.arguments import call_of


def test_the_call_repeats_the_comparison(tmp_path):
    found = rosenblatt.compare(
        "iris", target="species", metric="f1_macro", families=["Gaussian naive Bayes"],
        random_state=3, ledger=tmp_path / "openings.jsonl",
    )  # fmt: skip
    said = found.findings.protocol.command
    assert "metric='f1_macro'" in said
    assert "peers" not in said
    again = eval(said.splitlines()[-1], {"rosenblatt": rosenblatt})
    assert again.findings.opening.score == found.findings.opening.score
    text = found.report(tmp_path / "report.html").read_text()
    assert "rosenblatt.compare(&#39;iris&#39;" in text


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.ones((3, 2)), np.ones(3), "compare(X, y)"),
        (np.ones((3, 2)), None, "compare(X)"),
        (Path("a b.csv"), None, "compare('a b.csv')"),
        ("a.csv", "label", "compare('a.csv', 'label')"),
        (np.ones((3, 2)), "label", "compare(X, 'label')"),
        ("a.csv", np.ones(3), "compare('a.csv', y)"),
    ],
)
def test_tables_without_a_name_are_said_to_be_missing(X, y, words):
    said = call_of(X, y, peers=False)
    assert said.endswith(words)
    assert ("does not hold" in said) == (not isinstance(X, str | Path) or np.ndim(y) > 0)
