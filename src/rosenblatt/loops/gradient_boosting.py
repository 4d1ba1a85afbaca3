"""Growing one tree of gradient boosting on coded columns.

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
from rosenblatt.loops.simd import lanes
from rosenblatt.loops.simd.exponential import bits, float_of

LEVELS = 256  # of a column, the last for missing values
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
GAIN, VALUE, LOWER, UPPER, LEAF_G, LEAF_H = range(6)
# Rows of `columns`.
N_LEVELS, HAS_MISSING, CATEGORICAL, MONOTONIC = range(4)
# `state` of a growing tree.
N_NODES, N_OPEN, N_LEAVES, WANTED, BUILT, N_FREE, WORK = range(7)
# `whole`: settings that are integers.
MOST_LEAVES, MOST_DEPTH, LEAST_ROWS, COUNT_BITS, HESSIAN_BITS, SHARED_ABOVE, SEED = range(7)
# `real`: settings that are not.
L2, G_SCALE, H_SCALE, H_OF_COUNT, COUNT_OF_H, SHARE_TRIED = range(6)
DONE, PAUSE = -1, -2
WORK_A_CALL = 300_000_000


@compiled(inline=True)
def scrambled(x):
    """A number of 64 bits that looks random (splitmix64)."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


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
    order.
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


