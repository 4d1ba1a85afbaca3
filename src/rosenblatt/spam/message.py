"""Split the bytes of a message into headers, texts, links and attachments.

Python's `email` package takes three times as long, and its import a sixth of the time of a command
that classifies one message. Every size has a limit, nothing is rendered, links are not followed and
attachments are not opened, so a hostile message costs no more than a long one.
"""

import binascii
import codecs
import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from .html import Page, read_page

MOST_BYTES = 1 << 20  # of a message; the rest is not read
MOST_DEPTH = 8  # of parts within parts
MOST_PARTS = 100
MOST_HEADERS = 500
MOST_DECODED = 1 << 19  # characters of the text of one part

PARAMETER = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s;"]+))')
HEADER = re.compile(rb"^([!-9;-~]+):(.*)", re.M)
FOLD = re.compile(rb"\n[ \t]")
# A line that is neither a header nor its continuation ends the headers, empty or not.
HEADER_LINE = rb"[!-9;-~]+:|[ \t]|>?From "
FIRST_HEADER = re.compile(HEADER_LINE)
END_OF_HEADERS = re.compile(rb"\n(?!" + HEADER_LINE + rb")")
BYTE_ORDER_MARK = codecs.BOM_UTF8
CONTENT = (b"\ncontent-type:", b"\ncontent-disposition:", b"\ncontent-transfer-encoding:")
BLANKS = b" \t\r\f\v"
ENCODED_WORD = re.compile(r"=\?([\w*.:+-]{1,40})\?([bBqQ])\?([^?\s]*)\?=(?:\s+(?==\?))?")
NOT_BASE64 = bytes(set(range(256)) - set(f"{string.ascii_letters}{string.digits}+/".encode()))
# Character sets of Python that no mail uses; decoding the first takes quadratic time.
NO_CHARSETS = frozenset(["punycode", "idna", "unicode-escape", "raw-unicode-escape"])
BEGINNING = re.compile(rb"\r?\n|>?From |[!-9;-~]+:")
NO_MAIL = "no e-mail: it has no header such as `Subject: ...`"


