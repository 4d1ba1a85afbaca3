"""GC13, D4: entropies of coins and of K equal outcomes."""

import math

import pytest

from rosenblatt.information import entropy


def test_a_fair_coin_has_one_bit_and_a_certain_one_none():
    assert entropy([1 / 2, 1 / 2]) == 1
    assert entropy([1, 0]) == 0


@pytest.mark.parametrize("K", [1, 2, 3, 4, 7, 8])
def test_equal_outcomes_have_the_logarithm_of_their_number(K):
    assert entropy([1 / K] * K) == pytest.approx(math.log2(K), abs=1e-12)
