"""Surprise, entropy and information gain: their laws, scipy's numbers, and refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rosenblatt.information import (
    binary_entropy,
    conditional,
    conditional_entropy,
    entropy,
    information_gain,
    joint,
    marginal,
    surprise,
    tabulate,
)

counts_of_one = arrays(np.int64, st.integers(1, 8), elements=st.integers(0, 1000)).filter(np.any)
tables = arrays(
    np.int64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 50)
).filter(np.any)
shares = st.floats(1e-12, 1)


@given(shares, shares)
def test_surprise_adds_up_over_independent_events(p, q):
    # D3: surprise
    assert math.isclose(surprise(p * q), surprise(p) + surprise(q), abs_tol=1e-9)


@given(shares, shares)
def test_the_less_likely_is_the_more_surprising(p, q):
    low, high = sorted([p, q])
    assert surprise(low) >= surprise(high) >= 0


def test_surprise_is_exact_at_powers_of_its_base():
    assert surprise(2.0 ** -np.arange(60)).tolist() == list(range(60))
    assert surprise(math.exp(-1), base=math.e) == 1
    assert surprise(0.001, base=10) == 3
    assert math.isclose(surprise(1 / 27, base=3), 3)


def test_the_impossible_is_infinitely_surprising():
    assert surprise(0) == math.inf
    assert not np.signbit(surprise(1))


@given(counts_of_one)
def test_entropy_lies_between_zero_and_log_k(counts):
    # D4: entropy in bits
    H = entropy(counts=counts)
    assert 0 <= H <= math.log2(len(counts)) + 1e-12
    assert (H == 0) == (np.count_nonzero(counts) == 1)
    assert math.isclose(H, stats.entropy(counts, base=2), abs_tol=1e-12)


@given(st.integers(1, 200))
def test_entropy_is_largest_when_all_outcomes_are_alike(K):
    assert math.isclose(entropy(np.full(K, 1 / K)), math.log2(K), abs_tol=1e-12)


@given(counts_of_one)
def test_probabilities_counts_and_labels_agree(counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    H = entropy(counts=counts)
    assert math.isclose(entropy(labels=labels), H, abs_tol=1e-12)
    assert math.isclose(entropy(counts / counts.sum()), H, abs_tol=1e-12)
    assert math.isclose(entropy(counts=counts, base=math.e), H * math.log(2), abs_tol=1e-12)


@given(st.floats(0, 1))
def test_the_binary_form_is_the_entropy_of_a_coin(t):
    assert math.isclose(binary_entropy(t), entropy([t, 1 - t]), abs_tol=1e-12)


def test_the_binary_form_keeps_its_digits_for_rare_events():
    # t (log2(1/t) + 1/ln 2), the next term being of the order of t^2
    t = 1e-20
    assert math.isclose(binary_entropy(t), t * (math.log2(1 / t) + 1 / math.log(2)), rel_tol=1e-12)


@given(tables)
def test_knowing_more_never_raises_entropy_on_average(table):
    """T12: the mean over branches; a single branch may still be above (golden case GC15)."""
    left = conditional_entropy(counts=table)
    H = entropy(counts=table.sum(axis=0))
    assert 0 <= left <= H + 1e-12
    assert math.isclose(information_gain(counts=table), H - left, abs_tol=1e-12)


@given(tables)
def test_information_gain_is_symmetric_and_never_negative(table):
    # D6: information gain
    gain = information_gain(counts=table)
    assert gain >= 0
    assert math.isclose(gain, information_gain(counts=table.T), abs_tol=1e-12)
    smaller = min(entropy(counts=table.sum(axis=0)), entropy(counts=table.sum(axis=1)))
    assert gain <= smaller + 1e-12


@given(tables)
def test_entropy_that_remains_is_the_mean_over_the_branches(table):
    # D5: entropy that remains once a feature is known
    table = table[table.any(axis=1)]
    p = table / table.sum()
    branches = entropy(conditional(p, given=0), axis=1)
    assert math.isclose(conditional_entropy(p), marginal(p, 0) @ branches, abs_tol=1e-12)


@given(tables)
def test_tables_and_labels_agree(table):
    x, y = np.repeat(np.indices(table.shape).reshape(2, -1), table.ravel(), axis=1)
    assert math.isclose(
        conditional_entropy(labels=y, given=x), conditional_entropy(counts=table), abs_tol=1e-12
    )
    assert math.isclose(
        information_gain(labels=y, given=x), information_gain(counts=table), abs_tol=1e-12
    )


@given(counts_of_one, counts_of_one)
def test_independent_variables_give_no_information(a, b):
    table = joint(a / a.sum(), np.tile(b / b.sum(), (len(a), 1)))
    assert information_gain(table) < 1e-12


def test_a_gain_far_below_the_entropies_keeps_its_digits():
    # P = 1/4 (1 + d, 1 - d; 1 - d, 1 + d): the gain is d^2 / (2 ln 2) but for d^4
    d = 1e-6
    gain = information_gain(np.array([[1 + d, 1 - d], [1 - d, 1 + d]]) / 4)
    assert math.isclose(gain, d**2 / (2 * math.log(2)), rel_tol=1e-3)


def test_axes_before_the_last_are_one_variable():
    parity = np.zeros((2, 2, 2))
    parity[[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]] = 0.25
    assert conditional_entropy(parity) == 0
    assert information_gain(parity) == 1
    assert information_gain(parity.sum(axis=0)) == 0


def test_labels_of_any_one_kind_are_counted_in_sorted_order():
    assert tabulate(["b", "a", "b"]).tolist() == [1, 2]
    assert tabulate([True, False, True], [1.5, 1.5, 0.5]).tolist() == [[0, 1], [1, 1]]


def test_a_probability_added_up_to_a_little_more_than_one_is_one():
    assert surprise(1 + 1e-15) == binary_entropy(1 + 1e-15) == 0


def test_huge_counts_do_not_overflow():
    assert entropy(counts=[1e149, 1e149]) == 1
    assert information_gain(counts=[[1e149, 0], [0, 1e149]]) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: surprise(1.5), r"p must lie between 0 and 1, being a probability; got 1.5\."),
        (lambda: surprise([0.5, -0.1]), "got -0.1 at index 1"),
        (lambda: surprise(0.5, base=1), "base must be a number > 1"),
        (lambda: surprise(0.5, base=math.nan), "base must hold no NaN"),
        (lambda: entropy([0.5, 0.4]), "p must sum to one; got 0.9: give counts as counts="),
        (lambda: entropy([1, 0, 1]), "p must sum to one; got 2"),
        (lambda: entropy([1.5, -0.5]), "p must hold no negative number; got -0.5 at index 1"),
        (lambda: entropy([]), "p must hold at least one number; got none"),
        (lambda: entropy([0.5, math.nan]), "p must hold no NaN; got nan at index 1"),
        (lambda: entropy(["a", "b"]), "p must hold real numbers"),
        (lambda: entropy(1.0), "p must be an array of probabilities; got the number 1"),
        (lambda: entropy([[0.5, 0.5], [0.5, 0.6]], axis=1), "sum to one along axis 1; got 1.1"),
        (lambda: entropy([0.5, 0.5], axis=1), "axis must be one of the 1 axes of p; got 1"),
        (lambda: entropy(counts=[1, 2], axis=0), "axis must be None"),
        (lambda: entropy(), "exactly one of p, counts, labels; got none"),
        (lambda: entropy([1.0], counts=[1]), "got p and counts"),
        (lambda: entropy(counts=[0, 0]), "a count above zero"),
        (lambda: entropy(counts=[3, -1]), "counts must hold no negative number; got -1"),
        (lambda: entropy(labels=[]), "at least one label"),
        (lambda: entropy(labels=[[1, 2]]), "at least one label; got an array of shape"),
        (lambda: entropy(labels=[1, "a"]), "all strings or all numbers"),
        (lambda: entropy(labels=[1, None]), "hold no NaN or None"),
        (lambda: entropy(labels=np.array([1, "a"], object)), "labels of one kind"),
        (lambda: entropy(labels=[1.0, math.nan]), "hold no NaN"),
        (lambda: conditional_entropy(labels=[1, 2]), "labels and given go together"),
        (lambda: conditional_entropy([0.5, 0.5]), "two axes or more; got one"),
        (lambda: information_gain(labels=[1, 2], given=[1]), "same length; got 2 and 1"),
        (lambda: binary_entropy(2), "t must lie between 0 and 1"),
        (lambda: tabulate(), "at least one list of labels"),
        (lambda: tabulate([1], [1, 2]), r"same length; got lengths \[1, 2\]"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
