# mypy: ignore-errors
"""Texts as UTF-8 bytes: their words or characters, n-grams of these, counted or hashed.

A document becomes *clean* bytes (words in lower case with a space between them, or characters) and
the places where each of its pieces starts and stops there. A term is a stretch of pieces, so that
one rule serves n-grams of words and of characters. Terms stand in a hash table: `slots` (s, 4) hold
64 bits of a term, its number with its length, and its second eight bytes; half a line of the cache
each. With these a term of up to sixteen bytes is known. The bytes of all stand in `arena`, from
``limits[j]``.

Nothing is allocated here: a loop that has no room left returns the document it was at, and is
called again from there with more.
"""

import numpy as np

from rosenblatt.loops import compiled, instruction
from rosenblatt.loops.llvm import address, bits_of, constant, llvm_type
from rosenblatt.loops.simd import count_bits, eight_bytes, lowest_bit
from rosenblatt.term_table_loops import (
    FIRST_BYTES,
    HALF,
    NONE,
    ONE,
    add_term,
    add_to_row,
    clear,
    fingerprint,
    look_up,
    slot_of,
)

WORDS, CHARACTERS, WITHIN_WORDS = 0, 1, 2  # what the pieces are
IS_WORD, IS_SPACE = 1, 2  # bits of what a character is

SPACE, CAPITAL = np.uint8(32), np.uint8(65)
BLOCK = 64  # bytes of ASCII that `put_words` reads together
LAST_BIT = np.uint64(BLOCK - 1)
USUAL_WORDS = 11  # at most, of a block


# Pieces of a document.


@compiled(inline=True)
def width_of(byte):
    """How many bytes the character takes that begins with one."""
    if byte < 0x80:
        return 1
    if byte < 0xE0:
        return 2
    return 3 if byte < 0xF0 else 4


@compiled(inline=True)
def code_point(text, i, width):
    """The number of the character of more than one byte at i, a number without a sign."""
    point = np.int64(text[i]) & (0xFF >> (np.int64(width) + 1))
    for k in range(1, np.int64(width)):
        point = point << 6 | np.int64(text[i + np.uint64(k)]) & 0x3F
    return point


@compiled
def find_words(text, first, last, fold, kinds, pieces):
    """Write the words of text[first:last], of two characters or more; return how many there are.

    Reads fold (128,), each ASCII byte as it is to be written or 0 between words, and kinds, what
    each other character is; changes pieces: clean bytes, with a space between words, and where
    words start and stop in them.
    """
    # Places are numbers without a sign, which needs no look at those below zero.
    clean, starts, stops = pieces
    n, at, start, length = 0, NONE, NONE, NONE
    i, last = np.uint64(first), np.uint64(last)
    while i < last:
        byte = text[i]
        width = ONE
        if byte < 0x80:
            written = fold[byte]
            clean[at] = written
            inside = written != 0
        else:
            width = np.uint64(width_of(byte))
            inside = kinds[code_point(text, i, width)] & IS_WORD != 0
            for k in range(width):
                clean[at + k] = text[i + k]
        i += width
        if inside:
            at += width
            length += ONE
            continue
        if length > ONE:  # a word has ended
            starts[n], stops[n] = start, at
            n += 1
            clean[at] = SPACE
            start = at + ONE
        at, length = start, NONE
    if length > ONE:
        starts[n], stops[n] = start, at
        n += 1
    return n


@compiled
def find_ascii_words(text, first, last, lowercase, pieces):
    """As `find_words`, of ASCII alone, a block of bytes at a time.

    Words stay where they are: what stands between them is copied, too.
    """
    clean, starts, stops = pieces
    n_starts, n_stops, size, before = 0, 0, last - first, NONE
    word = copy_block(text, first, 0, size, lowercase, clean) if size else NONE
    for at in range(0, size, BLOCK):
        after = at + BLOCK
        following = copy_block(text, first, after, size, lowercase, clean) if after < size else NONE
        left, right = word << ONE | before, word >> ONE | following << LAST_BIT
        inside = word & (left | right)  # of a word of two letters or more
        n_starts = put_places(inside & ~left, at, starts, n_starts)
        n_stops = put_places(inside & ~right, at + 1, stops, n_stops)
        before, word = word >> LAST_BIT, following
    return n_starts


