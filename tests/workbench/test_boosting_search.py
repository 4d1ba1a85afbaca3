"""Boosting in `compare`: as many rounds, at such a rate, as there is time for."""

import time

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import rosenblatt
from rosenblatt.data import Table, read_table
from rosenblatt.workbench import boosting_search, schedule
from rosenblatt.workbench.families import FAMILIES, families_for
from rosenblatt.workbench.model_file import save_model
from rosenblatt.workbench.pipelines import pipeline
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.search import FoldedProblem

BOOSTING = {f.task: f for f in FAMILIES if f.halve == "boosting rounds"}
rng = np.random.default_rng(0)


@pytest.fixture
def towns():
    """Rows of a number with gaps and a category, both of which decide."""
    age, town = rng.uniform(20, 60, 300), rng.choice(["Rome", "Oslo", "Lima"], 300)
    y = np.where((age > 40) ^ (town == "Rome"), "yes", "no")
    age = pl.Series("age", age).set(pl.Series(rng.random(300) < 0.1), None)
    return pl.DataFrame({"age": age, "town": town, "y": y})


def test_categories_are_read_as_they_are_and_a_saved_model_predicts_the_same(towns, tmp_path):
    found = rosenblatt.compare(
        towns, target="y", families=["boosting"], ledger=tmp_path / "openings"
    )
    assert found.findings.contestants[0].family == "gradient boosting"
    model = found.best
    assert model[-1].is_categorical_.tolist() == [True, False]
    assert found.findings.opening.score > 0.8
    save_model(found._saved, tmp_path / "model.skops")
    again = rosenblatt.load_model(tmp_path / "model.skops").model
    new = pl.DataFrame({"town": ["Bonn", None], "age": [30.0, None]})
    assert again.predict(new).tolist() == model.predict(new).tolist()


def test_a_sparse_matrix_is_made_dense_unless_it_is_large(tmp_path):
    X = rng.integers(0, 3, (200, 6)).astype(float)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 1)
    found = rosenblatt.compare(
        csr_matrix(X), y, families=["gradient boosting"], ledger=tmp_path / "openings"
    )
    assert found.findings.opening.score > 0.9
    labels = pl.DataFrame({"y": np.arange(2_000) % 2})
    large = problem_of(Table(labels, "wide", csr_matrix((2_000, 9_000))), "y")
    assert "too large to be made dense" in dict(families_for(large)[1])["gradient boosting"]


def test_rounds_are_chosen_by_the_score_that_is_asked_for():
    losses = -np.concatenate([np.linspace(1, 0.2, 30), np.linspace(0.2, 0.9, 70)])
    assert boosting_search._best_round(losses, "loss") == (-0.2, 30)
    noisy = np.linspace(0.5, 0.9, 100)
    noisy[10] = 0.95  # by chance
    assert boosting_search._best_round(noisy, "accuracy")[1] > 90


@pytest.mark.parametrize("seconds", [0.0, 1.0, np.inf])
def test_the_time_sets_the_rounds_and_few_rounds_take_long_steps(towns, seconds):
    problem = problem_of(read_table(towns), "y")
    folded, family = FoldedProblem(problem, "accuracy"), BOOSTING["classification"]
    boosting_search.rounds_in_time(folded, family, np.arange(100))  # compiles
    folded.end = time.perf_counter() + seconds
    [setting] = boosting_search.rounds_in_time(folded, family, np.arange(100))
    if seconds == 0:
        assert setting["max_iter"] == boosting_search.FEWEST_ROUNDS
        assert setting["learning_rate"] == boosting_search.LARGEST_RATE
    assert setting["early_stopping"] is False
    pipeline(problem, family, setting).fit(problem.some(problem.train), folded.y)


def test_large_tables_in_little_time_are_searched_by_fewer_folds(towns):
    problem = problem_of(read_table(towns), "y")
    assert schedule.folds_in(problem, np.inf) == 10
    assert schedule.folds_in(problem, 1e-6) == 2
    folded = FoldedProblem(problem, "accuracy", 2)
    assert len(folded.folds) == 2
    assert folded.why_folds == "of 10 that there are, for want of time"
    assert not FoldedProblem(problem, "accuracy").why_folds.endswith("time")


def test_trees_follow_the_first_answer_and_come_first_in_large_tables(towns, monkeypatch):
    folded = FoldedProblem(problem_of(read_table(towns), "y"), "accuracy")
    queue = schedule.in_turn(folded, families_for(folded.problem)[0])
    assert [f.name for f in queue[1:4]] == ["gradient boosting", "random forest", "extra trees"]
    assert [f.name for f in queue][4] == "decision tree"
    assert {f.name for f in queue[-6:]} == {
        *("perceptron", "averaged perceptron", "pocket perceptron", "kernel perceptron"),
        *("linear support vector machine", "AdaBoost"),
    }
    monkeypatch.setattr(schedule, "MANY_CELLS", 100)
    queue = schedule.in_turn(folded, families_for(folded.problem)[0])
    assert queue[0].name == "gradient boosting"
