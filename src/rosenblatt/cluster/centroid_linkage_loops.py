# mypy: ignore-errors
"""Nearest clusters by Ward's, average or complete linkage, with bounds by centroids.

By Ward's linkage, the distance of clusters with centroids c, c' and sizes s, s' is the increase of
the sum of squares: ``|c - c'|^2 / (1/s + 1/s')``. The mean distance of their points is at least
``|c - c'|``, and the greatest squared distance at least the mean one, which is ``|c - c'|^2`` plus
both variances.

As in `nearest`, products of 4 clusters with 24 are summed in registers, in single precision. They
show which clusters may be nearest; for those the distance is computed in doubles.

Legend: m clusters, centroids C (m, d), shares 1/s (m,); members: None for Ward's linkage, else the
points (n, d) in the order of clusters, bounds (m + 1,), the first of each, and whether distances
are averages.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import float32x8
from rosenblatt.loops.tiles import POINTS, QUERIES, multiply_panels

from .linkage_loops import BLOCK, STRIP, squared_rows

ROUNDING = 1e-5  # far above the rounding error of a limit in float32


@compiled
def nearest_clusters(
    C, shares, members, panels, halves, thirds, queries, quads, sizes, scale, start, stop,
    near, least, limits, factors, scores,
):  # fmt: skip
    """Find the nearest cluster of queries start to stop; of equally near ones the first.

    panels (m / 24, d, 24) and quads (q / 4, d, 4) hold centroids about a common center, times a
    scale, halves (m,) and sizes (q,) their squares as in `nearest` (and half of the variances, for
    complete linkage), thirds (m,) the shares in single precision. queries (q,) are numbers of
    clusters. near (m,) and least (m,) hold a first guess (-1 and infinity: none), and get the
    answer. limits, factors (q,) and scores (24,) are scratch space. Returns how many pairs of
    points were measured.
    """
    measured = 0
    for i in range(start, stop):
        set_limit(i, queries[i], shares, members, sizes, scale, least, limits, factors)
    for panel in range(panels.shape[0]):
        for group in range(start // QUERIES, (stop + QUERIES - 1) // QUERIES):
            measured += tile(
                C, shares, members, panels, halves, thirds, queries, quads, sizes, scale, panel,
                group, stop, near, least, limits, factors, scores,
            )  # fmt: skip
    return measured


@compiled
def set_limit(i, a, shares, members, sizes, scale, least, limits, factors):
    """Express the least distance of query i in the units of the scores."""
    limit = 0.5 * scale * scale * least[a] * (1.0 + ROUNDING)
    if members is None:
        limits[i] = limit * shares[a] - sizes[i]
        factors[i] = -limit
    else:
        limits[i] = (limit * least[a] if members[2] else limit) - sizes[i]
        factors[i] = 0.0


@compiled
def tile(
    C, shares, members, panels, halves, thirds, queries, quads, sizes, scale, panel, group, stop,
    near, least, limits, factors, scores,
):  # fmt: skip
    """Score 24 clusters for 4 queries; measure those below a query's limit."""
    a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2 = multiply_panels(panels, panel, quads, group)
    first, i = panel * POINTS, group * QUERIES
    measured = 0
    if may_be_near(halves, thirds, first, a0, a1, a2, limits, factors, i, scores):
        measured += measure(
            C, shares, members, first, queries, i, stop, sizes, scale, near, least, limits,
            factors, scores,
        )  # fmt: skip
    if may_be_near(halves, thirds, first, b0, b1, b2, limits, factors, i + 1, scores):
        measured += measure(
            C, shares, members, first, queries, i + 1, stop, sizes, scale, near, least, limits,
            factors, scores,
        )  # fmt: skip
    if may_be_near(halves, thirds, first, c0, c1, c2, limits, factors, i + 2, scores):
        measured += measure(
            C, shares, members, first, queries, i + 2, stop, sizes, scale, near, least, limits,
            factors, scores,
        )  # fmt: skip
    if may_be_near(halves, thirds, first, d0, d1, d2, limits, factors, i + 3, scores):
        measured += measure(
            C, shares, members, first, queries, i + 3, stop, sizes, scale, near, least, limits,
            factors, scores,
        )  # fmt: skip
    return measured


@compiled
def may_be_near(halves, thirds, first, a, b, c, limits, factors, i, scores):
    """Return if one of 24 clusters may be near enough to query i; if so, fill scores (24,)."""
    factor = float32x8.spread_from(factors, i)
    a = score(halves, thirds, first, factor, a)
    b = score(halves, thirds, first + 8, factor, b)
    c = score(halves, thirds, first + 16, factor, c)
    lowest = float32x8.lowest(float32x8.lowest(a, b), c)
    if not float32x8.any_below(lowest, float32x8.spread_from(limits, i)):
        return False
    float32x8.store(scores, 0, a)
    float32x8.store(scores, 8, b)
    float32x8.store(scores, 16, c)
    return True


@compiled
def score(halves, thirds, at, factor, products):
    """Return half of each squared distance, less the query's half and the limit's share."""
    half = float32x8.subtract(float32x8.load(halves, at), products)
    return float32x8.multiply_add(factor, float32x8.load(thirds, at), half)


