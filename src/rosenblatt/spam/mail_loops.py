# mypy: ignore-errors
"""Tokens of many messages, from bytes; `spam.tokens` finds the same in one message.

A message is a few sections of UTF-8 text, each of a kind. Tokens are written one after the other
into *clean* bytes, term t from starts[t] to stops[t]. A hash table then counts them.

`out` is (clean, starts, stops, state); state has the number of terms, the end of the last one, and
FULL if there may be no room for another. `rules` is (kinds, folds, names, name_limits, roles), from
`spam.batches`.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.term_table_loops import add_term, add_to_row, clear, look_up

HEADERS, TEXT, HIDDEN, LINKS, TOKENS = 0, 1, 2, 3, 4  # kinds of sections
# Kinds of bytes, as bits.
LETTER, NAME, HOST_NAME, PATH, BLANK, URL_END, HOST_END, HEADER_NAME = (
    1, 2, 4, 8, 16, 32, 64, 128,
)  # fmt: skip
AS_IS, DIGITS, LOWER, LOWER_DIGITS = 0, 1, 2, 3  # rows of folds
ORDINARY, IGNORED, IGNORED_START, ADDRESS, SUBJECT = 0, 1, 2, 3, 4  # roles of headers
N_TERMS, AT, FULL = 0, 1, 2  # places in the state

LONGEST, LONGEST_NAME, LONGEST_VALUE, LONGEST_HOST = 24, 48, 500, 100  # characters
LONGEST_PATH, MOST_LINKS, MOST_WORDS, MOST_PARTS = 200, 200, 8, 20
NAME_START = 30  # characters of a header's name in its tokens
SPARE_BYTES, SPARE_TERMS = 16384, 64  # one word, link or header takes less
SUBJECT_MARK, HEADER_MARK = (
    np.frombuffer(b"subject:", np.uint8),
    np.frombuffer(b"header:", np.uint8),
)
HIDDEN_MARK, URL_MARK = np.frombuffer(b"hidden:", np.uint8), np.frombuffer(b"url:", np.uint8)
NO_MARK = np.frombuffer(b"", np.uint8)
BANG, SLASH, COLON, AT_SIGN, DOT, NEWLINE = 33, 47, 58, 64, 46, 10


# Writing tokens.


@compiled(inline=True)
def begin(out, mark):
    """Begin a token with a mark."""
    clean, starts, _, state = out
    at = state[AT]
    starts[state[N_TERMS]] = at
    for k in range(len(mark)):
        clean[at + k] = mark[k]
    state[AT] = at + len(mark)


@compiled(inline=True)
def write(out, byte):
    """Write one byte of a token."""
    out[0][out[3][AT]] = byte
    out[3][AT] += 1


@compiled(inline=True)
def write_all(out, text, first, last, fold):
    """Write text[first:last], each byte replaced by its entry in a table."""
    clean, state = out[0], out[3]
    at = state[AT] - first
    for k in range(first, last):
        clean[at + k] = fold[text[k]]
    state[AT] = at + last


@compiled(inline=True)
def end(out):
    """End a token; set FULL unless the next one surely has room."""
    state = out[3]
    n = state[N_TERMS]
    out[2][n] = state[AT]
    state[N_TERMS] = n + 1
    if state[AT] + SPARE_BYTES > len(out[0]) or n + SPARE_TERMS > len(out[1]):
        state[FULL] = 1


@compiled(inline=True)
def starts_character(byte):
    """Whether a byte is the first of a character."""
    return byte & 0xC0 != 0x80


@compiled(inline=True)
def n_characters(text, first, last, most):
    """How many characters text[first:last] has, counted to one more than `most`."""
    n = 0
    for k in range(first, last):
        if starts_character(text[k]):
            n += 1
            if n > most:
                break
    return n


@compiled(inline=True)
def run_end(text, first, last, kinds, kind):
    """Where the bytes of a kind end that begin at `first`."""
    while first < last and kinds[text[first]] & kind:
        first += 1
    return first


@compiled
def after_characters(text, first, last, n):
    """Where n characters end that begin at `first`; `last` if there are fewer."""
    while first < last:
        if starts_character(text[first]):
            if n == 0:
                return first
            n -= 1
        first += 1
    return last


# Words and links.


@compiled
def word_tokens(text, first, last, mark, most_links, only_links, rules, out):
    """Write the words of text[first:last] and the tokens of its links, each after a mark.

    A word: two letters or more, then up to three exclamation marks.
    """
    kinds, folds = rules[0], rules[1]
    digits, state = folds[DIGITS], out[3]
    i, n_links = first, 0
    while i < last and not state[FULL]:
        if not kinds[text[i]] & LETTER:
            i += 1
            continue
        start, n = i, 0
        while i < last and kinds[text[i]] & LETTER:
            n += starts_character(text[i])
            i += 1
        if i < last and text[i] == COLON and n_links < most_links:
            scheme = scheme_before(text, start, i, last)
            if scheme >= 0 and i + 3 < last and not kinds[text[i + 3]] & HOST_END:
                if not only_links:
                    word_token(text, start, scheme, n - (i - scheme), mark, digits, out)
                i = link_tokens(text, i + 3, last, mark, rules, out)
                n_links += 1
                continue
        if not only_links:
            stop = i
            while i < last and text[i] == BANG and i < stop + 3:
                i += 1
            if n > 1:
                word_token(text, start, i, n + i - stop, mark, digits, out)


@compiled(inline=True)
def word_token(text, start, stop, n, mark, digits, out):
    """Write the word text[start:stop] of n characters, unless it is short or long."""
    if 1 < n <= LONGEST:
        begin(out, mark)
        write_all(out, text, start, stop, digits)
        end(out)


@compiled
def scheme_before(text, start, colon, last):
    """Where http, https, ftp or the like begins that ends at a colon with two slashes; or -1."""
    if colon + 2 >= last or text[colon + 1] != SLASH or text[colon + 2] != SLASH:
        return -1
    stop = colon
    if stop - start > 3 and text[stop - 1] == 115:  # s
        stop -= 1
    if stop - start >= 3 and text[stop - 1] == 112 and text[stop - 2] == 116:  # tp
        if text[stop - 3] == 102:  # f
            return stop - 3
        if stop - start >= 4 and text[stop - 3] == 116 and text[stop - 4] == 104:
            return stop - 4
    upper = stop - start >= 4 and text[stop - 1] == 80 and text[stop - 2] == 84  # TP
    if upper and text[stop - 3] == 84 and text[stop - 4] == 72:
        return stop - 4
    return -1


@compiled
def link_tokens(text, first, last, mark, rules, out):
    """Write the tokens of the link whose host begins at `first`; return where the link ends."""
    kinds, lower = rules[0], rules[1][LOWER]
    stop = first
    while stop < last and not kinds[text[stop]] & URL_END:
        stop += 1
    path = first
    while path < stop and not kinds[text[path]] & HOST_END:
        path += 1
    path = after_characters(text, first, path, LONGEST_HOST)
    begin_host, end_host = first, path
    for k in range(first, path):
        if text[k] == AT_SIGN:
            begin_host = k + 1
    for k in range(begin_host, end_host):
        if text[k] == COLON:
            end_host = k
            break
    domain_tokens(text, begin_host, end_host, mark, URL_MARK, lower, out)
    path_tokens(text, path, after_characters(text, path, stop, LONGEST_PATH), mark, rules, out)
    return stop


@compiled
def path_tokens(text, first, last, mark, rules, out):
    """Write the words of the path of a link."""
    kinds, same = rules[0], rules[1][AS_IS]
    i, n = first, 0
    while i < last and n < MOST_PARTS:
        start = i
        i = run_end(text, start, last, kinds, PATH)
        while start < i and n < MOST_PARTS:
            stop = after_characters(text, start, i, LONGEST)
            if n_characters(text, start, stop, 2) > 1:
                begin(out, mark)
                for byte in URL_MARK:
                    write(out, byte)
                write(out, SLASH)
                write_all(out, text, start, stop, same)
                end(out)
                n += 1
            start = stop
        i += 1


@compiled
def domain_tokens(text, first, last, mark, more, lower, out):
    """Write a host and the domains that it belongs to, of at most four labels."""
    while first < last and text[first] == DOT:
        first += 1
    while first < last and text[last - 1] == DOT:
        last -= 1
    n_labels = 1
    for k in range(first, last):
        n_labels += text[k] == DOT
    start, skip = first, n_labels - min(n_labels, 4)
    for label in range(n_labels):
        if label >= skip:
            begin(out, mark)
            for byte in more:
                write(out, byte)
            write_all(out, text, start, last, lower)
            end(out)
        while start < last and text[start] != DOT:
            start += 1
        start += 1


# Headers.


@compiled
def header_tokens(text, first, last, rules, name, out):
    """Write the tokens of headers, one a line. Changes name (scratch)."""
    start = first
    while start < last and not out[3][FULL]:
        stop = start
        while stop < last and text[stop] != NEWLINE:
            stop += 1
        header_token(text, start, stop, rules, name, out)
        start = stop + 1


@compiled
def header_token(text, start, stop, rules, name, out):
    """Write the tokens of one header."""
    kinds, folds = rules[0], rules[1]
    colon = run_end(text, start, stop, kinds, HEADER_NAME)
    if colon in (start, stop) or text[colon] != COLON:
        return
    n_name = min(colon - start, len(name) - 2)
    for k in range(n_name):
        name[k] = folds[LOWER][text[start + k]]
    value, value_end = colon + 1, stop
    while value < value_end and kinds[text[value]] & BLANK:
        value += 1
    while value < value_end and kinds[text[value_end - 1]] & BLANK:
        value_end -= 1
    role = role_of(name, n_name, colon - start, rules)
    if role == SUBJECT:
        begin(out, HEADER_MARK)
        write_all(out, name, 0, n_name, folds[AS_IS])
        end(out)
        word_tokens(text, value, value_end, SUBJECT_MARK, MOST_LINKS, False, rules, out)
    elif role != IGNORED and n_characters(text, value, value_end, LONGEST_VALUE) < LONGEST_VALUE:
        n_name = min(n_name, NAME_START)
        begin(out, HEADER_MARK)
        write_all(out, name, 0, n_name, folds[AS_IS])
        end(out)
        name[n_name] = COLON
        value_tokens(text, value, value_end, name[: n_name + 1], role == ADDRESS, rules, out)
        if role == ADDRESS:
            name[n_name + 1] = AT_SIGN
            host_tokens(text, value, value_end, name[: n_name + 2], rules, out)


@compiled
def role_of(name, n_name, length, rules):
    """Return the role of a header. `length` is the length of the whole name."""
    _, _, names, limits, roles = rules
    for j in range(len(roles)):
        n = limits[j + 1] - limits[j]
        if length < n or (length > n and roles[j] != IGNORED_START):
            continue
        k = 0
        while k < n and name[k] == names[limits[j] + k]:
            k += 1
        if k == n:
            return IGNORED if roles[j] == IGNORED_START else roles[j]
    return ORDINARY


@compiled
def value_tokens(text, first, last, mark, address, rules, out):
    """Write the first names and numbers of a header's value."""
    kinds, fold = rules[0], rules[1][LOWER if address else LOWER_DIGITS]
    i, n = first, 0
    while i < last and n < MOST_WORDS:
        if not kinds[text[i]] & NAME:
            i += 1
            continue
        start = i
        i = run_end(text, i, last, kinds, NAME)
        n += 1
        if n_characters(text, start, i, LONGEST_NAME) <= LONGEST_NAME:
            begin(out, mark)
            write_all(out, text, start, i, fold)
            end(out)


