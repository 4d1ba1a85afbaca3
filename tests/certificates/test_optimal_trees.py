"""How far trees are from the best of their depth: compared with all trees, in whole numbers."""

import copy

import numpy as np
import pytest
import sklearn.tree
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from rosenblatt import DecisionTreeClassifier, certify
from tests.reference.tree import fewest_mistakes

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3, st.integers(0, 2)), min_size=2, max_size=10),
    st.integers(1, 3),
    st.sampled_from([DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier]),
    st.integers(0, 100),
)
def test_the_gap_of_any_tree_is_that_to_the_best_of_all_trees(rows, depth, Tree, seed):
    table = np.array(rows)
    X, y = table[:, :3].astype(float), table[:, 3]
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, len(y))
    drawn = rng.permutation(y)  # a tree of other labels, for gaps of all sizes
    drawn[: len(np.unique(y))] = np.unique(y)
    model = Tree(max_depth=depth, random_state=0).fit(X, drawn)
    known = np.isin(y, model.classes_)
    X, y, weight = X[known], y[known], weight[known]
    claim = certify(model, X, y, sample_weight=weight)["best tree"]
    made = weight[model.predict(X) != y].sum()
    assert claim.grade == "proved"
    assert made - claim.value == fewest_mistakes(X, y, weight, depth)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_without_anything_to_split_by_the_best_tree_is_the_best_leaf(depth):
    X, y = np.ones((3, 2)), np.array([0, 2, 2])
    model = DecisionTreeClassifier(max_depth=depth).fit(X, [0, 0, 2])
    claim = certify(model, X, y)["best tree"]
    assert claim.value == 1.0, claim.statement  # a leaf of the other class has one mistake less


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_searched_trees_are_proved_to_be_the_best(depth):
    X, y = IRIS
    model = DecisionTreeClassifier(search="optimal", max_depth=depth).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    claim = certificate["best tree"]
    assert (claim.value, claim.bound, claim.grade) == (0.0, 0.0, "proved")
    least = int(model.lower_bound_)
    assert f"makes fewer mistakes than {least}; this one makes {least}" in claim.statement


def test_columns_of_many_values_and_weights_that_are_not_whole():
    X, y = CANCER[0][:, ::5], CANCER[1]
    model = DecisionTreeClassifier(search="optimal", max_depth=2, class_weight="balanced")
    certificate = certify(model.fit(X, y), X, y)
    assert certificate.holds, str(certificate)
    assert certificate["best tree"].grade == "checked"
    assert certificate["best tree"].value <= 1e-9


def test_a_greedy_tree_that_is_passed_off_as_the_best_is_found_out():
    X, y = CANCER[0][:, :8], CANCER[1]
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    model.search, model.lower_bound_ = "optimal", float(np.sum(model.predict(X) != y))
    failing = [claim.name for claim in certify(model, X, y) if not claim.holds]
    assert failing == ["best tree", "published bound"]


@pytest.mark.parametrize("change", [-1.0, 1.0, np.nan])
def test_a_bound_that_was_nudged_does_not_pass(change):
    X, y = IRIS
    model = DecisionTreeClassifier(search="optimal", max_depth=2).fit(X, y)
    other = copy.deepcopy(model)
    other.lower_bound_ += change
    assert not certify(other, X, y)["published bound"].holds


def test_a_search_that_is_too_long_states_what_it_came_to():
    X, y = CANCER
    model = sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    claim = certify(model, X, y, effort=0)["best tree"]
    assert "more effort may raise the bound" in claim.statement
    assert claim.holds
    assert claim.bound is None


def test_columns_with_gaps_are_not_searched_and_the_certificate_states_it():
    X, y = IRIS[0].copy(), IRIS[1]
    X[::10, 2] = np.nan
    for kind in (DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier):
        certificate = certify(kind(max_depth=2).fit(X, y), X, y)
        assert "best tree" not in {claim.name for claim in certificate}
        assert "searched for in numbers without gaps alone" in certificate.problem
    assert "gaps" not in certify(DecisionTreeClassifier(max_depth=2).fit(*IRIS), *IRIS).problem
