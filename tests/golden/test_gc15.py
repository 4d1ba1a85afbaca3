"""GC15, D5, T12: what remains of Y once X is known, on the table of GC14."""

import pytest

from rosenblatt.information import (
    conditional,
    conditional_entropy,
    entropy,
    information_gain,
    tabulate,
)

X, Y = [0, 1, 1], [1, 0, 1]


def test_one_branch_may_know_less_but_not_their_mean():
    # X = 0: Y is 1, H = 0. X = 1: Y is 0 or 1, H = 1. Mean 1/3 * 0 + 2/3 * 1.
    branches = entropy(conditional(tabulate(X, Y) / 3, given=0), axis=1)
    assert branches.tolist() == [0, 1]
    assert branches[1] > entropy(labels=Y)
    assert conditional_entropy(labels=Y, given=X) == pytest.approx(2 / 3)
    assert information_gain(labels=Y, given=X) == pytest.approx(0.251629, abs=1e-6)
