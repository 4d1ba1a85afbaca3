# mypy: ignore-errors
"""k-means++: how much nearer some candidates would bring the rows to a centre.

The tile of `kmeans`: products of 24 rows with 4 candidates are summed in registers, in single
precision. They give what each candidate would gain, but for rounding, and which rows it may come
nearer to. The squared distances of those rows are then computed in doubles, for the candidate that
gains most.

Legend: X (n, d), L candidates, panels (n / 24, d, 24), quads (L / 4, d, 4); closest (n,): the
squared distance of each row from the nearest centre so far; limits (n,): the scores of these
distances; a score is |x - c|^2 / 2 - |x|^2 / 2 in the units of panels.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.distance_tiles import POINTS, QUERIES, add3
from rosenblatt.loops.simd import bits, lanes, singles

PANELS = 32  # whose gains are summed in single precision
AHEAD = 4  # panels whose rows are called from memory before they are read


@compiled
def start_from(X, centre, sizes, scale, start, stop, closest, limits):
    """Fill closest and limits from row start to stop for the first centre (d,).

    sizes (n,) is |x|^2 / 2 of rows in the units of panels.
    """
    for i in range(start, stop):
        closest[i] = squared_distance(X, i, centre)
        limits[i] = 0.5 * scale * scale * closest[i] - sizes[i]


@compiled
def estimate_gains(
    panels, shares, quads, halves, limits, slack, start, stop, nearer, partial, gains
):
    """Add what each candidate would gain in panels start to stop to gains (L,), but for rounding.

    shares (n,) are weights, zero beyond the last row; halves (L,) is |c|^2 / 2, infinite beyond the
    last; slack (1,) is minus what rounding may add to a score. nearer (L, n / 24) gets a bit for
    each row that may come nearer. partial (L, 8) is scratch space. Gains are in units of scores.
    """
    for first in range(start, stop, PANELS):
        partial[:] = 0
        for panel in range(first, min(first + PANELS, stop)):
            for group in range(quads.shape[0]):
                tile(panels, shares, quads, halves, limits, slack, panel, group, nearer, partial)
        for c in range(gains.shape[0]):
            for lane in range(singles.WIDTH):
                gains[c] += np.float64(partial[c, lane])


@compiled
def tile(panels, shares, quads, halves, limits, slack, panel, group, nearer, partial):
    """The gains of 4 candidates in 24 rows."""
    d = panels.shape[1]
    at, of = panel * d * POINTS, group * d * QUERIES
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = singles.zeros()
    for _ in range(d):
        x, y = singles.load(panels, at), singles.load(panels, at + 8)
        z = singles.load(panels, at + 16)
        q = singles.spread_from(quads, of)
        a0, a1, a2 = add3(q, x, y, z, a0, a1, a2)
        q = singles.spread_from(quads, of + 1)
        b0, b1, b2 = add3(q, x, y, z, b0, b1, b2)
        q = singles.spread_from(quads, of + 2)
        c0, c1, c2 = add3(q, x, y, z, c0, c1, c2)
        q = singles.spread_from(quads, of + 3)
        d0, d1, d2 = add3(q, x, y, z, d0, d1, d2)
        at += POINTS
        of += QUERIES
    c = group * QUERIES
    add_gains(shares, halves, limits, slack, panel, c, a0, a1, a2, nearer, partial)
    add_gains(shares, halves, limits, slack, panel, c + 1, b0, b1, b2, nearer, partial)
    add_gains(shares, halves, limits, slack, panel, c + 2, c0, c1, c2, nearer, partial)
    add_gains(shares, halves, limits, slack, panel, c + 3, d0, d1, d2, nearer, partial)


@compiled(inline=True)
def add_gains(shares, halves, limits, slack, panel, c, x, y, z, nearer, partial):
    """Add the gains of candidate c in 24 rows to its partial sums."""
    i, half, zero = panel * POINTS, singles.spread_from(halves, c), singles.zeros()
    x = singles.subtract(singles.load(limits, i), singles.subtract(half, x))
    y = singles.subtract(singles.load(limits, i + 8), singles.subtract(half, y))
    z = singles.subtract(singles.load(limits, i + 16), singles.subtract(half, z))
    least = singles.spread_from(slack, 0)
    nearer[c, panel] = (
        singles.bits_below(least, x)
        | singles.bits_below(least, y) << 8
        | singles.bits_below(least, z) << 16
    )
    total = singles.load(partial, c * singles.WIDTH)
    total = singles.multiply_add(singles.highest(x, zero), singles.load(shares, i), total)
    total = singles.multiply_add(singles.highest(y, zero), singles.load(shares, i + 8), total)
    total = singles.multiply_add(singles.highest(z, zero), singles.load(shares, i + 16), total)
    singles.store(partial, c * singles.WIDTH, total)


@compiled
def measure_gain(X, weights, centre, sizes, scale, nearer, start, stop, take, closest, limits):
    """Return what a candidate (d,) gains in panels start to stop, in doubles; take it, if `take`.

    nearer (n / 24,) has a bit for each row to read. Taken, it lowers closest and limits.
    """
    n, gain = X.shape[0], 0.0
    for panel in range(start, stop):
        if panel + AHEAD < stop:
            call_rows(X, panel + AHEAD, nearer[panel + AHEAD])
        rows = nearer[panel]
        while rows != 0:
            i = panel * POINTS + lowest_bit(rows)
            rows &= rows - 1
            if i >= n:
                continue
            square = squared_distance(X, i, centre)
            if square < closest[i]:
                less = closest[i] - square
                gain += less if weights is None else weights[i] * less
                if take:
                    closest[i] = square
                    limits[i] = 0.5 * scale * scale * square - sizes[i]
    return gain


@compiled
def call_rows(X, panel, rows):
    """Have the rows of a panel that have a bit brought near the processor."""
    d = X.shape[1]
    while rows != 0:
        at = (panel * POINTS + lowest_bit(rows)) * d
        rows &= rows - 1
        for j in range(0, d, 8):
            lanes.call(X, at + j)


@compiled(inline=True)
def lowest_bit(word):
    """The place of the lowest bit that is one."""
    return bits.ones(np.uint64((word & -word) - 1))


# Reordered: one sum after the other would wait for the adder.
@compiled(reorder_sums=True)
def squared_distance(X, i, centre):
    """The squared distance of row i from a centre (d,)."""
    square = 0.0
    for j in range(centre.shape[0]):
        z = np.float64(X[i, j]) - centre[j]
        square += z * z
    return square
