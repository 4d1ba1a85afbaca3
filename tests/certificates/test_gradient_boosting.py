"""Certificates of boosted trees, ours and scikit-learn's."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as theirs
from sklearn.base import clone

from rosenblatt import HistGradientBoostingClassifier, HistGradientBoostingRegressor, certify

FEW = {"max_iter": 4, "max_leaf_nodes": 5, "early_stopping": True, "random_state": 0}
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
X[rng.random(X.shape) < 0.1] = np.nan
T = np.exp(np.nan_to_num(X[:, 0]) + rng.normal(size=300) / 3)
CLASSES = np.digitize(T, [0.5, 2])
WEIGHT = rng.integers(0, 3, 300)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", "poisson", "gamma"]
)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_every_loss_is_certified(loss, weight):
    share = {"quantile": 0.8} if loss == "quantile" else {}
    model = HistGradientBoostingRegressor(loss, **share, **FEW, l2_regularization=1.0)
    model.fit(X, T, weight)
    certificate = certify(model, X, T, sample_weight=weight)
    assert certificate.holds, str(certificate)
    assert certificate["leaves"].grade == "checked"


@pytest.mark.parametrize("y", [CLASSES, CLASSES > 1], ids=["three", "two"])
@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_classes_are_certified(y, balanced):
    model = HistGradientBoostingClassifier(class_weight=balanced, **FEW).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    names = {claim.name for claim in certificate}
    assert {"start", "leaves", "descent", "losses by round", "predictions"} <= names


def test_categories_are_certified():
    frame = pd.DataFrame({"word": rng.choice(list("abcde"), 300), "number": X[:, 1]})
    y = np.isin(frame["word"], ["a", "d"]) ^ (np.nan_to_num(X[:, 1]) > 0.5)
    model = HistGradientBoostingClassifier(**FEW).fit(frame, y)
    assert certify(model, frame, y).holds


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_what_scikit_learn_says_after_each_round_is_observed(loss):
    model = theirs.HistGradientBoostingRegressor(loss=loss, max_iter=4).fit(X, T)
    certificate = certify(model, X, T)
    assert certificate.holds
    assert certificate["descent"].grade == "observed"
    classifier = theirs.HistGradientBoostingClassifier(max_iter=4).fit(X, CLASSES)
    assert certify(classifier, X, CLASSES)["descent"].value < 1.1


@pytest.mark.parametrize(
    ("array", "claim"), [("value", "leaves"), ("threshold", "leaves"), ("missing_left", "leaves")]
)
def test_a_changed_tree_is_found_out(array, claim):
    model = HistGradientBoostingClassifier(**FEW).fit(X, CLASSES > 1)
    numbers = getattr(model.trees_, array).copy()
    inner = np.flatnonzero(model.trees_.left >= 0)
    node = int(model.trees_.starts[1]) - 1 if array == "value" else inner[0]
    numbers[node] = not numbers[node] if array == "missing_left" else numbers[node] + 0.5
    changed = copy.copy(model)
    changed.trees_ = replace(model.trees_, **{array: numbers})
    certificate = certify(changed, X, CLASSES > 1)
    assert not certificate[claim].holds


def test_a_leaf_changed_after_the_rounds_that_are_checked_shows_in_the_last_loss(monkeypatch):
    monkeypatch.setattr("rosenblatt.certificates.gradient_boosting.ROWS_CHECKED", (600, 600))
    model = HistGradientBoostingClassifier(**FEW).fit(X, CLASSES > 1)
    certificate = certify(model, X, CLASSES > 1)
    assert certificate.holds
    assert "the first 2 were checked" in certificate.problem
    value = model.trees_.value.copy()
    value[-1] += 1e-3
    model.trees_ = replace(model.trees_, value=value)
    certificate = certify(copy.copy(model), X, CLASSES > 1)
    assert [claim.name for claim in certificate if not claim.holds] == ["losses by round"]
    without = HistGradientBoostingClassifier(**FEW | {"early_stopping": False})
    problem = certify(without.fit(X, CLASSES > 1), X, CLASSES > 1).problem
    assert problem.endswith("a leaf changed in a later one does not show")


def test_a_changed_start_score_or_row_is_found_out():
    model = HistGradientBoostingClassifier(**FEW).fit(X, CLASSES > 1)
    for name, claim in (("baseline_", "start"), ("train_score_", "losses by round")):
        changed = copy.copy(model)
        setattr(changed, name, getattr(model, name) + 0.01)
        assert not certify(changed, X, CLASSES > 1)[claim].holds
    assert not certify(model, X[::-1], (CLASSES > 1)[::-1]).holds


def test_a_fit_without_rounds_enough_is_certified_for_what_it_is():
    model = HistGradientBoostingRegressor(max_iter=1, min_samples_leaf=1000).fit(X, T)
    certificate = certify(clone(model).fit(X, T), X, T)
    assert certificate.holds
    assert "1 of 1 leaves" in certificate["leaves"].statement


def test_models_of_scikit_learn_fitted_to_frames_are_read_without_warnings():
    frame = pd.DataFrame(X).add_prefix("column ")
    model = theirs.HistGradientBoostingClassifier(max_iter=3).fit(frame, CLASSES)
    assert certify(model, frame, CLASSES).holds


@pytest.mark.parametrize("kind", [theirs.HistGradientBoostingClassifier])
def test_one_round_is_compared_with_the_constant(kind):
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int)
    model = kind(max_iter=1).fit(X, y)
    assert certify(model, X, y).holds
    assert not certify(model, X, 1 - y)["descent"].holds


def test_one_round_of_quantiles_is_compared_with_the_constant():
    model = theirs.HistGradientBoostingRegressor(loss="quantile", quantile=0.3, max_iter=1)
    model.fit(X, T)
    assert certify(model, X, T).holds
    assert not certify(model, X, -T)["descent"].holds
