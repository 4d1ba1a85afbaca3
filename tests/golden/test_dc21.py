"""DC21, U: the losses of the margin, and where they cross."""

import numpy as np
import pytest
from scipy.optimize import brentq

from rosenblatt import losses

TABLE = {
    # m: hinge, ln(1 + e^-m), the same in bits, e^-m
    -1.0: (2, 1.313262, 1.894636, 2.718282),
    0.0: (1, 0.693147, 1, 1),
    0.5: (0.5, 0.474077, 0.683949, 0.606531),
    1.0: (0, 0.313262, 0.451941, 0.367879),
    2.0: (0, 0.126928, 0.183118, 0.135335),
}


@pytest.mark.parametrize(("m", "expected"), TABLE.items())
def test_the_table(m, expected):
    found = (
        losses.hinge(m),
        losses.logistic(m),
        losses.logistic(m, bits=True),
        losses.exponential(m),
    )
    np.testing.assert_allclose(found, expected, atol=5e-7)


def above(m, **settings):
    return float(losses.hinge(m) - losses.logistic(m, **settings))


def test_hinge_and_logistic_loss_are_equal_once():
    # 1 - m = ln(1 + e^-m) is e^(1 - m) = 1 + e^-m, or e^-m (e - 1) = 1
    assert brentq(above, 0, 1, xtol=1e-12) == pytest.approx(np.log(np.e - 1), abs=1e-9)
    assert np.log(np.e - 1) == pytest.approx(0.541325, abs=5e-7)
    m = np.linspace(-50, 0.54, 1000)
    assert (losses.hinge(m) > losses.logistic(m)).all()


def test_in_bits_they_cross_twice():
    assert above(0, bits=True) == pytest.approx(0, abs=1e-15)
    left = brentq(lambda m: above(m, bits=True), -3, -1, xtol=1e-12)
    assert left == pytest.approx(-1.724107, abs=5e-7)


def test_what_lies_above_the_share_of_mistakes():
    m = np.linspace(-30, 30, 1001)
    mistakes = losses.zero_one(m)
    for upper in (losses.hinge(m), losses.logistic(m, bits=True), losses.exponential(m)):
        assert (upper >= mistakes).all()
    assert (losses.squared(m) >= mistakes).all()
    assert (losses.logistic(m) < mistakes).any(), "not in nats"


def test_margins_far_out_overflow_nowhere_that_matters():
    assert losses.logistic([-1e4, 1e4]).tolist() == [1e4, 0]
    assert losses.exponential(-1e4) == np.inf
    assert losses.perceptron(0.0) == 0
