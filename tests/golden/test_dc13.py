"""DC13, D7: the chi-square of the split of GC16."""

import pytest

from rosenblatt.information import independence_test


def test_six_rows_are_too_few_to_trust_the_split():
    # expected [[10/3, 2/3], [5/3, 1/3]], each off by 2/3: 4/9 (3/10 + 3/2 + 3/5 + 3) = 2.4
    found = independence_test([[4, 0], [1, 1]])
    assert found.statistic == pytest.approx(2.4)
    assert found.df == 1
    assert found.p_value == pytest.approx(0.121335, abs=1e-6)
    assert found.p_value > 0.05
