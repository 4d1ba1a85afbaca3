# mypy: ignore-errors
"""The best split of a node of a forest's tree on one coded column.

A key holds a row in its low half, above it the row's class (16 bits) and how often the row was
drawn (16 bits). Three ways lead to the best threshold of a column:

- two classes by gini, each row as often as it was drawn, and targets by squares: few rows are
  sorted (`scan_sorted`, `scan_sorted_numbers`);
- more rows of two classes are counted by code, in one integer: rows, weight and ones
  (`scan_counted`). In a column of a sparse table that is mostly zero, only stored numbers are read;
- all else is summed by code (`group_rows`, `split_on_groups`): the weights of the classes, or
  weight and weight times target.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import lowest_bit
from rosenblatt.tree.tree_loops import (
    ENTROPY,
    GINI,
    LOW_HALF,
    MAJORITY,
    SQUARED,
    bound_of_block,
    is_better,
    mean_score,
    x_log_x,
)

CLASS_SHIFT, DRAWN_SHIFT = np.uint64(32), np.uint64(48)
SIXTEEN = np.uint64(0xFFFF)
CONSTANT, REFUSED = -2, -1  # no split: all codes are equal, or no part is large enough
BLOCK, BLOCKS = 16, 16  # codes that may be skipped together, of 256
FEW = 24  # rows of a node that are sorted rather than counted
CODE_SHIFT, WEIGHT_SHIFT, SUMS = np.uint64(48), np.uint64(24), np.uint64(2**48 - 1)
ONES = np.uint64(2**24 - 1)
FIELD, FIELDS = np.uint64(21), np.uint64(42)  # of a count: rows, weight, ones
FIELD_MASK = np.uint64(2**21 - 1)
MOST_COUNTED = 2**21 - 1  # the weight that a field has room for
SIX, SIXTY_THREE, ONE = np.uint64(6), np.uint64(63), np.uint64(1)


class Levels(NamedTuple):
    """The coded data of a fit."""

    codes: Any  # (d, n)
    missing_code: int
    n_levels: Any  # (d,) levels or categories
    categorical: Any  # (d,) whether codes are categories
    has_missing: Any  # (d,) whether values are missing
    bounds: Any  # (d, 2, M) least and largest value of each level
    numbers: Any  # (n,) targets, centred
    targets: Any  # (n,) targets
    weights: Any  # (n,)
    table: Any  # x ln x of whole numbers
    # The stored numbers of a sparse table; empty for a dense one.
    stored_rows: Any  # (stored,) their rows, column by column
    first_stored: Any  # (d + 1,) where the rows of each column begin
    zero_codes: Any  # (d,) code of zero


class Scratch(NamedTuple):
    """Space of one thread."""

    keys: Any  # (n,)
    buffer: Any  # (n,)
    added: Any  # (n,) what each row adds to a count: rows, weight, ones
    place: Any  # (n,) where each row is among the keys, -1 if nowhere; of sparse tables
    stack: Any  # (n + 1, 5) start, stop, depth, parent, branch code
    sums: Any  # (M + 1, S) of codes; zero between uses
    rows: Any  # (M + 1,) rows of codes, counted if settings ask for it; zero between uses
    held: Any  # (M / 64 + 1,) a bit for each code that occurs; zero between uses
    group_code: Any  # (M + 1,) the codes that occur, in order
    totals: Any  # (3, S) node, left, right
    columns: Any  # (d,)
    constant: Any  # (d, 2) places of the last node in which each column had one value
    found: Any  # (8,) score, column, last code left, -, NaN left, threshold, branches
    side_of: Any  # (M + 1,) child of each category
    sizes: Any  # (M + 2,) rows of each child
    counts: Any  # (256,) of codes; zero between uses
    below: Any  # (16,) counts of all codes up to the end of a block
    few: Any  # (FEW,) sorted rows


@compiled
def score_sums(kind, sums, W, table, whole):
    """The score of a branch of weight W (see `tree_scan`)."""
    score = 0.0
    if kind == GINI:
        for k in range(sums.shape[0]):
            score += sums[k] * sums[k]
        return score / W
    if kind == ENTROPY:
        for k in range(sums.shape[0]):
            score += x_log_x(sums[k], not whole, table)
        return score - x_log_x(W, not whole, table)
    return mean_score(kind, sums[1], W)


@compiled(inline=True)
def group_rows(levels, settings, scratch, j, start, stop):
    """Sum the rows of a node by their codes in column j; return how many codes occur.

    Their codes are written to scratch.group_code in order, that of NaN last.
    """
    codes, keys = levels.codes[j], scratch.keys
    sums, rows, held = scratch.sums, scratch.rows, scratch.held
    weights, numbers, weighted = levels.weights, levels.numbers, settings.weighted
    by_class = settings.kind <= ENTROPY
    counted = settings.min_leaf > 1 or settings.missing == MAJORITY
    missing_code, last = np.uint64(levels.missing_code), np.uint64(levels.n_levels[j])
    for i in range(start, stop):
        key = keys[i]
        row = key & LOW_HALF
        c = np.uint64(codes[row])
        c = last if c == missing_code else c
        w = np.float64(key >> DRAWN_SHIFT)
        if weighted:
            w *= weights[row]
        held[c >> SIX] |= ONE << (c & SIXTY_THREE)
        if by_class:
            sums[c, (key >> CLASS_SHIFT) & SIXTEEN] += w
        else:
            sums[c, 0] += w
            sums[c, 1] += w * numbers[row]
        if counted:
            rows[c] += 1
    n_groups = 0
    for word in range((levels.n_levels[j] >> 6) + 1):
        bits = held[word]
        held[word] = 0
        while bits:
            scratch.group_code[n_groups] = (word << 6) + lowest_bit(bits)
            n_groups += 1
            bits &= bits - ONE
    return n_groups


@compiled(inline=True)
def clear_groups(scratch, n_groups):
    """Set the sums of the codes that occur to zero again."""
    for g in range(n_groups):
        c = scratch.group_code[g]
        scratch.rows[c] = 0
        for k in range(scratch.sums.shape[1]):
            scratch.sums[c, k] = 0.0


@compiled(inline=True)
def split_on_groups(levels, settings, scratch, j, n_groups, W, share):
    """Improve on scratch.found by a threshold between two codes, or one drawn at random."""
    group_code, sums, totals = scratch.group_code, scratch.sums, scratch.totals
    last, missing = n_groups, False
    if group_code[n_groups - 1] == levels.n_levels[j]:
        last, missing = n_groups - 1, True
    by_pairs = sums.shape[1] == 2 and (settings.kind == GINI or settings.kind == SQUARED)
    if by_pairs and not missing and not settings.random:
        scan_pairs(levels, settings, scratch, j, n_groups, W, totals[0, 0], totals[0, 1])
        return
    only, threshold = -1, np.nan
    if settings.random and last > 1:
        only, threshold = random_group(levels, group_code, j, last, share)
    n_missing, M = scratch.rows[group_code[n_groups - 1]] if missing else 0, 0.0
    n_rows, S, kind = 0, sums.shape[1], settings.kind
    for g in range(n_groups):
        n_rows += scratch.rows[group_code[g]]
    left, right = totals[1], totals[2]
    for k in range((S if kind <= ENTROPY else 1) if missing else 0):
        M += sums[group_code[n_groups - 1], k]
    for side in range(2 if missing else 1):
        n_left, L = 0, 0.0
        for k in range(S):
            left[k] = sums[group_code[n_groups - 1], k] if side else 0.0
            right[k] = totals[0, k] - left[k]
            if kind <= ENTROPY:
                L += left[k]
        if side:
            n_left = n_missing
            L = L if kind <= ENTROPY else left[0]
        # With NaN on the right, all known values may go left.
        for g in range(last if missing and not side else last - 1):
            c = group_code[g]
            n_left += scratch.rows[c]
            for k in range(S):
                w = sums[c, k]
                left[k] += w
                right[k] -= w
                if kind <= ENTROPY or k == 0:
                    L += w
            if only >= 0 and g != only:
                continue
            R = W - L
            if kind == GINI and S == 2:
                score = W - 2.0 * (left[0] * left[1] * R + right[0] * right[1] * L) / (L * R)
            else:
                score = score_sums(kind, left, L, levels.table, not settings.weighted)
                score += score_sums(kind, right, R, levels.table, not settings.weighted)
            if is_better(score, scratch.found) and is_allowed(
                settings, n_left, n_rows, M, side, L, R
            ):
                above = group_code[g + 1] if g < last - 1 else -1
                take(levels, scratch, j, group_code[g], above, side, score, threshold)


@compiled
def scan_pairs(levels, settings, scratch, j, n_groups, W, W0, W1):
    """The same for two classes by gini, or one target by squares, without missing values.

    Either score needs two sums and one division at each threshold.
    """
    group_code, sums, rows = scratch.group_code, scratch.sums, scratch.rows
    gini, min_leaf, min_weight = settings.kind == GINI, settings.min_leaf, settings.min_weight
    n_rows, n_left = 0, 0
    if min_leaf > 1:
        for g in range(n_groups):
            n_rows += rows[group_code[g]]
    best, place = -np.inf, -1
    L0 = L1 = 0.0
    for g in range(n_groups - 1):
        c = group_code[g]
        L0 += sums[c, 0]
        L1 += sums[c, 1]
        R0, R1 = W0 - L0, W1 - L1
        if gini:
            L, R = L0 + L1, R0 + R1
            score = -(L0 * L1 * R + R0 * R1 * L) / (L * R)
        else:
            L, R = L0, R0
            score = (L1 * L1 * R + R1 * R1 * L) / (L * R)
        if min_leaf > 1:
            n_left += rows[c]
            if min(n_left, n_rows - n_left) < min_leaf:
                continue
        if score > best and min(L, R) >= min_weight:
            best, place = score, g
    if gini:
        best = W + 2.0 * best
    if place >= 0 and is_better(best, scratch.found):
        take(levels, scratch, j, group_code[place], group_code[place + 1], 0, best, np.nan)


@compiled
def is_allowed(settings, n_left, n_rows, M, side, L, R):
    """Whether a split has enough rows and weight on both sides; rows are counted if they matter.

    M is the weight of the missing values, which go left if `side` is 1.
    """
    if min(L, R) < settings.min_weight or min(L, R) <= 0:
        return False
    if settings.min_leaf > 1 and min(n_left, n_rows - n_left) < settings.min_leaf:
        return False
    if settings.missing == MAJORITY and M > 0:
        return L - M > R if side else L <= R - M
    return True


@compiled(inline=True)
def take(levels, scratch, j, code, above, side, score, threshold):
    """Keep the split after a code as the best; `above` is the next that occurs, -1 if none."""
    found = scratch.found
    found[0], found[1], found[2] = score, j, code
    found[4], found[5], found[6] = side, np.inf, 2
    if above >= 0:
        low, high = levels.bounds[j, 1, code], levels.bounds[j, 0, above]
        middle = low / 2.0 + high / 2.0
        if not (low <= middle < high):
            middle = low
        found[5] = threshold if low <= threshold < high else middle


@compiled(inline=True)
def scan_sorted(codes, settings, scratch, start, stop, W, W1):
    """The best threshold on few rows of two classes, by insertion sort of code, weight and ones.

    Returns the score, the last code on the left and the next; if there is none, the first is
    CONSTANT or REFUSED.
    """
    keys, few, m = scratch.keys, scratch.few, stop - start
    for i in range(m):
        key = keys[start + i]
        w = key >> DRAWN_SHIFT
        ones = w * ((key >> CLASS_SHIFT) & ONE)
        entry = np.uint64(codes[key & LOW_HALF]) << CODE_SHIFT | w << WEIGHT_SHIFT | ones
        p = i
        while p > 0 and few[p - 1] > entry:
            few[p] = few[p - 1]
            p -= 1
        few[p] = entry
    best, place, left = -np.inf, -1, np.uint64(0)
    for i in range(m - 1):
        left += few[i] & SUMS
        if (few[i] ^ few[i + 1]) >> CODE_SHIFT:
            L, L1 = np.float64(left >> WEIGHT_SHIFT), np.float64(left & ONES)
            score = half_gini(L, L1, W - L, W1 - L1)
            if score > best and is_large_enough(settings, i + 1, m, L, W):
                best, place = score, i
    if place < 0:
        same = (few[0] ^ few[m - 1]) >> CODE_SHIFT == 0
        return best, CONSTANT if same else REFUSED, -1
    return best, np.int64(few[place] >> CODE_SHIFT), np.int64(few[place + 1] >> CODE_SHIFT)


@compiled(inline=True)
def scan_sorted_numbers(levels, codes, settings, scratch, start, stop, W, total):
    """The same for one target by squares; W and total are the sums of weight and of both."""
    keys, few, m = scratch.keys, scratch.few, stop - start
    for i in range(m):
        entry = np.uint64(codes[keys[start + i] & LOW_HALF]) << CODE_SHIFT | np.uint64(i)
        p = i
        while p > 0 and few[p - 1] > entry:
            few[p] = few[p - 1]
            p -= 1
        few[p] = entry
    best, place, L, S = -np.inf, -1, 0.0, 0.0
    for i in range(m - 1):
        key = keys[start + np.int64(few[i] & SUMS)]
        w = np.float64(key >> DRAWN_SHIFT)
        if settings.weighted:
            w *= levels.weights[key & LOW_HALF]
        L += w
        S += w * levels.numbers[key & LOW_HALF]
        if (few[i] ^ few[i + 1]) >> CODE_SHIFT:
            R, T = W - L, total - S
            score = (S * S * R + T * T * L) / (L * R)
            if score > best and is_large_enough(settings, i + 1, m, L, W):
                best, place = score, i
    if place < 0:
        same = (few[0] ^ few[m - 1]) >> CODE_SHIFT == 0
        return best, CONSTANT if same else REFUSED, -1
    return best, np.int64(few[place] >> CODE_SHIFT), np.int64(few[place + 1] >> CODE_SHIFT)


@compiled(inline=True)
def is_mostly_zero(levels, j, start, stop):
    """Return whether counting the stored numbers of a column takes less time than all rows."""
    if levels.stored_rows.shape[0] == 0:
        return False
    return 4 * (levels.first_stored[j + 1] - levels.first_stored[j]) < stop - start


@compiled(inline=True)
def count_codes(levels, scratch, j, start, stop):
    """Count the rows of a node by their codes in column j, in scratch.counts."""
    codes, keys, added, counts = levels.codes[j], scratch.keys, scratch.added, scratch.counts
    if is_mostly_zero(levels, j, start, stop):
        rest = np.uint64(0)
        for p in range(levels.first_stored[j], levels.first_stored[j + 1]):
            row = levels.stored_rows[p]
            i = scratch.place[row]
            if start <= i < stop:
                counts[codes[row]] += added[i]
                rest += added[i]
        W, ones = scratch.totals[0, 0] + scratch.totals[0, 1], scratch.totals[0, 1]
        whole = np.uint64(stop - start) | np.uint64(W) << FIELD | np.uint64(ones) << FIELDS
        counts[levels.zero_codes[j]] += whole - rest
    else:
        for i in range(start, stop):
            counts[codes[keys[i] & LOW_HALF]] += added[i]


@compiled(inline=True)
def scan_counted(levels, settings, scratch, j, start, stop, W, W1):
    """The same on more rows, by counts of codes; scores below the best so far may be left out."""
    codes, keys, counts, found = levels.codes[j], scratch.keys, scratch.counts, scratch.found
    count_codes(levels, scratch, j, start, stop)
    first = codes[keys[start] & LOW_HALF]
    score, code, above = -np.inf, CONSTANT, -1
    if np.int64(counts[first] & FIELD_MASK) < stop - start:
        least = 0.5 * (found[0] - W) if found[1] >= 0 else -np.inf
        score, code = best_code(settings, scratch, levels.table, stop - start, W, W1, least)
    if code >= 0:
        above = code + 1
        while counts[above] == 0:
            above += 1
    for c in range(counts.shape[0]):
        counts[c] = 0
    return score, code, above


@compiled(inline=True)
def best_code(settings, scratch, table, n_rows, W, W1, least):
    """The best score above `least`, and the last code on its left, of scratch.counts.

    Codes are read in blocks of 16, of which those that cannot hold the best score are skipped.
    """
    counts, below = scratch.counts, scratch.below
    total = np.uint64(0)
    for b in range(BLOCKS):
        for c in range(BLOCK * b, BLOCK * (b + 1)):
            total += counts[c]
        below[b], n_left = total, np.int64(total & FIELD_MASK)
        L, L1 = left_of(total)
        if 0 < n_left < n_rows and is_large_enough(settings, n_left, n_rows, L, W):
            least = max(least, half_gini(L, L1, W - L, W1 - L1))
    best, code, total = -np.inf, REFUSED, np.uint64(0)
    for b in range(BLOCKS):
        L, L1 = left_of(total)
        end, end1 = left_of(below[b])
        bound = bound_of_block(True, L - L1, L1, end - end1, end1, W - W1, W1, table)
        if total == below[b] or bound < least:
            total = below[b]
            continue
        for c in range(BLOCK * b, BLOCK * (b + 1)):
            total += counts[c]
            L, L1 = left_of(total)
            score = half_gini(L, L1, W - L, W1 - L1)
            if score > best:
                n_left = np.int64(total & FIELD_MASK)
                if is_large_enough(settings, n_left, n_rows, L, W):
                    best, code = score, c
    return best, code


@compiled(inline=True)
def left_of(count):
    """The weight of both classes and of the second one in a count."""
    weight = np.float64(np.int64((count >> FIELD) & FIELD_MASK))
    return weight, np.float64(np.int64(count >> FIELDS))


@compiled(inline=True)
def half_gini(L, L1, R, R1):
    """Minus half of both branches' impurity by gini, times their weight."""
    return -((L - L1) * L1 * R + (R - R1) * R1 * L) / (L * R)


