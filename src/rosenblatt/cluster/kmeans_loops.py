# mypy: ignore-errors
"""k-means: the nearest center of each row, and the sums of rows that change clusters.

Dense rows are in panels of 24. Products of 24 rows with 4 centers are summed in registers, in
single precision: ``|x - c|^2 / 2 = |c|^2 / 2 - x.c + |x|^2 / 2``, and each row keeps its lowest and
second lowest score. Where rounding might decide between the two, distances are computed in doubles,
from differences. So the result is exact in doubles: the nearest center; of equally near centers the
current one of the row, else the first.

Bounds avoid most of this work: centers that have moved by at most `drift` / 2 since a row was
measured cannot change its cluster if its second nearest center was farther than its nearest by more
than `drift`. Each row keeps the drift up to which that holds. If there are many centers, a dense
row beyond it is measured against its own center first, which often shows that no other is nearer;
the remaining rows are packed into panels.

Sums are pairs of doubles, so that the contribution of a row can be removed exactly, and the loss
follows from the sums alone.

Legend: X (n, d) or CSR, K centers C (K, d), panels (n / 24, d, 24), quads (K / 4, d, 4).
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled, instruction
from rosenblatt.loops.simd import count_bits, float32x8, lowest_bit, prefetch
from rosenblatt.loops.tiles import POINTS, QUERIES, multiply_panels

ROWS, CENTERS = POINTS, QUERIES  # of a tile
MOST_OF_A_PANEL = 18  # rows to score from which a panel is not packed
ALL = (1 << float32x8.WIDTH) - 1
PANELS = 32  # whose gains are summed in single precision
AHEAD = 4  # panels whose rows are prefetched before they are read


@compiled
def sum_and_range(X, start, stop, total, low, high):
    """Add dense rows start to stop to total (d,), and widen the range low to high (d,) by them."""
    for i in range(start, stop):
        for j in range(X.shape[1]):
            x = np.float64(X[i, j])
            total[j] += x
            low[j] = x if x < low[j] else low[j]
            high[j] = x if x > high[j] else high[j]


class PanelRows(NamedTuple):
    """Dense rows X (n, d), and the same about a center, times a scale, in panels of 24.

    sizes (n,) is |x|^2 / 2 of each row in the panels, padded to full panels.
    """

    X: Any
    panels: Any
    sizes: Any
    center: Any
    scale: Any


class QuadCenters(NamedTuple):
    """Centers C (K, d), and the same about the center of the panels, in quads of 4.

    halves is |c|^2 / 2 of each, infinite beyond the last; numbers counts from 0; errors (3,) bounds
    rounding: by errors[0] |x|^2 / 2 + errors[1] in a score, and errors[2] relative to a distance.
    """

    C: Any
    quads: Any
    halves: Any
    numbers: Any
    errors: Any


class Bounds(NamedTuple):
    """Bounds on distances, padded to full panels.

    limits (n,) are the drifts up to which rows can be skipped, infinite beyond the last row.
    reaches (n,) are the distances of rows from their second nearest centers, plus half the drift
    when they were measured; it may be empty. drifts (4,) are the drift rounded up, the drift and
    half of it rounded down, and a factor just below one that covers rounding of a bound.
    """

    limits: Any
    reaches: Any
    drifts: Any


class Labels(NamedTuple):
    """Labels (n,) of rows; rows that changed (n,), and their old labels."""

    labels: Any
    changed: Any
    left: Any


class Packed(NamedTuple):
    """Scratch space: a panel (1, d, 24) of rows with their sizes, labels, numbers and bounds."""

    panel: Any
    sizes: Any
    labels: Any
    numbers: Any
    limits: Any
    reaches: Any


@compiled
def assign_panels(arrays, is_settled, least, start, stop, found):
    """Assign the rows of panels start to stop; return how many changed clusters.

    arrays is (PanelRows, QuadCenters, Bounds, Labels, Packed), all as plain tuples: Numba looks up
    the types of named ones slowly.

    If `is_settled`, rows beyond their limits are first measured against their own center. A panel
    with at least `least` rows beyond is scored without packing. Changed rows are listed from entry
    24 start on. found (2, 24) is scratch space.
    """
    rows, centers = PanelRows(*arrays[0]), QuadCenters(*arrays[1])
    bounds, labels, packed = Bounds(*arrays[2]), Labels(*arrays[3]), Packed(*arrays[4])
    X, panels, sizes, center, scale = rows
    to = start * ROWS
    n_changed = n_waiting = 0
    for p in range(start, stop):
        open_rows = beyond_limits(bounds, p * ROWS)
        if open_rows == 0:
            continue
        if is_settled:
            if p + AHEAD < stop:
                prefetch_rows(X, p + AHEAD, beyond_limits(bounds, (p + AHEAD) * ROWS))
            open_rows = recheck_rows(rows, centers.C, labels.labels, p * ROWS, open_rows, bounds)
        if count_bits(np.uint64(open_rows)) >= least and (p + 1) * ROWS <= X.shape[0]:
            open_rows = score_panel(panels, p, sizes, labels.labels, centers, bounds, found)
            while open_rows != 0:
                t = lowest_bit(np.uint64(open_rows))
                open_rows &= open_rows - 1
                i = p * ROWS + t
                n_changed += assign_row(X, centers.C, found, t, i, bounds, labels, to + n_changed)
            continue
        while open_rows != 0:
            i = p * ROWS + lowest_bit(np.uint64(open_rows))
            open_rows &= open_rows - 1
            packed.sizes[n_waiting], packed.labels[n_waiting] = sizes[i], labels.labels[i]
            packed.numbers[n_waiting] = i
            for j in range(panels.shape[1]):
                z = (np.float64(X[i, j]) - center[j]) * scale
                packed.panel[0, j, n_waiting] = np.float32(z)
            n_waiting += 1
            if n_waiting == ROWS:
                n_changed += assign_packed(
                    X, packed, n_waiting, centers, found, bounds, labels, to + n_changed
                )
                n_waiting = 0
    return n_changed + assign_packed(
        X, packed, n_waiting, centers, found, bounds, labels, to + n_changed
    )


@compiled(inline=True)
def beyond_limits(bounds, i):
    """Return a bit for each of 24 rows from row i on whose limit the drift has passed."""
    limits, drift = bounds.limits, float32x8.spread_from(bounds.drifts, 0)
    return (
        float32x8.bits_below(float32x8.load(limits, i), drift)
        | float32x8.bits_below(float32x8.load(limits, i + 8), drift) << 8
        | float32x8.bits_below(float32x8.load(limits, i + 16), drift) << 16
    )


@compiled
def recheck_rows(rows, C, labels, first, open_rows, bounds):
    """Measure rows against their own centers; return the bits of rows that need all centers."""
    limits, reaches, drifts = bounds
    found = open_rows
    while open_rows != 0:
        bit = open_rows & -open_rows
        i = first + lowest_bit(np.uint64(open_rows))
        open_rows ^= bit
        own = rows.scale * np.sqrt(square_of_row(rows.X, i, C[labels[i]]))
        spare = np.float64(reaches[i]) - 0.5 * drifts[0] - own * (1 + 1e-6)
        if spare > 0.0:
            limits[i] = (spare + drifts[1]) * drifts[3]
            if limits[i] >= drifts[0]:
                found ^= bit
    return found


@compiled
def assign_packed(X, packed, count, centers, found, bounds, labels, to):
    """Assign the rows of the packed panel; return how many changed clusters."""
    panel, sizes, old, numbers, limits, reaches = packed
    n_changed = open_rows = 0
    if count > 0:
        own_bounds = Bounds(limits, reaches, bounds.drifts)
        open_rows = score_panel(panel, 0, sizes, old, centers, own_bounds, found)
    for t in range(count):
        i = numbers[t]
        bounds.limits[i] = limits[t]
        if bounds.reaches.shape[0] > 0:
            bounds.reaches[i] = reaches[t]
        if open_rows >> t & 1:
            n_changed += assign_row(X, centers.C, found, t, i, bounds, labels, to + n_changed)
    return n_changed


@compiled
def assign_row(X, C, found, t, i, bounds, labels, to):
    """Assign row i by column t of `found`; return 1 if it changed clusters, else 0."""
    nearest, old = np.int32(found[0, t]), labels.labels[i]
    if not found[1, t] > 0.0:  # rounding might decide
        nearest = nearest_of(X[i], C, old)
        bounds.limits[i] = -np.inf
        if bounds.reaches.shape[0] > 0:
            bounds.reaches[i] = -np.inf
    if nearest == old:
        return 0
    labels.changed[to], labels.left[to], labels.labels[i] = i, old, nearest
    return 1


@compiled
def score_panel(panels, p, sizes, labels, centers, bounds, found):
    """Return a bit for each of 24 rows that is not certainly nearest to its own center.

    found (2, 24) gets the center of each row's lowest score, and a lower bound on the difference of
    its distance and the second, NaN or not positive if uncertain. Bounds are updated.
    """
    _, quads, halves, numbers, errors = centers
    near_x = near_y = near_z = far_x = far_y = far_z = float32x8.spread_from(
        halves, halves.shape[0] - 1
    )
    who_x = who_y = who_z = float32x8.zeros()
    for q in range(quads.shape[0]):
        a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2 = multiply_panels(panels, p, quads, q)
        c = q * CENTERS
        near_x, far_x, who_x = keep4(halves, numbers, c, a0, b0, c0, d0, near_x, far_x, who_x)
        near_y, far_y, who_y = keep4(halves, numbers, c, a1, b1, c1, d1, near_y, far_y, who_y)
        near_z, far_z, who_z = keep4(halves, numbers, c, a2, b2, c2, d2, near_z, far_z, who_z)
    i = p * ROWS
    gap_x, far_x = gap_of(near_x, far_x, sizes, i, errors)
    gap_y, far_y = gap_of(near_y, far_y, sizes, i + 8, errors)
    gap_z, far_z = gap_of(near_z, far_z, sizes, i + 16, errors)
    put_found(found, 0, who_x, who_y, who_z)
    put_found(found, 1, gap_x, gap_y, gap_z)
    put_bounds(bounds, i, gap_x, far_x)
    put_bounds(bounds, i + 8, gap_y, far_y)
    put_bounds(bounds, i + 16, gap_z, far_z)
    return (
        changed_bits(who_x, gap_x, labels, i)
        | changed_bits(who_y, gap_y, labels, i + 8) << 8
        | changed_bits(who_z, gap_z, labels, i + 16) << 16
    )


@compiled(inline=True)
def put_bounds(bounds, i, gap, far):
    """Store the limits and reaches of 8 rows."""
    limits, reaches, drifts = bounds
    less, zero = float32x8.spread_from(drifts, 3), float32x8.zeros()
    limit = float32x8.add(gap, float32x8.spread_from(drifts, 1))
    float32x8.store(limits, i, float32x8.multiply_add(limit, less, zero))
    if reaches.shape[0] > 0:
        reach = float32x8.add(far, float32x8.spread_from(drifts, 2))
        float32x8.store(reaches, i, float32x8.multiply_add(reach, less, zero))


@compiled(inline=True)
def changed_bits(who, gap, labels, i):
    """Return a bit for each of 8 rows from row i on that changes clusters or is uncertain."""
    own = float32x8.load(labels, i)
    moved = float32x8.bits_below(who, own) | float32x8.bits_below(own, who)
    return moved | ALL ^ float32x8.bits_below(float32x8.zeros(), gap)


@compiled(inline=True)
def gap_of(near, far, sizes, i, errors):
    """Return lower bounds on the gap of 8 rows to their second center, and on its distance."""
    size = float32x8.load(sizes, i)
    error = float32x8.multiply_add(
        float32x8.spread_from(errors, 0), size, float32x8.spread_from(errors, 1)
    )
    near = float32x8.add(float32x8.add(near, error), size)
    far = float32x8.subtract(float32x8.add(far, size), error)
    near, far = float32x8.root(float32x8.add(near, near)), float32x8.root(float32x8.add(far, far))
    gap = float32x8.multiply_add(
        float32x8.spread_from(errors, 2), float32x8.add(near, far), float32x8.subtract(far, near)
    )
    return gap, far


@compiled(inline=True)
def keep4(halves, numbers, c, a, b, e, f, near, far, who):
    """Update the lowest two scores, and the center of the first, by four centers from c on."""
    near, far, who = keep(halves, numbers, c, a, near, far, who)
    near, far, who = keep(halves, numbers, c + 1, b, near, far, who)
    near, far, who = keep(halves, numbers, c + 2, e, near, far, who)
    return keep(halves, numbers, c + 3, f, near, far, who)


@compiled(inline=True)
def keep(halves, numbers, c, product, near, far, who):
    """Update the lowest two scores by one center."""
    score = float32x8.subtract(float32x8.spread_from(halves, c), product)
    far = float32x8.lowest(far, float32x8.highest(near, score))
    who = float32x8.where_below(score, near, float32x8.spread_from(numbers, c), who)
    return float32x8.lowest(near, score), far, who


@compiled
def put_found(found, line, x, y, z):
    """Store a row (24,) of found."""
    float32x8.store(found, line * ROWS, x)
    float32x8.store(found, line * ROWS + 8, y)
    float32x8.store(found, line * ROWS + 16, z)


@compiled
def nearest_of(x, centers, own):
    """Return the center nearest to x (d,): of equals its own, else the first."""
    best, least = own, np.inf
    if own >= 0:
        least = squared_distance(x, centers[own])
    for k in range(centers.shape[0]):
        square = squared_distance(x, centers[k])
        if square < least:
            best, least = np.int32(k), square
    return best


@compiled
def squared_distance(x, c):
    """Return |x - c|^2."""
    square = 0.0
    for j in range(x.shape[0]):
        z = np.float64(x[j]) - c[j]
        square += z * z
    return square


@compiled
def assign_sparse(X, columns, halves, C, rounding, start, stop, drift, limits, listed, scores, row):
    """Assign CSR rows start to stop; return how many changed clusters.

    columns (d, K) are the centers C, halves (K,) is |c|^2 / 2, limits (n,) as in `Bounds`. Changed
    rows are listed from entry `start` on, in `Labels` as a plain tuple. scores (K,) and row (d,),
    zeros, are scratch space.
    """
    data, indices, indptr = X
    labels, n_changed = Labels(*listed), 0
    for i in range(start, stop):
        if drift < limits[i]:
            continue
        old = labels.labels[i]
        size = score_row(data, indices, indptr[i], indptr[i + 1], columns, halves, scores)
        nearest, near, far, largest = lowest_two(scores, halves)
        error = rounding * (size + largest)
        near, far = near + error, far - error
        if far > near:
            far_root = np.sqrt(2.0 * max(far + size, 0.0))
            limits[i] = drift + far_root - np.sqrt(2.0 * max(near + size, 0.0))
        else:
            put_row(data, indices, indptr[i], indptr[i + 1], row, 1.0)
            nearest = nearest_of(row, C, old)
            put_row(data, indices, indptr[i], indptr[i + 1], row, 0.0)
            limits[i] = drift
        if nearest != old:
            to = start + n_changed
            labels.changed[to], labels.left[to], labels.labels[i] = i, old, nearest
            n_changed += 1
    return n_changed


@compiled
def score_row(data, indices, first, last, columns, halves, scores):
    """Fill scores (K,) with |c|^2 / 2 - x.c; return |x|^2 / 2."""
    size = 0.0
    for k in range(scores.shape[0]):
        scores[k] = halves[k]
    for p in range(first, last):
        x, column = np.float64(data[p]), columns[np.uint32(indices[p])]
        size += x * x
        for k in range(scores.shape[0]):
            scores[k] -= x * column[k]
    return 0.5 * size


@compiled
def lowest_two(scores, halves):
    """Return the center of the lowest score, the lowest two scores, and the largest half."""
    place, near, far, largest = np.int32(0), np.inf, np.inf, 0.0
    for k in range(scores.shape[0]):
        largest = max(largest, halves[k])
        if scores[k] < near:
            place, near, far = np.int32(k), scores[k], near
        else:
            far = min(far, scores[k])
    return place, near, far, largest


@compiled
def put_row(data, indices, first, last, row, times):
    """Write a CSR row, times a number, into row (d,)."""
    for p in range(first, last):
        row[np.uint32(indices[p])] = times * data[p]


# Sums of rows are pairs of doubles: about 32 digits from two numbers of 16. A pair ``(high, low)``
# represents high + low; low is the rounding error of high. Each function is accurate to a few units
# of 2**-104. They are Dekker's and Knuth's (see Hida, Li and Bailey 2001, Algorithms for
# quad-double precision floating point arithmetic).


@compiled
def two_sum(a, b):
    """Return the rounded sum of a and b, and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@compiled
