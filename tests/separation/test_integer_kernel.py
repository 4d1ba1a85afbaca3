"""The kernel of integer rows, against fractions by hand."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.separation.nearest_point import kernel_vector
from rosenblatt.separation.plane_proofs import exact_scores, integers


def test_a_line_is_found_and_nothing_else_is():
    line = np.array([[1, -2, 0], [0, 1, -3]], dtype=object)
    assert kernel_vector(line) == [6, 3, 1]
    assert kernel_vector(np.array([[1, 1, 1]], dtype=object)) is None  # a plane
    assert kernel_vector(np.array([[1, 2], [3, 4]], dtype=object)) is None  # the origin


@given(st.integers(2, 12), st.integers(1, 60), st.integers(0))
def test_a_hidden_vector_comes_back_in_proportion(k, bits, seed):
    rng = np.random.default_rng(seed)
    x = np.array([int(v) for v in rng.integers(1, 2**31, k)], dtype=object)
    free = np.array(rng.integers(-(2**bits), 2**bits, (k + 1, k - 1)).tolist(), dtype=object)
    # Multiply by x[-1] and choose the last column so that every row sends x to zero.
    M = np.column_stack([free * x[-1], -free.dot(x[:-1])])
    found = kernel_vector(M)
    if found is not None:
        assert not M.dot(np.array(found, dtype=object)).any()
        assert all(a * int(x[-1]) == b * found[-1] for a, b in zip(found, x, strict=True))
    else:
        assert np.linalg.matrix_rank(M.astype(float)) < k - 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_integers_times_a_power_of_two_are_the_floats(values):
    whole, power = integers(np.array(values))
    assert [int(v) * Fraction(2) ** power for v in whole] == [Fraction(v) for v in values]


def test_scores_are_summed_without_rounding():
    assert exact_scores(np.array([[1e16, 1.0, -1e16]]), np.ones(3)) == [1]