@compiled(inline=True)
def is_large_enough(settings, n_left, n_rows, L, W):
    """Whether both sides have the rows and the weight that they must."""
    return (
        min(n_left, n_rows - n_left) >= settings.min_leaf and min(L, W - L) >= settings.min_weight
    )


@compiled(inline=True)
def split_on_pairs(levels, settings, scratch, j, start, stop, W):
    """Improve on scratch.found by a threshold on column j; return whether its values differ.

    For two classes by gini, and for few rows of a target by squares: two sums determine a score.
    """
    codes, second = levels.codes[j], scratch.totals[0, 1]
    if settings.kind == SQUARED:
        score, code, above = scan_sorted_numbers(
            levels, codes, settings, scratch, start, stop, W, second
        )
    else:
        if stop - start <= FEW:
            score, code, above = scan_sorted(codes, settings, scratch, start, stop, W, second)
        else:
            score, code, above = scan_counted(levels, settings, scratch, j, start, stop, W, second)
        score = W + 2.0 * score
    if code >= 0 and is_better(score, scratch.found):
        take(levels, scratch, j, code, above, 0, score, np.nan)
    return code != CONSTANT


@compiled
def random_group(levels, group_code, j, last, share):
    """A threshold drawn between the least and largest value, and the last group below it."""
    low = levels.bounds[j, 0, group_code[0]]
    high = levels.bounds[j, 1, group_code[last - 1]]
    threshold = low + share * (high - low)
    g = 0
    while g < last - 2 and levels.bounds[j, 0, group_code[g + 1]] <= threshold:
        g += 1
    return g, threshold