@compiled(inline=True)
def copy_block(text, first, at, size, lowercase, clean):
    """Copy text[first + at:] to clean[at:], up to a block; return the bits of its word bytes."""
    if first + at + BLOCK <= len(text):
        word = put_words(text, first + at, clean, at, lowercase)
    else:  # what stands behind the last byte is not ours to read
        for k in range(at, size):
            clean[k] = text[first + k]
        word = put_words(clean, at, clean, at, lowercase)
    return word & ((ONE << np.uint64(size - at)) - ONE) if size - at < BLOCK else word


@compiled(inline=True)
def put_places(bits, at, places, n):
    """Write where bits are set, counted from `at`, behind n places; return how many there are then.

    As many as most blocks have are written whatever there are: nothing is to be foreseen.
    """
    end = n + count_bits(bits)
    for k in range(USUAL_WORDS):
        places[n + k] = at + lowest_bit(bits)
        bits &= bits - ONE
    n += USUAL_WORDS
    while bits != NONE:
        places[n] = at + lowest_bit(bits)
        bits &= bits - ONE
        n += 1
    return end


@compiled(inline=True)
def is_space(text, i, width, kinds):
    """Whether the character at i is one of those between words."""
    point = np.int64(text[i]) if width == 1 else code_point(text, np.uint64(i), width)
    return kinds[point] & IS_SPACE != 0


@compiled(inline=True)
def write_character(text, i, width, fold, pieces, n, at):
    """Write one character as piece n; return where its bytes end."""
    clean, starts, stops = pieces
    starts[n] = at
    if width == 1:
        clean[at] = fold[text[i]]
    else:
        for k in range(width):
            clean[at + k] = text[i + k]
    stops[n] = at + width
    return at + width


@compiled
def find_characters(text, first, last, fold, kinds, pieces):
    """Write the characters of text[first:last], two spaces or more as one; return how many."""
    clean, starts, stops = pieces
    n, at, n_spaces, i = 0, 0, 0, first
    while i < last:
        width = width_of(text[i])
        n_spaces = n_spaces + 1 if is_space(text, i, width, kinds) else 0
        if n_spaces < 2:
            at = write_character(text, i, width, fold, pieces, n, at)
            n += 1
        elif n_spaces == 2:  # in the place of the first
            at = starts[n - 1] + 1
            clean[at - 1], stops[n - 1] = SPACE, at
        i += width
    return n


@compiled
def find_padded_words(text, first, last, fold, kinds, pieces, ends):
    """Write what stands between spaces, with one before and after; return how many there are.

    Changes pieces: clean bytes and where characters start and stop in them; and ends, the number of
    characters after each word.
    """
    clean, starts, stops = pieces
    n, at, n_words, inside, i = 0, 0, 0, False, first
    while i <= last:
        width = width_of(text[i]) if i < last else 1
        ended = i == last or is_space(text, i, width, kinds)
        if inside == ended:  # a word begins or ends: a space belongs to it
            clean[at], starts[n], stops[n] = SPACE, at, at + 1
            n, at = n + 1, at + 1
            if ended:
                ends[n_words] = n
                n_words += 1
            inside = not ended
        if not ended:
            at = write_character(text, i, width, fold, pieces, n, at)
            n += 1
        i += width
    return n_words


