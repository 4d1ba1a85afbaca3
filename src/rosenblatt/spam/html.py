"""Visible and hidden text, links and tags of HTML; nothing is rendered or fetched."""

import html
import re
from functools import lru_cache
from typing import NamedTuple

MOST_LINKS = 200
# Names, blanks and case follow ASCII, as in the tokens.
OPENING = re.compile(r"<(?:(script|style|head|title)\b|!--)", re.I | re.A)
CLOSING = {
    name: re.compile(rf"</{name}\s*>", re.I | re.A) for name in ("script", "style", "head", "title")
} | {"": re.compile("-->")}
TAG = re.compile(r"<(/?[a-zA-Z!][^<>]*)>?")
LINK = re.compile(r"""(?:href|src|action|background)\s*=\s*["']?([^\s"'>]+)""", re.I | re.A)
# Styles of text that readers do not see.
HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?![0-9.])|\bsize\s*=\s*[\"']?[01]\b"
    r"|(?<![-\w])color\s*[:=]\s*(?:[\"']\s*)?(?:#fff\b|#ffffff|white\b)|\bhidden\b",
    re.I | re.A,
)
NAME = re.compile(r"\S*", re.A)
# A number so long that Python would refuse to read it.
LONG_NUMBER = re.compile("&#[0-9]{9,};?")
BREAKS = frozenset(
    ("p", "br", "div", "td", "tr", "table", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6")
    + ("hr", "center", "blockquote", "body", "html", "option")
)
VOID = frozenset(
    ("br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "wbr")
)
LONGEST_CACHED = 200  # characters of a tag
LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def lowered(text: str) -> str:
    """Return a text with the letters of ASCII in lower case."""
    return text.lower() if text.isascii() else text.translate(LOWER)


def unescape(text: str) -> str:
    """Replace entities by their characters, and invalid ones by U+FFFD.

    >>> unescape("a &amp; &#98;") + unescape("&#" + "9" * 9999 + ";")
    'a & b\ufffd'
    """
    return html.unescape(LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text


class Page(NamedTuple):
    """The parts of a page of HTML."""

    visible: str
    hidden: str
    links: list[str]
    tags: list[str]  # names in lower case
    n_comments: int


class Tag(NamedTuple):
    """An opening or closing tag."""

    name: str
    closes: bool
    breaks: bool  # separates words
    is_void: bool  # has no closing tag
    hides: bool
    links: list[str]


def without_skipped(source: str) -> str:
    """Return a page without its comments, scripts, styles and titles; unclosed ones stay.

    >>> without_skipped("a<style>b</style>c<!-- d -->e<script>f")
    'ace<script>f'
    """
    pieces, start, place = [], 0, 0
    unclosed: set[str] = set()  # searching for their ends again would take quadratic time
    while opened := OPENING.search(source, place):
        name, place = (opened[1] or "").lower(), opened.end()
        closed = None if name in unclosed else CLOSING[name].search(source, place)
        if closed is None:
            unclosed.add(name)
        else:
            pieces.append(source[start : opened.start()])
            start = place = closed.end()
    return "".join((*pieces, source[start:]))


def read_tag(text: str) -> Tag:
    """Return the tag whose brackets enclose a text.

    >>> read_tag('A href="http://x.example"')[0::5]
    ('a', ['http://x.example'])
    """
    name = lowered(NAME.match(text)[0].rstrip("/"))  # type: ignore[index]
    bare = name.lstrip("/")
    closes, is_void, valued = name.startswith("/"), name in VOID, "=" in text
    # The color of `body` is usually that of its background.
    may_hide = valued and not (closes or is_void or name == "body")
    return Tag(
        name,
        closes,
        bare in BREAKS,
        is_void,
        may_hide and HIDDEN.search(text) is not None,
        [unescape(link) for link in LINK.findall(text)] if valued and not closes else [],
    )


cached_tag = lru_cache(5000)(read_tag)


def read_page(source: str) -> Page:
    """Separate visible from hidden text.

    >>> page = read_page('<p>Dear <b>friend</b></p><a href="http://x.example/buy">buy</a>'
    ...                  '<span style="display:none">poem</span>')
    >>> page.visible.split(), page.hidden.split(), page.links
    (['Dear', 'friend', 'buy'], ['poem'], ['http://x.example/buy'])
    """
    n_comments = source.count("<!--")
    pieces = TAG.split(without_skipped(source))
    shown, hidden = pieces[:1], []
    links: list[str] = []
    tags: list[str] = []
    depth, into = 0, shown  # number of open elements below one that hides its text
    for text, after in zip(pieces[1::2], pieces[2::2], strict=True):
        tag = cached_tag(text) if len(text) < LONGEST_CACHED else read_tag(text)
        if tag.breaks:
            into.append(" ")
        if tag.closes:
            depth = max(depth - 1, 0)
        else:
            tags.append(tag.name)
            links += tag.links
            if depth and not tag.is_void:
                depth += 1
            elif not depth and tag.hides:
                depth = 1
                hidden.append(" ")
        into = hidden if depth else shown
        into.append(after)
    return Page(
        unescape("".join(shown)), unescape("".join(hidden)), links[:MOST_LINKS], tags, n_comments
    )
