# mypy: ignore-errors
"""Pages of HTML as bytes: what they show and what they hide, as `spam.html` reads one of them."""

import numpy as np

from rosenblatt.loops import compiled

from .mail_loops import BREAKING, EMPTY
from .mail_loops import PAGE_BLANK as BLANK
from .mail_loops import PAGE_LETTER as LETTER
from .mail_loops import PAGE_WORD as WORD

LESS, MORE, BANG, SLASH, HYPHEN, EQUALS, COLON, NEWLINE = 60, 62, 33, 47, 45, 61, 58, 10
SPACE = np.uint8(32)
# What is looked for, in lower case: names that are skipped with what they hold, attributes that
# link, and styles that hide.
SKIPPED = tuple(np.frombuffer(name, np.uint8) for name in (b"script", b"style", b"head", b"title"))
LINKING = tuple(
    np.frombuffer(name, np.uint8) for name in (b"href", b"src", b"action", b"background")
)
COMMENT, COMMENT_END = np.frombuffer(b"<!--", np.uint8), np.frombuffer(b"-->", np.uint8)
DISPLAY, NONE = np.frombuffer(b"display", np.uint8), np.frombuffer(b"none", np.uint8)
VISIBILITY, HIDDEN = np.frombuffer(b"visibility", np.uint8), np.frombuffer(b"hidden", np.uint8)
FONT_SIZE, SIZE = np.frombuffer(b"font-size", np.uint8), np.frombuffer(b"size", np.uint8)
COLOR, WHITE = np.frombuffer(b"color", np.uint8), np.frombuffer(b"white", np.uint8)
FFF, FFFFFF = np.frombuffer(b"#fff", np.uint8), np.frombuffer(b"#ffffff", np.uint8)
BODY = np.frombuffer(b"body", np.uint8)


@compiled(inline=True)
def matches(text, first, last, word, lower):
    """Whether a word stands at `first`, in any case."""
    if last - first < len(word):
        return False
    k = 0
    while k < len(word) and lower[text[first + k]] == word[k]:
        k += 1
    return k == len(word)


@compiled(inline=True)
def after_blanks(text, first, last, kinds):
    """Where blanks end that begin at `first`."""
    while first < last and kinds[text[first]] & BLANK:
        first += 1
    return first


@compiled(inline=True)
def ends_word(text, place, last, kinds):
    """Whether no word goes on at a place."""
    return place >= last or not kinds[text[place]] & WORD


@compiled(inline=True)
def begins_word(text, first, place, kinds):
    """Whether no word stands before a place."""
    return place == first or not kinds[text[place - 1]] & WORD


@compiled
def end_of_element(text, first, last, name, lower, kinds):
    """Where the next closing tag of a name ends; -1 if there is none."""
    for k in range(first, last - len(name) - 2):
        closing = text[k] == LESS and text[k + 1] == SLASH
        if closing and matches(text, k + 2, last, name, lower):
            place = after_blanks(text, k + 2 + len(name), last, kinds)
            if place < last and text[place] == MORE:
                return place + 1
    return -1


@compiled
def end_of_comment(text, first, last):
    """Where the next end of a comment ends; -1 if there is none."""
    for k in range(first, last - 2):
        if text[k] == HYPHEN and text[k + 1] == HYPHEN and text[k + 2] == MORE:
            return k + 3
    return -1


@compiled
def end_of_skipped(text, k, last, lower, kinds, unclosed):
    """Where something that is skipped ends, if it begins at k; else k.

    Changes unclosed (5,): what has no end here is not looked for again.
    """
    if matches(text, k, last, COMMENT, lower):
        stop = end_of_comment(text, k + 4, last) if not unclosed[4] else -1
        unclosed[4] = stop < 0
        return max(k, stop)
    for j in range(len(SKIPPED)):
        name = SKIPPED[j]
        if matches(text, k + 1, last, name, lower) and ends_word(
            text, k + 1 + len(name), last, kinds
        ):
            stop = -1
            if not unclosed[j]:
                stop = end_of_element(text, k + 1 + len(name), last, name, lower, kinds)
            unclosed[j] = stop < 0
            return max(k, stop)
    return k