@compiled
def find_terms(text, first, last, scan):
    """Write where the terms of a document start and stop; return how many there are.

    Reads the rules of scan and the table of words to leave out; changes pieces, ends (scratch) and
    terms: the first and last place of each in the clean bytes.
    """
    rules, pieces, terms, ends, stopped = scan
    of, least, most, fold, kinds = rules
    if of == WITHIN_WORDS:
        n_words = find_padded_words(text, first, last, fold, kinds, pieces, ends)
        begin, m = 0, 0
        for w in range(n_words):
            m = join_pieces(pieces, begin, ends[w], least, most, True, terms, m)
            begin = ends[w]
        return m
    if of == CHARACTERS:
        n = find_characters(text, first, last, fold, kinds, pieces)
        return join_pieces(pieces, 0, n, least, most, False, terms, 0)
    words = (pieces[0], terms[0], terms[1]) if most == 1 else pieces
    ascii_only = len(kinds) == len(fold)
    if ascii_only:
        n = find_ascii_words(text, first, last, fold[CAPITAL] != CAPITAL, words)
    else:
        n = find_words(text, first, last, fold, kinds, words)
    if len(stopped[0]) > 1 or (ascii_only and most > 1):
        n = leave_out(words, n, stopped)
    return n if most == 1 else join_pieces(words, 0, n, least, most, False, terms, 0)


@compiled
def join_pieces(pieces, begin, end, least, most, short, terms, m):
    """Write n-grams of pieces begin:end after m terms; return how many there are then.

    With `short`, fewer pieces than an n-gram has are one term, and the last.
    """
    starts, stops = pieces[1], pieces[2]
    for n in range(least, most + 1):
        for i in range(begin, end - n + 1):
            terms[0][m], terms[1][m] = starts[i], stops[i + n - 1]
            m += 1
        if end - begin <= n:
            if short and end - begin < n:
                terms[0][m], terms[1][m] = starts[begin], stops[end - 1]
                m += 1
            break
    return m


@compiled
def leave_out(pieces, n, stopped):
    """Keep those of n words that are not in a table; return how many.

    Words that are left become neighbours: their bytes move together.
    """
    clean, starts, stops = pieces
    kept, at = 0, 0
    for i in range(n):
        first, last = starts[i], stops[i]
        slot = slot_of(stopped, clean, first, last, fingerprint(clean, first, last))
        if stopped[0][slot, 1] == NONE:
            starts[kept] = at
            for k in range(first, last):
                clean[at] = clean[k]
                at += 1
            stops[kept] = at
            clean[at] = SPACE
            at += 1
            kept += 1
    return kept


# The table of terms.


# Documents to rows.


@compiled
def count_terms(batch, first, scan, found, table, counts, row, indptr):
    """Count the terms of documents from the first on; return the document that had no room.

    Reads batch: text, limits of documents. Changes counts: the table's size (1,), places in the
    row, and tallies (V, 2), documents and occurrences of each term; if these have no room, no term
    is new; row: columns and counts; indptr, where each document's end.
    """
    text, limits = batch
    clean, terms = scan[1][0], scan[2]
    bits, numbers = found
    size, place, tallies = counts
    learns = len(tallies) > 0
    n = indptr[first]
    for d in range(first, len(limits) - 1):
        m = find_terms(text, limits[d], limits[d + 1], scan)
        look_up(clean, terms, m, table, bits, numbers)
        begin = n
        for t in range(m):
            j = numbers[t]
            if j < 0 and learns:
                j = add_term(clean, terms[0][t], terms[1][t], bits[t], table, size)
                if j < 0:
                    clear(row[0], begin, n, place)
                    return d
            if j >= 0:
                n = add_to_row(row, n, j, 1, place)
        for k in range(begin, n):
            j = np.uint64(row[0][k])
            place[j] = 0
            if learns:
                tallies[j, 0] += 1
                tallies[j, 1] += row[1][k]
        indptr[d + 1] = n
    return len(limits) - 1


