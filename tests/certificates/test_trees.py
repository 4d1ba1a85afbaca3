"""Certificates of trees and forests: they hold for honest fits, ours and scikit-learn's."""

import copy
from fractions import Fraction

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

from rosenblatt import DecisionTreeClassifier, RandomForestClassifier, certify

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    "model",
    [
        sklearn.tree.DecisionTreeClassifier(random_state=0),
        sklearn.tree.DecisionTreeClassifier(criterion="entropy", class_weight="balanced"),
        sklearn.tree.DecisionTreeClassifier(splitter="random", max_features=3, random_state=0),
        sklearn.tree.DecisionTreeClassifier(min_samples_leaf=5, min_weight_fraction_leaf=0.02),
        sklearn.ensemble.RandomForestClassifier(10, oob_score=False, random_state=0),
        sklearn.ensemble.ExtraTreesClassifier(10, random_state=0),
        sklearn.ensemble.BaggingClassifier(n_estimators=5, random_state=0),
    ],
    ids=repr,
)
def test_scikit_learns_classifiers_are_certified(model):
    X, y = CANCER
    certificate = certify(model.fit(X, y), X, y)
    assert certificate.holds, str(certificate)


@pytest.mark.parametrize(
    "model",
    [
        sklearn.tree.DecisionTreeRegressor(max_depth=6),
        sklearn.tree.DecisionTreeRegressor(criterion="poisson", max_depth=4),
        sklearn.tree.DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
        sklearn.ensemble.RandomForestRegressor(10, random_state=0),
    ],
    ids=repr,
)
def test_scikit_learns_regressors_are_certified(model):
    X, y = DIABETES
    certificate = certify(model.fit(X, y), X, y)
    assert certificate.holds, str(certificate)


def nudged(model, name, change):
    """A copy of a fitted tree with one published array changed."""
    other = copy.deepcopy(model)
    array = getattr(other.tree_, name).copy()
    change(array)
    setattr(other.tree_, name, array)
    return other


@pytest.mark.parametrize("name", ["threshold", "impurity", "value", "weighted_n_node_samples"])
def test_a_number_that_was_nudged_does_not_pass(name):
    X, y = CANCER
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)

    def change(array):
        array[0] = array[0] * 1.2 + 0.1

    assert not certify(nudged(model, name, change), X, y).holds


def test_a_split_that_is_not_the_best_is_found_out():
    X, y = CANCER
    first = DecisionTreeClassifier(max_depth=1).fit(X, y)
    j = int(first.tree_.feature[0])
    other = np.delete(np.arange(X.shape[1]), j)
    second = DecisionTreeClassifier(max_depth=1).fit(X[:, other], y)
    worse = nudged(first, "feature", lambda a: a.__setitem__(0, other[second.tree_.feature[0]]))
    for name in ("threshold", "impurity", "value", "weighted_n_node_samples", "n_node_samples"):
        setattr(worse.tree_, name, getattr(second.tree_, name))
    certificate = certify(worse, X, y)
    assert [claim.name for claim in certificate if not claim.holds] == ["best splits"]


def test_contradictory_rows_bound_the_error_of_any_model():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])
    certificate = certify(DecisionTreeClassifier().fit(X, y), X, y)
    assert certificate["least error"].value == 1.0
    assert "3 rows have an equal with another class" in certificate["least error"].statement


def test_other_rows_than_those_of_the_fit_are_noticed():
    X, y = CANCER
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert not certify(model, X[::-1], y[::-1]).holds


def test_nodes_that_lead_in_a_circle_are_refused():
    X, y = CANCER
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    round_about = nudged(model, "children_left", lambda a: a.__setitem__(1, 0))
    with pytest.raises(ValueError, match="are no tree: node 1 has the child 0"):
        certify(round_about, X, y)


def exact_score(column, y):
    """The largest sum over both sides of squared counts by size, over all thresholds."""
    scores = [
        sum(
            Fraction(sum(int((y[part] == k).sum()) ** 2 for k in (0, 1)), int(part.sum()))
            for part in (column <= low, column > low)
        )
        for low in np.unique(column)[:-1]
    ]
    return max(scores, default=None)


@given(
    st.lists(st.tuples(*[st.integers(0, 4)] * 3, st.integers(0, 1)), min_size=3, max_size=14),
    st.integers(0, 2),
)
def test_a_stump_holds_just_if_its_split_is_the_best_in_fractions(rows, j):
    table = np.array(rows, float)
    X, y = table[:, :3], table[:, 3].astype(int)
    scores = [exact_score(column, y) for column in X.T]
    assume(len(np.unique(y)) == 2 and scores[j] is not None)
    stump = DecisionTreeClassifier(max_depth=1).fit(X, y)
    own = DecisionTreeClassifier(max_depth=1).fit(X[:, [j]], y)
    for name in ("threshold", "impurity", "value", "weighted_n_node_samples", "n_node_samples"):
        setattr(stump.tree_, name, getattr(own.tree_, name))
    stump = nudged(stump, "feature", lambda a: a.__setitem__(0, j))
    best = max(score for score in scores if score is not None)
    assert certify(stump, X, y)["best splits"].holds == (scores[j] == best)


def test_pure_nodes_of_fractional_weights_are_pure_up_to_rounding():
    weight = np.random.default_rng(0).random(300) * 1e-3
    X, y = np.arange(300.0)[:, np.newaxis], np.zeros(300, int)
    model = DecisionTreeClassifier().fit(X, y, sample_weight=weight)
    certificate = certify(model, X, y, sample_weight=weight)
    assert certificate.holds, str(certificate)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(5)])
def test_models_of_words_are_certified_from_an_array_of_objects_too(model):
    table = np.array([["red", 1.0], ["red", 3.0], ["blue", 2.0], ["blue", 4.0]] * 5, object)
    y = np.array(["a", "b", "a", "a"] * 5)
    model.set_params(categorical_features=[0], random_state=0).fit(table, y)
    assert model.predict(table).shape == y.shape
    assert certify(model, table, y).holds
