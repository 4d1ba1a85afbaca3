"""Rows of one moment or group are on one side of every border; what cannot be split is said."""

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import TableError, read_table
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.search import FoldedProblem
from rosenblatt.workbench.splits import folds_by_time, moments_of, split_by_time
from tests.cli.commands import run


def timed(times):
    rng = np.random.default_rng(0)
    n = len(times)
    x = rng.normal(size=n)
    return pl.DataFrame({"x": x, "y": 2 * x + rng.normal(size=n), "t": times})


def test_equal_times_stay_together_in_parts_and_folds():
    times = np.random.default_rng(1).permutation(np.repeat(np.arange(12), 25))
    problem = problem_of(read_table(timed(times)), "y", time="t")
    parts = [set(times[rows]) for rows in (problem.train, problem.dev, problem.test)]
    assert max(parts[0]) < min(parts[1])
    assert max(parts[1]) < min(parts[2])
    assert [len(part) for part in parts] == [7, 3, 2]
    assert sorted(np.concatenate([problem.train, problem.dev, problem.test])) == list(range(300))
    when = times[problem.train]
    for fitted, scored in problem.folds():
        assert when[fitted].max() < when[scored].min()
    assert problem.split_words == "by t: learned from 0 to 6, judged on 7 to 9, tested on 10 to 11"


def test_folds_of_different_times_are_those_of_scikit_learn():
    from sklearn.model_selection import TimeSeriesSplit

    for n in (40, 61, 103):
        expected = TimeSeriesSplit(5).split(np.zeros(n))
        for ours, theirs in zip(folds_by_time(np.arange(n)), expected, strict=True):
            np.testing.assert_array_equal(ours[0], theirs[0])
            np.testing.assert_array_equal(ours[1], theirs[1])


def test_few_times_still_make_three_parts():
    for counts in ([1, 1, 1, 97], [97, 1, 1, 1], [25, 25, 25, 25], [1, 97, 1, 1]):
        moments = np.repeat(np.arange(4), counts)
        parts = split_by_time(moments)
        assert [len(np.unique(moments[part])) for part in parts] == [2, 1, 1]


def test_too_few_times_and_words_are_refused():
    with pytest.raises(TableError, match=r"t has 3 different times, .* at least 4"):
        moments_of(pl.Series("t", [1, 2, 3] * 9))
    with pytest.raises(TableError, match="t holds words"):
        moments_of(pl.Series("t", ["3/1/2026", "4/1/2026"]))
    with pytest.raises(TableError, match="t is missing in 1 row, which has no place"):
        moments_of(pl.Series("t", [1.0, float("nan"), 3.0, 4.0, 5.0]))
    with pytest.raises(TableError, match="y is to be predicted"):
        problem_of(read_table(timed(np.arange(100))), "y", time="y")


def rare_class(n_rare):
    rng = np.random.default_rng(0)
    label = np.array(["a"] * 50 + ["b"] * (50 - n_rare) + ["rare"] * n_rare)
    return pl.DataFrame({"x": rng.normal(size=100) + (label == "a"), "y": label})


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (np.zeros(100), "g has 1 value, .* at least 4"),
        (np.arange(100) % 3, "g has 3 different values, .* at least 4"),
        (np.r_[np.zeros(98), 1, 2, 3], "98% of the rows have the same g, 0.0"),
    ],
)
def test_too_few_groups_are_refused_in_a_sentence(groups, said):
    frame = timed(np.arange(len(groups))).with_columns(pl.Series("g", groups))
    if "98%" in said:
        frame = frame.head(100).with_columns(pl.Series("g", np.r_[np.zeros(97), 1, 2, 3]))
        said = said.replace("98", "97")
    with pytest.raises(TableError, match=said):
        problem_of(read_table(frame), "y", groups="g")


def test_fewer_folds_than_five_are_said_with_the_reason():
    rare = rare_class(5)
    problem = problem_of(read_table(rare), "y")
    folded = FoldedProblem(
        problem, "roc_auc_ovr"
    )  # which asks for every class wherever it is taken
    assert len(folded.folds) == 3
    assert folded.hints[0].startswith("3 folds instead of 5, as rare has 3 rows")
    grouped = timed(np.arange(100)).with_columns(pl.Series("g", np.arange(100) % 6))
    problem = problem_of(read_table(grouped), "y", groups="g")
    assert "folds instead of 5, as the training part has" in FoldedProblem(problem, "r2").hints[0]
    assert FoldedProblem(problem_of(read_table("iris"), "species"), "accuracy").hints == []


