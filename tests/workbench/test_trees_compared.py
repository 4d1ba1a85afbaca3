"""Trees and forests among the contestants of `compare`, and at the command line."""

import time

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.workbench.contestants import contestant
from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.search import FoldedProblem
from rosenblatt.workbench.weights import tree_in_words
from tests.cli.commands import done, run

NAMED = {family.name: family for family in FAMILIES}


@pytest.fixture
def towns():
    """Rows of a number and a category, both of which decide, and gaps in the number."""
    rng = np.random.default_rng(0)
    n = 200
    age, town = rng.uniform(20, 60, n), rng.choice(["Rome", "Oslo", "Lima"], n)
    y = np.where((age > 40) ^ (town == "Rome"), "yes", "no")
    age[:10] = np.nan
    return pl.DataFrame({"age": age, "town": town, "y": y}).with_columns(
        pl.col("age").fill_nan(None)
    )


def test_a_forest_wins_where_columns_decide_together_and_a_tree_is_there_to_read(towns, tmp_path):
    found = rosenblatt.compare(
        towns, target="y", families=["logistic regression", "tree", "rf", "extra trees"],
        ledger=tmp_path / "openings",
    )  # fmt: skip
    best, *_, worst = found.findings.contestants
    assert best.family in ("decision tree", "random forest", "extra trees")
    assert worst.family == "logistic regression"
    assert found.findings.certificate.holds
    assert dict(found.findings.learned).keys() == {"age", "town"}
    assert found.findings.learned_as == "worth"
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Decision tree as text" in page
    [tree] = [entry.tree for entry in found.findings.contestants if entry.tree]
    assert "not town = Rome" in tree
    assert "age <= " in tree


def test_zeros_and_ones_of_categories_are_words_in_the_tree(towns):
    saved = fit_table(read_table(towns), "y", "cart", ["max_depth=2"], certificate=False)
    lines = tree_in_words(saved.model).splitlines()
    assert not [line for line in lines if "0.5" in line]
    assert any("town = Rome" in line for line in lines)
    forest = fit_table(read_table(towns), "y", "rf", ["n_estimators=2"], certificate=False)
    assert tree_in_words(forest.model) == ""


@pytest.mark.parametrize(
    ("seconds", "limits"),
    [(600.0, set()), (5.0, {"n_estimators"}), (0.2, {"n_estimators", "bootstrap", "max_samples"})],
)
def test_a_forest_grows_the_trees_there_is_time_for(towns, seconds, limits, monkeypatch):
    """A fold of 100 trees takes a second on this clock, whoever else computes."""
    problem = problem_of(read_table(towns), "y")
    folded, now = FoldedProblem(problem, "accuracy"), [0.0]
    search = FoldedProblem._search_fold

    def timed(self, family, settings, *rest):
        now[0] += sum(setting.get("n_estimators", 100) for setting in settings) / 100
        return search(self, family, settings, *rest)

    monkeypatch.setattr(FoldedProblem, "_search_fold", timed)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    folded.end = seconds + 0.96  # what sorting the settings out takes
    family = NAMED["extra trees"]
    candidates = folded.candidates(family)
    assert len(candidates) == 1
    given = candidates[0].parameters.keys() - family.grid.keys()
    assert given == limits
    entry = contestant(folded, family, candidates)
    assert ("for want of time" in entry.note) == bool(limits)


def test_a_sparse_matrix_is_read_as_it_is(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (90, 6)).astype(float)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 1)
    found = rosenblatt.compare(
        csr_matrix(X), y, families=["decision tree"], ledger=tmp_path / "openings"
    )
    assert found.findings.opening.score == 1.0
    assert found.findings.contestants[0].tree.startswith("x1 <= 0.5")


def test_texts_are_not_read_and_that_is_said(towns, tmp_path):
    words = pl.Series("words", [f"a text of many words, number {i} of all" for i in range(200)])
    there = towns.with_columns(words)
    found = rosenblatt.compare(
        there, target="y", families=["decision tree"], kinds={"words": "text"},
        ledger=tmp_path / "openings",
    )  # fmt: skip
    assert "does not read texts (words)" in found.findings.contestants[0].note
    alone = there.select("words", "y")
    problem = problem_of(read_table(alone), "y", kinds={"words": "text"})
    assert "reads no texts" in NAMED["random forest"].why_not(problem)


@pytest.mark.parametrize("model", ["rf", "cart", "extra trees"])
@pytest.mark.parametrize("target", ["y", "age"])
def test_one_name_fits_predicts_and_explains_either_task(model, target, towns, tmp_path):
    table, file = tmp_path / "table.csv", tmp_path / "m.skops"
    towns.drop_nulls().write_csv(table)

    few = () if model == "cart" else ("--set", "n_estimators=5")
    done("fit", table, "--target", target, "--model", model, "-o", file, *few)
    assert done("predict", file, table).startswith("prediction\n")
    told = done("explain", file, table, "--row", 2)
    assert "town = " in told
    assert ("at the leaf" in told) or ("at the leaves" in told)


def test_models_tells_of_both_tasks():
    said = run("models", "random forest").stdout
    assert "RandomForestClassifier" in said
    assert "RandomForestRegressor" in said
