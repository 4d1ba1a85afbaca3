# mypy: ignore-errors
"""Columns in the order of their values: one radix sort each, and ranks that tell values apart.

An entry is a 64-bit key: the rank of a value among those of its column in the high half, the row
in the low half, shifted to make room for its class in the lowest bits where it has one of two.
"""

import numpy as np

from rosenblatt.loops import compiled

MISSING = np.uint64(0xFFFFFFFF)  # the rank of NaN: after all others
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
BITS = 11
BUCKETS = 1 << BITS
SIGN = np.uint32(0x80000000)


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
def quantise(keys, known, values, most, codes, bounds):
    """Write the level of each row to codes (n,): a rank, or a quantile where there are too many.

    `most` is the largest number of levels, and the code of NaN. bounds (2, most) gets the least
    and the largest value of each level. Returns the number of levels.
    """
    n = keys.shape[0]
    if known == 0:
        for p in range(n):
            codes[keys[p] & LOW_HALF] = most
        return 0
    few = keys[known - 1] >> HALF < np.uint64(most)
    level, filled = 0, 0
    bounds[0, 0] = values[keys[0] & LOW_HALF]
    for p in range(known):
        row = keys[p] & LOW_HALF
        differs = p > 0 and keys[p] >> HALF != keys[p - 1] >> HALF
        full = few or filled * (most - level) >= known - p + filled
        if differs and full and level < most - 1:
            level, filled = level + 1, 0
            bounds[0, level] = values[row]
        bounds[1, level] = values[row]
        codes[row] = level
        filled += 1
    for p in range(known, n):
        codes[keys[p] & LOW_HALF] = most
    return level + 1
