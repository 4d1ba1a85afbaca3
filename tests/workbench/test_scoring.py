"""Scores that do not suit are refused in a sentence; classes never seen lose no comparison."""

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import TableError, read_table
from rosenblatt.workbench.problem import problem_of
from rosenblatt.workbench.report.prediction_figures import rankings_of
from rosenblatt.workbench.scoring import metric_for
from tests.cli.commands import run

pytestmark = pytest.mark.usefixtures("few_draws")


@pytest.mark.parametrize(
    ("table", "target", "metric", "said"),
    [
        ("diabetes", "progression", "accuracy", "score of classification, .* regression: take r2"),
        ("diabetes", "progression", "rmse", "Did you mean neg_root_mean_squared_error"),
        ("diabetes", "progression", "nonsense", "For regression take r2"),
        ("iris", "species", "r2", "score of regression, .* take accuracy"),
        ("iris", "species", "rand_score", "score of clusters"),
        ("iris", "species", "acuracy", "Did you mean accuracy"),
        ("iris", "species", "f1", "one of two classes; species has 3: take f1_macro"),
        ("breast_cancer", "diagnosis", "f1", "--positive malignant, .* or take f1_macro"),
        ("iris", "species", "roc_auc", "take roc_auc_ovr"),
        (
            "breast_cancer",
            "diagnosis",
            "average_precision",
            "benign and malignant. Name that class .* or take roc_auc",
        ),
    ],
)
def test_a_metric_that_does_not_suit_is_refused_with_those_that_do(table, target, metric, said):
    with pytest.raises(TableError, match=said):
        metric_for(problem_of(read_table(table), target), metric)


def test_metrics_that_suit_are_taken():
    iris = problem_of(read_table("iris"), "species")
    assert metric_for(iris, None) == "accuracy"
    assert metric_for(iris, "neg_log_loss") == "neg_log_loss"
    assert metric_for(problem_of(read_table("breast_cancer"), "diagnosis"), "roc_auc") == "roc_auc"
    diabetes = problem_of(read_table("diabetes"), "progression")
    for metric in ("neg_mean_absolute_error", "neg_mean_poisson_deviance", "explained_variance"):
        assert metric_for(diabetes, metric) == metric


@pytest.fixture
def late_class():
    """By time, with a class that begins in the test part, and one that begins in the middle."""
    rng = np.random.default_rng(0)
    n = 300
    y = np.where(rng.random(n) < 0.5, "a", "b").astype(object)
    y[100::7] = "c"
    y[280::2] = "late"
    x = rng.normal(size=n) + (y == "b") - (y == "c")
    return pl.DataFrame({"t": np.arange(n), "x": x, "z": rng.normal(size=n), "y": y.tolist()})


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("neg_log_loss", "the score ignores them"),
        ("roc_auc_ovr", "the score ignores them"),
        ("accuracy", "they count as wrong"),
    ],
)
def test_a_class_that_only_the_test_has_loses_no_comparison(metric, said, late_class, tmp_path):
    found = rosenblatt.compare(
        late_class, target="y", time="t", metric=metric, ledger=tmp_path / "openings",
        families=["Gaussian naive Bayes", "logistic regression"],
    )  # fmt: skip
    assert len(found.leaderboard) == 3, found.findings.dropped
    assert np.isfinite(found.findings.opening.score)
    [sentence] = [word for word in found.findings.notes if "late" in word]
    assert sentence.startswith("10 test rows are of a class that the training rows do not have")
    assert said in sentence
    found.report(tmp_path / "report.html")
    assert "10 test rows are of a class" in (tmp_path / "report.html").read_text()


def test_folds_by_time_and_their_interval_go_by_one_ratio(late_class, tmp_path):
    from rosenblatt.workbench.search import FoldedProblem
    from rosenblatt.workbench.significance import interval_of_mean

    folded = FoldedProblem(problem_of(read_table(late_class), "y", time="t"), "accuracy")
    assert folded.ratio == pytest.approx(np.mean([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]))
    found = rosenblatt.compare(
        late_class, target="y", time="t", ledger=tmp_path / "openings",
        families=["Gaussian naive Bayes"],
    )  # fmt: skip
    line, scores = found.leaderboard.iloc[0], found.findings.contestants[0].scores
    expected = interval_of_mean(scores, "accuracy", folded.ratio)
    assert (line["low"], line["high"]) == (expected.low, expected.high)
    assert expected.low < interval_of_mean(scores, "accuracy").low


