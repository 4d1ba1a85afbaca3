"""The recipe is kept: nothing is learned from test rows, and they are opened once."""

import json
import re
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rosenblatt
from rosenblatt.data import TableError, read_table
from rosenblatt.runtime import deadline
from rosenblatt.workbench import conclusions, families, pipelines, search
from rosenblatt.workbench.clock import Clock
from rosenblatt.workbench.model_file import load_model
from rosenblatt.workbench.problem import problem_of
from tests.cli.commands import run

QUICK = ["Gaussian naive Bayes", "logistic regression"]


@pytest.fixture
def openings(tmp_path):
    return tmp_path / "openings.jsonl"


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    n = 300
    town = rng.choice(["Rome", "Oslo", "Bonn"], n)
    age = rng.normal(50, 10, n)
    price = 3 * age + 20 * (town == "Rome") + rng.normal(0, 5, n)
    age[::17] = np.nan
    return pl.DataFrame(
        {"id": np.arange(n), "age": age, "town": town, "price": price}
    ).with_columns(pl.col("age").fill_nan(None))


def test_the_leaderboard_is_of_training_scores_and_the_test_set_is_opened_once(openings):
    # B11: the cycle of an experiment
    found = rosenblatt.compare("wine", target="cultivar", ledger=openings, families=QUICK)
    board = found.leaderboard
    assert set(board["family"]) == {*QUICK, "always the largest class"}
    assert board["score"].is_monotonic_decreasing
    assert board["score"].iloc[0] > 0.9
    [line] = openings.read_text().splitlines()
    assert json.loads(line)["rows"] == found.findings.protocol.n_test
    assert found.findings.opening.times_opened == 1
    low_high = [(i.low, i.high) for i in found.findings.opening.intervals]
    assert all(low <= found.findings.opening.score <= high for low, high in low_high)
    again = rosenblatt.compare("wine", target="cultivar", ledger=openings, families=QUICK)
    assert again.findings.opening.times_opened == 1  # the same again is no second look
    pd.testing.assert_series_equal(again.leaderboard["score"], board["score"])


def test_no_model_and_no_preparation_sees_a_test_row(openings, mixed):
    """Rows of the test part hold what would break any fit that saw them."""
    frame = mixed
    problem = problem_of(read_table(frame), "price")
    price, town = frame["price"].to_numpy().copy(), np.array(frame["town"].to_list(), object)
    price[problem.test], town[problem.test] = 1e9, "Atlantis"
    poisoned = frame.with_columns(pl.Series("price", price), pl.Series("town", town.tolist()))
    how = {
        "target": "price",
        "ledger": openings,
        "families": ["ridge regression", "lasso", "regression tree"],
    }
    found = rosenblatt.compare(poisoned, **how)
    clean = rosenblatt.compare(frame, **how)
    assert found.leaderboard["score"].tolist() == clean.leaderboard["score"].tolist()
    assert "town = Atlantis" not in found.best["features"].get_feature_names_out()
    np.testing.assert_array_equal(found.best["model"].coef_, clean.best["model"].coef_)
    assert found.findings.opening.score < clean.findings.opening.score
    assert [c.n_different for c in found.findings.columns] == [
        c.n_different for c in clean.findings.columns
    ]


def test_scores_are_those_of_the_same_recipe_in_scikit_learn(mixed):
    problem = problem_of(read_table(mixed), "price")
    folded = search.FoldedProblem(problem, "r2")
    [family] = [f for f in families.FAMILIES if f.name == "ridge regression"]
    found = folded.candidates(family)
    table = ColumnTransformer(
        [
            ("age", make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True)), ["age"]),
            ("town", OneHotEncoder(), ["town"]),
        ]
    )
    frame = mixed.to_pandas().iloc[problem.train]
    theirs = GridSearchCV(
        make_pipeline(table, Ridge()), {"ridge__alpha": family.grid["alpha"]}, cv=problem.folds()
    ).fit(frame, problem.y[problem.train])
    for c, candidate in enumerate(found):
        expected = [theirs.cv_results_[f"split{f}_test_score"][c] for f in range(10)]
        np.testing.assert_allclose(candidate.scores, expected, rtol=1e-6)


