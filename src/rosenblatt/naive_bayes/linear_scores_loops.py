# mypy: ignore-errors
"""Scores of sparse rows that are sums of weights, one for each number or for each presence.

X is (data, indices, indptr) of a CSR matrix, order (m,) the rows to score. With a `threshold`, a
number above it counts as one and another as nothing; with None, numbers count as they are and must
not be negative.
"""

import numpy as np

from rosenblatt.loops import compiled, rows
from rosenblatt.statistics.counts_loops import row

# Weights of features are prefetched this many numbers ahead: they lie anywhere in a table that
# exceeds the cache. Measured with 20 classes: 0.14 s instead of 0.30 s, with 8 ahead 0.17 s.
AHEAD = 16


@compiled(reorder_sums=True)  # several sums at once: one waits for the adder, not for memory
def score_plane(X, order, w, start, threshold, scores, sizes):
    """Fill scores (m,) with `start` plus each row times w (d,), and sizes (m,).

    The size of a row is the sum of its counts. Returns the place in `order` of the first
    row that cannot be scored, -1 if all can.
    """
    for t in range(order.shape[0]):
        numbers, places = row(X, order[t])
        total = size = strange = 0.0
        for p in range(numbers.shape[0]):
            x = counted(numbers[p], threshold)
            total += x * w[np.uint32(places[p])]
            size += x
            strange += strangeness(numbers[p], threshold)
        scores[t], sizes[t] = start + total, size
        if strange != 0 or total - total != 0:
            return t
    return -1


@compiled
def counted(x, threshold):
    """Return what a number counts."""
    if threshold is None:
        return np.float64(x)
    return 1.0 if x > threshold else 0.0


@compiled
def strangeness(x, threshold):
    """Return 0 for a valid count, NaN for a number that is not finite, more for a negative one."""
    x = np.float64(x)
    return abs(x) - x if threshold is None else x * 0.0


@compiled(reorder_sums=True)  # as above
def score_classes(X, order, W, start, threshold, scores, sizes):
    """Fill scores (m, K) as `score_plane` does, with W (d, K) and start (K,).

    Features are taken four at a time: then the scores are read and written a quarter as often.
    """
    data, indices, indptr = X
    n_classes, last = W.shape[1], np.uint64(max(indices.shape[0] - 1, 0))
    for t in range(order.shape[0]):
        totals, i = scores[t], order[t]
        for k in range(n_classes):
            totals[k] = start[k]
        size = 0.0
        first, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        fours = first + (stop - first) // np.uint64(4) * np.uint64(4)
        for p in range(first, fours, np.uint64(4)):
            for q in range(4):
                later = np.int64(indices[min(p + np.uint64(AHEAD + q), last)])
                rows.prefetch_elements(W, later * n_classes, n_classes)
            a, b = counted(data[p], threshold), counted(data[p + 1], threshold)
            c, d = counted(data[p + 2], threshold), counted(data[p + 3], threshold)
            u, v = W[np.uint32(indices[p])], W[np.uint32(indices[p + 1])]
            w, z = W[np.uint32(indices[p + 2])], W[np.uint32(indices[p + 3])]
            for k in range(n_classes):
                totals[k] += (a * u[k] + b * v[k]) + (c * w[k] + d * z[k])
            size += (a + b) + (c + d)
        for p in range(fours, stop):
            a, u = counted(data[p], threshold), W[np.uint32(indices[p])]
            for k in range(n_classes):
                totals[k] += a * u[k]
            size += a
        sizes[t] = size
        strange = 0.0
        for p in range(first, stop):
            strange += strangeness(data[p], threshold)
        for k in range(n_classes):
            strange += totals[k] * 0.0
        if strange != 0:
            return t
    return -1


@compiled
def choose(scores, sizes, unit, codes):
    """Fill codes (m,) with the place of the largest score of each row, the first of equals.

    Scores (m, K) are less certain by `unit` times the row's size; -1 where another might be larger.
    """
    for t in range(codes.shape[0]):
        best, rival = 0, -np.inf
        for k in range(1, scores.shape[1]):
            if scores[t, k] > scores[t, best]:
                rival, best = scores[t, best], k
            elif scores[t, k] > rival:
                rival = scores[t, k]
        sure = not scores[t, best] - rival < unit * sizes[t]
        codes[t] = best if sure else -1