def test_it_is_said_that_nothing_beat_the_baseline(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    n = 200
    frame = pl.DataFrame(
        {f"x{j}": rng.normal(size=n) for j in range(8)}
        | {"y": np.where(rng.random(n) < 0.9, "a", "b")}
    )
    frame.write_csv("noise.csv")
    found = rosenblatt.compare(frame, target="y", families=["perceptron"], ledger="openings")
    assert found.findings.contestants[0].mean < found.findings.baseline.mean
    found.report("noise.html")
    page = (tmp_path / "noise.html").read_text()
    assert "Nothing beat the baseline" in page
    assert "below the baseline" in page
    monkeypatch.setattr("rosenblatt.workbench.comparison.families_for", only("perceptron"))
    said = run("compare", "noise.csv", "--target", "y")
    assert "Nothing beat the baseline" in " ".join(said.output.split()), said.output


def only(name):
    from rosenblatt.workbench.families import FAMILIES

    return lambda *_: ([family for family in FAMILIES if family.name == name], [])


@pytest.fixture
def ones_and_twos():
    """Classes 1 and 2, of which scikit-learn's scores of one class take the first."""
    rng = np.random.default_rng(2)
    y = rng.choice([1, 2], 300, p=[0.2, 0.8])
    return pl.DataFrame({"x": rng.normal(size=300) + y, "z": rng.normal(size=300), "y": y})


@pytest.mark.parametrize(
    ("family", "metric"),
    [("LogisticRegression", "f1"), ("LogisticRegression", "average_precision"),
     ("LogisticRegression", "recall"), ("Perceptron", "precision"), ("Perceptron", "jaccard")],
)  # fmt: skip
def test_scores_of_one_class_say_which_and_curves_are_of_it(
    metric, family, ones_and_twos, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    found = rosenblatt.compare(
        ones_and_twos, "y", task="classification", metric=metric, families=family, ledger="openings"
    )
    findings = found.findings
    assert findings.protocol.positive == 1
    [curves] = rankings_of(findings.opening, findings.protocol.positive)
    assert curves.name == "1"
    assert curves.area > 0.6
    found.report("report.html")
    page = " ".join((tmp_path / "report.html").read_text().split())
    name = metric.replace("_", " ")
    article = "an" if metric in ("f1", "average_precision") else "a"
    assert f"with {article} {name} (of the class 1) of" in page
    assert f"<dd>{name} of the class 1</dd>" in page
    assert "Area under the curve for 1:" in page
    if family == "LogisticRegression":
        assert "predicted probability of 1" in page


def test_the_terminal_says_which_class_too(ones_and_twos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ones_and_twos.write_csv("a.csv")
    words = ["compare", "a.csv", "--target", "y", "--families", "GaussianNB", "--metric"]
    assert "f1 of the class 1," in run(*words, "f1").output
    assert "of the class" not in run(*words, "f1_macro").output


@pytest.mark.parametrize("metric", ["neg_log_loss", "roc_auc_ovr", "neg_brier_score"])
def test_a_family_without_probabilities_is_not_tried_where_the_score_needs_them(metric, tmp_path):
    found = rosenblatt.compare(
        "iris", "species", metric=metric, families=["perceptron", "GaussianNB"],
        ledger=tmp_path / "openings",
    )  # fmt: skip
    [drop] = found.findings.dropped
    assert drop.family == "perceptron"
    assert drop.reason == f"gives no probabilities, which {metric} needs"
    with pytest.raises(TableError, match=f"gives no probabilities, which {metric} needs"):
        rosenblatt.compare("iris", "species", metric=metric, families=["perceptron"])


def test_a_family_that_scores_rows_is_tried_where_these_will_do(tmp_path):
    found = rosenblatt.compare(
        "breast_cancer", "diagnosis", metric="roc_auc", families=["perceptron", "GaussianNB"],
        ledger=tmp_path / "openings",
    )  # fmt: skip
    assert not found.findings.dropped
