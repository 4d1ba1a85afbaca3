# mypy: ignore-errors
"""Complete and average linkage on a square matrix of distances; what all linkages share.

In each round, pairs of clusters that are nearest to each other are joined at once. Their rows of
the matrix are joined; what this means for columns is written down as a step, which a row takes when
it is read again. A union is no nearer to others than both of its parts were, so only those need be
read whose nearest is gone, half of them. When many columns are dead, the others move together, as a
step too. Where pairs are few, a chain of nearest neighbours joins one pair at a time.

Distances are not negative, and so their bit patterns, read as integers, are in the same order.
Least and greatest integers compile to vector instructions; those of floating point do not, since a
NaN would have to be kept.

Legend: m clusters, of which some are alive (m,) and the others joined; D (n, n) with D[rows[a], b]
the distance of clusters a and b, infinity for a = b and dead b; bits: D as integers; sizes (m,);
seen (m,): how many steps the row of a cluster has taken.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import float64x4

BLOCK = 4 * float64x4.WIDTH  # points that are measured together
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
def write_distances(blocks, X, start, stop, squared, D, squares, tile):
    """Write the distances of rows start to stop of X (n, d), or their squares, from all later ones
    to rows and columns of D (n, n); start is a multiple of 16, of which there are at most as many.

    They are computed in doubles and rounded once to the precision of D; a row is infinitely far
    from itself. squares (1, 512) and tile (512, 16) are scratch space: columns are written in
    pieces as long as a block.
    """
    n, one = D.shape[0], start // BLOCK
    for b in range(one, blocks.shape[0], STRIP):
        strip = blocks[b : b + STRIP]
        first = b * BLOCK
        size = min(n - first, STRIP * BLOCK)
        for i in range(start, stop):
            squared_rows(strip, X, i, i + 1, 0, squares)
            if not squared:
                take_roots(squares[0])
            row = D[i, first : first + size]
            for c in range(size):
                row[c] = squares[0, c]
                tile[c, i - start] = squares[0, c]
            if b == one:
                row[i - first] = np.inf
        for c in range(BLOCK if b == one else 0, size):
            column = D[first + c, start:stop]
            for r in range(stop - start):
                column[r] = tile[c, r]


@compiled
def take_roots(squares):
    """Replace squares (n,) by their roots."""
    for c in range(squares.shape[0]):
        squares[c] = np.sqrt(squares[c])


@compiled
def add_square(blocks, at, x, total):
    """The squares of four differences, added to four sums."""
    z = float64x4.subtract(float64x4.load(blocks, at), x)
    return float64x4.multiply_add(z, z, total)


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
def join_rows(bits, rows, seen, steps, pairs, parts, average, infinity, start, stop, D, x, u):
    """Join the rows of pairs (p, 2) start to stop: row a becomes the distances of the union.

    The second of each pair has parts (p,) of the union. Both rows catch up with the steps first.
    x (2, n) and u, the same as integers, are scratch space.
    """
    for p in range(start, stop):
        a, b = pairs[p, 0], pairs[p, 1]
        catch_up(bits[rows[a]], seen[a], steps, average, infinity, x[0], u[0])
        catch_up(bits[rows[b]], seen[b], steps, average, infinity, x[1], u[1])
        seen[a] = steps[3].shape[0] - 1
        if average:
            row, part = D[rows[a]], parts[p]
            for c in range(rows.shape[0]):
                row[c] = (1.0 - part) * x[0, c] + part * x[1, c]
        else:
            union = bits[rows[a]]
            for c in range(rows.shape[0]):
                union[c] = max(u[0, c], u[1, c])


@compiled
def find_nearest(bits, rows, seen, steps, average, infinity, start, stop, near, least, x, u):
    """Find the nearest of clusters start to stop where it is unknown (-1).

    x (n,) and u, the same as integers, are scratch space.
    """
    m = rows.shape[0]
    for a in range(start, stop):
        if near[a] < 0:
            row = bits[rows[a]]
            catch_up(row, seen[a], steps, average, infinity, x, u)
            u[a] = infinity
            near[a], least[a] = lowest_place(u, m)
            if seen[a] < steps[3].shape[0] - 1:
                for c in range(m):
                    row[c] = u[c]
            seen[a] = steps[3].shape[0] - 1


@compiled
def catch_up(row, seen, steps, average, infinity, x, u):
    """Take the steps that a row has not seen, in a copy: columns are joined, or moved together.

    Writes x (n,) and u, the same as integers. steps: pairs (p, 2), parts (p,), columns (c,) that
    were kept, and ends (s + 1, 3): where the pairs and the columns of each step begin, and how
    many columns there were.
    """
    pairs, parts, columns, ends = steps
    for c in range(ends[seen, 2]):  # in order: pairs are anywhere in a row, which memory is slow at
        u[c] = row[c]
    for s in range(seen, ends.shape[0] - 1):
        for p in range(ends[s, 0], ends[s + 1, 0]):
            b, c = pairs[p, 0], pairs[p, 1]
            if average:
                x[b] += parts[p] * (x[c] - x[b])
            else:
                u[b] = max(u[b], u[c])
            u[c] = infinity
        kept = columns[ends[s, 1] : ends[s + 1, 1]]
        for c in range(kept.shape[0]):
            u[c] = u[kept[c]]


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
def add_all_distances(
    blocks, X, start, stop, squared, parent, last, average, nodes, totals, squares
):
    """The same as `add_distances`, of rows X (n, d) in the order of leaves.

    squares (1, 512) is scratch space.
    """
    one = start // BLOCK
    for b in range(one, blocks.shape[0], STRIP):
        first = b * BLOCK
        for i in range(start, stop):
            squared_rows(blocks[b : b + STRIP], X, i, i + 1, 0, squares)
            if not squared:
                take_roots(squares[0])
            skip = max(i + 1 - first, 0)
            size = min(X.shape[0] - first, STRIP * BLOCK)
            nodes[i] = add_row(
                squares[0, skip:size], first + skip, nodes[i], parent, last, average, totals
            )


@compiled
def add_distances(distances, start, parent, last, average, nodes, totals):
    """Add the distances of leaves start, start + 1, ... from all later ones to the joins they
    cross.

    distances (rows, n - start) in the order of leaves; the leaves of cluster k end before last[k];
    parent (2 n - 1,). nodes (n,) arrives with the points in the order of leaves. totals (2 n - 1,)
    gets sums of distances (average), or the greatest.
    """
    for r in range(distances.shape[0]):
        add_row(
            distances[r, r + 1 :], start + r + 1, nodes[start + r], parent, last, average, totals
        )


@compiled
def add_row(values, at, k, parent, last, average, totals):
    """Add the distances of a leaf from those numbered `at` and higher; k is a cluster of the leaf.

    Returns the cluster that the last of them is in, too.
    """
    begin, stop = at, at + values.shape[0]
    while at < stop:
        while last[k] <= at:  # all of its leaves have been counted
            k = parent[k]
        end = min(last[k], stop)
        some = values[at - begin : end - begin]
        if average:
            totals[k] += total(some)
        else:
            totals[k] = max(totals[k], greatest(some))
        at = end
    return k


@compiled(reorder_sums=True)
def total(values):
    """The sum of some values: several partial sums at once."""
    found = 0.0
    for t in range(values.shape[0]):
        found += values[t]
    return found


@compiled
def greatest(values):
    """The greatest of some values that are not negative."""
    found = 0.0
    for t in range(values.shape[0]):
        found = max(found, values[t])
    return found


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
def compare_rows(distances, bits, codes, bounds, silhouettes, nearest):
    """The silhouette of each row, from its distances (rows, n) to all; nearest (K, K) is lowered.

    bits (rows, n) are the distances as integers, and nearest too. Cluster k has the columns
    bounds[k] to bounds[k + 1]; codes (rows,). With a the mean distance from the others of its own
    cluster and b that from the nearest other cluster, the silhouette is ``(b - a) / max(a, b)``,
    and zero for a row alone in its cluster.
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
