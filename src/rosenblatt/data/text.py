"""Files of text as lines and rows, and what is wrong with bytes that are none."""

import csv
import gzip
import io
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .errors import TableError, shown
from .files import check_unzipped, form_of_content

BLANK = b" \r\n"  # what a line with nothing on it holds; tabs may separate values
ANY_BLANK = BLANK + b"\t"


def rows_of(
    source: Any, name: str, separator: str, before: int = 0, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each row as words, with the line it begins at."""
    with opened(source) as file:
        lines = decoded(without_blank_end(file), name, before)
        if separator == "\t":
            reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(lines, delimiter=separator, strict=strict)
        while True:
            line = before + reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise TableError(_unread(line, name, str(error))) from None
            if row is None:
                return
            if row:  # a line with nothing on it is no row
                yield line, row


def _unread(line: int, name: str, why: str) -> str:
    """Why the reader of the standard library stopped, in our words."""
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
        return f"Quotes of line {line} of {name} do not end where its value does. Mend the line."
    return f"Line {line} of {name} cannot be read: {why}."


def decoded(lines: Iterable[bytes], name: str, before: int = 0) -> Iterator[str]:
    """Lines as text."""
    for number, line in enumerate(lines, before + 1):
        if number == 1:
            _check_text(line, name)
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            near = line[max(0, error.start - 10) : error.start + 10].decode("latin-1")
            raise TableError(
                f"Line {number} of {name} is not UTF-8, near {near!r}; save it as UTF-8. If all of "
                "it is Latin-1: iconv -f latin1 -t utf8."
            ) from None


def _check_text(first: bytes, name: str) -> None:
    """Raise if the first bytes are those of something else."""
    if first[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        raise TableError(f"{name} is encoded as UTF-32; save it as UTF-8.")
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TableError(f"{name} is encoded as UTF-16; save it as UTF-8.")
    check_unzipped(first, name)
    if other := form_of_content(first):
        raise TableError(f"{name} holds no text, but {other}: give that as its format.")


@contextmanager
def opened(source: Any) -> Iterator[Any]:
    """A file, bytes, or what is open already, to be read as bytes; of files gzip is undone."""
    if hasattr(source, "read"):
        yield source
    elif isinstance(source, bytes):
        yield io.BytesIO(source)
    else:
        with open(source, "rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        try:
            with gzip.open(source) if zipped else open(source, "rb") as file:
                yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableError(f"{source} is damaged where gzip is undone: {error}.") from None


def input_of(source: Any) -> Any:
    """A path as it is, bytes as a file."""
    return io.BytesIO(source) if isinstance(source, bytes) else source


def without_blank_end(lines: Iterable[bytes], blank: bytes = BLANK) -> Iterator[bytes]:
    """Lines up to the last one with something on it.

    >>> list(without_blank_end([b"a\\n", b"\\n", b"1\\n", b"\\n", b" \\r\\n"]))
    [b'a\\n', b'\\n', b'1\\n']
    """
    held: list[bytes] = []
    for line in lines:
        held.append(line)
        if line.strip(blank):
            yield from held
            held.clear()


def n_blank_at_end(source: Any) -> int:
    """How many lines come after the last one with something on it.

    >>> n_blank_at_end(b"a\\n1\\n\\n\\n")
    2
    """
    n = 0
    with opened(source) as file:
        for line in file:
            n = 0 if line.strip(BLANK) else n + 1
    return n


# Which line of JSON lines or LIBSVM is to blame, found once their readers have given up.


MEND = "Mend the line."


def blame_json(source: Any, name: str, before: int = 0) -> None:
    """Raise if a line is no JSON object of numbers that there are; `before` lines came before.

    >>> blame_json(b'{"a": 1}\\n{"a": \\n', "here")
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: Line 2 of here cannot be read as jsonl: it is no JSON
    object, but '{"a":'. Mend the line.
    """
    nested: dict[str, bool] = {}
    for number, line in _lines(source, before):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise TableError(
                f"Line {number} of {name} cannot be read as jsonl: it is no JSON object, but "
                f"{shown(line)}. {MEND}"
            )
        for key, value in found.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise TableError(
                    f"Line {number} of {name} holds an infinite value, or NaN, as {key!r}: make it "
                    "a number, or null."
                )
            within = isinstance(value, dict | list)
            if value is not None and nested.setdefault(key, within) != within:
                raise TableError(
                    f"Line {number} of {name} holds {shown(value)} as {key!r}, and lines before it "
                    "another kind of value: numbers and words cannot stand beside lists."
                )


def blame_libsvm(source: Any, name: str, before: int = 0) -> None:
    """Raise if a line is no label with numbered values.

    >>> blame_libsvm(b"1 1:2 2:x\\n", "here")
    Traceback (most recent call last):
    rosenblatt.data.errors.TableError: Line 1 of here cannot be read as libsvm: '2:x' is no number
    with a value, such as 3:0.5. Mend the line.
    """
    for number, line in _lines(source, before):
        label, *cells = line.partition("#")[0].split() or ["0"]
        if number_in(label) is None or not math.isfinite(float(label)):
            raise TableError(
                f"Line {number} of {name} cannot be read as libsvm: the label {shown(label)} is "
                f"no number. {MEND}"
            )
        last = -1
        for cell in cells:
            place, value = _parted(cell)
            if place is None or value is None:
                raise TableError(
                    f"Line {number} of {name} cannot be read as libsvm: {shown(cell)} is no "
                    f"number with a value, such as 3:0.5. {MEND}"
                )
            if not math.isfinite(value):
                raise TableError(
                    f"Line {number} of {name} has the value {shown(cell)}; values must be finite. "
                    "A value that is left out is zero."
                )
            if place <= last:
                raise TableError(
                    f"Line {number} of {name} has value {place} after value {last}: sort the "
                    "values of each line by their numbers, each there once."
                )
            last = place


def _lines(source: Any, before: int) -> Iterator[tuple[int, str]]:
    """Lines with something on them, and their numbers."""
    with opened(source) as file:
        for number, line in enumerate(file, before + 1):
            text = line.decode("utf-8", "backslashreplace").strip()
            if text:
                yield number, text


def _parted(cell: str) -> tuple[int | None, float | None]:
    """The number and the value of a cell; None for what is none."""
    place, _, value = cell.partition(":")
    if place == "qid":
        return 0, 0.0
    return int(place) if place.isascii() and place.isdigit() else None, number_in(value)


def number_in(word: str) -> float | None:
    """A word as a number; None if it is none."""
    try:
        return float(word)
    except ValueError:
        return None
