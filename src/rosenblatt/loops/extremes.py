"""The least and the greatest number of each feature in each bucket.

Legend: X, buckets as in `counts`; low, high (B, d) start at infinity and minus infinity. What is
stored of a CSR row need not be all of it: a feature that some row does not store holds a zero.
"""

import numpy as np

from . import compiled


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
    """Take one number into its cell."""
    x = np.float64(value)
    low[b, j] = min(x, low[b, j])
    high[b, j] = max(x, high[b, j])
    spoiled[b, j] += x - x