def two_product(a, b):
    """Return the rounded product of a and b, and its rounding error."""
    product = a * b
    return product, fused_multiply_add(a, b, -product)


@instruction("float64(float64, float64, float64)")
def fused_multiply_add(a, b, c):
    """Return a b + c, rounded once where c is about -a b, by Dekker's splitting."""
    a_high, b_high = _high_half(a), _high_half(b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high + c) + a_high * b_low + a_low * b_high) + a_low * b_low


@fused_multiply_add.llvm
def _(builder, a, b, c):
    return builder.fma(a, b, c)


def _high_half(a):
    """Return the leading 26 bits of a number."""
    shifted = 134217729.0 * a  # 2**27 + 1
    return shifted - (shifted - a)


@compiled
def add_pairs(a, a_low, b, b_low):
    """Return the sum of two pairs; the same bits in either order."""
    high, error = two_sum(a, b)
    low, rest = two_sum(a_low, b_low)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + rest)


@compiled
def multiply_pairs(a, a_low, b, b_low):
    """Return the product of two pairs; the same bits in either order."""
    high, error = two_product(a, b)
    return two_sum(high, error + (a * b_low + a_low * b))


@compiled
def divide_pairs(a, a_low, b, b_low):
    """Return the quotient of two pairs, by long division with three digits of 53 bits."""
    first = a / b
    high, low = multiply_pairs(first, 0.0, b, b_low)
    high, low = add_pairs(a, a_low, -high, -low)
    second = high / b
    down, down_low = multiply_pairs(second, 0.0, b, b_low)
    high, low = add_pairs(high, low, -down, -down_low)
    high, low = two_sum(first, second), high / b
    return add_pairs(high[0], high[1], low, 0.0)