@compiled
def host_tokens(text, first, last, mark, rules, out):
    """Write the domains behind each @ of a header's value."""
    kinds, lower = rules[0], rules[1][LOWER]
    i = first
    while i < last and not out[3][FULL]:
        if text[i] != AT_SIGN:
            i += 1
            continue
        start = i + 1
        i = run_end(text, start, last, kinds, HOST_NAME)
        if i > start:
            domain_tokens(text, start, i, mark, NO_MARK, lower, out)


# Messages to rows.


@compiled
def section_tokens(text, kind, first, last, rules, name, out):
    """Write the tokens of one section."""
    if kind == HEADERS:
        header_tokens(text, first, last, rules, name, out)
    elif kind == TEXT:
        word_tokens(text, first, last, NO_MARK, MOST_LINKS, False, rules, out)
    elif kind == HIDDEN:
        word_tokens(text, first, last, HIDDEN_MARK, MOST_LINKS, False, rules, out)
    elif kind == LINKS:
        word_tokens(text, first, last, NO_MARK, last - first, True, rules, out)
    else:
        line_tokens(text, first, last, rules, out)


@compiled
def line_tokens(text, first, last, rules, out):
    """Write each line as a token."""
    start = first
    while start < last and not out[3][FULL]:
        stop = start
        while stop < last and text[stop] != NEWLINE:
            stop += 1
        if out[3][AT] + stop - start > len(out[0]):
            out[3][FULL] = 1
        elif stop > start:
            begin(out, NO_MARK)
            write_all(out, text, start, stop, rules[1][AS_IS])
            end(out)
        start = stop + 1


