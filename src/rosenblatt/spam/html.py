"""What a page of HTML shows and what it hides: text alone, nothing rendered, nothing fetched."""

import html
import re
from typing import NamedTuple

MOST_LINKS = 200
# Names, blanks and case are those of ASCII, as in `html_loops`, which does the same for many pages.
OPENING = re.compile(r"<(?:(script|style|head|title)\b|!--)", re.I | re.A)
CLOSING = {
    name: re.compile(rf"</{name}\s*>", re.I | re.A) for name in ("script", "style", "head", "title")
} | {"": re.compile("-->")}
TAG = re.compile(r"<(/?[a-zA-Z!][^<>]*)>?")
LINK = re.compile(r"""(?:href|src|action|background)\s*=\s*["']?([^\s"'>]+)""", re.I | re.A)
# Text that the writer hides from readers, and not from filters.
HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?![0-9.])|\bsize\s*=\s*[\"']?[01]\b"
    r"|(?<![-\w])color\s*[:=]\s*(?:[\"']\s*)?(?:#fff\b|#ffffff|white\b)|\bhidden\b",
    re.I | re.A,
)
NAME = re.compile(r"\S*", re.A)
NO_CHARACTER = re.compile("&#[0-9]{9,};?")  # a number so long that Python would refuse to read it
BREAKS = frozenset(
    ("p", "br", "div", "td", "tr", "table", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6")
    + ("hr", "center", "blockquote", "body", "html", "option")
)
VOID = frozenset(
    ("br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "wbr")
)


LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def lowered(text: str) -> str:
    """A text with the letters of ASCII in lower case."""
    return text.lower() if text.isascii() else text.translate(LOWER)


def unescape(text: str) -> str:
    """A text with the characters that stand for entities; numbers of none are replaced.

    >>> unescape("a &amp; &#98;") + unescape("&#" + "9" * 9999 + ";")
    'a & b\ufffd'
    """
    return html.unescape(NO_CHARACTER.sub("\ufffd", text)) if "&" in text else text


class Page(NamedTuple):
    """A page of HTML, taken apart."""

    visible: str
    hidden: str
    links: list[str]
    tags: list[str]  # names in lower case
    n_comments: int


def without_skipped(source: str) -> str:
    """A page without its comments, scripts, styles and titles; what is never closed stays.

    >>> without_skipped("a<style>b</style>c<!-- d -->e<script>f")
    'ace<script>f'
    """
    pieces, start, place = [], 0, 0
    unclosed: set[str] = set()  # not looked for again: many of them would take the square of time
    while opened := OPENING.search(source, place):
        name, place = (opened[1] or "").lower(), opened.end()
        closed = None if name in unclosed else CLOSING[name].search(source, place)
        if closed is None:
            unclosed.add(name)
        else:
            pieces.append(source[start : opened.start()])
            start = place = closed.end()
    return "".join((*pieces, source[start:]))


def read_page(source: str) -> Page:
    """Separate what a page shows from what it hides.

    >>> page = read_page('<p>Dear <b>friend</b></p><a href="http://x.example/buy">buy</a>'
    ...                  '<span style="display:none">poem</span>')
    >>> page.visible.split(), page.hidden.split(), page.links
    (['Dear', 'friend', 'buy'], ['poem'], ['http://x.example/buy'])
    """
    n_comments = source.count("<!--")
    source = without_skipped(source)
    shown: list[str] = []
    hidden: list[str] = []
    links: list[str] = []
    tags: list[str] = []
    depth, into = 0, shown  # elements open below one that hides its text
    for place, piece in enumerate(TAG.split(source)):
        if place % 2 == 0:
            into.append(piece)
            continue
        name = lowered(NAME.match(piece)[0].rstrip("/"))  # type: ignore[index]
        if name.lstrip("/") in BREAKS:
            into.append(" ")
        if name.startswith("/"):
            depth = max(depth - 1, 0) if depth else 0
        else:
            tags.append(name)
            if "=" in piece:
                links += LINK.findall(piece)
                if depth == 0 and name not in VOID and name != "body" and HIDDEN.search(piece):
                    depth, into = 1, hidden
                    hidden.append(" ")
                    continue
            if depth and name not in VOID:
                depth += 1
        into = hidden if depth else shown
    return Page(
        unescape("".join(shown)),
        unescape("".join(hidden)),
        [unescape(link) for link in links[:MOST_LINKS]],
        tags,
        n_comments,
    )
