"""What a model without weights learned is told by what its columns are worth to it."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.workbench import learned
from rosenblatt.workbench.families import families_for
from rosenblatt.workbench.pipelines import fitted_to
from rosenblatt.workbench.problem import problem_of


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


def test_rows_of_the_development_part_alone_are_scored(ring, monkeypatch):
    problem = problem_of(read_table(ring), "where")
    family = next(f for f in families_for(problem)[0] if f.name.startswith("quadratic"))
    model = fitted_to(problem, family, {}, problem.train)
    seen = []
    score = learned.score_of("accuracy")
    monkeypatch.setattr(
        learned, "score_of", lambda metric: lambda m, X, y: seen.append(X) or score(m, X, y)
    )
    learned.worth_of_columns(problem, "accuracy", model)
    dev = ring[problem.dev]
    assert len(seen) == 1 + 4 * learned.SHUFFLES
    for frame in seen:
        for name in ("noise", "x", "y", "word"):
            assert frame[name].sort().equals(dev[name].sort())


def test_nothing_is_said_where_it_would_take_too_long_or_columns_have_no_names(
    ring, monkeypatch, tmp_path
):
    problem = problem_of(read_table(ring), "where")
    family = next(f for f in families_for(problem)[0] if f.name.startswith("quadratic"))
    model = fitted_to(problem, family, {}, problem.train)
    monkeypatch.setattr(learned, "MOST_SECONDS", 0.0)
    assert learned.worth_of_columns(problem, "accuracy", model) == []
    counts = sparse.csr_matrix(np.random.default_rng(0).poisson(1, (80, 3)))
    matrix = rosenblatt.compare(
        counts,
        np.arange(80) % 2,
        families=["multinomial naive Bayes"],
        ledger=tmp_path / "openings.jsonl",
    )
    assert matrix.findings.learned_as == "weight"
