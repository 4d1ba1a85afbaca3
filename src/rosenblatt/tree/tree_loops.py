# mypy: ignore-errors
"""What the growers of trees share: scores of splits, and columns in the order of their values.

Every criterion is a score that is a sum over branches and is to be large:

- gini: ``sum_k W_k**2 / W``; entropy: ``sum_k W_k ln W_k - W ln W``;
- squared error: ``(sum w y)**2 / W``; Poisson: ``S ln(S / W)``, S = sum w y;
- absolute error: minus the sum of w |y - median|.

A column is sorted once, by radix sort. An entry is a 64-bit key: the rank of a value among those
of its column in the high half, the row in the low half, shifted to make room for its class in the
lowest bits where it has one of two.
"""

import math

import numpy as np

from rosenblatt.loops import compiled

GINI, ENTROPY, SQUARED, POISSON, ABSOLUTE = range(5)
BETTER_SIDE, MAJORITY, OWN_BRANCH = range(3)  # where missing values go
TO_THE_HEAVIER = -1  # where those of new rows go if training had none
TIE = 1e-12  # splits whose scores differ by less, relatively, are equal: the first is taken
ROUNDING = 1e-12  # of scores, relative
NO_RATE = 10 * np.finfo(np.float64).eps  # of targets that add up to no more, as in scikit-learn

MISSING = np.uint64(0xFFFFFFFF)  # the rank of NaN: after all others
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
BITS = 11
BUCKETS = 1 << BITS
SIGN = np.uint32(0x80000000)


@compiled(inline=True)
def x_log_x(x, weighted, table):
    """x ln x, from a table if x counts rows."""
    if not weighted:
        return table[int(x)]
    return x * math.log(x) if x > 0 else 0.0


@compiled
def mean_score(kind, S, W):
    """The score of rows of weight W whose targets add up to S.

    Poisson rates are positive: rows whose targets add up to zero, but for rounding, are no part.
    """
    if kind == SQUARED:
        return S * S / W
    return S * math.log(S / W) if S > NO_RATE else -np.inf


@compiled(inline=True)
def score_of_two(gini, L0, L1, R0, R1, table):
    """The score of whole numbers of two classes on both sides; of gini, half of score minus W."""
    L, R = L0 + L1, R0 + R1
    if gini:
        return -(L0 * L1 / max(L, 1.0) + R0 * R1 / max(R, 1.0))
    score = table[int(L0)] + table[int(L1)] + table[int(R0)] + table[int(R1)]
    return score - (table[int(L)] + table[int(R)])


@compiled(inline=True)
def bound_of_block(gini, a0, a1, b0, b1, W0, W1, table):
    """An upper bound of `score_of_two` from (a0, a1) to (b0, b1) rows of two classes on the left.

    Scores are convex in the rows of both classes on the left: none is above the largest at the
    corners of the rectangle that a block's rows span.
    """
    bound = score_of_two(gini, a0, a1, W0 - a0, W1 - a1, table)
    bound = max(bound, score_of_two(gini, a0, b1, W0 - a0, W1 - b1, table))
    bound = max(bound, score_of_two(gini, b0, a1, W0 - b0, W1 - a1, table))
    bound = max(bound, score_of_two(gini, b0, b1, W0 - b0, W1 - b1, table))
    return bound + ROUNDING * (W0 + W1 + abs(bound))


@compiled
def class_impurity(kind, sums, W):
    """Gini impurity, or entropy in bits, of class weights (K,)."""
    total = 1.0 if kind == GINI else 0.0
    for k in range(sums.shape[0]):
        share = sums[k] / W
        if kind == GINI:
            total -= share * share
        elif share > 0:
            total -= share * math.log2(share)
    return total


@compiled(inline=True)
def is_better(score, found):
    """Whether a score beats that of the best split so far, `found`, by more than rounding."""
    return found[1] < 0 or score > found[0] + TIE * abs(found[0])


