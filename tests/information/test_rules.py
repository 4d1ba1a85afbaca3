"""The rules of probability against each other, and what they refuse."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt.information import (
    bayes,
    conditional,
    expectation,
    joint,
    marginal,
    posterior_odds,
    total_probability,
)

positive_tables = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(0.01, 1)
)


@given(positive_tables)
def test_product_and_sum_rule_undo_conditioning(table):
    p = table / table.sum()
    np.testing.assert_allclose(joint(marginal(p, 0), conditional(p, 0)), p)
    np.testing.assert_allclose(joint(marginal(p, 1), conditional(p, 1).T), p.T)


@given(positive_tables)
def test_bayes_rule_turns_a_condition_round(table):
    # D1: conditioning, summing out, and Bayes' rule
    p = table / table.sum()
    posterior = bayes(marginal(p, 0), conditional(p, 0).T)  # one row for each b
    np.testing.assert_allclose(posterior, conditional(p, 1).T)
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    np.testing.assert_allclose(total_probability(marginal(p, 0), conditional(p, 0).T), p.sum(0))


def test_rules_hold_under_one_more_condition():
    p = np.arange(1.0, 13).reshape(2, 3, 2) / 78
    given_c = conditional(p, given=2)[:, :, 0]  # P(a, b | c = 0)
    posterior = bayes(marginal(given_c, 0), conditional(given_c, 0)[:, 1])
    np.testing.assert_allclose(posterior, conditional(p, given=(1, 2))[:, 1, 0])


@given(st.floats(0.01, 0.99), st.floats(0.01, 1), st.floats(0.01, 1))
def test_odds_and_probabilities_agree(prior, like, unlike):
    odds = posterior_odds(prior / (1 - prior), like / unlike)
    assert math.isclose(odds / (1 + odds), bayes([prior, 1 - prior], [like, unlike])[0])


@given(arrays(np.float64, 4, elements=st.floats(-700, 0)))
def test_logarithms_give_the_same_posterior(logs):
    prior = [0.1, 0.2, 0.3, 0.4]
    np.testing.assert_allclose(
        bayes(prior, log_likelihoods=logs), bayes(prior, np.exp(logs)), rtol=1e-9, atol=1e-300
    )


def test_likelihoods_that_vanish_still_have_a_posterior():
    np.testing.assert_allclose(
        bayes([0.5, 0.5], log_likelihoods=[-1e6, -1e6 + math.log(3)]), [0.25, 0.75], rtol=1e-9
    )
    np.testing.assert_allclose(bayes([1e-200, 1], [1.0, 1e-200]), [0.5, 0.5])
    assert bayes([0.5, 0.5], log_likelihoods=[-math.inf, -9.0]).tolist() == [0, 1]


def test_densities_above_one_are_likelihoods_too():
    np.testing.assert_allclose(bayes([0.5, 0.5], [30.0, 10.0]), [0.75, 0.25])


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_expectation_is_linear(a, b):
    # D2: expected values
    p, f = [0.2, 0.3, 0.5], np.array([1.0, -4.0, 7.0])
    assert math.isclose(expectation(p, a * f + b), a * expectation(p, f) + b, abs_tol=1e-9)


def test_expectations_of_several_functions_come_as_columns():
    means = expectation([0.5, 0.5], [[1, 10], [3, 30]])
    assert means.tolist() == [2, 20]


def test_what_cannot_happen_adds_nothing_to_a_mean():
    assert expectation([0, 1], [math.inf, 3]) == 3
    assert expectation([0.5, 0.5], [math.inf, 3]) == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayes([0.5, 0.6], [1, 1]), "prior must sum to one; got 1.1"),
        (lambda: bayes([0.5, 0.5], [0, 0]), "evidence of probability zero"),
        (lambda: bayes([1, 0], [0, 1]), "evidence of probability zero"),
        (lambda: bayes([0.5, 0.5], [1, -1]), "likelihoods must hold no negative number; got -1"),
        (lambda: bayes([0.5, 0.5], [1, 1, 1]), r"likelihoods must have 2 columns.*\(3,\)"),
        (lambda: bayes([0.5, 0.5]), "exactly one of likelihoods, log_likelihoods"),
        (lambda: bayes([0.5, 0.5], log_likelihoods=[math.inf, 0]), "below infinity; got inf"),
        (lambda: bayes([0.5, 0.5], log_likelihoods=[math.nan, 0]), "no NaN; got nan at index 0"),
        (lambda: bayes([[0.5, 0.5]], [1, 1]), "prior must have one dimension; got 2"),
        (lambda: conditional([[0.5, 0.5], [0, 0]], given=0), r"got 0 at \[1\] of the given axes"),
        (lambda: conditional([0.5, 0.5], given=1), "given must name some of the 1 axes"),
        (lambda: marginal([0.5, 0.5], keep=[]), "keep must name some of the 1 axes"),
        (lambda: joint([0.5, 0.5], [[1.0, 0.0]]), "one row for each of 2 entries"),
        (lambda: joint([1.0], [[0.4, 0.4]]), "conditional must sum to one along axis -1; got 0.8"),
        (lambda: total_probability([1.0], [2.0]), "likelihoods must lie between 0 and 1"),
        (lambda: expectation([0.5, 0.5], [1]), "one entry for each of 2 probabilities"),
        (lambda: expectation([0.5, 0.5], [1, math.nan]), "values must hold no NaN"),
        (lambda: expectation([0.5, 0.5], [math.inf, -math.inf]), "both inf and -inf"),
        (lambda: posterior_odds(-1, 2), "prior_odds must be a number >= 0; got -1"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
