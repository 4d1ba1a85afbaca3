"""Numbers keep their digits on a terminal, whatever the unit of the target."""

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt import GaussianNB, Perceptron, Ridge, certify
from tests.cli.commands import run


def test_small_errors_are_not_shown_as_zero(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = pl.DataFrame({"x": x, "y": 1e-3 * (x + 0.1 * rng.normal(size=200))})
    table.write_csv("a.csv")
    metric = "neg_mean_absolute_error"
    found = rosenblatt.compare(table, "y", metric=metric, families="Ridge", ledger="openings")
    words = ["compare", "a.csv", "--target", "y", "--metric", metric, "--families", "Ridge"]
    said = run(*words, columns=200).output
    page = found.report(tmp_path / "page.html").read_text()
    for text in (str(found), said):
        told = "-6.5e-05 on 40 test rows (95% interval -8e-05 to -5e-05 by boot"
        assert f"Ridge regression: {metric} {told}" in text
        assert "-8.3e-05" in text  # the mean over folds
    answer = " ".join(page.split())
    assert "with a mean absolute error of <strong>6.5·10\u207b\u2075</strong>" in answer
    assert "\u22128.3·10\u207b\u2075" in page
    assert len({len(line) for line in str(found).splitlines()[:3]}) == 1  # one width


@pytest.mark.parametrize("model", [GaussianNB(), Perceptron(), Ridge()])
def test_certificates_count_rows_with_commas(model):
    y = np.arange(1_500) % 2
    X = np.random.default_rng(0).uniform(size=(1_500, 2)) + 2 * y[:, np.newaxis]
    said = certify(model.fit(X, y), X, y).data
    assert "1,500 rows" in said
    assert "total weight 1,500" in said
