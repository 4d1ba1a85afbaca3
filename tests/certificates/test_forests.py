"""Certificates of forests and bagging fail on models that were changed after the fit."""

import copy

import numpy as np
import pytest
import sklearn.ensemble

import rosenblatt
from rosenblatt import certify

RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, (40, 3)).astype(float)
Y = RNG.integers(0, 2, 40)
OURS = ["RandomForestClassifier", "RandomForestRegressor", "BaggingClassifier", "BaggingRegressor"]


def fitted(name, package=rosenblatt, sample_weight=None, **settings):
    model = getattr(package, name)(n_estimators=3, random_state=0, **settings)
    return copy.deepcopy(model.fit(X, Y, sample_weight=sample_weight))


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("package", [rosenblatt, sklearn.ensemble])
def test_out_of_bag_numbers_are_compared_though_some_rows_are_in_every_sample(name, package):
    model = fitted(name, package, oob_score=True)
    assert certify(model, X, Y).holds
    model.oob_score_ += 0.01
    assert not certify(model, X, Y)["published estimate"].holds
    model.oob_score_ -= 0.01
    by_row = "oob_decision_function_" if hasattr(model, "classes_") else "oob_prediction_"
    setattr(model, by_row, getattr(model, by_row)[::-1])
    assert not certify(model, X, Y)["out of bag by row"].holds


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("size", [None, 2.0])
@pytest.mark.parametrize("part", ["value", "impurity", "threshold"])
def test_changed_trees_do_not_count_their_samples(name, size, part):
    weight = None if size is None else np.full(40, size)
    model = fitted(name, sample_weight=weight)
    assert certify(model, X, Y, sample_weight=weight)["counts"].holds
    tree = model.estimators_[0].tree_
    changed = {"value": tree.value[::-1], "impurity": tree.impurity + 0.1,
               "threshold": tree.threshold + 1.0}  # fmt: skip
    setattr(tree, part, changed[part])
    assert not certify(model, X, Y, sample_weight=weight)["counts"].holds


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesRegressor"])
def test_other_rows_than_those_of_the_fit_are_refused(name):
    with pytest.raises(ValueError, match="is certified on the rows of its fit"):
        certify(fitted(name), X[:20], Y[:20])


def test_a_split_changed_in_one_tree_passes_about_as_often_as_the_claim_states(monkeypatch):
    monkeypatch.setattr("rosenblatt.certificates.forest.ROWS_COUNTED", (60, 60))  # two trees of 8
    model = copy.deepcopy(rosenblatt.RandomForestClassifier(8, random_state=0).fit(X, Y))
    claims = []
    for tree in (member.tree_ for member in model.estimators_):
        for threshold in (-1.0, 6.5, tree.threshold[0]):  # all rows go to one side; as it was
            tree.threshold = np.append(threshold, tree.threshold[1:])
            claims.append(certify(model, X, Y)["counts"])
    assert all("passes with a chance of 75%" in claim.statement for claim in claims)
    assert all(claim.holds for claim in claims[2::3])
    assert 1 <= sum(not claim.holds for claim in claims) <= 10  # of 16, 4 on average


@pytest.mark.parametrize("name", [*OURS, "ExtraTreesClassifier", "ExtraTreesRegressor"])
@pytest.mark.parametrize("package", [rosenblatt, sklearn.ensemble])
@pytest.mark.parametrize("part", ["value", "impurity", "n_node_samples", "weighted_n_node_samples"])
def test_numbers_changed_in_any_tree_show_though_its_sample_is_not_counted(
    name, package, part, monkeypatch
):
    monkeypatch.setattr("rosenblatt.certificates.forest.ROWS_COUNTED", (1, 1))  # one tree
    model = fitted(name, package)
    assert certify(model, X, Y).holds
    for member in model.estimators_:
        numbers = getattr(member.tree_, part)
        numbers.flags.writeable = True
        numbers[-1] += 1
        assert not certify(model, X, Y)["branches"].holds
        numbers[-1] -= 1
