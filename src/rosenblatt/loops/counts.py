"""Sums by bucket: one read of the rows, each number added where its row's bucket says.

Legend: X rows of numbers (see `rows`); buckets (n,) the bucket of each row (its class, or its group
and class together), -1 for a row to leave out; weights (n,) or None, which counts every row once.
Whole numbers are added as 64-bit integers and are exact. Others are added as pairs of doubles (see
`pairs`): sums (2, B, d) holds the high numbers, then the low.
"""

import numpy as np

from . import compiled
from .pairs import two_product, two_sum


@compiled
def count_rows(buckets, weights, n_rows, totals):
    """Add each row to n_rows (B,) and its weight to the pairs totals (2, B)."""
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b >= 0:
            n_rows[b] += 1
            weight = 1.0 if weights is None else np.float64(weights[i])
            totals[0, b], rest = two_sum(totals[0, b], weight)
            totals[1, b] += rest


@compiled
def sum_whole(X, buckets, weights, most, sums):
    """Add weight times number to sums (B, d) of integers.

    Returns the first row where weight times number is not a whole number from 0 to `most`, and
    stops there; -1 if there is none.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = np.int64(1) if weights is None else np.int64(weights[i])
        largest = most // weight
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                if not is_whole(data[p], largest):
                    return i
                sums[b, np.uint32(indices[p])] += weight * np.int64(data[p])
        else:
            for j in range(X.shape[1]):
                if not is_whole(X[i, j], largest):
                    return i
                sums[b, j] += weight * np.int64(X[i, j])
    return -1


@compiled
def is_whole(x, largest):
    """Whether x is a whole number from 0 to `largest`; no other is turned into an integer."""
    return 0 <= x <= largest and np.int64(x) == x


@compiled
def sum_real(X, buckets, weights, sums):
    """Add weight times number to the pairs sums (2, B, d).

    Returns the first row that holds a negative number or one that is not finite; -1 if none does.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = 1.0 if weights is None else np.float64(weights[i])
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                if not 0 <= data[p] < np.inf:
                    return i
                add_product(weight, np.float64(data[p]), sums, b, np.uint32(indices[p]))
        else:
            for j in range(X.shape[1]):
                if not 0 <= X[i, j] < np.inf:
                    return i
                add_product(weight, np.float64(X[i, j]), sums, b, j)
    return -1


@compiled
def add_product(weight, x, sums, b, j):
    """Add weight times x to one cell of pairs."""
    product, error = two_product(weight, x)
    sums[0, b, j], rest = two_sum(sums[0, b, j], product)
    sums[1, b, j] += rest + error


@compiled
def count_present(X, buckets, weights, threshold, sums):
    """Add the weight of each row to sums (B, d) where its number is above the threshold.

    The threshold is at least 0, so that the zeros that CSR does not store are never above it.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = np.int64(1) if weights is None else np.int64(weights[i])
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                sums[b, np.uint32(indices[p])] += weight if data[p] > threshold else 0
        else:
            for j in range(X.shape[1]):
                sums[b, j] += weight if X[i, j] > threshold else 0


@compiled
def weigh_present(X, buckets, weights, threshold, sums):
    """As `count_present`, for weights (n,) that are not whole and pairs sums (2, B, d)."""
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = np.float64(weights[i])
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                if data[p] > threshold:
                    add_product(weight, 1.0, sums, b, np.uint32(indices[p]))
        else:
            for j in range(X.shape[1]):
                if X[i, j] > threshold:
                    add_product(weight, 1.0, sums, b, j)


@compiled
def count_categories(X, buckets, weights, starts, sums):
    """Add the weight of each row to the integers sums (B, c), in a cell for each feature.

    X (n, d) holds category numbers, -1 for a missing one; those of feature j begin at starts[j].
    """
    for i in range(X.shape[0]):
        b = buckets[i]
        if b >= 0:
            weight = np.int64(1) if weights is None else np.int64(weights[i])
            for j in range(X.shape[1]):
                if X[i, j] >= 0:
                    sums[b, starts[j] + X[i, j]] += weight


@compiled
def weigh_categories(X, buckets, weights, starts, sums):
    """As `count_categories`, for weights (n,) that are not whole and pairs sums (2, B, c)."""
    for i in range(X.shape[0]):
        b = buckets[i]
        if b >= 0:
            for j in range(X.shape[1]):
                if X[i, j] >= 0:
                    add_product(np.float64(weights[i]), 1.0, sums, b, starts[j] + X[i, j])
