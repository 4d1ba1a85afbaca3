"""The loop over extremes equals the obvious one, whatever the storage, precision and weights."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt.loops.rows import arrays, read_only
from rosenblatt.statistics import counts_loops
from tests.reference import statistics as reference

B, D = 2, 3


@given(data=st.data(), dtype=st.sampled_from([np.float64, np.float32]), sparse=st.booleans())
def test_it_finds_the_least_and_the_greatest(data, dtype, sparse):
    n = data.draw(st.integers(0, 7))
    values = st.sampled_from([0.0, 1.0, -2.5, 1e6, -3.0])
    X = data.draw(nps.arrays(dtype, (n, D), elements=values))
    buckets = data.draw(nps.arrays(np.int64, n, elements=st.integers(-1, B - 1)))
    low = np.full((B, D), np.inf)
    high, stored, spoiled = -low, np.zeros((B, D)), np.zeros((B, D))
    table = arrays(sp.csr_matrix(X) if sparse else X)
    counts_loops.widen(table, read_only(buckets), low, high, stored, spoiled)
    if sparse:  # what is not stored is zero
        missing = stored < np.bincount(buckets + 1, minlength=B + 1)[1:, None]
        low[missing], high[missing] = np.minimum(low, 0)[missing], np.maximum(high, 0)[missing]
    expected = reference.extremes(X, buckets, buckets >= 0)
    for b in range(B):
        least, greatest = expected.get(b, ([np.inf] * D, [-np.inf] * D))
        assert np.array_equal(low[b], least)
        assert np.array_equal(high[b], greatest)
    assert not spoiled.any()


def test_numbers_that_are_not_finite_spoil_their_cell_wherever_they_stand():
    for bad in (np.nan, np.inf, -np.inf):
        for i in range(3):
            X = np.ones((3, 2))
            X[i, 1] = bad
            low = np.full((1, 2), np.inf)
            spoiled = np.zeros((1, 2))
            counts_loops.widen(
                arrays(X), read_only(np.zeros(3, np.int64)), low, -low, np.zeros((1, 2)), spoiled
            )
            assert np.array_equal(np.isnan(spoiled), [[False, True]])
