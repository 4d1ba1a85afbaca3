# mypy: ignore-errors
"""Gaussian mixtures: expectation and the sums of maximisation, in one pass over blocks of rows.

A block of rows goes through all components while it is near the processor: log-densities, shares
(responsibilities), and the weighted sums that the next parameters follow from. Rows are lanes: four
at a time in one vector, so that nothing is added across a vector before the sums.

Legend: X (n, d); K components with means (K, d); U, upper triangular, the factor of a precision:
``(x - m)' P (x - m) = |(x - m) U|^2``. factors (K, d / 4, d, 4) hold the columns of U in fours, or
(K, d) the roots of the precisions of columns. constants (K,) is log weight + log determinant of U -
d / 2 log(2 pi). A block has 96 rows: columns (d, 96), scores (K, 96).
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.exponential import exp_negative, log
from rosenblatt.loops.simd import float64x4
from rosenblatt.loops.tiles import add3, add_products

ROWS, TILE, QUAD = 96, 12, 4
LEAST_SHARE = 2.0**-100  # of the greatest share of a row: less adds nothing to a sum in doubles


@compiled
def expect_and_sum(
    X, weights, start, stop, means, factors, constants, hard, sums, columns, scores, rest, block
):
    """Add the weighted sums of rows start to stop to `sums`; return their log-likelihood.

    sums (K, p, q) of products, as `tiles` has them, of rows less the means with a one behind;
    or (K, 3, d): weight, sums, sums of squares. columns (2, d, 96), scores (K, 96), rest (2, 96)
    and block are scratch space; block None for sums without products.
    """
    likelihood = 0.0
    for first in range(start, stop, ROWS):
        size = min(ROWS, stop - first)
        score_block(X, first, size, means, factors, constants, columns, scores)
        likelihood += share_out(scores, weights, first, size, hard, rest)
        for k in range(means.shape[0]):
            if block is None:
                add_squares(columns[0], scores[k], size, means[k], sums[k])
            else:
                m = put_rows(X, first, size, scores[k], means[k], block)
                add_products(block, 0, m, sums, k, X, (first + size) * X.shape[1])
    return likelihood


@compiled
def sum_given(X, shares, start, stop, means, sums, columns, block):
    """Add the weighted sums of rows start to stop with given shares (K, n) to `sums`."""
    for first in range(start, stop, ROWS):
        size = min(ROWS, stop - first)
        put_columns(X, first, size, columns[0])
        for k in range(means.shape[0]):
            some = shares[k, first : first + size]
            if block is None:
                add_squares(columns[0], some, size, means[k], sums[k])
            else:
                m = put_rows(X, first, size, some, means[k], block)
                add_products(block, 0, m, sums, k, X, (first + size) * X.shape[1])


@compiled
def log_densities(X, start, stop, means, factors, constants, densities, columns, scores):
    """Fill densities (K, n) of rows start to stop with log weight + log density."""
    for first in range(start, stop, ROWS):
        size = min(ROWS, stop - first)
        score_block(X, first, size, means, factors, constants, columns, scores)
        for k in range(means.shape[0]):
            for r in range(size):
                densities[k, first + r] = scores[k, r]


@compiled
def score_block(X, first, size, means, factors, constants, columns, scores):
    """Fill scores (K, 96) with the log-densities of rows from `first` on."""
    put_columns(X, first, size, columns[0])
    x, z = columns[0], columns[1]
    for k in range(means.shape[0]):
        for j in range(z.shape[0]):
            for r in range(ROWS):
                z[j, r] = x[j, r] - means[k, j]
        if factors.ndim == 4:
            score_by_factor(columns, factors, k, constants[k], scores)
        else:
            score_by_roots(z, factors[k], constants[k], scores[k])


@compiled
def put_columns(X, first, size, columns):
    """Write rows as columns (d, 96)."""
    for r in range(size):
        for j in range(columns.shape[0]):
            columns[j, r] = X[first + r, j]


@compiled
def score_by_factor(columns, factors, k, constant, scores):
    """Set scores (K, 96) of component k to constant - |z U|^2 / 2, in tiles of 12 rows x 4."""
    d = columns.shape[1]
    for r in range(0, ROWS, TILE):
        x = y = w = float64x4.spread(0.0)
        for q in range(factors.shape[1]):
            a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = e0 = e1 = e2 = float64x4.spread(0.0)
            at, of = d * ROWS + r, (k * factors.shape[1] + q) * d * QUAD
            for _ in range(min(QUAD * (q + 1), d)):  # above the diagonal
                s, t, u = (
                    float64x4.load(columns, at),
                    float64x4.load(columns, at + 4),
                    float64x4.load(columns, at + 8),
                )
                f = float64x4.spread_from(factors, of)
                a0, a1, a2 = add3(f, s, t, u, a0, a1, a2)
                f = float64x4.spread_from(factors, of + 1)
                b0, b1, b2 = add3(f, s, t, u, b0, b1, b2)
                f = float64x4.spread_from(factors, of + 2)
                c0, c1, c2 = add3(f, s, t, u, c0, c1, c2)
                f = float64x4.spread_from(factors, of + 3)
                e0, e1, e2 = add3(f, s, t, u, e0, e1, e2)
                at += ROWS
                of += QUAD
            x = add_squares4(a0, b0, c0, e0, x)
            y = add_squares4(a1, b1, c1, e1, y)
            w = add_squares4(a2, b2, c2, e2, w)
        half, start = float64x4.spread(-0.5), float64x4.spread(constant)
        float64x4.store(scores, k * ROWS + r, float64x4.multiply_add(half, x, start))
        float64x4.store(scores, k * ROWS + r + 4, float64x4.multiply_add(half, y, start))
        float64x4.store(scores, k * ROWS + r + 8, float64x4.multiply_add(half, w, start))


@compiled(inline=True)
def add_squares4(a, b, c, e, total):
    """total + a^2 + b^2 + c^2 + e^2."""
    total = float64x4.multiply_add(b, b, float64x4.multiply_add(a, a, total))
    return float64x4.multiply_add(e, e, float64x4.multiply_add(c, c, total))


@compiled(fuse=True)
def score_by_roots(z, roots, constant, scores):
    """Set scores (96,) to constant - sum over columns of (z root)^2 / 2."""
    for r in range(ROWS):
        scores[r] = 0.0
    for j in range(z.shape[0]):
        root = roots[j]
        for r in range(ROWS):
            t = z[j, r] * root
            scores[r] += t * t
    for r in range(ROWS):
        scores[r] = constant - 0.5 * scores[r]


@compiled
def share_out(scores, weights, first, size, hard, rest):
    """Turn scores (K, 96) into shares times weights; return the weighted log-likelihood.

    With `hard`, a row is all its best component's, the first of several. rest (2, 96) is scratch.
    """
    top, total = rest[0], rest[1]
    for r in range(ROWS):
        top[r], total[r] = scores[0, r], 0.0
    for k in range(1, scores.shape[0]):
        for r in range(ROWS):
            top[r] = scores[k, r] if scores[k, r] > top[r] else top[r]
    for k in range(scores.shape[0]):
        if hard:
            for r in range(ROWS):
                scores[k, r] = 1.0 if scores[k, r] == top[r] and total[r] == 0.0 else 0.0
                total[r] += scores[k, r]
        else:
            add_exponentials(scores[k], top, total)
    for r in range(ROWS):
        top[r] += log(total[r])
        total[r] = 1.0 / total[r] if r < size else 0.0
    likelihood = 0.0
    for r in range(size):
        if weights is None:
            likelihood += top[r]
        elif weights[first + r] > 0.0:
            likelihood += weights[first + r] * top[r]
            total[r] *= weights[first + r]
        else:
            total[r] = 0.0
    for k in range(scores.shape[0]):
        scale(scores[k], total)
    return likelihood


@compiled
def scale(shares, factors):
    """Multiply shares (96,) by factors; those that add nothing to a sum become zero."""
    for r in range(ROWS):
        shares[r] = shares[r] * factors[r] if shares[r] > LEAST_SHARE else 0.0


@compiled
def add_exponentials(scores, top, total):
    """Replace scores (96,) by their exponentials relative to the top, and add them to total."""
    for r in range(ROWS):
        scores[r] = exp_negative(scores[r] - top[r])
        total[r] += scores[r]


@compiled
def put_rows(X, first, size, shares, mean, block):
    """Put rows less the mean, times the roots of their shares, into the block; return how many.

    The block is that of `tiles`: panels of four columns, the root itself behind the last.
    """
    d, panel, m = X.shape[1], float64x4.WIDTH * block.shape[1], 0
    whole = d - d % float64x4.WIDTH
    for r in range(size):
        if not shares[r] > 0.0:
            continue
        root = np.sqrt(shares[r])
        scale, to, at = float64x4.spread(root), float64x4.WIDTH * m, (first + r) * d
        for v in range(0, whole, float64x4.WIDTH):
            z = float64x4.subtract(float64x4.load(X, at + v), float64x4.load(mean, v))
            float64x4.store(block, to, float64x4.multiply(z, scale))
            to += panel
        for j in range(whole, d):
            block[j // float64x4.WIDTH, m, j % float64x4.WIDTH] = (
                np.float64(X[first + r, j]) - mean[j]
            ) * root
        block[d // float64x4.WIDTH, m, d % float64x4.WIDTH] = root
        m += 1
    return m


@compiled(reorder_sums=True)
def add_squares(columns, shares, size, mean, sums):
    """Add weight, sums and sums of squares about the mean (d,) to sums (3, d)."""
    for j in range(columns.shape[0]):
        weight = first = second = 0.0
        for r in range(size):
            z = columns[j, r] - mean[j]
            weight += shares[r]
            first += shares[r] * z
            second += shares[r] * z * z
        sums[0, j] += weight
        sums[1, j] += first
        sums[2, j] += second
