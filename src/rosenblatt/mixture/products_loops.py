# mypy: ignore-errors
"""Gaussian mixtures by a table of products: a score is linear in the products of a row's columns.

With x a row less a centre, every log-density is ``t.f(x)``, where f(x) holds ``x_i x_j`` for
j <= i, x itself and a one; and the weighted sums of f(x) hold weight, sums and scatter. So one
table of f, for a block of rows, serves expectation and maximisation of all components, with half
of the multiplications of square matrices. Digits are lost where a component is narrow and far from
the centre; `mixture` has the loop for such.

Legend: X (n, d); K components, made even; F = (d + 1) (d + 2) / 2 terms and zeros up to a multiple
of six. A block of 96 rows is four groups of 24: table (4, F, 24), scores (K, 96).
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import AHEAD, float64x4, prefetch
from rosenblatt.loops.tiles import put

from .mixture_loops import ROWS, share_out

GROUP = 6 * float64x4.WIDTH  # rows, also terms in vectors
GROUPS = ROWS // GROUP
TERMS = 6


@compiled
def expect_and_sum_products(
    X, weights, start, stop, centre, K, terms, hard, sums, table, scores, rest
):
    """Add weighted sums of f over rows start to stop to sums (K', F, 4); return the log-likelihood.

    K' is K made even; a sum is that of its four numbers. Reads terms (K' / 2, F, 2), the t of pairs
    of components. table is zeros when it starts; scores (K', 96) and rest (2, 96) are scratch.
    """
    likelihood = 0.0
    for first in range(start, stop, ROWS):
        size = min(ROWS, stop - first)
        for g in range(GROUPS):
            put_products(X, first + g * GROUP, min(first + (g + 1) * GROUP, stop), centre, table, g)
            for k in range(0, scores.shape[0], 2):
                score_pair(table, g, terms, k, scores)
        likelihood += share_out(scores[:K], weights, first, size, hard, rest)
        for f in range(0, table.shape[1], TERMS):
            for k in range(0, scores.shape[0], 2):
                sum_pair(table, f, scores, k, sums)
    return likelihood


@compiled
def put_products(X, first, stop, centre, table, g):
    """Write f of rows first to stop into group g of the table."""
    d, n_terms = X.shape[1], table.shape[1]
    linear = d * (d + 1) // 2
    for r in range(stop - first):
        for j in range(d):
            table[g, linear + j, r] = np.float64(X[first + r, j]) - centre[j]
        table[g, linear + d, r] = 1.0
        for j in range(0, d, 8):
            prefetch(X, (first + r) * d + j + AHEAD)
    to = g * n_terms * GROUP
    columns = to + linear * GROUP
    for i in range(d):
        at = columns + i * GROUP
        a, b, c = (
            float64x4.load(table, at),
            float64x4.load(table, at + 4),
            float64x4.load(table, at + 8),
        )
        e, f, h = (
            float64x4.load(table, at + 12),
            float64x4.load(table, at + 16),
            float64x4.load(table, at + 20),
        )
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
    """a + s x and b + t x, x the four numbers at a place of the table."""
    x = float64x4.load(table, at)
    return float64x4.multiply_add(s, x, a), float64x4.multiply_add(t, x, b)


@compiled(inline=True)
def put6(scores, at, a, b, c, d, e, f):
    """Write six vectors."""
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
