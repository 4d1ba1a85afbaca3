# mypy: ignore-errors
"""The k nearest of n points for each of some queries, without a matrix of distances.

Each query keeps its k best points in a heap with the farthest at the root, ordered by (distance,
point), so that of points at equal distances the first ones are kept. Points are read in blocks that
stay in the cache while all queries of a chunk are compared with them.

For Euclidean distance, products of 4 queries with 24 points are summed in registers, in single
precision: ``|x - q|^2 / 2 = |x|^2 / 2 - x.q + |q|^2 / 2``. They show which points may be among the
nearest; distances of these points are computed in doubles, from differences. For Manhattan distance
the same is done by sums of ``|x - q|``, and for L3 by sums of cubes. For other distances, a block
holds 64 points column by column, and each column adds to 64 distances. With thousands of points,
`nearest_quantized` is tried first.

Legend: n points X (n, d), m queries Q (m, d), k neighbors, found and points (m, k) the heaps.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import float32x8
from rosenblatt.loops.tiles import POINTS, QUERIES, multiply_panels

BLOCK = 64  # points that are measured together by other distances
LARGE_P = 8  # above which powers are taken of ratios to the largest difference
MANHATTAN, EUCLIDEAN, CUBES, MINKOWSKI, CHEBYSHEV, HAMMING = range(6)


@compiled
def nearest_by_float32(
    X, panels, starts, Q, quads, sizes, scale, metric, start, stop, found, points, limits, scores
):
    """Fill the heaps of queries start to stop with sums of sizes, squares or cubes.

    panels (n / 24, d, 24) and quads (m / 4, d, 4) hold points and queries about a common center,
    times a scale. starts (n,) is |x|^2 / 2 less the rounding error of a score, infinite beyond the
    last point; sizes (m,) is |q|^2 / 2 less the same. For Manhattan distances, both are only the
    rounding errors, with the sign changed for points; for cubes, sizes are the errors of both.
    limits (m,) and scores (24,) are scratch space.
    """
    clear(found, points, start, stop)
    for i in range(start, stop):
        limits[i] = np.inf
    for panel in range(panels.shape[0]):  # stays in the first-level cache
        for group in range(start // QUERIES, (stop + QUERIES - 1) // QUERIES):
            if metric == EUCLIDEAN:
                tile(
                    X, panels, starts, Q, quads, sizes, scale, panel, group, stop,
                    found, points, limits, scores,
                )  # fmt: skip
            else:
                tile_of_differences(
                    X, panels, starts, Q, quads, sizes, scale, metric, panel, group, stop,
                    found, points, limits, scores,
                )  # fmt: skip
    for i in range(start, stop):
        sort_heap(found[i], points[i])


@compiled
def tile(
    X, panels, starts, Q, quads, sizes, scale, panel, group, stop, found, points, limits, scores
):
    """Score 24 points for 4 queries; measure those below a query's limit."""
    a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2 = multiply_panels(panels, panel, quads, group)
    first, i = panel * POINTS, group * QUERIES
    if is_near(starts, first, a0, a1, a2, limits, i, scores):
        measure(X, Q, sizes, scale, EUCLIDEAN, first, i, stop, found, points, limits, scores)
    if is_near(starts, first, b0, b1, b2, limits, i + 1, scores):
        measure(X, Q, sizes, scale, EUCLIDEAN, first, i + 1, stop, found, points, limits, scores)
    if is_near(starts, first, c0, c1, c2, limits, i + 2, scores):
        measure(X, Q, sizes, scale, EUCLIDEAN, first, i + 2, stop, found, points, limits, scores)
    if is_near(starts, first, d0, d1, d2, limits, i + 3, scores):
        measure(X, Q, sizes, scale, EUCLIDEAN, first, i + 3, stop, found, points, limits, scores)


@compiled
def tile_of_differences(
    X, panels, starts, Q, quads, sizes, scale, metric, panel, group, stop,
    found, points, limits, scores,
):  # fmt: skip
    """Score by sums of |x - q| or its cube, two queries at a time due to the registers."""
    d, first = panels.shape[1], panel * POINTS
    for half in range(0, QUERIES, 2):
        at, of = panel * d * POINTS, group * d * QUERIES + half
        a0 = a1 = a2 = b0 = b1 = b2 = float32x8.zeros()
        for _ in range(d):
            x, y = float32x8.load(panels, at), float32x8.load(panels, at + 8)
            z = float32x8.load(panels, at + 16)
            q, r = float32x8.spread_from(quads, of), float32x8.spread_from(quads, of + 1)
            a0, a1 = subtract_gap(a0, x, q, metric), subtract_gap(a1, y, q, metric)
            a2, b0 = subtract_gap(a2, z, q, metric), subtract_gap(b0, x, r, metric)
            b1, b2 = subtract_gap(b1, y, r, metric), subtract_gap(b2, z, r, metric)
            at += POINTS
            of += QUERIES
        i = group * QUERIES + half
        if is_near(starts, first, a0, a1, a2, limits, i, scores):
            measure(X, Q, sizes, scale, metric, first, i, stop, found, points, limits, scores)
        if is_near(starts, first, b0, b1, b2, limits, i + 1, scores):
            measure(X, Q, sizes, scale, metric, first, i + 1, stop, found, points, limits, scores)