@compiled
def hash_terms(batch, scan, found, n_features, signed, power, place, row, indptr):
    """Count the terms of documents in the columns of their hashes.

    Reads batch: text, limits of documents; power, of the length that rows are given, or 0, or -1 to
    leave counts as they are; changes row: columns and sums, and the place of these as numbers with
    a fraction, which they become; indptr. Place, scratch, has zeros.
    """
    text, limits = batch
    clean, terms = scan[1][0], scan[2]
    heads, tails, hashes = found
    power_of_two, n = n_features & (n_features - 1) == 0, 0
    for d in range(len(limits) - 1):
        m = find_terms(text, limits[d], limits[d + 1], scan)
        hash_each(clean, terms, m, heads, tails, hashes)
        size = 2
        while size < 4 * m and size < len(place):  # so that it stays near, and terms lie apart
            size *= 2
        begin = n
        for t in range(m):
            h = abs(np.int64(hashes[t]))  # a division takes as long as the hash itself
            j = h & (n_features - 1) if power_of_two else h % n_features
            sign = -1 if signed and hashes[t] < 0 else 1
            n = add_to_near(row, begin, n, j, sign, place, size)
        for k in range(size):
            place[k] = 0
        if power >= 0:
            to_length(row[1], row[2], begin, n, power)
        indptr[d + 1] = n


@compiled(inline=True)
def add_to_near(row, begin, n, j, value, place, size):
    """As `add_to_row`, of a row from `begin`, by a hash table of columns, each with its place."""
    indices, data = row[0], row[1]
    most = np.uint64(size - 1)
    slot = np.uint64(j) & most
    while place[slot] != 0 and place[slot] >> 32 != j:
        slot = (slot + ONE) & most
    new = place[slot] == 0
    k = n if new else begin + (place[slot] & 0xFFFFFFFF) - 1
    at = np.uint64(k)
    before = data[at]
    indices[at], data[at] = j, (0 if new else before) + value
    place[slot] = j << 32 | (k - begin + 1)
    return n + new


@compiled(inline=True)
def to_length(counts, values, begin, end, power):
    """Turn counts into numbers of a row of length one, or of any if power is 0, in their place."""
    total = 0.0
    for k in range(begin, end):
        x = np.float64(counts[k])
        total += abs(x) if power == 1 else x * x
    length = total if power == 1 else np.sqrt(total)
    if power == 0 or total == 0:
        length = 1.0
    for k in range(begin, end):
        values[k] = np.float64(counts[k]) / length


M1, M2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
M3, M4, M5 = np.uint32(5), np.uint32(0xE6546B64), np.uint32(0x85EBCA6B)
M6 = np.uint32(0xC2B2AE35)


@compiled(inline=True)
def rotated(x, k):
    """32 bits, those shifted out on the left coming in on the right."""
    return np.uint32(np.uint32(x << np.uint32(k)) | np.uint32(x >> np.uint32(32 - k)))


@compiled(inline=True)
def scrambled(k):
    """Four bytes as the hash takes them in."""
    return np.uint32(rotated(np.uint32(k * M1), 15) * M2)


@compiled(inline=True)
def with_four_bytes(h, chunk):
    """The hash with four bytes taken in."""
    k = scrambled(chunk)
    return np.uint32(rotated(np.uint32(h ^ k), 13) * M3 + M4)


@compiled
def hash_each(text, terms, m, heads, tails, hashes):
    """Write MurmurHash3 of each of m terms in 32 bits with a sign, from seed 0.

    Changes heads and tails, scratch. Sixteen bytes of each must exist. Several terms are hashed
    at a time, as if all were shorter than sixteen; the few others then one by one.
    """
    first, last = terms
    for t in range(m):
        heads[t], tails[t] = eight_bytes(text, first[t]), eight_bytes(text, first[t] + 8)
    for t in range(m):
        n, head, tail = np.uint32(last[t] - first[t]), heads[t], tails[t]
        hashes[t] = short_hash(n, head, tail)
    for t in range(m):
        if last[t] - first[t] > 15:
            hashes[t] = long_hash(text, first[t], last[t])


