"""Products of 4 queries with 24 points, summed in registers in single precision."""

import numpy as np

from . import compiled
from .simd import singles

POINTS, QUERIES = 3 * singles.WIDTH, 4  # of a tile


@compiled
def put_about(X, centre, scale, width, rounding, tiles, starts):
    """Write rows (n, d) less a centre, times a scale, into tiles (n / width, d, width).

    starts (n,) gets half of each row's square, less `rounding` times the square.
    """
    for i in range(X.shape[0]):
        a, t, square = i // width, i % width, 0.0
        for j in range(X.shape[1]):
            z = (np.float64(X[i, j]) - centre[j]) * scale
            square += z * z
            tiles[a, j, t] = z
        starts[i] = (0.5 - rounding) * square


@compiled
def add3(k, x, y, z, a, b, c):
    """k times each of three vectors, added to three others."""
    return (
        singles.multiply_add(k, x, a), singles.multiply_add(k, y, b), singles.multiply_add(k, z, c)
    )  # fmt: skip
