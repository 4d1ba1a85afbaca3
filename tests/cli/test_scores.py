"""`predict --score` tells the score that a comparison went by."""

import json
import re
import zipfile

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from rosenblatt.data import read_table
from rosenblatt.workbench.known_columns import rows_for
from rosenblatt.workbench.model_file import load_model
from tests.cli.commands import done, run

pytestmark = pytest.mark.usefixtures("few_draws")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Two tables of one kind, with the classes 1 and 2."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("a.csv", "b.csv"):
        y = rng.choice([1, 2], 200, p=[0.3, 0.7])
        pl.DataFrame({"x": rng.normal(size=200) + y, "y": y}).write_csv(name)
    return tmp_path


def compared(metric):
    done("compare", "a.csv", "--target", "y", "--families", "GaussianNB", "--metric", metric,
         "--save", "m.skops")  # fmt: skip
    return load_model("m.skops")


def score_of(table):
    return run("predict", "m.skops", table, "--score", "-o", "p.csv").stderr.strip()


def test_the_metric_of_the_comparison_stands_first(here):
    saved, table = compared("f1"), read_table("b.csv")
    said = saved.model.predict(rows_for(saved, table))
    f1 = f1_score(table.frame["y"].to_numpy(), said)
    told = score_of("b.csv")
    assert re.fullmatch(
        rf"f1 of the class 1 {f1:.4f}, accuracy 0\.\d{{4}} on 200 rows of b.csv", told
    )


def test_scores_of_probabilities_too_and_what_rows_of_one_class_leave_undefined(here):
    saved, table = compared("roc_auc"), read_table("b.csv")
    P = saved.model.predict_proba(rows_for(saved, table))
    area = roc_auc_score(table.frame["y"].to_numpy(), P[:, 1])
    assert score_of("b.csv").startswith(f"roc_auc {area:.4f}, accuracy ")
    table.frame.filter(pl.col("y") == 2).write_csv("c.csv")
    assert score_of("c.csv").startswith("roc_auc undefined, accuracy 0.")


def test_the_usual_score_is_told_once(here):
    done("fit", "a.csv", "--target", "y", "--model", "GaussianNB", "-o", "m.skops")
    assert score_of("b.csv").startswith("accuracy 0.")
    assert "," not in score_of("b.csv")


@pytest.mark.parametrize("about", ["no metric", "a metric that nobody knows"])
def test_files_without_a_metric_are_scored_as_before(here, about):
    compared("f1_macro")
    with zipfile.ZipFile("m.skops") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    said = json.loads(members["rosenblatt.json"])
    if about == "no metric":
        said["metric"] = None
    else:
        said["metric"] = "f1_of_tomorrow"
    members["rosenblatt.json"] = json.dumps(said).encode()
    with zipfile.ZipFile("m.skops", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    told = "accuracy 0." if about == "no metric" else "f1_of_tomorrow undefined, accuracy 0."
    assert score_of("b.csv").startswith(told)


def test_both_scores_are_of_one_opening(here):
    done("split", "a.csv", "--target", "y")
    done("compare", "a.train.csv", "--target", "y", "--families", "GaussianNB", "--metric", "f1",
         "--save", "m.skops")  # fmt: skip
    told = score_of("a.test.csv")
    assert re.match(r"f1 of the class 1 0\.\d+, accuracy 0\.\d+ on 40 rows of a.test.csv", told)
    assert len((here / "a.test.csv.openings.jsonl").read_text().splitlines()) == 1