@compiled
def leave_out_skipped(text, lower, kinds, unclosed, kept):
    """Copy a page without comments, scripts, styles and titles; return its length and comments.

    Comments are counted by their beginnings. Changes kept and unclosed (scratch).
    """
    k, n, n_comments, counted, last = 0, 0, 0, 0, len(text)
    unclosed[:] = 0
    while k < last:
        if text[k] == LESS:
            if k >= counted and matches(text, k, last, COMMENT, lower):
                n_comments, counted = n_comments + 1, k + 4
            stop = end_of_skipped(text, k, last, lower, kinds, unclosed)
            if stop > k:
                n_comments += n_comments_in(text, max(k + 1, counted), stop, lower)
                k = counted = stop
                continue
        kept[n] = text[k]
        n += 1
        k += 1
    return n, n_comments


@compiled
def n_comments_in(text, first, last, lower):
    """How often a comment begins in text[first:last]."""
    n = 0
    for k in range(first, last - 3):
        n += text[k] == LESS and matches(text, k, last, COMMENT, lower)
    return n


@compiled
def hides(text, first, last, lower, kinds):
    """Whether a tag text[first:last] hides what it holds: by its style, size or white colour."""
    for k in range(first, last):
        byte = lower[text[k]]
        if byte == 100:  # d
            hidden = matches(text, k, last, DISPLAY, lower) and has_value(
                text, k + len(DISPLAY), last, NONE, lower, kinds
            )
        elif byte == 118:  # v
            hidden = matches(text, k, last, VISIBILITY, lower) and has_value(
                text, k + len(VISIBILITY), last, HIDDEN, lower, kinds
            )
        elif byte == 102:  # f
            hidden = matches(text, k, last, FONT_SIZE, lower) and is_tiny_font(text, k, last, kinds)
        elif byte == 115 and begins_word(text, first, k, kinds):  # s
            hidden = matches(text, k, last, SIZE, lower) and is_tiny_size(text, k, last, kinds)
        elif byte == 99 and begins_word(text, first, k, kinds):  # c
            hidden = (
                (k == first or text[k - 1] != HYPHEN)
                and matches(text, k, last, COLOR, lower)
                and is_white(text, k, last, lower, kinds)
            )
        elif byte == 104 and begins_word(text, first, k, kinds):  # h
            hidden = matches(text, k, last, HIDDEN, lower) and ends_word(
                text, k + len(HIDDEN), last, kinds
            )
        else:
            hidden = False
        if hidden:
            return True
    return False


@compiled
def has_value(text, place, last, value, lower, kinds):
    """Whether a colon and a value stand at a place."""
    place = after_sign(text, place, last, COLON, COLON, kinds)
    return place >= 0 and matches(text, place, last, value, lower)


@compiled
def is_tiny_font(text, k, last, kinds):
    """Whether the font-size that begins at k is 0 or 1, of whatever unit."""
    place = after_sign(text, k + len(FONT_SIZE), last, COLON, COLON, kinds)
    if place < 0 or not is_tiny(text, place, last):
        return False
    after = text[place + 1] if place + 1 < last else SPACE
    return not (48 <= after <= 57 or after == 46)


@compiled
def is_tiny_size(text, k, last, kinds):
    """Whether the size that begins at k is 0 or 1."""
    place = after_sign(text, k + len(SIZE), last, EQUALS, EQUALS, kinds)
    place = after_quote(text, place, last)
    return place >= 0 and is_tiny(text, place, last) and ends_word(text, place + 1, last, kinds)


@compiled(inline=True)
def after_sign(text, place, last, sign, other, kinds):
    """Where a value begins after one of two signs with blanks around it; -1 if there is none."""
    place = after_blanks(text, place, last, kinds)
    if place >= last or (text[place] != sign and text[place] != other):
        return -1
    return after_blanks(text, place + 1, last, kinds)


@compiled(inline=True)
def after_quote(text, place, last):
    """The place after a quotation mark, if there is one."""
    if 0 <= place < last and (text[place] == 34 or text[place] == 39):
        return place + 1
    return place


@compiled(inline=True)
def is_tiny(text, place, last):
    """Whether a size of 0 or 1 stands at a place."""
    return place < last and (text[place] == 48 or text[place] == 49)


@compiled
def is_white(text, k, last, lower, kinds):
    """Whether the colour whose name begins at k is white."""
    place = after_sign(text, k + len(COLOR), last, COLON, EQUALS, kinds)
    if place < 0:
        return False
    place = after_blanks(text, after_quote(text, place, last), last, kinds)
    if matches(text, place, last, FFFFFF, lower):
        return True
    if matches(text, place, last, FFF, lower):
        return ends_word(text, place + len(FFF), last, kinds)
    return matches(text, place, last, WHITE, lower) and ends_word(
        text, place + len(WHITE), last, kinds
    )