@compiled
def move_rows(X, weights, rows, left, labels, mass, sums):
    """Move rows (m,) from the sums of the clusters they left (m,), -1 for none, to new clusters.

    mass (2, K) and sums (2, K, d) are the weight of each cluster and its weighted sum, as pairs.
    """
    for m in range(rows.shape[0]):
        i, old, new = rows[m], left[m], labels[rows[m]]
        weight = 1.0 if weights is None else np.float64(weights[i])
        if old >= 0:
            add_row(X, i, -weight, mass, sums, old)
        add_row(X, i, weight, mass, sums, new)


@compiled
def add_row(X, i, weight, mass, sums, k):
    """Add weight times row i to the sums of cluster k."""
    mass[0, k], rest = two_sum(mass[0, k], weight)
    mass[1, k] += rest
    high, low = sums[0, k], sums[1, k]
    if isinstance(X, tuple):
        data, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[p])
            add_number(np.float64(data[p]), weight, high, low, j)
    else:
        for j in range(high.shape[0]):
            add_number(np.float64(X[i, j]), weight, high, low, j)


@compiled(inline=True)
def add_number(x, weight, high, low, j):
    """Add weight x to a pair."""
    product, error = two_product(weight, x)
    high[j], rest = two_sum(high[j], product)
    low[j] += rest + error


