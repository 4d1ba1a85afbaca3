"""T3: Hoeffding's bound, the sample size it asks for, and that it holds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.estimation import (
    hoeffding_bound,
    hoeffding_half_width,
    hoeffding_interval,
    hoeffding_n,
)


@given(st.floats(0.001, 1), st.floats(1e-9, 0.999))
def test_the_sample_size_gives_the_bound_and_one_less_does_not(eps, delta):
    # E11: how many flips for a promised precision (Hoeffding)
    n = hoeffding_n(eps, delta)
    assert hoeffding_bound(n, eps) <= delta * (1 + 1e-9)
    assert n == 1 or hoeffding_bound(n - 1, eps) > delta * (1 - 1e-9)


@given(st.integers(1, 10**9), st.floats(1e-9, 0.999))
def test_the_half_width_undoes_the_bound(n, delta):
    eps = hoeffding_half_width(n, delta)
    if eps <= 1:
        assert math.isclose(hoeffding_bound(n, eps), delta, rel_tol=1e-6)


def test_sizes_past_the_digits_of_a_float_are_whole_numbers_still():
    n = hoeffding_n(1e-10, 0.05)
    assert isinstance(n, int)
    assert math.isclose(n, math.log(40) / 2e-20, rel_tol=1e-12)
    assert hoeffding_n(5e-324, 0.5) > 10**640


@pytest.mark.parametrize("theta", [0.5, 0.1, 0.01])
def test_the_share_is_off_no_more_often_than_the_bound_says(theta):
    rng = np.random.default_rng(0)
    eps, delta = 0.1, 0.05
    n = hoeffding_n(eps, delta)
    shares = rng.binomial(n, theta, size=20_000) / n
    assert np.mean(np.abs(shares - theta) >= eps) <= delta
    covered = [
        low <= theta <= high
        for low, high in (hoeffding_interval(s, n, delta) for s in shares[:2000])
    ]
    assert np.mean(covered) >= 1 - delta


def test_an_interval_stays_within_probabilities():
    assert hoeffding_interval(0.0, 1, 0.05) == (0, 1)
    low, high = hoeffding_interval(1.0, 1000, 0.05)
    assert (round(low, 6), high) == (0.957053, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hoeffding_n(0, 0.1), "eps must be a number above 0 and at most 1; got 0"),
        (lambda: hoeffding_n(1.5, 0.1), "eps must be a number above 0 and at most 1; got 1.5"),
        (lambda: hoeffding_n(0.1, 0), "delta must be a number strictly between 0 and 1; got 0"),
        (lambda: hoeffding_n(0.1, 1), "delta must be a number strictly between 0 and 1; got 1"),
        (lambda: hoeffding_n(math.nan, 0.1), "eps must hold no NaN"),
        (lambda: hoeffding_bound(0, 0.1), "n must hold whole numbers >= 1; got 0"),
        (lambda: hoeffding_bound(1.5, 0.1), "n must hold whole numbers >= 1; got 1.5"),
        (lambda: hoeffding_half_width([1, 2], 0.1), "n must be one number"),
        (lambda: hoeffding_interval(1.1, 10, 0.1), "share must lie between 0 and 1"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