@compiled
def split_at_random(levels, settings, scratch, j, start, stop, W, share):
    """Improve on scratch.found by a threshold drawn between the least and the largest value.

    Two reads of the codes do without sums by code. Returns whether the values differ.
    """
    codes, keys, left, right = levels.codes[j], scratch.keys, scratch.totals[1], scratch.totals[2]
    whole = settings.kind <= ENTROPY and left.shape[0] == 2 and not settings.weighted
    whole &= W <= MOST_COUNTED
    by_code = whole and is_mostly_zero(levels, j, start, stop)
    if by_code:
        counts, least, most = scratch.counts, 0, scratch.counts.shape[0] - 1
        count_codes(levels, scratch, j, start, stop)
        while counts[least] == 0:
            least += 1
        while counts[most] == 0:
            most -= 1
    else:
        least = most = np.int64(codes[keys[start] & LOW_HALF])
        for i in range(start + 1, stop):
            c = np.int64(codes[keys[i] & LOW_HALF])
            least, most = min(least, c), max(most, c)
    if least == most:
        scratch.counts[least] = 0
        return False
    lows, highs = levels.bounds[j, 0], levels.bounds[j, 1]
    threshold = lows[least] + share * (highs[most] - lows[least])
    a, b = least, most - 1  # the last level, but for the largest, that begins below it
    while a < b:
        middle = (a + b + 1) // 2
        if lows[middle] <= threshold:
            a = middle
        else:
            b = middle - 1
    if whole:
        total = np.uint64(0)
        if by_code:
            for c in range(least, most + 1):
                total += counts[c] if c <= a else np.uint64(0)
                counts[c] = 0
        else:
            for i in range(start, stop):
                left_count = codes[keys[i] & LOW_HALF] <= a
                total += scratch.added[i] if left_count else np.uint64(0)
        L, left[1] = left_of(total)
        left[0], n_left = L - left[1], np.int64(total & FIELD_MASK)
    else:
        n_left = sum_left(levels, settings, scratch, codes, a, start, stop)
    L = 0.0
    for k in range(left.shape[0]):
        right[k] = scratch.totals[0, k] - left[k]
        L += left[k] if settings.kind <= ENTROPY or k == 0 else 0.0
    R = W - L
    if not is_allowed(settings, n_left, stop - start, 0.0, 0, L, R):
        return True
    score = score_sums(settings.kind, left, L, levels.table, not settings.weighted)
    score += score_sums(settings.kind, right, R, levels.table, not settings.weighted)
    if is_better(score, scratch.found):
        take(levels, scratch, j, a, a + 1, 0, score, threshold)
    return True