@compiled
def count_messages(batch, first, rules, name, out, found, table, size, place, row, indptr):
    """Count the tokens of messages from the first on; return the first without enough room.

    Reads batch: text, sections (s, 3) of kind, start and stop, and limits of messages in these.
    Updates the table of tokens and its size, place (scratch), row (numbers of tokens and their
    counts) and indptr, the end of each message in the row.
    """
    text, sections, limits = batch
    bits, numbers = found
    clean, starts, stops, state = out
    n = indptr[first]
    for d in range(first, len(limits) - 1):
        state[N_TERMS] = state[AT] = state[FULL] = 0
        for s in range(limits[d], limits[d + 1]):
            if not state[FULL]:
                section_tokens(
                    text, sections[s, 0], sections[s, 1], sections[s, 2], rules, name, out
                )
        m = state[N_TERMS]
        if state[FULL] or n + m > len(row[0]):
            return d
        look_up(clean, (starts, stops), m, table, bits, numbers)
        start = n
        for t in range(m):
            j = numbers[t]
            if j < 0:
                j = add_term(clean, starts[t], stops[t], bits[t], table, size)
                if j < 0:
                    clear(row[0], start, n, place)
                    return d
            n = add_to_row(row, n, j, 1, place)
        clear(row[0], start, n, place)
        indptr[d + 1] = n
    return len(limits) - 1
