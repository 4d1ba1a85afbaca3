"""Our exponential and logarithm agree with the C library's."""

import math

import numpy as np
import pytest

from rosenblatt.loops import exponential


def test_it_is_right_to_the_last_places():
    for x in np.linspace(-700, 0, 5001):
        assert math.isclose(exponential.exp_negative(x), math.exp(x), rel_tol=1e-15)


def test_what_is_too_small_for_a_number_is_about_nothing():
    assert exponential.exp_negative(-1e9) < 1e-300
    assert exponential.exp_negative(0.0) == 1.0


def test_the_logarithm_is_right_to_the_last_places():
    for x in [*np.logspace(-300, 300, 2001), *np.linspace(0.5, 2.0, 2001)]:
        assert math.isclose(exponential.log(x), math.log(x), rel_tol=1e-15)


def test_the_logarithm_of_one_and_a_little_loses_nothing():
    for u in [0.0, *np.logspace(-300, 0, 2001), *np.linspace(0.0, 1.0, 2001)]:
        assert math.isclose(exponential.log_one_plus(u), math.log1p(u), rel_tol=1e-15)


@pytest.mark.needs_compiler
def test_single_precision_is_right_to_its_last_places():
    exp = exponential.exp_negative_32
    for x in np.linspace(-87, 0, 5001, dtype=np.float32):
        assert math.isclose(exp(x), math.exp(x), rel_tol=3e-7)
    assert exp(np.float32(0)) == 1
    assert exp(np.float32(-1e9)) < 1e-37
