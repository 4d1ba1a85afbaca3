"""Test rows that were learned from, too: the score of the others stands beside that of all."""

import json
import pickle
import re

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, f1_score, r2_score

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.workbench.leakage import hints_of
from rosenblatt.workbench.problem import problem_of
from tests.cli.commands import done

SCORES = {"accuracy": accuracy_score, "f1": f1_score, "r2": r2_score}


def doubled(task="classification"):
    """A table of which a third is there twice."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 200))
    y = x + z + rng.normal(size=200)
    target = (y > 0).astype(int) if task == "classification" else y
    frame = pl.DataFrame({"x": x, "z": z, "y": target})
    return pl.concat([frame, frame.head(100)])


@pytest.mark.parametrize("metric", SCORES)
def test_what_was_said_of_the_other_rows_is_scored_in_the_same_opening(metric, tmp_path):
    ledger, task = tmp_path / "openings", "regression" if metric == "r2" else "classification"
    frame = doubled(task)
    families = ["ridge regression"] if metric == "r2" else ["Gaussian naive Bayes"]
    found = rosenblatt.compare(frame, "y", metric=metric, families=families, ledger=ledger)
    problem = problem_of(read_table(frame), "y")
    X, y = frame.drop("y"), frame["y"].to_numpy()
    learned = set(frame[np.concatenate([problem.train, problem.dev])].rows())
    new = [row for row in problem.test if frame.row(row) not in learned]
    opening = found.findings.opening
    assert 0 < len(new) < len(problem.test)
    assert found.findings.n_repeated == len(problem.test) - len(new)
    some = opening.unrepeated
    assert len(some.y) == len(new)
    assert some.score == pytest.approx(SCORES[metric](y[new], found.best.predict(X[new])))
    assert np.isfinite(some.baseline_score)
    assert some.intervals[0].low <= some.score <= some.intervals[0].high
    [line] = ledger.read_text().splitlines()
    assert json.loads(line)["rows"] == len(problem.test)
    assert f"Without them: {some.score:.4f} on {len(new)} test rows (95% interval " in str(found)


def test_test_rows_are_read_for_one_opening_alone(tmp_path, monkeypatch):
    """Who asks for rows of the test part, other than the sealing of it."""
    frame = doubled()
    problem = problem_of(read_table(frame), "y")
    asked = []
    real = pl.DataFrame.__getitem__

    def spy(table, which):
        if isinstance(which, np.ndarray) and table.height == len(frame):
            asked.append(np.isin(which, problem.test).any())
        return real(table, which)

    monkeypatch.setattr(pl.DataFrame, "__getitem__", spy)
    found = rosenblatt.compare(frame, "y", families="GaussianNB", ledger=tmp_path / "openings")
    assert found.findings.opening.unrepeated is not None
    assert sum(asked) == 1


def test_no_row_twice_says_nothing_of_it(tmp_path):
    found = rosenblatt.compare(
        doubled().head(200), "y", families="GaussianNB", ledger=tmp_path / "openings"
    )
    assert found.findings.opening.unrepeated is None
    assert found.findings.repeated is None


def test_the_terminal_and_the_page_say_it_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    doubled().write_csv("a.csv")
    text = " ".join(done("compare", "a.csv", "--target", "y", "--families", "GaussianNB").split())
    assert text.count("also training rows") == 1
    assert not re.search(r"\d of \d+ test rows \(", text)
    assert "test rows are also training rows. Without them: " in text
    page = " ".join((tmp_path / "report.html").read_text().split())
    assert page.count("of them duplicate training rows") == 1
    assert page.count("that are not duplicates the score is") == 1
    assert "flatters models that remember" not in page
    assert "Possible target leakage" not in page


def test_all_rows_repeated_leave_nothing_to_score(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = doubled().head(30)
    pl.concat([frame] * 10).write_csv("a.csv")
    text = " ".join(done("compare", "a.csv", "--target", "y", "--families", "GaussianNB").split())
    assert "Warning: all test rows are also training rows." in text
    assert "Without them" not in text


def test_the_hint_counts_the_rows_and_can_be_pickled():
    [hint] = hints_of(problem_of(read_table(doubled()), "y"))
    again = pickle.loads(pickle.dumps(hint))
    n, total = int(hint.rows.sum()), len(hint.rows)
    assert (again.kind, again.text) == (hint.kind, hint.text)
    assert again.rows.tolist() == hint.rows.tolist()
    assert str(hint).startswith(f"{n} of {total} test rows ({n / total:.1%})")


@pytest.mark.parametrize(("n_wrong", "hinted"), [(0, True), (3, True), (30, False)])
def test_a_column_that_nearly_agrees_with_the_target_is_a_hint(n_wrong, hinted):
    n = 300
    y = np.arange(n) % 2
    code = np.where(y, "paid", "open")
    code[:n_wrong] = "paid"
    table = pl.DataFrame({"code": code, "x": np.arange(n) % 7 + 0.5, "y": y})
    hints = hints_of(problem_of(read_table(table), "y"))
    assert any(hint.text.startswith("code alone") for hint in hints) == hinted
