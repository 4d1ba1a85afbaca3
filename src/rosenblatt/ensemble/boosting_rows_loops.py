# mypy: ignore-errors
"""Rows of gradient boosting: values to levels, and levels down the trees."""

import numpy as np

from rosenblatt.loops import compiled

BYTE = np.uint64(255)
# The bits of a node: what it compares with, whether with a set of categories, 1 if missing values
# go left, the column, and the left child. A leaf is its own child.
CATEGORIES, MISSING_LEFT, COLUMN, CHILD = (np.uint64(bit) for bit in (8, 9, 10, 32))
COLUMN_BITS = np.uint64(2**22 - 1)
ONE = np.uint64(1)


@compiled
def code_rows(X, cuts, first, last, place, codes):
    """Write the levels of rows first to last of X (n, d) to codes (blocks, ...) from a place on.

    A word of codes holds eight columns. The level of a value is how many of the column's cuts
    (d, 255) lie below it; of NaN, 255. Cuts that a column does not have are infinite.
    """
    X = X[first:last]
    for j in range(X.shape[1]):
        column, shift = cuts[j], np.uint64(8 * (j % 8))
        words = codes[j // 8, place : place + last - first]
        for i in range(X.shape[0]):
            x, level, step = X[i, j], np.uint64(0), np.uint64(128)
            while step > np.uint64(0):
                level += step if column[level + step - ONE] < x else np.uint64(0)
                step >>= ONE
            word = (level if x == x else BYTE) << shift
            words[i] = word | words[i] if shift else word


@compiled
def add_trees(levels, place, words, sets, value, starts, depths, output, at, raw):
    """Add to raw (K, n), from a place on, the leaves' values of rows of levels (m, columns).

    Tree t has the nodes from starts[t] on, at most depths[t] above each other, and adds to the
    row output[t] of raw. at (m,) is scratch.
    """
    n = levels.shape[0]
    for t in range(starts.shape[0]):
        for i in range(n):
            at[i] = starts[t]
        for _ in range(depths[t]):
            for i in range(n):
                word = words[at[i]]
                level = np.uint64(levels[i, (word >> COLUMN) & COLUMN_BITS])
                if (word >> CATEGORIES) & ONE:
                    left = sets[at[i], level >> np.uint64(6)] >> (level & np.uint64(63))
                    right = ONE - (left & ONE)
                else:
                    level = (level + ((word >> MISSING_LEFT) & ONE)) & BYTE
                    right = ONE if level > (word & BYTE) else np.uint64(0)
                at[i] = (word >> CHILD) + right
        sums = raw[output[t], place : place + n]
        for i in range(n):
            sums[i] += value[at[i]]
