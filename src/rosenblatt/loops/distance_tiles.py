"""Products of 4 queries with 24 points, summed in registers in single precision."""

import numpy as np

from . import compiled
from .simd import float32x8

POINTS, QUERIES = 3 * float32x8.WIDTH, 4  # of a tile


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


@compiled(inline=True)
def multiply_panels(panels, panel, quads, group):
    """Return the products of 24 points with 4 queries: twelve vectors, three of each query.

    Reads a panel of panels (n / 24, d, 24) and a group of quads (m / 4, d, 4), in single precision.
    """
    d = panels.shape[1]
    at, of = panel * d * POINTS, group * d * QUERIES
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = float32x8.zeros()
    for _ in range(d):
        x, y = float32x8.load(panels, at), float32x8.load(panels, at + 8)
        z = float32x8.load(panels, at + 16)
        q = float32x8.spread_from(quads, of)
        a0, a1, a2 = add3(q, x, y, z, a0, a1, a2)
        q = float32x8.spread_from(quads, of + 1)
        b0, b1, b2 = add3(q, x, y, z, b0, b1, b2)
        q = float32x8.spread_from(quads, of + 2)
        c0, c1, c2 = add3(q, x, y, z, c0, c1, c2)
        q = float32x8.spread_from(quads, of + 3)
        d0, d1, d2 = add3(q, x, y, z, d0, d1, d2)
        at += POINTS
        of += QUERIES
    return a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2


@compiled
def add3(k, x, y, z, a, b, c):
    """k times each of three vectors, added to three others."""
    a, b = float32x8.multiply_add(k, x, a), float32x8.multiply_add(k, y, b)
    return a, b, float32x8.multiply_add(k, z, c)