@compiled(inline=True)
def short_hash(n, head, tail):
    """The hash of n bytes, fewer than sixteen, the first eight of which are `head`."""
    one, two, three = np.uint32(head), np.uint32(head >> HALF), np.uint32(tail)
    whole, h = n >> np.uint32(2), np.uint32(0)
    rest = one
    h = with_four_bytes(h, one) if whole > 0 else h
    rest = two if whole > 0 else rest
    h = with_four_bytes(h, two) if whole > 1 else h
    rest = three if whole > 1 else rest
    h = with_four_bytes(h, three) if whole > 2 else h
    rest = np.uint32(tail >> HALF) if whole > 2 else rest
    kept = np.uint32(
        np.uint32(np.uint32(1) << np.uint32(np.uint32(8) * (n & np.uint32(3)))) - np.uint32(1)
    )
    return finished(np.uint32(h ^ scrambled(np.uint32(rest & kept))), n)


@compiled
def long_hash(text, first, last):
    """The hash of text[first:last], of sixteen bytes or more."""
    h, i = np.uint32(0), first
    while last - i >= 4:
        h = with_four_bytes(h, np.uint32(eight_bytes(text, i)))
        i += 4
    rest = eight_bytes(text, i) & FIRST_BYTES[last - i]
    return finished(np.uint32(h ^ scrambled(np.uint32(rest))), np.uint32(last - first))


@compiled(inline=True)
def finished(h, n):
    """The hash of n bytes, all of which are taken in, as a number with a sign."""
    h = np.uint32(h ^ n)
    h = np.uint32(np.uint32(h ^ (h >> np.uint32(16))) * M5)
    h = np.uint32(np.uint32(h ^ (h >> np.uint32(13))) * M6)
    return np.int32(np.uint32(h ^ (h >> np.uint32(16))))


# Weights of counts.


@compiled
def rename(indices, columns):
    """Put columns[j] in the place of each j of indices."""
    for k in range(len(indices)):
        indices[k] = columns[np.uint64(indices[k])]


@compiled
def weigh(data, indices, indptr, idf, sublinear, power):
    """Turn counts into tf-idf, in place; rows get length one if power is 1 or 2, not if it is 0.

    Reads idf (d,) or (0,) for none; changes data.
    """
    for i in range(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            x = data[k]
            if sublinear:
                x = np.log(x) + 1.0
            if len(idf):
                x *= idf[indices[k]]
            data[k] = x
            total += abs(x) if power == 1 else x * x
        if power and total > 0:
            length = total if power == 1 else np.sqrt(total)
            for k in range(indptr[i], indptr[i + 1]):
                data[k] /= length


@instruction("uint64(array, intp, array, intp, boolean)")
def put_words(text, place, clean, at, lowercase):
    """Copy a block of ASCII, in lower case if asked for; return the bits of its word bytes."""
    block = text[int(place) : int(place) + BLOCK].tobytes()
    clean[at : at + BLOCK] = np.frombuffer(block.lower() if lowercase else block, np.uint8)
    words = (chr(byte).isalnum() or byte == ord("_") for byte in block)
    return np.uint64(sum(1 << i for i, inside in enumerate(words) if inside))


@put_words.llvm
def _(builder, text, place, clean, at, lowercase):
    kind = llvm_type(f"int8x{BLOCK}")
    block = builder.load(address(builder, text, place, kind), align=1)

    def within(values, first, n):
        shifted = builder.sub(values, constant(kind, ord(first)))
        return builder.icmp_unsigned("<", shifted, constant(kind, n))

    change = builder.select(within(block, "A", 26), constant(kind, 0x20), constant(kind, 0))
    lower = builder.or_(block, change)
    word = builder.or_(within(lower, "a", 26), within(block, "0", 10))
    word = builder.or_(word, within(block, "_", 1))
    copied = builder.select(lowercase, lower, block)
    builder.store(copied, address(builder, clean, at, kind), align=1)
    return bits_of(builder, word)
