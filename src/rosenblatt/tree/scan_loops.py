# mypy: ignore-errors
"""The best threshold of one column in one node of a tree, by one scan of its sorted rows.

Legend: E (n,) the column's entries (see `tree_loops`), a node's from start to stop, its known
values up to `known`, NaN after; W, L, R weights of the node, its left and its right rows.

A scan starts with `left` (o, K), the sums of the missing values if they go left, and returns its
best score and the last position on the left, -1 if no split is allowed.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.loops import compiled

from .tree_loops import (
    GINI,
    HALF,
    LOW_HALF,
    MAJORITY,
    OWN_BRANCH,
    POISSON,
    SQUARED,
    bound_of_block,
    mean_score,
    score_of_two,
    x_log_x,
)

EPS = 2.220446049250313e-16
BLOCK = 64  # rows of a column that are counted, and perhaps skipped, together
FEWEST_IN_BLOCKS = 512  # rows of a node that is read by blocks


class Segment(NamedTuple):
    """The rows of a node in one column."""

    start: int
    known: int
    stop: int
    missing_left: bool
    only: int  # the one position to consider, or -1
    sign: int  # how predictions must change along the column
    lower: float  # the bounds that they have to keep
    upper: float
    missing: float  # the weight of the missing values


@compiled(inline=True)
def last_boundary(settings, at):
    """The end of the positions to scan: NaN on the right has a boundary before it."""
    after = at.known < at.stop and not at.missing_left and settings.missing != OWN_BRANCH
    return at.known if after else at.known - 1


@compiled(inline=True)
def is_boundary(E, at, p):
    """Whether the value changes after position p, and a split there is asked for."""
    return E[p] >> HALF != E[p + 1] >> HALF and (at.only < 0 or at.only == p)


@compiled
def is_allowed(settings, at, p, L, R, left_value, right_value):
    """Whether a split after position p has enough rows and weight on both sides, and predictions
    that rise or fall along the column as they must, within the node's bounds.
    """
    below, above = p - at.start + 1, at.known - p - 1
    if settings.missing == MAJORITY and at.known < at.stop:
        more = L - at.missing > R if at.missing_left else R - at.missing < L
        if more != at.missing_left:
            return False
    missing = 0 if settings.missing == OWN_BRANCH else at.stop - at.known
    if at.missing_left:
        below += missing
    else:
        above += missing
    enough = below >= settings.min_leaf and above >= settings.min_leaf
    enough &= min(L, R) >= settings.min_weight
    if not settings.monotone or not enough:
        return enough
    inside = min(left_value, right_value) >= at.lower
    inside &= max(left_value, right_value) <= at.upper
    return inside and (left_value - right_value) * at.sign <= 0


@compiled
def count_blocks(E, settings, at, table, W, W1, L, ones, least, ends):
    """Write how many rows of the second class are left of the end of each block to `ends`.

    Returns the best score of these ends, or `least` if none is better.
    """
    gini = settings.kind == GINI
    for b in range((last_boundary(settings, at) - at.start) // BLOCK):
        begin = at.start + b * BLOCK
        count = np.uint64(0)
        for p in range(begin, begin + BLOCK):
            count += E[p] & np.uint64(1)
        ones += np.float64(count)
        L += BLOCK
        ends[at.start + b] = ones
        p = begin + BLOCK - 1
        if (E[p] ^ E[p + 1]) >> HALF:
            R, R1 = W - L, W1 - ones
            score = score_of_two(gini, L - ones, ones, R - R1, R1, table)
            if score > least and is_allowed(settings, at, p, L, R, 0.0, 0.0):
                least = score
    return least


@compiled
def scan_counts(E, settings, at, table, W, W1, L, below1, least, ends):
    """Two classes, each row once: weights are whole numbers, those of the second class end in 1.

    Long columns are counted by blocks first; of these, only the ones that can hold the best score
    are read row by row. A split that scores less than `least` need not be found. Scratch:
    ends (n,), of which the node's part is used.
    """
    gini, ones = settings.kind == GINI, below1
    begin, last = at.start, last_boundary(settings, at)
    in_blocks = last - begin >= FEWEST_IN_BLOCKS
    if gini:
        least = 0.5 * (least - W)
    if in_blocks:
        least = count_blocks(E, settings, at, table, W, W1, L, ones, least, ends)
    best, place = -np.inf, -1
    while begin < last:
        end = last
        if in_blocks and last - begin >= BLOCK:
            end, after = begin + BLOCK, ends[at.start + (begin - at.start) // BLOCK]
            b0 = L + BLOCK - after
            if bound_of_block(gini, L - ones, ones, b0, after, W - W1, W1, table) < least:
                begin, ones, L = end, after, L + BLOCK
                continue
        for p in range(begin, end):
            key = E[p]
            ones += np.float64(key & np.uint64(1))
            L += 1.0
            if (key ^ E[p + 1]) >> HALF:
                L1 = ones
                R, R1 = W - L, W1 - L1
                L0, R0 = L - L1, R - R1
                if gini:  # W + 2 times this is the score; one division takes a third of the time
                    score = -(L0 * L1 * R + R0 * R1 * L) / (L * R)
                else:
                    score = score_of_two(False, L0, L1, R0, R1, table)
                if score > best and is_allowed(settings, at, p, L, R, 0.0, 0.0):
                    best, place = score, p
        begin = end
    if gini and place >= 0:
        best = W + 2.0 * best
    return best, place


@compiled
def scan_two_classes(E, rows, settings, at, totals, left, ends):
    """Two classes: the weight of the second on the left determines the score."""
    W1, L1 = totals[0, 1], left[0, 1]
    W, L = totals[0, 0] + W1, left[0, 0] + L1
    if settings.shift and not settings.weighted and not settings.monotone and at.only < 0:
        return scan_counts(E, settings, at, rows.table, W, W1, L, L1, -np.inf, ends)
    weighted, shift, table = settings.weighted, np.uint64(settings.shift), rows.table
    classes, weights = rows.classes, rows.weights
    best, place = -np.inf, -1
    for p in range(at.start, last_boundary(settings, at)):
        row = (E[p] & LOW_HALF) >> shift
        w = weights[row] if weighted else 1.0
        L += w
        if classes[row, 0]:
            L1 += w
        if is_boundary(E, at, p):
            R, R1 = W - L, W1 - L1
            L0, R0 = max(L - L1, 0.0), max(R - R1, 0.0)
            if settings.kind == GINI:
                score = (L0 * L0 + L1 * L1) / L + (R0 * R0 + R1 * R1) / R
            else:
                score = x_log_x(L0, weighted, table) + x_log_x(L1, weighted, table)
                score += x_log_x(R0, weighted, table) + x_log_x(R1, weighted, table)
                score -= x_log_x(L, weighted, table) + x_log_x(R, weighted, table)
            if score > best and is_allowed(settings, at, p, L, R, L1 / L, R1 / R):
                best, place = score, p
    return best, place


@compiled
def scan_classes(E, rows, settings, at, totals, left):
    """Any number of classes and outputs: scores follow each row by what it changes."""
    weighted, table, classes, weights = settings.weighted, rows.table, rows.classes, rows.weights
    gini = settings.kind == GINI
    W, L, left_sum, right_sum = 0.0, 0.0, 0.0, 0.0
    for k in range(totals.shape[1]):
        W += totals[0, k]
        L += left[0, k]
    for o in range(totals.shape[0]):
        for k in range(totals.shape[1]):
            a, b = left[o, k], totals[o, k] - left[o, k]
            left_sum += a * a if gini else x_log_x(a, weighted, table)
            right_sum += b * b if gini else x_log_x(b, weighted, table)
    outputs = totals.shape[0]
    best, place = -np.inf, -1
    for p in range(at.start, last_boundary(settings, at)):
        row = E[p] & LOW_HALF
        w = weights[row] if weighted else 1.0
        L += w
        for o in range(outputs):
            c = classes[row, o]
            a = left[o, c]
            b = totals[o, c] - a
            left[o, c] = a + w
            if gini:
                left_sum += w * (2 * a + w)
                right_sum -= w * (2 * b - w)
            else:
                left_sum += x_log_x(a + w, weighted, table) - x_log_x(a, weighted, table)
                right_sum += x_log_x(b - w, weighted, table) - x_log_x(b, weighted, table)
        if is_boundary(E, at, p):
            R = W - L
            if gini:
                score = left_sum / L + right_sum / R
            else:
                score = left_sum + right_sum
                score -= outputs * (x_log_x(L, weighted, table) + x_log_x(R, weighted, table))
            if score > best and is_allowed(settings, at, p, L, R, 0.0, 0.0):
                best, place = score, p
    return best, place


@compiled
def scan_number(E, rows, settings, at, W, total, L, S):
    """One target: L and S, the weight and sum of the left, determine the score."""
    weighted, numbers, weights = settings.weighted, rows.numbers, rows.weights
    least = EPS * (at.stop - at.start) * abs(total)  # what rounding makes of zero
    best, place = -np.inf, -1
    for p in range(at.start, last_boundary(settings, at)):
        row = E[p] & LOW_HALF
        w = weights[row] if weighted else 1.0
        L += w
        S += w * numbers[row, 0]
        if is_boundary(E, at, p):
            R, T = W - L, total - S
            if settings.kind == SQUARED:
                score = S * S / L + T * T / R
            elif min(S, T) <= least:
                continue
            else:
                score = mean_score(settings.kind, S, L) + mean_score(settings.kind, T, R)
            if score > best and is_allowed(settings, at, p, L, R, S / L, T / R):
                best, place = score, p
    return best, place


@compiled
def scan_numbers(E, rows, settings, at, W, totals, L, left):
    """The same for several targets."""
    least = EPS * (at.stop - at.start)
    best, place = -np.inf, -1
    for p in range(at.start, last_boundary(settings, at)):
        row = E[p] & LOW_HALF
        w = rows.weights[row] if settings.weighted else 1.0
        L += w
        for o in range(totals.shape[0]):
            left[o, 0] += w * rows.numbers[row, o]
        if is_boundary(E, at, p):
            R, score = W - L, 0.0
            for o in range(totals.shape[0]):
                S, T = left[o, 0], totals[o, 0] - left[o, 0]
                if min(S, T) <= least * totals[o, 0] and settings.kind == POISSON:
                    score = -np.inf
                score += mean_score(settings.kind, S, L) + mean_score(settings.kind, T, R)
            if score > best and is_allowed(settings, at, p, L, R, 0.0, 0.0):
                best, place = score, p
    return best, place


@compiled
def scan_absolute(E, rows, settings, at, work):
    """Absolute error: deviations from the medians of every left part, then of every right part."""
    last, deviation = last_boundary(settings, at), work.deviation[0]
    classes, numbers, weights, weighted = (
        rows.classes,
        rows.numbers,
        rows.weights,
        settings.weighted,
    )
    weight_tree, sum_tree = work.weight_tree, work.sum_tree
    # NaN is on the left, on the right, or (in a branch of its own) on neither side.
    right_end = at.known if at.missing_left or settings.missing == OWN_BRANCH else at.stop
    for p in range(at.start, at.stop):
        deviation[p] = 0.0
    W, L, best, place = 0.0, 0.0, -np.inf, -1
    for o in range(numbers.shape[1]):
        levels = rows.levels[o]
        first = at.start - (at.stop - at.known) if at.missing_left else at.start
        for q in range(first, last):
            p = q if q >= at.start else at.known + q - first
            row = E[p] & LOW_HALF
            w = weights[row] if weighted else 1.0
            add_target(w, numbers[row, o], classes[row, o], weight_tree, sum_tree)
            if q >= at.start and is_boundary(E, at, p):
                deviation[p] += deviation_from_median(levels, weight_tree, sum_tree)
                if settings.monotone:
                    work.deviation[1, p] = median(levels, weight_tree)
        clear_targets(weight_tree, sum_tree)
        for p in range(right_end - 1, at.start, -1):
            row = E[p] & LOW_HALF
            w = weights[row] if weighted else 1.0
            add_target(w, numbers[row, o], classes[row, o], weight_tree, sum_tree)
            if p <= last and is_boundary(E, at, p - 1):
                deviation[p - 1] += deviation_from_median(levels, weight_tree, sum_tree)
                if settings.monotone:
                    work.deviation[2, p - 1] = median(levels, weight_tree)
        clear_targets(weight_tree, sum_tree)
    for p in range(at.start, at.stop if settings.missing != OWN_BRANCH else at.known):
        w = weights[E[p] & LOW_HALF] if weighted else 1.0
        W += w
        if at.missing_left and p >= at.known:
            L += w
    for p in range(at.start, last):
        L += weights[E[p] & LOW_HALF] if weighted else 1.0
        if is_boundary(E, at, p) and -deviation[p] > best:
            below, above = 0.0, 0.0
            if settings.monotone:
                below, above = work.deviation[1, p], work.deviation[2, p]
            if is_allowed(settings, at, p, L, W - L, below, above):
                best, place = -deviation[p], p
    return best, place


@compiled
def add_target(w, y, rank, weight_tree, sum_tree):
    """Add a target y of weight w to the Fenwick trees of weights and weighted targets."""
    i = rank + 1
    while i < weight_tree.shape[0]:
        weight_tree[i] += w
        sum_tree[i] += w * y
        i += i & -i


@compiled
def total_weight(weight_tree):
    """The weight of all targets in a Fenwick tree."""
    W, i = 0.0, weight_tree.shape[0] - 1
    while i > 0:
        W += weight_tree[i]
        i -= i & -i
    return W


@compiled
def places_below(weight_tree, most):
    """How many of the lowest places of a Fenwick tree weigh less than `most` together."""
    step, place, below = 1, 0, 0.0
    while 2 * step < weight_tree.shape[0]:
        step *= 2
    while step > 0:
        if place + step < weight_tree.shape[0] and below + weight_tree[place + step] < most:
            place += step
            below += weight_tree[place]
        step //= 2
    return place


@compiled
def median(levels, weight_tree):
    """The weighted median of the targets in a Fenwick tree; of two in the middle, the mean."""
    half = 0.5 * total_weight(weight_tree)
    low = places_below(weight_tree, half)
    high = places_below(weight_tree, np.nextafter(half, np.inf))
    return 0.5 * (levels[low] + levels[high])


@compiled
def deviation_from_median(levels, weight_tree, sum_tree):
    """The sum of w |y - m| over the targets in the Fenwick trees, m their weighted median."""
    size = weight_tree.shape[0]
    W, S, i = 0.0, 0.0, size - 1
    while i > 0:
        W += weight_tree[i]
        S += sum_tree[i]
        i -= i & -i
    step, place, below, sum_below = 1, 0, 0.0, 0.0
    while 2 * step < size:
        step *= 2
    while step > 0:  # the largest place whose targets weigh less than half
        if place + step < size and below + weight_tree[place + step] < 0.5 * W:
            place += step
            below += weight_tree[place]
            sum_below += sum_tree[place]
        step //= 2
    m = levels[place]
    return max((S - sum_below) - m * (W - below) + m * below - sum_below, 0.0)


@compiled
def clear_targets(weight_tree, sum_tree):
    """Empty the Fenwick trees."""
    for i in range(weight_tree.shape[0]):
        weight_tree[i] = 0.0
        sum_tree[i] = 0.0
