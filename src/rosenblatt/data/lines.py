"""Which line of JSON lines or LIBSVM is to blame, found once their readers have given up."""

import json
import math
from collections.abc import Iterator
from typing import Any

from .errors import TableError, shown
from .text import opened

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
        if _number(label) is None:
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
    return int(place) if place.isascii() and place.isdigit() else None, _number(value)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
