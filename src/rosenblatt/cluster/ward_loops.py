# mypy: ignore-errors
"""Ward's linkage on centroids: the union that adds least to the sum of squares about them.

Legend: m clusters, centroids C (m, d), shares 1/s (m,) of their sizes s.
"""

import numpy as np

from rosenblatt.loops import compiled


@compiled(reorder_sums=True)  # in partial sums, which are the same for (a, b) and (b, a)
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
