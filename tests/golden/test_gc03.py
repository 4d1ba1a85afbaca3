"""GC03, E1, E2, W8: red, red, blue from a bag."""

import math

import pytest

from rosenblatt.estimation import bernoulli_log_likelihood, bernoulli_mle

RED_RED_BLUE = [1, 1, 0]


def test_two_thirds_red_is_the_most_likely_bag():
    # L = t^2 (1 - t), dL/dt = t (2 - 3 t): zero at 0, the minimum, and at 2/3, where L = 4/27.
    theta = bernoulli_mle(RED_RED_BLUE)
    assert theta == 2 / 3
    best = bernoulli_log_likelihood(RED_RED_BLUE, theta)
    assert best == pytest.approx(-1.909543, abs=1e-6)
    assert math.exp(best) == pytest.approx(4 / 27)
    assert math.exp(bernoulli_log_likelihood(RED_RED_BLUE, 0)) == 0
