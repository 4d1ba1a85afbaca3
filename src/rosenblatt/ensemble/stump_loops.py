# mypy: ignore-errors
"""The best stump for each column: one scan over its rows in the order of their values.

With W the weight of all rows, p_k the share of class k in it, and w, l_k the weight and the class
weights of the rows on the left, the Gini impurity falls by ``sum_k (l_k - p_k w)**2 / (w (W - w))``
up to a constant factor. Fractions are compared by cross products, so nothing is divided.
"""

import numpy as np

from rosenblatt.loops import compiled

HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
ONE = np.uint64(1)


@compiled
def scan_two_classes(entries, first, last, pairs, total, gains, cuts):
    """Find the best cut of columns first..last, of two classes.

    entries (d, n) are those of `tree_columns.sort_column` with the class in the lowest bit. pairs
    (n, 2) has the weight w of each row, of all rows `total`, and ``w (c - p)``: c is 1 for a row of
    the second class, else 0, and p its share. Writes to gains (d,) what each column gains, -1 if
    it cannot be cut, and to cuts (d,) how many entries go left.
    """
    n = entries.shape[1]
    for j in range(first, last):
        entry = entries[j]
        left, lead, best, scale, cut = 0.0, 0.0, -1.0, 1.0, 0
        for p in range(n - 1):
            key = entry[p]
            row = (key & LOW_HALF) >> ONE
            left += pairs[row, 0]
            lead += pairs[row, 1]
            if (entry[p + 1] ^ key) >> HALF:
                product = left * (total - left)
                if lead * lead * scale > best * product and product > 0:
                    best, scale, cut = lead * lead, product, p + 1
        gains[j] = best / scale
        cuts[j] = cut


@compiled
def scan_classes(entries, first, last, weight, codes, shares, total, sums, gains, cuts):
    """The same of any number of classes: codes (n,) of the rows, shares (K,); scratch: sums (K,).

    The lowest bits of the entries hold the row alone.
    """
    n, K = entries.shape[1], shares.shape[0]
    for j in range(first, last):
        entry = entries[j]
        for k in range(K):
            sums[k] = 0.0
        left, best, scale, cut = 0.0, -1.0, 1.0, 0
        for p in range(n - 1):
            key = entry[p]
            row = key & LOW_HALF
            left += weight[row]
            sums[codes[row]] += weight[row]
            if (entry[p + 1] ^ key) >> HALF:
                lead = 0.0
                for k in range(K):
                    lead += (sums[k] - shares[k] * left) ** 2
                product = left * (total - left)
                if lead * scale > best * product and product > 0:
                    best, scale, cut = lead, product, p + 1
        gains[j] = best / scale
        cuts[j] = cut
