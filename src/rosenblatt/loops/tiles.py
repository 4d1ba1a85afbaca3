"""Products kept in the processor's registers while they are summed.

Products of columns, summed over rows, 4 x 12 sums at a time; and products of 4 queries with 24
points, summed over columns.

A block holds some rows in panels of four columns, (q / 4, rows, 4), so that what a tile reads lies
together. A row less its center has a one behind it, whose products are the sums of the columns, and
zeros up to q columns, a multiple of 12; of these p, a multiple of 4, make a row of products.
"""

import numpy as np

from . import compiled
from .simd import float32x8, float64x4, prefetch

TILE = 3 * float64x4.WIDTH  # columns
POINTS, QUERIES = 3 * float32x8.WIDTH, 4  # of a tile


@compiled
def add_products(block, first, n, products, b, X, ahead):
    """Add the products of rows first to first + n of the block to the lower half of bucket b.

    Meanwhile n rows of X are asked from memory, from place `ahead` on: they are read next, and
    neither waits for the other.
    """
    p, q, panel = products.shape[1], products.shape[2], block.shape[1] * float64x4.WIDTH
    n_tiles = 1 + p // float64x4.WIDTH * p // (2 * TILE)
    share = 1 + X.shape[1] // n_tiles  # numbers of a row that are asked for during one tile
    for l in range(0, p, TILE):  # noqa: E741
        wide = l // float64x4.WIDTH * panel + first * float64x4.WIDTH
        place = (b * p + l) * q + l
        if l + float64x4.WIDTH < p:
            add_corner(block, wide, panel, n, products, place, q)
        else:
            add_square(block, wide, n, products, place, q)
        for j in range(l + 2 * float64x4.WIDTH, p, float64x4.WIDTH):
            narrow = j // float64x4.WIDTH * panel + first * float64x4.WIDTH
            place = (b * p + j) * q + l
            add_tile(block, narrow, wide, panel, n, products, place, q, X, ahead, share)
            ahead += n * share


@compiled
def add_tile(block, narrow, wide, panel, n, products, place, width, X, ahead, share):
    """Add the products of a panel of 4 columns with 3 panels, over n rows, to 4 x 12 products.

    narrow and wide are where the panel and the first of the three begin.
    """
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = float64x4.spread(0.0)
    for t in range(0, n * float64x4.WIDTH, float64x4.WIDTH):
        prefetch(X, ahead)
        ahead += share
        x = float64x4.load(block, wide + t)
        y = float64x4.load(block, wide + panel + t)
        z = float64x4.load(block, wide + 2 * panel + t)
        k = float64x4.spread_from(block, narrow + t)
        a0, a1, a2 = add3(k, x, y, z, a0, a1, a2)
        k = float64x4.spread_from(block, narrow + t + 1)
        b0, b1, b2 = add3(k, x, y, z, b0, b1, b2)
        k = float64x4.spread_from(block, narrow + t + 2)
        c0, c1, c2 = add3(k, x, y, z, c0, c1, c2)
        k = float64x4.spread_from(block, narrow + t + 3)
        d0, d1, d2 = add3(k, x, y, z, d0, d1, d2)
    put3(products, place, a0, a1, a2)
    put3(products, place + width, b0, b1, b2)
    put3(products, place + 2 * width, c0, c1, c2)
    put3(products, place + 3 * width, d0, d1, d2)


@compiled
def add_corner(block, first, panel, n, products, place, width):
    """Add the products of a panel with itself, and of the next one with both: 4 x 4 and 4 x 8."""
    a = b = c = d = a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = float64x4.spread(0.0)
    for t in range(first, first + n * float64x4.WIDTH, float64x4.WIDTH):
        x, y = float64x4.load(block, t), float64x4.load(block, panel + t)
        a = float64x4.multiply_add(float64x4.spread_from(block, t), x, a)
        b = float64x4.multiply_add(float64x4.spread_from(block, t + 1), x, b)
        c = float64x4.multiply_add(float64x4.spread_from(block, t + 2), x, c)
        d = float64x4.multiply_add(float64x4.spread_from(block, t + 3), x, d)
        a0, a1 = add2(float64x4.spread_from(block, panel + t), x, y, a0, a1)
        b0, b1 = add2(float64x4.spread_from(block, panel + t + 1), x, y, b0, b1)
        c0, c1 = add2(float64x4.spread_from(block, panel + t + 2), x, y, c0, c1)
        d0, d1 = add2(float64x4.spread_from(block, panel + t + 3), x, y, d0, d1)
    put4(products, place, width, a, b, c, d)
    place += float64x4.WIDTH * width
    put4(products, place, width, a0, b0, c0, d0)
    put4(products, place + float64x4.WIDTH, width, a1, b1, c1, d1)


@compiled
def add_square(block, first, n, products, place, width):
    """Add the products of a panel with itself, 4 x 4."""
    a = b = c = d = float64x4.spread(0.0)
    for t in range(first, first + n * float64x4.WIDTH, float64x4.WIDTH):
        x = float64x4.load(block, t)
        a = float64x4.multiply_add(float64x4.spread_from(block, t), x, a)
        b = float64x4.multiply_add(float64x4.spread_from(block, t + 1), x, b)
        c = float64x4.multiply_add(float64x4.spread_from(block, t + 2), x, c)
        d = float64x4.multiply_add(float64x4.spread_from(block, t + 3), x, d)
    put4(products, place, width, a, b, c, d)


@compiled
def add2(k, x, y, a, b):
    """Return two vectors plus k times two others."""
    return float64x4.multiply_add(k, x, a), float64x4.multiply_add(k, y, b)


@compiled
def put4(products, place, width, a, b, c, d):
    """Add four vectors to 4 numbers of four rows each."""
    put(products, place, a)
    put(products, place + width, b)
    put(products, place + 2 * width, c)
    put(products, place + 3 * width, d)


@compiled
def put(products, place, vector):
    """Add a vector to 4 numbers."""
    float64x4.store(products, place, float64x4.add(float64x4.load(products, place), vector))


@compiled
def add3(k, x, y, z, a, b, c):
    """Return three vectors plus k times three others."""
    a, b = float64x4.multiply_add(k, x, a), float64x4.multiply_add(k, y, b)
    return a, b, float64x4.multiply_add(k, z, c)


@compiled
def put3(products, place, a, b, c):
    """Add three vectors to 12 numbers."""
    put(products, place, a)
    put(products, place + 4, b)
    put(products, place + 8, c)


# Products of 4 queries with 24 points, in single precision.


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
        a0, a1, a2 = add3_float32(q, x, y, z, a0, a1, a2)
        q = float32x8.spread_from(quads, of + 1)
        b0, b1, b2 = add3_float32(q, x, y, z, b0, b1, b2)
        q = float32x8.spread_from(quads, of + 2)
        c0, c1, c2 = add3_float32(q, x, y, z, c0, c1, c2)
        q = float32x8.spread_from(quads, of + 3)
        d0, d1, d2 = add3_float32(q, x, y, z, d0, d1, d2)
        at += POINTS
        of += QUERIES
    return a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2


@compiled
def add3_float32(k, x, y, z, a, b, c):
    """Return three vectors plus k times three others, in single precision."""
    a, b = float32x8.multiply_add(k, x, a), float32x8.multiply_add(k, y, b)
    return a, b, float32x8.multiply_add(k, z, c)
