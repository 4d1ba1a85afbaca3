"""GC11, D2, W8: what a die shows on average."""

import pytest

from rosenblatt.information import expectation


def test_a_die_shows_three_and_a_half():
    # (1 + 2 + 3 + 4 + 5 + 6) / 6 = 21/6
    assert expectation([1 / 6] * 6, [1, 2, 3, 4, 5, 6]) == pytest.approx(3.5)
