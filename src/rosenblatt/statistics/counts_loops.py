# mypy: ignore-errors
"""Sums by bucket: one read of the rows, each number added where its row's bucket says.

Legend: X rows of numbers (see `rows`); buckets (n,) the bucket of each row (its class, or its group
and class together), -1 for a row to leave out; weights (n,) or None, which counts every row once.
Whole numbers are added exactly, others as doubles.
"""

import numpy as np

from rosenblatt.loops import JIT_DISABLED, compiled


@compiled
def row(X, i):
    """Return the values of row i of a CSR table, and their columns.

    Slices: that the places in them are never negative spares a test at every element.
    """
    data, indices, indptr = X
    return data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]


@compiled
def sum_whole(X, buckets, weights, most, sums):
    """Add weight times number to integers sums (B, d), for whole numbers that are not negative.

    Doubles hold whole numbers up to 2**53 exactly; `most` is so small that no sum passes that.
    Returns the first row whose numbers are not whole, or times its weight sum to more than `most`,
    and stops there with invalid sums; -1 if there is no such row.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = 1.0 if weights is None else np.float64(weights[i])
        # A row is checked after it was added, while it is in cache.
        if isinstance(X, tuple):
            numbers, places = row(X, i)
            for p in range(numbers.shape[0]):
                sums[b, np.uint32(places[p])] += whole_part(weight * numbers[p])
            if not are_whole(numbers, most / weight):
                return i
        else:
            for j in range(X.shape[1]):
                sums[b, j] += whole_part(weight * X[i, j])
            if not are_whole(X[i], most / weight):
                return i
    return -1


@compiled
def whole_part(x):
    """Return a number without its fraction; any integer if it is out of range."""
    if JIT_DISABLED and not abs(x) < 2.0**63:  # which Python refuses to convert
        return np.int64(0)
    return np.int64(x)


@compiled(reorder_sums=True)  # sums of whole numbers are the same in any order
def are_whole(numbers, most):
    """Return True if numbers (m,) are whole, not negative, and sum to at most `most`.

    Three sums of terms that cannot be negative take a tenth of the time of three tests.
    """
    fractions = negative = total = 0.0
    for p in range(numbers.shape[0]):
        x = np.float64(numbers[p])
        fractions += x - np.floor(x)
        negative += abs(x) - x
        total += x
    return fractions == 0 and negative == 0 and total <= most


@compiled
def sum_real(X, buckets, weights, sums):
    """Add weight times number to sums (B, d), for numbers that are not negative.

    Returns the first row with a negative number or one that is not finite, with invalid sums; -1
    if there is no such row.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = 1.0 if weights is None else weights[i]
        if isinstance(X, tuple):
            numbers, places = row(X, i)
            for p in range(numbers.shape[0]):
                sums[b, np.uint32(places[p])] += weight * np.float64(numbers[p])
            if not are_counts(numbers):
                return i
        else:
            for j in range(X.shape[1]):
                sums[b, j] += weight * np.float64(X[i, j])
            if not are_counts(X[i]):
                return i
    return -1


@compiled(reorder_sums=True)  # the sums are only compared with zero and infinity
def are_counts(numbers):
    """Return True if numbers (m,) are finite and not negative."""
    negative = total = 0.0
    for p in range(numbers.shape[0]):
        x = np.float64(numbers[p])
        negative += abs(x) - x
        total += x
    return negative == 0 and total < np.inf


@compiled
def count_present(X, buckets, weights, threshold, sums):
    """Add the weight of each row to sums (B, d) where its number is above the threshold.

    The threshold is at least 0, so that the zeros that CSR does not store are never above it.
    Returns the first row that holds a number that is not finite; -1 if none does.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = sums.dtype.type(1) if weights is None else sums.dtype.type(weights[i])
        strange = 0.0  # a finite number less itself is zero, another NaN
        if isinstance(X, tuple):
            numbers, places = row(X, i)
            for p in range(numbers.shape[0]):
                x = np.float64(numbers[p])
                strange += x - x
                sums[b, np.uint32(places[p])] += weight if x > threshold else 0
        else:
            for j in range(X.shape[1]):
                x = np.float64(X[i, j])
                strange += x - x
                sums[b, j] += weight if x > threshold else 0
        if strange != 0:
            return i
    return -1


@compiled
def count_categories(X, buckets, weights, starts, sums):
    """Add the weight of each row to sums (B, c), in a cell for each feature.

    X (n, d) holds category numbers, -1 for a missing one; those of feature j begin at starts[j].
    """
    for i in range(X.shape[0]):
        b = buckets[i]
        if b >= 0:
            weight = sums.dtype.type(1) if weights is None else sums.dtype.type(weights[i])
            for j in range(X.shape[1]):
                if X[i, j] >= 0:
                    sums[b, starts[j] + X[i, j]] += weight


# Minimum and maximum of each feature in each bucket.
#
# Legend: X, buckets as above; low, high (B, d) start at infinity and minus infinity. What is
# stored of a CSR row need not be all of it: a feature that some row does not store holds a zero.


@compiled
def widen(X, buckets, low, high, stored, spoiled):
    """Widen low and high (B, d) to hold every number of the rows.

    Counts what CSR rows store in stored (B, d); makes spoiled (B, d) NaN where a number is NaN or
    infinite, since x - x is zero for all others.
    """
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint32(indices[p])
                stored[b, j] += 1
                widen_cell(data[p], low, high, spoiled, b, j)
        else:
            for j in range(X.shape[1]):
                widen_cell(X[i, j], low, high, spoiled, b, j)


@compiled
def widen_cell(value, low, high, spoiled, b, j):
    """Widen low and high of one cell."""
    x = np.float64(value)
    low[b, j] = min(x, low[b, j])
    high[b, j] = max(x, high[b, j])
    spoiled[b, j] += x - x
