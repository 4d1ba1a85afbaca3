"""Independence of known tables, and the tests on counts against scipy's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rosenblatt.information import (
    conditionally_independent,
    independence_test,
    independent,
    information_gain,
    tabulate,
)

shares = arrays(np.float64, st.integers(1, 4), elements=st.floats(0.01, 1))
full_tables = arrays(
    np.int64, st.tuples(st.integers(2, 4), st.integers(2, 4)), elements=st.integers(1, 50)
)


@given(shares, shares)
def test_a_product_of_two_distributions_is_independent(a, b):
    assert independent(np.outer(a / a.sum(), b / b.sum()))


def test_rain_and_thunder_are_independent_given_lightning_only():
    # D7: independence, and independence given a third variable
    lightning = 0.3 * np.outer([0.1, 0.9], [0.2, 0.8])
    none = 0.7 * np.outer([0.8, 0.2], [1.0, 0.0])
    p = np.stack([lightning, none], axis=2)
    assert conditionally_independent(p)
    assert not independent(p.sum(axis=2))


def test_two_coins_are_dependent_once_their_parity_is_known():
    p = np.zeros((2, 2, 2))
    for x in (0, 1):
        for y in (0, 1):
            p[x, y, x ^ y] = 0.25
    assert independent(p.sum(axis=2))
    assert not conditionally_independent(p)


def test_conditions_that_never_occur_are_passed_over():
    p = np.zeros((2, 2, 2))
    p[:, :, 0] = 0.25
    assert conditionally_independent(p)


@given(full_tables, st.sampled_from(["pearson", "likelihood-ratio"]))
def test_the_test_is_scipys(table, method):
    lambda_ = {"pearson": "pearson", "likelihood-ratio": "log-likelihood"}[method]
    theirs = stats.chi2_contingency(table, correction=False, lambda_=lambda_)
    ours = independence_test(table, method=method)
    assert math.isclose(ours.statistic, theirs.statistic, abs_tol=1e-9)
    assert ours.df == theirs.dof
    assert math.isclose(ours.p_value, theirs.pvalue, rel_tol=1e-6, abs_tol=1e-12)
    assert math.isclose(ours.smallest_expected, theirs.expected_freq.min())


@given(full_tables)
def test_the_likelihood_ratio_is_the_gain_in_other_units(table):
    ratio = independence_test(table, method="likelihood-ratio").statistic
    gain = information_gain(counts=table)
    assert math.isclose(ratio, 2 * math.log(2) * table.sum() * gain, abs_tol=1e-9)


@given(full_tables)
def test_given_a_third_variable_the_statistics_add_up(table):
    other = table[::-1]
    both = independence_test(np.stack([table, other], axis=2))
    one, two = independence_test(table), independence_test(other)
    assert math.isclose(both.statistic, one.statistic + two.statistic, abs_tol=1e-12)
    assert both.df == one.df + two.df


def test_values_that_never_occur_carry_no_freedom():
    assert independence_test([[4, 0, 0], [1, 1, 0]]) == independence_test([[4, 0], [1, 1]])
    constant = independence_test([[3, 4]])
    assert (constant.statistic, constant.df, constant.p_value) == (0, 0, 1)


def test_labels_drawn_independently_given_z_pass_and_others_fail():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 4000)
    x, y = rng.random((2, 4000)) < np.where(z, 0.8, 0.2)
    assert independence_test(tabulate(x, y, z)).p_value > 0.01
    assert independence_test(tabulate(x, y)).p_value < 1e-6


def test_the_test_errs_as_often_as_it_says():
    rng = np.random.default_rng(1)
    below = [
        independence_test(tabulate(*rng.integers(0, 2, (2, 200)))).p_value < 0.05
        for _ in range(600)
    ]
    assert 0.02 < np.mean(below) < 0.09  # 0.05 within about four standard errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: independent([0.5, 0.5]), "p must have two axes, x and y; got 1"),
        (lambda: conditionally_independent([[1.0]]), "three axes or more"),
        (lambda: independent([[1.0]], tol=-1), "tol must be a number >= 0; got -1"),
        (lambda: independence_test([[1, -2], [3, 4]]), r"got -2 at index \(0, 1\)"),
        (lambda: independence_test([[0, 0], [0, 0]]), "a count above zero"),
        (lambda: independence_test([1, 2]), "table of two axes or more"),
        (
            lambda: independence_test([[1e200, 1]]),
            r"counts must hold finite numbers up to 1e.150; got 1e.200",
        ),
        (lambda: independence_test([[1, 2]], method="g"), "method must be 'pearson' or"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
