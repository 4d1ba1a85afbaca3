"""DC14: XOR needs both columns, and neither alone gains anything."""

import numpy as np
import pytest

from rosenblatt import DecisionTreeClassifier
from rosenblatt.information import independence_test

X, Y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def test_dc14_the_root_gains_nothing_and_depth_two_makes_no_mistake():
    model = DecisionTreeClassifier(criterion="entropy").fit(X, Y)
    assert model.tree_.gains()[0] == pytest.approx(0.0, abs=1e-12)
    assert model.get_depth() == 2
    assert model.score(X, Y) == 1.0


def test_dc14_stopping_at_a_gain_of_zero_is_wrong_half_the_time():
    stopped = DecisionTreeClassifier(min_impurity_decrease=1e-9).fit(X, Y)
    assert stopped.get_depth() == 0
    assert stopped.score(X, Y) == 0.5


def test_dc14_chance_explains_the_root():
    found = independence_test([[1, 1], [1, 1]])
    assert (found.statistic, found.p_value) == (0.0, 1.0)


def test_gc16_the_gain_of_a_tree_is_the_information_gain():
    """GC16: H = 0.650022, gain 0.316689."""
    model = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(
        [[1], [1], [1], [1], [0], [0]], list("TTTTTF")
    )
    assert model.tree_.impurity[0] == pytest.approx(0.650022, abs=1e-6)
    assert model.tree_.gains()[0] / 6 == pytest.approx(0.316689, abs=1e-6)


def test_dc13_a_split_that_chance_explains_is_pruned():
    """DC13: p = 0.121335 > 0.05."""
    X, y = [[1], [1], [1], [1], [0], [0]], list("TTTTTF")
    assert DecisionTreeClassifier(max_depth=1, max_p_chance=0.05).fit(X, y).get_depth() == 0
    assert DecisionTreeClassifier(max_depth=1, max_p_chance=0.13).fit(X, y).get_depth() == 1