@compiled
def measure(
    C, shares, members, first, queries, i, stop, sizes, scale, near, least, limits, factors, scores
):
    """Compare the clusters whose scores (24,) are below the limit with the nearest of query i."""
    if i >= stop:
        return 0
    a, measured = queries[i], 0
    for t in range(min(POINTS, C.shape[0] - first)):
        b = first + t
        if scores[t] < limits[i] and b != a:
            if members is None:
                found = increase(C, shares, a, b)
            else:
                found = member_distance(members, min(a, b), max(a, b), least[a])
                measured += pairs_of_points(members, a, b)
            if found < least[a] or (found == least[a] and b < near[a]):
                least[a], near[a] = found, b
                set_limit(i, a, shares, members, sizes, scale, least, limits, factors)
    return measured


@compiled
def pairs_of_points(members, a, b):
    """Return the number of pairs of points of two clusters."""
    bounds = members[1]
    return (bounds[a + 1] - bounds[a]) * (bounds[b + 1] - bounds[b])


@compiled
def member_distance(members, a, b, most):
    """Return the mean or the greatest squared distance of the points of clusters a and b.

    Infinity stands for distances above `most`.
    """
    points, bounds, average = members
    pairs = pairs_of_points(members, a, b)
    enough = most * pairs * (1.0 + ROUNDING)
    total = greatest = 0.0
    for i in range(bounds[a], bounds[a + 1]):
        for k in range(bounds[b], bounds[b + 1]):
            square = squared_distance(points[i], points[k])
            total += np.sqrt(square)
            greatest = max(greatest, square)
        if (total > enough) if average else (greatest > most):
            return np.inf
    return total / pairs if average else greatest


@compiled(reorder_sums=True)
def squared_distance(x, y):
    """Return the squared distance of two points (d,)."""
    square = 0.0
    for j in range(x.shape[0]):
        z = x[j] - y[j]
        square += z * z
    return square


@compiled
def guess_nearest(C, shares, members, queries, near, least):
    """Write the distances of clusters `queries` (q,) from their guesses near (m,) to least (m,)."""
    for a in queries:
        if near[a] < 0:
            least[a] = np.inf
        elif members is None:
            least[a] = increase(C, shares, a, near[a])
        else:
            least[a] = member_distance(members, min(a, near[a]), max(a, near[a]), np.inf)


# Ward's linkage.


@compiled(reorder_sums=True)  # in partial sums, which are the same for (a, b) and (b, a)
def increase(C, shares, a, b):
    """Return the increase of the sum of squares about centroids if two clusters are joined."""
    square = 0.0
    for j in range(C.shape[1]):
        z = C[a, j] - C[b, j]
        square += z * z
    return square / (shares[a] + shares[b])


@compiled
def join_pairs(C, shares, pairs, increases):
    """Replace the first cluster of each pair (p, 2) by the union."""
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        increases[p] = increase(C, shares, a, b)
        join(C, shares, a, b)


@compiled
def join(C, shares, a, b):
    """Replace cluster a by its union with b."""
    part = shares[a] / (shares[a] + shares[b])  # the share of b
    for j in range(C.shape[1]):
        C[a, j] += part * (C[b, j] - C[a, j])
    shares[a] = 1.0 / (1.0 / shares[a] + 1.0 / shares[b])


@compiled
def ward_chain(C, shares, alive, chain, length, most, pairs, increases):
    """Follow chains of nearest clusters to reciprocal pairs, and join these.

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
    """Replace b by the last of the clusters alive."""
    k = 0
    while alive[k] != b:
        k += 1
    alive[k] = alive[last]


# Distances of clusters by the distances of their points: averages, or the greatest squares.
#
# X (n, d) and blocks (n / 16, d, 16) hold the points in the order of clusters; cluster k has the
# points bounds[k] to bounds[k + 1]; codes (n,) is the cluster of each point.


@compiled
def write_member_distances(blocks, X, bounds, codes, start, stop, average, D, squares, sums):
    """Write the distances of clusters start to stop from all later ones to rows of D (m, m).

    squares (1, 512) and sums (512,) are scratch space.
    """
    n = X.shape[0]
    for a in range(start, stop):
        for k in range(a, D.shape[1]):
            D[a, k] = 0.0
    for b in range(bounds[start] // BLOCK, blocks.shape[0], STRIP):
        first = b * BLOCK
        size = min(n - first, STRIP * BLOCK)
        for a in range(start, stop):
            if bounds[a + 1] < first + size:
                for c in range(size):
                    sums[c] = 0.0
                for i in range(bounds[a], bounds[a + 1]):
                    squared_rows(blocks[b : b + STRIP], X, i, i + 1, 0, squares)
                    add_point(squares[0], sums, size, average)
                add_columns(sums, first, size, bounds, max(codes[first], a + 1), average, D[a])
    for a in range(start, stop):
        D[a, a] = np.inf
        if average:
            for k in range(a + 1, D.shape[1]):
                D[a, k] /= (bounds[a + 1] - bounds[a]) * (bounds[k + 1] - bounds[k])


@compiled
def add_point(squares, sums, size, average):
    """Add the distances of a point to sums (size,), or keep the greater squares."""
    if average:
        for c in range(size):
            sums[c] += np.sqrt(squares[c])
    else:
        for c in range(size):
            sums[c] = squares[c] if squares[c] > sums[c] else sums[c]


@compiled
def add_columns(sums, first, size, bounds, k, average, row):
    """Add sums (size,) of points from `first` on to the entries of their clusters, from k on."""
    at = max(bounds[k] - first, 0)
    while at < size:
        end = min(bounds[k + 1] - first, size)
        found = row[k]
        for c in range(at, end):
            if average:
                found += sums[c]
            else:
                found = max(found, sums[c])
        row[k] = found
        at = end
        k += 1
