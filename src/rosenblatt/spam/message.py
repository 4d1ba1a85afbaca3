"""A message as it came, in bytes, taken apart: headers, texts, links and attachments.

Python's own `email` package parses 3,000 messages a second, which is less than a mail server
receives when a queue is flushed. What a filter needs of MIME is small: the parts, their texts, and
no surprise. Every size here has a limit, nothing is rendered, no link is followed and no
attachment is opened, so that a hostile message costs no more than a long one.
"""

import binascii
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .html import Page, read_page

MOST_BYTES = 1 << 20  # of a message; the rest is not read
MOST_DEPTH = 8  # of parts within parts
MOST_PARTS = 100
MOST_HEADERS = 500
MOST_DECODED = 1 << 19  # characters of the text of one part

PARAMETER = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s;"]+))')
ENCODED_WORD = re.compile(r"=\?([\w*.:+-]{1,40})\?([bBqQ])\?([^?\s]*)\?=(?:\s+(?==\?))?")
NO_MAIL = "no e-mail: it has no header such as `Subject: ...` and looks like binary data"


class Message(NamedTuple):
    """What a filter reads of a message."""

    headers: list[tuple[str, str]]  # names in lower case, decoded values
    texts: list[str]  # plain text, and the visible text of HTML
    pages: list[Page]  # what HTML holds beside its visible text
    attachments: list[str]  # their types: application/pdf; and the endings of their names: .exe
    truncated: bool  # longer than `MOST_BYTES`

    def header(self, name: str) -> str:
        """The first header of a name, or nothing."""
        return next((value for found, value in self.headers if found == name), "")


class Part(NamedTuple):
    """A part of a message that is still to be read."""

    headers: list[tuple[str, str]]
    body: bytes
    depth: int


def parse(raw: bytes) -> Message:
    r"""Take a message apart.

    >>> message = parse(b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\nHello there\n")
    >>> message.header("subject"), message.texts
    ('Grüße', ['Hello there\n'])
    """
    truncated = len(raw) > MOST_BYTES
    raw = raw[:MOST_BYTES]
    if raw.startswith((b"From ", b">From ")):  # the line that mbox puts before a message
        raw = raw[raw.find(b"\n") + 1 :]
    head, body = split_headers(raw)
    message = Message(read_headers(head), [], [], [], truncated)
    parts, n_parts = [Part(message.headers, body, 0)], 0
    while parts and n_parts < MOST_PARTS:
        n_parts += 1
        parts += reversed(list(_read_part(parts.pop(), message)))
    return message


def check_mail(raw: bytes) -> None:
    """Refuse what is empty or no text at all."""
    if not raw.strip():
        raise ValueError("the message is empty.")
    start = raw[:4096]
    if b"\0" in start and not re.match(rb"[\w-]+:|From ", start):
        raise ValueError(f"{NO_MAIL}.")


def split_headers(raw: bytes) -> tuple[bytes, bytes]:
    """The headers, and what follows the first empty line."""
    if raw.startswith((b"\n", b"\r\n")):
        return b"", raw.lstrip(b"\r\n")
    short, long = raw.find(b"\n\n"), raw.find(b"\n\r\n", 0, MOST_BYTES)
    end = min((place for place in (short, long) if place >= 0), default=len(raw))
    return raw[:end], raw[end + (3 if end == long else 2) :]


def read_headers(head: bytes) -> list[tuple[str, str]]:
    """Names in lower case and values, folded lines joined and encoded words decoded."""
    text = decode(head, "utf-8").replace("\r\n", "\n").replace("\n\t", " ").replace("\n ", " ")
    if "=?" in text:
        text = ENCODED_WORD.sub(_decode_word, text)
    found = []
    for line in text.split("\n", MOST_HEADERS)[:MOST_HEADERS]:
        name, colon, value = line.partition(":")
        if colon and " " not in name:
            found.append((name.lower(), value.strip()))
    return found


