# mypy: ignore-errors
"""The middle of each bucket of rows, from a few of them: what distances are taken from.

Legend: X, buckets as in `bucket_counts`; B buckets, d features, m rows of each bucket looked at.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.pairs import add, divide, two_product, two_sum
from rosenblatt.loops.simd import AHEAD, float64x4, prefetch

# How far out a row may lie and still be near, in quartile distances: rounding is then at most
# 2**16 times 2**-53 of the scatter of what a typical row adds.
REACH = 256.0


@compiled
def choose_rows(buckets, step, n_rows, seen, chosen):
    """Fill chosen (B, m) with rows of each bucket, among every step-th of all, evenly spread.

    n_rows (B,) says how many of these the bucket has; it is left out if they are fewer than 2 m.
    seen (2, B) are zeros to count with.
    """
    m = chosen.shape[1]
    for i in range(0, buckets.shape[0], step):
        b = buckets[i]
        if b >= 0 and n_rows[b] >= 2 * m:
            if seen[0, b] == seen[1, b] and seen[1, b] < m * (n_rows[b] // m):
                chosen[b, seen[1, b] // (n_rows[b] // m)] = i
                seen[1, b] += n_rows[b] // m
            seen[0, b] += 1


@compiled
def find_centres(rows, n_rows, centres, reach, sample):
    """Fill centres and reach (B, d): the middle of the chosen rows (B m, d), and how far is near.

    The scale is the lower quartile of the distances from the median: half of the rows may lie
    anywhere and the centre is still in the midst of the others. Too small a scale only costs time.
    A bucket of fewer than 2 m rows has no near rows. sample (m,) is scratch space.
    """
    m = sample.shape[0]
    for b in range(centres.shape[0]):
        for j in range(centres.shape[1]):
            reach[b, j] = -1
            if n_rows[b] >= 2 * m:
                for s in range(m):
                    sample[s] = rows[b * m + s, j]
                sort(sample)
                centres[b, j] = sample[m // 2]
                for s in range(m):
                    sample[s] = abs(sample[s] - centres[b, j])
                sort(sample)
                reach[b, j] = REACH * first_positive(sample, m // 4)


@compiled
def find_least_gaps(X, buckets, b, columns, centres, least):
    """Lower least (m,) to the smallest distance above zero of a row of bucket b from its centre.

    columns (m,) are those that are looked at.
    """
    for i in range(X.shape[0]):
        if buckets[i] == b:
            for s in range(columns.shape[0]):
                gap = abs(np.float64(X[i, columns[s]]) - centres[b, columns[s]])
                if 0.0 < gap < least[s]:
                    least[s] = gap


@compiled
def sort(values):
    """Sort a few values in place, by insertion."""
    for s in range(1, values.shape[0]):
        value, t = values[s], s
        while t > 0 and values[t - 1] > value:
            values[t] = values[t - 1]
            t -= 1
        values[t] = value


@compiled
def first_positive(values, start):
    """The first number above zero from `start` on; 0 if there is none."""
    for s in range(start, values.shape[0]):
        if values[s] > 0:
            return values[s]
    return 0.0


# Means by bucket to 32 digits, of rows whose products are summed in plain doubles.
#
# Legend as in `bucket_moments`. A mean that is off by e moves the scatter by w D e when it is
# merged with one at a distance D: what is a rounding of rows near each other is not when others
# lie far out.


@compiled
def add_distances(X, order, weights, centre, far, b, sums):
    """Add weight times distance from the centre (d,) to the pairs sums (2, B, d), in bucket b.

    Rows are those of order (m,), without those that are far.
    """
    for t in range(order.shape[0]):
        i = order[t]
        if far[i] >= 0:
            continue
        for j in range(centre.shape[0]):
            z, z_low = two_sum(np.float64(X[i, j]), -centre[j])
            if weights is not None:
                low = np.float64(weights[i]) * z_low
                z, z_low = two_product(np.float64(weights[i]), z)
                z_low += low
            sums[0, b, j], rest = two_sum(sums[0, b, j], z)
            sums[1, b, j] += rest + z_low


@compiled
def find_means(weight, sums, centres, shifts, mean):
    """Fill shifts (B, d) with sums / weight, and mean (2, B, d) with the centres so far on."""
    for b in range(centres.shape[0]):
        if weight[0, b, 0] > 0:
            for j in range(centres.shape[1]):
                shift, low = divide(sums[0, b, j], sums[1, b, j], weight[0, b, 0], weight[1, b, 0])
                mean[0, b, j], mean[1, b, j] = add(centres[b, j], 0.0, shift, low)
                shifts[b, j] = shift


# Sums and squares of dense rows about a centre, by bucket, at the speed at which memory is read.
#
# Legend: X, buckets as in `bucket_counts`; B buckets; d features, at least four, in p cells:
# vectors of four (see `simd`), the last of which stands for the last four features, some of them
# a second time. centres and limits are (B, p); sums and squares are pairs (2, B, p), plain (B, p).
#
# Rows of a bucket are summed in plain doubles, UNIT at a time, and such sums in pairs. That is
# right to UNIT roundings of their own squares. So small a part is nothing beside the bucket's
# scatter, but it would be much if a row 1e8 times as far out as the others were taken out again
# and they alone stayed. A unit with such a row shows it in its squares, above their limit: it is
# summed once more, in pairs from the first row on.


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
        for v in range(0, p - float64x4.WIDTH, float64x4.WIDTH):
            prefetch(X, row + v + AHEAD)
            add_lanes(float64x4.load(X, row + v), centres, scratch, cell + v, squares)
        last = float64x4.load(X, row + d - float64x4.WIDTH)
        add_lanes(last, centres, scratch, cell + p - float64x4.WIDTH, squares)
        counts[0, b] += 1
        if counts[0, b] == UNIT:
            end_unit(X, buckets, i + 1, centres, limits, tables, scratch, counts, b)
    for b in range(centres.shape[0]):
        end_unit(X, buckets, buckets.shape[0], centres, limits, tables, scratch, counts, b)


@compiled
def add_lanes(x, centres, scratch, sums, squares):
    """Add the distances of four numbers, and their squares, to the cells at `sums`."""
    z = float64x4.subtract(x, float64x4.load(centres, sums))
    float64x4.store(scratch, sums, float64x4.add(float64x4.load(scratch, sums), z))
    more = float64x4.multiply_add(z, z, float64x4.load(scratch, squares + sums))
    float64x4.store(scratch, squares + sums, more)


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
    last = centres.shape[1] - float64x4.WIDTH
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
