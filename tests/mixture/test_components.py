"""Scratch space of the mixture loops."""

import numpy as np
import pytest

from rosenblatt.mixture.components import aligned_zeros


@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 7, 4)])
def test_zeros_of_any_shape_begin_with_a_cache_line(shape):
    for _ in range(5):
        space = aligned_zeros(*shape)
        assert space.shape == shape
        assert space.flags.c_contiguous
        assert space.ctypes.data % 64 == 0
        assert not np.any(space)