@compiled
def sort_column(values, classes, shift, keys, buffer, counts):
    """Sort the rows by values (n,); write their entries to keys (n,), return how many are known.

    Bits of single precision sort first; rows that these confuse are then sorted by the doubles.
    classes (n,) is read if `shift` is 1. Scratch: buffer (n,), counts (3, 2048).
    """
    n = values.shape[0]
    single = buffer.view(np.float32)  # two places a key: the value, and its bits
    bits = buffer.view(np.uint32)
    for r in range(3):
        for b in range(BUCKETS):
            counts[r, b] = 0
    exact = True
    for i in range(n):
        value = values[i]
        single[2 * i] = np.float32(value)
        b = bits[2 * i]
        if value != value:
            b = np.uint32(0xFFFFFFFF)
        else:
            exact &= np.float64(single[2 * i]) == value
            b = ~b if b & SIGN else b | SIGN
            if single[2 * i] == 0:  # minus zero is zero
                b = SIGN
        row = (np.uint64(i) << np.uint64(1)) | np.uint64(classes[i]) if shift else np.uint64(i)
        keys[i] = (np.uint64(b) << HALF) | row
        for r in range(3):
            counts[r, (b >> np.uint32(BITS * r)) & np.uint32(BUCKETS - 1)] += 1
    source, target = keys, buffer
    for r in range(3):
        moved = np.uint64(32 + BITS * r)
        total = 0
        for b in range(BUCKETS):
            held = counts[r, b]
            counts[r, b] = total
            total += held
        for i in range(n):
            b = (source[i] >> moved) & np.uint64(BUCKETS - 1)
            target[counts[r, b]] = source[i]
            counts[r, b] += 1
        source, target = target, source
    if not exact:
        sort_confused(values, np.uint64(shift), source)
    return write_ranks(values, np.uint64(shift), source, exact, keys)


@compiled
def write_ranks(values, shift, source, exact, keys):
    """Copy sorted source (n,) to keys (n,), with ranks in the place of bits."""
    rank, known = np.uint64(0), 0
    for i in range(source.shape[0]):
        key = source[i]
        low = key & LOW_HALF
        if key >> HALF == MISSING:
            keys[i] = (MISSING << HALF) | low
            continue
        known = i + 1
        if i > 0:
            differs = key >> HALF != source[i - 1] >> HALF
            if not exact and not differs:
                differs = values[low >> shift] != values[(source[i - 1] & LOW_HALF) >> shift]
            rank += np.uint64(differs)
        keys[i] = (rank << HALF) | low
    return known


@compiled
def sort_confused(values, shift, keys):
    """Sort, within each run of keys that are equal in single precision, by the doubles."""
    n, i = keys.shape[0], 0
    while i < n and keys[i] >> HALF != MISSING:
        end = i + 1
        while end < n and keys[end] >> HALF == keys[i] >> HALF:
            end += 1
        sort_run(values, shift, keys, i, end)
        i = end


@compiled
def sort_run(values, shift, keys, start, stop):
    """Shell sort of keys by their values and rows."""
    gap = 1
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, stop):
            key = keys[i]
            value, p = values[(key & LOW_HALF) >> shift], i
            while p - gap >= start:
                other = values[(keys[p - gap] & LOW_HALF) >> shift]
                if other < value or (other == value and keys[p - gap] < key):
                    break
                keys[p] = keys[p - gap]
                p -= gap
            keys[p] = key
        gap //= 3


@compiled
def quantize(keys, known, values, most, repeats, codes, bounds):
    """Write the level of each row to codes (n,): a rank, or a quantile where there are too many.

    `most` is the largest number of levels, and the code of NaN; the last row counts `repeats`
    times. bounds (2, most) gets the least and the largest value of each level. Returns the number
    of levels.
    """
    n = keys.shape[0]
    if known == 0:
        for p in range(n):
            codes[keys[p] & LOW_HALF] = most
        return 0
    few = keys[known - 1] >> HALF < np.uint64(most)
    level, filled, left = 0, 0, known + repeats - 1
    bounds[0, 0] = values[keys[0] & LOW_HALF]
    for p in range(known):
        row = keys[p] & LOW_HALF
        differs = p > 0 and keys[p] >> HALF != keys[p - 1] >> HALF
        full = few or filled * (most - level) >= left + filled
        if differs and full and level < most - 1:
            level, filled = level + 1, 0
            bounds[0, level] = values[row]
        bounds[1, level] = values[row]
        codes[row] = level
        times = repeats if row == n - 1 else 1
        filled, left = filled + times, left - times
    for p in range(known, n):
        codes[keys[p] & LOW_HALF] = most
    return level + 1