@compiled
def add_squares(X, weights, start, stop, squares):
    """Add weight times square of rows start to stop to squares (2, d), pairs."""
    high, low = squares[0], squares[1]
    for i in range(start, stop):
        weight = 1.0 if weights is None else np.float64(weights[i])
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                add_square(np.float64(data[p]), weight, high, low, np.uint32(indices[p]))
        else:
            for j in range(high.shape[0]):
                add_square(np.float64(X[i, j]), weight, high, low, j)


@compiled(inline=True)
def add_square(x, weight, high, low, j):
    """Add weight x^2 to a pair."""
    product, product_error = two_product(weight, x)
    square, error = two_product(product, x)
    high[j], rest = two_sum(high[j], square)
    low[j] += rest + (error + product_error * x)


@compiled
def find_means(mass, sums, centers):
    """Set centers (K, d) to the means of clusters that have weight."""
    for k in range(centers.shape[0]):
        if mass[0, k] + mass[1, k] > 0.0:
            for j in range(centers.shape[1]):
                mean = divide_pairs(sums[0, k, j], sums[1, k, j], mass[0, k], mass[1, k])
                centers[k, j] = mean[0]


@compiled
def loss_of(squares, mass, sums, centers):
    """Return the sum of weighted squared distances of rows from their centers (K, d).

    It is ``sum w x^2 - sum over clusters of c.(2 S - W c)``, to 32 digits: S the sum, W the weight.
    """
    high = low = 0.0
    for j in range(squares.shape[1]):
        high, low = add_pairs(high, low, squares[0, j], squares[1, j])
    for k in range(centers.shape[0]):
        for j in range(centers.shape[1]):
            c = centers[k, j]
            part, part_low = multiply_pairs(mass[0, k], mass[1, k], c, 0.0)
            part, part_low = add_pairs(-part, -part_low, 2.0 * sums[0, k, j], 2.0 * sums[1, k, j])
            part, part_low = multiply_pairs(part, part_low, c, 0.0)
            high, low = add_pairs(high, low, -part, -part_low)
    return max(high + low, 0.0)


