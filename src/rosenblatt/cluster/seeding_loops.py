# mypy: ignore-errors
"""k-means++: how much nearer some candidates would bring the rows to a centre.

Products of 24 rows with 4 candidates are summed in registers, in single
precision. They give what each candidate would gain, but for rounding, and which rows it may come
nearer to. The squared distances of those rows are then computed in doubles, for the candidate that
gains most.

Legend: X (n, d), L candidates, panels (n / 24, d, 24), quads (L / 4, d, 4); closest (n,): the
squared distance of each row from the nearest centre so far; limits (n,): the scores of these
distances; a score is |x - c|^2 / 2 - |x|^2 / 2 in the units of panels.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.distance_tiles import POINTS, QUERIES, multiply_panels
from rosenblatt.loops.simd import float32x8, lowest_bit, prefetch

PANELS = 32  # whose gains are summed in single precision
AHEAD = 4  # panels whose rows are prefetched before they are read


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
            for lane in range(float32x8.WIDTH):
                gains[c] += np.float64(partial[c, lane])


@compiled
def tile(panels, shares, quads, halves, limits, slack, panel, group, nearer, partial):
    """The gains of 4 candidates in 24 rows."""
    a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2 = multiply_panels(panels, panel, quads, group)
    c = group * QUERIES
    add_gains(shares, halves, limits, slack, panel, c, a0, a1, a2, nearer, partial)
    add_gains(shares, halves, limits, slack, panel, c + 1, b0, b1, b2, nearer, partial)
    add_gains(shares, halves, limits, slack, panel, c + 2, c0, c1, c2, nearer, partial)
    add_gains(shares, halves, limits, slack, panel, c + 3, d0, d1, d2, nearer, partial)


@compiled(inline=True)
def add_gains(shares, halves, limits, slack, panel, c, x, y, z, nearer, partial):
    """Add the gains of candidate c in 24 rows to its partial sums."""
    i, half, zero = panel * POINTS, float32x8.spread_from(halves, c), float32x8.zeros()
    x = float32x8.subtract(float32x8.load(limits, i), float32x8.subtract(half, x))
    y = float32x8.subtract(float32x8.load(limits, i + 8), float32x8.subtract(half, y))
    z = float32x8.subtract(float32x8.load(limits, i + 16), float32x8.subtract(half, z))
    least = float32x8.spread_from(slack, 0)
    nearer[c, panel] = (
        float32x8.bits_below(least, x)
        | float32x8.bits_below(least, y) << 8
        | float32x8.bits_below(least, z) << 16
    )
    total = float32x8.load(partial, c * float32x8.WIDTH)
    total = float32x8.multiply_add(float32x8.highest(x, zero), float32x8.load(shares, i), total)
    total = float32x8.multiply_add(float32x8.highest(y, zero), float32x8.load(shares, i + 8), total)
    total = float32x8.multiply_add(
        float32x8.highest(z, zero), float32x8.load(shares, i + 16), total
    )
    float32x8.store(partial, c * float32x8.WIDTH, total)


@compiled
def measure_gain(X, weights, centre, sizes, scale, nearer, start, stop, take, closest, limits):
    """Return what a candidate (d,) gains in panels start to stop, in doubles; take it, if `take`.

    nearer (n / 24,) has a bit for each row to read. Taken, it lowers closest and limits.
    """
    n, gain = X.shape[0], 0.0
    for panel in range(start, stop):
        if panel + AHEAD < stop:
            prefetch_rows(X, panel + AHEAD, nearer[panel + AHEAD])
        rows = nearer[panel]
        while rows != 0:
            i = panel * POINTS + lowest_bit(np.uint64(rows))
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
def prefetch_rows(X, panel, rows):
    """Prefetch the rows of a panel that have a bit."""
    d = X.shape[1]
    while rows != 0:
        at = (panel * POINTS + lowest_bit(np.uint64(rows))) * d
        rows &= rows - 1
        for j in range(0, d, 8):
            prefetch(X, at + j)


# Reordered: one sum after the other would wait for the adder.
@compiled(reorder_sums=True)
def squared_distance(X, i, centre):
    """The squared distance of row i from a centre (d,)."""
    square = 0.0
    for j in range(centre.shape[0]):
        z = np.float64(X[i, j]) - centre[j]
        square += z * z
    return square