def _decode_word(match: re.Match[str]) -> str:
    """Decode one word in the form =?charset?encoding?text?=."""
    charset, encoding, text = match.groups()
    raw = text.encode("utf-8", "replace")
    if encoding in "bB":
        return decode(from_base64(raw), charset.partition("*")[0])
    return decode(binascii.a2b_qp(raw, header=True), charset.partition("*")[0])


def _read_part(part: Part, message: Message) -> Iterator[Part]:
    """Add the text or the type of a part to the message; return the parts within it."""
    kind, parameters = content_type(_value(part.headers, "content-type"))
    if kind.startswith("multipart/") and parameters.get("boundary"):
        if part.depth < MOST_DEPTH:
            yield from _split_parts(part, parameters["boundary"])
        return
    disposition = _value(part.headers, "content-disposition")
    if kind == "message/rfc822":
        if part.depth < MOST_DEPTH:
            head, body = split_headers(part.body)
            yield Part(read_headers(head), body, part.depth + 1)
    elif kind in ("text/plain", "text/html") and not disposition.lower().startswith("attachment"):
        _add_text(part, kind, parameters.get("charset", "utf-8"), message)
    else:
        name = parameters.get("name") or content_type(disposition)[1].get("filename", "")
        message.attachments.append(kind)
        if "." in name:
            message.attachments.append("." + name.rpartition(".")[2].lower()[:10])


def _add_text(part: Part, kind: str, charset: str, message: Message) -> None:
    encoding = _value(part.headers, "content-transfer-encoding").lower()
    decoder = DECODERS.get(encoding)
    text = decode(part.body if decoder is None else decoder(part.body), charset)[:MOST_DECODED]
    if kind == "text/html":
        page = read_page(text)
        message.pages.append(page)
        text = page.visible
    message.texts.append(text)


def _split_parts(part: Part, boundary: str) -> Iterator[Part]:
    """The parts between the lines of a boundary; what stands before and after them is left out."""
    mark = b"\n--" + boundary.encode("utf-8", "replace")
    for piece in (b"\n" + part.body).split(mark, MOST_PARTS)[1:]:
        if piece.startswith(b"--"):
            return
        piece = piece[piece.find(b"\n") + 1 :] if b"\n" in piece else b""
        head, body = split_headers(piece)
        yield Part(read_headers(head), body, part.depth + 1)


def content_type(value: str) -> tuple[str, dict[str, str]]:
    """The type and the parameters of a header such as `text/plain; charset=utf-8`.

    >>> content_type('multipart/mixed; boundary="a b"; x=1')
    ('multipart/mixed', {'boundary': 'a b', 'x': '1'})
    """
    if not value:
        return "text/plain", {}
    kind = value.partition(";")[0].strip().lower()
    found = {name.lower(): quoted or plain for name, quoted, plain in PARAMETER.findall(value)}
    return kind if "/" in kind else "text/plain", found


def _value(headers: list[tuple[str, str]], name: str) -> str:
    return next((value for found, value in headers if found == name), "")


def decode(raw: bytes, charset: str) -> str:
    """Text of bytes in a character set; whatever does not fit is read as Latin-1, and never fails.

    >>> decode(b"caf\\xe9", "utf-8"), decode(b"caf\\xc3\\xa9", "x-unknown")
    ('café', 'café')
    """
    for name in (charset, "utf-8"):
        try:
            return raw.decode(name)
        except (UnicodeError, LookupError, ValueError):  # ValueError: a NUL in the name
            continue
    return raw.decode("latin-1")


def from_base64(raw: bytes) -> bytes:
    """Decode base64 as far as it goes."""
    clean = re.sub(rb"[^A-Za-z0-9+/]", b"", raw)
    return binascii.a2b_base64(
        clean[: len(clean) // 4 * 4] if len(clean) % 4 == 1 else clean + b"=="
    )


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64": from_base64,
    "quoted-printable": binascii.a2b_qp,
}
