# mypy: ignore-errors
"""Distances of clusters from those of their points: averages, or the greatest squares.

Legend: n points X (n, d) in the order of clusters, also in blocks (n / 16, d, 16); m clusters, of
which k has the points bounds[k] to bounds[k + 1]; codes (n,): the cluster of each point.
"""

import numpy as np

from rosenblatt.loops import compiled

from .linkage_loops import BLOCK, STRIP, squared_rows

SIDE = 32  # of a square that is copied at once


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
    """Add the distances of a cluster's next point to sums (size,), or keep the greater squares."""
    if average:
        for c in range(size):
            sums[c] += np.sqrt(squares[c])
    else:
        for c in range(size):
            sums[c] = squares[c] if squares[c] > sums[c] else sums[c]


@compiled
def add_columns(sums, first, size, bounds, k, average, row):
    """Add sums (size,) of points from `first` on to the row (m,) of their clusters, from k on."""
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


@compiled
def mirror(D, start, stop):
    """Copy what is above the diagonal of D (m, m) to squares start to stop of 32 rows below it."""
    m = D.shape[0]
    for a in range(start * SIDE, min(stop * SIDE, m), SIDE):
        for b in range(0, a + 1, SIDE):
            for i in range(a, min(a + SIDE, m)):
                for k in range(b, min(b + SIDE, i)):
                    D[i, k] = D[k, i]
