# mypy: ignore-errors
"""A hash table of terms by their bytes.

`slots` (s, 4) hold 64 bits of a term, its number with its length, and its second eight bytes; half
a line of the cache each. With these a term of up to sixteen bytes is known. The bytes of all terms
are in `arena`, from ``limits[j]``.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import eight_bytes, prefetch

MIX = np.uint64(0xFF51AFD7ED558CCD)  # odd, so that no two numbers become one
SPREAD = np.uint64(0x9E3779B97F4A7C15)
LENGTH_AT = np.uint64(40)  # a slot's second number is the length from this bit on, and number + 1
NUMBERS = np.uint64((1 << 40) - 1)
FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # of eight, to keep
HALF, NONE, ONE = np.uint64(32), np.uint64(0), np.uint64(1)


@compiled(inline=True)
def chunk_of(text, first, last):
    """Return up to eight bytes of text[first:last] as one number; eight must exist."""
    n = last - first
    chunk = eight_bytes(text, first)
    return chunk if n >= 8 else chunk & ((ONE << np.uint64(8 * n)) - ONE)


@compiled(inline=True)
def fingerprint(text, first, last):
    """64 bits of text[first:last]; of two terms of one length up to sixteen that have the same
    second eight bytes, never the same.

    Sixteen bytes must exist. Terms of more than eight and others come in no order that could be
    foreseen, so up to sixteen there is no branch.
    """
    n = last - first
    head = eight_bytes(text, first) & FIRST_BYTES[min(n, 8)]
    mixed = head * MIX
    mixed ^= (mixed >> HALF) ^ tail_of(text, first, last)
    bits = mixed if n > 8 else head
    while last - first > 16:
        first += 8
        bits *= MIX
        bits ^= (bits >> HALF) ^ chunk_of(text, first + 8, last)
    return bits


@compiled(inline=True)
def tail_of(text, first, last):
    """Return the second eight bytes of text[first:last] as one number; sixteen must exist."""
    return eight_bytes(text, first + 8) & FIRST_BYTES[min(max(last - first - 8, 0), 8)]


@compiled(inline=True)
def first_slot(slots, bits):
    """Return the slot where the search for a term begins."""
    mixed = bits * SPREAD
    return (mixed ^ (mixed >> HALF)) & np.uint64(len(slots) - 1)


@compiled(inline=True)
def slot_of(table, text, first, last, bits):
    """Return the slot of a term; it is empty if the term is not there."""
    slots, arena, limits = table
    tail = tail_of(text, first, last)
    slot = next_slot(slots, first_slot(slots, bits), last - first, bits, tail)
    while slots[slot, 1] != NONE and last - first > 16:
        j = np.int64(slots[slot, 1] & NUMBERS) - 1
        if same_bytes(arena, limits[j], limits[j + 1], text, first, last):
            break
        slot = (slot + ONE) & np.uint64(len(slots) - 1)
        slot = next_slot(slots, slot, last - first, bits, tail)
    return slot


@compiled(inline=True)
def next_slot(slots, slot, length, bits, tail):
    """Return the next slot that is empty or has a term of this length and these bits."""
    short = np.uint64(length) & (NUMBERS >> np.uint64(16))
    while slots[slot, 1] != NONE:
        apart = slots[slot, 0] ^ bits | slots[slot, 2] ^ tail | slots[slot, 1] >> LENGTH_AT ^ short
        if apart == NONE:
            break
        slot = (slot + ONE) & np.uint64(len(slots) - 1)
    return slot


@compiled(inline=True)
def same_bytes(arena, begin, end, text, first, last):
    """Return True if arena[begin:end] equals text[first:last]."""
    if end - begin != last - first:
        return False
    while first < last:
        if chunk_of(arena, begin, end) != chunk_of(text, first, last):
            return False
        begin, first = begin + 8, first + 8
    return True


@compiled(inline=True)
def fill_slot(slots, slot, bits, tail, j, length):
    """Put term j into an empty slot."""
    slots[slot, 0], slots[slot, 2] = bits, tail
    short = np.uint64(length) & (NUMBERS >> np.uint64(16))
    slots[slot, 1] = np.uint64(j + 1) | short << LENGTH_AT


@compiled
def place_terms(table, order):
    """Put different terms of the arena into slots; those that come first are found first."""
    slots, arena, limits = table
    for j in order:
        first, last = limits[j], limits[j + 1]
        bits = fingerprint(arena, first, last)
        slot = slot_of(table, arena, first, last, bits)
        fill_slot(slots, slot, bits, tail_of(arena, first, last), j, last - first)


@compiled(inline=True)
def add_to_row(row, n, j, value, place):
    """Add a value in column j of the row that ends before n; return where it ends then.

    Reads and changes place: of each column one more than where it stands, 0 if nowhere.
    """
    # Without a branch: whether a word was there before cannot be foreseen.
    indices, data = row
    column = np.uint64(j)
    new = place[column] == 0
    k = np.uint64(n if new else place[column] - 1)
    before = data[k]
    indices[k], data[k] = j, (0 if new else before) + value
    place[column] = k + ONE
    return n + new


@compiled
def look_up(clean, terms, m, table, bits, numbers):
    """Write 64 bits of each of m terms, and its number in a table or -1.

    All slots are prefetched before the first is read: most are not in cache.
    """
    slots = table[0]
    first, last = terms
    for t in range(m):
        bits[t] = fingerprint(clean, first[t], last[t])
        prefetch(slots, 4 * np.int64(first_slot(slots, bits[t])))
    for t in range(m):
        slot = slot_of(table, clean, first[t], last[t], bits[t])
        numbers[t] = np.int64(slots[slot, 1] & NUMBERS) - 1


@compiled
def add_term(clean, first, last, bits, table, size):
    """Return the number of a term that may be new; -1 if there is no room for it."""
    slots, arena, limits = table
    slot = slot_of(table, clean, first, last, bits)
    if slots[slot, 1] != NONE:  # since it was looked up
        return np.int64(slots[slot, 1] & NUMBERS) - 1
    j = size[0]
    begin = limits[j]
    if j == len(limits) - 1 or begin + last - first + 8 > len(arena):
        return -1
    for k in range(last - first):
        arena[begin + k] = clean[first + k]
    limits[j + 1] = begin + last - first
    fill_slot(slots, slot, bits, tail_of(clean, first, last), j, last - first)
    size[0] = j + 1
    return j


@compiled(inline=True)
def clear(indices, begin, end, place):
    """Reset the places of the columns of a row."""
    for k in range(begin, end):
        place[indices[k]] = 0
