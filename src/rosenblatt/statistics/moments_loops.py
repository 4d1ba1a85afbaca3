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
from rosenblatt.loops.tiles import add_products

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


# Products of columns, in the registers of `loops.tiles`.


@compiled
def sum_products_by_tile(X, targets, buckets, weights, centers, products, block, places):
    """Add the products of rows to the lower halves of products (B, p, q), by bucket.

    Rows are taken with their targets, if any, as further columns: d in all. They are taken less
    their centers (B, d) and times the roots of their weights. block is zeros when it starts;
    places (2, B + 1) is scratch space.
    """
    n, most = buckets.shape[0], block.shape[1]
    begin, end = places[0], places[1]
    for start in range(0, n, most):
        stop = min(start + most, n)
        find_places(buckets, start, stop, begin, end)
        put_rows(X, targets, start, stop, buckets, weights, centers, block, end)
        for b in range(centers.shape[0]):
            if end[b] > begin[b]:
                ahead = (stop + begin[b]) * X.shape[1]
                add_products(block, begin[b], end[b] - begin[b], products, b, X, ahead)


@compiled
def find_places(buckets, start, stop, begin, end):
    """Set begin and end (B + 1,) to where each bucket begins if rows start to stop are sorted."""
    for b in range(begin.shape[0]):
        begin[b] = 0
    for i in range(start, stop):
        begin[buckets[i] + 1] += 1  # rows without a bucket, -1, are counted at 0
    begin[0] = end[0] = 0
    for b in range(begin.shape[0] - 1):
        begin[b + 1] += begin[b]
        end[b + 1] = begin[b + 1]


@compiled
def put_rows(X, targets, start, stop, buckets, weights, centers, block, end):
    """Put rows, sorted by bucket, into the block, and the roots of their weights behind them."""
    n_features, d, panel = X.shape[1], centers.shape[1], float64x4.WIDTH * block.shape[1]
    whole = n_features - n_features % float64x4.WIDTH
    for i in range(start, stop):
        b = buckets[i]
        if b < 0:
            continue
        root = 1.0 if weights is None else np.sqrt(np.float64(weights[i]))
        r, scale = end[b], float64x4.spread(root)
        to = float64x4.WIDTH * r
        for v in range(0, whole, float64x4.WIDTH):
            z = float64x4.subtract(
                float64x4.load(X, i * n_features + v), float64x4.load(centers, b * d + v)
            )
            float64x4.store(block, to, float64x4.multiply(z, scale))
            to += panel
        for j in range(whole, n_features):
            z = np.float64(X[i, j]) - centers[b, j]
            block[j // float64x4.WIDTH, r, j % float64x4.WIDTH] = z * root
        if targets is not None:
            for j in range(n_features, d):
                z = np.float64(targets[i, j - n_features]) - centers[b, j]
                block[j // float64x4.WIDTH, r, j % float64x4.WIDTH] = z * root
        block[d // float64x4.WIDTH, r, d % float64x4.WIDTH] = root
        end[b] += 1
