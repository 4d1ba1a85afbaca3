"""Sums and squares of dense rows about a centre, by bucket, at the speed at which memory is read.

Legend: X, buckets as in `counts`; B buckets; d features, at least four, in p cells: vectors of four
(see `lanes`), the last of which stands for the last four features, some of them a second time.
centres and limits are (B, p); sums and squares are pairs (2, B, p), plain (B, p).

Rows of a bucket are summed in plain doubles, UNIT at a time, and such sums in pairs. That is right
to UNIT roundings of their own squares. So small a part is nothing beside the bucket's scatter, but
it would be much if a row 1e8 times as far out as the others were taken out again and they alone
stayed. A unit with such a row shows it in its squares, above their limit: it is summed once more,
in pairs from the first row on.
"""

import numpy as np

from . import compiled, lanes
from .pairs import two_product, two_sum

UNIT = 256  # rows
PLAIN_ROUNDING = 2.0**-44  # of the squares of a unit, more than UNIT times that of a double


@compiled
def sum_shifted(X, buckets, centres, limits, tables, scratch, counts):
    """Add each row less its centre to tables = (sums, squares, plain), by bucket.

    plain is the part of squares that was summed in plain doubles. scratch (2, B, p) holds sums and
    squares of the units under way, counts (2, B) how many rows they have and where they begin; both
    are zero when it starts.
    """
    d, p, squares = X.shape[1], centres.shape[1], centres.size
    for i in range(buckets.shape[0]):
        b = buckets[i]
        row, cell = i * d, b * p
        for v in range(0, p - lanes.WIDTH, lanes.WIDTH):
            lanes.call(X, row + v + lanes.AHEAD)
            add_lanes(lanes.load(X, row + v), centres, scratch, cell + v, squares)
        last = lanes.load(X, row + d - lanes.WIDTH)
        add_lanes(last, centres, scratch, cell + p - lanes.WIDTH, squares)
        counts[0, b] += 1
        if counts[0, b] == UNIT:
            end_unit(X, buckets, i + 1, centres, limits, tables, scratch, counts, b)
    for b in range(centres.shape[0]):
        end_unit(X, buckets, buckets.shape[0], centres, limits, tables, scratch, counts, b)


@compiled
def add_lanes(x, centres, scratch, sums, squares):
    """Add the distances of four numbers, and their squares, to the cells at `sums`."""
    z = lanes.subtract(x, lanes.load(centres, sums))
    lanes.store(scratch, sums, lanes.add(lanes.load(scratch, sums), z))
    more = lanes.multiply_add(z, z, lanes.load(scratch, squares + sums))
    lanes.store(scratch, squares + sums, more)


@compiled
def end_unit(X, buckets, stop, centres, limits, tables, scratch, counts, b):
    """Add the unit of bucket b to the tables; with care if a square is above its limit."""
    sums, squares, plain = tables
    far = 0
    for v in range(centres.shape[1]):
        far += not (scratch[1, b, v] <= limits[b, v])  # NaN is above all limits
    if far:
        for i in range(counts[1, b], stop):
            if buckets[i] == b:
                add_with_care(X, i, centres, sums, squares, b)
    for v in range(centres.shape[1]):
        if not far:
            sums[0, b, v], rest = two_sum(sums[0, b, v], scratch[0, b, v])
            sums[1, b, v] += rest
            squares[0, b, v], rest = two_sum(squares[0, b, v], scratch[1, b, v])
            squares[1, b, v] += rest
            plain[b, v] += scratch[1, b, v]
        scratch[0, b, v] = scratch[1, b, v] = 0.0
    counts[0, b], counts[1, b] = 0, stop


@compiled
def add_with_care(X, i, centres, sums, squares, b):
    """Add row i to the pairs sums and squares."""
    last = centres.shape[1] - lanes.WIDTH
    for v in range(last):
        add_distance(X[i, v], centres[b, v], sums, squares, b, v)
    for v in range(last, centres.shape[1]):
        column = v - centres.shape[1] + X.shape[1]
        add_distance(X[i, column], centres[b, v], sums, squares, b, v)


@compiled
def add_distance(value, centre, sums, squares, b, v):
    """Add the distance of a number from its centre, and its square, to a cell."""
    z, z_low = two_sum(np.float64(value), -centre)
    square, square_low = two_product(z, z)
    sums[0, b, v], rest = two_sum(sums[0, b, v], z)
    sums[1, b, v] += rest + z_low
    squares[0, b, v], rest = two_sum(squares[0, b, v], square)
    squares[1, b, v] += rest + (square_low + 2 * z * z_low)
