"""What a model without weights learned is told by what its columns are worth to it."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.workbench import importance
from rosenblatt.workbench.families import families_for
from rosenblatt.workbench.pipelines import fitted_to
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.report import page


@pytest.fixture
def ring():
    """Rows within a ring and outside it: only both of x and y together tell."""
    rng = np.random.default_rng(0)
    x, y, noise = rng.normal(size=(3, 600))
    inside = np.where(x * x + y * y < 1.2, "in", "out")
    word = rng.choice(["a", "b"], 600)
    return pl.DataFrame({"noise": noise, "x": x, "y": y, "word": word, "where": inside})


def test_columns_are_worth_what_the_score_loses_without_them(ring, tmp_path):
    found = rosenblatt.compare(
        ring, target="where", families=["quadratic discriminant analysis"],
        ledger=tmp_path / "openings.jsonl",
    ).findings  # fmt: skip
    assert found.learned_as == "worth"
    worth = dict(found.learned)
    assert {name for name, _ in found.learned[:2]} == {"x", "y"}
    assert min(worth["x"], worth["y"]) > 0.1
    assert max(abs(worth["noise"]), abs(worth["word"])) < 0.05
    assert "shuffled" in found.learned_note


@pytest.fixture
def fitted(ring):
    """A problem, and a function that gives a model of it by the start of its name."""
    problem = problem_of(read_table(ring), "where")

    def model(name):
        family = next(f for f in families_for(problem)[0] if f.name.startswith(name))
        return fitted_to(problem, family, {}, problem.train)

    return problem, model


def spy(monkeypatch):
    """What is scored from now on."""
    seen, score = [], importance.score_of("accuracy")
    monkeypatch.setattr(
        importance, "score_of", lambda metric: lambda m, X, y: seen.append(X) or score(m, X, y)
    )
    return seen


def test_rows_of_the_development_part_alone_are_scored(fitted, ring, monkeypatch):
    problem, model = fitted[0], fitted[1]("quadratic")
    seen = spy(monkeypatch)
    importance.worth_of_columns(problem, "accuracy", model)
    dev = model[:1].transform(ring[problem.dev])
    assert len(seen) == 1 + 4 * importance.SHUFFLES
    for X in seen:
        np.testing.assert_array_equal(np.sort(X, axis=0), np.sort(dev, axis=0))
    moved = [np.flatnonzero((dev != X).any(axis=0)).tolist() for X in seen]
    # The two columns of zeros and ones that a word has become are shuffled together.
    assert moved == [[], [0], [0], [1], [1], [2], [2], [3, 4], [3, 4]]
    assert all((X[:, 3:].sum(axis=1) == dev[:, 3:].sum(axis=1)).all() for X in seen)


@pytest.mark.parametrize("name", ["quadratic", "mixed"])
def test_features_shuffled_are_those_of_a_shuffled_column(name, fitted, ring):
    problem, model = fitted[0], fitted[1](name)
    frame, first = ring[problem.dev], model.steps[0][1]
    order = np.random.default_rng(1).permutation(frame.height)
    for column, features in importance._features_of_columns(first).items():
        said = importance._shuffled(first.transform(frame), features, order)
        wanted = first.transform(frame.with_columns(frame[column][order]))
        equal = said.equals(wanted) if isinstance(said, pl.DataFrame) else (said == wanted).all()
        assert equal, column


def test_features_of_a_sparse_matrix_are_shuffled_as_those_of_a_dense_one():
    X = np.random.default_rng(0).poisson(0.5, (6, 5)).astype(float)
    order = np.array([5, 3, 1, 0, 2, 4])
    for features in (slice(0, 2), slice(2, 4), slice(4, 5)):
        dense = importance._shuffled(X, features, order)
        found = importance._shuffled(sparse.csr_matrix(X), features, order)
        np.testing.assert_array_equal(found.toarray(), dense)


def test_fewer_rows_are_scored_where_all_would_take_too_long(fitted, monkeypatch):
    problem, model = fitted[0], fitted[1]("quadratic")
    seen, clock = spy(monkeypatch), iter([0.0, 1.0])
    monkeypatch.setattr(
        importance.time, "perf_counter", lambda: next(clock)
    )  # a second for all rows
    monkeypatch.setattr(importance, "LEAST_ROWS", 50)
    worth = importance.worth_of_columns(problem, "accuracy", model, seconds=2.0)
    assert len(worth) == 4
    half = len(problem.dev) // 2
    assert [len(X) for X in seen] == [len(problem.dev), *[half] * 5]


def test_the_page_says_why_the_worth_of_columns_is_missing(ring, monkeypatch, tmp_path):
    """The place where it would be was empty, without a word."""
    monkeypatch.setattr(importance, "MOST_SECONDS", 0.0)
    found = rosenblatt.compare(
        ring, target="where", families=["quadratic discriminant analysis"],
        ledger=tmp_path / "openings.jsonl",
    ).findings  # fmt: skip
    assert found.learned == []
    assert "There was no time to see what each column is worth to it." in page(found)


def test_nothing_is_said_of_the_worth_of_columns_without_names_or_of_one(ring, tmp_path):
    counts = sparse.csr_matrix(np.random.default_rng(0).poisson(1, (80, 3)))
    matrix = rosenblatt.compare(
        counts,
        np.arange(80) % 2,
        families=["multinomial naive Bayes"],
        ledger=tmp_path / "openings.jsonl",
    ).findings
    alone = rosenblatt.compare(
        ring[["x", "where"]], target="where", families=["quadratic discriminant analysis"],
        ledger=tmp_path / "openings.jsonl",
    ).findings  # fmt: skip
    for found in (matrix, alone):
        assert found.learned_as == "weight"
        assert not found.learned
        assert "no time" not in found.learned_note
