"""Our exponential agrees with the C library's."""

import math

import numpy as np

from rosenblatt import loops


def test_it_is_right_to_the_last_places():
    for x in np.linspace(-700, 0, 5001):
        assert math.isclose(loops.exponential.exp_negative(x), math.exp(x), rel_tol=1e-15)


def test_what_is_too_small_for_a_number_is_about_nothing():
    assert loops.exponential.exp_negative(-1e9) < 1e-300
    assert loops.exponential.exp_negative(0.0) == 1.0
