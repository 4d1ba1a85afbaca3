"""Every score has an interval, by drawing test rows again."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer, mean_absolute_error

import rosenblatt
from rosenblatt.workbench.redrawing import redrawn
from rosenblatt.workbench.results import Opening


def opening_of(score, y, predicted, probabilities=None, classes=None):
    return Opening(score, 0.0, [], y, predicted, probabilities, None, classes, 1)


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss", "f1_macro", "balanced_accuracy"])
def test_the_interval_holds_the_score_of_the_model(metric):
    X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2
    X[:, 0] += y
    model = rosenblatt.GaussianNB().fit(X, y)
    score = get_scorer(metric)(model, X, y)
    opening = opening_of(score, y, model.predict(X), model.predict_proba(X), model.classes_)
    [found] = redrawn(opening, metric)
    assert found.method == "bootstrap"
    assert found.low < score < found.high
    assert found.high - found.low < 0.3


def test_errors_of_many_rows_are_as_sure_as_their_deviation_says(monkeypatch):
    rng = np.random.default_rng(1)
    y, predicted = np.zeros(20_000), rng.normal(size=20_000)
    score = -mean_absolute_error(y, predicted)
    [found] = redrawn(opening_of(score, y, predicted), "neg_mean_absolute_error")
    reach = 1.96 * np.abs(predicted).std() / np.sqrt(20_000)
    assert found.high - found.low == pytest.approx(2 * reach, rel=0.15)
    assert found.low < score < found.high


def test_a_score_that_is_no_number_has_no_interval():
    y = np.array(["a"] * 30)
    sure = np.tile([0.9, 0.1], (30, 1))
    opening = opening_of(np.nan, y, y, sure, np.array(["a", "b"]))
    assert redrawn(opening, "roc_auc") == []


@pytest.mark.parametrize(
    ("table", "target", "metric"),
    [("diabetes", "progression", "neg_mean_absolute_error"), ("wine", "cultivar", "roc_auc_ovr"),
     ("wine", "cultivar", "neg_log_loss")],
)  # fmt: skip
def test_a_comparison_has_an_interval_whatever_its_metric(table, target, metric, tmp_path):
    family = "least squares" if table == "diabetes" else "logistic regression"
    found = rosenblatt.compare(
        table, target=target, metric=metric, families=[family], ledger=tmp_path / "openings.jsonl"
    ).findings.opening
    [interval] = found.intervals
    assert interval.low <= found.score <= interval.high
