"""Pairs of doubles agree with exact fractions to 2**-100."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.cluster import kmeans_loops

numbers = st.floats(-1e60, 1e60).filter(lambda x: x == 0 or abs(x) > 1e-60).map(float)


@st.composite
def pairs(draw):
    high = draw(numbers)
    return kmeans_loops.two_sum(high, high * draw(st.floats(-1e-16, 1e-16)))


def exact(pair):
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


def agrees(pair, expected, scale):
    return abs(exact(pair) - expected) <= Fraction(2) ** -100 * abs(scale)


@given(numbers, numbers)
def test_sum_and_product_of_two_numbers_lose_nothing(a, b):
    assert exact(kmeans_loops.two_sum(a, b)) == Fraction(a) + Fraction(b)
    assert exact(kmeans_loops.two_product(a, b)) == Fraction(a) * Fraction(b)


@given(pairs(), pairs())
def test_arithmetic_on_pairs(a, b):
    x, y = exact(a), exact(b)
    assert agrees(kmeans_loops.add_pairs(*a, *b), x + y, abs(x) + abs(y))
    assert agrees(kmeans_loops.multiply_pairs(*a, *b), x * y, x * y)
    assume(y != 0)
    assert agrees(kmeans_loops.divide_pairs(*a, *b), x / y, x / y)


@given(pairs(), pairs())
def test_either_order_gives_the_same_bits(a, b):
    assert kmeans_loops.add_pairs(*a, *b) == kmeans_loops.add_pairs(*b, *a)
    assert kmeans_loops.multiply_pairs(*a, *b) == kmeans_loops.multiply_pairs(*b, *a)


@pytest.mark.parametrize("n", [3, 7, 1000, 2**20 + 1])
def test_a_multiple_divided_is_the_number(n):
    c = 0.1
    total = kmeans_loops.multiply_pairs(c, 0.0, float(n), 0.0)
    assert kmeans_loops.divide_pairs(*total, float(n), 0.0) == (c, 0.0)
    assert np.float64(n * c) != 0
