# mypy: ignore-errors
"""Histograms of the derivatives in gradient boosting, and the best split of a node.


    g, h    first and second derivative of the loss at each row
    G, H    their sums over the rows of a node
    gain    what a split takes off the loss, to second order, times two:
            G_l^2 / (H_l + l2) + G_r^2 / (H_r + l2) - G^2 / (H + l2)

A cell of a histogram is one integer of 64 bits that holds three sums: how many rows have this
level, of their h and of their g, in steps of a scale. The scales are chosen so that the sums over
all rows fit their bits: then every sum does. Adding a row to the histograms of eight columns is one
load of eight codes and eight additions, the sums do not depend on their order, and the histogram
of a child is its parent's less its sibling's, exactly.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.exponential import bits, float_of
from rosenblatt.loops.simd import prefetch

LEVELS = 256  # of a column, the last for missing values
FEW_LEVELS = 32  # the same where all columns have few: their histograms stay in the cache
MISSING = 255
COLUMNS_A_BLOCK = 8
BYTE = np.uint64(255)
AHEAD = 16  # rows ahead of their use, which are asked from memory; rows (2, n + 16) end in padding
NEARLY = np.int64(2**30)  # of the bits of a gain: within 2e-7, the first of two is the better
LEAST_HESSIAN = 1e-3  # of a child
SUPPORT = 10.0  # rows that a category needs to be placed by its own gradient
TINY = 1e-15
# Added to an integer's bits, or to a double, it makes one the other's last bits (1.5 * 2**52).
ROUNDING, ROUNDING_BITS = 6755399441055744.0, np.int64(0x4338000000000000)
GOLDEN, SILVER = np.int64(0x9E3779B97F4A7), np.int64(0x6A09E667F3BCD)  # of 2**52

# Columns of `node`: integers of each node.
COLUMN, LEVEL, MISSING_LEFT, LEFT, START, STOP, SLOT, DEPTH, PARENT, SUM, LEFT_SUM = range(11)
# Columns of `number`.
GAIN, VALUE, LOWER, UPPER = range(4)
# Rows of `columns`.
N_LEVELS, HAS_MISSING, CATEGORICAL, MONOTONIC = range(4)
# `state` of a growing tree.
N_NODES, N_OPEN, N_LEAVES, WANTED, BY_DIFFERENCE, N_FREE, WORK, OPENED = range(8)
# `whole`: settings that are integers.
MOST_LEAVES, MOST_DEPTH, LEAST_ROWS, COUNT_BITS, HESSIAN_BITS, SHARED_ABOVE, SEED, DITHER = range(8)
LOSS, NEWTON_LEAVES = 8, 9
# `real`: settings that are not.
L2, G_SCALE, H_SCALE, H_OF_COUNT, COUNT_OF_H, SHARE_TRIED, SHRINKAGE = range(7)


@compiled(inline=True)
def double(integer):
    """An integer below 2**51 as a double, in a way that is vectorised."""
    return float_of(integer + ROUNDING_BITS) - ROUNDING


@compiled(inline=True)
def nearest(number):
    """The integer nearest to a double below 2**51."""
    return bits(number + ROUNDING) - ROUNDING_BITS


@compiled(inline=True)
def spread(i, step):
    """Numbers from -1/2 to 1/2 that are spread evenly over any run of i."""
    z = (np.int64(i) * step) & np.int64(2**52 - 1)
    return float_of(z | np.int64(0x3FF0000000000000)) - 1.5


@compiled
def pack(gradient, hessian, whole, real, dither, first, last, rows, values):
    """Write g and h of rows first to last (of n) as one integer each to values (n,).

    Rounded to the nearest, or up in the share of the rows that the rest is, if `dither` is not 0:
    then sums over many rows are right even if each is a fraction of a step. Starts rows (2, n) in
    order. Returns the sum of the integers.
    """
    to_hessian = whole[COUNT_BITS]
    to_gradient = to_hessian + whole[HESSIAN_BITS]
    one = np.int64(1) if to_hessian > 0 else np.int64(0)
    g_scale, h_scale = 1.0 / real[G_SCALE], 1.0 / real[H_SCALE]
    share = 1.0 if dither else 0.0
    order, cells, gradient = rows[0, first:last], values[first:last], gradient[first:last]
    for i in range(cells.shape[0]):
        order[i] = first + i
        step = gradient[i] * g_scale + share * spread(dither + first + i, GOLDEN)
        cells[i] = (nearest(step) << to_gradient) + one
    if whole[HESSIAN_BITS] > 0:
        hessian = hessian[first:last]
        for i in range(cells.shape[0]):
            step = hessian[i] * h_scale + share * spread(dither + first + i, SILVER)
            cells[i] += max(nearest(step), 0) << to_hessian
    total = np.int64(0)
    for i in range(cells.shape[0]):
        total += cells[i]
    return total


@compiled(inline=True)
def add_rows(order, ahead, eight, values, cells, levels):
    """Add the values of rows to the histograms cells (8 levels,) of eight columns."""
    low = np.uint64(levels - 1)
    for i in range(order.shape[0]):
        row = np.uint32(order[i])  # of what is not negative, no index is checked
        later = np.int64(ahead[i])
        prefetch(eight, later)
        prefetch(values, later)
        k, value = eight[row], values[row]
        cells[k & low] += value
        cells[levels + ((k >> np.uint64(8)) & low)] += value
        cells[2 * levels + ((k >> np.uint64(16)) & low)] += value
        cells[3 * levels + ((k >> np.uint64(24)) & low)] += value
        cells[4 * levels + ((k >> np.uint64(32)) & low)] += value
        cells[5 * levels + ((k >> np.uint64(40)) & low)] += value
        cells[6 * levels + ((k >> np.uint64(48)) & low)] += value
        cells[7 * levels + ((k >> np.uint64(56)) & low)] += value


@compiled
def histograms(codes, rows, values, start, stop, first, last, hist, slot):
    """Set blocks first to last in a slot of hist (slots, blocks, 8 levels) to those of rows.

    codes (blocks, n) hold the levels of eight columns each. rows (2, n) are the rows in the order
    of the nodes, of which start to stop are meant, and values (n,) what to add for each.
    """
    order, ahead = rows[0, start:stop], rows[0, start + AHEAD : stop + AHEAD]
    for block in range(first, last):
        cells, eight = hist[slot, block], codes[block]
        cells[:] = 0
        if cells.shape[0] == COLUMNS_A_BLOCK * LEVELS:  # the compiler then knows the places
            add_rows(order, ahead, eight, values, cells, LEVELS)
        else:
            add_rows(order, ahead, eight, values, cells, FEW_LEVELS)


@compiled(inline=True)
def newton_step(G, H, l2, lower, upper):
    """The value of a node: -G / (H + l2), within bounds."""
    return min(max(-G / (H + l2 + TINY), lower), upper)


@compiled
def sums_of(cell, whole, real):
    """The number of rows, G and H of a sum of cells."""
    shift = whole[COUNT_BITS]
    count = float(cell & ((np.int64(1) << shift) - 1))
    steps = float((cell >> shift) & ((np.int64(1) << whole[HESSIAN_BITS]) - 1))
    G = float(cell >> (shift + whole[HESSIAN_BITS])) * real[G_SCALE]
    H = steps * real[H_SCALE] + count * real[H_OF_COUNT]
    return count + steps * real[COUNT_OF_H], G, H


@compiled(reorder_sums=True)
def best_gain(prefix, n, total, whole, real, gains):
    """Write to gains (n,) the sum of G^2 / (H + l2) if prefix (n,) of total goes left.

    0 where a side would be too small. Returns the bits of the largest: of numbers that are not
    negative they have the same order.
    """
    shift, h_bits = whole[COUNT_BITS], whole[HESSIAN_BITS]
    to_gradient = shift + h_bits
    count_mask, h_mask = (np.int64(1) << shift) - 1, (np.int64(1) << h_bits) - 1
    g_scale, h_scale = real[G_SCALE], real[H_SCALE]
    h_of_count, count_of_h = real[H_OF_COUNT], real[COUNT_OF_H]
    rows, G, H = sums_of(total, whole, real)
    least, l2 = float(whole[LEAST_ROWS]), real[L2] + TINY
    most, most_H = rows - least, H - LEAST_HESSIAN
    best = np.int64(0)
    for b in range(n):
        cell = prefix[b]
        count, steps = double(cell & count_mask), double((cell >> shift) & h_mask)
        left_G = double(cell >> to_gradient) * g_scale
        left_H = steps * h_scale + count * h_of_count
        count += steps * count_of_h
        right_G, left, right = G - left_G, left_H + l2, H - left_H + l2
        # One division in place of two: they take longest.
        gain = (left_G * left_G * right + right_G * right_G * left) / (left * right)
        gain = gain if count >= least else 0.0
        gain = gain if count <= most else 0.0
        gain = gain if left_H >= LEAST_HESSIAN else 0.0
        gain = gain if left_H <= most_H else 0.0
        gains[b] = gain
        best = max(best, bits(gain))
    return best


@compiled
def best_bounded_gain(prefix, n, total, whole, real, sign, lower, upper, gains):
    """The same where values have bounds, and one side must not exceed the other.

    `sign` is 1 if the right side must not be lower, -1 if not higher.
    """
    rows, G, H = sums_of(total, whole, real)
    best = np.int64(0)
    for b in range(n):
        count, left_G, left_H = sums_of(prefix[b], whole, real)
        right_G, right_H = G - left_G, H - left_H
        left = newton_step(left_G, left_H, real[L2], lower, upper)
        right = newton_step(right_G, right_H, real[L2], lower, upper)
        gains[b] = -left_G * left - right_G * right
        if (
            count < whole[LEAST_ROWS]
            or rows - count < whole[LEAST_ROWS]
            or left_H < LEAST_HESSIAN
            or right_H < LEAST_HESSIAN
            or sign * (left - right) > 0.0
            or gains[b] < 0.0
        ):
            gains[b] = 0.0
        best = max(best, bits(gains[b]))
    return best


@compiled
def cumulate(cells, n, start, prefix):
    """Write start plus the sums of the first 1 to n cells to prefix (n,)."""
    total = start
    for b in range(n):
        total += cells[b]
        prefix[b] = total


@compiled
def cumulate_ordered(cells, order, first, step, n, prefix):
    """The same over the levels order[first], order[first + step], ..."""
    total = np.int64(0)
    for i in range(n):
        total += cells[order[first + i * step] & (cells.shape[0] - 1)]
        prefix[i] = total


@compiled
def sort_categories(cells, n_levels, has_missing, total, whole, real, keys, order):
    """Order the categories of a node by G / (H + 10); return how many have rows enough.

    Missing values are one more category. Writes keys and order (256,).
    """
    rows, _, H = sums_of(total, whole, real)
    n = 0
    for i in range(n_levels + has_missing):
        level = i if i < n_levels else MISSING
        _, G_level, H_level = sums_of(cells[level & (cells.shape[0] - 1)], whole, real)
        if H_level * rows < SUPPORT * H:
            continue
        key, p = G_level / (H_level + SUPPORT), n
        while p > 0 and keys[p - 1] > key:
            keys[p], order[p] = keys[p - 1], order[p - 1]
            p -= 1
        keys[p], order[p] = key, level
        n += 1
    return n


@compiled
def find_split(v, hist, slot, columns, allowed, whole, real, node, number, sets, ints, floats):
    """Write the best split of node v to its row of node and number; whether there is one.

    hist (slots, blocks, 8 levels) has its histograms in a slot, allowed (d,) the columns to try.
    Missing values go to the better side. Categories are ordered by their gradients; the
    first few from either end go left, at most half, so that rare and new ones go with the many; the
    bits of those are written to sets (nodes, 4). ints (3, 256) and floats (2, 256) are scratch.
    """
    prefix, order, keys, gains = ints[0], ints[1], floats[0], floats[1]
    lower, upper, total = number[v, LOWER], number[v, UPPER], node[v, SUM]
    best, width = np.int64(0), hist.shape[2] // COLUMNS_A_BLOCK
    node[v, COLUMN] = -1
    for j in range(allowed.shape[0]):
        if not allowed[j]:
            continue
        first = (j % COLUMNS_A_BLOCK) * width
        cells = hist[slot, j // COLUMNS_A_BLOCK, first : first + width]
        levels, missing = columns[N_LEVELS, j], columns[HAS_MISSING, j]
        categorical, sign = columns[CATEGORICAL, j], columns[MONOTONIC, j]
        if categorical:
            levels = sort_categories(cells, levels, missing, total, whole, real, keys, order)
        for turn in range(2 if categorical else 1 + missing):
            n = levels - 1 + missing * (1 - turn)
            if categorical:
                n = (levels + 1) // 2 - turn if levels > 1 else 0
                cumulate_ordered(cells, order, turn * (levels - 1), 1 - 2 * turn, n, prefix)
            else:
                cumulate(cells, n, cells[width - 1] if turn else np.int64(0), prefix)
            if sign != 0 or lower > -np.inf or upper < np.inf:
                found = best_bounded_gain(
                    prefix, n, total, whole, real, float(sign), lower, upper, gains
                )
            else:
                found = best_gain(prefix, n, total, whole, real, gains)
            if found <= best + NEARLY:
                continue
            best, place = found, 0
            while bits(gains[place]) < found - NEARLY:
                place += 1
            node[v, COLUMN], node[v, LEVEL], node[v, MISSING_LEFT] = j, place, turn
            node[v, LEFT_SUM], number[v, GAIN] = prefix[place], gains[place]
            if categorical:
                sets[v, 0], sets[v, 1], sets[v, 2], sets[v, 3] = 0, 0, 0, 0
                for i in range(place + 1):
                    level = order[levels - 1 - i if turn else i]
                    sets[v, level >> 6] |= np.uint64(1) << np.uint64(level & 63)
                node[v, MISSING_LEFT] = np.int64(sets[v, 3] >> np.uint64(63))
    if node[v, COLUMN] < 0:
        return False
    _, G, _ = sums_of(total, whole, real)
    number[v, GAIN] += G * number[v, VALUE]
    return number[v, GAIN] > 0.0