@compiled(inline=True)
def subtract_gap(a, x, y, metric):
    """Return a - |x - y|, or a - |x - y|^3."""
    if metric == MANHATTAN:
        return float32x8.less_distance(a, x, y)
    zero, z = float32x8.zeros(), float32x8.subtract(x, y)
    square = float32x8.multiply_add(z, z, zero)
    return float32x8.multiply_add(square, float32x8.lowest(z, float32x8.subtract(zero, z)), a)


@compiled
def is_near(starts, first, a, b, c, limits, i, scores):
    """Return whether one of 24 points may be near enough to query i; if so, fill scores (24,)."""
    a = float32x8.subtract(float32x8.load(starts, first), a)
    b = float32x8.subtract(float32x8.load(starts, first + 8), b)
    c = float32x8.subtract(float32x8.load(starts, first + 16), c)
    lowest = float32x8.lowest(float32x8.lowest(a, b), c)
    if not float32x8.any_below(lowest, float32x8.spread_from(limits, i)):
        return False
    float32x8.store(scores, 0, a)
    float32x8.store(scores, 8, b)
    float32x8.store(scores, 16, c)
    return True


@compiled
def measure(X, Q, sizes, scale, metric, first, i, stop, found, points, limits, scores):
    """Put the points whose scores (24,) are below the limit into the heap of query i."""
    if i >= stop:
        return
    for t in range(min(POINTS, X.shape[0] - first)):
        if scores[t] < limits[i]:
            distance = distance_of(X, first + t, Q, i, metric)
            if distance < found[i, 0]:
                sift(found[i], points[i], distance, first + t, found.shape[1])
                limits[i] = limit_of(found[i, 0], scale, sizes[i], X.shape[1], metric)


@compiled
def limit_of(farthest, scale, size, d, metric):
    """Return the score below which a point may be nearer than the farthest of a heap."""
    if metric == EUCLIDEAN:
        return 0.5 * scale * scale * farthest - size
    rounding = 1.0 + (d + 16) * 2.0**-22  # of the sum, and of the limit itself
    if metric == MANHATTAN:
        return (scale * farthest + size) * rounding
    reach = (scale * farthest ** (1 / 3) + size) * rounding
    return reach * reach * reach


@compiled
def distance_of(X, x, Q, q, metric):
    """Return the sum of sizes, squares or cubes of differences of row x and query q."""
    d, a, b, c, e = X.shape[1], 0.0, 0.0, 0.0, 0.0
    for j in range(0, d - 3, 4):
        s, t = X[x, j] - Q[q, j], X[x, j + 1] - Q[q, j + 1]
        u, v = X[x, j + 2] - Q[q, j + 2], X[x, j + 3] - Q[q, j + 3]
        if metric == MANHATTAN:
            a, b, c, e = a + abs(s), b + abs(t), c + abs(u), e + abs(v)
        elif metric == EUCLIDEAN:
            a, b, c, e = a + s * s, b + t * t, c + u * u, e + v * v
        else:
            a, b = a + abs(s) * s * s, b + abs(t) * t * t
            c, e = c + abs(u) * u * u, e + abs(v) * v * v
    for j in range(d - d % 4, d):
        s = abs(X[x, j] - Q[q, j])
        a += s if metric == MANHATTAN else s * s if metric == EUCLIDEAN else s * s * s
    return (a + b) + (c + e)


@compiled
def nearest_by_columns(blocks, n, Q, metric, p, start, stop, found, points, distances, sums):
    """Fill the heaps of queries start to stop with sums over columns, such as of |x - q|^p.

    For large p they hold the distances. blocks (n / 64, d, 64) hold the points, distances (64,) and
    sums (64,) are scratch space.
    """
    clear(found, points, start, stop)
    for b in range(blocks.shape[0]):
        for i in range(start, stop):
            if metric == MINKOWSKI and p > LARGE_P:
                measure_large_power(blocks[b], Q[i], p, distances, sums)
            else:
                add_columns(blocks[b], Q[i], metric, p, distances)
            keep_nearest(distances, b * BLOCK, n, found[i], points[i])
    for i in range(start, stop):
        sort_heap(found[i], points[i])


