"""The scaling loops equal the obvious ones, in place or not, in either precision."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt.loops.rows import read_only
from rosenblatt.preprocessing import scaling_loops
from tests.reference import scaling as reference

dtypes = st.sampled_from([np.float64, np.float32])
values = st.sampled_from([0.0, 1.0, -2.5, 1e6 + 1, 0.125, 3e30, -1e-30])


@given(data=st.data(), dtype=dtypes, in_place=st.booleans())
def test_shift_and_divide(data, dtype, in_place):
    X = data.draw(nps.arrays(dtype, st.tuples(st.integers(0, 5), st.just(3)), elements=values))
    shift, scale = np.array([0.0, 2.5, -1.0]), np.array([1.0, 0.3, 7.0])
    expected = reference.shift_and_divide(X, shift, scale, 2.0, -1.0)
    out = X if in_place else np.empty_like(X)
    scaling_loops.shift_and_divide(read_only(X), shift, scale, 2.0, -1.0, out)
    assert np.array_equal(out, np.array(expected).reshape(X.shape).astype(dtype))


@given(data=st.data(), dtype=dtypes, absolute=st.booleans(), in_place=st.booleans())
def test_runs_of_any_length_and_size_get_norm_one(data, dtype, absolute, in_place):
    elements = values if dtype == np.float32 else st.sampled_from([0.0, 1.0, -3e200, 4e-200, 2.5])
    runs = data.draw(st.lists(nps.arrays(dtype, st.integers(0, 6), elements=elements), max_size=5))
    flat = np.concatenate([np.zeros(0, dtype), *runs])
    starts = np.cumsum([0, *map(len, runs)])
    expected = [x for run in runs for x in reference.to_unit_length(run, absolute)]
    out = flat if in_place else np.empty_like(flat)
    scaling_loops.runs_to_unit_length(
        read_only(flat), read_only(starts), absolute, 1e-140, 1e140, out
    )
    tolerance = 1e-6 if dtype == np.float32 else 1e-14
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=1e-40)
