# mypy: ignore-errors
"""Complete and average linkage on a square matrix of distances; trees of clusters; silhouettes.

Distances are not negative, so their bit patterns, read as integers, are in the same order. The
minimum of integers compiles to vector instructions, unlike the minimum of floats, because of NaN.

Legend: m clusters, of which some are alive (m,) and the others joined; D (n, n) with D[rows[a], b]
the distance of clusters a and b, infinity for a = b and dead b; sizes (m,).
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import float32x8, float64x4

BLOCK = 4 * float64x4.WIDTH  # points that are measured together
STRIP = 32  # blocks that stay in the cache while rows are read
SIDE = 32  # of a square that is copied at once
TILE = 4 * float32x8.WIDTH  # points outside a spanning tree that are measured together
PART = 512  # of a row that is searched at once


@compiled
def squared_rows(blocks, X, start, stop, first, out):
    """Write the squared distances of rows start to stop of X (m, d) from points in blocks.

    blocks (n / 16, d, 16); out (stop - start, n') begins with the first point of block `first`.
    """
    d = X.shape[1]
    for b in range(first, blocks.shape[0]):
        for i in range(start, stop):
            p = q = r = s = float64x4.spread(0.0)
            at, of = b * d * BLOCK, i * d
            for j in range(d):
                x = float64x4.spread_from(X, of + j)
                p = add_square(blocks, at, x, p)
                q = add_square(blocks, at + 4, x, q)
                r = add_square(blocks, at + 8, x, r)
                s = add_square(blocks, at + 12, x, s)
                at += BLOCK
            at = (i - start) * out.shape[1] + (b - first) * BLOCK
            float64x4.store(out, at, p)
            float64x4.store(out, at + 4, q)
            float64x4.store(out, at + 8, r)
            float64x4.store(out, at + 12, s)


@compiled
def add_square(blocks, at, x, total):
    """Return four sums plus the squares of four differences."""
    z = float64x4.subtract(float64x4.load(blocks, at), x)
    return float64x4.multiply_add(z, z, total)


@compiled
def mirror(D, start, stop):
    """Copy the upper triangle of D (m, m) to the lower, for blocks start to stop of 32 rows."""
    m = D.shape[0]
    for a in range(start * SIDE, min(stop * SIDE, m), SIDE):
        for b in range(0, a + 1, SIDE):
            for i in range(a, min(a + SIDE, m)):
                for k in range(b, min(b + SIDE, i)):
                    D[i, k] = D[k, i]


@compiled
def lowest_place(row, m):
    """Return the index of the least of m integers, the first of equals, and the integer."""
    best, part = row[0], 0
    for first in range(0, m, PART):
        lowest = row[first]
        for b in range(first, min(first + PART, m)):
            lowest = min(lowest, row[b])
        if lowest < best:
            best, part = lowest, first
    while row[part] != best:
        part += 1
    return part, best


@compiled
def chain_steps(clusters, average, chain, length, most, pairs, heights):
    """Follow chains of nearest clusters to reciprocal pairs, and join these.

    clusters is (D, D as integers, rows, sizes, alive). Fills pairs (p, 2) and heights (p,) until
    they are full or `most` distances have been read. Returns the number of pairs that were joined,
    and the length of the chain.
    """
    D, bits, rows, _, alive = clusters
    m = alive.shape[0]
    done = 0
    while done < pairs.shape[0] and most > 0:
        if length == 0:
            chain[0], length = 0, 1
            while not alive[chain[0]]:
                chain[0] += 1
        a = chain[length - 1]
        near, best = lowest_place(bits[rows[a]], m)
        if length > 1 and bits[rows[a], chain[length - 2]] == best:
            near = chain[length - 2]
        most -= m
        if length > 1 and near == chain[length - 2]:
            a, b = max(a, near), min(a, near)  # the union keeps the higher number, as in SciPy
            pairs[done, 0], pairs[done, 1], heights[done] = a, b, D[rows[a], b]
            done += 1
            join_pair(clusters, average, a, b)
            most -= 8 * m  # columns are not contiguous in memory
            length -= 2
        else:
            chain[length] = near
            length += 1
    return done, length


@compiled
def join_pair(clusters, average, a, b):
    """Replace the row and column of a by the union of two clusters."""
    D, bits, rows, sizes, alive = clusters
    own, other = sizes[a], sizes[b]
    x, y, u, v = D[rows[a]], D[rows[b]], bits[rows[a]], bits[rows[b]]
    alive[b] = False
    for c in range(alive.shape[0]):
        if alive[c]:
            if c != a:
                if average:
                    x[c] = (own * x[c] + other * y[c]) / (own + other)
                else:
                    u[c] = max(u[c], v[c])
                D[rows[c], a] = x[c]
            D[rows[c], b] = np.inf
    sizes[a] += sizes[b]


@compiled
def keep_columns(D, rows, columns):
    """Move some columns, in increasing order, to the front of some rows."""
    for row in rows:
        for c in range(columns.shape[0]):
            D[row, c] = D[row, columns[c]]


# Prim's minimum spanning tree of points X (n, d) by Euclidean distance, without a matrix.
#
# The tree grows from one point. All other points have a distance from the tree; the nearest joins,
# and then distances of points that are nearer to it than to the rest of the tree are updated. The
# points outside are in tiles of 32, column by column, in single precision, which shows the tiles
# with points to update. These distances are then computed in doubles. The last point outside takes
# the slot of the point that joins, so that tiles stay full.


@compiled
def prim_steps(
    X, tiles, order, near, squares, limits, lowest, tip, scores, scale, slack, first, last,
    edges, lengths,
):  # fmt: skip
    """Make steps first to last, of n - 1.

    tiles (n / 32, d, 32) holds the points outside, times a scale; order (n,) their numbers, near
    (n,) the nearest points of the tree, squares (n,) their squared distances, limits (n,) the same
    rounded up to single precision; lowest (n / 32,) the least square of each tile. tip (d,) is the
    point that joined last, as in tiles; order[n - 1] is its number. scores (32,) is scratch space.
    Writes edges (n - 1, 2) and lengths (n - 1,), which are squares.
    """
    n = X.shape[0]
    for step in range(first, last):
        waiting, joined = n - 1 - step, order[n - 1 - step]
        best, place = np.inf, 0
        for t in range((waiting + TILE - 1) // TILE):
            if may_be_nearer(tiles, t, tip, limits, scores):
                measure(X, t, joined, order, near, squares, limits, lowest, scores, scale, slack)
            if lowest[t] < best:
                best, place = lowest[t], t
        slot = place * TILE
        while squares[slot] != best:
            slot += 1
        edges[step, 0], edges[step, 1], lengths[step] = near[slot], order[slot], best
        take_out(tiles, slot, waiting - 1, order, near, squares, limits, lowest, tip)


@compiled
def may_be_nearer(tiles, t, tip, limits, scores):
    """Return if a point of tile t may be within its limit of the tip; if so, fill scores (32,)."""
    d = tiles.shape[1]
    at = t * d * TILE
    a = b = c = e = float32x8.zeros()
    for j in range(d):
        x = float32x8.spread_from(tip, j)
        a = add_square_float32(tiles, at, x, a)
        b = add_square_float32(tiles, at + 8, x, b)
        c = add_square_float32(tiles, at + 16, x, c)
        e = add_square_float32(tiles, at + 24, x, e)
        at += TILE
    k = t * TILE
    if not (
        float32x8.any_below(a, float32x8.load(limits, k))
        or float32x8.any_below(b, float32x8.load(limits, k + 8))
        or float32x8.any_below(c, float32x8.load(limits, k + 16))
        or float32x8.any_below(e, float32x8.load(limits, k + 24))
    ):
        return False
    float32x8.store(scores, 0, a)
    float32x8.store(scores, 8, b)
    float32x8.store(scores, 16, c)
    float32x8.store(scores, 24, e)
    return True


@compiled
def add_square_float32(tiles, at, x, total):
    """Return eight sums plus the squares of eight differences."""
    z = float32x8.subtract(float32x8.load(tiles, at), x)
    return float32x8.multiply_add(z, z, total)


@compiled
def measure(X, t, joined, order, near, squares, limits, lowest, scores, scale, slack):
    """Update the points of tile t that are nearer to the point that joined."""
    for k in range(TILE):
        slot = t * TILE + k
        if scores[k] < limits[slot]:
            square = 0.0
            for j in range(X.shape[1]):
                z = X[order[slot], j] - X[joined, j]
                square += z * z
            if square < squares[slot]:
                squares[slot], near[slot] = square, joined
                length = np.sqrt(square) * scale + slack  # an upper bound in single precision
                limits[slot] = length * length * (1.0 + slack)
                lowest[t] = min(lowest[t], square)


@compiled
def take_out(tiles, slot, last, order, near, squares, limits, lowest, tip):
    """Make the point of a slot the tip, and move the last point outside to the slot."""
    t, k, u, v = slot // TILE, slot % TILE, last // TILE, last % TILE
    joined = order[slot]
    for j in range(tiles.shape[1]):
        tip[j] = tiles[t, j, k]
        tiles[t, j, k] = tiles[u, j, v]
    order[slot], near[slot], squares[slot] = order[last], near[last], squares[last]
    limits[slot] = limits[last]
    order[last], squares[last], limits[last] = joined, np.inf, -1.0
    lowest[t], lowest[u] = lowest_of(squares, t), lowest_of(squares, u)


@compiled
def lowest_of(squares, t):
    """Return the least square of a tile."""
    best = squares[t * TILE]
    for k in range(1, TILE):
        best = min(best, squares[t * TILE + k])
    return best


@compiled
def number_clusters(pairs, order, heights, parent, sizes, Z):
    """Write SciPy's linkage matrix Z (n - 1, 4).

    pairs (n - 1, 2) has a point of each of the clusters that were joined; order (n - 1,) is the
    order of heights (n - 1,). parent (2 n - 1,) is -1 and sizes (2 n - 1,) 1 for each point.
    """
    n = pairs.shape[0] + 1
    for k in range(n - 1):
        a, b = root(parent, pairs[order[k], 0]), root(parent, pairs[order[k], 1])
        parent[a] = parent[b] = n + k
        sizes[n + k] = sizes[a] + sizes[b]
        Z[k, 0], Z[k, 1] = min(a, b), max(a, b)
        Z[k, 2], Z[k, 3] = heights[order[k]], sizes[n + k]


@compiled
def root(parent, a):
    """Return the cluster of a, with path compression."""
    top = a
    while parent[top] >= 0:
        top = parent[top]
    while parent[a] >= 0:
        parent[a], a = top, parent[a]
    return top


@compiled(reorder_sums=True)
def total(values):
    """Return the sum of some values, by partial sums."""
    found = 0.0
    for t in range(values.shape[0]):
        found += values[t]
    return found


@compiled
def lift(pairs, heights, parent, reached):
    """Raise each height (n - 1,) to the heights of the two clusters that it joins.

    Parts come before unions. parent (2 n - 1,) is -1; reached (n,) are heights by root point.
    """
    for k in range(pairs.shape[0]):
        a, b = root(parent, pairs[k, 0]), root(parent, pairs[k, 1])
        heights[k] = max(heights[k], max(reached[a], reached[b]))
        parent[b] = a
        reached[a] = heights[k]


@compiled
def label_leaves(children, heads, labels):
    """Label the points below each head with its index; labels (2 n - 1,) are for all nodes."""
    n = children.shape[0] + 1
    for node in range(2 * n - 1):
        labels[node] = -1
    for k in range(heads.shape[0]):
        labels[heads[k]] = k
    for node in range(2 * n - 2, n - 1, -1):
        if labels[node] >= 0:
            labels[children[node - n, 0]] = labels[node]
            labels[children[node - n, 1]] = labels[node]


@compiled
def compare_rows(distances, bits, codes, bounds, silhouettes, nearest):
    """Fill the silhouette of each row from distances (rows, n); update nearest (K, K).

    bits (rows, n) and nearest are distances as integers. Cluster k has the columns bounds[k] to
    bounds[k + 1]; codes (rows,). With a the mean distance from the other rows of the cluster and b
    the mean distance from the nearest other cluster, the silhouette is ``(b - a) / max(a, b)``, and
    zero for a row alone in its cluster.
    """
    for i in range(distances.shape[0]):
        inside, outside = 0.0, np.inf
        for k in range(bounds.shape[0] - 1):
            size = bounds[k + 1] - bounds[k]
            sum_of_all = total(distances[i, bounds[k] : bounds[k + 1]])
            if k == codes[i]:
                inside = sum_of_all / (size - 1) if size > 1 else -1.0
            else:
                outside = min(outside, sum_of_all / size)
                least = nearest[codes[i], k]
                for t in range(bounds[k], bounds[k + 1]):
                    least = min(least, bits[i, t])
                nearest[codes[i], k] = least
        larger = max(inside, outside)
        silhouettes[i] = (outside - inside) / larger if inside >= 0.0 and larger > 0.0 else 0.0