def test_a_rare_class_does_not_take_the_folds_from_the_others(tmp_path):
    found = rosenblatt.compare(
        rare_class(4), target="y", ledger=tmp_path / "openings",
        families=["logistic regression", "quadratic discriminant analysis"],
    ).findings  # fmt: skip
    assert found.protocol.n_folds == 6
    said = "Some of the 6 folds score on no row of a class: rare has 2 rows in the training part."
    assert said in found.notes
    assert np.isfinite(found.contestants[0].scores).all()
    [(name, reason)] = [(drop.family, drop.reason) for drop in found.dropped]
    assert name.startswith("quadratic")
    assert "1 sample in class rare" in reason


@pytest.mark.parametrize("cell", ["2.5", "many", "2031-01-01", ""])
def test_no_cell_of_a_test_row_changes_kinds_or_scores(cell, tmp_path):
    rng = np.random.default_rng(0)
    n = 120
    a, b = rng.poisson(3, n), rng.poisson(2, n)
    names = ("id", "a", "b", "ok", "y")
    rows = [
        (str(100 + i), str(a[i]), str(b[i]), str(b[i] > 2).lower(), "yes" if a[i] > 3 else "no")
        for i in range(n)
    ]

    def written(rows):
        path = tmp_path / "table.csv"
        path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
        return path

    clean = written(rows)
    test = problem_of(read_table(clean), "y").test
    families = ["multinomial naive Bayes", "Gaussian naive Bayes", "mixed naive Bayes"]
    plain = rosenblatt.compare(clean, target="y", families=families, ledger=tmp_path / "one")
    rows[test[0]] = (cell, cell, rows[test[0]][2], cell, rows[test[0]][4])
    found = rosenblatt.compare(
        written(rows), target="y", families=families, ledger=tmp_path / "two"
    )
    assert [(c.name, c.kind) for c in found.findings.columns] == [
        (c.name, c.kind) for c in plain.findings.columns
    ]
    assert found.leaderboard["score"].tolist() == plain.leaderboard["score"].tolist()
    assert found.leaderboard["family"].tolist() == plain.leaderboard["family"].tolist()
    if cell == "many":
        assert sum("'many'" in said for said in found.findings.notes) == 3


def test_infinity_is_refused_by_column_and_row_of_the_table():
    frame = timed(np.arange(100)[::-1]).with_columns(
        x=pl.Series([float("inf") if i == 7 else float(i) for i in range(100)]),
        y=pl.Series([None, *range(99)]),
    )
    with pytest.raises(TableError, match=r"'x' must hold finite .* holds inf in row 7"):
        problem_of(read_table(frame), "y", time="t", task="regression")


def test_whole_numbers_taken_as_classes_are_mentioned():
    digits = problem_of(read_table("digits"), "digit")
    assert any("10 different whole numbers, which are taken as classes" in h for h in digits.hints)
    assert not problem_of(read_table("digits"), "digit", task="classification").hints
    assert not problem_of(read_table("iris"), "species").hints


def test_few_rows_are_searched_by_ten_folds_so_that_a_good_model_is_told_from_the_baseline(
    data_folder, tmp_path
):
    found = rosenblatt.compare(
        data_folder / "heart_cleveland" / "heart_cleveland.csv",
        target="num",
        families=["linear discriminant analysis"],
        ledger=tmp_path / "openings.jsonl",
    ).findings
    assert found.protocol.n_folds == 10
    assert found.baseline.p_value < 1e-4  # by five folds: 2e-4


@pytest.mark.parametrize(
    ("table", "target", "metric", "said"),
    [
        (rare_class(30), "y", "accuracy", "6, as the training part has 60 rows, ten for each"),
        (rare_class(10), "y", "roc_auc_ovr", "6, as the training part has 60 rows, ten for each"),
        ("breast_cancer", "diagnosis", "accuracy",
         "10, as the training part has 341 rows, fewer than 1,000"),
        (pl.concat([rare_class(6)] * 2), "y", "roc_auc_ovr",
         "8, as rare has 8 rows in the training part"),
        (pl.concat([rare_class(6)] * 20), "y", "accuracy", ""),
    ],
)  # fmt: skip
def test_how_many_folds_there_are_is_said_with_the_reason(table, target, metric, said, tmp_path):
    found = rosenblatt.compare(
        table, target, metric=metric, families="GaussianNB", ledger=tmp_path / "openings"
    )
    protocol = found.findings.protocol
    words = f"{protocol.n_folds}, {protocol.folds_words}" if protocol.folds_words else ""
    assert words == said
    page = found.report(tmp_path / "page.html").read_text()
    assert f"<dt>folds</dt><dd>{said or 5}</dd>" in page


def test_the_terminal_says_how_many_folds_there_are_and_why(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rare_class(30).write_csv("a.csv")
    words = ["compare", "a.csv", "--target", "y", "--families", "GaussianNB", "--verbose"]
    said = run(*words).output
    assert "Folds: 6, as the training part has 60 rows, ten for each." in said
