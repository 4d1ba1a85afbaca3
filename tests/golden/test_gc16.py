"""GC16, D6: the gain of a split that leaves one branch pure."""

import pytest

from rosenblatt.information import conditional_entropy, entropy, information_gain

X1 = [True, True, True, True, False, False]
Y = [True, True, True, True, True, False]


def test_the_gain_is_what_the_branches_save():
    # H = -(5/6 log2 5/6 + 1/6 log2 1/6) = 0.650022; branches 0 and 1, weights 4/6 and 2/6
    assert entropy(labels=Y) == pytest.approx(0.650022, abs=1e-6)
    assert conditional_entropy(labels=Y, given=X1) == pytest.approx(1 / 3)
    assert information_gain(labels=Y, given=X1) == pytest.approx(0.316689, abs=1e-6)
    assert information_gain(counts=[[1, 1], [0, 4]]) == pytest.approx(0.316689, abs=1e-6)
