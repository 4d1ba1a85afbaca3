"""GC08, E5: counts (2, 1), smoothed."""

import math

import numpy as np
import pytest

from rosenblatt.estimation import laplace_smoothing


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (0, [2 / 3, 1 / 3]),
        (1, [3 / 5, 2 / 5]),  # (2 + 1) / (3 + 2)
        (100, [102 / 203, 101 / 203]),
        (math.inf, [1 / 2, 1 / 2]),
    ],
)
def test_smoothing_runs_from_the_counts_to_one_half(k, expected):
    np.testing.assert_allclose(laplace_smoothing([2, 1], k), expected, rtol=1e-15)