def test_arrays_and_sparse_matrices_and_frames(openings):
    X, y = load_breast_cancer(return_X_y=True)
    one = rosenblatt.compare(X, y, ledger=openings, families=["Gaussian naive Bayes"])
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    two = rosenblatt.compare(frame, y, ledger=openings, families=["Gaussian naive Bayes"])
    assert one.leaderboard["score"].tolist() == two.leaderboard["score"].tolist()
    assert one.best.predict(read_table(frame).frame).shape == y.shape

    three = rosenblatt.compare(
        csr_matrix(X), y, ledger=openings, families=["multinomial naive Bayes"]
    )
    assert three.leaderboard["score"].iloc[0] > three.leaderboard["score"].iloc[-1]


def test_regression_has_its_own_families(openings):
    X, y = load_diabetes(return_X_y=True)
    found = rosenblatt.compare(X, y, ledger=openings)
    assert {"least squares", "ridge regression", "lasso"} <= set(found.leaderboard["family"])
    assert 0.3 < found.findings.opening.score < 0.7
    assert found.findings.learned
    assert found.findings.certificate.holds
    assert found.findings.learning_curve.verdict


def test_a_budget_is_kept_and_the_best_so_far_is_reported(openings, monkeypatch):
    def slow_candidates(folded, family):
        while family.name == "logistic regression":  # a fit that never ends
            deadline.check()
            time.sleep(0.01)
        return candidates(folded, family)

    candidates = search.FoldedProblem.candidates
    rosenblatt.compare("iris", target="species", ledger=openings, families=QUICK)  # compiles
    monkeypatch.setattr(
        search.FoldedProblem,
        "candidates",
        lambda a, f: slow_candidates(a, f) if f.takes != "rows" else candidates(a, f),
    )
    found = rosenblatt.compare("iris", target="species", budget=3, ledger=openings, families=QUICK)
    assert found.findings.protocol.stopped == "budget"
    assert found.findings.contestants[0].family == "Gaussian naive Bayes"
    assert [(d.family, d.reason) for d in found.findings.dropped] == [
        ("logistic regression", "no time was left")
    ]
    assert found.findings.opening is not None


def test_an_interrupt_reports_what_is_there(openings, monkeypatch):
    def interrupted(folded, family):
        if family.name == "logistic regression":
            raise KeyboardInterrupt
        return candidates(folded, family)

    candidates = search.FoldedProblem.candidates
    monkeypatch.setattr(search.FoldedProblem, "candidates", interrupted)
    found = rosenblatt.compare("iris", target="species", ledger=openings, families=QUICK)
    assert found.findings.protocol.stopped == "interrupt"
    assert len(found.findings.contestants) == 1
    assert found.findings.opening.score > 0.8
    assert found.findings.retrained  # which takes no time here
    monkeypatch.setattr(conclusions, "SOON", 0.0)
    again = rosenblatt.compare("iris", target="species", ledger=openings, families=QUICK).findings
    assert not again.retrained
    assert "After the interrupt the chosen model was not fitted again" in " ".join(again.notes)


def test_a_family_that_fails_does_not_take_the_others_with_it(openings, monkeypatch):
    def failing(folded, family):
        if family.name == "logistic regression":
            raise ValueError("no such luck")
        return candidates(folded, family)

    candidates = search.FoldedProblem.candidates
    monkeypatch.setattr(search.FoldedProblem, "candidates", failing)
    found = rosenblatt.compare("iris", target="species", ledger=openings, families=QUICK)
    assert [(d.family, d.reason) for d in found.findings.dropped] == [
        ("logistic regression", "failed: no such luck")
    ]