# k-means++: the gain of a candidate is the decrease of the sum of squared distances.
#
# Products of 24 rows with 4 candidates give the gain of each candidate, up to rounding, and the
# rows it may be nearest to. The squared distances of these rows are then computed in doubles, for
# the candidate with the largest gain.
#
# L candidates in quads (L / 4, d, 4); closest (n,): the squared distance of each row from the
# nearest center so far; limits (n,): the scores of these distances. A score is
# |x - c|^2 / 2 - |x|^2 / 2 in the units of panels.


@compiled
def start_from(X, center, sizes, scale, start, stop, closest, limits):
    """Fill closest and limits from row start to stop; sizes (n,) is |x|^2 / 2 in panels."""
    for i in range(start, stop):
        closest[i] = square_of_row(X, i, center)
        limits[i] = 0.5 * scale * scale * closest[i] - sizes[i]


@compiled
def estimate_gains(
    panels, shares, quads, halves, limits, slack, start, stop, nearer, partial, gains
):
    """Add the gains of candidates in panels start to stop to gains (L,), up to rounding.

    shares (n,) are weights, zero beyond the last row; halves (L,) is |c|^2 / 2, infinite beyond the
    last; slack (1,) is minus the largest rounding error of a score. nearer (L, n / 24) gets a bit
    for each row that may be nearer. partial (L, 8) is scratch space. Gains are in units of scores.
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
    """Add the gains of 4 candidates in 24 rows."""
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
def measure_gain(X, weights, center, sizes, scale, nearer, start, stop, take, closest, limits):
    """Return the gain of a candidate (d,) in panels start to stop, in doubles.

    nearer (n / 24,) has a bit for each row to read. With `take`, closest and limits are updated.
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
            square = square_of_row(X, i, center)
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


# Partial sums, because a single sum would wait for each addition.
@compiled(reorder_sums=True)
def square_of_row(X, i, center):
    """Return the squared distance of row i from a center (d,)."""
    square = 0.0
    for j in range(center.shape[0]):
        z = np.float64(X[i, j]) - center[j]
        square += z * z
    return square
