"""Ward's linkage on centroids: for each cluster the one whose union adds least to the variance.

The increase for two clusters with centroids c, c' and sizes s, s' is ``|c - c'|^2 / (1/s + 1/s')``.
As in `nearest`, products of 4 clusters with 24 are summed in registers, in single precision. They
show which clusters may be nearest; for those the increase is computed in doubles.

Legend: m clusters, centroids C (m, d), shares 1/s (m,).
"""

import numpy as np

from . import compiled
from .nearest import POINTS, QUERIES, add3
from .simd import singles

ROUNDING = 1e-5  # far above what single precision loses of a limit


@compiled
def nearest_clusters(
    C, shares, panels, halves, thirds, queries, quads, sizes, scale, start, stop,
    near, increases, limits, factors, scores,
):  # fmt: skip
    """Find the nearest cluster of queries start to stop; of equally near ones the first.

    panels (m / 24, d, 24) and quads (q / 4, d, 4) hold centroids about a common centre, times a
    scale, halves (m,) and sizes (q,) their squares as in `nearest`, thirds (m,) the shares in
    single precision. queries (q,) are numbers of clusters. near (m,) and increases (m,) hold a
    first guess (-1 and infinity: none), and get the answer. limits, factors (q,) and scores (24,)
    are scratch space.
    """
    for i in range(start, stop):
        set_limit(i, queries[i], shares, sizes, scale, increases, limits, factors)
    for panel in range(panels.shape[0]):
        for group in range(start // QUERIES, (stop + QUERIES - 1) // QUERIES):
            tile(
                C, shares, panels, halves, thirds, queries, quads, sizes, scale, panel, group, stop,
                near, increases, limits, factors, scores,
            )  # fmt: skip


@compiled
def set_limit(i, a, shares, sizes, scale, increases, limits, factors):
    """Express the least increase of query i in the units of the scores."""
    increase = 0.5 * scale * scale * increases[a] * (1.0 + ROUNDING)
    limits[i] = increase * shares[a] - sizes[i]
    factors[i] = -increase


@compiled
def tile(
    C, shares, panels, halves, thirds, queries, quads, sizes, scale, panel, group, stop,
    near, increases, limits, factors, scores,
):  # fmt: skip
    """Score 24 clusters for 4 queries; measure those below a query's limit."""
    d = panels.shape[1]
    at, of = panel * d * POINTS, group * d * QUERIES
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = singles.zeros()
    for _ in range(d):
        x, y = singles.load(panels, at), singles.load(panels, at + 8)
        z = singles.load(panels, at + 16)
        q = singles.spread_from(quads, of)
        a0, a1, a2 = add3(q, x, y, z, a0, a1, a2)
        q = singles.spread_from(quads, of + 1)
        b0, b1, b2 = add3(q, x, y, z, b0, b1, b2)
        q = singles.spread_from(quads, of + 2)
        c0, c1, c2 = add3(q, x, y, z, c0, c1, c2)
        q = singles.spread_from(quads, of + 3)
        d0, d1, d2 = add3(q, x, y, z, d0, d1, d2)
        at += POINTS
        of += QUERIES
    first, i = panel * POINTS, group * QUERIES
    if may_be_near(halves, thirds, first, a0, a1, a2, limits, factors, i, scores):
        measure(
            C,
            shares,
            first,
            queries,
            i,
            stop,
            sizes,
            scale,
            near,
            increases,
            limits,
            factors,
            scores,
        )
    if may_be_near(halves, thirds, first, b0, b1, b2, limits, factors, i + 1, scores):
        measure(
            C,
            shares,
            first,
            queries,
            i + 1,
            stop,
            sizes,
            scale,
            near,
            increases,
            limits,
            factors,
            scores,
        )
    if may_be_near(halves, thirds, first, c0, c1, c2, limits, factors, i + 2, scores):
        measure(
            C,
            shares,
            first,
            queries,
            i + 2,
            stop,
            sizes,
            scale,
            near,
            increases,
            limits,
            factors,
            scores,
        )
    if may_be_near(halves, thirds, first, d0, d1, d2, limits, factors, i + 3, scores):
        measure(
            C,
            shares,
            first,
            queries,
            i + 3,
            stop,
            sizes,
            scale,
            near,
            increases,
            limits,
            factors,
            scores,
        )


@compiled
def may_be_near(halves, thirds, first, a, b, c, limits, factors, i, scores):
    """Whether one of 24 clusters may be near enough to query i; scores (24,) gets all, if so."""
    factor = singles.spread_from(factors, i)
    a = score(halves, thirds, first, factor, a)
    b = score(halves, thirds, first + 8, factor, b)
    c = score(halves, thirds, first + 16, factor, c)
    lowest = singles.lowest(singles.lowest(a, b), c)
    if not singles.any_below(lowest, singles.spread_from(limits, i)):
        return False
    singles.store(scores, 0, a)
    singles.store(scores, 8, b)
    singles.store(scores, 16, c)
    return True


@compiled
def score(halves, thirds, at, factor, products):
    """Half of each squared distance, less the query's half and the limit times the share."""
    half = singles.subtract(singles.load(halves, at), products)
    return singles.multiply_add(factor, singles.load(thirds, at), half)


@compiled
def measure(
    C, shares, first, queries, i, stop, sizes, scale, near, increases, limits, factors, scores
):
    """Compare the clusters whose scores (24,) are below the limit with the nearest of query i."""
    if i >= stop:
        return
    a = queries[i]
    for t in range(min(POINTS, C.shape[0] - first)):
        b = first + t
        if scores[t] < limits[i] and b != a:
            found = increase(C, shares, a, b)
            if found < increases[a] or (found == increases[a] and b < near[a]):
                increases[a], near[a] = found, b
                set_limit(i, a, shares, sizes, scale, increases, limits, factors)


@compiled
def increase(C, shares, a, b):
    """What joining two clusters adds to the sum of squares about centroids."""
    square = 0.0
    for j in range(C.shape[1]):
        z = C[a, j] - C[b, j]
        square += z * z
    return square / (shares[a] + shares[b])


@compiled
def join_pairs(C, shares, pairs, increases):
    """Put the union of each pair (p, 2) of clusters into the place of the first."""
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        increases[p] = increase(C, shares, a, b)
        join(C, shares, a, b)


@compiled
def join(C, shares, a, b):
    """Put the union of two clusters into the place of a."""
    part = shares[a] / (shares[a] + shares[b])  # the part of b
    for j in range(C.shape[1]):
        C[a, j] += part * (C[b, j] - C[a, j])
    shares[a] = 1.0 / (1.0 / shares[a] + 1.0 / shares[b])


@compiled
def ward_chain(C, shares, alive, chain, length, most, pairs, increases):
    """Follow a chain of nearest clusters to a pair that are nearest to each other; join it; repeat.

    Fills pairs (p, 2) and increases (p,) until they are full or `most` distances have been
    computed; changes C, shares, alive (m,), whose first alive[m] numbers are the clusters left, and
    chain (m,). Returns how many pairs were joined, and the length of the chain.
    """
    m = C.shape[0]
    done = 0
    while done < pairs.shape[0] and most > 0:
        if length == 0:
            chain[0], length = alive[0], 1
        a = chain[length - 1]
        best, near = np.inf, -1
        if length > 1:
            near = chain[length - 2]
            best = increase(C, shares, a, near)
        for k in range(alive[m]):
            b = alive[k]
            if b != a:
                found = increase(C, shares, a, b)
                if found < best:
                    best, near = found, b
        most -= alive[m]
        if length > 1 and near == chain[length - 2]:
            pairs[done, 0], pairs[done, 1], increases[done] = a, near, best
            done += 1
            join(C, shares, a, near)
            alive[m] -= 1
            remove(alive, alive[m], near)
            length -= 2
        else:
            chain[length] = near
            length += 1
    return done, length


@compiled
def remove(alive, last, b):
    """Put the last of the clusters alive into the place of b."""
    k = 0
    while alive[k] != b:
        k += 1
    alive[k] = alive[last]
