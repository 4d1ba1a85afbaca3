"""Every score has an interval, by drawing test rows again."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import get_scorer, mean_absolute_error

import rosenblatt
from rosenblatt.workbench import significance
from rosenblatt.workbench.findings import Opening
from rosenblatt.workbench.significance import redrawn


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


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("metric", ["roc_auc", *significance.METRICS])
def test_areas_of_all_draws_are_those_of_scikit_learn_one_by_one(metric, n_classes):
    if (metric == "roc_auc") != (n_classes == 2):
        return
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 60)
    P = rng.dirichlet(np.ones(n_classes), 60).round(1) + 0.01  # with ties
    P /= P.sum(axis=1, keepdims=True)
    opening = opening_of(0.5, y, P.argmax(axis=1), P, np.arange(n_classes))
    drawn = [rng.integers(0, 60, 60) for _ in range(7)]
    drawn.append(np.flatnonzero(y != 0))  # a class is missing: there is no such score
    counts = np.array([np.bincount(rows, minlength=60) for rows in drawn], np.float64)
    found = significance.areas(opening, metric, counts)
    scorer = significance.score_of(metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [scorer(significance._Classifier(opening), rows, y[rows]) for rows in drawn]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.isnan(found[-1])


def test_areas_of_other_classes_than_the_models_are_left_to_the_scorer():
    y, P = np.array([0, 1, 2, 3]), np.full((4, 3), 1 / 3)
    opening = opening_of(0.5, y, y, P, np.arange(3))
    assert significance.areas(opening, "roc_auc_ovr", np.ones((1, 4))) is None
    assert significance.areas(opening, "accuracy", np.ones((1, 4))) is None


def test_areas_of_many_rows_are_as_sure_as_those_of_each_draw(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 400)
    P = rng.dirichlet(np.ones(3), 400) + np.eye(3)[y]
    P /= P.sum(axis=1, keepdims=True)
    opening = opening_of(significance.score_of("roc_auc_ovo")(
        significance._Classifier(opening_of(0, y, y, P, np.arange(3))), np.arange(400), y
    ), y, y, P, np.arange(3))  # fmt: skip
    monkeypatch.setattr(significance, "MOST_TO_DRAW", 100)
    fast = redrawn(opening, "roc_auc_ovo")
    monkeypatch.setattr(significance, "METRICS", ())
    [slow], [fast] = redrawn(opening, "roc_auc_ovo"), fast
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), rel=1e-12)
