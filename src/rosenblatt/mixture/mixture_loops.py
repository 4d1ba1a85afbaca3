# mypy: ignore-errors
"""Gaussian mixtures: expectation and the sums of maximization, in one pass over blocks of rows.

A block of rows goes through all components while it is in the cache: log-densities, shares
(responsibilities), and the weighted sums for the next parameters. A vector holds four rows, so
entries of one vector are only added at the end.

Legend: X (n, d); K components with means (K, d); U, upper triangular, the factor of a precision:
``(x - m)' P (x - m) = |(x - m) U|^2``. factors (K, d / 4, d, 4) hold the columns of U in fours, or
(K, d) the roots of the precisions of columns. constants (K,) is log weight + log determinant of U -
d / 2 log(2 pi). A block has 96 rows: columns (d, 96), scores (K, 96).
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.exponential import exp_negative, log
from rosenblatt.loops.simd import AHEAD, float64x4, prefetch
from rosenblatt.loops.tiles import add3, add_products, put

ROWS, TILE, QUAD = 96, 12, 4
LEAST_SHARE = 2.0**-100  # relative to the largest share of a row: smaller ones become zero
GROUP = 6 * float64x4.WIDTH  # rows, also terms in vectors
GROUPS = ROWS // GROUP
TERMS = 6


@compiled
def expect_and_sum(
    X, weights, start, stop, means, factors, constants, hard, sums, columns, scores, rest, block
):
    """Add the weighted sums of rows start to stop to `sums`; return their log-likelihood.

    sums (K, p, q) of products, as in `tiles`, of rows less the means, with a one appended; or
    (K, 3, d): weight, sums, sums of squares. columns (2, d, 96), scores (K, 96), rest (2, 96)
    and block are scratch space; block None for sums without products.
    """
    likelihood = 0.0
    for first in range(start, stop, ROWS):
        size = min(ROWS, stop - first)
        score_block(X, first, size, means, factors, constants, columns, scores)
        likelihood += share_out(scores, weights, first, size, hard, rest)
        for k in range(means.shape[0]):
            add_block(X, first, size, scores[k], means[k], columns[0], block, sums, k)
    return likelihood


@compiled
def sum_given(X, _, start, stop, shares, means, sums, columns, scores, rest, block):
    """Add the sums of rows start to stop weighted by given shares (K, n) to `sums`; return 0."""
    for first in range(start, stop, ROWS):
        size = min(ROWS, stop - first)
        put_columns(X, first, size, columns[0])
        for k in range(means.shape[0]):
            some = shares[k, first : first + size]
            add_block(X, first, size, some, means[k], columns[0], block, sums, k)
    return 0.0


@compiled
def add_block(X, first, size, shares, mean, columns, block, sums, k):
    """Add the sums of a block of rows, weighted by shares, to the sums of component k."""
    if block is None:
        add_squares(columns, shares, size, mean, sums[k])
    else:
        m = put_rows(X, first, size, shares, mean, block)
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
                s, t = float64x4.load(columns, at), float64x4.load(columns, at + 4)
                u = float64x4.load(columns, at + 8)
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
    """Return total + a^2 + b^2 + c^2 + e^2."""
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

    With `hard`, the best component, the first of equals, gets the whole row. rest (2, 96) is
    scratch space.
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
    """Multiply shares (96,) by factors; set negligible shares to zero."""
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

    The block is as in `tiles`: panels of four columns, with the root appended to each row.
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


# Scores as linear functions of the products of a row's columns.
#
# With x a row less a center, every log-density is ``t.f(x)``, where f(x) holds ``x_i x_j`` for
# j <= i, x itself and a one; and the weighted sums of f(x) hold weight, sums and scatter. So one
# table of f, for a block of rows, serves expectation and maximization of all components, with half
# of the multiplications of square matrices. Digits are lost if a component is narrow and far from
# the center: then `expect_and_sum` is used.
#
# K' is K rounded up to an even number; F = (d + 1) (d + 2) / 2 terms and zeros up to a multiple of
# six. A block of 96 rows is four groups of 24: table (4, F, 24), scores (K', 96).


@compiled
def expect_and_sum_products(
    X, weights, start, stop, center, K, terms, hard, sums, table, scores, rest
):
    """Add weighted sums of f over rows start to stop to sums (K', F, 4); return the log-likelihood.

    Each sum is in four parts. Reads terms (K' / 2, F, 2), the t of pairs of components. table is
    zeros at the start; scores (K', 96) and rest (2, 96) are scratch space.
    """
    likelihood = 0.0
    for first in range(start, stop, ROWS):
        size = min(ROWS, stop - first)
        for g in range(GROUPS):
            put_products(X, first + g * GROUP, min(first + (g + 1) * GROUP, stop), center, table, g)
            for k in range(0, scores.shape[0], 2):
                score_pair(table, g, terms, k, scores)
        likelihood += share_out(scores[:K], weights, first, size, hard, rest)
        for f in range(0, table.shape[1], TERMS):
            for k in range(0, scores.shape[0], 2):
                sum_pair(table, f, scores, k, sums)
    return likelihood


@compiled
def put_products(X, first, stop, center, table, g):
    """Write f of rows first to stop into group g of the table."""
    d, n_terms = X.shape[1], table.shape[1]
    linear = d * (d + 1) // 2
    for r in range(stop - first):
        for j in range(d):
            table[g, linear + j, r] = np.float64(X[first + r, j]) - center[j]
        table[g, linear + d, r] = 1.0
        for j in range(0, d, 8):
            prefetch(X, (first + r) * d + j + AHEAD)
    to = g * n_terms * GROUP
    columns = to + linear * GROUP
    for i in range(d):
        at = columns + i * GROUP
        a, b = float64x4.load(table, at), float64x4.load(table, at + 4)
        c, e = float64x4.load(table, at + 8), float64x4.load(table, at + 12)
        f, h = float64x4.load(table, at + 16), float64x4.load(table, at + 20)
        for of in range(columns, at + 1, GROUP):
            float64x4.store(table, to, float64x4.multiply(a, float64x4.load(table, of)))
            float64x4.store(table, to + 4, float64x4.multiply(b, float64x4.load(table, of + 4)))
            float64x4.store(table, to + 8, float64x4.multiply(c, float64x4.load(table, of + 8)))
            float64x4.store(table, to + 12, float64x4.multiply(e, float64x4.load(table, of + 12)))
            float64x4.store(table, to + 16, float64x4.multiply(f, float64x4.load(table, of + 16)))
            float64x4.store(table, to + 20, float64x4.multiply(h, float64x4.load(table, of + 20)))
            to += GROUP


@compiled
def score_pair(table, g, terms, k, scores):
    """Set the scores of components k and k + 1 in group g to t.f: 2 x 24 sums in registers."""
    n_terms = table.shape[1]
    at, of = g * n_terms * GROUP, k * n_terms
    a0 = a1 = a2 = a3 = a4 = a5 = b0 = b1 = b2 = b3 = b4 = b5 = float64x4.spread(0.0)
    for _ in range(n_terms):
        s, t = float64x4.spread_from(terms, of), float64x4.spread_from(terms, of + 1)
        a0, b0 = add_both(s, t, table, at, a0, b0)
        a1, b1 = add_both(s, t, table, at + 4, a1, b1)
        a2, b2 = add_both(s, t, table, at + 8, a2, b2)
        a3, b3 = add_both(s, t, table, at + 12, a3, b3)
        a4, b4 = add_both(s, t, table, at + 16, a4, b4)
        a5, b5 = add_both(s, t, table, at + 20, a5, b5)
        at += GROUP
        of += 2
    put6(scores, k * ROWS + g * GROUP, a0, a1, a2, a3, a4, a5)
    put6(scores, (k + 1) * ROWS + g * GROUP, b0, b1, b2, b3, b4, b5)


@compiled(inline=True)
def add_both(s, t, table, at, a, b):
    """Return a + s x and b + t x, with x four numbers of the table."""
    x = float64x4.load(table, at)
    return float64x4.multiply_add(s, x, a), float64x4.multiply_add(t, x, b)


@compiled(inline=True)
def put6(scores, at, a, b, c, d, e, f):
    """Store six vectors."""
    float64x4.store(scores, at, a)
    float64x4.store(scores, at + 4, b)
    float64x4.store(scores, at + 8, c)
    float64x4.store(scores, at + 12, d)
    float64x4.store(scores, at + 16, e)
    float64x4.store(scores, at + 20, f)


@compiled
def sum_pair(table, f, shares, k, sums):
    """Add six terms from f on, times the shares of components k and k + 1, to the sums."""
    n_terms = table.shape[1]
    a0 = a1 = a2 = a3 = a4 = a5 = b0 = b1 = b2 = b3 = b4 = b5 = float64x4.spread(0.0)
    of = k * ROWS
    for g in range(GROUPS):
        at = (g * n_terms + f) * GROUP
        for _ in range(6):
            s, t = float64x4.load(shares, of), float64x4.load(shares, of + ROWS)
            a0, b0 = add_both(s, t, table, at, a0, b0)
            a1, b1 = add_both(s, t, table, at + GROUP, a1, b1)
            a2, b2 = add_both(s, t, table, at + 2 * GROUP, a2, b2)
            a3, b3 = add_both(s, t, table, at + 3 * GROUP, a3, b3)
            a4, b4 = add_both(s, t, table, at + 4 * GROUP, a4, b4)
            a5, b5 = add_both(s, t, table, at + 5 * GROUP, a5, b5)
            at += float64x4.WIDTH
            of += float64x4.WIDTH
    add6(sums, (k * n_terms + f) * float64x4.WIDTH, a0, a1, a2, a3, a4, a5)
    add6(sums, ((k + 1) * n_terms + f) * float64x4.WIDTH, b0, b1, b2, b3, b4, b5)


@compiled(inline=True)
def add6(sums, at, a, b, c, d, e, f):
    """Add six vectors."""
    put(sums, at, a)
    put(sums, at + 4, b)
    put(sums, at + 8, c)
    put(sums, at + 12, d)
    put(sums, at + 16, e)
    put(sums, at + 20, f)
