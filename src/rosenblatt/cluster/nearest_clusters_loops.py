# mypy: ignore-errors
"""Nearest clusters by Ward's, average or complete linkage, by way of their centroids.

By Ward's linkage, the distance of clusters with centroids c, c' and sizes s, s' is what joining
them adds to the sum of squares: ``|c - c'|^2 / (1/s + 1/s')``. The mean distance of their points is
at least ``|c - c'|``, and the greatest squared distance at least the mean one, which is
``|c - c'|^2`` and both variances.

As in `nearest`, products of 4 clusters with 24 are summed in registers, in single precision. They
show which clusters may be nearest; for those the distance is computed in doubles.

Legend: m clusters, centroids C (m, d), shares 1/s (m,); members: None for Ward's linkage, else the
points (n, d) in the order of clusters, bounds (m + 1,), the first of each, and whether distances
are averages.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.distance_tiles import POINTS, QUERIES, multiply_panels
from rosenblatt.loops.simd import float32x8

from .ward_loops import increase

ROUNDING = 1e-5  # far above what single precision loses of a limit


@compiled
def nearest_clusters(
    C, shares, members, panels, halves, thirds, queries, quads, sizes, scale, start, stop,
    near, least, limits, factors, scores,
):  # fmt: skip
    """Find the nearest cluster of queries start to stop; of equally near ones the first.

    panels (m / 24, d, 24) and quads (q / 4, d, 4) hold centroids about a common centre, times a
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
    """Whether one of 24 clusters may be near enough to query i; scores (24,) gets all, if so."""
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
    """Half of each squared distance, less the query's half and the limit times the share."""
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
    """How many pairs of points two clusters have."""
    bounds = members[1]
    return (bounds[a + 1] - bounds[a]) * (bounds[b + 1] - bounds[b])


@compiled
def member_distance(members, a, b, most):
    """The mean distance of the points of clusters a and b, or the greatest squared one.

    Infinity stands for any that is found to be above `most`.
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
    """The squared distance of two points (d,)."""
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
