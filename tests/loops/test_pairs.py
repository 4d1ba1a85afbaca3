"""Pairs of doubles agree with exact fractions to 2**-100."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import loops

numbers = st.floats(-1e60, 1e60).filter(lambda x: x == 0 or abs(x) > 1e-60).map(float)


@st.composite
def pairs(draw):
    high = draw(numbers)
    return loops.pairs.two_sum(high, high * draw(st.floats(-1e-16, 1e-16)))


def exact(pair):
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


def agrees(pair, expected, scale):
    return abs(exact(pair) - expected) <= Fraction(2) ** -100 * abs(scale)


@given(numbers, numbers)
def test_sum_and_product_of_two_numbers_lose_nothing(a, b):
    assert exact(loops.pairs.two_sum(a, b)) == Fraction(a) + Fraction(b)
    assert exact(loops.pairs.two_product(a, b)) == Fraction(a) * Fraction(b)


@given(pairs(), pairs())
def test_arithmetic_on_pairs(a, b):
    x, y = exact(a), exact(b)
    assert agrees(loops.pairs.add(*a, *b), x + y, abs(x) + abs(y))
    assert agrees(loops.pairs.multiply(*a, *b), x * y, x * y)
    assume(y != 0)
    assert agrees(loops.pairs.divide(*a, *b), x / y, x / y)


@given(pairs(), pairs())
def test_either_order_gives_the_same_bits(a, b):
    assert loops.pairs.add(*a, *b) == loops.pairs.add(*b, *a)
    assert loops.pairs.multiply(*a, *b) == loops.pairs.multiply(*b, *a)


@pytest.mark.parametrize("n", [3, 7, 1000, 2**20 + 1])
def test_a_multiple_divided_is_the_number(n):
    c = 0.1
    total = loops.pairs.multiply(c, 0.0, float(n), 0.0)
    assert loops.pairs.divide(*total, float(n), 0.0) == (c, 0.0)
    assert np.float64(n * c) != 0
