# mypy: ignore-errors
"""Sums by bucket of numbers less a center, of their squares and their products.

Legend: X rows of numbers (see `rows`), d features; buckets (n,) the bucket of each row, -1 for a
row to leave out; weights (n,) or None; centers, sums and squares (B, d), where sums and squares are
those of weight times distance from the center.

Squares of numbers far from zero lose the spread to rounding; those of distances from a center amid
the rows do not. Sums are plain doubles, of a block of rows at a time: a sum of many small numbers
would round each of them at the size of the sum.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import AHEAD, float64x4, prefetch

BLOCK_ROWS = 256
BLOCK_ROWS_PER_BUCKET = 16


@compiled
def sum_dense(X, buckets, weights, centers, sums, squares, part):
    """Add dense rows to sums and squares (B, d); part (2, B, d) is scratch space."""
    n, d = buckets.shape[0], X.shape[1]
    whole = d - d % float64x4.WIDTH
    size = max(BLOCK_ROWS, BLOCK_ROWS_PER_BUCKET * centers.shape[0])
    for start in range(0, n, size):
        part[:] = 0.0
        for i in range(start, min(start + size, n)):
            b = buckets[i]
            if b < 0:
                continue
            weight = 1.0 if weights is None else weights[i]
            x, cell = i * d, b * d
            for v in range(0, whole, float64x4.WIDTH):
                prefetch(X, x + v + AHEAD)
                z = float64x4.load(X, x + v)
                z = float64x4.subtract(z, float64x4.load(centers, cell + v))
                wz = z
                if weights is not None:
                    wz = float64x4.multiply(float64x4.spread(weight), z)
                first = float64x4.add(float64x4.load(part, cell + v), wz)
                float64x4.store(part, cell + v, first)
                at = centers.size + cell + v
                float64x4.store(part, at, float64x4.multiply_add(wz, z, float64x4.load(part, at)))
            for j in range(whole, d):
                add_square(X[i, j] - centers[b, j], weight, part, b, j)
        add_block(part, sums, squares)


@compiled
def sum_known(X, buckets, weights, centers, sums, squares, missing, part):
    """As `sum_dense`, of dense or CSR rows; numbers that CSR does not store are at their center.

    If missing (B, d) is not None, NaN is left out and its weight added there.
    """
    n = buckets.shape[0]
    size = max(BLOCK_ROWS, BLOCK_ROWS_PER_BUCKET * centers.shape[0])
    if isinstance(X, tuple):
        size = n  # tables are wide and rows short
    for start in range(0, n, max(1, size)):
        part[:] = 0.0
        for i in range(start, min(start + size, n)):
            b = buckets[i]
            if b < 0:
                continue
            weight = 1.0 if weights is None else weights[i]
            if isinstance(X, tuple):
                data, indices, indptr = X
                for p in range(indptr[i], indptr[i + 1]):
                    j = np.uint32(indices[p])
                    if missing is not None and data[p] != data[p]:
                        missing[b, j] += weight
                    else:
                        add_square(np.float64(data[p]), weight, part, b, j)
            else:
                for j in range(X.shape[1]):
                    if missing is not None and X[i, j] != X[i, j]:
                        missing[b, j] += weight
                    else:
                        add_square(X[i, j] - centers[b, j], weight, part, b, j)
        add_block(part, sums, squares)


@compiled
def add_square(z, weight, part, b, j):
    """Add a distance from the center and its square to part (2, B, d)."""
    part[0, b, j] += weight * z
    part[1, b, j] += weight * z * z


@compiled
def add_block(part, sums, squares):
    """Add the sums of a block of rows to those of all."""
    for b in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[b, j] += part[0, b, j]
            squares[b, j] += part[1, b, j]


@compiled
def sum_products(X, buckets, weights, centers, sums, products):
    """Add rows to sums (B, d), their products to the lower half of products (B, d, d).

    For few dense rows, or CSR as in `sum_known`. Many dense rows are multiplied in `tiles`.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = 1.0 if weights is None else weights[i]
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                j, wz = np.int64(indices[p]), weight * np.float64(data[p])
                sums[b, j] += wz
                for q in range(indptr[i], indptr[i + 1]):
                    if indices[q] <= j:
                        products[b, j, np.int64(indices[q])] += wz * np.float64(data[q])
        else:
            for j in range(X.shape[1]):
                wz = weight * (X[i, j] - centers[b, j])
                sums[b, j] += wz
                for l in range(j + 1):  # noqa: E741
                    products[b, j, l] += wz * (X[i, l] - centers[b, l])
