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
