"""Read files of text in blocks of lines, and name the line of an error."""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from .errors import TableError
from .files import SEPARATORS, ZIPPED, check_unzipped, form_of_content

BLANK = b" \r\n"  # characters of a blank line; in TSV tabs separate values
BUFFER = 2**18  # bytes
LINES_TO_CHECK = 1_000  # at once, to find a bad one


@contextmanager
def opened(source: Any) -> Iterator[Any]:
    """Yield the binary file of a path or of bytes; decompress gzip. Yield anything else as is."""
    if isinstance(source, bytes):
        source = io.BytesIO(source)
    if not isinstance(source, str):
        yield source
        return
    with open(source, "rb") as file:
        zipped = file.read(2) == ZIPPED
    try:
        with gzip.open(source) if zipped else open(source, "rb", BUFFER) as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TableError(f"{source} cannot be decompressed by gzip: {error}.") from None


def blocks(lines: Iterable[bytes], rows: int | None, form: str) -> Iterator[tuple[int, bytes]]:
    """Yield so many lines at a time, or all, with the number of the first.

    Blank lines at the end are dropped; in other places those of CSV and TSV are rows. Lines within
    a quoted value of CSV stay together.

    >>> list(blocks([b"a\\n", b"\\n", b"1\\n", b"\\n", b" \\r\\n"], 2, "csv"))
    [(1, b'a\\n'), (2, b'\\n'), (3, b'1\\n')]
    """
    start, is_first = 1, True
    held = list[tuple[int, bytes]]()  # blank lines, which others may follow
    for n_lines, block in _cut(lines, rows, quoted=form == "csv"):
        n_bytes = _n_bytes(block)
        end = (block.find(b"\n", n_bytes) + 1 or len(block)) if n_bytes else 0
        if end:
            held.append((start, block[:end]))
            if is_first:  # the header comes in the first block, after any blank lines
                held = [(held[0][0], b"".join(part for _, part in held))]
            yield from held
            held, is_first = [], False
        if end < len(block) and form in SEPARATORS:
            held.append((start + block.count(b"\n", 0, end), block[end:]))
        start += n_lines


def _n_bytes(block: bytes) -> int:
    """Return the number of bytes up to the last that is not blank."""
    tail = block[-1000:]  # `rstrip` copies the block
    if tail.strip(BLANK):
        return len(block) - len(tail) + len(tail.rstrip(BLANK))
    return len(block.rstrip(BLANK))


def _cut(lines: Iterable[bytes], rows: int | None, quoted: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the number of lines of each block and the block."""
    if rows is None:
        yield 0, lines.read() if hasattr(lines, "read") else b"".join(lines)
        return
    lines = iter(lines)
    while some := list(islice(lines, rows)):
        n_lines, block = len(some), b"".join(some)
        if quoted and block.count(b'"') % 2:
            rest = _to_closing_quote(lines)
            n_lines, block = n_lines + len(rest), block + b"".join(rest)
        yield n_lines, block


def _to_closing_quote(lines: Iterator[bytes]) -> list[bytes]:
    rest: list[bytes] = []
    for line in lines:
        rest.append(line)
        if line.count(b'"') % 2:
            break
    return rest


def rows_of(
    lines: Iterable[bytes], name: str, separator: str, before: int = 0, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row as words, with its line number; `before` lines came before.

    With `strict`, quotes must be closed.
    """
    quoting: Any = {"quoting": csv.QUOTE_NONE} if separator == "\t" else {"strict": strict}
    reader = csv.reader(decoded(lines, name, before), delimiter=separator, **quoting)
    while True:
        line = before + reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise TableError(_why_unread(line, name, str(error))) from None
        if row is None:
            return
        if row:  # a blank line is not a row
            yield line, row


def _why_unread(line: int, name: str, why: str) -> str:
    """Return the sentence for an error of the csv module."""
    if "field limit" in why:
        return (
            f"Line {line} of {name} has a cell of over {csv.field_size_limit():,} characters, the "
            "most that are read: is a separator or a closing quote missing?"
        )
    if "new-line character" in why:
        return (
            f"Line {line} of {name} holds a carriage return alone, as lines of old Macs end: "
            "convert the file, as in tr '\\r' '\\n'."
        )
    if "unexpected end" in why or "expected after" in why:
        return f"Quotes of line {line} of {name} do not end where its value does. Correct the line."
    return f"Line {line} of {name} cannot be read: {why}."


def decoded(lines: Iterable[bytes], name: str, before: int = 0) -> Iterator[str]:
    """Yield lines as text."""
    for number, line in enumerate(lines, before + 1):
        if number == 1:
            _check_is_text(line, name)
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            near = line[max(0, error.start - 10) : error.start + 10].decode("latin-1")
            raise TableError(
                f"Line {number} of {name} is not UTF-8, near {near!r}; save it as UTF-8. If all of "
                "it is Latin-1: iconv -f latin1 -t utf8."
            ) from None


def _check_is_text(first: bytes, name: str) -> None:
    """Raise if the first line is that of a file that is not text, or not UTF-8."""
    for encoding, marks in (
        ("UTF-32", (b"\xff\xfe\0\0", b"\0\0\xfe\xff")),
        ("UTF-16", (b"\xff\xfe", b"\xfe\xff")),
    ):
        if first.startswith(marks):
            raise TableError(f"{name} is encoded as {encoding}; save it as UTF-8.")
    check_unzipped(first, name)
    if other := form_of_content(first):
        raise TableError(f"{name} is not text but {other}: give that as its format.")


def check_lines(
    block: bytes, read: Callable[[bytes], Any], name: str, form: str, before: int
) -> None:
    """Raise for the first line that `read` cannot read, after an error; `before` lines came before.

    Errors that `read` raises are ValueErrors.
    """
    for first, some in blocks(io.BytesIO(block), LINES_TO_CHECK, form):
        try:
            read(some)
        except ValueError:
            for number, line in enumerate(some.splitlines(), before + first):
                try:
                    read(line)
                except ValueError as error:
                    why = str(error).rstrip(".")
                    raise TableError(
                        f"Line {number} of {name} cannot be read as {form}: {why}."
                    ) from None


def number_in(word: str) -> float | None:
    """Return text as a number, or None if it does not represent a number."""
    try:
        return float(word)
    except ValueError:
        return None