@compiled(inline=True)
def sum_left(levels, settings, scratch, codes, last, start, stop):
    """Sum the rows whose codes are at most `last` in scratch.totals[1]; return their number."""
    keys, left = scratch.keys, scratch.totals[1]
    by_class, weighted = settings.kind <= ENTROPY, settings.weighted
    n_left = 0
    for k in range(left.shape[0]):
        left[k] = 0.0
    for i in range(start, stop):
        key = keys[i]
        row = key & LOW_HALF
        if codes[row] <= last:
            w = np.float64(key >> DRAWN_SHIFT)
            if weighted:
                w *= levels.weights[row]
            n_left += 1
            if by_class:
                left[(key >> CLASS_SHIFT) & SIXTEEN] += w
            else:
                left[0] += w
                left[1] += w * levels.numbers[row]
    return n_left


@compiled
def split_on_all(levels, settings, scratch, j, n_groups):
    """Improve on scratch.found by a branch for each category of column j."""
    score, kind = 0.0, settings.kind
    for g in range(n_groups):
        c = scratch.group_code[g]
        W = scratch.sums[c, 0]
        if kind <= ENTROPY:
            for k in range(1, scratch.sums.shape[1]):
                W += scratch.sums[c, k]
        few = settings.min_leaf > 1 and scratch.rows[c] < settings.min_leaf
        if few or settings.min_weight > W:
            return
        score += score_sums(kind, scratch.sums[c], W, levels.table, not settings.weighted)
    if is_better(score, scratch.found):
        scratch.found[0], scratch.found[1], scratch.found[6] = score, j, n_groups
