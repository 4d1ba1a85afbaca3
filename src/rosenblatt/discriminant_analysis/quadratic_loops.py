# mypy: ignore-errors
"""Quadratic forms of many rows: c + b.x + x.U.x for each class, U upper triangular.

Blocks of rows are multiplied by 12 columns of U at a time, four rows together, with sums in
registers. The d features are at the end of q entries, a multiple of 12, after zeros: then the
columns with the most products above the diagonal are in complete groups of 12.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import AHEAD, float64x4, prefetch
from rosenblatt.loops.tiles import TILE, add3


@compiled
def quadratic_scores(X, center, linear, upper, constant, scores, z, sums):
    """Fill scores (K, n) with constant + x.linear + x.upper.x, x the rows less the center.

    Reads X (n, d), center (d,), linear (K, q), upper (K, q / 12, q, 12), and constant (K,). z
    (rows, q), zeros when it starts, and sums (rows, 4) are scratch space for a multiple of four
    rows.
    """
    n, d = X.shape
    most, q = z.shape
    for start in range(0, n, most):
        size = min(most, n - start)
        put_rows(X, start, size, center, z)
        for k in range(scores.shape[0]):
            for r in range(most):
                float64x4.store(sums, r * float64x4.WIDTH, float64x4.spread(0.0))
            for l in range(0, q, TILE):  # noqa: E741
                add_columns(z, size, q - d, linear, upper, k, l, sums)
            for r in range(size):
                scores[k, start + r] = constant[k] + float64x4.total(
                    float64x4.load(sums, r * float64x4.WIDTH)
                )


@compiled
def put_rows(X, start, size, center, z):
    """Put rows of X, less the center, at the ends of the rows of z."""
    d, q = X.shape[1], z.shape[1]
    for r in range(size):
        row, to = (start + r) * d, (r + 1) * q - d
        for j in range(0, d - float64x4.WIDTH + 1, float64x4.WIDTH):
            prefetch(X, row + j + AHEAD)
            x = float64x4.subtract(float64x4.load(X, row + j), float64x4.load(center, j))
            float64x4.store(z, to + j, x)
        for j in range(d - d % float64x4.WIDTH, d):
            z[r, q - d + j] = np.float64(X[start + r, j]) - center[j]


@compiled
def add_columns(z, size, first, linear, upper, k, l, sums):  # noqa: E741
    """Add x_j (b_j + sum over i <= j of x_i U_ij), j the 12 columns from l on, to the rows' sums.

    `first` is the first entry of x that is not always zero.
    """
    q = z.shape[1]
    columns = (k * q + l) * q
    x, y, w = three(linear, k * q + l)
    for r in range(0, size, 4):
        a, b, c, e = r * q, (r + 1) * q, (r + 2) * q, (r + 3) * q
        a0 = b0 = c0 = e0 = x
        a1 = b1 = c1 = e1 = y
        a2 = b2 = c2 = e2 = w
        for i in range(first, l + TILE):
            u, v, s = three(upper, columns + i * TILE)
            a0, a1, a2 = add3(float64x4.spread_from(z, a + i), u, v, s, a0, a1, a2)
            b0, b1, b2 = add3(float64x4.spread_from(z, b + i), u, v, s, b0, b1, b2)
            c0, c1, c2 = add3(float64x4.spread_from(z, c + i), u, v, s, c0, c1, c2)
            e0, e1, e2 = add3(float64x4.spread_from(z, e + i), u, v, s, e0, e1, e2)
        add_dot(z, a + l, a0, a1, a2, sums, r)
        add_dot(z, b + l, b0, b1, b2, sums, r + 1)
        add_dot(z, c + l, c0, c1, c2, sums, r + 2)
        add_dot(z, e + l, e0, e1, e2, sums, r + 3)


@compiled
def three(array, place):
    """Load the 12 numbers from a place on."""
    return (
        float64x4.load(array, place),
        float64x4.load(array, place + 4),
        float64x4.load(array, place + 8),
    )


@compiled
def add_dot(z, place, u, v, s, sums, r):
    """Add the products of three vectors with 12 numbers of z to the sum of row r."""
    x, y, w = three(z, place)
    total = float64x4.multiply_add(x, u, float64x4.load(sums, r * float64x4.WIDTH))
    total = float64x4.multiply_add(w, s, float64x4.multiply_add(y, v, total))
    float64x4.store(sums, r * float64x4.WIDTH, total)
