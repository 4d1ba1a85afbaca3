"""Complete and average linkage on a square matrix of distances; what all linkages share.

In each round, pairs of clusters that are nearest to each other are joined at once: rows of the
matrix first, then columns. Where such pairs are few, a chain of nearest neighbours joins one pair
at a time. When many columns are dead, the others move together.

Distances are not negative, and so their bit patterns, read as integers, are in the same order.
Least and greatest integers compile to vector instructions; those of floating point do not, since a
NaN would have to be kept.

Legend: m clusters, of which some are alive (m,) and the others joined; D (n, n) with D[rows[a], b]
the distance of clusters a and b, infinity for a = b and dead b; bits: D as integers; sizes (m,).
"""

import numpy as np

from . import compiled
from .simd import lanes

BLOCK = 4 * lanes.WIDTH  # points that are measured together
STRIP = 32  # blocks that stay near the processor while rows go by
PART = 512  # of a row that is searched at once


@compiled
def squared_rows(blocks, X, start, stop, first, out):
    """Write the squared distances of rows start to stop of X (m, d) from those in blocks (n / 16,
    d, 16).

    out (stop - start, n') begins with the first point of block `first`.
    """
    d = X.shape[1]
    for b in range(first, blocks.shape[0]):
        for i in range(start, stop):
            p = q = r = s = lanes.spread(0.0)
            at, of = b * d * BLOCK, i * d
            for j in range(d):
                x = lanes.spread_from(X, of + j)
                p = add_square(blocks, at, x, p)
                q = add_square(blocks, at + 4, x, q)
                r = add_square(blocks, at + 8, x, r)
                s = add_square(blocks, at + 12, x, s)
                at += BLOCK
            at = (i - start) * out.shape[1] + (b - first) * BLOCK
            lanes.store(out, at, p)
            lanes.store(out, at + 4, q)
            lanes.store(out, at + 8, r)
            lanes.store(out, at + 12, s)


@compiled
def distance_rows(blocks, X, start, stop, squared, out, squares):
    """Write the distances of rows start to stop of X (n, d), or their squares, to out (rows, n).

    They are computed in doubles and rounded once to the precision of out. squares (1, 512) is
    scratch space.
    """
    n = out.shape[1]
    for b in range(0, blocks.shape[0], STRIP):
        strip = blocks[b : b + STRIP]
        first = b * BLOCK
        size = min(n - first, STRIP * BLOCK)
        for i in range(start, stop):
            squared_rows(strip, X, i, i + 1, 0, squares)
            row, found = out[i - start, first : first + size], squares[0]
            if squared:
                for c in range(size):
                    row[c] = found[c]
            else:
                for c in range(size):
                    row[c] = np.sqrt(found[c])


@compiled
def add_square(blocks, at, x, total):
    """The squares of four differences, added to four sums."""
    z = lanes.subtract(lanes.load(blocks, at), x)
    return lanes.multiply_add(z, z, total)


@compiled
def lowest_place(row, m):
    """The first place of the least of m integers, and the integer."""
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
def join_rows(D, bits, rows, pairs, parts, average, start, stop):
    """Join the rows of pairs (p, 2) start to stop: row a becomes the distances of the union.

    The second of each pair has parts (p,) of the union.
    """
    for p in range(start, stop):
        a, b = pairs[p, 0], pairs[p, 1]
        if average:
            x, y = D[rows[a]], D[rows[b]]
            part = parts[p]
            for c in range(rows.shape[0]):
                x[c] = (1.0 - part) * x[c] + part * y[c]
        else:
            u, v = bits[rows[a]], bits[rows[b]]
            for c in range(rows.shape[0]):
                u[c] = max(u[c], v[c])


@compiled
def join_columns(D, bits, rows, pairs, parts, average, alive, start, stop, infinity, near, least):
    """Join columns of pairs in rows start to stop; find the nearest where it is unknown (-1)."""
    m = rows.shape[0]
    for a in range(start, stop):
        if not alive[a]:
            continue
        x, u = D[rows[a]], bits[rows[a]]
        for p in range(pairs.shape[0]):
            b, c = pairs[p, 0], pairs[p, 1]
            if average:
                x[b] += parts[p] * (x[c] - x[b])
            else:
                u[b] = max(u[b], u[c])
            u[c] = infinity
        u[a] = infinity
        if near[a] < 0:
            near[a], least[a] = lowest_place(u, m)


@compiled
def move_columns(bits, rows, columns, start, stop):
    """Keep the columns (m',) of rows start to stop, moved together."""
    for a in range(start, stop):
        u = bits[rows[a]]
        for c in range(columns.shape[0]):
            u[c] = u[columns[c]]


@compiled
def make_symmetric(D, rows, alive, start, stop):
    """Copy what is below the diagonal to above it: averages differ by their rounding."""
    for a in range(start, stop):
        if alive[a]:
            for b in range(a):
                if alive[b]:
                    D[rows[b], a] = D[rows[a], b]


