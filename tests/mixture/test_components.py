"""Scratch space of the mixture loops, and the rounding bound of sums."""

import numpy as np
import pytest

from rosenblatt.mixture.components import Sums, aligned_zeros


@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 7, 4)])
def test_zeros_of_any_shape_begin_with_a_cache_line(shape):
    for _ in range(5):
        space = aligned_zeros(*shape)
        assert space.shape == shape
        assert space.flags.c_contiguous
        assert space.ctypes.data % 64 == 0
        assert not np.any(space)


def test_the_rounding_bound_of_a_component_without_weight_is_not_negative():
    tables = np.array([[[1.0, 0.0], [0.0, -1e-57]]])
    sums = Sums(np.array([1e-40]), np.zeros((1, 2)), tables)
    assert (sums.moments(3, np.float64).noise >= 0).all()
