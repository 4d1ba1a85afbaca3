"""Random numbers inside loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.loops.random import shuffle


@given(st.integers(0, 200), st.integers(0, 2**63 - 1))
def test_shuffle_is_a_permutation_and_a_function_of_its_seed(n, seed):
    first, again = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    shuffle(first, seed)
    shuffle(again, seed)
    assert np.array_equal(np.sort(first), np.arange(n))
    assert np.array_equal(first, again)


def test_shuffle_makes_every_order_about_equally_often():
    counts = {}
    for seed in range(6000):
        order = np.arange(3, dtype=np.int32)
        shuffle(order, seed)
        counts[tuple(order)] = counts.get(tuple(order), 0) + 1
    assert len(counts) == 6
    # Six cells of 1,000 expected: five standard deviations are 145.
    assert all(abs(count - 1000) < 145 for count in counts.values())