@compiled
def chain_steps(D, bits, rows, sizes, alive, average, chain, length, most, infinity, pairs, least):
    """Follow a chain of nearest clusters to a pair that are nearest to each other; join it; repeat.

    Fills pairs (p, 2) and least (p,) until they are full or `most` distances have been read. alive
    (m,) is 1 for clusters that are left. Returns how many pairs were joined, and the length of the
    chain.
    """
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
            pairs[done, 0], pairs[done, 1], least[done] = a, b, best
            done += 1
            join_pair(D, bits, rows, sizes, alive, average, infinity, a, b)
            most -= 8 * m  # columns are not next to each other in memory
            length -= 2
        else:
            chain[length] = near
            length += 1
    return done, length


@compiled
def join_pair(D, bits, rows, sizes, alive, average, infinity, a, b):
    """Put the union of two clusters into the row and column of a."""
    own, other = sizes[a], sizes[b]
    x, y, u, v = D[rows[a]], D[rows[b]], bits[rows[a]], bits[rows[b]]
    alive[b] = 0
    for c in range(alive.shape[0]):
        if alive[c]:
            if c != a:
                if average:
                    x[c] = (own * x[c] + other * y[c]) / (own + other)
                else:
                    u[c] = max(u[c], v[c])
                D[rows[c], a] = x[c]
            bits[rows[c], b] = infinity
    sizes[a] += sizes[b]


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
    """The cluster that a is in now; ways to it are made shorter."""
    top = a
    while parent[top] >= 0:
        top = parent[top]
    while parent[a] >= 0:
        parent[a], a = top, parent[a]
    return top


@compiled
def order_leaves(children, first, leaves):
    """The points in the order of the tree: cluster k has those from first[k] on, next to each
    other.

    Reads children (n - 1, 2); writes first (2 n - 1,), which arrives with the sizes of the
    clusters, and leaves (n,).
    """
    n = leaves.shape[0]
    size = first[children[n - 2, 0]]
    first[2 * n - 2] = 0
    for k in range(n - 2, -1, -1):
        a, b = children[k, 0], children[k, 1]
        size = first[a]
        first[a] = first[n + k]
        first[b] = first[n + k] + size
    for i in range(n):
        leaves[first[i]] = i


@compiled
def add_distances(distances, start, leaves, parent, first, last, average, totals):
    """Add the distances of leaves start, start + 1, ... from all later ones to the joins they
    cross.

    distances (rows, n - start) in the order of leaves; cluster k has the leaves first[k] to
    last[k]; parent (2 n - 1,). totals (2 n - 1,) gets sums of distances (average), or the greatest.
    """
    for r in range(distances.shape[0]):
        i, k = start + r, leaves[start + r]
        at = i + 1
        while at < leaves.shape[0]:
            k = parent[k]
            while last[k] <= at:  # all of its leaves have been counted
                k = parent[k]
            total = 0.0
            for t in range(at, last[k]):
                value = distances[r, t - start]
                total = total + value if average else max(total, value)
            totals[k] = totals[k] + total if average else max(totals[k], total)
            at = last[k]


@compiled
def lift(pairs, heights, parent, reached):
    """Lift each height (n - 1,) to those of the two clusters that it joins, the parts come first.

    parent (2 n - 1,) is -1; reached (n,) is the height of the cluster of each root point.
    """
    for k in range(pairs.shape[0]):
        a, b = root(parent, pairs[k, 0]), root(parent, pairs[k, 1])
        heights[k] = max(heights[k], max(reached[a], reached[b]))
        parent[b] = a
        reached[a] = heights[k]


@compiled
def label_leaves(children, heads, labels):
    """Label the points below each head with its place; labels (2 n - 1,) are those of all nodes."""
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
def compare_rows(distances, codes, bounds, silhouettes, nearest):
    """The silhouette of each row, from its distances (rows, n) to all; nearest (K, K) is lowered.

    Cluster k has the columns bounds[k] to bounds[k + 1]; codes (rows,). With a the mean distance
    from the others of its own cluster and b that from the nearest other cluster, the silhouette is
    ``(b - a) / max(a, b)``, and zero for a row alone in its cluster.
    """
    for i in range(distances.shape[0]):
        inside, outside = 0.0, np.inf
        for k in range(bounds.shape[0] - 1):
            total, least = 0.0, np.inf
            for t in range(bounds[k], bounds[k + 1]):
                total += distances[i, t]
                least = min(least, distances[i, t])
            size = bounds[k + 1] - bounds[k]
            if k == codes[i]:
                inside = total / (size - 1) if size > 1 else -1.0
            else:
                outside = min(outside, total / size)
                nearest[codes[i], k] = min(nearest[codes[i], k], least)
        larger = max(inside, outside)
        silhouettes[i] = (outside - inside) / larger if inside >= 0.0 and larger > 0.0 else 0.0
