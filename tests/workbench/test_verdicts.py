"""Verdicts follow their definitions."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.workbench.findings import Candidate, Contestant, Interval, Opening
from rosenblatt.workbench.verdicts import (
    against_baseline,
    far_from_folds,
    flattered_by_repeats,
    is_of_use,
    overfits,
    verdict_of_curve,
    verdicts_of,
)

PLAIN = Contestant(
    "plain", "Plain", "rosenblatt", [Candidate({}, np.array([0.8, 0.9]), np.empty(0))], 0,
    0.1, 0.1, 100, dev_score=0.85, dev_train_score=0.9,
)  # fmt: skip


def scored(train, dev, name="other"):
    return replace(PLAIN, family=name, dev_train_score=train, dev_score=dev)


@pytest.mark.parametrize(
    ("train", "dev", "expected"),
    [(0.95, 0.80, True), (0.95, 0.90, False), (0.85, 0.80, False), (0.90, 0.80, False)],
)
def test_a_model_overfits_beside_one_that_fits_worse_and_does_better(train, dev, expected):
    # A11: overfitting and underfitting, defined and measured
    assert overfits(scored(train, dev), PLAIN) is expected


def test_who_overfits_beside_whom_is_said_and_when_folds_are_needed():
    # B4: one held-out set or several folds
    few, many = (SimpleNamespace(train=np.arange(n)) for n in (100, 50_000))
    said = verdicts_of(few, [scored(0.99, 0.7, "crammer"), PLAIN])
    assert "Crammer overfits relative to plain" in said[0]
    assert "cross-validation is needed" in said[1]
    said = verdicts_of(many, [PLAIN, scored(0.8, 0.7)])
    assert "Plain does not overfit" in said[0]
    assert "a held-out set would suffice" in said[1]


ROWS = np.array([100, 200, 400, 800])
CURVES = {
    "Variance": ([1.0, 1.0, 1.0, 1.0], [0.6, 0.65, 0.68, 0.7]),
    "More rows would help": ([0.9, 0.88, 0.87, 0.86], [0.6, 0.7, 0.75, 0.8]),
    "Bias": ([0.8, 0.76, 0.75, 0.751], [0.7, 0.74, 0.748, 0.75]),
    "nothing left to gain": ([1.0, 1.0, 1.0, 1.0], [0.9, 0.99, 1.0, 1.0]),
}


@pytest.mark.parametrize("verdict", CURVES)
def test_a_learning_curve_is_judged_by_its_end(verdict):
    # B10, B12: the end of a curve shows whether more rows would help
    train, dev = map(np.array, CURVES[verdict])
    assert verdict in verdict_of_curve(ROWS, train, dev)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("verdict", CURVES)
def test_a_curve_of_errors_is_judged_alike_in_every_unit(verdict, unit):
    """The same curves, as errors of which the baseline has one unit."""
    train, dev = ((np.array(scores) - 1) * unit for scores in CURVES[verdict])
    said = verdict_of_curve(ROWS, train, dev, "neg_mean_absolute_error", -unit)
    assert verdict in said
    assert said == verdict_of_curve(ROWS, train / unit, dev / unit, "neg_mean_absolute_error", -1.0)


def test_a_model_beside_the_baseline():
    def folds(scores, p=1.0, name="plain"):
        tried = [Candidate({}, np.array(scores), np.empty(0))]
        return replace(PLAIN, family=name, candidates=tried, p_value=p)

    baseline = folds([0.6, 0.6], 0.01, "the mean")
    assert "Nothing beat the baseline" in against_baseline(folds([0.5, 0.6]), baseline)
    assert not against_baseline(folds([0.7, 0.6]), baseline)
    assert not against_baseline(baseline, baseline)  # nothing was tried
    near = folds([0.6, 0.6], 0.3, "the mean")
    assert "not significantly better than the baseline" in against_baseline(folds([0.7, 0.6]), near)
    for best, other in ((folds([0.5, 0.6]), baseline), (folds([0.7, 0.6]), near)):
        said = against_baseline(best, other, "budget")
        assert said.startswith("No family that was fitted in time")


@pytest.mark.parametrize(
    ("folds", "score", "reach", "metric", "far"),
    [
        ([0.9, 0.0, 0.1, 0.2, 0.45], 0.98, 0.01, "accuracy", True),
        ([0.94, 0.96, 0.95, 0.93, 0.97], 0.97, 0.03, "accuracy", False),
        ([0.850, 0.853, 0.847, 0.85, 0.85], 0.862, 0.003, "accuracy", False),  # more rows help
        ([0.850, 0.853, 0.847, 0.85, 0.85], 0.70, 0.01, "accuracy", True),
        ([-2.0, -2.1, -1.9], -4.0, 0.3, "neg_mean_absolute_error", True),
        ([-2.0, -2.1, -1.9], -2.1, 0.3, "neg_mean_absolute_error", False),
    ],
)
def test_a_test_score_beside_what_the_folds_promised(folds, score, reach, metric, far):
    chosen = replace(PLAIN, candidates=[Candidate({}, np.array(folds), np.empty(0))])
    intervals = [Interval(score - reach, score + reach, "bootstrap")]
    y = np.zeros(1)
    opening = Opening(score, 0.0, intervals, y, y, None, None, None, 1)
    assert bool(far_from_folds(chosen, opening, metric)) == far
    assert not far_from_folds(chosen, None, metric)


def opened(score, reach=0.001, **others):
    y = np.zeros(1)
    intervals = [Interval(score - reach, score + reach, "bootstrap")]
    return Opening(score, 0.5, intervals, y, y, None, None, None, 1, **others)


def test_all_test_rows_are_compared_with_the_folds_which_hold_the_same_repeats():
    """The score of unrepeated rows was, and folds with repeats seemed to have promised too much."""
    folds = np.array([0.983, 0.984, 0.985])
    chosen = replace(PLAIN, candidates=[Candidate({}, folds, np.empty(0))])
    opening = opened(0.984, unrepeated=opened(0.973))
    assert not far_from_folds(chosen, opening, "accuracy")
    said = flattered_by_repeats(opening, "accuracy")
    assert "that are also training rows, the score is 0.973 instead of 0.984" in said
    assert "The folds have the same duplicates, so trust 0.973" in said
    for near in (opened(0.983), opened(0.995), opened(0.973, 0.02), None):
        assert not flattered_by_repeats(replace(opening, unrepeated=near), "accuracy")


def test_what_the_baseline_does_as_well_is_no_matter_of_bias():
    flat = np.zeros(4)
    assert verdict_of_curve(ROWS, flat, flat).startswith("Bias")
    assert "No family found a relation" in verdict_of_curve(ROWS, flat, flat, of_use=False)


@pytest.mark.parametrize(
    ("score", "p", "of_use"),
    [(0.7, 0.01, True), (0.7, 0.3, False), (0.6, 0.01, False), (0.6 + 1e-15, 0.01, False)],
)
def test_a_model_is_of_use_if_it_can_be_told_from_the_baseline(score, p, of_use):
    def folds(mean, p):
        tried = [Candidate({}, np.full(5, mean), np.empty(0))]
        return replace(PLAIN, candidates=tried, p_value=p)

    assert is_of_use(folds(score, 1.0), folds(0.6, p)) is of_use


@pytest.fixture(scope="module")
def of_noise(tmp_path_factory):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"x{j}": rng.normal(size=400) for j in range(5)})
    table = table.with_columns(pl.Series("y", rng.normal(size=400)))
    folder = tmp_path_factory.mktemp("noise")
    found = rosenblatt.compare(table, "y", families="Lasso", ledger=folder / "openings")
    return found, " ".join(found.report(folder / "page.html").read_text().split())


def test_a_model_without_a_weight_is_said_to_have_learned_nothing(of_noise):
    found, page = of_noise
    assert found.findings.learned_nothing
    assert "learned nothing</strong>: all its weights are zero, and it predicts the mean" in page
    assert "It learned nothing: all its weights are zero" in page  # where weights are shown
    assert "No family found a relation between the columns" in page
    assert "Bias" not in page
    assert "value tried; try" not in page


def test_a_share_below_zero_is_told_in_one_form(of_noise):
    found, page = of_noise
    assert found.findings.opening.score < 0
    answer = page[page.index('id="answer"') : page.index('id="leaderboard"')]
    assert "worse than the mean does" in answer
    assert "%" not in answer.replace("95%", "")


def test_of_equals_the_baseline_is_taken(of_noise):
    # A10: what a learner assumes about unseen cases; the simpler rule first
    found, page = of_noise
    assert found.leaderboard["baseline"].tolist() == [True, False]
    assert "as the baseline" in page
    assert "Nothing beat the baseline in cross-validation" in str(found)


def test_a_model_that_orders_rows_well_has_learned_something():
    """On a 70/30 target the largest class was as right as a model with an AUC of 0.80."""
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=200) < 0.3).astype(int)
    shift = np.clip(0.3 + 0.1 * y + 0.08 * rng.normal(size=200), 0.01, 0.49)
    opening = Opening(0.7, 0.7, [], y, np.zeros(200), np.column_stack([1 - shift, shift]), None,
                      np.array([0, 1]), 1)  # fmt: skip
    near = replace(PLAIN, family="always the largest class", p_value=0.3)
    said = against_baseline(replace(PLAIN, family="model"), near, "", opening)
    assert "test AUC is 0.8" in said
    assert "learned nothing" not in said
    noise = replace(opening, probabilities=rng.dirichlet([1, 1], 200))
    assert "AUC" not in against_baseline(replace(PLAIN, family="model"), near, "", noise)


def test_curves_that_have_met_ask_for_no_more_rows():
    train, dev = np.array([0.9, 0.82, 0.802, 0.801]), np.array([0.6, 0.7, 0.78, 0.797])
    assert "more rows would change little" in verdict_of_curve(ROWS, train, dev)
