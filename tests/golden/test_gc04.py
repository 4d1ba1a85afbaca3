"""GC04, E2, W8: coloured cards, drawn with replacement."""

import math

import pytest

from rosenblatt.estimation import bernoulli_mle, binomial_log_likelihood, binomial_mle


def test_the_binomial_coefficient_does_not_move_the_maximum():
    # C(3, 2) (2/3)^2 (1/3) = 3 * 4/27 = 12/27
    theta = binomial_mle(2, 3)
    assert theta == 2 / 3 == bernoulli_mle([1, 1, 0])
    assert math.exp(binomial_log_likelihood(2, 3, theta)) == pytest.approx(12 / 27)
