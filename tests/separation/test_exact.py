"""Exact proofs, against fractions by hand and the theorem of the nearest point."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.separation.exact import (
    exact_scores,
    first_dependence,
    independent_columns,
    integers,
    nearest_point,
    weights_by_elimination,
    weights_by_intervals,
)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_integers_times_a_power_of_two_are_the_floats(values):
    whole, power = integers(np.array(values))
    assert [int(v) * Fraction(2) ** power for v in whole] == [Fraction(v) for v in values]


def test_scores_are_summed_without_rounding():
    assert exact_scores(np.array([[1e16, 1.0, -1e16]]), np.ones(3)) == [1]


def test_the_first_columns_that_depend_on_each_other_are_found():
    line = np.array([[1, -2, 0], [0, 1, -3]], dtype=object)
    assert first_dependence(line) == [6, 3, 1]
    assert first_dependence(np.array([[1, 1, 1]], dtype=object)) == [-1, 1]
    assert first_dependence(np.array([[1, 2], [3, 4]], dtype=object)) is None


@given(st.integers(2, 12), st.integers(1, 60), st.integers(0))
def test_a_hidden_dependence_comes_back(k, bits, seed):
    rng = np.random.default_rng(seed)
    x = np.array([int(v) for v in rng.integers(1, 2**31, k)], dtype=object)
    free = np.array(rng.integers(-(2**bits), 2**bits, (k + 1, k - 1)).tolist(), dtype=object)
    # Multiply by x[-1] and choose the last column so that every row sends x to zero.
    M = np.column_stack([free * x[-1], -free.dot(x[:-1])])
    found = first_dependence(M.copy())
    assert not M[:, : len(found)].dot(np.array(found, dtype=object)).any()


def test_rows_that_cancel_are_proved_by_intervals():
    A = np.random.default_rng(0).normal(size=(6, 5))
    A[-1] = -A[:-1].sum(axis=0)  # rounded: the exact weights are near a sixth each
    np.testing.assert_allclose(weights_by_intervals(A), 1 / 6)
    assert weights_by_intervals(A + 1.0 * (np.arange(5) == 0) * (2 + abs(A).max())) is None


def test_rows_that_cancel_are_proved_by_elimination():
    A = np.array([[1.0, 1.0], [-2.0, -2.0], [0.0, 1.0]])
    np.testing.assert_allclose(
        weights_by_elimination(A, np.array([2.0, 1.0, 0.0])), [2 / 3, 1 / 3, 0]
    )
    assert weights_by_elimination(abs(A), np.ones(3)) is None


@given(st.integers(2, 9), st.integers(0))
def test_intervals_agree_with_fractions(m, seed):
    # m + 1 random rows cancel for one set of weights only, which may have both signs.
    A = np.random.default_rng(seed).normal(size=(m + 1, m))
    x = first_dependence(np.array([integers(column)[0] for column in A.T], dtype=object))
    of_one_sign = min(x) > 0 or max(x) < 0
    p = weights_by_intervals(A)
    assert p is None or of_one_sign
    if of_one_sign and min(abs(v) for v in x) * 10**6 > abs(sum(x)):
        np.testing.assert_allclose(p, [float(Fraction(v, sum(x))) for v in x], rtol=1e-6)


def test_nearly_dependent_columns_are_replaced_by_their_differences():
    rng = np.random.default_rng(0)
    x, dummy = rng.normal(size=(40, 2)), np.eye(4)[rng.integers(0, 4, 40)]
    inches = np.column_stack([x, x[:, 0] * 2.54])
    B = independent_columns(inches)
    assert B.shape == (40, 3)
    assert np.linalg.cond(B) < 1e3
    standard = (dummy - dummy.mean(axis=0)) / dummy.std(axis=0)
    for Z in (np.column_stack([dummy, np.ones(40)]), np.column_stack([standard, np.ones(40)])):
        assert independent_columns(np.column_stack([x, Z])).shape[1] in (6, 7)


def test_a_segment_is_nearest_in_its_middle():
    z, shares = nearest_point(np.array([[1, 3], [3, 1]], dtype=object))
    assert z[0] == z[1] > 0
    assert shares[0] == shares[1] > 0


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0))
def test_every_row_lies_beyond_the_nearest_point(n, m, seed):
    rng = np.random.default_rng(seed)
    A = np.array(rng.integers(-4, 6, (n + 1, m)).tolist(), dtype=object)
    point, shares = nearest_point(A)
    assert min(shares) >= 0 < max(shares)
    p = np.array([Fraction(int(share), int(sum(shares))) for share in shares], dtype=object)
    z = p.dot(A)
    assert min(A.dot(z)) == z.dot(z)
    assert point.any() == z.any()
