"""Histograms of the rows of one part, for trees that grow on many."""

from . import compiled


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


@compiled(inline=True)
def leaf_of(levels, i, left, column, level, missing_left):
    """The leaf of a tree that row i ends in; the right child of a node follows its left one."""
    v = 0
    while left[v] >= 0:
        own = levels[i, column[v]]
        goes_left = missing_left[v] if own == 255 else own <= level[v]
        v = left[v] + (0 if goes_left else 1)
    return v


@compiled
def add_class_histograms(
    levels, times, codes, left, column, level, missing_left, slot, tried, hist
):
    """Add rows to hist (slots, m, 256, 1 + K): how many, and how often each class was drawn.

    levels (n, columns) of the rows, times (n,) that each was drawn, its class in codes (n,). The
    tree is left, column, level and missing_left by node; slot has the place of a leaf in hist,
    negative for none, and tried (slots, m) the columns that are counted there, negative for none.
    """
    for i in range(times.shape[0]):
        if times[i] == 0:
            continue
        s = slot[leaf_of(levels, i, left, column, level, missing_left)]
        if s < 0:
            continue
        for q in range(tried.shape[1]):
            if tried[s, q] >= 0:
                own = levels[i, tried[s, q]]
                hist[s, q, own, 0] += 1.0
                hist[s, q, own, 1 + codes[i]] += times[i]


@compiled
def add_number_histograms(levels, times, y, left, column, level, missing_left, slot, tried, hist):
    """As `add_class_histograms`, of numbers y (n,): hist (slots, m, 256, 4).

    How many rows, and with their times their number, sum and sum of squares.
    """
    for i in range(times.shape[0]):
        if times[i] == 0:
            continue
        s = slot[leaf_of(levels, i, left, column, level, missing_left)]
        if s < 0:
            continue
        for q in range(tried.shape[1]):
            if tried[s, q] >= 0:
                own = levels[i, tried[s, q]]
                hist[s, q, own, 0] += 1.0
                hist[s, q, own, 1] += times[i]
                hist[s, q, own, 2] += times[i] * y[i]
                hist[s, q, own, 3] += times[i] * y[i] * y[i]