BAD = {
    "no such column": ("specis", {}, "has no column 'specis'. Did you mean species"),
    "part of a name": (
        "species", {"families": ["logistic"]},
        "There is no family 'logistic'. Did you mean logistic regression or kernel logistic",
    ),
    "unknown family": (
        "species", {"families": ["nosuch"]}, "There is no family 'nosuch'. Model families: Gauss",
    ),
    "another task": (
        "species", {"families": ["lasso"]}, "lasso is for regression, which is not what the target",
    ),
    "a class of another task": (
        "species", {"families": ["Lasso"]}, "Lasso is for regression, which is not what the target",
    ),
    "nearly a class": (
        "species", {"families": ["LogisticRegresion"]}, "Did you mean .*[Ll]ogistic ?[Rr]egression",
    ),
    "no name": ("species", {"families": [3]}, "families takes names of families .*; got 3"),
    "a peer": ("species", {"families": ["histogram boosting"]}, "a peer, .* request: peers=True"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_requests(what):
    target, options, message = BAD[what]
    with pytest.raises(TableError, match=message):
        rosenblatt.compare("iris", target=target, **options)


ROWS = 60
TABLES = {
    "one value": ({"a": list(range(ROWS)), "y": ["x"] * ROWS}, "have the same y, 'x'"),
    "no value": ({"a": list(range(ROWS)), "y": [None] * ROWS}, "No row of the table has a value"),
    "too many classes": (
        {"a": [i % 7 for i in range(ROWS)], "y": [f"c{i // 2}" for i in range(ROWS)]},
        "too many classes",
    ),
    "infinite": (
        {"a": [1.5, float("inf")] * 30, "y": ["u", "v"] * 30}, "'a' must hold .* inf in row 1",
    ),
    "only names": ({"id": list(range(ROWS)), "y": ["u", "v"] * 30}, "no column to learn from"),
    "few rows": ({"a": [1.0, 2.5] * 4, "y": ["u", "v"] * 4}, "at least 20"),
}  # fmt: skip


@pytest.mark.parametrize("what", TABLES)
def test_tables_that_nothing_can_be_learned_from(what):
    # A4: one class, or no column that could tell, is refused
    columns, message = TABLES[what]
    with pytest.raises(TableError, match=message):
        rosenblatt.compare(pl.DataFrame(columns), target="y")


def test_hints_of_leaks(openings):
    rng = np.random.default_rng(0)
    y = rng.choice(["u", "v"], 200)
    frame = pl.DataFrame(
        {
            "noise": rng.normal(size=200).round(1),
            "copy": np.where(y == "u", "up", "down"),
            "score": np.where(y == "u", 1.0, -1.0) * rng.uniform(1, 2, 200),
            "y": y,
        }
    )
    frame = pl.concat([frame, frame.head(60)])
    found = rosenblatt.compare(frame, target="y", ledger=openings, families=QUICK[:1])
    text = " ".join(map(str, found.findings.hints))
    assert "copy alone decides y" in text
    assert "score alone decides y" in text
    assert "noise" not in text
    assert "test rows" in text


def test_rows_by_group_and_by_time(openings, mixed):
    rng = np.random.default_rng(1)
    grouped = mixed.with_columns(pl.Series("house", rng.integers(0, 30, len(mixed))))
    problem = problem_of(read_table(grouped), "price", groups="house")
    houses = grouped["house"].to_numpy()
    parts = [set(houses[rows]) for rows in (problem.train, problem.dev, problem.test)]
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert "house" not in problem.X.columns
    timed = mixed.with_columns(pl.Series("when", rng.permutation(len(mixed))))
    problem = problem_of(read_table(timed), "price", time="when")
    when = problem.X["when"].to_numpy()
    assert when[problem.train].max() < when[problem.dev].min()
    assert when[problem.dev].max() < when[problem.test].min()
    found = rosenblatt.compare(
        timed, target="price", time="when", ledger=openings, families=["ridge regression"]
    )
    assert found.findings.protocol.split == "by time"


def test_the_column_of_the_groups_is_shown_as_no_feature(openings, mixed):
    grouped = mixed.with_columns(pl.Series("house", np.arange(len(mixed)) % 30))
    problem = problem_of(read_table(grouped), "price", groups="house")
    [column] = [column for column in problem.columns if column.name == "house"]
    assert (column.kind, column.used) == ("groups", False)
    assert column.note == "keeps rows together, and is no feature"
    assert column.n_different == len(np.unique(problem.groups[problem.train]))
    assert "house" not in problem.used


def test_groups_follow_their_rows_when_others_are_left_out():
    rng = np.random.default_rng(2)
    house = np.repeat(np.arange(40), 5)
    label = np.where(house % 2 == 0, "even", "odd").astype(object)
    label[[3, 50]] = None  # left out, and the only two of another class
    label[[7, 8]] = "rare"
    frame = pl.DataFrame({"x": rng.normal(size=200), "house": house, "y": label.tolist()})
    problem = problem_of(read_table(frame), "y", groups="house")
    assert len(problem.groups) == len(problem.y) == 196
    assert ((problem.groups % 2 == 0) == (problem.y == "even")).all()


@pytest.mark.parametrize("role", ["groups", "time"])
def test_rows_without_a_group_or_time_have_no_place(role, mixed):
    holes = mixed.with_columns(pl.Series("when", [None, *range(1, len(mixed))]))
    with pytest.raises(TableError, match="when is missing in 1 row, which has no place"):
        problem_of(read_table(holes), "price", **{role: "when"})


def test_it_shows_itself_in_notebooks_and_in_words(openings):
    found = rosenblatt.compare("iris", target="species", ledger=openings, families=QUICK)
    assert "logistic regression" in found._repr_html_()
    assert " on 30 test rows (" in str(found)
    assert "2 families on iris" in repr(found)


def test_words_are_those_of_the_terminal_interval_and_warnings_included(
    openings, monkeypatch, tmp_path
):
    """The test rows are the last by time, and of another kind."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x, late = rng.normal(size=500), np.arange(500) >= 400
    y = np.where((x > 0) ^ late, "yes", "no")
    pl.DataFrame({"t": np.arange(500), "x": x, "y": y}).write_csv("a.csv")
    found = rosenblatt.compare("a.csv", "y", time="t", families="GaussianNB", ledger=openings)
    said = run(
        "compare", "a.csv", "--target", "y", "--time", "t", "--families", "GaussianNB",
        "--ledger", tmp_path / "other",
    ).output  # fmt: skip
    for words in (str(found), " ".join(said.split()), found._repr_html_()):
        assert f"naive Bayes: accuracy {found.findings.opening.score:.4f} on " in words
        assert re.search(r"95% interval [\d.]+ to [\d.]+ by Wilson", words)
        assert "! The test score is far from the cross-validated score" in words


def test_the_baseline_is_ranked_by_its_score(openings, monkeypatch, tmp_path):
    """Of nine in ten rows the class is the same: what learns noise does worse than saying so."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    columns = {f"x{j}": rng.normal(size=200) for j in range(8)}
    pl.DataFrame(columns | {"y": np.where(rng.random(200) < 0.9, "a", "b")}).write_csv("a.csv")
    tried = ["perceptron", "kernel logistic regression"]
    found = rosenblatt.compare("a.csv", "y", families=tried, ledger=openings)
    board = found.leaderboard
    assert board["score"].is_monotonic_decreasing
    place = board["family"].tolist().index("always the largest class")
    assert board["baseline"].tolist() == [i == place for i in range(3)]
    assert place < 2
    lines = str(found).splitlines()
    assert "always the largest class (baseline)" in lines[place + 1]
    words = ["compare", "a.csv", "--target", "y", "--families", ",".join(tried)]
    said = run(*words, columns=200).output
    table = said[said.index("family") :]
    names = sorted(board["family"], key=table.index)
    assert names == board["family"].tolist()


def test_the_chosen_model_predicts_for_whatever_it_was_compared_on(openings):
    X, y = load_diabetes(return_X_y=True)
    found = rosenblatt.compare(X, y, ledger=openings, families=["ridge regression"])
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    expected = found.best.predict(read_table(frame).frame)
    for table in (X, X.tolist(), frame):
        np.testing.assert_array_equal(found.best.predict(table), expected)


def test_the_seal_is_not_broken_for_the_baseline_alone(openings, monkeypatch):
    def interrupted(folded, family):
        if family.takes == "rows":
            return candidates(folded, family)
        raise KeyboardInterrupt

    candidates = search.FoldedProblem.candidates
    monkeypatch.setattr(search.FoldedProblem, "candidates", interrupted)
    found = rosenblatt.compare("iris", target="species", ledger=openings, families=QUICK)
    assert found.findings.opening is None
    assert not openings.exists()
    # What is said of it: no model was fitted, and the baseline is there once.
    assert found.leaderboard["family"].tolist() == ["always the largest class"]
    assert "no model could be fitted" in repr(found)
    assert not [verdict for verdict in found.findings.verdicts if "overfit" in verdict]
    with pytest.raises(ValueError, match="No model could be fitted in time"):
        found.save(openings.with_name("model.skops"))
    text = found.report(openings.with_name("report.html")).read_text()
    assert "No model could be fitted in time" in text
    assert "predicts" not in text[text.index("<section") :]
    assert text[text.index('id="leaderboard"') :].count("always the largest class") == 2  # and key
    assert "overfit" not in text[text.index("<section") :]


def test_no_family_at_all_is_an_error(openings, monkeypatch):
    def failing(folded, family):
        if family.takes == "rows":
            return candidates(folded, family)
        raise ValueError("no such luck")

    candidates = search.FoldedProblem.candidates
    monkeypatch.setattr(search.FoldedProblem, "candidates", failing)
    with pytest.raises(TableError, match=r"No family could be fitted to iris .*no such luck"):
        rosenblatt.compare("iris", target="species", ledger=openings, families=QUICK)


def test_more_bad_requests(mixed):
    words = mixed.with_columns(pl.Series("when", [f"day {i}" for i in range(300)]))
    with pytest.raises(TableError, match="when holds words"):
        rosenblatt.compare(words, target="price", time="when")
    with pytest.raises(TableError, match="by time or by group, not by both"):
        rosenblatt.compare(mixed, target="price", time="id", groups="town")
    with pytest.raises(TableError, match=r"There is no metric 'accurcy'.*accuracy"):
        rosenblatt.compare("iris", target="species", metric="accurcy")
    with pytest.raises(TableError, match="X has 3 rows and y has 2"):
        rosenblatt.compare(csr_matrix(np.eye(3)), [0, 1])


def test_where_a_peer_is_best_the_best_of_ours_is_saved_with_a_word(openings, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")  # no line tells these apart
    options = {"peers": True, "ledger": openings}
    found = rosenblatt.compare(
        X, y, families=["histogram boosting", "perceptron", "logistic regression"], **options
    )
    assert found.findings.contestants[0].family == "histogram boosting"
    ours = found.findings.contestants[1]
    with pytest.warns(UserWarning, match=f"{ours.family}, the best of ours, is saved instead"):
        found.save(tmp_path / "m.skops")
    saved = load_model(tmp_path / "m.skops")
    assert (saved.family, saved.n_rows, saved.seed) == (ours.family, 160, 0)
    assert ours.parameters.items() <= saved.model[-1].get_params().items()
    alone = rosenblatt.compare(X, y, families=["histogram boosting"], **options)
    with pytest.raises(ValueError, match="of which none was fitted"):
        alone.save(tmp_path / "alone.skops")


def test_a_large_table_is_learned_some_rows_at_a_time(mixed, monkeypatch):
    """What learns by sums ends where a fit to all rows at once does."""
    labelled = mixed.with_columns(pl.col("price") > 170)
    problem = problem_of(read_table(labelled), "price")
    rows = np.concatenate([problem.train, problem.dev])
    named = {family.name: family for family in families.FAMILIES}
    for name in ("mixed naive Bayes", "linear discriminant analysis"):
        at_once = pipelines.fitted_to(problem, named[name], {}, rows)
        with monkeypatch.context() as patch:
            patch.setattr(pipelines, "MOST_AT_ONCE", 0)
            patch.setattr(pipelines, "ROWS_AT_A_TIME", 50)
            in_blocks = pipelines.fitted_to(problem, named[name], {}, rows)
        assert len(in_blocks[-1].statistics_) == len(rows)
        X = problem.X[problem.test]
        np.testing.assert_allclose(in_blocks.predict_proba(X), at_once.predict_proba(X), rtol=1e-8)


def test_features_of_a_large_table_are_not_kept(mixed, monkeypatch):
    problem = problem_of(read_table(mixed), "price")
    [family] = [f for f in families.FAMILIES if f.name == "lasso"]
    for most, n_kept in [(2**27, 10), (8 * len(mixed), 0)]:  # one for each fold
        monkeypatch.setattr(search, "MOST_KEPT_BYTES", most)
        folded = search.FoldedProblem(problem, "r2")
        folded.candidates(family)
        assert len(folded._kept) == n_kept


def test_the_best_of_ours_is_saved_as_it_is_if_the_time_is_over(openings, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    clock = Clock(600.0)
    found = rosenblatt.compare(
        X, y, families=["histogram boosting", "logistic regression"], peers=True, ledger=openings,
        budget=clock,
    )  # fmt: skip
    assert found.findings.contestants[0].family == "histogram boosting"
    clock.start -= 600  # all of it has passed by now
    with pytest.warns(UserWarning, match="the best of ours"):
        found.save(tmp_path / "m.skops")
    saved = load_model(tmp_path / "m.skops")
    assert (saved.n_rows, saved.certificate) == (120, None)  # the training part


def test_covariances_of_very_many_columns_are_left_alone():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(30, families.MOST_COLUMNS_OF_A_TABLE + 1)))
    frame = frame.with_columns(pl.Series("y", ["u", "v"] * 15))
    suiting, others = families.families_for(problem_of(read_table(frame), "y"))
    assert dict(others)["linear discriminant analysis"].startswith("needs the covariances")
    assert "Gaussian naive Bayes" in [family.name for family in suiting]


def test_a_family_that_does_not_read_texts_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 120)
    words = [" ".join(rng.choice(["sun", "rain", "wind", "snow", "ice"], 12)) for _ in y]
    table = pl.DataFrame({"x": rng.normal(size=120) + (y == "a"), "said": words, "y": y})
    table.write_csv("a.csv")
    tried = ["MixedNB", "MultinomialNB", "LogisticRegression"]
    found = rosenblatt.compare("a.csv", "y", families=tried, ledger=tmp_path / "openings")
    notes = dict(zip(found.leaderboard["family"], found.leaderboard["note"], strict=True))
    assert notes["mixed naive Bayes"] == "does not read texts (said)"
    assert notes["logistic regression"] == ""
    assert "does not read texts (said)" in found.report(tmp_path / "page.html").read_text()
    command = ["compare", "a.csv", "--target", "y", "--families", "MixedNB,LogisticRegression"]
    said = run(*command, "--verbose").output
    assert "mixed naive Bayes: does not read texts (said)" in said


def test_kernels_are_tried_on_texts_alone_only_if_they_are_named():
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["sun", "rain", "wind", "snow", "ice"], 12)) for _ in range(60)]
    frame = pl.DataFrame({"said": words, "y": ["a", "b"] * 30})
    slow = {"support vector machine", "kernel perceptron", "pocket perceptron"}
    suiting, others = families.families_for(problem_of(read_table(frame), "y"))
    assert slow.isdisjoint(family.name for family in suiting)
    assert "tried if it is named" in dict(others)["support vector machine"]
    suiting, _ = families.families_for(problem_of(read_table(frame), "y"), named=True)
    assert slow <= {family.name for family in suiting}
    beside = frame.with_columns(pl.Series("x", rng.normal(size=60)))
    suiting, _ = families.families_for(problem_of(read_table(beside), "y"))
    assert slow <= {family.name for family in suiting}


def test_whether_all_columns_are_counts_is_found_once_for_all_families(monkeypatch):
    """Each of three families read all columns: seconds of the budget, of 50,000 columns."""
    floors = []
    floor = pl.Series.floor
    monkeypatch.setattr(pl.Series, "floor", lambda values: floors.append(1) or floor(values))
    columns = {f"c{j}": np.array([2.0, 3.0, 3.0, 5.0] * 10) for j in range(6)}
    frame = pl.DataFrame({**columns, "y": ["a", "b"] * 20})
    problem = problem_of(read_table(frame), "y")
    _ = problem.used
    floors.clear()
    suiting, _ = families.families_for(problem)
    assert "multinomial naive Bayes" in [family.name for family in suiting]
    assert len(floors) == 6