@compiled
def nearest_by_gower(
    blocks, n, Q, categorical, ranges, start, stop, found, points, distances, known
):
    """Fill the heaps of queries start to stop with means over the columns known of both.

    As above; categorical (d,) is the mask of categories, ranges (d,) divide differences of numbers,
    NaN is missing, and known (64,) is also scratch space.
    """
    clear(found, points, start, stop)
    for b in range(blocks.shape[0]):
        for i in range(start, stop):
            add_mixed_columns(blocks[b], Q[i], categorical, ranges, distances, known)
            for t in range(BLOCK):
                distances[t] = distances[t] / known[t] if known[t] > 0 else 1.0
            keep_nearest(distances, b * BLOCK, n, found[i], points[i])
    for i in range(start, stop):
        sort_heap(found[i], points[i])


@compiled
def keep_nearest(distances, first, n, found, points):
    """Put the points of a block that are near enough into the heap (k,) of a query."""
    nearest = distances[0]
    for t in range(1, BLOCK):
        nearest = min(nearest, distances[t])
    if nearest < found[0]:
        for t in range(min(BLOCK, n - first)):
            if distances[t] < found[0]:
                sift(found, points, np.float64(distances[t]), first + t, found.shape[0])


@compiled
def add_mixed_columns(block, q, categorical, ranges, distances, known):
    """Write the sums (64,) of distances of a block of points (d, 64), and the known columns."""
    for t in range(BLOCK):
        distances[t] = known[t] = 0.0
    for j in range(block.shape[0]):
        value, column = q[j], block[j]
        if np.isnan(value):
            continue
        if categorical[j]:
            for t in range(BLOCK):
                there = column[t] == column[t]
                known[t] += 1.0 if there else 0.0
                distances[t] += 1.0 if there and column[t] != value else 0.0
        else:
            for t in range(BLOCK):
                there = column[t] == column[t]
                known[t] += 1.0 if there else 0.0
                distances[t] += abs(column[t] - value) / ranges[j] if there else 0.0


@compiled
def add_columns(block, q, metric, p, distances):
    """Write the distances (64,) of a block of points (d, 64) from a query (d,)."""
    for t in range(BLOCK):
        distances[t] = 0.0
    for j in range(block.shape[0]):
        value, column = q[j], block[j]
        if metric == HAMMING:
            for t in range(BLOCK):
                distances[t] += 1.0 if column[t] != value else 0.0
        elif metric == MANHATTAN:
            for t in range(BLOCK):
                distances[t] += abs(column[t] - value)
        elif metric == CHEBYSHEV:
            for t in range(BLOCK):
                distances[t] = max(distances[t], abs(column[t] - value))
        elif metric == EUCLIDEAN or p == 2.0:
            for t in range(BLOCK):
                z = column[t] - value
                distances[t] += z * z
        elif p == 3.0:
            for t in range(BLOCK):
                z = abs(column[t] - value)
                distances[t] += z * z * z
        else:
            for t in range(BLOCK):
                distances[t] += abs(column[t] - value) ** p


@compiled
def measure_large_power(block, q, p, distances, sums):
    """Write distances as the largest difference times the root of a sum of ratios to it."""
    add_columns(block, q, CHEBYSHEV, p, distances)
    for t in range(BLOCK):
        sums[t] = 0.0
    for j in range(block.shape[0]):
        value, column = q[j], block[j]
        for t in range(BLOCK):
            if distances[t] > 0.0:
                sums[t] += (abs(column[t] - value) / distances[t]) ** p
    for t in range(BLOCK):
        distances[t] *= sums[t] ** (1.0 / p)


@compiled
def clear(found, points, start, stop):
    """Fill heaps with points that do not exist, infinitely far away."""
    for i in range(start, stop):
        for a in range(found.shape[1]):
            found[i, a] = np.inf
            points[i, a] = -1


@compiled
def sift(found, points, distance, point, size):
    """Replace the root of a heap by a point, and restore the heap."""
    a = 0
    while True:
        child = 2 * a + 1
        if child >= size:
            break
        if child + 1 < size and is_farther(
            found[child + 1], points[child + 1], found[child], points[child]
        ):
            child += 1
        if not is_farther(found[child], points[child], distance, point):
            break
        found[a], points[a] = found[child], points[child]
        a = child
    found[a], points[a] = distance, point


@compiled
def is_farther(distance, point, other_distance, other_point):
    """Return whether a point is farther away than another, or as far with a higher index."""
    return distance > other_distance or (distance == other_distance and point > other_point)


@compiled
def sort_heap(found, points):
    """Sort a heap (k,): nearest first."""
    for size in range(found.shape[0] - 1, 0, -1):
        distance, point = found[size], points[size]
        found[size], points[size] = found[0], points[0]
        sift(found, points, distance, point, size)