class Message(NamedTuple):
    """The parts of a message that the filter reads."""

    lines: bytes  # a header a line, in UTF-8, see `header_lines`
    texts: list[str]  # plain text, and the visible text of HTML
    pages: list[Page]  # HTML
    attachments: list[str]  # their types: application/pdf; and the endings of their names: .exe
    truncated: bool  # longer than `MOST_BYTES`

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Return names in lower case, and values."""
        return [
            (name.decode().lower(), value.strip(BLANKS).decode())
            for name, value in HEADER.findall(self.lines)
        ]

    def header(self, name: str) -> str:
        """Return the first header of a name, or nothing."""
        return values_of(self.lines, (f"\n{name}:".encode(),))[0]


class Part(NamedTuple):
    """A part of a message that is still to be read."""

    lines: bytes
    body: bytes
    depth: int


def parse(raw: bytes) -> Message:
    r"""Split a message into headers, texts, pages and attachments.

    >>> message = parse(b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\nHello there\n")
    >>> message.header("subject"), message.texts
    ('Grüße', ['Hello there\n'])
    """
    truncated = len(raw) > MOST_BYTES
    raw = raw[:MOST_BYTES].removeprefix(BYTE_ORDER_MARK)
    if raw.startswith((b"From ", b">From ")):  # the line that mbox puts before a message
        raw = raw[raw.find(b"\n") + 1 :]
    head, body = split_headers(raw)
    message = Message(header_lines(head), [], [], [], truncated)
    parts, n_parts = [Part(message.lines, body, 0)], 0
    while parts and n_parts < MOST_PARTS:
        n_parts += 1
        parts += reversed(list(_read_part(parts.pop(), message)))
    return message


def check_mail(raw: bytes) -> None:
    """Refuse what is empty or no e-mail; a text without headers begins with an empty line."""
    raw = raw.removeprefix(BYTE_ORDER_MARK)
    if not raw or raw.isspace():
        raise ValueError("the message is empty.")
    if not BEGINNING.match(raw) and not HEADER.search(raw[:4096]):
        raise ValueError(f"{NO_MAIL}.")


def split_headers(raw: bytes) -> tuple[bytes, bytes]:
    """Split a message at the end of its headers, before the first line that cannot be a header.

    An empty line there belongs to neither part.

    >>> split_headers(b"To: a\\n\\nHi"), split_headers(b"To: a\\nDear all: hello")
    ((b'To: a', b'Hi'), (b'To: a', b'Dear all: hello'))
    """
    end = end_of_headers(raw)
    head, body = raw[:end], raw[end:]
    if not head:
        return head, body.lstrip(b"\r\n")
    return head.rstrip(b"\r\n"), body.removeprefix(b"\r").removeprefix(b"\n")


def end_of_headers(raw: bytes) -> int:
    """Return where the first line begins that cannot be a header."""
    if not FIRST_HEADER.match(raw):
        return 0
    end = END_OF_HEADERS.search(raw)
    return len(raw) if end is None else end.start() + 1


def header_lines(head: bytes) -> bytes:
    r"""Return headers in UTF-8, one per line: folded ones joined, encoded words decoded.

    >>> header_lines(b"To: a,\r\n\tb\r\nSubject: =?utf-8?q?caf=C3=A9?=").decode()
    'To: a, b\nSubject: café'
    """
    if b"\0" in head or not head.isascii():
        head = decode(head, "utf-8").encode()
    if b"\r" in head:
        head = head.replace(b"\r\n", b"\n")
    lines = FOLD.sub(b" ", head)
    if b"?" in lines and b"=?" in lines:
        lines = ENCODED_WORD.sub(_decode_word, lines.decode()).encode()
    if lines.count(b"\n") >= MOST_HEADERS:
        lines = b"\n".join(lines.split(b"\n", MOST_HEADERS)[:MOST_HEADERS])
    return lines


def values_of(lines: bytes, names: tuple[bytes, ...]) -> list[str]:
    """Return the value of the first header of each name, or ""; names are `\\nin-lower-case:`."""
    text = b"\n" + lines
    lower, found = text.lower(), []
    for name in names:
        start = lower.find(name)
        if start < 0:
            found.append("")
            continue
        start += len(name)
        end = text.find(b"\n", start)
        found.append(text[start : end if end >= 0 else None].strip(BLANKS).decode())
    return found


def _decode_word(match: re.Match[str]) -> str:
    """Decode one word in the form =?charset?encoding?text?=."""
    charset, encoding, text = match.groups()
    raw = text.encode("utf-8", "replace")
    raw = from_base64(raw) if encoding in "bB" else binascii.a2b_qp(raw, header=True)
    # A line break in an encoded word would begin a header that nobody sent.
    return decode(raw, charset.partition("*")[0]).replace("\n", " ").replace("\r", " ")


def _read_part(part: Part, message: Message) -> Iterator[Part]:
    """Add the text or the type of a part to the message; return the parts within it."""
    value, disposition, encoding = values_of(part.lines, CONTENT)
    kind, parameters = content_type(value)
    if kind.startswith("multipart/") and parameters.get("boundary"):
        if part.depth < MOST_DEPTH:
            yield from _split_parts(part, parameters["boundary"])
        return
    if kind == "message/rfc822":
        if part.depth < MOST_DEPTH:
            head, body = split_headers(part.body)
            yield Part(header_lines(head), body, part.depth + 1)
    elif kind in ("text/plain", "text/html") and not disposition.lower().startswith("attachment"):
        decoder = DECODERS.get(encoding.lower())
        body = part.body if decoder is None else decoder(part.body)
        text = decode(body, parameters.get("charset", "utf-8"))[:MOST_DECODED]
        if kind == "text/html":
            message.pages.append(read_page(text))
            text = message.pages[-1].visible
        message.texts.append(text)
    else:
        name = parameters.get("name") or content_type(disposition)[1].get("filename", "")
        message.attachments.append(kind)
        if "." in name:
            message.attachments.append("." + name.rpartition(".")[2].lower()[:10])


def _split_parts(part: Part, boundary: str) -> Iterator[Part]:
    """Yield the parts between the lines of a boundary."""
    mark = b"\n--" + boundary.encode("utf-8", "replace")
    for piece in (b"\n" + part.body).split(mark, MOST_PARTS)[1:]:
        if piece.startswith(b"--"):
            return
        piece = piece[piece.find(b"\n") + 1 :] if b"\n" in piece else b""
        head, body = split_headers(piece)
        yield Part(header_lines(head), body, part.depth + 1)


@lru_cache(1000)
def content_type(value: str) -> tuple[str, dict[str, str]]:
    """Return the type and the parameters of a header such as `text/plain; charset=utf-8`.

    >>> content_type('multipart/mixed; boundary="a b"; x=1')
    ('multipart/mixed', {'boundary': 'a b', 'x': '1'})
    """
    if not value:
        return "text/plain", {}
    kind = value.partition(";")[0].strip().lower()
    found = {name.lower(): quoted or plain for name, quoted, plain in PARAMETER.findall(value)}
    return kind if "/" in kind else "text/plain", found


def decode(raw: bytes, charset: str) -> str:
    """Decode bytes of a character set; bytes that are invalid in it are read as Latin-1.

    The text can be encoded in UTF-8 and has no NUL.

    >>> decode(b"caf\\xe9", "utf-8"), decode(b"caf\\xc3\\xa9", "x-unknown")
    ('café', 'café')
    """
    for name in (charset, "utf-8"):
        try:
            if codecs.lookup(name).name in NO_CHARSETS:
                continue
            text = raw.decode(name)
            if not text.isascii():
                text.encode()  # fails for half a surrogate pair, which UTF-7 can hold
            break
        except (UnicodeError, LookupError, ValueError):  # ValueError: a NUL in the name
            text = raw.decode("latin-1")
    return text.replace("\0", " ") if "\0" in text else text


def from_base64(raw: bytes) -> bytes:
    """Decode base64 and skip invalid characters."""
    clean = raw.translate(None, NOT_BASE64)
    return binascii.a2b_base64(
        clean[: len(clean) // 4 * 4] if len(clean) % 4 == 1 else clean + b"=="
    )


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64": from_base64,
    "quoted-printable": binascii.a2b_qp,
}