@compiled
def histograms(codes, rows, values, start, stop, first, last, hist, slot):
    """Set blocks first to last in a slot of hist (slots, blocks, 2048) to the histograms of rows.

    codes (blocks, n) hold the levels of eight columns each. rows (2, n) are the rows in the order
    of the nodes, of which start to stop are meant, and values (n,) what to add for each.
    """
    order, ahead = rows[0, start:stop], rows[0, start + AHEAD : stop + AHEAD]
    for block in range(first, last):
        cells, eight = hist[slot, block], codes[block]
        cells[:] = 0
        for i in range(order.shape[0]):
            row = np.uint32(order[i])  # of what is not negative, no index is checked
            later = np.int64(ahead[i])
            lanes.call(eight, later)
            lanes.call(values, later)
            k, value = eight[row], values[row]
            cells[k & BYTE] += value
            cells[256 + ((k >> np.uint64(8)) & BYTE)] += value
            cells[512 + ((k >> np.uint64(16)) & BYTE)] += value
            cells[768 + ((k >> np.uint64(24)) & BYTE)] += value
            cells[1024 + ((k >> np.uint64(32)) & BYTE)] += value
            cells[1280 + ((k >> np.uint64(40)) & BYTE)] += value
            cells[1536 + ((k >> np.uint64(48)) & BYTE)] += value
            cells[1792 + (k >> np.uint64(56))] += value


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
        total += cells[order[first + i * step]]
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
        _, G_level, H_level = sums_of(cells[level], whole, real)
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

    hist (slots, blocks, 2048) has its histograms in a slot, allowed (d,) the columns that may be
    tried. Missing values go to the better side. Categories are ordered by their gradients; the
    first few from either end go left, at most half, so that rare and new ones go with the many; the
    bits of those are written to sets (nodes, 4). ints (3, 256) and floats (2, 256) are scratch.
    """
    prefix, order, keys, gains = ints[0], ints[1], floats[0], floats[1]
    lower, upper, total = number[v, LOWER], number[v, UPPER], node[v, SUM]
    best = np.int64(0)
    node[v, COLUMN] = -1
    for j in range(allowed.shape[0]):
        if not allowed[j]:
            continue
        first = (j % COLUMNS_A_BLOCK) * LEVELS
        cells = hist[slot, j // COLUMNS_A_BLOCK, first : first + LEVELS]
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
                cumulate(cells, n, cells[MISSING] if turn else np.int64(0), prefix)
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


@compiled
def levels_left(v, columns, node, sets, left):
    """Write to left (256,) which levels of its column go to the left child of node v."""
    if columns[CATEGORICAL, node[v, COLUMN]]:
        for level in range(LEVELS):
            word = sets[v, level >> 6] >> np.uint64(level & 63)
            left[level] = np.int64(word & np.uint64(1))
    else:
        for level in range(LEVELS):
            left[level] = level <= node[v, LEVEL]
        left[MISSING] = node[v, MISSING_LEFT]


@compiled
def partition(codes, j, left, start, stop, rows):
    """Move rows start to stop that go left before those that go right; return where these start.

    rows (2, n + 16): the second half is scratch. The order is kept on both sides.
    """
    eight, shift = codes[j // COLUMNS_A_BLOCK], np.uint64(j % COLUMNS_A_BLOCK * 8)
    order, right, ahead = rows[0, start:stop], rows[1], rows[0, start + AHEAD : stop + AHEAD]
    p, q = np.uint64(0), np.uint64(0)  # indices that are not negative are not checked
    for i in range(order.shape[0]):
        row = order[i]
        lanes.call(eight, np.int64(ahead[i]))
        goes_left = np.uint64(left[(eight[np.uint32(row)] >> shift) & BYTE])
        order[p], right[q] = row, row
        p += goes_left
        q += np.uint64(1) - goes_left
    moved = rows[0, start + np.int64(p) : stop]
    for i in range(moved.shape[0]):
        moved[i] = right[i]
    return start + np.int64(p)


@compiled
def split_node(
    v, codes, rows, columns, groups, whole, real, node, number, sets, active, state, left
):
    """Divide the rows of node v between two new nodes."""
    j, start, stop = node[v, COLUMN], node[v, START], node[v, STOP]
    levels_left(v, columns, node, sets, left)
    middle = partition(codes, j, left, start, stop, rows)
    if not columns[HAS_MISSING, j]:
        node[v, MISSING_LEFT] = middle - start > stop - middle
    first = state[N_NODES]
    state[N_NODES] += 2
    state[N_LEAVES] += 1
    node[v, LEFT] = first
    for child in (first, first + 1):
        right = child > first
        node[child, START] = middle if right else start
        node[child, STOP] = stop if right else middle
        node[child, SUM] = node[v, SUM] - node[v, LEFT_SUM] if right else node[v, LEFT_SUM]
        node[child, LEFT], node[child, SLOT] = 0, 0
        node[child, DEPTH], node[child, PARENT] = node[v, DEPTH] + 1, v
        _, G, H = sums_of(node[child, SUM], whole, real)
        number[child, LOWER], number[child, UPPER] = number[v, LOWER], number[v, UPPER]
        number[child, VALUE] = newton_step(G, H, real[L2], number[v, LOWER], number[v, UPPER])
        for k in range(groups.shape[0]):
            active[child, k] = active[v, k] & groups[k, j]
    sign = columns[MONOTONIC, j]
    if sign != 0:
        middle_value = 0.5 * (number[first, VALUE] + number[first + 1, VALUE])
        low, high = (first, first + 1) if sign > 0 else (first + 1, first)
        number[low, UPPER], number[high, LOWER] = middle_value, middle_value


@compiled
def allowed_columns(v, groups, active, seed, share, order, allowed):
    """Write to allowed (d,) the columns that node v may try: by the groups, or a share of those."""
    d = allowed.shape[0]
    n = 0
    for j in range(d):
        allowed[j] = groups.shape[0] == 0
        for k in range(groups.shape[0]):
            allowed[j] |= active[v, k] & groups[k, j]
        if allowed[j]:
            order[n] = j
            n += 1
    if share >= 1.0:
        return
    tried = max(1, int(np.ceil(share * n)))
    draw = scrambled(np.uint64(seed) + np.uint64(v))
    for i in range(n):
        draw = scrambled(draw)
        k = i + np.int64(draw % np.uint64(n - i))
        order[i], order[k] = order[k], order[i]
        allowed[order[i]] = i < tried


@compiled
def push(v, heap, number, state):
    """Add node v to the heap of nodes that can be split, the largest gain first."""
    p = state[N_OPEN]
    state[N_OPEN] += 1
    while p > 0 and number[heap[(p - 1) // 2], GAIN] < number[v, GAIN]:
        heap[p] = heap[(p - 1) // 2]
        p = (p - 1) // 2
    heap[p] = v


@compiled
def pop(heap, number, state):
    """Take the node of the largest gain off the heap."""
    top = heap[0]
    state[N_OPEN] -= 1
    n = state[N_OPEN]
    v, p = heap[n], 0
    while 2 * p + 1 < n:
        child = 2 * p + 1
        if child + 1 < n and number[heap[child + 1], GAIN] > number[heap[child], GAIN]:
            child += 1
        if number[heap[child], GAIN] <= number[v, GAIN]:
            break
        heap[p] = heap[child]
        p = child
    heap[p] = v
    return top


@compiled(inline=True)
def can_split(v, whole, node):
    """Whether node v has rows enough and may have children."""
    enough = node[v, STOP] - node[v, START] >= 2 * whole[LEAST_ROWS]
    return enough and node[v, DEPTH] < whole[MOST_DEPTH]


@compiled
def grow(
    codes, rows, values, columns, groups, hist, whole, real, node, number, sets, active, heap,
    free, state, allowed, ints, floats,
):  # fmt: skip
    """Grow a tree leaf by leaf, the largest gain first.

    Returns DONE, or a node whose histograms the caller is to build, since they are worth sharing
    among threads (then set state[BUILT] and call again), or PAUSE, to be called again.

    codes (blocks, n): eight columns' levels. rows (2, n), values (n,), columns (4, d). groups
    (m, d): which columns may meet. hist (slots, blocks, 2048): slot 0 is scratch, free (slots,) a
    stack of the others. node, number: rows of nodes. sets (nodes, 4), active (nodes, m), heap
    (nodes,).
    """
    none, blocks = np.int64(0), codes.shape[0]  # not a literal, which would compile loops anew
    while True:
        v = state[WANTED]
        if v >= 0 and not state[BUILT]:
            cells = (node[v, STOP] - node[v, START]) * columns.shape[1]
            if cells > whole[SHARED_ABOVE]:
                return v
            histograms(
                codes,
                rows,
                values,
                node[v, START],
                node[v, STOP],
                none,
                blocks,
                hist,
                node[v, SLOT],
            )
            state[WORK] += cells
        if v >= 0:
            state[WANTED], state[BUILT] = -1, 0
            u = node[v, PARENT]
            other = 2 * node[u, LEFT] + 1 - v if v > 0 else -1
            by_difference = v > 0 and node[u, SLOT] > 0
            if by_difference:
                subtract(hist, node[u, SLOT], node[v, SLOT])
                node[other, SLOT], node[u, SLOT] = node[u, SLOT], 0
            for child in (v, other):
                if child < 0:
                    continue  # the root has no sibling
                opened = can_split(child, whole, node)
                if opened and child != v and not by_difference:
                    start, stop = node[other, START], node[other, STOP]
                    histograms(codes, rows, values, start, stop, none, blocks, hist, none)
                if opened:
                    seed, share = whole[SEED], real[SHARE_TRIED]
                    allowed_columns(child, groups, active, seed, share, ints[2], allowed)
                    opened = find_split(
                        child, hist, node[child, SLOT], columns, allowed, whole, real, node,
                        number, sets, ints, floats,
                    )  # fmt: skip
                if opened:
                    push(child, heap, number, state)
                elif node[child, SLOT] > 0:
                    free[state[N_FREE]] = node[child, SLOT]
                    state[N_FREE] += 1
        if state[N_OPEN] == 0 or state[N_LEAVES] >= whole[MOST_LEAVES]:
            return DONE
        if state[WORK] > WORK_A_CALL:
            state[WORK] = 0
            return PAUSE
        v = pop(heap, number, state)
        split_node(
            v, codes, rows, columns, groups, whole, real, node, number, sets, active, state,
            ints[1],
        )  # fmt: skip
        first = node[v, LEFT]
        if can_split(first, whole, node) or can_split(first + 1, whole, node):
            left_is_smaller = 2 * node[first, STOP] <= node[v, START] + node[v, STOP]
            state[WANTED] = first if left_is_smaller else first + 1
            if state[N_FREE] > 0:
                state[N_FREE] -= 1
                node[state[WANTED], SLOT] = free[state[N_FREE]]
        elif node[v, SLOT] > 0:
            free[state[N_FREE]] = node[v, SLOT]
            state[N_FREE] += 1
        if state[N_LEAVES] >= whole[MOST_LEAVES]:
            return DONE


@compiled
def subtract(hist, slot, other):
    """Take the histograms in another slot off those in a slot of hist (slots, blocks, 2048)."""
    for block in range(hist.shape[1]):
        for b in range(hist.shape[2]):
            hist[slot, block, b] -= hist[other, block, b]


@compiled
def finish(rows, gradient, hessian, l2, shrinkage, node, number, n_nodes, raw):
    """Set the values of the leaves to the Newton steps of their rows, and add them to raw (n,).

    The sums are of the gradients themselves, which the histograms have rounded. hessian has shape
    (1,) if it is constant. The second half of rows (2, n) gets the leaf of each row.
    """
    n = gradient.shape[0]
    for v in range(n_nodes):
        number[v, LEAF_G], number[v, LEAF_H] = 0.0, 0.0
        if node[v, LEFT] == 0:
            for i in range(node[v, START], node[v, STOP]):
                rows[1, rows[0, i]] = v
    for i in range(n):
        number[rows[1, i], LEAF_G] += gradient[i]
    if hessian.shape[0] > 1:
        for i in range(n):
            number[rows[1, i], LEAF_H] += hessian[i]
    for v in range(n_nodes):
        if node[v, LEFT] == 0:
            G, H = number[v, LEAF_G], number[v, LEAF_H]
            if hessian.shape[0] == 1:
                H = hessian[0] * float(node[v, STOP] - node[v, START])
            number[v, VALUE] = newton_step(G, H, l2, number[v, LOWER], number[v, UPPER])
            number[v, VALUE] *= shrinkage
    for i in range(n):
        raw[i] += number[rows[1, i], VALUE]
