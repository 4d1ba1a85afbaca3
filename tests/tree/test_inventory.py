"""What the textbooks say of trees, entry by entry."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    BasisExpansion,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from rosenblatt.information import information_gain

CELLS = np.array(list(product([0.0, 1.0], repeat=3)))


@pytest.mark.parametrize("code", range(0, 256, 5))
def test_every_boolean_function_is_a_tree(code):
    """O1, T15: of three variables, at a depth of three at most."""
    y = [(code >> i) & 1 for i in range(8)]
    tree = DecisionTreeClassifier().fit(CELLS, y)
    assert tree.score(CELLS, y) == 1.0
    assert tree.get_depth() <= 3


def test_the_split_is_that_of_the_largest_information_gain():
    """O2, O3: over columns of categories."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 4)).astype(float)
    y = ((X[:, 2] == 1) ^ (rng.random(60) < 0.1)).astype(int)
    tree = DecisionTreeClassifier(criterion="entropy", categorical_features=[0, 1, 2, 3])
    tree.fit(X, y)
    gains = [information_gain(labels=y, given=X[:, j]) for j in range(4)]
    assert tree.tree_.feature[0] == np.argmax(gains)
    assert tree.tree_.gains()[0] / 60 == pytest.approx(max(gains))


def test_thresholds_lie_half_way_and_a_column_may_be_asked_again():
    """O4: between neighbouring values."""
    tree = DecisionTreeClassifier().fit([[0], [1], [3], [7]], [0, 1, 1, 0])
    assert sorted(tree.tree_.threshold[tree.tree_.feature == 0]) == [0.5, 5.0]


def test_a_gain_of_zero_does_not_stop_growth():
    """O5: XOR is learned at depth two."""
    X, y = CELLS[:4, 1:], [0, 1, 1, 0]
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


def test_a_ratio_column_makes_one_test_of_two_features():
    """O6, W11: petal width over petal length."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2][:, 2:], y[y < 2]
    ratio = BasisExpansion(lambda Z: Z[:, [1]] / Z[:, [0]])
    stump = make_pipeline(ratio, DecisionTreeClassifier(max_depth=1)).fit(X, y)
    assert stump.score(X, y) > 0.9


def test_limits_on_depth_and_leaves_are_kept():
    """O7: both."""
    X, y = load_iris(return_X_y=True)
    assert DecisionTreeClassifier(max_depth=2).fit(X, y).get_depth() == 2
    assert DecisionTreeClassifier(max_leaf_nodes=4).fit(X, y).get_n_leaves() == 4


def test_a_tree_changes_with_a_few_rows_and_a_forest_less():
    """O12, P3: predictions of two halves of the same data differ less for forests."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X.sum(axis=1) + rng.normal(size=400) > 0).astype(int)

    def disagreement(model):
        first, second = (model.fit(X[i::2], y[i::2]).predict(X) for i in (0, 1))
        return np.mean(first != second)

    tree, forest = DecisionTreeClassifier(random_state=0), RandomForestClassifier(random_state=0)
    assert disagreement(forest) < disagreement(tree)


def test_a_leaf_of_numbers_is_the_mean_by_least_squares():
    """H10, O14: the split leaves the least squares about the means."""
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 5.0, 9.0, 8.0])
    tree = DecisionTreeRegressor(max_depth=1).fit(x[:, np.newaxis], y)
    squares = [sum(part.var() * len(part) for part in (y[:i], y[i:])) for i in (1, 2, 3)]
    assert tree.tree_.threshold[0] == 1.5 + np.argmin(squares)
    assert tree.predict([[0.0], [9.0]]).tolist() == [5.0, 8.5]
