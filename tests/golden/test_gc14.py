"""GC14, D4: entropies of a table of three rows."""

import math

import pytest

from rosenblatt.information import entropy

X, Y = [0, 1, 1], [1, 0, 1]


@pytest.mark.parametrize("column", [X, Y])
def test_one_in_three_has_log_three_less_two_thirds(column):
    # 1/3 log2 3 + 2/3 (log2 3 - 1) = log2 3 - 2/3
    H = entropy(labels=column)
    assert pytest.approx(math.log2(3) - 2 / 3) == H
    assert pytest.approx(0.918296, abs=1e-6) == H
    assert entropy([2 / 3, 1 / 3]) == pytest.approx(H)
