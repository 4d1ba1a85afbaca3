# mypy: ignore-errors
"""Histograms of the rows of one part, for trees that grow on many, and the best split by them."""

import math

from rosenblatt.loops import compiled

GINI, ENTROPY, NUMBERS = 0, 1, 2  # what a split lowers
MISSING = 255  # the level of a value that is missing
ANY_LEVEL = -1  # in place of the one level that a column may be split at


@compiled
def add_histograms(levels, place, g, h, hist):
    """Add rows to hist (nodes, d, 256, 3): how many, their g and h, by node, column and level.

    levels (n, columns) of the rows; place (n,) is the node of each, negative for none; g and h (n,)
    are the derivatives. Columns beyond those of hist are left out.
    """
    for i in range(place.shape[0]):
        v = place[i]
        if v < 0:
            continue
        for j in range(hist.shape[1]):
            level = levels[i, j]
            hist[v, j, level, 0] += 1.0
            hist[v, j, level, 1] += g[i]
            hist[v, j, level, 2] += h[i]


@compiled
def find_slots(levels, times, left, column, level, missing_left, slot, place):
    """Set place (n,) to the slot of the leaf that each row ends in; to -1 if it was not drawn.

    levels (n, columns) of the rows, times (n,) that each was drawn. The tree is left, column, level
    and missing_left by node; the right child of a node follows its left one. slot has the place of
    a leaf in histograms, negative for none.
    """
    for i in range(times.shape[0]):
        place[i] = -1
        if times[i] == 0:
            continue
        v = 0
        while left[v] >= 0:
            own = levels[i, column[v]]
            goes_left = missing_left[v] if own == MISSING else own <= level[v]
            v = left[v] + (0 if goes_left else 1)
        place[i] = slot[v]


@compiled
def add_class_histograms(levels, times, codes, place, tried, hist):
    """Add rows to hist (slots, m, 256, 1 + K): how many, and how often each class was drawn.

    codes (n,) are the classes, place (n,) the slots, negative for none; tried (slots, m) has the
    columns that are counted in each, negative for none.
    """
    for i in range(times.shape[0]):
        s = place[i]
        if s < 0:
            continue
        for q in range(tried.shape[1]):
            if tried[s, q] >= 0:
                own = levels[i, tried[s, q]]
                hist[s, q, own, 0] += 1.0
                hist[s, q, own, 1 + codes[i]] += times[i]


@compiled
def add_number_histograms(levels, times, y, place, tried, hist):
    """As `add_class_histograms`, of numbers y (n,): hist (slots, m, 256, 4).

    How many rows, and with their times their number, sum and sum of squares.
    """
    for i in range(times.shape[0]):
        s = place[i]
        if s < 0:
            continue
        for q in range(tried.shape[1]):
            if tried[s, q] >= 0:
                own = levels[i, tried[s, q]]
                hist[s, q, own, 0] += 1.0
                hist[s, q, own, 1] += times[i]
                hist[s, q, own, 2] += times[i] * y[i]
                hist[s, q, own, 3] += times[i] * y[i] * y[i]


@compiled
def weight(sums, kind):
    """The weight of rows by their sums (width,): a number of theirs, or of all classes together."""
    if kind == NUMBERS:
        return sums[1]
    total = 0.0
    for k in range(1, sums.shape[0]):
        total += sums[k]
    return total


@compiled
def merit(sums, kind):
    """Less the impurity times the weight of rows, but for what all splits of a node share."""
    total = weight(sums, kind)
    if total <= 0:
        return 0.0
    if kind == NUMBERS:
        return sums[2] * sums[2] / total
    found = 0.0
    for k in range(1, sums.shape[0]):
        if kind == GINI:
            found += sums[k] * sums[k]
        elif sums[k] > 0:
            found += sums[k] * math.log2(sums[k])
    return found / total if kind == GINI else found - total * math.log2(total)


@compiled
def best_split(hist, sums, kind, only, least_rows, least_weight, left, right, best):
    """Find the split of a node that gains most, the first of several; return its merit.

    Reads hist (m, 256, width) of some columns, the sums (width,) of the node, and only (m,): the
    level that each column may be split at, or ANY_LEVEL. Sets best (3,) to the place of the column,
    the last level on the left and whether missing values go left; its merit is -inf if no split
    leaves enough rows and weight on both sides. Changes left and right (width,).
    """
    highest = -math.inf
    width = sums.shape[0]
    for q in range(hist.shape[0]):
        sides = 2 if hist[q, MISSING, 0] > 0 else 1
        for side in range(sides):
            for c in range(width):
                left[c] = hist[q, MISSING, c] if side else 0.0
            for level in range(MISSING - 1):
                for c in range(width):
                    left[c] += hist[q, level, c]
                if only[q] != ANY_LEVEL and only[q] != level:
                    continue
                # A level without rows splits as the one before.
                if only[q] == ANY_LEVEL and level and hist[q, level, 0] == 0:
                    continue
                for c in range(width):
                    right[c] = sums[c] - left[c]
                if min(left[0], right[0]) < least_rows:
                    continue
                if min(weight(left, kind), weight(right, kind)) < least_weight:
                    continue
                gain = merit(left, kind) + merit(right, kind)
                if gain > highest:
                    highest = gain
                    best[0], best[1], best[2] = q, level, side
    return highest