@compiled
def find_links(text, first, last, lower, kinds, links, n, most, count):
    """Write the targets of a tag, each on a line, after n bytes; return how many bytes there are.

    Changes count (1,): how many targets there are, `most` at the most.
    """
    k = first
    while k < last:
        start = -1
        byte = lower[text[k]]
        if byte == 104 or byte == 115 or byte == 97 or byte == 98:  # h, s, a, b
            start = link_start(text, k, last, lower, kinds)
        if start < 0:
            k += 1
            continue
        k = start
        while k < last and not (kinds[text[k]] & BLANK or text[k] in (34, 39, MORE)):
            k += 1
        if count[0] < most:
            for i in range(start, k):
                links[n] = text[i]
                n += 1
            links[n] = NEWLINE
            n += 1
            count[0] += 1
    return n


@compiled
def link_start(text, k, last, lower, kinds):
    """Where the target begins whose attribute begins at k; -1 if there is none."""
    for j in range(len(LINKING)):
        word = LINKING[j]
        if matches(text, k, last, word, lower):
            place = after_sign(text, k + len(word), last, EQUALS, EQUALS, kinds)
            place = after_quote(text, place, last)
            if 0 <= place < last:
                byte = text[place]
                if not (kinds[byte] & BLANK or byte == 34 or byte == 39 or byte == MORE):
                    return place
    return -1


@compiled
def kind_of_name(text, first, last, lower, names, limits, bits):
    """The bits of a name in a list; 0 if it is not there."""
    for j in range(len(bits)):
        n = limits[j + 1] - limits[j]
        if last - first == n:
            k = 0
            while k < n and lower[text[first + k]] == names[limits[j] + k]:
                k += 1
            if k == n:
                return bits[j]
    return 0


@compiled
def read_page(text, rules, most_links, scratch, out, sizes):
    """Separate what a page shows from what it hides.

    Reads rules: lower (256,), kinds (256,) and a list of names with their bits. Changes out: bytes
    that are shown, hidden, links and tags, these on lines; and sizes (5,) of these four, with the
    number of comments.
    """
    lower, kinds, names, limits, bits = rules
    kept, unclosed, count = scratch
    shown, hidden, links, tags = out
    n, sizes[4] = leave_out_skipped(text, lower, kinds, unclosed, kept)
    at = sizes
    at[0] = at[1] = at[2] = at[3] = count[0] = 0
    depth, k = 0, 0
    while k < n:
        start = k
        while k < n and not (kept[k] == LESS and begins_tag(kept, k + 1, n, kinds)):
            k += 1
        into, which = (hidden, 1) if depth else (shown, 0)
        place = at[which] - start
        for i in range(start, k):
            into[place + i] = kept[i]
        at[which] = place + k
        if k == n:
            break
        closing = kept[k + 1] == SLASH
        first = k + 2 if closing else k + 1
        stop, valued = first, False
        while stop < n and kept[stop] != LESS and kept[stop] != MORE:
            valued |= kept[stop] == EQUALS
            stop += 1
        k = stop + 1 if stop < n and kept[stop] == MORE else stop
        name_end = first
        while name_end < stop and not kinds[kept[name_end]] & BLANK:
            name_end += 1
        while name_end > first and kept[name_end - 1] == SLASH:
            name_end -= 1
        kind = kind_of_name(kept, first, name_end, lower, names, limits, bits)
        if kind & BREAKING:
            into[at[which]] = SPACE
            at[which] += 1
        if closing:
            depth = max(depth - 1, 0)
            continue
        for i in range(first, name_end):
            tags[at[3]] = lower[kept[i]]
            at[3] += 1
        tags[at[3]] = NEWLINE
        at[3] += 1
        if valued:
            at[2] = find_links(kept, first, stop, lower, kinds, links, at[2], most_links, count)
        if kind & EMPTY:
            continue
        if depth:
            depth += 1
        elif (
            valued
            and not is_body(kept, first, name_end, lower)
            and hides(kept, first, stop, lower, kinds)
        ):
            depth = 1
            hidden[at[1]] = SPACE
            at[1] += 1


@compiled(inline=True)
def begins_tag(text, place, last, kinds):
    """Whether a tag's name begins at a place, after a slash or not."""
    if place < last and text[place] == SLASH:
        place += 1
    return place < last and (kinds[text[place]] & LETTER or text[place] == BANG)


@compiled(inline=True)
def is_body(text, first, last, lower):
    """Whether a name is that of the page itself, whose colour is its background's."""
    return last - first == 4 and matches(text, first, last, BODY, lower)
